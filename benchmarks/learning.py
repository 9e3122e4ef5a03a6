"""The learner alone on the bundled game, trained with several seeds, against random play.

    python benchmarks/learning.py --seeds 5 --steps 40000 --folder /tmp/learning
    python benchmarks/learning.py --rl ppo --seeds 5 --steps 40000 --folder /tmp/learning

Each seed is a separate training, evaluated greedily on starts that it never saw; random play takes any action that
the mask allows, on the same starts. Shares are of all episodes. Their 95% intervals come from a bootstrap that samples
seeds first and then episodes, since episodes of one training are similar, widened to Wilson's interval over all
episodes if all had the same result. Existing runs are not repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from pkmncli.training.evaluation.evaluation import wilson_interval

EPISODE_STEPS = 300
DRAWS = 10_000


def pkmn(*arguments: str) -> str:
    """Run the command line as a user would, and return its output."""
    done = subprocess.run(
        [sys.executable, "-m", "pkmncli", *arguments], check=True, capture_output=True, text=True, env=os.environ
    )
    return done.stdout


def train_and_evaluate(rl: str, seed: int, steps: int, episodes: int, folder: Path) -> dict[str, dict[str, Any]]:
    """Return the results of the trained learner and of random play, for one seed."""
    name = f"{rl}-seed-{seed}-{steps}"
    result_file = folder / f"{name}.json"
    if result_file.exists():
        found: dict[str, dict[str, Any]] = json.loads(result_file.read_text(encoding="utf-8"))
        return found
    options = [
        *("--rl", rl, "--mode", "rl-only", "--steps", str(steps), "--seed", str(seed), "--quiet"),
        *(
            "--device",
            "cpu",
            "--max-steps-per-episode",
            str(EPISODE_STEPS),
            "--save-dir",
            str(folder),
            "--run-name",
            name,
            "--final-episodes=0",
        ),
    ]
    pkmn("train", *options)
    results = {
        mode: json.loads(
            pkmn("eval", str(folder / name), "--mode", mode, "--episodes", str(episodes), "--json", "--envs", "1")
        )
        for mode in ("rl-only", "random")
    }
    result_file.write_text(json.dumps(results, indent=2), encoding="utf-8")
    return results


def interval(shares: list[float], episodes: int, random: np.random.Generator) -> tuple[float, float, float]:
    """Return the mean share and its 95% interval: seeds are resampled, then episodes of each; Wilson's at least."""
    drawn = random.choice(np.asarray(shares), (DRAWS, len(shares)))
    means = random.binomial(episodes, drawn).mean(axis=1) / episodes
    low, high = np.percentile(means, [2.5, 97.5])
    successes = round(sum(shares) * episodes)
    least, most = wilson_interval(successes, episodes * len(shares))
    return float(np.mean(shares)), min(float(low), least), max(float(high), most)


def main() -> None:
    """Train, evaluate and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rl", default="dqn", help="the learner")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40_000)
    parser.add_argument("--episodes", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2, help="trainings side by side")
    parser.add_argument("--folder", type=Path, required=True, help="where runs and results are kept")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(given.jobs) as pool:
        results = list(
            pool.map(
                lambda seed: train_and_evaluate(given.rl, seed, given.steps, given.episodes, given.folder),
                range(given.seeds),
            )
        )
    random = np.random.default_rng(0)
    reached = f"reached within {EPISODE_STEPS} steps"
    print(f"| {reached} | {given.rl}, greedy | 95% interval | by seed | random | 95% interval |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in results[0]["rl-only"]["milestones"]:
        cells = [name]
        for mode in ("rl-only", "random"):
            shares = [one[mode]["milestones"][name]["share"] for one in results]
            mean, low, high = interval(shares, given.episodes, random)
            cells += [f"{mean:.0%}", f"{low:.0%} to {high:.0%}"]
            if mode == "rl-only":
                cells.append(", ".join(f"{share:.0%}" for share in shares))
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
