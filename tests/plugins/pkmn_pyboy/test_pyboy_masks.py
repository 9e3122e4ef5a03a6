"""Masks: what each situation allows, and that nothing else is ever pressed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pyboy_fakes import IN_CONTROL, FakeMemory, party_record, random_actions

from pkmn_pyboy.buttons import BUTTONS
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.masks import BY_PHASE, MaskTable, allowed_actions, mask_array
from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmn_pyboy.state.reader import StateReader
from pkmncli.api import Action


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
    """Naming a catch happens inside the battle: the page hides the message box that battles always show."""
    naming = state_of(crystal, memory, wBattleMode=1, wScriptRunning=255)
    assert {Action.START, Action.A, Action.DOWN} <= allowed_actions(naming)


def test_a_map_being_set_up_takes_no_press(crystal: GameProfile, memory: FakeMemory) -> None:
    reader = StateReader(crystal)
    reader.read(memory.set(**IN_CONTROL))
    assert allowed_actions(reader.read(memory.set(wMapStatus=1))) == {Action.NONE}


def test_rules_cover_every_phase() -> None:
    assert set(BY_PHASE) == set(Phase)
    assert all(Action.SELECT not in allowed for allowed in BY_PHASE.values())


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


@pytest.mark.parametrize("settings", [{}, {"sticky_probability": 0.3}, {"action_repeat": 3}])
def test_whatever_is_pressed_is_allowed(
    make: Callable[..., PokemonEnvironment], monkeypatch: pytest.MonkeyPatch, settings: dict[str, float]
) -> None:
    """A player who ignores the masks, whatever the settings, never gets a forbidden press through."""
    environment = make(observation_type="state", **settings)
    environment.reset(seed=5)
    presses: list[tuple[str | None, bool]] = []
    press = environment.emulator.press

    def watched(button: str | None, hold: int, frames: int, render: bool = True) -> None:
        mask = environment._masks.mask(environment.state)
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
