"""What parent and worker tell each other: how to build an environment, a state, what an episode came to."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pkmncli.seeds import Purpose
from pkmncli.training.recording.journey import Standing


@dataclass(frozen=True, slots=True)
class PartSpec:
    """How to build an environment or a pilot: import targets rather than names, so that a worker finds whatever the
    parent found, plugins of third parties included, without looking for plugins itself.
    """

    target: str
    config_target: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def build(self, *positional: Any) -> Any:
        """Builds the part: its positional arguments, then its settings."""
        factory = pkgutil.resolve_name(self.target)
        if self.config_target is None:
            return factory(*positional)
        return factory(*positional, pkgutil.resolve_name(self.config_target)(**self.settings))


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """What all the workers of a run have in common."""

    environment: PartSpec
    pilot: PartSpec | None
    seed: int
    purpose: Purpose
    num_envs: int
    pilot_shows: bool = True
    """True where the pilot may press, and is asked what it would; otherwise it only says what its goals are."""
    window: bool = False
    """Whether the first environment shows a window; only one of many ever does."""

    def environment_of(self, index: int) -> PartSpec:
        """How to build the environment of one worker."""
        if self.window and index == 0:
            return replace(self.environment, settings={**self.environment.settings, "headless": False})
        return self.environment


@dataclass(frozen=True, slots=True)
class WorkerState:
    """All that a worker needs to go on exactly: plain values and the environment's own saved state."""

    episode: int
    step: int
    environment: bytes
    pilot: Mapping[str, Any] | None
    tiles: tuple[int, ...] = ()
    """Where the running episode has been, as the consequences of steps are told by."""


class EpisodeEnd(NamedTuple):
    """What is known of an episode only when it ends: where it stood, and what each part of the reward earned, where
    the environment says so.
    """

    standing: Standing
    reward_totals: dict[str, float]


class StepNews(NamedTuple):
    """What a step has to tell beyond its record: the end of an episode, reports of the pilot."""

    end: EpisodeEnd | None
    reports: Sequence[Mapping[str, Any]] = ()
