"""Rewards pay once for something new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from support.pyboy_fakes import IN_CONTROL, FakeMemory, battle_record, party_record
from support.recordings import play_recordings

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rewards.battle import BattleReward, BattleSettings
from pkmn_pyboy.rewards.built_in import BUILT_IN_REWARDS
from pkmn_pyboy.rewards.composition import RewardSum
from pkmn_pyboy.rewards.exploration import ExplorationReward, ExplorationSettings
from pkmn_pyboy.rewards.health import HealthReward
from pkmn_pyboy.rewards.money import MoneyReward, MoneySettings
from pkmn_pyboy.rewards.potential import PotentialReward, PotentialSettings
from pkmn_pyboy.rewards.progress import ProgressReward, ProgressSettings
from pkmn_pyboy.rewards.stuck import StuckReward, StuckSettings
from pkmn_pyboy.settings import EnvironmentSettings, RewardPart
from pkmn_pyboy.state.game_state import Facing, GameState, Phase
from pkmn_pyboy.state.reader import StateReader
from pkmncli.api import Action


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
    assert reward.score(starter, 0, grown) == {"level": 100.0, "milestone": 50.0, "badge": 500.0}
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
    trained = with_party(state, crystal, memory, 9, 6)
    assert reward.score(state, 0, trained) == {"level": 1.0}, "two levels, shared over a party of two"


def test_later_pokemon_bring_no_levels(begin: GameState, crystal: GameProfile, memory: FakeMemory) -> None:
    reward = ProgressReward()
    starter = with_party(begin, crystal, memory, 5)._replace(caught=1)
    reward.reset(starter)
    caught = with_party(begin, crystal, memory, 5, 7)._replace(caught=2)
    assert reward.score(starter, 0, caught) == {"pokemon": 25.0}
    assert reward.score(caught, 0, starter._replace(caught=2)) == {}
    assert reward.score(starter._replace(caught=2), 0, caught) == {}
    full = caught._replace(caught=3)
    assert reward.score(caught, 0, full) == {"pokemon": 25.0}, "one that went into a box"


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


@pytest.fixture
def fight(crystal: GameProfile) -> Callable[..., GameState]:
    """Return a function that makes states in and out of a battle; both Pokemon have at most 20 HP."""

    def state(kind: int, hp: int = 20, own_hp: int = 20, level: int = 2) -> GameState:
        memory = FakeMemory(crystal.memory).set(**IN_CONTROL)
        if kind:
            opponent = battle_record(level=level, hp=hp, max_hp=20)
            own = battle_record(species=158, level=5, hp=own_hp, max_hp=20)
            memory.set(wBattleMode=kind, wEnemyMon=opponent, wBattleMon=own)
        record = party_record(hp=own_hp)
        memory.set(wPartyCount=1, wPartySpecies=bytes([158, 255]) + bytes(4), wPartyMon1=record)
        return StateReader(crystal).read(memory)

    return state


def scores(reward: Any, states: Sequence[GameState], action: int = 0) -> list[dict[str, float]]:
    """Return what each step through the states earns."""
    reward.reset(states[0])
    return [dict(reward.score(before, action, after)) for before, after in pairwise(states)]


def test_a_battle_that_is_won_pays(fight: Callable[..., GameState]) -> None:
    wild = [fight(0), fight(1), fight(1, 10), fight(1, 0), fight(0)]
    expected = [{}, {"damage": 1.0}, {"damage": 1.0, "fainted": 2.0}, {"won": 1.0}]
    assert scores(BattleReward(), wild) == expected
    trainer = [fight(0), fight(2), fight(2, 0), fight(2, level=3), fight(2, 0, level=3), fight(0)]
    beaten = {"damage": 2.0, "fainted": 2.0}
    assert scores(BattleReward(), trainer) == [{}, beaten, {}, beaten, {"won": 20.0}]


def test_a_battle_that_is_not_won_takes_back_what_it_paid(fight: Callable[..., GameState]) -> None:
    fled = [fight(0), fight(1), fight(1, 5), fight(0)]
    assert scores(BattleReward(), fled) == [{}, {"damage": 1.5}, {"damage": -1.5}]
    lost = [fight(0), fight(2), fight(2, 0), fight(2, level=3), fight(2, own_hp=0, level=3), fight(0, own_hp=0)]
    assert scores(BattleReward(), lost)[-2:] == [{"white_out": -10.0}, {"damage": -2.0, "fainted": -2.0, "lost": -5.0}]


def test_wild_battles_pay_less_and_less(fight: Callable[..., GameState]) -> None:
    reward = BattleReward(BattleSettings(wild_half_life=1))
    battle = [fight(1), fight(1, 0), fight(0)]
    earned = scores(reward, [fight(0), *battle, *battle])
    assert [sum(parts.values()) for parts in earned] == [0, 4.0, 1.0, 0, 2.0, 0.5]


def test_health_costs_what_it_pays_back(fight: Callable[..., GameState]) -> None:
    states = [fight(0, own_hp=hp) for hp in (20, 10, 5, 0, 20)]
    assert scores(HealthReward(), states) == [{}, {"healed": -5.0}, {"healed": -5.0, "fainted": -2.0}, {"healed": 10.0}]


def test_money_pays_beyond_the_maximum_and_spending_costs_nothing(begin: GameState) -> None:
    states = [begin._replace(money=money) for money in (3000, 5000, 1000, 5000, 5500)]
    assert scores(MoneyReward(), states) == [{"earned": 2.0}, {}, {}, {"earned": 0.5}]
    assert scores(MoneyReward(MoneySettings(spent=-1.0)), states)[1] == {"spent": -4.0}


def test_being_stuck_costs(begin: GameState) -> None:
    stuck = StuckReward(StuckSettings(patience_steps=2))
    still = scores(stuck, [begin] * 5, action=Action.NONE)
    assert still == [{}, {}, {"idle": -0.02}, {"idle": -0.02}]
    assert scores(stuck, [begin, *[begin._replace(x=20 + step) for step in range(5)]]) == [{}] * 5
    assert begin.facing is Facing.DOWN
    assert scores(stuck, [begin, begin], action=Action.DOWN) == [{"wall": -0.01}]
    assert scores(stuck, [begin, begin._replace(facing=Facing.UP)], action=Action.UP) == [{}], "only turned"
    talk = begin._replace(phase=Phase.DIALOGUE)
    assert scores(stuck, [begin, talk, begin, talk], action=Action.A)[-1] == {"idle": -0.02, "repeated_talk": -0.1}
    later = begin._replace(milestones=3)
    talk_later = talk._replace(milestones=3)
    assert scores(stuck, [begin, talk, later, talk_later], action=Action.A)[-1] == {}, "after progress it may be new"


def test_potential_is_a_discounted_difference(begin: GameState, crystal: GameProfile, memory: FakeMemory) -> None:
    reward = PotentialReward(PotentialSettings(gamma=0.9))
    starter = with_party(begin, crystal, memory, 5)._replace(milestones=1)
    path = [begin, starter, starter, with_party(begin, crystal, memory, 8)._replace(milestones=3, johto_badges=1)]
    earned = scores(reward, path)
    discounted = sum(0.9**step * sum(parts.values()) for step, parts in enumerate(earned))
    last = sum(reward.potential(path[-1]).values())
    assert discounted == pytest.approx(0.9**3 * last - sum(reward.potential(begin).values()))
    assert earned[1] == pytest.approx({"milestone": -1.0, "level": -0.5, "health": -0.5})
    assert sum(reward.finish(path[-1]).values()) == pytest.approx(-0.9 * last)


def test_coming_closer_to_the_next_goal_raises_the_potential(make: Callable[..., PokemonEnvironment]) -> None:
    nowhere_else = {"milestone": 0, "badge": 0, "level": 0, "health": 0, "distance": 10, "far_tiles": 20, "gamma": 1}
    environment = make(observation_type="state", goal="enter_lab", rewards={"potential": {"settings": nowhere_else}})
    environment.reset(seed=0)
    pilot = RulesPilot(environment)
    pilot.reset(0)
    first = environment.milestones.current()
    assert first is not None
    earned = []
    while environment.milestones.current() is first:
        earned.append(environment.advance(pilot.act(None).action)[0])
    assert max(earned[:-1]) == pytest.approx(10 / 20), "a tile nearer"
    assert sum(earned[:-1]) > 0.0
    assert earned[-1] < 0.0, "the next goal is further away; reaching this one is what milestone pays for"
    saved = environment.save_state()
    other = make(observation_type="state", goal="enter_lab", rewards={"potential": {"settings": nowhere_else}})
    other.load_state(saved)
    for action in (Action.DOWN, Action.DOWN, Action.LEFT, Action.UP):
        assert other.advance(action) == environment.advance(action)


def test_reaching_the_goal_takes_the_potential_back(make: Callable[..., PokemonEnvironment]) -> None:
    environment = make(observation_type="state", goal="downstairs", rewards={"potential": 2.0})
    environment.reset(seed=0)
    pilot = RulesPilot(environment)
    pilot.reset(0)
    terminated = truncated = False
    while not (terminated or truncated):
        reward, terminated, truncated = environment.advance(pilot.act(None).action)
    assert terminated
    before = environment.state.milestones - 1
    assert reward == pytest.approx(2.0 * 10.0 * -before), "the new potential and its taking back cancel out"
    assert sum(environment.rewards.parts.values()) == pytest.approx(reward)


@pytest.mark.parametrize("name", BUILT_IN_REWARDS)
def test_without_a_change_nothing_is_earned(name: str, fight: Callable[..., GameState]) -> None:
    """Only a potential costs its discount, and time costs."""
    state = fight(0)
    reward = RewardSum({name: RewardPart()})
    reward.reset(state)
    before = reward.save_state()
    reward.score(state, Action.NONE, state)
    assert set(reward.parts) <= {"potential.level", "potential.health", "time.step"}
    assert reward.save_state() == before or name == "stuck"


@pytest.mark.long
def test_an_episode_with_every_reward_goes_on_exactly(make: Callable[..., PokemonEnvironment]) -> None:
    """An episode is saved in the middle, also in a battle, and continued in another environment."""
    settings = {"observation_type": "state", "rewards": dict.fromkeys(BUILT_IN_REWARDS, 1.0)}
    environment, other = make(**settings), make(**settings)
    environment.reset(seed=2)
    pilot = RulesPilot(environment)
    pilot.reset(2)
    saved: list[tuple[int, bytes]] = []
    pressed: list[int] = []
    earned: list[dict[str, float]] = []
    total = 0.0
    for step in range(420):
        in_battle = environment.state.battle is not None
        if step % 140 == 139 or (in_battle and not any(at < 0 for at, _ in saved)):
            saved.append((-step if in_battle else step, environment.save_state()))
        total += environment.advance(pilot.act(None).action)[0]
        pressed.append(environment.pressed)
        earned.append(environment.rewards.parts)
    assert sum(environment.reward_totals().values()) == pytest.approx(total)
    assert {part for parts in earned for part in parts} == environment.reward_totals().keys()
    assert any(at < 0 for at, _ in saved), "there was a battle"
    for at, state in saved:
        other.load_state(state)
        for step in range(abs(at), min(abs(at) + 60, 420)):
            other.advance(pressed[step])
            assert other.rewards.parts == earned[step]
        for part, sum_so_far in other.reward_totals().items():
            expected = sum(parts.get(part, 0.0) for parts in earned[: step + 1])
            assert sum_so_far == pytest.approx(expected), part


def test_battles_of_a_running_game_are_distinguished(crystal: GameProfile) -> None:
    """A wild battle that was won; then a hall with two trainers beaten, then a lost battle."""
    totals = {}
    for name in ("wild_battle", "gym"):
        states = play_recordings(crystal, name).states
        reward = RewardSum({"battle": RewardPart()})
        reward.reset(states[0])
        for before, after in pairwise(states):
            reward.score(before, Action.NONE, after)
        totals[name] = reward.totals
    assert totals["wild_battle"] == pytest.approx({"battle.damage": 2.0, "battle.fainted": 2.0, "battle.won": 1.0})
    won = {"battle.damage": 6.0, "battle.fainted": 6.0, "battle.won": 40.0}
    assert totals["gym"] == pytest.approx(won | {"battle.lost": -5.0, "battle.white_out": -10.0})


def test_settings_of_rewards() -> None:
    settings = EnvironmentSettings(rewards={"progress": 2, "exploration": {"weight": 0.5, "settings": {"new_map": 1}}})
    assert settings.rewards["progress"].weight == 2
    assert settings.rewards["exploration"].settings == {"new_map": 1}
    with pytest.raises(ValidationError, match="Extra inputs"):
        ProgressSettings(badges=1)  # type: ignore[call-arg]


class Unnamed:
    """Reward that does not name its parts."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings

    def reset(self, state: Any) -> None:
        """Do nothing; there is no state."""

    def score(self, previous: Any, action: int, state: Any) -> dict[str, float]:
        return {"one": 1.0, "two": 0.5}


class Surprising(Unnamed):
    """Reward that returns a part that it did not name."""

    PARTS = ("one",)


def test_parts_are_written_in_the_order_of_their_names(fight: Callable[..., GameState]) -> None:
    weighted = {"unnamed": RewardPart(weight=2.0, target=Unnamed), "surprising": RewardPart(target=Surprising)}
    reward = RewardSum({"exploration": RewardPart(), **weighted})
    names = ("exploration.new_tile", "exploration.new_map", "unnamed", "surprising.one", "other")
    assert reward.part_names == names
    state = fight(0)
    reward.reset(state)
    earned = reward.score(state, Action.NONE, state)
    out = np.full(8, 9.0, np.float32)
    reward.write_parts(out)
    assert out.tolist() == [0, 0, 3.0, 1.0, 0.5, 0, 0, 0]
    assert earned == 4.5
