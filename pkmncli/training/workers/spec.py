"""Data that parent and worker exchange: how to build an environment, a state, the end of an episode."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pkmncli.seeds import Purpose

if TYPE_CHECKING:
    from pkmncli.api import Environment


@dataclass(frozen=True, slots=True)
class PartSpec:
    """Build instructions of an environment or a pilot.

    They are import targets, not names: a worker finds what the parent found, without looking for plugins itself.
    """

    target: str
    config_target: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def build(self, *positional: Any) -> Any:
        """Build the part: its positional arguments, then its settings."""
        factory = pkgutil.resolve_name(self.target)
        if self.config_target is None:
            return factory(*positional)
        return factory(*positional, pkgutil.resolve_name(self.config_target)(**self.settings))


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """Settings that all the workers of a run share."""

    environment: PartSpec
    pilot: PartSpec | None
    seed: int
    purpose: Purpose
    num_envs: int
    pilot_shows: bool = True
    """True where the pilot may press, and is asked what it would; otherwise it only says what its goals are."""
    window: bool = False
    """True if the first environment shows a window; the others never do."""

    def environment_of(self, index: int) -> PartSpec:
        """Return how to build the environment of one worker."""
        if self.window and index == 0:
            return replace(self.environment, settings={**self.environment.settings, "headless": False})
        return self.environment


@dataclass(frozen=True, slots=True)
class WorkerState:
    """State that a worker needs to resume exactly: plain values and the environment's own saved state."""

    episode: int
    step: int
    environment: bytes
    pilot: Mapping[str, Any] | None
    tiles: tuple[int, ...] = ()
    """Tiles of the running episode, by which consequences of steps are found."""


class Standing(NamedTuple):
    """Progress of the running episode of an environment.

    ``milestone_steps`` are -1 for milestones that were not reached, ``milestone_frames`` empty where no frames are
    counted, ``progress`` what the environment names itself, and ``steps_since_progress`` None where it does not say.
    """

    step: int
    frames: int
    milestone_steps: Sequence[int]
    milestone_frames: Sequence[int]
    progress: Mapping[str, float]
    steps_since_progress: int | None

    def reached(self, names: Sequence[str]) -> list[tuple[str, int, int | None]]:
        """Return name, step and frame of each milestone that was reached, in that order."""
        frames = self.milestone_frames or [-1] * len(self.milestone_steps)
        found = [
            (name, step, frame if frame >= 0 else None)
            for name, step, frame in zip(names, self.milestone_steps, frames, strict=True)
            if step >= 0
        ]
        return sorted(found, key=lambda one: one[1])


def standing_of(environment: Environment, step: int) -> Standing:
    """Return the standing of an environment, ``step`` steps after its episode began."""
    frames, progress = getattr(environment, "milestone_frames", None), getattr(environment, "progress", None)
    since = getattr(environment, "steps_since_progress", None)
    return Standing(
        step,
        int(environment.facts().frames),
        list(environment.milestone_steps()),
        () if frames is None else list(frames()),
        {} if progress is None else {str(name): float(value) for name, value in progress().items()},
        None if since is None else int(since),
    )


class EpisodeEnd(NamedTuple):
    """Data of an episode at its end: its standing, and the total of each part of its reward, if known."""

    standing: Standing
    reward_totals: dict[str, float]


class StepNews(NamedTuple):
    """Data of a step beyond its record: the end of an episode, reports of the pilot."""

    end: EpisodeEnd | None
    reports: Sequence[Mapping[str, Any]] = ()
