"""Runs in the folder of the shown run: their list, and one metric of several of them for a common chart."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pkmn_dashboard.tables import Tables
from pkmn_dashboard.watched_run import WatchedRun

MOST_LISTED = 200
MOST_COMPARED = 5
"""Maximum runs in a chart: each has a different colour."""


class RunsBeside:
    """Runs in the folder of the shown run. Methods may be called from several threads.

    A run is found by its name in the list, never as a path, so a request cannot name another folder.

    Args:
        shown: folder of the shown run.
    """

    def __init__(self, shown: Path) -> None:
        self._shown = shown.resolve()
        self._lock = threading.Lock()
        self._tables: dict[Path, Tables] = {}

    def close(self) -> None:
        """Close the tables of the compared runs."""
        with self._lock:
            while self._tables:
                self._tables.popitem()[1].close()

    def listed(self) -> list[dict[str, Any]]:
        """Return the newest runs, newest first, with their settings and results so far."""
        rows = []
        for folder, created in self._folders():
            run = WatchedRun(folder)
            settings, summary = run.settings().get("", {}), run.read_json("summary.json")
            alone = summary.get("learner_alone")
            rows.append(
                {
                    "name": folder.name,
                    "shown": folder.resolve() == self._shown,
                    "training": run.training() is not None,
                    "created": created,
                    "game": str(run.names().get("game", "")),
                    "settings": {key: settings.get(key) for key in ("rl", "mode", "llm")},
                    "steps": run.steps(),
                    "episodes": _number(summary.get("total_episodes")),
                    "goal_share": _number(alone.get("goal")) if isinstance(alone, dict) else None,
                    "reward": _number(alone.get("avg_reward")) if isinstance(alone, dict) else None,
                }
            )
        return rows

    def metric(self, runs: Sequence[str], name: str, points: int) -> dict[str, dict[str, list[float]]]:
        """Return the series of a metric by run; runs that are not in the list are left out."""
        known = {folder.name: folder for folder, _ in self._folders()}
        found = {}
        with self._lock:
            chosen = [(run, known[run]) for run in dict.fromkeys(runs) if run in known][:MOST_COMPARED]
            for folder in [one for one in self._tables if one not in {folder for _, folder in chosen}]:
                self._tables.pop(folder).close()
            for run, folder in chosen:
                if folder not in self._tables:
                    self._tables[folder] = Tables(WatchedRun(folder).tables_folder)
                found[run] = self._tables[folder].metrics([name], points)[name]
        return found

    def _folders(self) -> list[tuple[Path, float]]:
        """Return the folders of the newest runs and when each was made, newest first; the shown run is among them."""
        found = []
        try:
            folders = list(self._shown.parent.iterdir())
        except OSError:
            folders = [self._shown]
        for folder in folders:
            created = _number(WatchedRun(folder).read_json("versions.json").get("created"))
            if created is not None and folder.name.isprintable():  # others may be no text that JSON can hold
                found.append((folder, created))
        found.sort(key=lambda one: (one[0].resolve() == self._shown, one[1]), reverse=True)
        return sorted(found[:MOST_LISTED], key=lambda one: one[1], reverse=True)


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None
