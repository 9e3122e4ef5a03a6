"""Our learners against stable-baselines3 and sb3-contrib on the bundled game: their returns, and their speed.

    python benchmarks/learners.py --returns --seeds 5 --steps 40000 --jobs 2 --folder /tmp/learners
    python benchmarks/learners.py --speed --pairs 5 --speed-steps 10240 --folder /tmp/learners

`--returns` trains every setup with every seed and evaluates it greedily, on the same starts for all; each training is
a separate process. Means over the seeds come with 95% intervals of the bootstrap, and if two setups differ only in the
library, the table says whether each mean is in the other's interval.

`--speed` measures steps per second of whole trainings, ours with recording and checkpoints, one at a time and in turn;
figures are medians of the ratios of each round. The other library is measured with its environments in its own process
and in separate processes; the faster of the two counts.

A training of ppo ends with a rollout of 2,048 steps, since the other library's does: 40,000 steps are 40,960.

`sb3_side.py` and `our_side.py` list what is equal and what is not. Results are kept in the folder as they come;
existing results are not repeated.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from training_spec import ROLLOUT, TrainingSpec

from pkmncli.comparison.measures import bootstrap_interval, mean

HERE = Path(__file__).parent
EVALUATION_SEED = 1_000_000


@dataclass(frozen=True)
class Setup:
    """A learner of one side."""

    name: str
    side: str
    learner: str
    masks: bool = False
    equal: bool = True
    overlap: bool = True
    """Ours only: rollouts are collected during learning."""


SETUPS = (
    Setup("DQN of stable-baselines3", "sb3", "dqn"),
    Setup("dqn, the same settings", "our", "dqn"),
    Setup("dqn, the same settings and masks", "our", "dqn", masks=True),
    Setup("dqn, its defaults", "our", "dqn", masks=True, equal=False),
    Setup("MaskablePPO of sb3-contrib", "sb3", "ppo", masks=True),
    Setup("ppo", "our", "ppo", masks=True),
    Setup("ppo without overlap", "our", "ppo", masks=True, overlap=False),
    Setup("PPO of stable-baselines3", "sb3", "ppo"),
    Setup("ppo without masks", "our", "ppo"),
)
ALIKE = (
    ("dqn, the same settings", "DQN of stable-baselines3"),
    ("ppo", "MaskablePPO of sb3-contrib"),
    ("ppo without overlap", "MaskablePPO of sb3-contrib"),
    ("ppo without masks", "PPO of stable-baselines3"),
)
"""Pairs of ours and theirs that differ only in the library."""


@dataclass(frozen=True)
class Race:
    """Ours against theirs, in steps per second."""

    name: str
    learner: str
    masks: bool
    envs: int
    at_least: float
    own_network: bool = False
    """The other library uses its own network instead of ours."""


RACES = (
    Race("dqn, 1 environment", "dqn", False, 1, 1.5),
    Race("dqn, 2 environments", "dqn", False, 2, 1.3),
    Race("dqn, 1 environment, theirs with its own network", "dqn", False, 1, 1.5, own_network=True),
    Race("ppo with masks, 1 environment", "ppo", True, 1, 1.2),
    Race("ppo with masks, 2 environments", "ppo", True, 2, 1.2),
)


def training(side: str, spec: TrainingSpec) -> dict[str, Any]:
    """Return the result of a training, from the folder if it exists."""
    file = spec.folder / f"{spec.name}.json"
    if file.exists():
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if found["spec"] != json.loads(spec.to_json()):
            raise SystemExit(f"{file} is of a training with other options: use another folder")
        return found
    command = [sys.executable, str(HERE / f"{side}_side.py"), spec.to_json()]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{spec.name} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    result["spec"] = json.loads(spec.to_json())
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(result, indent=2), encoding="utf-8")
    partial.replace(file)
    print(f"{spec.name}: {json.dumps({name: result[name] for name in result if name != 'spec'})}", file=sys.stderr)
    return result


def named(text: str) -> str:
    """Return a name as part of a file name."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())


