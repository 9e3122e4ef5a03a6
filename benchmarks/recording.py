"""The speed of the recording of decisions, and its cost for a training.

    python benchmarks/recording.py --pairs 7 --rows 500000 --steps 2000

First, rows per second into the store: batches of a training on the bundled game, played by the pilot for some episodes
and repeated with other steps and hashes, go through ``append`` and ``flush`` into their own folder, until they are
Parquet files on disk. By processor time, which other work on the machine changes little, and by the clock.

Then the share of recording in the step of a training on the bundled game, in two ways: by the time in the recorder's
methods, as a share of the time of the steps; and by pairs, in turn, of the same training with the store and with one
that drops everything: the median of the ratios of their processor times. In the parent process alone, where recording
happens; the emulator's time is added to it.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pkmn_decisions.store.store import DuckDBStore
from pkmncli.api import Coded
from pkmncli.config import resolve_settings
from pkmncli.plugins import get_registry
from pkmncli.training import run_keeper
from pkmncli.training.display.console import ConsoleProgress
from pkmncli.training.recording.recorder import BATCH_ROWS, Recorder
from pkmncli.training.session import TrainingSession
from pkmncli.training.trainer import Trainer


class KeepingStore:
    """Store that only keeps the batches of decisions."""

    def __init__(self, folder: Path) -> None:
        self.batches: list[Mapping[str, Any]] = []

    def append(self, table: str, columns: Mapping[str, Any]) -> None:
        """Keep a batch of decisions."""
        if table == "decisions":
            self.batches.append(columns)

    def flush(self) -> None:
        """Do nothing."""

    def read(self, table: str, where: str = "", parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Return no rows: nothing is read back."""
        return []

    def size_bytes(self) -> int:
        """Return 0: it takes no space."""
        return 0

    def supersede(self, after_step: int, tables: Sequence[str] | None = None) -> int:
        """Return 0: there is nothing to set aside."""
        return 0

    def close(self) -> None:
        """Do nothing."""


class DroppingStore(KeepingStore):
    """Store that keeps nothing."""

    def append(self, table: str, columns: Mapping[str, Any]) -> None:
        """Drop a batch."""


class RecordingTime:
    """Time spent in the methods of recorders, from :meth:`install` on."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._inside = False

    def install(self) -> None:
        """Begin to measure."""
        for name in ("add_steps", "add_rows", "begin_flush", "flush", "finish"):
            setattr(Recorder, name, self._timed(getattr(Recorder, name)))

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def timed(*arguments: Any, **named: Any) -> Any:
            if self._inside:
                return method(*arguments, **named)
            self._inside, began = True, time.perf_counter()
            try:
                return method(*arguments, **named)
            finally:
                self._inside = False
                self.seconds += time.perf_counter() - began

        return timed


def train(store: type[Any], steps: int, envs: int) -> tuple[Any, float, float]:
    """Train on the bundled game. Return the store, and seconds of the steps by clock and processor."""
    kept: list[Any] = []

    def opened(registry: Any, folder: Path) -> Any:
        kept.append(store(folder))
        return kept[0]

    trainers: list[Trainer] = []
    began: list[float] = []

    def watch(trainer: Trainer) -> None:
        trainers.append(trainer)
        began.append(time.process_time())

    with tempfile.TemporaryDirectory() as folder:
        given = {"save_dir": Path(folder), "steps": steps, "envs": envs, "seed": 0, "save_interval": 10 * steps}
        given |= {"quiet": True, "torch_threads": 1}
        settings = resolve_settings(given, registry=get_registry())
        before, run_keeper.open_store = run_keeper.open_store, opened
        try:
            progress = ConsoleProgress(quiet=True)
            TrainingSession(settings, get_registry(), ["recording"], progress, on_trainer=watch).start()
        finally:
            run_keeper.open_store = before
    used = time.process_time() - began[0]
    return kept[0], trainers[0].statistics.elapsed_s, used


def multiplied(batches: list[Mapping[str, Any]], rows: int) -> list[dict[str, Any]]:
    """Return batches of :data:`BATCH_ROWS` rows like the given ones, of consecutive steps, until there are ``rows``."""
    names = list(batches[0])
    whole: dict[str, Any] = {}
    for name in names:
        columns = [batch[name] for batch in batches]
        decoded = [column.decoded() if isinstance(column, Coded) else column for column in columns]
        whole[name] = np.concatenate(decoded)
    random = np.random.default_rng(0)
    known = len(whole["step"])
    made = []
    for first in range(0, rows, BATCH_ROWS):
        picked = np.arange(first, first + BATCH_ROWS) % known
        batch = {name: column[picked] for name, column in whole.items()}
        batch["global_step"] = np.arange(first + 1, first + BATCH_ROWS + 1)
        batch["time"] = whole["time"][0] + batch["global_step"] / 400
        batch["fine_hash"] = batch["fine_hash"] ^ random.integers(0, 2**20, BATCH_ROWS).astype("u8")
        for name in ("reason", "model", "reward_parts"):
            batch[name] = coded(batch[name])
        made.append(batch)
    return made


def coded(column: Any) -> Coded:
    """Return a column of objects as the recorder passes it on."""
    known: dict[str, int] = {}
    values: list[Any] = []
    codes = np.zeros(len(column), np.uint32)
    for row, value in enumerate(column):
        place = known.setdefault(repr(value), len(known))
        if place == len(values):
            values.append(value)
        codes[row] = place
    return Coded(codes, values)


def rates(batches: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Return rows per second by clock and by processor time, and bytes per row."""
    with tempfile.TemporaryDirectory() as folder, DuckDBStore(Path(folder)) as store:
        clock, processor = time.perf_counter(), time.process_time()
        for batch in batches:
            store.append("decisions", batch)
        store.flush()
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
        rows = sum(len(batch["step"]) for batch in batches)
        return rows / clock, rows / processor, store.size_bytes() / rows


def shown(values: Sequence[float], form: str) -> str:
    """Return median, least and greatest in words."""
    return " ".join(format(value, form) for value in (statistics.median(values), min(values), max(values)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--envs", type=int, default=1)
    options = parser.parse_args()
    print("median, least, greatest of", options.pairs)

    keeping = train(KeepingStore, options.steps, options.envs)[0]
    batches = multiplied(keeping.batches, options.rows)
    found = [rates(batches) for _ in range(options.pairs)]
    print("rows a second by processor time:", shown([processor for _, processor, _ in found], ",.0f"))
    print("rows a second by the clock:     ", shown([clock for clock, _, _ in found], ",.0f"))
    print(f"bytes a row: {found[0][2]:.1f}")

    recording = RecordingTime()
    recording.install()
    shares, ratios = [], []
    for pair in range(options.pairs):
        used = {}
        for store in (DuckDBStore, DroppingStore) if pair % 2 else (DroppingStore, DuckDBStore):
            recording.seconds = 0.0
            _, elapsed, used[store] = train(store, options.steps, options.envs)
            if store is DuckDBStore:
                shares.append(recording.seconds / elapsed)
        ratios.append(used[DuckDBStore] / used[DroppingStore])
    print("share of recording in a step, by the clock:     ", shown(shares, ".2%"))
    print("processor time with the store, against dropping:", shown(ratios, ".3f"))


if __name__ == "__main__":
    main()
