"""Environment with words in its observations and a reward that can be changed, as documented."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from gymnasium.utils.env_checker import check_env

from pkmn_pyboy.enhanced_environment import EnhancedPyBoyPokemonCrystalEnv, StateMapping
from pkmn_pyboy.environment import make_environment
from pkmn_pyboy.settings import EnvironmentSettings
from pkmncli.api import Context
from pkmncli.errors import ConfigurationError

UP, NONE = 4, 8


class Richer(EnhancedPyBoyPokemonCrystalEnv):
    """Environment that adds a reward for being in a certain place."""

    def _calculate_reward(self, current_state: StateMapping, previous_state: StateMapping, action: int) -> float:
        base = super()._calculate_reward(current_state, previous_state, action)
        if current_state.get("no_such_condition"):
            base += 1000.0
        return base + (100.0 if current_state["y"] < previous_state["y"] else 0.0)


@pytest.fixture(scope="module")
def environment() -> Iterator[EnhancedPyBoyPokemonCrystalEnv]:
    environment = EnhancedPyBoyPokemonCrystalEnv(None, True, "multi_modal", seed_noops=(0, 0), seed_presses=0)
    yield environment
    environment.close()


def test_the_situation_in_words_is_part_of_what_is_observed(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    observation, _ = environment.reset(seed=3)

    words = observation["strategic_context"]
    assert words["current_goal"] == environment.context().current_goal
    assert "Home 2F" in words["context_summary"]
    assert isinstance(words["action_suggestions"], list)
    assert all(isinstance(suggestion, str) for suggestion in words["action_suggestions"])
    assert observation["screen"].shape == (144, 160, 3)
    assert observation["state_variables"].shape == (25,)
    assert environment.observation_space.contains(observation)


def test_gymnasiums_checker_finds_nothing_wrong(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*alternative render modes.*")
        check_env(environment)


def test_a_letter_that_the_space_does_not_know_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = EnhancedPyBoyPokemonCrystalEnv(seed_noops=(0, 0))
    monkeypatch.setattr(
        environment,
        "context",
        lambda: Context("Meet 日 by 9 o'clock", "Café", ("go",), danger="low", changes=("+1 level",)),
    )

    observation, _ = environment.reset(seed=1)

    assert observation["strategic_context"] == {
        "current_goal": "Meet ? by 9 o'clock",
        "context_summary": "Café Danger: low. Changed: +1 level.",
        "action_suggestions": ["go"],
    }
    assert environment.observation_space.contains(observation)
    environment.close()


@pytest.mark.long
def test_a_subclass_changes_the_reward() -> None:
    plain, richer = make_environment(seed_noops=(0, 0), seed_presses=0), Richer(seed_noops=(0, 0), seed_presses=0)
    plain.reset(seed=1)
    richer.reset(seed=1)
    for action in (UP, UP, NONE):
        y = plain.state.y
        plain_reward, richer_reward = plain.step(action)[1], richer.step(action)[1]
        assert richer_reward == plain_reward + (100.0 if plain.state.y < y else 0.0)
    assert plain.state == richer.state
    plain.close()
    richer.close()


def test_the_reward_sees_every_field_of_a_state_and_no_other(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    environment.reset(seed=3)
    view = StateMapping(environment.state)

    assert dict(view) == environment.state._asdict()
    assert view.get("custom_condition") is None
    with pytest.raises(KeyError):
        view["custom_condition"]


def test_a_training_gets_it_without_words() -> None:
    settings = EnvironmentSettings(screen="packed", seed_noops=(0, 0))
    environment = Richer.from_settings(settings)

    observation, _ = environment.reset(seed=1)

    assert isinstance(environment, Richer)
    assert set(observation) == {"action_mask", "state_variables", "screen"}
    assert observation["screen"].shape == (72, 40)
    assert environment.observation_space.contains(observation)
    environment.close()


@pytest.mark.parametrize(
    "arguments", [{"observation_type": "pixels"}, {"frames": 3}, {"sticky_probability": 2}], ids=str
)
def test_a_wrong_argument_is_told_in_one_line(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(arguments))) as caught:
        EnhancedPyBoyPokemonCrystalEnv(**arguments)
    assert "\n" not in str(caught.value)
