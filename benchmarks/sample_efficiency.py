"""Number of steps until the learner alone reaches a milestone in 9 of 10 episodes: DQN alone, and with other sides.

    python benchmarks/sample_efficiency.py --seeds 5 --cap 60000 --folder /tmp/efficiency --picture steps.svg

Every training keeps a checkpoint each interval. They are evaluated in order while it runs, greedily and by the
learner alone, on separate starts. The first that passes ends the training; a training that never passes counts as the
cap. Steps are those of training, of all sides. The schedules of exploration and demonstrations are those of a training
as long as the cap, for all alike. The training does not wait for SmolLM2, as by default. Interrupted trainings resume,
and evaluations are not repeated.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from pkmncli.comparison.measures import bootstrap_interval, interquartile_mean

SETUPS = {
    "DQN alone": ("--mode", "rl-only"),
    "hybrid with rules": ("--mode", "adaptive", "--llm", "none"),
    "hybrid with scripted advice": ("--mode", "adaptive", "--llm", "scripted", "--llm-wait"),
    "hybrid with SmolLM2": ("--mode", "adaptive", "--llm", "local"),
}
EPISODES = 10
PASSING_SHARE = 0.9
EVALUATION_SEED = 1_000_000
LOOK_S = 2.0
"""Seconds between two checks for the next checkpoint of a running training."""


def command(*arguments: str) -> list[str]:
    """Return the command line that a user would type."""
    return [sys.executable, "-m", "pkmncli", *arguments]


def share_reached(run: Path, step: int, given: argparse.Namespace) -> float:
    """Return the share of greedy episodes in which the learner of a checkpoint reaches the goal alone."""
    result = run.parent / f"{run.name}-at-{step}.json"
    if not result.exists():
        options = ("--checkpoint", str(step), "--mode", "rl-only", "--episodes", str(EPISODES), "--envs", "1")
        limit = ("--max-steps-per-episode", str(given.evaluation_steps), "--seed", str(EVALUATION_SEED))
        asked = command("eval", str(run), *options, *limit, "--json")
        output = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
        result.write_text(output, encoding="utf-8")
    return float(json.loads(result.read_text(encoding="utf-8"))["milestones"][given.goal]["share"])


def training(setup: str, seed: int, run: Path, given: argparse.Namespace) -> list[str]:
    """Return the command that begins or resumes a training."""
    if run.exists():
        return command("train", "--resume", str(run), "--quiet")
    more = ("--set", f"scripted.file={given.script}") if "scripted" in setup else ()
    return command(
        *("train", *SETUPS[setup], *more, "--rl", "dqn", "--goal", given.goal, "--seed", str(seed)),
        *("--steps", str(given.cap), "--max-steps-per-episode", str(given.episode_steps)),
        *("--save-interval", str(given.interval), "--keep-checkpoints", str(2 * given.cap // given.interval)),
        *("--save-dir", str(given.folder), "--run-name", run.name, "--device", given.device, "--quiet"),
        "--final-episodes=0",
    )


def steps_needed(setup: str, seed: int, given: argparse.Namespace) -> int:
    """Return the step of training at which the learner alone first passes; the cap if it never does."""
    run = given.folder / f"{setup.lower().replace(' ', '-')}-{seed}"
    steps = range(given.interval, given.cap + 1, given.interval)
    with (given.folder / f"{run.name}.log").open("a") as log:
        process = None
        try:
            for step in steps:
                checkpoint = run / "checkpoints" / f"step-{step:09}"
                while not checkpoint.exists():
                    if process is None:
                        process = subprocess.Popen(training(setup, seed, run, given), stdout=log, stderr=log)
                    elif process.poll() is not None and not checkpoint.exists():
                        raise SystemExit(f"the training {run.name} ended before step {step}, see {log.name}")
                    time.sleep(LOOK_S)
                if share_reached(run, step, given) >= PASSING_SHARE:
                    return step
        finally:
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait()
    return int(given.cap)


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the 95% interval of the interquartile mean, by resampling seeds."""
    low, high = bootstrap_interval([values], interquartile_mean)
    return float(low), float(high)


def picture(needed: dict[str, np.ndarray], cap: int) -> str:
    """Return a bar, its interval and a dot per seed for each setup, as SVG."""
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="680" height="{40 * len(needed) + 40}" font-size="13">']
    parts.append('<rect width="100%" height="100%" fill="white"/>')

    def across(steps: float) -> float:
        return 210 + 440 * steps / cap

    for row, (setup, values) in enumerate(needed.items()):
        middle, (low, high) = 30 + 40 * row, interval(values)
        width = across(float(interquartile_mean(values))) - 210
        parts.append(f'<text x="200" y="{middle + 4}" text-anchor="end">{setup}</text>')
        parts.append(f'<rect x="210" y="{middle - 9}" width="{width:.1f}" height="18" fill="#9bc"/>')
        parts.append(f'<path d="M{across(low):.1f} {middle}H{across(high):.1f}" stroke="black" stroke-width="2"/>')
        parts += [f'<circle cx="{across(value):.1f}" cy="{middle}" r="3" fill="#c33"/>' for value in values.tolist()]
    foot = 40 * len(needed) + 30
    parts += [f'<text x="210" y="{foot}">0</text>', f'<text x="650" y="{foot}" text-anchor="end">{cap:,} steps</text>']
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Train, evaluate, print a table in Markdown and draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--setups", nargs="+", choices=SETUPS, default=["DQN alone", "hybrid with rules"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--goal", default="starter")
    parser.add_argument("--cap", type=int, default=60_000, help="steps of a training at most")
    parser.add_argument("--interval", type=int, default=1_000, help="steps between evaluations")
    parser.add_argument("--episode-steps", type=int, default=400, help="of a training episode at most")
    parser.add_argument("--evaluation-steps", type=int, default=200, help="of an evaluated episode at most")
    parser.add_argument("--script", type=Path, help="replies for the scripted advice, a file of the scripted backend")
    parser.add_argument("--device", default="cpu", help="of the learner")
    parser.add_argument("--jobs", type=int, default=2, help="trainings side by side")
    parser.add_argument("--folder", type=Path, required=True, help="where runs and results are kept")
    parser.add_argument("--picture", type=Path, help="SVG to draw")
    given = parser.parse_args()
    if any("scripted" in setup for setup in given.setups) and given.script is None:
        parser.error("scripted advice needs --script FILE")
    given.folder, given.script = given.folder.resolve(), given.script and given.script.resolve()
    given.folder.mkdir(parents=True, exist_ok=True)
    pairs = [(setup, seed) for setup in given.setups for seed in range(given.seeds)]
    with ThreadPoolExecutor(given.jobs) as pool:
        found = list(pool.map(lambda pair: steps_needed(pair[0], pair[1], given), pairs))
    needed = {
        setup: np.array([steps for (name, _), steps in zip(pairs, found, strict=True) if name == setup])
        for setup in given.setups
    }
    print(f"| steps until the learner alone reaches {given.goal} | interquartile mean | 95% interval | by seed |")
    print("| --- | --- | --- | --- |")
    for setup, values in needed.items():
        low, high = interval(values)
        by_seed = ", ".join(f"{value:,}" for value in values.tolist())
        print(f"| {setup} | {interquartile_mean(values):,.0f} | {low:,.0f} to {high:,.0f} | {by_seed} |")
    print(f"\n{given.cap:,} stands for a training that never did.")
    if given.picture is not None:
        given.picture.write_text(picture(needed, given.cap), encoding="utf-8")


if __name__ == "__main__":
    main()
