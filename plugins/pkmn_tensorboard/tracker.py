"""Tracker of metrics as TensorBoard event files: one file for each session of a run, in its ``tensorboard/``.

A file is appended to and flushed every few seconds, so that of a killed training ends at worst with a partial record,
which readers ignore. A resumed run writes in its new file from which step on older files no longer hold, as
TensorFlow's writers do after a crash; readers then drop those points.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tensorboardX import RecordWriter
from tensorboardX.proto import event_pb2, summary_pb2
from tensorboardX.summary import hparams, text

from pkmncli.api import RunInfo

FOLDER = "tensorboard"
FLUSH_SECONDS = 5.0

SCORES = ("evaluation/avg_reward", "episode/average_reward", "episode/reward")
"""Metrics that TensorBoard shows with the hyperparameters."""


class TensorBoardTracker:
    """Tracker (:class:`pkmncli.api.Tracker`) without a thread: only its occasional flush is slow."""

    def __init__(self, run: RunInfo, step: int, settings: object = None) -> None:
        folder = run.folder / FOLDER
        folder.mkdir(exist_ok=True)
        begun = any(folder.iterdir())
        self._file = RecordWriter(str(folder / _file_name(folder, step)))
        self._write(event_pb2.Event(file_version="brain.Event:2"), 0)
        if begun:
            restart = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
            self._write(event_pb2.Event(session_log=restart), step + 1)
        else:
            self._write_settings(run)
        self.flush()

    def _write_settings(self, run: RunInfo) -> None:
        values = dict(_flat(run.settings))
        experiment, start, _end = hparams(values, dict.fromkeys(SCORES, 0.0))
        table = "\n".join(["| setting | value |", "| --- | --- |", *(f"| {key} | {values[key]} |" for key in values)])
        for summary in (experiment, start, text("settings", table)):
            self._write(event_pb2.Event(summary=summary), 0)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Add the values of one step. TensorBoard's tags have no spaces, and its values are 32-bit."""
        values = [
            summary_pb2.Summary.Value(tag=name.replace(" ", "_"), simple_value=value) for name, value in metrics.items()
        ]
        self._write(event_pb2.Event(summary=summary_pb2.Summary(value=values)), step)
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write the logged values to disk."""
        self._file.flush()
        self._flushed = time.monotonic()

    def close(self, summary: Mapping[str, Any] | None) -> None:
        """Mark the end of a completed training, and close the file."""
        if summary is not None:
            *_begin, end = hparams({}, {})
            self._write(event_pb2.Event(summary=end), int(summary["total_steps"]))
        self._file.close()

    def _write(self, event: Any, step: int) -> None:
        event.step, event.wall_time = step, time.time()
        self._file.write(event.SerializeToString())


def _file_name(folder: Path, step: int) -> str:
    """Return an unused file name. Readers take files in the order of names, which contain the time in seconds."""
    number = sum(f".step-{step:09d}." in path.name for path in folder.iterdir())
    return f"events.out.tfevents.{int(time.time())}.step-{step:09d}.{number}"


def _flat(settings: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield settings as ``key`` or ``section.key``, each a number, a boolean or text."""
    for section, values in settings.items():
        for key, value in values.items():
            if value is not None:
                plain = value if isinstance(value, bool | int | float | str) else str(value)
                yield (f"{section}.{key}" if section else key), plain
