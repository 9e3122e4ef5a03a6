"""Run that a page shows: its folder, and its training in this or another process."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pkmncli.api import (
    DEFAULT_FRAMES_PER_SECOND,
    default_action_names,
    find_run,
    map_pictures,
    recorded_steps,
    tables_folder,
)
from pkmncli.api.live import LIVE_FILE, LiveTraining
from pkmncli.errors import PkmnError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

RunState = Literal["running", "paused", "ended"]

SECONDS_BETWEEN_CHECKS = 1.0


class WatchedRun:
    """Run whose files are read again when they may have changed.

    Args:
        folder: the run's folder.
        may_control: true if viewers may control its training.
    """

    def __init__(self, folder: Path, *, may_control: bool = True) -> None:
        self.folder = folder
        self.may_control = may_control
        self._live: LiveTraining | None = None
        self._version = 0
        self._checked = 0.0
        self._settings: dict[str, dict[str, Any]] = {}
        self._names: dict[str, Any] = {}
        self._drawing = threading.Lock()
        self._pictures: dict[int, NDArray[np.uint8] | None] = {}
        """By map; only in memory."""

    def training(self) -> LiveTraining | None:
        """Return the running training; None if there is none."""
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
        """Return the settings of its ``config.toml`` by section; the core's under an empty name."""
        # it may just be replaced: then the earlier content is used
        with contextlib.suppress(PkmnError):
            self._settings = {name: dict(values) for name, values in find_run(self.folder).settings.items()}
        return self._settings

    def names(self) -> dict[str, Any]:
        """Return the content of its ``names.json``, which does not change; empty while there is none."""
        self._names = self._names or self.read_json("names.json")
        return self._names

    def action_names(self) -> list[str]:
        """Return the names of its actions."""
        return list(map(str, self.names().get("actions") or default_action_names().names))

    def frames_per_second(self) -> float:
        """Return how many frames of its game are one second of play."""
        return float(self.names().get("frames_per_second") or DEFAULT_FRAMES_PER_SECOND)

    def map_picture(self, map_id: int) -> NDArray[np.uint8] | None:
        """Return the picture of a map, (height, width, 3), one pixel for each tile; None if it cannot be drawn."""
        with self._drawing:
            if map_id not in self._pictures:
                given = {
                    f"{section}.{key}" if section else key: value
                    for section, values in self.settings().items()
                    for key, value in values.items()
                    if value is not None
                }
                found: Mapping[int, NDArray[np.uint8]] = {}
                known = str(map_id) in self.names().get("maps", {})
                with contextlib.suppress(PkmnError):  # visits are shown without it
                    found = map_pictures(str(given.get("env")), given, [map_id]) if known else {}
                if not known:
                    return None
                self._pictures[map_id] = found.get(map_id)
            return self._pictures[map_id]

    @property
    def tables_folder(self) -> Path:
        """Return the folder of its decisions, episodes and metrics."""
        return tables_folder(self.folder, (self._settings or self.settings()).get("", {}))

    def steps(self) -> int | None:
        """Return its recorded steps, also those since the latest checkpoint; None if there are none yet."""
        saved = self.read_json("summary.json").get("total_steps")
        return max(saved if isinstance(saved, int) else 0, recorded_steps(self.tables_folder)) or None

    def read_json(self, name: str) -> dict[str, Any]:
        """Return the content of a JSON file of the run; empty if it is missing or damaged."""
        try:
            path = self.folder / name
            content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}  # a pipe never ends
        except (OSError, ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}
