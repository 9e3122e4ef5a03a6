"""Stories of a few goals for the planner's tests: none is reached unless a test sets its flag."""

from __future__ import annotations

import dataclasses

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.goals.goal_planner import GoalOrientedPlanner
from pkmn_pyboy.profile.milestones import Evidence, Milestone, Target

NEVER = 200


def never(memory_map: object, index: int = NEVER) -> tuple[Evidence, ...]:
    return (Evidence.build(memory_map, "event", index=index),)  # type: ignore[arg-type]


def goal(environment: PokemonEnvironment, key: str, event: int = NEVER, **more: object) -> Milestone:
    evidence = never(environment.profile.memory, event)
    return Milestone(key, key, evidence, **{"target": Target(257)} | more)  # type: ignore[arg-type]


def tell(environment: PokemonEnvironment, story: Milestone, *errands: Milestone) -> None:
    """Make one milestone, with errands, the whole story."""
    environment.game.profile = dataclasses.replace(
        environment.profile, milestones=(story,), errands={errand.key: errand for errand in errands}
    )
    environment.milestones.__init__((story,))  # type: ignore[misc]
    environment.milestones.begin(environment.emulator, environment.state.map_id)
    environment.game.goal = -1


def plan_for(environment: PokemonEnvironment, story: Milestone, *errands: Milestone) -> list[tuple[str, str]]:
    """Return kinds and keys of the goals with this milestone as the next."""
    tell(environment, story, *errands)
    return planned(environment)


def planned(environment: PokemonEnvironment) -> list[tuple[str, str]]:
    """Return kinds and keys of the goals now."""
    return [(one.kind, one.key) for one in GoalOrientedPlanner(environment.game).goals()]


def set_event(environment: PokemonEnvironment, index: int, *, value: bool = True) -> None:
    """Set an event flag in memory, or clear it."""
    flags = environment.profile.memory["wEventFlags"]
    place, bit = flags.address + (index >> 3), 1 << (index & 7)
    before = environment.emulator.memory[flags.bank, place]
    environment.emulator.memory[flags.bank, place] = before | bit if value else before & ~bit
