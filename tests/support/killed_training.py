"""A training in a process of its own, killed at a chosen file operation."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

CRASH = Path(__file__).with_name("crash.py")

Moment = tuple[str, str, int]


def train_until(moment: Moment, folder: Path, *arguments: str) -> None:
    event, path, count = moment
    command = [sys.executable, CRASH, event, path, str(count), "--", "train", *arguments]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode == -signal.SIGKILL, f"it was not killed: {process.stdout}{process.stderr}"
