"""Situation in numbers: the phase and its duration, the player, the latest press."""

from __future__ import annotations

from pkmn_pyboy.goal_view.numbers import WALKING, GoalNumber, hot_rows, one_hot
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.state.game_state import PHASE_NAMES, GameState, Movement
from pkmncli.api import Action

_FACINGS = ("down", "up", "left", "right")
_PRESSES = tuple(action.name.lower() for action in Action)
_LONG_PHASE, _LONG_PAGE, _LONG_STAY = 80, 40, 4

NUMBERS: tuple[GoalNumber, ...] = (
    *one_hot("phase", PHASE_NAMES, "the phase is"),
    *one_hot("facing", _FACINGS, "the player faces"),
    *one_hot("moves", ("on_foot", "by_bicycle", "surfing"), "the player moves"),
    *one_hot("pressed", _PRESSES, "the latest press was"),
    *one_hot(
        "quarter", ("0", "1", "2", "3"), "while the player can not walk, steps of this phase, divided by 4, leave"
    ),
    *one_hot("fifth", ("0", "1", "2", "3", "4"), "steps of this phase, divided by 5, leave"),
    GoalNumber("phase_steps", f"steps of this phase over {_LONG_PHASE}"),
    GoalNumber("page_steps_odd", "steps on a battle's screen are odd"),
    GoalNumber("task_steps_odd", "steps of the menu task are odd"),
    GoalNumber("page_still", f"steps without a change on screens over {_LONG_PAGE}"),
    GoalNumber("stays", f"steps with control on this tile over {_LONG_STAY}"),
    GoalNumber("wanders", "the pilot walks at random for a while, because it was stuck"),
)
"""Counts from ``quarter_0`` on are those of the pilot."""

_PHASE, _FACING, _PRESSED, _QUARTER, _FIFTH = (hot_rows(size) for size in (len(PHASE_NAMES), 4, len(_PRESSES), 4, 5))
_MOVES = {Movement.FOOT: (1.0, 0.0, 0.0), Movement.BICYCLE: (0.0, 1.0, 0.0), Movement.SURFING: (0.0, 0.0, 1.0)}
_NO_WAY_OF_MOVING = (0.0, 0.0, 0.0)
_NO_COUNTS, _NO_RESTS = (0.0,) * 15, (0.0,) * 10


def write(out: list[float], state: GameState, pressed: int, memory: PilotMemory | None) -> None:
    """Append the numbers.

    Args:
        out: destination.
        state: the current state.
        pressed: the action of the latest step.
        memory: the pilot's memory; the counts are 0 if None.
    """
    out += _PHASE[state.phase]
    out += _FACING[state.facing]
    out += _MOVES.get(state.movement, _NO_WAY_OF_MOVING)  # type: ignore[call-overload]
    out += _PRESSED[pressed]
    if memory is None:
        out += _NO_COUNTS
        return
    if state.phase in WALKING:
        out += _NO_RESTS
    else:
        steps = memory.phase_steps
        out += _QUARTER[steps % 4]
        out += _FIFTH[steps % 5]
        out.append(min(steps / _LONG_PHASE, 1.0))
    out += (
        float(memory.battle.page_steps % 2),
        float(memory.task_steps % 2),
        min(memory.page.still / _LONG_PAGE, 1.0),
        min(memory.walk.still / _LONG_STAY, 1.0),
        float(memory.walk.wander > 0),
    )
