"""Monitor of multi-model trainings: a line of JSON for each event, and the latest figures."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmn_multimodel.settings import MonitoringConfig

if TYPE_CHECKING:
    from pkmn_multimodel.rollouts import Episode

_started: list[UnifiedMonitor] = []


class UnifiedMonitor:
    """Monitor that trainers send their metrics to once it is started.

    Args:
        config: settings.
    """

    def __init__(self, config: MonitoringConfig | None = None) -> None:
        self.config = config or MonitoringConfig.model_validate({})
        self.latest: dict[str, float] = {}
        """Latest metrics by name."""
        self.events = 0
        """Events since it was started."""
        self._lock = threading.Lock()
        self._games: list[Mapping[str, Any]] = []

    def start(self) -> None:
        """Take metrics from now on. Raise OSError if the log's folder cannot be made."""
        if self.config.enable_file_logging:
            Path(self.config.log_file_path).parent.mkdir(parents=True, exist_ok=True)
        if self not in _started:
            _started.append(self)
        self.note("start", 0, {})

    def stop(self) -> None:
        """Take no more metrics."""
        if self in _started:
            self.note("stop", 0, {})
            _started.remove(self)

    def note(
        self, event: str, episode: int, metrics: Mapping[str, Any], games: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """Take in an event: every ``log_interval``-th batch is written, and all others.

        Args:
            event: its kind.
            episode: games played.
            metrics: figures by name.
            games: who played together, as :func:`games_of` returns it. Games of batches that are not written are
                written with the next one.
        """
        with self._lock:
            self.latest.update(
                {name: float(value) for name, value in metrics.items() if isinstance(value, int | float)}
            )
            self.events += 1
            if not self.config.enable_file_logging:
                return
            self._games += games
            if event == "batch" and self.events % self.config.log_interval:
                return
            content = {"time": round(time.time(), 3), "event": event, "episode": episode, "metrics": dict(metrics)}
            line = json.dumps(content | ({"games": self._games} if self._games else {}))
            self._games = []
            with Path(self.config.log_file_path).open("a", encoding="utf-8") as log:
                log.write(f"{line}\n")

    def summary(self) -> dict[str, float]:
        """Return the latest metrics by name."""
        with self._lock:
            return dict(self.latest)


def games_of(episodes: Sequence[Episode]) -> list[dict[str, Any]]:
    """Return for each group of players how many games it played, and the mean gain of each player in these."""
    groups: dict[tuple[str, ...], list[Episode]] = {}
    for episode in episodes:
        groups.setdefault(tuple(sorted(set(episode.seats.values()))), []).append(episode)
    found = []
    for players, played in groups.items():
        gains: dict[str, list[float]] = {player: [] for player in players}
        for episode in played:
            for agent, player in episode.seats.items():
                gains[player].append(episode.gains[agent])
        found.append({"count": len(played), "gains": {name: sum(all_) / len(all_) for name, all_ in gains.items()}})
    return found


def started() -> UnifiedMonitor | None:
    """Return the monitor that was started last; None if there is none."""
    return _started[-1] if _started else None


def create_unified_monitor(config: MonitoringConfig | None = None) -> UnifiedMonitor:
    """Return a monitor, which is to be started."""
    return UnifiedMonitor(config)
