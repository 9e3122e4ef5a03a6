"""A test whether the learner takes over: default trainings with `pkmn train`, then the learner alone on new starts.

    python benchmarks/take_over.py --folder /tmp/take-over
    python benchmarks/take_over.py --folder /tmp/take-over --jobs 16 --limit-s 540 --json take_over.json
    python benchmarks/take_over.py --folder /tmp/long --preset long --goal last --episodes 10 --setups default

Each setup is trained once per seed, each training on its own two cores. Then the learner plays alone, with goals from
the rules, greedily and sampling, on starts that no training has; an untrained network, random play and the pilot play
from the same starts. The first table says who decided the last 10 episodes of a training, from its recorded decisions;
the second, which share of the episodes reached each milestone, with Wilson's interval over all of them; the third, in
how many steps the badges were reached, against the pilot's from the same starts. Its intervals come from a bootstrap
that samples trainings first and then starts.

With --extra "--start-from /tmp/long/default-{seed}-training --reward progress --reward time" each training starts
from one of an earlier call, here with a reward that costs a little each step.

Every result is kept in its own file in the folder. With --limit-s the benchmark stops in time, with the exit code 3;
the same command continues with what is missing, trainings from their latest checkpoint.
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from pilot import badges_of, numbers
from pinned_jobs import Cores, OutOfTimeError, default_jobs, keep, kept, pkmn, run_and_show

from pkmncli.training.evaluation.evaluation import wilson_interval

SETUPS: dict[str, tuple[str, ...]] = {
    "default": (),
    "no goals": ("--goals", "none"),
}
WAYS: dict[str, tuple[str, ...]] = {
    "greedy": ("--mode", "rl-only"),
    "sampling": ("--mode", "rl-only", "--stochastic"),
}
"""Ways in which the learner plays alone."""
BASELINES: dict[str, tuple[str, ...]] = {
    "pilot": ("--mode", "llm-only"),
    "random play": ("--mode", "random"),
}
UNTRAINED = "untrained network"
BARE = ("--steps", "1", "--set", "final_episodes=0", "--set", "film=false")
"""A run without training."""
EVALUATION_SEED = 1_000_000
LAST_EPISODES = 10
DRAWS = 10_000


class Benchmark:
    """The trainings and players, and the folder of their results."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.folder: Path = given.folder
        self.seeds: list[int] = given.seeds
        self.setups: list[str] = given.setups
        self._episodes: int = given.episodes
        self._training = [*shlex.split(given.extra)]
        if given.preset:
            self._training += ["--preset", given.preset]
        if given.goal:
            self._training += ["--goal", given.goal]
        self._evaluation = ["--max-steps-per-episode", str(given.evaluation_steps)] if given.evaluation_steps else []
        self._ways: list[str] = given.ways

    def jobs(self) -> list[Callable[[Cores], None]]:
        """Return all jobs that may be missing: trainings first, since they take longest."""
        first = self.setups[0]
        trainings = [partial(self._train_and_play, setup, seed) for seed in self.seeds for setup in self.setups]
        begun_with = () if "--start-from" in self._training else self.seeds
        untrained = [partial(self._play_untrained, seed) for seed in begun_with]
        return [*trainings, partial(self._play_baselines, first), *untrained]

    def result(self, *names: str | int) -> Path:
        """Return the file of a result."""
        return self.folder / ("-".join(map(str, names)).replace(" ", "-") + ".json")

    # Jobs -------------------------------------------------------------------------------------------------------

    def _train_and_play(self, setup: str, seed: int, cores: Cores) -> None:
        run = self._train(setup, seed, (), cores)
        for way in self._ways:
            self._play(run, WAYS[way], self.result(setup, seed, way), cores)

    def _play_untrained(self, seed: int, cores: Cores) -> None:
        run = self._train(UNTRAINED, seed, BARE, cores)
        self._play(run, WAYS["greedy"], self.result(UNTRAINED, seed), cores)

    def _play_baselines(self, setup: str, cores: Cores) -> None:
        run = self._train("baselines", self.seeds[0], (*SETUPS[setup], *BARE), cores)
        for name, options in BASELINES.items():
            self._play(run, options, self.result(name), cores)

    def _train(self, setup: str, seed: int, options: Sequence[str], cores: Cores) -> Path:
        """Train or resume, and keep the result. Return the run's folder."""
        result = self.result(setup, seed, "training")
        run = result.with_suffix("")
        if result.exists():
            return run
        parts = run.with_suffix(".walls")
        walls: list[float] = kept(parts) or []
        if not _is_finished(run):
            where = ("--save-dir", str(self.folder), "--run-name", run.name, "--seed", str(seed))
            own = [part.replace("{seed}", str(seed)) for part in self._training]
            begin = ("train", *own, *SETUPS.get(setup, ()), *options, *where)
            begun = (run / "checkpoints" / "index.json").exists()
            log = run.with_suffix(".log")
            try:
                printed, wall_s = cores.run(pkmn("train", "--resume", str(run)) if begun else pkmn(*begin), log)
            except OutOfTimeError as stopped:
                keep(parts, [*walls, stopped.seconds])
                raise
            keep(parts, [*walls, wall_s])
            run.with_suffix(".out").write_text(printed, encoding="utf-8")
        keep(result, {"setup": setup, "seed": seed, **training_result(run), "wall_s": sum(kept(parts) or [])})
        return run

    def _play(self, run: Path, options: Sequence[str], result: Path, cores: Cores) -> None:
        """Play the evaluation's episodes, and keep the step of each milestone."""
        if result.exists():
            return
        before = _evaluations(run)
        how = ("--episodes", str(self._episodes), "--seed", str(EVALUATION_SEED), "--no-baselines", "--json")
        printed, wall_s = cores.run(pkmn("eval", str(run), *options, *how, *self._evaluation), run.with_suffix(".log"))
        (new,) = _evaluations(run) - before
        found = json.loads(printed)
        keep(
            result,
            {
                "mode": found["mode"],
                "milestones": list(found["milestones"]),
                "avg_reward": found["avg_reward"],
                "goal": found["goal"],
                "goal_share": found["goal_share"],
                "steps_by_episode": episodes_of(new),
                "wall_s": wall_s,
            },
        )

    # Results ----------------------------------------------------------------------------------------------------

    def found(self) -> dict[str, Any]:
        """Return all existing results: trainings by setup, and episodes by player, a list for each seed."""
        trainings = {
            setup: [one for seed in self.seeds if (one := kept(self.result(setup, seed, "training"))) is not None]
            for setup in self.setups
        }
        players = {
            f"{setup}, {way}": [self.result(setup, seed, way) for seed in self.seeds]
            for setup in self.setups
            for way in self._ways
        }
        players[UNTRAINED] = [self.result(UNTRAINED, seed) for seed in self.seeds]
        players |= {name: [self.result(name)] for name in BASELINES}
        played = {name: [one for file in files if (one := kept(file)) is not None] for name, files in players.items()}
        return {"trainings": trainings, "played": {name: files for name, files in played.items() if files}}


