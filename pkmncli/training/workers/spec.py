"""Data that parent and worker exchange: how to build an environment, a state, the end of an episode."""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pkmncli.diagnostics import one_line
from pkmncli.errors import ConfigurationError
from pkmncli.seeds import Purpose
from pkmncli.training.script_objects import unpacked

if TYPE_CHECKING:
    from pkmncli.api import Environment, Facts


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
class PilotSpec(PartSpec):
    """Build instructions of a plugin's pilot, which plays the environment below all wrappers."""

    def build(self, *positional: Any) -> Any:
        """Build the pilot of an environment."""
        return PartSpec.build(self, *(getattr(one, "environment_inside", one) for one in positional))


@dataclass(frozen=True, slots=True)
class EnvironmentSpec(PartSpec):
    """Build instructions of an environment."""

    wrappers: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Import target and keyword arguments of each wrapper, the innermost first."""
    script: bytes = b""
    """Environment object of a script, as :mod:`pkmncli.training.script_objects` packs it; empty to build one."""

    def build(self, *positional: Any) -> Any:
        """Build the environment: from its settings or a script's object, in its wrappers, with all that training needs.

        Raises:
            ConfigurationError: it is no environment, or of a kind that cannot be trained.
        """
        from pkmncli.api.gymnasium_environment import adapted  # noqa: PLC0415 - only workers need Gymnasium

        environment = unpacked(self.script, self.inside) if self.script else self.inside()
        for target, arguments in self.wrappers:
            environment = _wrapped(environment, target, arguments)
        return adapted(environment, self.settings.get("max_steps_per_episode"))

    def check(self) -> None:
        """Raise what the environment's settings know to be wrong without building it, if their model has ``check``."""
        model = None if self.config_target is None or self.script else pkgutil.resolve_name(self.config_target)
        if model is not None and hasattr(model, "check"):
            model(**self.settings).check()

    def inside(self, kind: Any = None) -> Any:
        """Build the environment from its settings alone; of a class of a script, if ``kind`` is given."""
        if kind is None or self.config_target is None:
            return PartSpec.build(self)
        return getattr(kind, "from_settings", kind)(pkgutil.resolve_name(self.config_target)(**self.settings))


def _wrapped(environment: Any, target: str, arguments: Mapping[str, Any]) -> Any:
    """Return an environment in a wrapper. Raise ConfigurationError if that cannot be built, or gives something else."""
    try:
        wrapped = pkgutil.resolve_name(target)(environment, **arguments)
    except (TypeError, ValueError) as error:
        given = "".join(f" {key}={value}" for key, value in arguments.items())
        raise ConfigurationError(
            f"setting 'wrappers': {target} cannot be built{given and ' with'}{given}: {one_line(error)}"
        ) from error
    if not hasattr(wrapped, "reset"):
        raise ConfigurationError(f"setting 'wrappers': {target} gives no environment, but {type(wrapped).__name__}")
    return wrapped


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """Settings that all the workers of a run share."""

    environment: EnvironmentSpec
    pilot: PartSpec | None
    seed: int
    purpose: Purpose
    num_envs: int
    pilot_shows: bool = True
    """True where the pilot may act, and is asked what it would do; otherwise it only says what its goals are."""
    window: bool = False
    """True if the first environment shows a window; the others never do."""
    stack: int = 1
    """Number of latest observations that an environment shows."""
    envs_per_worker: int = 1
    """Environments of a worker process; the last one may have fewer."""
    ray: bool = False
    """True if workers are actors of Ray."""
    ray_address: str | None = None
    """``HOST:PORT`` of the cluster's head node; None for a local cluster."""

    @property
    def groups(self) -> list[range]:
        """The environments of each worker."""
        size = self.envs_per_worker
        return [range(first, min(first + size, self.num_envs)) for first in range(0, self.num_envs, size)]

    @property
    def step_limit(self) -> int | None:
        """Steps after which a worker truncates an episode; None where the environment's own settings have the limit."""
        return None if self.environment.config_target else self.environment.settings.get("max_steps_per_episode")

    def environment_of(self, index: int) -> EnvironmentSpec:
        """Return how to build one of the environments."""
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
    tiles: tuple[Sequence[int] | int, ...] = ()
    """Tiles of the running episode, by which consequences are found: map, x and y; one number in earlier versions."""


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


def standing_of(environment: Environment, step: int, facts: Facts | None = None) -> Standing:
    """Return the standing of an environment, ``step`` steps after its episode began; ``facts`` are its own if known."""
    frames, progress = getattr(environment, "milestone_frames", None), getattr(environment, "progress", None)
    since = getattr(environment, "steps_since_progress", None)
    return Standing(
        step,
        int((facts or environment.facts()).frames),
        list(environment.milestone_steps()),
        () if frames is None else list(frames()),
        {} if progress is None else {str(name): float(value) for name, value in progress().items()},
        None if since is None else int(since),
    )


class EpisodeEnd(NamedTuple):
    """Data of an episode at its end: its standing, and the total of each part of its reward, if known.

    ``success`` is None where the environment knows none; ``metrics`` are its own figures of the episode.
    """

    standing: Standing
    reward_totals: dict[str, float]
    success: bool | None = None
    metrics: Mapping[str, float] = {}

    def milestones(self, names: Sequence[str]) -> dict[str, int]:
        """Return the step at which each milestone was reached, by their names."""
        return {name: step for name, step in zip(names, self.standing.milestone_steps, strict=True) if step >= 0}

    def milestone_frames(self, names: Sequence[str]) -> dict[str, int]:
        """Return the same in emulated frames, where they are known."""
        return {name: one for name, one in zip(names, self.standing.milestone_frames, strict=False) if one >= 0}


def end_of(environment: Environment, step: int, facts: Facts) -> EpisodeEnd:
    """Return the data of an episode that has ended after ``step`` steps, in a state with these facts."""
    totals, metrics = getattr(environment, "reward_totals", None), getattr(environment, "metrics", None)
    found = {} if metrics is None else {str(name): float(value) for name, value in metrics().items()}
    return EpisodeEnd(
        standing_of(environment, step, facts),
        {} if totals is None else dict(totals()),
        success_of(environment),
        {name: value for name, value in found.items() if math.isfinite(value)},
    )


def success_of(environment: Environment) -> bool | None:
    """Return whether an episode that has ended is a success; None where nothing says so.

    That is what the environment says, else whether the milestone that ends an episode was reached.
    """
    declared = getattr(environment, "succeeded", None)
    if declared is not None:
        return bool(declared)
    names, goal = list(environment.milestone_names), getattr(environment, "goal_name", None)
    if not names:
        return None
    place = names.index(goal) if goal in names else len(names) - 1
    return environment.milestone_steps()[place] >= 0


class StepNews(NamedTuple):
    """Data of a step beyond its record: the end of an episode, reports of the pilot, another count of milestones."""

    end: EpisodeEnd | None
    reports: Sequence[Mapping[str, Any]] = ()
    standing: Standing | None = None
    """Standing of an episode that has reached milestones and continues."""

    def plain(self) -> tuple[Any, ...]:
        """Return the data as plain tuples: to pickle them takes a fifth of the time."""
        end = None if self.end is None else (tuple(self.end.standing), *self.end[1:])
        return end, self.reports, None if self.standing is None else tuple(self.standing)

    @classmethod
    def of(cls, plain: tuple[Any, ...]) -> StepNews:
        """Return the data of :meth:`plain`."""
        end, reports, standing = plain
        return cls(
            None if end is None else EpisodeEnd(Standing(*end[0]), *end[1:]),
            reports,
            None if standing is None else Standing(*standing),
        )
