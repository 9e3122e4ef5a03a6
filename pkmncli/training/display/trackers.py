"""Callbacks that pass a training's metrics to the trackers that its settings choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from traceback import format_exception
from typing import Any

from pkmncli.api import Tracker
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.config.command_settings import CommandSettings
from pkmncli.config.resolved import DEFAULT
from pkmncli.diagnostics import debug_enabled, one_line, say
from pkmncli.plugins import Registration, Registry
from pkmncli.training.display.callbacks import Callback, Training
from pkmncli.training.recording.rate_limit import RateLimit


def chosen_trackers(settings: ResolvedSettings | CommandSettings, registry: Registry) -> list[TrackedRun]:
    """Return the trackers of a run. Nothing is written yet.

    Raises:
        PluginError: there is no such tracker, or what it needs is not installed.
        ConfigurationError: it can't be used with these settings.
    """
    chosen = []
    for name in settings.train.track:
        by_default = settings.origin("", "track") == DEFAULT
        if name == NONE or (by_default and name not in registry.names("trackers")):
            continue  # a plugin that was disabled on purpose is not missed
        registration = registry.get("trackers", name)
        own = settings.for_part(registration)
        chosen.append(TrackedRun(registration, own))
    return chosen


class TrackedRun(Callback):
    """A tracker, built when the training starts. A tracker that fails is reported and left out.

    Where it would be called too often, as by episodes of a few steps, it gets the latest value of each metric.
    """

    def __init__(self, registration: Registration, settings: Any) -> None:
        self.name = registration.name
        self._build: Callable[..., Tracker] = registration.load()
        self._settings = settings
        self._tracker: Tracker | None = None
        self._calls = RateLimit()
        self._held: dict[str, float] = {}
        """Metrics that wait for room among the calls."""
        self._held_step = 0
        check = getattr(self._build, "check", None)
        if check is not None:
            check(settings)

    def on_start(self, training: Training) -> None:
        """Build the tracker."""

        def build() -> None:
            self._tracker = self._build(training.run, training.statistics.steps, self._settings)

        self._carefully(build)

    def on_step(self, training: Training) -> None:
        """Pass held metrics on as soon as there is room."""
        if self._held and self._calls.passes():
            self._pass_held()

    def on_metrics(self, training: Training, metrics: Mapping[str, float]) -> None:
        """Pass metrics on, or hold them."""
        if self._tracker is not None:
            self._held |= metrics
            self._held_step = training.statistics.steps
            if self._calls.passes():
                self._pass_held()

    def before_checkpoint(self) -> None:
        """Flush the tracker: a run that resumes does not pass these metrics again."""
        self._pass_held()
        if self._tracker is not None:
            self._carefully(self._tracker.flush)

    def _pass_held(self) -> None:
        held, self._held = self._held, {}
        if held and self._tracker is not None:
            self._carefully(self._tracker.log, self._held_step, held)

    def on_finish(self, training: Training, summary: Mapping[str, Any]) -> None:
        """Close the tracker with the run's summary."""
        self._close(summary)

    def on_end(self, training: Training) -> None:
        """Close the tracker if an error ended the training."""
        self._close(None)

    def _close(self, summary: Mapping[str, Any] | None) -> None:
        self._pass_held()
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
