"""Rewards pay for what is new, and once."""

from __future__ import annotations

import pytest
from pyboy_fakes import IN_CONTROL, FakeMemory, party_record
from pydantic import ValidationError

from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.rewards.exploration import ExplorationReward, ExplorationSettings
from pkmn_pyboy.rewards.progress import ProgressReward, ProgressSettings
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.state.reader import StateReader


@pytest.fixture
def begin(crystal: GameProfile, memory: FakeMemory) -> GameState:
    return StateReader(crystal).read(memory.set(**IN_CONTROL))


def with_party(begin: GameState, crystal: GameProfile, memory: FakeMemory, *levels: int) -> GameState:
    memory.set(wPartyCount=len(levels), wPartySpecies=bytes([158] * len(levels) + [255]) + bytes(5 - len(levels)))
    for place, level in enumerate(levels, 1):
        memory.set(**{f"wPartyMon{place}": party_record(level=level)})
    return begin._replace(party=StateReader(crystal).read(memory).party)


def test_progress_pays_once(begin: GameState, crystal: GameProfile, memory: FakeMemory) -> None:
    reward = ProgressReward(ProgressSettings())
    reward.reset(begin)
    assert reward.score(begin, 0, begin) == {}
    starter = with_party(begin, crystal, memory, 5)
    assert reward.score(begin, 0, starter) == {"first_pokemon": 100.0}
    grown = with_party(begin, crystal, memory, 7)._replace(milestones=2, johto_badges=1)
    assert reward.score(starter, 0, grown) == {"level": 10.0, "milestone": 50.0, "badge": 500.0}
    lost = begin._replace(milestones=2)
    assert reward.score(grown, 0, lost) == {}
    assert reward.score(lost, 0, grown) == {}, "put away and fetched again"


def test_progress_counts_from_the_start_of_the_episode(
    begin: GameState, crystal: GameProfile, memory: FakeMemory
) -> None:
    state = with_party(begin, crystal, memory, 9, 4)._replace(milestones=7, kanto_badges=3)
    reward = ProgressReward(ProgressSettings(level=1.0))
    reward.reset(state)
    assert reward.score(state, 0, state) == {}
    assert reward.score(state, 0, with_party(state, crystal, memory, 9, 6)) == {"level": 2.0}


def test_progress_goes_on_from_a_saved_state(begin: GameState, crystal: GameProfile, memory: FakeMemory) -> None:
    reward = ProgressReward()
    reward.reset(begin)
    starter = with_party(begin, crystal, memory, 5)
    reward.score(begin, 0, starter)
    other = ProgressReward()
    other.load_state(reward.save_state())
    assert other.score(begin, 0, starter) == {}


def test_exploration_pays_first_visits_less_and_less(begin: GameState) -> None:
    reward = ExplorationReward(ExplorationSettings(tile_half_life=1, map_half_life=1))
    reward.reset(begin)
    assert reward.score(begin, 0, begin) == {}
    right = begin._replace(x=14)
    assert reward.score(begin, 0, right) == {"new_tile": 0.5}
    assert reward.score(right, 0, begin) == {}
    town = begin._replace(map_number=5)
    assert reward.score(begin, 0, town) == {"new_tile": pytest.approx(0.25), "new_map": 5.0}
    house = begin._replace(map_number=6)
    assert reward.score(town, 0, house) == {"new_tile": pytest.approx(0.125), "new_map": 2.5}
    other = ExplorationReward()
    other.load_state(reward.save_state())
    assert other.score(house, 0, right) == {}
    reward.reset(begin)
    assert reward.score(begin, 0, right) == {"new_tile": 0.5}


def test_without_decay_every_tile_is_worth_the_same(begin: GameState) -> None:
    reward = ExplorationReward(ExplorationSettings(tile_half_life=0))
    reward.reset(begin)
    worth = [reward.score(begin, 0, begin._replace(x=20 + step))["new_tile"] for step in range(5)]
    assert worth == [0.5] * 5


def test_settings_of_rewards() -> None:
    settings = EnvironmentSettings(rewards={"progress": 2, "exploration": {"weight": 0.5, "settings": {"new_map": 1}}})
    assert settings.rewards["progress"].weight == 2
    assert settings.rewards["exploration"].settings == {"new_map": 1}
    with pytest.raises(ValidationError, match="Extra inputs"):
        ProgressSettings(badges=1)  # type: ignore[call-arg]
