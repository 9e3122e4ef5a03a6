"""A long training whose language model fails at random: does it take more and more of the machine?

    python tests/pkmncli/faults/soak.py --steps 1000000

At a tenth of the steps and at the end it looks at all processes of the training together: resident memory, open files,
threads and sockets. Memory may be at most a tenth more at the end, nothing else may be more. Replies are good, prose,
broken, late, refused and cut off, drawn at random by a server on loopback.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from support.fault_server import Asked, Behaviour, FaultServer
from support.faults import FAILURES, GOOD, READINGS

from pkmncli.api.live import LiveTraining

MOST_MEMORY = 1.1
LOOK_S = 1.0
LOOKS = 5
LATE = 0.95
WATCH_S = 30.0
"""For how long a training tells where it stands once it was asked."""
GOOD_SHARE = 0.5
TOO_LARGE = {"10 MB", "deep JSON"}
"""Answers that would keep the server busy, not the training."""
KEY = "sk-not-a-key-0123456789"


@dataclass(frozen=True)
class Look:
    """What the processes of a training take together."""

    steps: int
    memory_mb: float
    files: int
    threads: int
    sockets: int

    def __str__(self) -> str:
        return f"| {self.steps:,} | {self.memory_mb:,.1f} | {self.files} | {self.threads} | {self.sockets} |"


def look(process: psutil.Process, steps: int) -> Look:
    """Add up what a process and its children take."""
    memory = files = threads = sockets = 0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            memory += one.memory_info().rss
            files += one.num_fds()
            threads += one.num_threads()
            sockets += len(one.net_connections())
    return Look(steps, memory / 2**20, files, threads, sockets)


class RandomServer(FaultServer):
    """A server of which half of the replies are good, and the others drawn from all that can go wrong."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance
        self._bad = [case.behaviour for case in FAILURES if case.name not in TOO_LARGE]
        self._bad += [Behaviour(text=text) for text, _ in READINGS.values()]
        self.answered: Counter[str] = Counter()

    def take(self, asked: Asked) -> Behaviour:
        """Draw how a question is answered."""
        good = self._chance.random() < GOOD_SHARE
        self.answered["good" if good else "bad"] += 1
        return Behaviour(text=GOOD) if good else self._chance.choice(self._bad)


def steps_of(run: Path) -> int:
    """Return how far a training has got."""
    training = LiveTraining.attach(run)
    if training is None:
        return 0
    training.watch(WATCH_S, pictures_per_second=0.1)
    time.sleep(LOOK_S)
    return training.state().steps


def soak(folder: Path, server: RandomServer, given: argparse.Namespace) -> tuple[Look, Look]:
    """Train to the end. Returns what it took at a tenth of the steps, and shortly before the end."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PKMN_")}
    command = [sys.executable, "-m", "pkmncli", "train", f"--steps={given.steps}", f"--envs={given.envs}"]
    command += ["--llm=openai", f"--set=openai.base_url={server.url}/v1", "--llm-model=tiny", "--llm-interval=20"]
    command += ["--set=llm_timeout_s=1", "--final-episodes=0", f"--save-dir={folder}", "--run-name=soak", "--quiet"]
    with subprocess.Popen([*command, *given.options], env=environ | {"OPENAI_API_KEY": KEY}) as process:
        watched, looks = psutil.Process(process.pid), []
        for share in (0.1, LATE):
            while process.poll() is None and steps_of(folder / "soak") < share * given.steps:
                pass
            if process.poll() is not None:
                raise SystemExit(f"it ended early, with exit code {process.returncode}")
            # The largest of several, since a checkpoint or a table is written at some moments only.
            several = []
            for _ in range(LOOKS):
                several.append(look(watched, steps_of(folder / "soak")))
            looks.append(max(several, key=lambda one: one.memory_mb))
            print(looks[-1], flush=True)
        if process.wait():
            raise SystemExit(f"it ended with exit code {process.returncode}")
    return looks[0], looks[1]


def main() -> None:
    """Train, look, and end with 1 where it took more."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--envs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("options", nargs="*", help="further options of `pkmn train`, after --")
    given = parser.parse_args()
    print("| steps | memory, MB | files | threads | sockets |\n| --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory(prefix="pkmn-soak-") as name, RandomServer(random.Random(given.seed)) as server:
        early, late = soak(Path(name), server, given)
        print(f"{server.answered['good']:,} good answers, {server.answered['bad']:,} bad ones")
    if late.memory_mb > MOST_MEMORY * early.memory_mb or late.files > early.files or late.threads > early.threads:
        sys.exit("it took more and more")


if __name__ == "__main__":
    main()
