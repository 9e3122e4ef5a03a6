"""Fixtures of the tests of the pilot's goals: the bundled game with a first partner."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.game_state import Phase


@pytest.fixture(scope="session")
def with_partner() -> bytes:
    """Return a saved game after the choice of the partner."""
    environment = PokemonEnvironment(EnvironmentSettings(observation_type="state", max_steps_per_episode=500))
    pilot = RulesPilot(environment)
    environment.reset(seed=1)
    pilot.reset(1)
    starter = list(environment.milestone_names).index("starter")
    while environment.milestones.steps[starter] < 0 or environment.state.phase is not Phase.FREE:
        environment.advance(pilot.act().action)
    saved = environment.save_state()
    environment.close()
    return saved


@pytest.fixture
def environment(make: Callable[..., PokemonEnvironment], with_partner: bytes) -> PokemonEnvironment:
    made = make(observation_type="state")
    made.load_state(with_partner)
    return made
