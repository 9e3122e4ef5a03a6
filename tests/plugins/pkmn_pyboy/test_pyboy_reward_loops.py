"""No reward can be farmed: a loop of states gains nothing, by any part of any reward."""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from support.pyboy_fakes import IN_CONTROL, FakeMemory, battle_record, party_record

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rewards.built_in import BUILT_IN_REWARDS
from pkmn_pyboy.rewards.composition import RewardSum
from pkmn_pyboy.settings import RewardPart
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmn_pyboy.state.reader import StateReader
from pkmncli.api import Action

TURNS = 5
TINY = 1e-6

Member = tuple[int, int, int]
"""Species, level and HP out of 20."""


class Scenes:
    """Maker of states as the reader would read them."""

    def __init__(self, profile: GameProfile) -> None:
        self.profile = profile

    def __call__(self, party: Sequence[Member] = (), *, eggs: int = 0, **fields: Any) -> GameState:
        milestones = fields.pop("milestones", 0)
        memory = FakeMemory(self.profile.memory).set(**IN_CONTROL)
        listed = bytes([species for species, _, _ in party])
        memory.set(wPartyCount=len(party), wPartySpecies=(listed + b"\xff" + bytes(6))[:6])
        for place, (species, level, hp) in enumerate(party, 1):
            memory.set(**{f"wPartyMon{place}": party_record(species=species, level=level, hp=hp)})
        memory.set(**fields)
        return StateReader(self.profile).read(memory, milestones)

    def wild(self, party: Sequence[Member], hp: int, *, species: int = 161, level: int = 3, **fields: Any) -> GameState:
        """Return a wild battle; the opponent has ``hp`` of 13 HP."""
        own_species, own_level, own_hp = party[0]
        records = {
            "wBattleMode": 1,
            "wEnemyMon": battle_record(species=species, level=level, hp=hp),
            "wBattleMon": battle_record(species=own_species, level=own_level, hp=own_hp, max_hp=20),
        }
        return self(party, **{**records, **fields})

    def trainer(self, party: Sequence[Member], hp: int, *, species: int = 161, **fields: Any) -> GameState:
        """Return a trainer's battle."""
        return self.wild(party, hp, species=species, wBattleMode=2, **fields)


@pytest.fixture(scope="session")
def scenes(crystal: GameProfile) -> Scenes:
    return Scenes(crystal)


def dex(count: int) -> bytes:
    return ((1 << count) - 1).to_bytes(32, "little")