def training_result(run: Path) -> dict[str, Any]:
    """Return who decided the last episodes of a training, and the stage of its curriculum."""
    files = str(run / "decisions" / "**" / "*.parquet")
    with duckdb.connect() as connection:
        counts = connection.execute(
            "WITH rows AS (SELECT * FROM read_parquet(?, hive_partitioning = false)), "
            "ended AS (SELECT environment, episode, max(global_step) AS last FROM rows "
            "GROUP BY ALL HAVING bool_or(done) ORDER BY last DESC LIMIT ?) "
            "SELECT source, count(*) FROM rows JOIN ended USING (environment, episode) GROUP BY source",
            [files, LAST_EPISODES],
        ).fetchall()
    steps = dict(counts)
    total = max(sum(steps.values()), 1)
    names = ("learner", "exploration", "rules", "language model")
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    wanted = ("total_steps", "total_episodes", "elapsed_s", "updates", "curriculum_stage_reached", "verdict")
    return {
        "last_episodes": {name: steps.get(source, 0) / total for source, name in enumerate(names)},
        **{name: summary.get(name) for name in wanted},
    }


def episodes_of(evaluation: Path) -> list[dict[str, int]]:
    """Return the step of every milestone reached, for each episode of an evaluation, in order of its start's seed."""
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT milestones FROM read_parquet(?, hive_partitioning = false) ORDER BY seed",
            [str(evaluation / "episodes" / "*.parquet")],
        ).fetchall()
    return [json.loads(milestones) for (milestones,) in rows]


def _evaluations(run: Path) -> set[Path]:
    return {path.parent for path in (run / "evaluations").glob("*/result.json")}


def _is_finished(run: Path) -> bool:
    """Return True if a run has used up its budget."""
    import tomllib  # noqa: PLC0415

    from pkmncli.config import DEFAULT_STEPS  # noqa: PLC0415

    summary, config = run / "summary.json", run / "config.toml"
    if not (summary.exists() and config.exists()):
        return False
    steps = tomllib.loads(config.read_text(encoding="utf-8")).get("steps", DEFAULT_STEPS)
    return bool(json.loads(summary.read_text(encoding="utf-8")).get("total_steps", 0) >= steps)


