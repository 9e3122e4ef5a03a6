"""Phase of the game, from a few bytes of memory."""

from __future__ import annotations

from typing import NamedTuple

from pkmn_pyboy.rules_gen2.screen import BATTLE_MENU_ROW, MOVES_COLUMN, MOVES_ROW, QUESTION_COLUMN
from pkmn_pyboy.state.game_state import Phase

MAP_NOT_BEGUN, MAP_RUNNING = 0, 2
TURNING = 9
LEAVING = frozenset({4, 5, 6})
"""Values of wScriptRunning while a map's edge, a warp or a pit takes effect."""

_WINDOW_OPEN = 1 << 6
_JOYPAD_OFF = 0xD0


class Signals(NamedTuple):
    """Bytes that distinguish the phases."""

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
    """Class of a trainer who fights, from the moment that the battle is prepared."""
    cursor_column: int = 0
    """Column of the screen of the cursor, if it is shown."""
    words: bool = False
    """True if the message box has a letter in it, or one is being written; set on full-screen pages only."""


def is_page(signals: Signals) -> bool:
    """Return True if a full-screen page hides the map: bag, party, a clerk's list, naming."""
    # A trainer battle turns the sprites off, as such a page does, some frames before its battle mode is set.
    return signals.sprite_updates == 0 and signals.battle_mode == 0 and not signals.trainer_class


def is_loaded(signals: Signals) -> bool:
    """Return True if a game runs, rather than the title screen and its pages.

    The page between CONTINUE and the map already has the saved game's position, and a window; a map that is being set
    up has none.
    """
    before_map = signals.map_status == MAP_NOT_BEGUN and signals.windows > 0 and is_page(signals)
    return signals.map_group != 0 and not before_map


def has_control(signals: Signals) -> bool:
    """Return True if the map runs and a press reaches the player."""
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
    """Return the phase, by the first test that is true."""
    if signals.battle_mode:
        return _battle_phase(signals)
    if has_control(signals):
        return Phase.FREE if signals.step_flags == 0 else Phase.MOVING
    loaded = is_loaded(signals)
    if loaded and (signals.map_status != MAP_RUNNING or signals.script_running in LEAVING):
        return Phase.TRANSITION
    if signals.script_running == TURNING:
        return Phase.MOVING
    return _window_phase(signals)


def _window_phase(signals: Signals) -> Phase:
    page = is_page(signals)
    if signals.cursor_shown:
        in_list = page and signals.cursor_column < QUESTION_COLUMN
        return Phase.CHOICE if signals.message_box and not in_list else Phase.MENU
    if signals.message_box and (signals.state_flags & _WINDOW_OPEN or signals.map_group == 0):
        # A page draws its frames, including the message box, before its text and its cursor.
        drawn = page and signals.windows > 0 and not signals.words
        return Phase.MENU if drawn else Phase.DIALOGUE
    return Phase.MENU if signals.windows or page else Phase.CUTSCENE


def _battle_phase(signals: Signals) -> Phase:
    if (
        signals.windows == 1
        and signals.menu_rows == 2
        and signals.menu_columns == 2
        and signals.menu_first_row == BATTLE_MENU_ROW
    ):
        return Phase.BATTLE_MENU
    if (
        signals.menu_columns == 1
        and signals.menu_first_row == MOVES_ROW
        and signals.menu_first_column == MOVES_COLUMN
        and signals.cursor_shown
    ):
        return Phase.BATTLE_MOVES
    return Phase.BATTLE