def loops(s: Scenes) -> dict[str, list[GameState]]:
    """Return loops of states; the first one follows the last."""
    one, two = [(158, 9, 20)], [(158, 9, 20), (16, 4, 20)]
    money = [s(one, wMoney=amount) for amount in (3000, 2800, 2500, 2950)]
    met = s(one)
    ranger, rival = {"wOtherTrainerClass": 22, "wOtherTrainerID": 1}, {"wOtherTrainerClass": 22, "wOtherTrainerID": 2}
    poisoned = party_record(species=158, level=9, hp=12, status=8)
    return {
        "hurt and healed": [s([(158, 9, hp)]) for hp in (20, 12, 4, 20)],
        "fainted and revived": [s([(158, 9, 20), (16, 4, hp)]) for hp in (20, 3, 0, 10)],
        "whited out and healed": [s([(158, 9, hp)], wMapNumber=number) for hp, number in ((20, 4), (2, 4), (0, 4))],
        "in and out of a map": [
            s(one, wMapNumber=number, wXCoord=x) for number, x in ((4, 13), (4, 12), (5, 3), (5, 4), (5, 3))
        ],
        "back and forth": [s(one, wXCoord=x) for x in (13, 14)],
        "a badge toggled": [s(one, wJohtoBadges=badges) for badges in (0, 1)],
        "a milestone toggled": [s(one, milestones=count) for count in (1, 3, 2)],
        "a level toggled": [s([(158, level, 20)]) for level in (9, 10)],
        "put away and fetched": [s(two), s(one), s(two), s([(16, 4, 20)])],
        "a stronger one swapped in": [s(two), s(one), s([(158, 9, 20), (149, 50, 20)]), s(one)],
        "the same kind swapped in": [s(two), s([(16, 4, 20)]), s([(16, 4, 20), (158, 60, 20)]), s([(16, 4, 20)])],
        "order swapped": [s(two), s([(16, 4, 20), (158, 9, 20)])],
        "order of three turned": [
            s([(16, 9, 20), (16, 4, 20), (158, 9, 20)]),
            s([(16, 4, 20), (158, 9, 20), (16, 9, 20)]),
            s([(158, 9, 20), (16, 9, 20), (16, 4, 20)]),
        ],
        "evolved again": [s([(158, 17, 20)]), s([(158, 18, 20)]), s([(159, 18, 20)], wPokedexCaught=dex(2))],
        "caught and released": [
            s(one, wPokedexCaught=dex(1)),
            s.wild(one, 13, wPokedexCaught=dex(1)),
            s.wild(one, 4, wPokedexCaught=dex(1)),
            s([(158, 9, 20), (161, 3, 20)], wPokedexCaught=dex(2)),
        ],
        "all lost and had again": [s(one), s([])],
        "spent and earned": money,
        "picked up and put down": [s(one, wNumBalls=1, wBalls=bytes((5, count)) + bytes(23)) for count in (1, 9, 4)],
        "wild one hit and fled from": [met, s.wild(one, 13), s.wild(one, 6), s.wild(one, 1)],
        "wild one hit, healed and hit again": [met, *(s.wild(one, hp) for hp in (13, 3, 13, 3, 13))],
        "wild one after another fled from": [
            met, s.wild(one, 13), s.wild(one, 2), met, s.wild(one, 13, level=4), s.wild(one, 2, level=4),
        ],
        "trainer's first one beaten, then lost": [
            met,
            s.trainer(one, 13),
            s.trainer(one, 0),
            s.trainer([(158, 9, 5)], 13, species=19),
            s.trainer([(158, 9, 0)], 9, species=19),
            s([(158, 9, 0)]),
        ],
        "the same trainer beaten again": [
            met, s.trainer(one, 13, **ranger), s.trainer(one, 4, **ranger), s.trainer(one, 0, **ranger), met,
        ],
        "two trainers beaten in turns": [
            met, s.trainer(one, 13, **ranger), s.trainer(one, 0, **ranger), met,
            s.trainer(one, 13, species=19, **rival), s.trainer(one, 0, species=19, **rival), met,
        ],
        "poisoned and cured": [s(one), s([(158, 9, 12)], wPartyMon1=poisoned), s([(158, 9, 12)])],
        "bought and sold": [
            s(one, wMoney=amount, wNumBalls=1, wBalls=bytes((5, count)) + bytes(23))
            for amount, count in ((3000, 1), (2800, 2), (2900, 1), (2700, 2))
        ],
        "the same talk": [met, s(one, wScriptRunning=1, wStateFlags=64), met],
        "in and out of the menu": [met, s(one, wScriptRunning=1, wWindowStackSize=1)],
        "against a wall": [met, met],
    }  # fmt: skip


def build(name: str) -> RewardSum:
    return RewardSum({name: RewardPart()})


def play(reward: RewardSum, states: Sequence[GameState]) -> dict[str, float]:
    """Return the earnings of each part over consecutive states, pressing A and directions in turn."""
    earned: dict[str, float] = {}
    presses = (Action.A, Action.UP, Action.DOWN)
    for number, (before, after) in enumerate(pairwise(states)):
        reward.score(before, presses[number % len(presses)], after)
        for part, value in reward.parts.items():
            earned[part] = earned.get(part, 0.0) + value
    assert earned.keys() <= known_parts()
    return earned


@functools.cache
def known_parts() -> set[str]:
    """Return every part that a reward names."""
    found = {name: importlib.import_module(f"pkmn_pyboy.rewards.{name}") for name in BUILT_IN_REWARDS}
    classes = {name: getattr(module, f"{name.title()}Reward") for name, module in found.items()}
    return {f"{name}.{part}" for name, reward in classes.items() for part in reward.PARTS}


@pytest.mark.parametrize("name", BUILT_IN_REWARDS)
def test_no_loop_gains(name: str, scenes: Scenes) -> None:
    """The first round may find something new; no later one does."""
    for loop, states in loops(scenes).items():
        reward = build(name)
        reward.reset(states[0])
        around = [*states, states[0]]
        play(reward, around)
        for turn in range(TURNS):
            earned = play(reward, around)
            gains = {part: value for part, value in earned.items() if value > TINY}
            assert not gains, f"{loop}, turn {turn}: {gains}"