# Tables ---------------------------------------------------------------------------------------------------------


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def who_decided(trainings: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return one row per training."""
    rows = []
    for setup, runs in trainings.items():
        for one in runs:
            shares = one["last_episodes"]
            decided = [f"{shares['learner'] + shares['exploration']:.0%}", f"{shares['exploration']:.1%}"]
            steps = f"{one['total_steps']:,}", f"{one['updates']:,}", f"{one['elapsed_s']:.0f}", f"{one['wall_s']:.0f}"
            rows.append([setup, str(one["seed"]), *steps, *decided, str(one["curriculum_stage_reached"])])
    heads = ["training", "seed", "steps", "updates", "training s", "wall s"]
    return table([*heads, f"learner, last {LAST_EPISODES} episodes", "of that exploration", "stage"], rows)


def how_far(played: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return one row per milestone, one column per player: share of all episodes, Wilson's interval, median step."""
    rows = []
    for name in _milestones(played):
        cells = []
        for runs in played.values():
            episodes = [episode for one in runs for episode in one["steps_by_episode"]]
            steps = [episode[name] for episode in episodes if name in episode]
            low, high = wilson_interval(len(steps), len(episodes))
            median = f", step {statistics.median(steps):,.0f}" if steps else ""
            cells.append(f"{len(steps) / len(episodes):.0%} ({low:.0%} to {high:.0%}){median}")
        rows.append([name, *cells])
    heads = [f"{name} ({sum(len(one['steps_by_episode']) for one in runs)})" for name, runs in played.items()]
    return table(["reached (episodes)", *heads], rows)


def steps_to_badges(played: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return one row per badge and player: the ratio of its steps to the pilot's, over starts where both won it."""
    pilot = played.get("pilot")
    if not pilot:
        return ""
    own = pilot[0]["steps_by_episode"]
    rows = []
    for badge in dict.fromkeys([*badges_of(_milestones(played)), pilot[0]["goal"]]):
        for player, runs in played.items():
            if player == "pilot":
                continue
            ratios = [
                np.array([one[badge] / other[badge] for one, other in pairs if badge in one and badge in other])
                for run in runs
                for pairs in [list(zip(run["steps_by_episode"], own, strict=True))]
            ]
            ratios = [each for each in ratios if len(each)]
            if not ratios:
                continue
            middle, low, high = ratio_interval(ratios)
            count = sum(map(len, ratios))
            by_seed = ", ".join(f"{np.exp(np.log(each).mean()):.2f}" for each in ratios)
            rows.append([badge, player, str(count), f"{middle:.2f}", f"{low:.2f} to {high:.2f}", by_seed])
    return table(["steps to", "by", "episodes", "of the pilot's steps", "95% interval", "by training"], rows)


def ratio_interval(ratios: Sequence[np.ndarray]) -> tuple[float, float, float]:
    """Return the geometric mean of ratios, an array per training, and its 95% bootstrap interval.

    Trainings are resampled first, then starts.
    """
    random = np.random.default_rng(0)
    logs = [np.log(each) for each in ratios]
    drawn = []
    for _ in range(DRAWS):
        trainings = [logs[place] for place in random.integers(len(logs), size=len(logs))]
        drawn.append(np.mean([random.choice(each, len(each)).mean() for each in trainings]))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(np.exp(np.mean([each.mean() for each in logs]))), float(np.exp(low)), float(np.exp(high))


def _milestones(played: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return the milestones that anyone reached, in the game's order."""
    reached = {name for runs in played.values() for one in runs for each in one["steps_by_episode"] for name in each}
    order = next((one["milestones"] for runs in played.values() for one in runs), [])
    return [name for name in order if name in reached]


def show(found: Mapping[str, Any]) -> None:
    """Print the tables of all existing results."""
    print(who_decided(found["trainings"]), end="\n\n")
    print(how_far(found["played"]), end="\n\n")
    print(steps_to_badges(found["played"]))


def main() -> None:
    """Train, play, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where runs and results are kept")
    parser.add_argument("--seeds", type=numbers, default="0-4", help="of the trainings, such as 0-4 (default: 0-4)")
    parser.add_argument("--setups", nargs="+", choices=SETUPS, default=list(SETUPS), help="what is trained")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), help="how the learner plays alone")
    parser.add_argument("--preset", help="of the trainings")
    parser.add_argument("--goal", help="milestone that ends an episode; 'last' for the whole game")
    parser.add_argument(
        "--extra", default="", metavar="OPTIONS", help="more options of pkmn train, {seed} for the seed"
    )
    parser.add_argument("--episodes", type=int, default=100, help="held-out starts of each player (default: 100)")
    parser.add_argument("--evaluation-steps", type=int, help="of an evaluated episode at most; the run's by default")
    parser.add_argument("--jobs", type=int, default=default_jobs(), help="side by side, two cores each")
    parser.add_argument("--limit-s", type=float, help="stop after so many seconds")
    parser.add_argument("--json", type=Path, help="where to write all results as one file")
    given = parser.parse_args()
    given.folder = given.folder.resolve()
    given.folder.mkdir(parents=True, exist_ok=True)
    benchmark = Benchmark(given)
    run_and_show(benchmark.jobs(), given.jobs, given.limit_s, benchmark.found, show, given.json)


if __name__ == "__main__":
    main()
