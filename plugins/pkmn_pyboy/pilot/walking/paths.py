"""Paths as actions on tiles, with those that a field move needs before a step."""

from __future__ import annotations

from pkmn_pyboy.pilot.memory import GRASS, PilotMemory
from pkmn_pyboy.pilot.notes import PathStep
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.world.tile_rules import PRESSES
from pkmncli.api import Action

_A = int(Action.A)


def presses(steps: list[tuple[int, int]], facing: int, around: Surroundings) -> list[PathStep]:
    """Return the presses for a path; a step that takes a field move is preceded by facing it and pressing A.

    Args:
        steps: (cell, direction) of each step.
        facing: direction that the player faces first.
        around: the map.
    """
    path: list[PathStep] = []
    for cell, direction in steps:
        x, y = around.grid.tile_of(cell)
        if around.needs_use(cell, direction):
            if facing != direction:
                path.append(PathStep(x, y, int(PRESSES[direction])))
            path.append(PathStep(x, y, _A))
        path.append(PathStep(x, y, int(PRESSES[direction])))
        facing = direction
    return path


def one_step(around: Surroundings) -> list[PathStep]:
    """Return a step to any free tile, to get off a door that acts when entered."""
    x, y = around.grid.tile_of(around.start)
    return [PathStep(x, y, int(PRESSES[direction])) for _, direction in around.search.first_moves()[:1]]


def pace(memory: PilotMemory, around: Surroundings) -> list[PathStep]:
    """Return a step to another tile of the ground to meet Pokemon on, or the path to the nearest one."""
    search = around.walk
    on = memory.goal.on if memory.goal is not None else GRASS
    beside = [cell for cell, _ in search.first_moves() if around.is_ground(cell, on)]
    nearest = search.nearest((beside[memory.draw(len(beside))],)) if beside else around.nearest_ground(on)
    if nearest is None:
        return []
    return presses(search.directions(nearest[0]), memory.walk.faced, around)
