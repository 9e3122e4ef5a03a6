"""Texts, questions and screens in numbers: what is open, the cursor's position, and where the aim is."""

from __future__ import annotations

from pkmn_pyboy.goal_view.numbers import GoalNumber, hot_rows, one_hot, within
from pkmn_pyboy.pilot.memory import AGAIN, ENTRY, LEAVE, NAME, NO, SEARCH, TURN, WAIT, YES, PilotMemory
from pkmn_pyboy.state.game_state import GameState

_AIMS = (ENTRY, YES, NO, AGAIN, LEAVE, SEARCH, TURN, NAME, WAIT)
_SIDES = ("down", "up", "left", "right")
_ROWS, _COLUMNS, _WINDOWS = 10, 4, 4

NUMBERS: tuple[GoalNumber, ...] = (
    GoalNumber("message_box", "the message box is drawn"),
    GoalNumber("printing", "text is being printed"),
    GoalNumber("full_page", "a screen hides the map"),
    GoalNumber("windows", f"open windows over {_WINDOWS}"),
    GoalNumber("cursor", "a list waits for a choice"),
    GoalNumber("cursor_row", f"row of its cursor over {_ROWS}"),
    GoalNumber("cursor_column", f"column of its cursor over {_COLUMNS}"),
    GoalNumber("rows", f"rows of the list over {_ROWS}"),
    GoalNumber("columns", f"columns of the list over {_COLUMNS}"),
    *one_hot("wants", _AIMS, "aim on the screen: an entry, yes, no, another answer, to leave it, an entry not in "
             "view, another pocket, the end of a naming, to wait:"),
    GoalNumber("wanted_here", "the cursor is at the wanted entry"),
    *one_hot("wanted", _SIDES, "direction from the cursor to it, or to the pocket or card where it is:"),
    GoalNumber("wanted_rows", f"rows from the cursor to it over {_ROWS}"),
    GoalNumber("gives_up", "a move must be given up for a new one"),
)  # fmt: skip

_AIM_ROWS = hot_rows(len(_AIMS))
_AIM_PLACES = {kind: place for place, kind in enumerate(_AIMS)}
_NO_AIM = (0.0,) * (len(_AIMS) + 7)
_NO_LIST = (0.0,) * 5


def write(out: list[float], state: GameState, memory: PilotMemory | None) -> None:
    """Append the numbers; those of the aim are 0 if ``memory`` is None."""
    menu = state.menu
    out += (
        float(state.message_box),
        float(state.printing),
        float(menu.full_screen),
        min(menu.windows / _WINDOWS, 1.0),
    )
    if menu.cursor_shown:
        out += (
            1.0,
            min(menu.cursor_row / _ROWS, 1.0),
            min(menu.cursor_column / _COLUMNS, 1.0),
            min(menu.rows / _ROWS, 1.0),
            min(menu.columns / _COLUMNS, 1.0),
        )
    else:
        out += _NO_LIST
    if memory is None:
        out += _NO_AIM
        return
    if memory.aim is not None:
        kind, down, right = memory.aim
        out += _AIM_ROWS[_AIM_PLACES[kind]]
        here = kind == ENTRY and down == 0 and right == 0
        out += (float(here), float(down > 0), float(down < 0), float(right < 0), float(right > 0), within(down / _ROWS))
    else:
        out += _NO_AIM[:-1]
    out.append(float(memory.forget is not None))
