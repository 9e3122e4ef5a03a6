"""Masks: the actions that each situation allows, and that no others are ever pressed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from support.pyboy_fakes import IN_CONTROL, FakeMemory, party_record, random_actions
from support.radio_device import CLOCK, MAP, PHONE, RADIO, RadioDevice
from support.variants import long_after

from pkmn_pyboy.emulation.buttons import BUTTONS
from pkmn_pyboy.environment import PokemonEnvironment, make_environment
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import GameState, Party, PartyMember, Phase
from pkmn_pyboy.state.mask_rules import MASK_RULES, RULE_NAMES, allowed_actions, rules_without
from pkmn_pyboy.state.masks import MaskTable, mask_array
from pkmn_pyboy.state.reader import StateReader
from pkmncli.api import Action
from pkmncli.errors import ConfigurationError


def state_of(crystal: GameProfile, memory: FakeMemory, **values: int | bytes) -> GameState:
    return StateReader(crystal).read(memory.set(**IN_CONTROL).set(**values))


def test_start_opens_the_menu_only_with_a_party(crystal: GameProfile, memory: FakeMemory) -> None:
    assert Action.START not in allowed_actions(state_of(crystal, memory))
    with_party = state_of(crystal, memory, wPartyCount=1, wPartySpecies=b"\x9e\xff\0\0\0\0", wPartyMon1=party_record())
    assert Action.START in allowed_actions(with_party)


def test_start_ends_a_naming_screen(crystal: GameProfile, memory: FakeMemory) -> None:
    naming = state_of(crystal, memory, wScriptRunning=255, wSpriteUpdatesEnabled=0)
    assert naming.phase is Phase.MENU
    assert Action.START in allowed_actions(naming)


def test_dialogue_and_battle_menus(crystal: GameProfile, memory: FakeMemory) -> None:
    dialogue = state_of(crystal, memory.message_box(), wScriptRunning=255, wStateFlags=0x40)
    assert allowed_actions(dialogue) == {Action.A, Action.B, Action.NONE}
    battle = state_of(crystal, memory, wBattleMode=1)
    assert allowed_actions(battle) == {Action.A, Action.B, Action.NONE}
    bag = state_of(crystal, memory.cursor(5, 8))
    assert Action.DOWN in allowed_actions(bag)
    assert Action.START not in allowed_actions(bag)


def test_a_catch_can_be_named(crystal: GameProfile, memory: FakeMemory) -> None:
    """Name a catch inside the battle: the page hides the message box that battles always show."""
    naming = state_of(crystal, memory, wBattleMode=1, wScriptRunning=255)
    assert {Action.START, Action.A, Action.DOWN} <= allowed_actions(naming)


@pytest.mark.parametrize("card", [CLOCK, MAP, PHONE, RADIO])
def test_each_card_of_the_pokegear_is_a_page_with_directions(crystal: GameProfile, card: int) -> None:
    """Its message box makes it no dialogue, because the window bit is off; its cursor makes it no choice."""
    device = RadioDevice(crystal, b"", opens_on=card)
    reader = StateReader(crystal)
    while device.mode != "start":
        device.push(Action.START)
    menu = reader.read(device)
    assert (menu.phase, menu.menu.full_screen) == (Phase.MENU, False)
    assert {Action.UP, Action.DOWN, Action.A, Action.B} <= allowed_actions(menu)
    for action in (Action.DOWN, Action.DOWN, Action.DOWN, Action.A):
        device.push(action)
    state = reader.read(device)
    assert (device.mode, device.card) == ("gear", card)
    assert (state.phase, state.menu.full_screen, state.message_box) == (Phase.MENU, True, card != MAP)
    assert allowed_actions(state) == set(Action) - {Action.SELECT}
    # With the bit of an open window it would read as a dialogue, and the directions be masked.
    device.tile(14, 1, 0x80)
    words = reader.read(device.set(wStateFlags=0x40))
    assert (words.phase is Phase.DIALOGUE) == (card != MAP)


def test_a_map_being_set_up_takes_no_press(crystal: GameProfile, memory: FakeMemory) -> None:
    reader = StateReader(crystal)
    reader.read(memory.set(**IN_CONTROL))
    assert allowed_actions(reader.read(memory.set(wMapStatus=1))) == {Action.NONE}


def states_like(state: GameState) -> list[GameState]:
    """Return every combination of the values that masks depend on."""
    parties = (Party(), Party((PartyMember(158, 5, 20, 20, 0, 0, 0, (10,), (35,), False),)))
    return [
        state._replace(
            phase=phase,
            party=party,
            message_box=box,
            map_group=group,
            menu=state.menu._replace(columns=columns, cursor_shown=cursor, full_screen=page),
        )
        for phase, party, box, group, columns, cursor, page in product(
            Phase, parties, (False, True), (0, 24), (1, 2), (False, True), (False, True)
        )
    ]


def test_every_phase_has_its_rule_and_no_rule_forbids_to_wait(crystal: GameProfile, memory: FakeMemory) -> None:
    states = states_like(state_of(crystal, memory))
    beside_select = [rule for rule in MASK_RULES if rule.name != "select"]
    assert {state.phase for state in states for rule in beside_select if rule.forbids(state)} == set(Phase)
    for rule in MASK_RULES:
        assert all(Action.NONE not in rule.forbids(state) for state in states)
        assert any(rule.forbids(state) for state in states), rule.name


def test_nothing_but_what_has_an_effect_in_dialogue_and_menus(crystal: GameProfile, memory: FakeMemory) -> None:
    for state in states_like(state_of(crystal, memory)):
        allowed = allowed_actions(state)
        if state.phase is Phase.DIALOGUE:
            assert allowed == {Action.A, Action.B, Action.NONE}
        elif state.phase is Phase.CHOICE:
            columns = {Action.LEFT, Action.RIGHT} if state.menu.columns > 1 else set()
            assert allowed == {Action.A, Action.B, Action.UP, Action.DOWN, Action.NONE} | columns
        elif state.phase is Phase.BATTLE_MOVES:
            assert allowed == {Action.A, Action.B, Action.UP, Action.DOWN, Action.NONE}
        elif state.phase is Phase.MENU:
            letters = state.menu.columns > 1 or not state.menu.cursor_shown
            assert (Action.START in allowed) == (state.menu.full_screen and letters)


@pytest.mark.parametrize("name", RULE_NAMES)
def test_each_rule_can_be_left_out(crystal: GameProfile, memory: FakeMemory, name: str) -> None:
    """Without it exactly those presses are allowed that no other rule forbids; there are some."""
    rule = next(rule for rule in MASK_RULES if rule.name == name)
    others = rules_without([name])
    gained = 0
    for state in states_like(state_of(crystal, memory)):
        by_others = frozenset[Action]().union(*(other.forbids(state) for other in others))
        back = rule.forbids(state) - by_others
        assert allowed_actions(state, others) == allowed_actions(state) | back
        gained += len(back)
    assert gained


def test_without_rules_everything_is_allowed(
    crystal: GameProfile, memory: FakeMemory, make: Callable[..., PokemonEnvironment]
) -> None:
    table = MaskTable(rules_without(["all"]))
    assert all(table.mask(state).all() for state in states_like(state_of(crystal, memory)))
    environment = make(observation_type="state", without_mask_rules=["all"])
    environment.reset(seed=1)
    *_, info = environment.step(Action.SELECT)
    assert info["pressed"] == Action.SELECT
    assert environment.mask.all()


def test_one_rule_left_out_by_its_setting(make: Callable[..., PokemonEnvironment]) -> None:
    environment = make(observation_type="state", without_mask_rules=["start_before_party"])
    environment.reset(seed=1)
    assert environment.state.phase is Phase.FREE
    assert not environment.state.party.members
    assert environment.mask[Action.START] == 1
    assert environment.mask[Action.SELECT] == 0


def test_an_unknown_rule_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match=r"without_mask_rules.*'battle_move'; did you mean 'battle_moves'\?"):
        make_environment(without_mask_rules=["battle_move"])
    with pytest.raises(ConfigurationError, match="choose from select, start_before_party"):
        make_environment(without_mask_rules=["xyz"])


@pytest.mark.parametrize("phase", list(Phase))
def test_no_mask_is_all_zero_and_the_table_agrees_with_the_rules(
    crystal: GameProfile, memory: FakeMemory, phase: Phase
) -> None:
    state = state_of(crystal, memory)._replace(phase=phase)
    mask = MaskTable().mask(state)
    assert mask.dtype == np.int8
    assert mask[Action.NONE] == 1
    assert mask[Action.SELECT] == 0
    np.testing.assert_array_equal(mask, mask_array(allowed_actions(state)))
    with pytest.raises(ValueError, match="read-only"):
        mask[0] = 1


@pytest.mark.parametrize("settings", long_after(1, [{}, {"sticky_probability": 0.3}, {"action_repeat": 3}]))
def test_whatever_is_pressed_is_allowed(
    make: Callable[..., PokemonEnvironment], monkeypatch: pytest.MonkeyPatch, settings: dict[str, float]
) -> None:
    """Masks hold for a player who ignores them, with any settings."""
    environment = make(observation_type="state", **settings)
    environment.reset(seed=5)
    presses: list[tuple[str | None, bool]] = []
    press = environment.emulator.press

    def watched(button: str | None, hold: int, frames: int, render: bool = True) -> None:
        mask = MaskTable().mask(environment.state)
        presses.append((button, bool(mask[BUTTONS.index(button)])))
        press(button, hold, frames, render)

    monkeypatch.setattr(environment.emulator, "press", watched)
    draw = np.random.default_rng(0)
    for _ in range(400):
        environment.step(int(draw.integers(9)))
    assert all(allowed for _, allowed in presses)
    assert len({button for button, _ in presses}) > 4
    assert environment.masked > 0


def test_a_forbidden_action_waits_and_is_counted(make: Callable[..., PokemonEnvironment]) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    assert not environment.mask[Action.SELECT]
    *_, info = environment.step(Action.SELECT)
    assert info["pressed"] == Action.NONE
    assert info["masked"] == 1
    for action in random_actions(environment, 2, 60):
        *_, info = environment.step(action)
        assert info["pressed"] == action
    assert info["masked"] == 1
