"""The run that a page shows: its folder, and the training that goes on in it, here or in another process."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any, Literal

from pkmncli.api import find_run
from pkmncli.api.live import LIVE_FILE, LiveTraining
from pkmncli.errors import PkmnError

RunState = Literal["running", "paused", "ended"]

SECONDS_BETWEEN_CHECKS = 1.0


class WatchedRun:
    """One run. What it says is read anew when it may have changed.

    Args:
        folder: the run's folder.
        may_control: whether viewers may change the course of its training.
    """

    def __init__(self, folder: Path, *, may_control: bool = True) -> None:
        self.folder = folder
        self.may_control = may_control
        self._live: LiveTraining | None = None
        self._version = 0
        self._checked = 0.0
        self._settings: dict[str, dict[str, Any]] = {}

    def training(self) -> LiveTraining | None:
        """The training that goes on in the run; None where none does."""
        now = time.monotonic()
        if now - self._checked >= SECONDS_BETWEEN_CHECKS:
            self._checked = now
            try:
                version = (self.folder / LIVE_FILE).stat().st_mtime_ns
            except OSError:
                version = 0
            if version != self._version or (self._live is None and version):
                self._live = LiveTraining.attach(self.folder) if version else None
                self._version = version
            elif self._live is not None and not self._live.running:
                self._live = None
        return self._live

    def settings(self) -> dict[str, dict[str, Any]]:
        """The settings of its ``config.toml`` by section; the trainer's own under an empty name."""
        # it may be in the course of being replaced: then what it said before will do
        with contextlib.suppress(PkmnError):
            self._settings = {name: dict(values) for name, values in find_run(self.folder).settings.items()}
        return self._settings

    @property
    def tables_folder(self) -> Path:
        """Where its decisions, episodes and metrics stand."""
        elsewhere = self.settings().get("", {}).get("decision_db_path")
        return Path(elsewhere) if elsewhere else self.folder

    def read_json(self, name: str) -> dict[str, Any]:
        """What a file of the run says; nothing where it is missing or damaged."""
        try:
            path = self.folder / name
            content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}  # a pipe never ends
        except (OSError, ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}
