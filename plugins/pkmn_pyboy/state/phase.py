"""Which kind of situation the game is in, told from a few bytes of memory."""

from __future__ import annotations

from typing import NamedTuple

from pkmn_pyboy.state.game_state import Phase

SOLID_CURSOR = 0xED
BOX_CORNERS = (0x79, 0x7B, 0x7D, 0x7E)
"""Tiles of the message box: upper left, upper right, lower left, lower right."""

MAP_RUNNING = 2
TURNING = 9
LEAVING = frozenset({4, 5, 6})
"""Values of wScriptRunning while a map's edge, a warp or a pit is acted on."""

_WINDOW_OPEN = 1 << 6
_JOYPAD_OFF = 0xD0


class Signals(NamedTuple):
    """The bytes that tell the phases apart."""

    map_group: int
    map_status: int
    script_running: int
    battle_mode: int
    paused: int
    joypad_disable: int
    input_type: int
    step_flags: int
    state_flags: int
    sprite_updates: int
    windows: int
    menu_rows: int
    menu_columns: int
    menu_first_row: int
    menu_first_column: int
    cursor_shown: bool
    message_box: bool
    trainer_class: int = 0
    """Of a trainer who fights, from the moment that the battle is prepared."""


def has_control(signals: Signals) -> bool:
    """Whether the map runs and nothing stands between a press and the player."""
    return (
        signals.map_status == MAP_RUNNING
        and signals.script_running == 0
        and signals.battle_mode == 0
        and signals.paused == 0
        and signals.joypad_disable & _JOYPAD_OFF == 0
        and signals.input_type == 0
        and signals.map_group != 0
    )


def phase_of(signals: Signals) -> Phase:
    """The phase, by the first test that fits."""
    if signals.battle_mode:
        return _battle_phase(signals)
    if has_control(signals):
        return Phase.FREE if signals.step_flags == 0 else Phase.MOVING
    loaded = signals.map_group != 0
    if loaded and (signals.map_status != MAP_RUNNING or signals.script_running in LEAVING):
        return Phase.TRANSITION
    if signals.script_running == TURNING:
        return Phase.MOVING
    if signals.windows or signals.cursor_shown:
        return Phase.CHOICE if signals.message_box and signals.cursor_shown else _window_phase(signals)
    return _window_phase(signals)


def _window_phase(signals: Signals) -> Phase:
    if signals.message_box and (signals.state_flags & _WINDOW_OPEN or signals.map_group == 0):
        return Phase.DIALOGUE
    if signals.windows or signals.cursor_shown:
        return Phase.MENU
    # A trainer's battle turns the sprites off, as a full-screen page does, some frames before it says that it began.
    full_screen = signals.sprite_updates == 0 and not signals.trainer_class
    return Phase.MENU if full_screen else Phase.CUTSCENE


def _battle_phase(signals: Signals) -> Phase:
    if signals.windows == 1 and signals.menu_rows == 2 and signals.menu_columns == 2 and signals.menu_first_row == 14:
        return Phase.BATTLE_MENU
    if (
        signals.menu_columns == 1
        and signals.menu_first_row == 13
        and signals.menu_first_column == 5
        and signals.cursor_shown
    ):
        return Phase.BATTLE_MOVES
    return Phase.BATTLE
