"""Words that an environment and its pilot declare, with the defaults for those that declare nothing."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pkmncli.api import DEFAULT_FRAMES_PER_SECOND, ActionNames, PhaseRole, Skill, default_action_names
from pkmncli.errors import EnvironmentSetupError


def action_names_of(environment: Any, count: int | None = None) -> ActionNames:
    """Return the names of an environment's actions.

    Args:
        environment: an environment, or its class.
        count: number of its actions; None to take what it declares.

    Raises:
        EnvironmentSetupError: it does not name each action once, or a word stands for an action that it does not name.
    """
    declared = getattr(environment, "action_names", None)
    if declared is None:
        return default_action_names() if count is None else default_action_names(count)
    found = declared if isinstance(declared, ActionNames) else ActionNames(tuple(declared))
    if len(set(found.names)) != (len(found.names) if count is None else count):
        raise EnvironmentSetupError(
            f"{_title(environment)} has {count} actions and names {', '.join(found.names)}: one name each is needed"
        )
    named = {*found.synonyms.values(), *found.verbs.values(), *filter(None, [found.idle])}
    unknown = sorted(named - {*found.names})
    if unknown:
        raise EnvironmentSetupError(f"{_title(environment)} has words for an action that it lacks: {unknown[0]}")
    return found


def phase_roles_of(environment: Any) -> list[PhaseRole]:
    """Return the role of each phase of an environment.

    Raises:
        EnvironmentSetupError: it does not declare one for each phase.
    """
    phases = environment.phase_names
    found = [PhaseRole(role) for role in getattr(environment, "phase_roles", ())]
    found = found or [PhaseRole.FREE] * len(phases)
    _check_one_each(environment, "roles", len(found), phases)
    return found


def situations_of(environment: Any) -> list[str]:
    """Return the kind of situation of each phase of an environment; one kind for all if it declares none.

    Raises:
        EnvironmentSetupError: it does not declare one for each phase.
    """
    phases = environment.phase_names
    found = list(getattr(environment, "situations", ())) or ["all"] * len(phases)
    _check_one_each(environment, "situations", len(found), phases)
    return found


def reward_names_of(environment: Any) -> list[str]:
    """Return the reward parts that an environment names."""
    return list(getattr(environment, "reward_names", ()))


def frames_per_second_of(environment: Any) -> float:
    """Return how many frames of an environment's game are one second of play."""
    return float(getattr(environment, "frames_per_second", DEFAULT_FRAMES_PER_SECOND))


def skills_of(pilot: Any) -> tuple[Skill, ...]:
    """Return the skills of a pilot, or of its class; none if it declares none."""
    return tuple(getattr(pilot, "skills", ()))


def _check_one_each(environment: Any, kind: str, found: int, phases: Collection[str]) -> None:
    if found != len(phases):
        raise EnvironmentSetupError(
            f"{_title(environment)} names {found} {kind} for {len(phases)} phases: one each is needed"
        )


def _title(part: Any) -> str:
    return part.__name__ if isinstance(part, type) else type(getattr(part, "unwrapped", part)).__name__