@pytest.mark.parametrize("name", ["battle", "health", "money", "stuck", "time", "potential"])
def test_not_even_the_first_round_gains(name: str, scenes: Scenes) -> None:
    """These gain nothing if the loop ends as it began, and finds nothing lasting."""
    stays = {"evolved again", "caught and released", "a milestone toggled", "a badge toggled"}
    stays |= {"the same trainer beaten again", "two trainers beaten in turns"}
    for loop, states in loops(scenes).items():
        if loop not in stays:
            reward = build(name)
            reward.reset(states[0])
            earned = play(reward, [*states, states[0]])
            assert not {part: value for part, value in earned.items() if value > TINY}, loop


@pytest.mark.parametrize("name", BUILT_IN_REWARDS)
def test_a_reward_goes_on_from_its_saved_state_anywhere(name: str, scenes: Scenes) -> None:
    for loop, states in loops(scenes).items():
        around = [*states, *states, states[0]]
        for cut in range(1, len(around) - 1):
            reward, resumed = build(name), build(name)
            reward.reset(around[0])
            play(reward, around[: cut + 1])
            resumed.load_state(json.loads(json.dumps(reward.save_state())))
            rest = around[cut:]
            for before, after in pairwise(rest):
                assert resumed.score(before, Action.A, after) == reward.score(before, Action.A, after), loop
                assert resumed.parts == reward.parts
            assert resumed.save_state() == reward.save_state()


# In the bundled game -----------------------------------------------------------------------------------------------


def all_rewards() -> dict[str, Any]:
    return {**dict.fromkeys(BUILT_IN_REWARDS, 1.0), "potential": {"settings": {"distance": 20.0}}}


def earned_over(environment: PokemonEnvironment, presses: Callable[[], int | None]) -> dict[str, float]:
    """Return the earnings of each part until there is nothing more to press."""
    earned: dict[str, float] = {}
    while (action := presses()) is not None:
        environment.advance(action)
        for part, value in environment.rewards.parts.items():
            earned[part] = earned.get(part, 0.0) + value
    return earned


def gains(earned: Mapping[str, float]) -> dict[str, float]:
    return {part: value for part, value in earned.items() if value > TINY}


def test_in_and_out_of_a_house_gains_nothing(make: Callable[..., PokemonEnvironment]) -> None:
    environment = make(observation_type="state", rewards=all_rewards(), max_steps_per_episode=10_000)
    environment.reset(seed=0)
    pilot = RulesPilot(environment)
    pilot.reset(0)
    outside = environment.profile.milestone_index("outside")
    for _ in range(300):
        if environment.milestones.steps[outside] >= 0:
            break
        environment.advance(pilot.act(None).action)
    town = environment.state.map_id

    def once_around() -> dict[str, float]:
        seen = []

        def presses() -> int | None:
            state = environment.state
            if state.map_id != (seen[-1] if seen else town):
                seen.append(state.map_id)
            if state.phase is not Phase.FREE:
                return Action.NONE
            if len(seen) == 2:
                return None
            return Action.DOWN if seen else Action.UP

        found = earned_over(environment, presses)
        assert len(seen) == 2
        assert seen[-1] == town
        return found

    once_around()
    for _ in range(3):
        assert gains(once_around()) == {}


def test_hurt_and_healed_gains_nothing(make: Callable[..., PokemonEnvironment]) -> None:
    """The HP are changed in the game's memory, as by a battle and a nurse."""
    environment = make(observation_type="state", rewards=all_rewards(), max_steps_per_episode=10_000)
    environment.reset(seed=0)
    pilot = RulesPilot(environment)
    pilot.reset(0)
    for _ in range(600):
        if environment.state.party.count and environment.state.phase is Phase.FREE:
            break
        environment.advance(pilot.act(None).action)
    lead = environment.state.party.lead
    assert lead is not None
    first = environment.profile.memory["wPartyMon1"]

    def with_hit_points(shares: Sequence[float]) -> dict[str, float]:
        left = list(shares)

        def presses() -> int | None:
            if not left:
                return None
            hp = round(left.pop(0) * lead.max_hp)
            environment.emulator.memory[first.bank, first.address + 0x23] = hp
            return Action.NONE

        return earned_over(environment, presses)

    with_hit_points([1.0])
    for _ in range(3):
        earned = with_hit_points([0.6, 0.2, 0.0, 0.0, 0.5, 1.0])
        assert earned["health.healed"] == pytest.approx(0.0)
        assert earned["health.fainted"] == -2.0
        assert earned["battle.white_out"] == -10.0
        assert gains(earned) == {}
