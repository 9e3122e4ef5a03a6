"""Pushing boulders: one to its place, or all that block a goal.

The plan is made once, followed push by push, and made again when the situation differs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from zlib import crc32

from pkmn_pyboy.pilot.memory import EXIT, PUSH, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.notes import DuePush, PathStep
from pkmn_pyboy.pilot.walking.paths import presses
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.world.pushes import Push, PushPlanner
from pkmn_pyboy.world.tile_rules import STEPS

_ANYWHERE = -1
"""Column value for pushes that open the player's path instead of moving a boulder to a place."""
_KEPT_FAILURES = 8


def push_goal(
    target: Target, key: str, why: str, confidence: float, memory: PilotMemory, around: Surroundings, tries: int
) -> WalkGoal | None:
    """Return a goal that pushes a target's boulder to its place; None if impossible from here now.

    If boulders may have been pushed the wrong way the goal is to leave the map, which resets them.

    Args:
        target: with the place to push to.
        key: key of the goal's tries.
        why: reason to show with the decision.
        confidence: confidence of the goal.
        memory: failures and the plan.
        around: the map.
        tries: maximum tries of anything.
    """
    here = around.grid.map_id
    if target.push_to is None or not around.strong or memory.tries.get(key, 0) >= tries:
        return None
    goal = WalkGoal(PUSH, key, here, why, confidence, *target.push_to, person=target.person)
    if _next_push_to_place(goal, memory, around) is not None:
        return goal
    if _stands_there(goal, around):
        return None
    return back_in_places(goal, memory, around, tries)


def back_in_places(goal: WalkGoal, memory: PilotMemory, around: Surroundings, tries: int) -> WalkGoal | None:
    """Return a goal to leave the map, which resets boulders; None if none was pushed, or it was tried enough.

    Args:
        goal: the goal that the boulders block.
        memory: counts the tries.
        around: the map.
        tries: maximum tries of anything.
    """
    here = around.grid.map_id
    if not around.pushes:
        return None
    visits = f"{goal.key}/again/"
    again = f"{visits}{memory.visits.get(str(here), 0)}"
    if again not in memory.tries and sum(one.startswith(visits) for one in memory.tries) >= tries:
        return None
    if memory.tries.setdefault(again, 0) >= tries:
        return None
    ends = {cell: (exit_.key, press) for exit_ in around.exits for cell, press in exit_.ends.items()}
    nearest = around.walk.nearest(ends)
    if nearest is None:
        return None
    name, press = ends[nearest[0]]
    why = f"{goal.why}: put the boulders back"
    x, y = around.grid.tile_of(nearest[0])
    return replace(goal, kind=EXIT, key=again, why=why, x=x, y=y, facing=press, person=0, exit=name)


def push_path(goal: WalkGoal, facing: int, memory: PilotMemory, around: Surroundings) -> list[PathStep]:
    """Return the presses for the next push: to the boulder's side, then against it; empty if there is none."""
    return _presses(_next_push_to_place(goal, memory, around), facing, around)


def clearing_path(ends: Collection[int], facing: int, memory: PilotMemory, around: Surroundings) -> list[PathStep]:
    """Return the presses for the next of the pushes that make one of the cells reachable; empty if there is none."""
    if not around.strong or not around.boulders or not ends:
        return []
    purpose = [around.grid.map_id, _ANYWHERE, crc32(repr(sorted(ends)).encode()), 0]
    start, boulders = around.start, around.boulders
    push = _next_push(purpose, lambda planner: planner.clear(start, boulders, ends), memory, around)
    return _presses(push, facing, around)


def is_due(x: int, y: int, direction: int, memory: PilotMemory) -> bool:
    """Return whether the due push is made from a tile in a direction."""
    dx, dy = STEPS[direction]
    return bool(memory.pushing.due) and memory.pushing.due[0] == (x + dx, y + dy, direction)


def _presses(push: Push | None, facing: int, around: Surroundings) -> list[PathStep]:
    if push is None:
        return []
    beside = push.cell - around.grid.deltas[push.direction]
    walk = _planner(around).walk(around.start, around.boulders)
    if not walk.reaches(beside):
        return []
    return presses([*walk.directions(beside), (beside, push.direction)], facing, around)


def _next_push_to_place(goal: WalkGoal, memory: PilotMemory, around: Surroundings) -> Push | None:
    grid, cell = around.grid, _boulder(goal, around)
    if not grid.inside(goal.x, goal.y) or (goal.person and cell is None):
        return None
    start, boulders, to = around.start, around.boulders, grid.cell(goal.x, goal.y)
    purpose = [grid.map_id, goal.x, goal.y, goal.person]
    return _next_push(purpose, lambda planner: planner.plan(start, boulders, to, cell), memory, around)


def _next_push(
    purpose: list[int],
    plan_with: Callable[[PushPlanner], list[Push] | None],
    memory: PilotMemory,
    around: Surroundings,
) -> Push | None:
    """Return the due push: the plan's next if it is possible, else the first of a new plan."""
    grid, planner = around.grid, _planner(around)
    deltas = grid.deltas
    walk = planner.walk(around.start, around.boulders)
    if memory.pushing.purpose == purpose and memory.pushing.due:
        x, y, direction = memory.pushing.due[0]
        due = Push(grid.cell(x, y), direction)
        if due.cell in around.boulders and walk.reaches(due.cell - deltas[direction]):
            return due
    sides = [boulder - delta for boulder in sorted(around.boulders) for delta in deltas]
    things = (sides, [walk.reaches(side) for side in sides], sorted(around.walls), grid.tiles)
    failed = [*purpose, crc32(repr(things).encode())]
    if failed in memory.pushing.failed:
        return None
    plan = plan_with(planner)
    if plan is None:
        memory.pushing.failed = [*memory.pushing.failed[1 - _KEPT_FAILURES :], failed]
    memory.pushing.purpose = purpose
    memory.pushing.due = [DuePush(*grid.tile_of(push.cell), push.direction) for push in plan or ()]
    return plan[0] if plan else None


def _planner(around: Surroundings) -> PushPlanner:
    return PushPlanner(around.steps, around.abilities, walls=around.walls)


def _boulder(goal: WalkGoal, around: Surroundings) -> int | None:
    """Return the cell of the goal's boulder; None if any boulder serves, or it is not there."""
    cells = {one.number: around.grid.cell(one.x, one.y) for one in around.people}
    cell = cells.get(goal.person)
    return cell if cell in around.boulders else None


def _stands_there(goal: WalkGoal, around: Surroundings) -> bool:
    to = around.grid.cell(goal.x, goal.y)
    return to == _boulder(goal, around) if goal.person else to in around.boulders
