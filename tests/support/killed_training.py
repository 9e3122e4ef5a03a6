"""A training in a process of its own, killed at a chosen file operation."""

from __future__ import annotations

import signal
from pathlib import Path

from support.warm_python import WarmProcess

CRASH = Path(__file__).with_name("crash.py")

Moment = tuple[str, str, int]


def train_until(moment: Moment, folder: Path, *arguments: str) -> None:
    event, path, count = moment
    with WarmProcess(event, path, str(count), "--", "train", *arguments, cwd=folder, script=CRASH) as process:
        out, error = process.communicate()
    assert process.returncode == -signal.SIGKILL, f"it was not killed: {out}{error}"
