"""The pilot plays the bundled game: alone, disturbed by others, without targets, or without a map of the world."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

import pytest
from support.variants import long_after

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot

MakeEnvironment = Callable[..., PokemonEnvironment]


def play(
    environment: PokemonEnvironment, pilot: RulesPilot, seed: int, disturb: float = 0.0
) -> tuple[list[int], list[int]]:
    """Play one episode; others decide a share ``disturb`` of the steps. Return the actions and the milestone steps."""
    generator = random.Random(seed)
    environment.reset(seed=seed)
    pilot.reset(seed)
    actions = []
    done = False
    while not done:
        decision = pilot.act(None)
        assert environment.mask[decision.action], decision
        assert 0.0 < decision.confidence <= 1.0
        assert decision.reason
        action = decision.action
        if generator.random() < disturb:
            action = generator.choice([one for one in range(9) if environment.mask[one]])
        actions.append(action)
        _, terminated, truncated = environment.advance(action)
        done = terminated or truncated
    return actions, environment.milestone_steps()


def required(environment: PokemonEnvironment, steps: list[int], last: str = "ranger_met") -> list[int]:
    """Return the steps of the milestones that are not optional, up to ``last``."""
    end = list(environment.milestone_names).index(last) + 1
    milestones = environment.profile.milestones[:end]
    return [step for step, milestone in zip(steps, milestones, strict=False) if not milestone.optional]


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 5, 11])
def test_reaches_the_ranger_from_any_seed(make: MakeEnvironment, seed: int) -> None:
    environment = make(observation_type="state", max_steps_per_episode=1500)
    _, steps = play(environment, RulesPilot(environment), seed)
    assert min(required(environment, steps)) >= 0
    starter = list(environment.milestone_names).index("starter")
    assert steps[starter] <= 120
    assert environment.masked == 0


@pytest.mark.long
def test_the_same_seed_plays_the_same_episode(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=160)
    pilot = RulesPilot(environment)
    first = play(environment, pilot, 3)
    other = make(observation_type="state", max_steps_per_episode=160)
    assert play(other, RulesPilot(other), 3) == first
    assert play(environment, pilot, 3) == first


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_reaches_the_goal_although_others_press_too(make: MakeEnvironment, seed: int) -> None:
    environment = make(observation_type="state", max_steps_per_episode=3000)
    _, steps = play(environment, RulesPilot(environment), seed, disturb=0.25)
    assert min(required(environment, steps)) >= 0


@pytest.mark.parametrize("seed", long_after(1, range(100, 110)))
def test_wins_the_first_badge_alone_from_power_on(make: MakeEnvironment, seed: int) -> None:
    environment = make(observation_type="state", max_steps_per_episode=1500, goal="thorn_badge")
    _, steps = play(environment, RulesPilot(environment), seed)
    assert 0 < steps[list(environment.milestone_names).index("thorn_badge")] <= 1000


@pytest.mark.long
@pytest.mark.parametrize("seed", [101, 107])
def test_wins_the_first_badge_with_only_what_it_has_seen(make: MakeEnvironment, seed: int) -> None:
    environment = make(observation_type="state", max_steps_per_episode=5000, goal="thorn_badge", knowledge="seen")
    _, steps = play(environment, RulesPilot(environment), seed)
    assert steps[list(environment.milestone_names).index("thorn_badge")] > 0


@pytest.mark.long
def test_explores_to_the_ranger_without_targets_or_a_map_of_the_world(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=2000, knowledge="seen")
    milestones = environment.milestones
    milestones.milestones = tuple(dataclasses.replace(one, target=None) for one in milestones.milestones)
    _, steps = play(environment, RulesPilot(environment), 2)
    assert steps[list(environment.milestone_names).index("ranger_met")] >= 0
