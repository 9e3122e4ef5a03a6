"""Current goal in numbers: its kind, the next tile of its path, the side to face, its distance."""

from __future__ import annotations

from collections.abc import Sequence

from pkmn_pyboy.goal_view.numbers import WALKING, GoalNumber, hot_rows, one_hot, within
from pkmn_pyboy.pilot.memory import EXIT, LOOK, MENU, PACE, PUSH, TALK, TILE, PilotMemory
from pkmn_pyboy.pilot.notes import PathStep
from pkmn_pyboy.pilot.screens.menu_tasks import LEAD, TEACH, USE
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.tile_rules import PRESSES, STEPS
from pkmncli.api import Action

_KINDS = (TILE, EXIT, TALK, PACE, MENU, LOOK, PUSH)
_TASKS = (USE, TEACH, LEAD)
_SIDES = ("down", "up", "left", "right")
_NEAR, _FAR, _LEGS, _SHOWN = 4, 32, 8, 2

NUMBERS: tuple[GoalNumber, ...] = (
    GoalNumber("no_goal", "there is no goal now"),
    *one_hot("goal", _KINDS, "kind of the goal: stand on a tile, leave by an exit, talk or read, walk about for "
             "fights, open the menu, see beyond a tile, push a boulder:"),
    *one_hot("next", _SIDES, "while the player can walk, direction of the next tile of the path:"),
    GoalNumber("after_right", f"columns from the player to the tile after it over {_NEAR}"),
    GoalNumber("after_down", f"rows to it over {_NEAR}"),
    *one_hot("side", _SIDES, "the side to face here, to act or to leave:"),
    GoalNumber("faces_side", "the player faces it"),
    GoalNumber("acts_here", "the goal is to act on this tile, on what the player faces"),
    GoalNumber("acts_now", "the goal is to act here, and the player faces the side"),
    GoalNumber("calls_menu", "the goal is to open the START menu"),
    GoalNumber("ends_here", "the path ends on this tile"),
    GoalNumber("waits", "a person blocks the path"),
    GoalNumber("bumps", "failed steps towards the next tile over 2"),
    GoalNumber("way_left", f"steps left on the path over {_FAR}"),
    GoalNumber("end_right", f"columns to the end of the path on this map over {_FAR}"),
    GoalNumber("end_down", f"rows to it over {_FAR}"),
    GoalNumber("target_right", f"columns to the goal, if it is on this map, over {_FAR}"),
    GoalNumber("target_down", f"rows to it over {_FAR}"),
    GoalNumber("maps_left", f"maps to the end of the route over {_LEGS}, 0 if it is on this one"),
    *one_hot("job", _TASKS, "task to do in the menu: use an item, teach a move, put a member first:"),
    GoalNumber("shops", "there are items to buy"),
    GoalNumber("tunes", "there is a radio station to tune in"),
    GoalNumber("catches", "there is a species to catch"),
    GoalNumber("trains", "the party must become stronger first"),
)  # fmt: skip

_KIND_ROWS, _SIDE_ROWS, _TASK_ROWS = hot_rows(len(_KINDS)), hot_rows(4), hot_rows(len(_TASKS))
_KIND_PLACES = {kind: place for place, kind in enumerate(_KINDS)}
_TASK_PLACES = {kind: place for place, kind in enumerate(_TASKS)}
_DIRECTIONS = {int(press): direction for direction, press in enumerate(PRESSES)}
_A, _START = int(Action.A), int(Action.START)
_NOTHING = (0.0,) * len(NUMBERS)
_NO_STEP, _NO_WAY = (0.0,) * 17, (0.0,) * 3


def write(out: list[float], state: GameState, memory: PilotMemory | None) -> None:
    """Append the numbers; zeros if ``memory`` is None."""
    if memory is None:
        out += _NOTHING
        return
    goal = memory.goal
    out.append(float(goal is None))
    out += _KIND_ROWS[_KIND_PLACES[goal.kind] if goal is not None else -1]
    path = memory.path
    here = bool(path) and path[0][:2] == (state.x, state.y) and state.map_id == memory.map_id
    if here and state.phase in WALKING:
        _write_way(out, path, state, memory)
    else:
        out += _NO_STEP
    if here:
        right, down = path[-1].x - state.x, path[-1].y - state.y
        out += (min(len(path) / _FAR, 1.0), within(right / _FAR), within(down / _FAR))
    else:
        out += _NO_WAY
    if goal is not None and goal.map_id == state.map_id and goal.x >= 0:
        out += (within((goal.x - state.x) / _FAR), within((goal.y - state.y) / _FAR))
    else:
        out += (0.0, 0.0)
    out.append(min(max(len(memory.route.legs) - 1, 0) / _LEGS, 1.0))
    out += _TASK_ROWS[_TASK_PLACES[memory.task.kind] if memory.task is not None else -1]
    out += (
        float(bool(memory.shop.purchases)),
        float(memory.tuning is not None),
        float(bool(memory.hunt.wanted)),
        float(bool(memory.strength.plans or memory.strength.train_to)),
    )


def _write_way(out: list[float], path: Sequence[PathStep], state: GameState, memory: PilotMemory) -> None:
    """Append the tiles and sides of the presses to come, but not the presses themselves."""
    x, y = state.x, state.y
    side, acts, menu = -1, False, False
    ahead: list[tuple[int, int]] = []
    for number, (column, row, press) in enumerate(path):
        here = column == x and row == y
        if not here and (not ahead or ahead[-1] != (column, row)):
            ahead.append((column, row))
            if len(ahead) == _SHOWN:
                break
        direction = _DIRECTIONS.get(press)
        if not here:
            continue
        if press == _START:
            menu = True
        elif press == _A:
            acts = True
            side = side if side >= 0 else int(state.facing)
        elif direction is not None and number + 1 < len(path) and path[number + 1][:2] == (x, y):
            side = direction  # the player turns before acting
        elif direction is not None and number + 1 == len(path):
            side = direction if side < 0 else side
            ahead.append((x + STEPS[direction][0], y + STEPS[direction][1]))
    end = path[-1]
    next_x, next_y = ahead[0] if ahead else (x, y)
    after_x, after_y = ahead[1] if len(ahead) > 1 else (next_x, next_y)
    out += (
        float(next_y > y),
        float(next_y < y),
        float(next_x < x),
        float(next_x > x),
        within((after_x - x) / _NEAR),
        within((after_y - y) / _NEAR),
    )
    out += _SIDE_ROWS[side]
    out += (
        float(side == state.facing),
        float(acts),
        float(acts and side == state.facing),
        float(menu),
        float(end.x == x and end.y == y),
        float(memory.walk.waited > 0),
        min(memory.walk.bumps / 2, 1.0),
    )
