"""Hands a training's metrics to the trackers that its settings choose, through the hooks that every plugin has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from traceback import format_exception
from typing import Any

from pkmncli import hookimpl
from pkmncli.api import RunInfo, Tracker
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.config.resolved import DEFAULT
from pkmncli.diagnostics import debug_enabled, one_line, say
from pkmncli.plugins import Registration, Registry


def chosen_trackers(settings: ResolvedSettings, registry: Registry) -> list[TrackedRun]:
    """The trackers of a training. Nothing is written yet.

    Raises:
        PluginError: there is no such tracker, or what it needs is not installed.
        ConfigurationError: it can't be used as things are.
    """
    chosen = []
    for name in settings.train.track:
        by_default = settings.origins["track"] == DEFAULT
        if name == NONE or (by_default and name not in registry.names("trackers")):
            continue  # a plugin that was left out on purpose is not missed
        registration = registry.get("trackers", name)
        own = settings.plugin(name) if registration.config is not None else None
        chosen.append(TrackedRun(registration, own))
    return chosen


@contextmanager
def tracked(trackers: list[TrackedRun], registry: Registry) -> Iterator[None]:
    """While entered, the trackers are told what plugins' hooks are told."""
    names = [f"{tracker.name} (tracker)" for tracker in trackers]
    try:
        for name, tracker in zip(names, trackers, strict=True):
            registry.register_plugin(tracker, name)
        yield
    finally:
        for name, tracker in zip(names, trackers, strict=True):
            registry.unregister_plugin(name)
            tracker.close(None)


class TrackedRun:
    """One tracker as a plugin whose hooks are called. It is built when the training starts."""

    def __init__(self, registration: Registration, settings: Any) -> None:
        self.name = registration.name
        self._build: Callable[..., Tracker] = registration.load()
        self._settings = settings
        self._tracker: Tracker | None = None
        check = getattr(self._build, "check", None)
        if check is not None:
            check(settings)

    @hookimpl
    def pkmn_run_started(self, run: RunInfo, step: int) -> None:
        """Builds the tracker."""

        def build() -> None:
            self._tracker = self._build(run, step, self._settings)

        self._carefully(build)

    @hookimpl
    def pkmn_metrics_logged(self, step: int, metrics: Mapping[str, float]) -> None:
        """Hands metrics over."""
        if self._tracker is not None:
            self._carefully(self._tracker.log, step, metrics)

    def flush(self) -> None:
        """Has the tracker hand over what it holds back."""
        if self._tracker is not None:
            self._carefully(self._tracker.flush)

    @hookimpl
    def pkmn_run_finished(self, summary: Mapping[str, Any]) -> None:
        """Ends it, with what the training came to."""
        self.close(summary)

    def close(self, summary: Mapping[str, Any] | None) -> None:
        """Ends the tracker, unless it has ended."""
        tracker, self._tracker = self._tracker, None
        if tracker is not None:
            self._carefully(tracker.close, summary)

    def _carefully(self, call: Callable[..., None], *arguments: Any) -> None:
        """A tracker that fails takes nothing with it: it is told, and left out."""
        try:
            call(*arguments)
        except (Exception, SystemExit) as error:
            tracker, self._tracker = self._tracker, None
            if tracker is not None:
                with suppress(Exception, SystemExit):  # it may hold a file or a process, and has failed once already
                    tracker.close(None)
            say(f"the tracker '{self.name}' failed and is left out for the rest of the run: {one_line(error)}")
            if debug_enabled():
                say("".join(format_exception(error)))
