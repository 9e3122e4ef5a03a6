"""The skills in advice, on the running game: go, talk, fight, heal, catch, flee."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from support.variants import long_after

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.advice import ADVICE_PREFIX
from pkmn_pyboy.pilot.battle.fighter import Fighter
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.profile.milestones import Requirements
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.game_state import BATTLE_PHASES, Battle, Battler, Party, PartyMember, Phase
from pkmncli.api import Action, Advice

_NAMES = ("wPartyMonNicknames", "wPartyMonOTs")

MakeEnvironment = Callable[..., PokemonEnvironment]
Game = tuple[PokemonEnvironment, RulesPilot]

ALDERBROOK, REST_HOUSE, FERN_TRAIL = 257, 261, 513
BALL_POCKET = {"wNumBalls": bytes([1]), "wBalls": bytes([1, 9, 0xFF])}


@pytest.fixture(scope="module")
def after_the_first_win() -> bytes:
    """Return a saved game in which the partner has won its first fight, on the Fern Trail."""
    environment = PokemonEnvironment(EnvironmentSettings(observation_type="state", max_steps_per_episode=1000))
    pilot = RulesPilot(environment)
    environment.reset(seed=1)
    pilot.reset(1)
    won = list(environment.milestone_names).index("first_battle_won")
    while environment.milestones.steps[won] < 0 or environment.state.phase is not Phase.FREE:
        environment.advance(pilot.act().action)
    saved = environment.save_state()
    environment.close()
    return saved


@pytest.fixture
def game(make: MakeEnvironment, after_the_first_win: bytes) -> Game:
    environment = make(observation_type="state", max_steps_per_episode=3000)
    environment.load_state(after_the_first_win)
    pilot = RulesPilot(environment)
    pilot.reset(1)
    return environment, pilot


def poke(environment: PokemonEnvironment, **fields: bytes) -> None:
    """Write fields of memory."""
    for name, data in fields.items():
        place = environment.profile.memory[name]
        for offset, byte in enumerate(data):
            environment.emulator.memory[place.bank, place.address + offset] = byte
    environment.advance(int(Action.NONE))


def follow(game: Game, advice: Advice, most: int) -> list[str]:
    """Play with advice until it is over; return the reasons of the steps that followed it."""
    environment, pilot = game
    reasons = []
    for _ in range(most):
        decision = pilot.act(advice)
        if decision.advised:
            reasons.append(decision.reason)
            assert decision.reason.startswith(ADVICE_PREFIX)
            assert decision.confidence == advice.confidence
        if decision.advice_over:
            return reasons
        environment.advance(decision.action)
    raise AssertionError(f"not over after {most} steps: {reasons[-3:]}")


def test_goes_to_another_map_by_its_name(game: Game) -> None:
    reasons = follow(game, Advice("rest", skill="go_to", arguments={"map": "Rest House"}, confidence=0.7), 200)
    assert game[0].state.map_id == REST_HOUSE
    assert len(reasons) > 20


def test_goes_to_a_tile_of_another_map(game: Game) -> None:
    follow(game, Advice("town", skill="go_to", arguments={"map": "1.1", "x": 3, "y": 9}), 200)
    assert (game[0].state.map_id, game[0].state.x, game[0].state.y) == (ALDERBROOK, 3, 9)


def test_a_place_that_does_not_exist_is_over_at_once(game: Game) -> None:
    assert follow(game, Advice("moon", skill="go_to", arguments={"map": "the moon"}), 1) == []


def test_heals_over_the_counter(game: Game) -> None:
    environment, _ = game
    poke(environment, wPartyMon1=bytes(environment.emulator.memory[1, 0xDCDF : 0xDCDF + 0x22]) + bytes([0, 3]))
    follow(game, Advice("heal", skill="heal"), 400)
    assert environment.state.party.hp_share == 1.0
    assert environment.state.map_id == REST_HOUSE


@pytest.mark.parametrize(
    ("offset", "value", "item", "gone"),
    long_after(
        1, [(0x20, b"\x08", 4, lambda one: one.status == 0), (0x22, b"\0\x03", 2, lambda one: one.hp == one.max_hp)]
    ),
    ids=["poison", "hit points"],
)
def test_uses_items_from_the_bag_far_from_a_healer(
    game: Game, offset: int, value: bytes, item: int, gone: Callable[[PartyMember], bool]
) -> None:
    environment, pilot = game
    pilot = RulesPilot(environment, PilotSettings(heal_item_steps=0))
    pilot.reset(1)
    record = environment.emulator.memory[1, 0xDCDF : 0xDCDF + offset]
    poke(environment, wNumItems=bytes([1]), wItems=bytes([item, 1, 0xFF]), wPartyMon1=bytes(record) + value)
    assert not gone(environment.state.party.members[0])
    for _ in range(60):
        environment.advance(pilot.act().action)
        if gone(environment.state.party.members[0]):
            break
    assert gone(environment.state.party.members[0])
    for _ in range(40):
        if environment.state.phase is Phase.FREE:
            break
        environment.advance(pilot.act().action)
    assert environment.state.phase is Phase.FREE
    assert pilot.memory.healers == []  # the bag is not a place to return to


def test_revives_a_fainted_member_before_it_heals_the_hurt(game: Game) -> None:
    environment, pilot = game
    pilot = RulesPilot(environment, PilotSettings(heal_item_steps=0))
    pilot.reset(1)
    memory, places = environment.emulator.memory, environment.profile.memory
    (revive,) = environment.profile.item_uses.revive
    first = bytes(memory[1, 0xDCDF : 0xDCDF + 48])
    name, owner = (bytes(memory[1, places[field].address : places[field].address + 11]) for field in _NAMES)
    poke(
        environment,
        wPartyCount=bytes([2]),
        wPartySpecies=bytes([first[0], first[0], 0xFF]),
        wPartyMon1=first[:0x22] + b"\0\x03" + first[0x24:] + first[:0x22] + b"\0\0" + first[0x24:],
        wPartyMonNicknames=2 * name,
        wPartyMonOTs=2 * owner,
        wNumItems=bytes([1]),
        wItems=bytes([revive, 1, 0xFF]),
    )
    assert [member.hp for member in environment.state.party.members] == [3, 0]
    for _ in range(80):
        environment.advance(pilot.act().action)
        if environment.state.party.members[1].hp:
            break
    assert environment.state.party.members[1].hp > 0
    assert environment.details().bag.counts() == {}


def test_talks_to_whoever_is_near(game: Game) -> None:
    follow(game, Advice("talk", skill="talk_to", arguments={"map": "Rest House"}), 300)
    assert game[0].state.map_id == REST_HOUSE


def test_looks_for_a_fight_and_is_done_after_it(game: Game) -> None:
    environment, pilot = game
    advice, seen, after = Advice("fight", skill="fight"), False, None
    for _ in range(400):
        decision = pilot.act(advice)
        if environment.state.phase in BATTLE_PHASES:
            seen = True
            assert decision.advised
        environment.advance(decision.action)
        if decision.advice_over:
            after = environment.state.phase
            break
    assert seen
    assert after is not None


def test_flees_from_the_wild(game: Game) -> None:
    environment, pilot = game
    while environment.state.phase is not Phase.BATTLE_MENU:
        environment.advance(pilot.act(Advice("fight", skill="fight")).action)
    level = environment.state.party.level_sum
    reasons = follow(game, Advice("flee", skill="flee"), 80)
    assert any("run" in reason for reason in reasons)
    assert environment.state.party.level_sum == level


def test_catches_with_balls(game: Game) -> None:
    environment, pilot = game
    poke(environment, **BALL_POCKET)
    before = environment.state.party.count
    for _ in range(3):
        follow(game, Advice("catch", skill="catch"), 500)
        pilot.act(None)
        if environment.state.party.count > before:
            break
    assert environment.state.party.count == before + 1


def test_keeps_a_slot_free_for_one_that_a_milestone_will_bring(game: Game) -> None:
    environment, _ = game
    tracker = environment.milestones
    number = next(number for number, step in enumerate(tracker.steps) if step < 0)
    egg = replace(tracker.milestones[number], requires=Requirements(party_room=2))
    fighter = Fighter(environment.game, PilotSettings(catch="new", party_wanted=6))
    foe = Battler(20, 3, 10, 10, 0, (0, 0), (1, 0, 0, 0), (10, 0, 0, 0))
    battle = Battle(1, 0, 0, foe, foe, 1.0)

    def wants(members: int) -> bool:
        one = environment.state.party.members[0]
        state = environment.state._replace(party=Party((one,) * members, 5, 1.0))
        return fighter.wants(battle, state, PilotMemory())

    assert [wants(members) for members in (3, 4, 5, 6)] == [True, True, True, False]
    tracker.milestones = (*tracker.milestones[:number], egg, *tracker.milestones[number + 1 :])
    assert [wants(members) for members in (3, 4, 5, 6)] == [True, False, False, False]


def test_a_wish_goes_on_from_json(game: Game, make: MakeEnvironment) -> None:
    environment, pilot = game
    advice = Advice("rest", skill="go_to", arguments={"map": "Rest House"})
    for _ in range(10):
        environment.advance(pilot.act(advice).action)
    other = make(observation_type="state", max_steps_per_episode=3000)
    other.load_state(environment.save_state())
    resumed = RulesPilot(other)
    resumed.load_state(json.loads(json.dumps(pilot.save_state())))
    again = Advice("rest", skill="go_to", arguments={"map": "Rest House"})
    for _ in range(20):
        expected, decision = pilot.act(advice), resumed.act(again)
        assert decision == expected
        environment.advance(expected.action)
        other.advance(decision.action)


def test_a_tile_that_leads_away_is_gone_through_once(make: MakeEnvironment) -> None:
    """The advice to go to the stairs is over below them, and does not lead back up."""
    environment = make(observation_type="state", max_steps_per_episode=100)
    pilot = RulesPilot(environment)
    environment.reset(seed=1)
    pilot.reset(1)
    upstairs, advice = environment.state.map_id, Advice("down", skill="go_to", arguments={"x": 7, "y": 0})
    decision = pilot.act(advice)
    while environment.state.map_id == upstairs:
        assert not decision.advice_over
        environment.advance(decision.action)
        decision = pilot.act(advice)
    assert decision.advice_over


def test_advice_that_comes_after_the_decision_changes_it(game: Game) -> None:
    environment, pilot = game
    by_rules = pilot.act(None)
    assert not by_rules.advised
    presses = pilot.reconsider(Advice("look", presses=(Action.START,)))
    assert presses is not None
    assert (presses.action, presses.advised, presses.advice_over) == (Action.START, True, True)
    nearer = pilot.reconsider(Advice("home", skill="go_to", arguments={"map": "Alderbrook"}))
    assert nearer is not None
    assert nearer.advised
    assert environment.mask[nearer.action]


def test_advice_that_asks_for_nothing_lets_the_decision_stand(game: Game) -> None:
    _environment, pilot = game
    pilot.act(None)
    assert pilot.reconsider(Advice("nowhere", skill="go_to", arguments={"map": "no such map"})) is None