def steps_of(learner: str, steps: int) -> int:
    """Return the steps that both sides will take: PPO takes whole rollouts."""
    return steps if learner == "dqn" else -(-steps // ROLLOUT) * ROLLOUT


def compare_returns(given: argparse.Namespace) -> None:
    """Train and evaluate every setup, and print a table in Markdown."""
    setups = [setup for setup in SETUPS if setup.learner in given.learners]
    specs = [
        (
            setup,
            TrainingSpec(
                learner=setup.learner,  # type: ignore[arg-type]
                folder=given.folder,
                name=f"{named(setup.name)}-{given.steps}-seed-{seed}",
                steps=steps_of(setup.learner, given.steps),
                seed=seed,
                envs=given.envs,
                masks=setup.masks,
                equal=setup.equal,
                overlap=setup.overlap,
                episodes=given.episodes,
                evaluation_seed=EVALUATION_SEED,
                torch_threads=given.torch_threads,
                device=given.device,
            ),
        )
        for seed in range(given.seeds)
        for setup in setups
    ]
    with ThreadPoolExecutor(given.jobs) as pool:
        results = list(pool.map(lambda one: training(one[0].side, one[1]), specs))
    returns = {
        setup.name: np.array([r["evaluation_return"] for (of, _), r in zip(specs, results, strict=True) if of is setup])
        for setup in setups
    }
    late = {
        setup.name: [r["training_return"] for (of, _), r in zip(specs, results, strict=True) if of is setup]
        for setup in setups
    }
    ends = {name: bootstrap_interval([values], mean) for name, values in returns.items()}
    trained = f"{given.steps:,} steps, {given.seeds} seeds"
    print(f"| {trained} | mean return | 95% interval | by seed | end of training |")
    print("| --- | --- | --- | --- | --- |")
    for name, values in returns.items():
        low, high = ends[name]
        by_seed = ", ".join(f"{value:.1f}" for value in values)
        latest = [value for value in late[name] if value is not None]
        end = f"{np.mean(latest):.1f}" if latest else "none"
        print(f"| {name} | {values.mean():.1f} | {low:.1f} to {high:.1f} | {by_seed} | {end} |")
    print()
    for ours, theirs in ALIKE:
        if ours in returns:
            print(f"- {agreement(ours, theirs, returns, ends)}")


def agreement(ours: str, theirs: str, returns: dict[str, np.ndarray], ends: dict[str, Any]) -> str:
    """Return in words whether each of two means is in the other's interval."""
    said = []
    for one, other in ((ours, theirs), (theirs, ours)):
        low, high = ends[other]
        within = "within" if low <= returns[one].mean() <= high else "outside"
        said.append(f'the mean of "{one}" is {within} the interval of "{other}"')
    return "; ".join(said) + "."


def compare_speed(given: argparse.Namespace) -> None:
    """Measure the races in turn, and print a table in Markdown."""
    races = [race for race in RACES if race.learner in given.learners]
    print("| steps a second | ours | theirs, one process | theirs, processes | ours to the faster | range | at least |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for race in races:
        spec = TrainingSpec(
            learner=race.learner,  # type: ignore[arg-type]
            folder=given.folder,
            name="",
            steps=steps_of(race.learner, given.speed_steps),
            envs=race.envs,
            masks=race.masks,
            own_network=race.own_network,
            torch_threads=given.torch_threads,
            device=given.device,
        )
        sides = {
            "ours": ("our", spec),
            "one process": ("sb3", spec),
            "processes": ("sb3", replace(spec, processes=True)),
        }
        rates: dict[str, list[float]] = {name: [] for name in sides}
        for turn in range(given.pairs):
            order = list(sides) if turn % 2 == 0 else list(reversed(sides))
            for name in order:
                side, wanted = sides[name]
                file = f"speed-{named(race.name)}-{given.speed_steps}-{named(name)}-{turn}"
                rates[name].append(training(side, replace(wanted, name=file, seed=turn))["steps_per_second"])
        faster = max(("one process", "processes"), key=lambda name: median(rates[name]))
        ratios = sorted(our / their for our, their in zip(rates["ours"], rates[faster], strict=True))
        cells = [f"{median(rates[name]):,.0f}" for name in sides]
        spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
        print(f"| {race.name} | {' | '.join(cells)} | {median(ratios):.2f} | {spread} | {race.at_least} |", flush=True)


def main() -> None:
    """Run the comparisons asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--returns", action="store_true", help="compare what the learners reach")
    parser.add_argument("--speed", action="store_true", help="compare steps a second")
    parser.add_argument("--learners", nargs="+", choices=("dqn", "ppo"), default=["dqn", "ppo"])
    parser.add_argument("--seeds", type=int, default=5, help="trainings of each setup")
    parser.add_argument("--steps", type=int, default=40_000, help="of each of these trainings")
    parser.add_argument("--episodes", type=int, default=40, help="of evaluation, for each training")
    parser.add_argument("--envs", type=int, default=1, help="environments of these trainings")
    parser.add_argument("--jobs", type=int, default=1, help="of these trainings side by side")
    parser.add_argument("--pairs", type=int, default=5, help="rounds of measuring speed")
    parser.add_argument("--speed-steps", type=int, default=10_240, help="of a training that is measured")
    parser.add_argument("--torch-threads", type=int, default=1, help="on both sides")
    parser.add_argument("--device", default="cpu", help="of all learners")
    parser.add_argument("--folder", type=Path, required=True, help="where results are kept")
    given = parser.parse_args()
    if not (given.returns or given.speed):
        parser.error("say what to compare: --returns, --speed or both")
    given.folder = given.folder.resolve()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.returns:
        compare_returns(given)
    if given.speed:
        compare_speed(given)


if __name__ == "__main__":
    main()
