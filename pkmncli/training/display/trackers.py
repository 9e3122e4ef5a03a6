"""Callbacks that pass a training's metrics to the trackers that its settings choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from traceback import format_exception
from typing import Any

from pkmncli.api import Tracker
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.config.resolved import DEFAULT
from pkmncli.diagnostics import debug_enabled, one_line, say
from pkmncli.plugins import Registration, Registry
from pkmncli.training.display.callbacks import Callback, Training


def chosen_trackers(settings: ResolvedSettings, registry: Registry) -> list[TrackedRun]:
    """Return the trackers of a training. Nothing is written yet.

    Raises:
        PluginError: there is no such tracker, or what it needs is not installed.
        ConfigurationError: it can't be used with these settings.
    """
    chosen = []
    for name in settings.train.track:
        by_default = settings.origins["track"] == DEFAULT
        if name == NONE or (by_default and name not in registry.names("trackers")):
            continue  # a plugin that was disabled on purpose is not missed
        registration = registry.get("trackers", name)
        own = settings.for_part(registration)
        chosen.append(TrackedRun(registration, own))
    return chosen


class TrackedRun(Callback):
    """A tracker, built when the training starts. A tracker that fails is reported and left out."""

    def __init__(self, registration: Registration, settings: Any) -> None:
        self.name = registration.name
        self._build: Callable[..., Tracker] = registration.load()
        self._settings = settings
        self._tracker: Tracker | None = None
        check = getattr(self._build, "check", None)
        if check is not None:
            check(settings)

    def on_start(self, training: Training) -> None:
        """Build the tracker."""

        def build() -> None:
            self._tracker = self._build(training.run, training.statistics.steps, self._settings)

        self._carefully(build)

    def on_metrics(self, training: Training, metrics: Mapping[str, float]) -> None:
        """Pass metrics on."""
        if self._tracker is not None:
            self._carefully(self._tracker.log, training.statistics.steps, metrics)

    def before_checkpoint(self) -> None:
        """Flush the tracker: a run that resumes does not pass these metrics again."""
        if self._tracker is not None:
            self._carefully(self._tracker.flush)

    def on_finish(self, training: Training, summary: Mapping[str, Any]) -> None:
        """Close the tracker with the run's summary."""
        self._close(summary)

    def on_end(self, training: Training) -> None:
        """Close the tracker if an error ended the training."""
        self._close(None)

    def _close(self, summary: Mapping[str, Any] | None) -> None:
        tracker, self._tracker = self._tracker, None
        if tracker is not None:
            self._carefully(tracker.close, summary)

    def _carefully(self, call: Callable[..., None], *arguments: Any) -> None:
        try:
            call(*arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also what cancels an event loop's task
            tracker, self._tracker = self._tracker, None
            if tracker is not None:
                with suppress(Exception, SystemExit):  # it may hold a file or a process, and has failed once already
                    tracker.close(None)
            say(f"the tracker '{self.name}' failed and is left out for the rest of the run: {one_line(error)}")
            if debug_enabled():
                say("".join(format_exception(error)))
