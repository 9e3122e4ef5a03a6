"""Speed and memory of the environment `balatro`.

    python benchmarks/balatro.py
    python benchmarks/balatro.py --only simulator --profile
    python benchmarks/balatro.py --only training memory ppo --rounds 5

`simulator`: random actions that the mask allows, with mask and observation, on one core. `training`: the same through
`pkmn train` without a learner, eight environments in each of two workers; nobody reads their observations there, so few
are written. `memory`: a training by PPO with 1, 4 and 8
environments, the largest sum of all its processes. `ppo`: its steps a second with the encoder `balatro`.

Processor time is what other work on the machine changes least. Clock figures are the best of all rounds.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import psutil

PARTS: Final = ("simulator", "training", "memory", "ppo")
MEGABYTE: Final = 1 << 20
PER_WORKER: Final = 8


def simulator(steps: int, rounds: int, profile: bool) -> None:
    """Measure random steps of one environment with mask and observation."""
    from pkmn_balatro.environment import BalatroEnvironment  # noqa: PLC0415

    environment = BalatroEnvironment()
    arrays = {name: np.zeros(one.shape, one.dtype) for name, one in environment.observation_space.spaces.items()}
    luck, seeds = random.Random(1), iter(range(1, 1 << 40))
    environment.reset(seed=0)

    def play(count: int) -> None:
        for _ in range(count):
            allowed = environment.action_masks().nonzero()[0]
            _, terminated, truncated = environment.advance(int(allowed[int(luck.random() * len(allowed))]))
            if terminated or truncated:
                environment.reset(seed=next(seeds))
            environment.write_observation(arrays)

    play(2_000)
    found = []
    for _ in range(rounds):
        clock, processor = time.perf_counter(), time.process_time()
        play(steps)
        found.append((steps / (time.perf_counter() - clock), steps / (time.process_time() - processor)))
    best, of_processor = (max(one[place] for one in found) for place in range(2))
    print(f"simulator, one core: {of_processor:,.0f} steps per second of processor time; {best:,.0f} by the clock")
    if profile:
        profiler = cProfile.Profile()
        profiler.runcall(play, 10_000)
        pstats.Stats(profiler).sort_stats("tottime").print_stats(30)


def training(steps: int, rounds: int, profile: bool) -> None:
    """Measure a training without a learner, with the pilot `random`."""
    from loop import train  # noqa: PLC0415

    workers = 2
    given = {"env": "balatro", "pilot": "random", "envs": PER_WORKER * workers}
    found = [train(given, PER_WORKER, steps, profile and not number) for number in range(rounds)]
    best = max(found, key=lambda one: one.steps_per_second)
    least = min(found, key=lambda one: one.trainer_us + one.workers_us)
    print(
        f"training without a learner, {workers} workers of {PER_WORKER} environments: {best.steps_per_second:,.0f} "
        f"steps/s; processor time of a step: trainer {least.trainer_us:.0f} us, workers {least.workers_us:.0f} us"
    )


def memory(steps: int) -> None:
    """Measure the memory of trainings by PPO."""
    for envs in (1, 4, 8):
        _, _, most = _train_ppo(envs, steps)
        print(f"memory, PPO, {envs} environments: {most / MEGABYTE:,.0f} MB")


def ppo(steps: int, rounds: int) -> None:
    """Measure the time of a training by PPO with 8 environments."""
    found = [_train_ppo(PER_WORKER, steps)[:2] for _ in range(rounds)]
    seconds, processor = min(found)
    print(
        f"PPO, {steps:,} steps with start and end: {seconds:.0f} s by the clock, {processor:.0f} s of processor time; "
        f"100,000 steps at this speed: {seconds / steps * 100_000 / 60:.1f} minutes"
    )


def _train_ppo(envs: int, steps: int) -> tuple[float, float, int]:
    """Train; return seconds by the clock and of the processor, and the most memory of all processes in bytes.

    Memory that processes share, such as libraries, is counted in each of them: the true sum is lower.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pkmncli", "train", "--env", "balatro", "--rl", "ppo", "--quiet"]
        command += ["--set", "ppo.encoder=balatro", "--envs", str(envs), "--envs-per-worker", str((envs + 1) // 2)]
        command += ["--steps", str(steps), "--final-episodes", "0", "--save-dir", folder, "--mode", "rl-only"]
        began = time.perf_counter()
        process = psutil.Popen(command, stdout=subprocess.DEVNULL)
        most, used = 0, {}
        while process.poll() is None:
            total = 0
            for one in (process, *_children(process)):
                try:
                    total += one.memory_info().rss
                    times = one.cpu_times()
                    used[one.pid] = times.user + times.system
                except (psutil.Error, OSError):
                    continue  # it has just ended
            most = max(most, total)
            time.sleep(0.25)
        if process.returncode:
            raise SystemExit(f"the training ended with exit code {process.returncode}")
        return time.perf_counter() - began, sum(used.values()), most


def _children(process: Any) -> list[Any]:
    try:
        found: list[Any] = process.children(recursive=True)
    except psutil.Error:
        found = []
    return found


def main() -> None:
    """Measure the parts of ``--only``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--simulator-steps", type=int, default=20_000)
    parser.add_argument("--training-steps", type=int, default=60_000)
    parser.add_argument("--ppo-steps", type=int, default=10_000)
    parser.add_argument("--memory-steps", type=int, default=3_000)
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parent))
    if "simulator" in given.only:
        simulator(given.simulator_steps, given.rounds, given.profile)
    if "training" in given.only:
        training(given.training_steps, given.rounds, given.profile)
    if "memory" in given.only:
        memory(given.memory_steps)
    if "ppo" in given.only:
        ppo(given.ppo_steps, given.rounds)


if __name__ == "__main__":
    main()
