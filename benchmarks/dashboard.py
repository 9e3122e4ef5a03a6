"""The cost of viewers of the live page for a training: pairs of stretches of one training, without and with viewers.

    python benchmarks/dashboard.py --viewers 20 --pairs 8
    python benchmarks/dashboard.py --viewers 20 --silent 5      # five more ask for pictures and never read

Each viewer listens to the live events over HTTP, screens included, and asks for the tables as the page does. The
viewers run on the same machine, in a process of lowest priority, so their own use of it is part of the ratio. Two
measures are printed: steps per second, which other programs disturb, and the processor time of trainer and workers per
step.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import multiprocessing
import os
import re
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from multiprocessing.synchronize import Event
from pathlib import Path

import psutil

from pkmncli.api.live import LiveTraining

READY_STEPS = 600
"""Steps after which the learner learns, and measuring begins."""

TABLES = ("metrics?name=episode/reward&name=learner/loss", "milestones", "decisions", "advice", "state")
SECONDS_BETWEEN_TABLES = 5.0


def look(port: int, viewers: int, silent: int, rate: float, over: Event) -> None:
    """Listen as several viewers until it is over. Silent viewers never read their answers."""
    os.nice(19)
    with contextlib.ExitStack() as closing, selectors.DefaultSelector() as listening:
        for number in range(viewers + silent):
            connection = closing.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.sendall(f"GET /api/events?rate={rate:g} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            if number < viewers:
                listening.register(connection, selectors.EVENT_READ)
        next_tables = [time.monotonic() + SECONDS_BETWEEN_TABLES * number / viewers for number in range(viewers)]
        while not over.is_set():
            for key, _ in listening.select(0.05):
                assert isinstance(key.fileobj, socket.socket)
                key.fileobj.recv(1 << 20)
            for number, due in enumerate(next_tables):
                if time.monotonic() >= due:
                    next_tables[number] = due + SECONDS_BETWEEN_TABLES
                    ask(port, TABLES[number % len(TABLES)])


def ask(port: int, path: str) -> None:
    """Ask for one of the page's tables."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", f"/api/{path}")
    connection.getresponse().read()
    connection.close()


class Measured:
    """A training that runs."""

    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self._folder = folder
        self._trainer = psutil.Process(process.pid)

    def stretch(self, seconds: float) -> tuple[float, float]:
        """Return steps per second, and processor seconds of trainer and workers per step, over some seconds."""
        steps, when, spent = self._now()
        time.sleep(seconds)
        steps_after, when_after, spent_after = self._now()
        taken = max(steps_after - steps, 1)
        return taken / (when_after - when), (spent_after - spent) / taken

    def steps(self) -> int:
        """Return the number of steps so far."""
        return self._now()[0]

    def _now(self) -> tuple[int, float, float]:
        live = LiveTraining.attach(self._folder)
        if live is None:
            raise SystemExit("the training has ended: give it more --steps")
        asked = time.time()
        live.watch(1.0, 0.0)
        while (live.state().age_s or 1e9) > time.time() - asked:
            time.sleep(0.002)
        return live.state().steps, time.monotonic(), self._processor_seconds()

    def _processor_seconds(self) -> float:
        total = 0.0
        for one in (self._trainer, *self._trainer.children()):
            with contextlib.suppress(psutil.Error):
                if "pkmn_dashboard.server_process" not in one.cmdline():
                    times = one.cpu_times()
                    total += times.user + times.system
        return total


def main() -> None:
    """Train, measure, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--viewers", type=int, default=20)
    parser.add_argument("--silent", type=int, default=0, help="viewers beside them that never read")
    parser.add_argument("--rate", type=float, default=5, help="pictures a second for each viewer")
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=8, help="of a stretch")
    parser.add_argument("--envs", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-m", "pkmncli", "train", "--dashboard", "--run-name=it", "--steps=5000000"),
            *("--save-interval=5000000", f"--envs={options.envs}", "--no-curriculum"),
        ]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            found = next(match for line in process.stdout if (match := re.match(r"Live page: http://.*:(\d+)/", line)))
            measured = Measured(Path(folder) / "runs" / "it", process)
            while measured.steps() < READY_STEPS:
                time.sleep(1)
            rates, costs = [], []
            for pair in range(options.pairs):
                without: tuple[float, float] = (0, 0)
                beside: tuple[float, float] = (0, 0)
                for watched in (False, True) if pair % 2 == 0 else (True, False):
                    if watched:
                        beside = with_viewers(int(found[1]), options, measured)
                    else:
                        without = measured.stretch(options.seconds)
                rates.append(beside[0] / without[0])
                costs.append(beside[1] / without[1])
                print(
                    f"pair {pair + 1}: {without[0]:.0f} steps/s alone, {beside[0]:.0f} watched, "
                    f"processor time a step {1000 * without[1]:.2f} and {1000 * beside[1]:.2f} ms",
                    flush=True,
                )
        finally:
            process.kill()
            process.wait()
    print(
        f"{options.viewers} viewers and {options.silent} that never read, at {options.rate:g} pictures a second: "
        f"speed x {statistics.median(rates):.3f} (median of {options.pairs} pairs), "
        f"processor time a step x {statistics.median(costs):.3f}"
    )


def with_viewers(port: int, options: argparse.Namespace, measured: Measured) -> tuple[float, float]:
    """Return the measures of a stretch with viewers."""
    context = multiprocessing.get_context("spawn")
    over = context.Event()
    crowd = context.Process(target=look, args=(port, options.viewers, options.silent, options.rate, over))
    crowd.start()
    time.sleep(2)  # until all viewers are connected
    try:
        return measured.stretch(options.seconds)
    finally:
        over.set()
        crowd.join()


if __name__ == "__main__":
    main()
