"""Callback that calls the runtime hooks of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pkmncli.training.display.callbacks import Callback, Training

if TYPE_CHECKING:
    from pathlib import Path

    from pkmncli.api import EpisodeSummary
    from pkmncli.plugins import Registry


class PluginHooks(Callback):
    """Calls the hooks of all plugins; one that fails is reported once and left out.

    Args:
        registry: the plugins.
    """

    def __init__(self, registry: Registry) -> None:
        self._call = registry.call_runtime_hook

    def on_start(self, training: Training) -> None:
        """Call ``pkmn_run_started``."""
        self._call("pkmn_run_started", run=training.run, step=training.statistics.steps)

    def on_metrics(self, training: Training, metrics: Mapping[str, float]) -> None:
        """Call ``pkmn_metrics_logged``."""
        self._call("pkmn_metrics_logged", run=training.run, step=training.statistics.steps, metrics=metrics)

    def on_rows(self, training: Training, rows: Mapping[str, Any]) -> None:
        """Call ``pkmn_steps_logged``."""
        self._call("pkmn_steps_logged", run=training.run, batch=rows)

    def on_episode(self, training: Training, summary: EpisodeSummary) -> None:
        """Call ``pkmn_episode_finished``."""
        self._call("pkmn_episode_finished", run=training.run, episode=summary)

    def on_checkpoint(self, training: Training, path: Path) -> None:
        """Call ``pkmn_checkpoint_saved``."""
        self._call("pkmn_checkpoint_saved", run=training.run, path=path)

    def on_finish(self, training: Training, summary: Mapping[str, Any]) -> None:
        """Call ``pkmn_run_finished``."""
        self._call("pkmn_run_finished", run=training.run, summary=summary)

    def on_end(self, training: Training) -> None:
        """Call ``pkmn_run_ended``."""
        self._call("pkmn_run_ended", run=training.run)
