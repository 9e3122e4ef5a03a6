"""Maze that each agent walks through; all see where the others are."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from pkmn_multimodel.games.naming import known_name
from pkmn_multimodel.games.text_game import TextGame

SIZES: Final = {"easy": 3, "medium": 5, "hard": 7}
"""Columns and rows by complexity."""
WAYS: Final = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
STAY = "stay"
Cell = tuple[int, int]


class Maze(TextGame):
    """All agents begin in the upper left corner of the same maze and look for the exit in the lower right.

    The maze has one way between any two cells, and is new in every episode. A step costs 0.05, the exit earns 1. A cell
    nearer to the exit earns 0.1, and the way back costs the same, so that an agent cannot gain by going to and fro.

    Args:
        num_agents: agents.
        cooperation_level: as for :class:`TextGame`.
        complexity: easy (3 x 3 cells), medium (5 x 5) or hard (7 x 7).
    """

    metadata: ClassVar[dict[str, Any]] = {**TextGame.metadata, "name": "maze_v0"}
    vocabulary = (*WAYS, STAY)

    def __init__(self, num_agents: int = 2, cooperation_level: float | None = None, complexity: str = "easy") -> None:
        self.complexity = known_name("complexity", complexity, SIZES)
        self.size = SIZES[self.complexity]
        self._exit = (self.size - 1, self.size - 1)
        super().__init__(num_agents, 2 * self.size * self.size, cooperation_level)
        self.begin()

    def begin(self) -> None:
        """Build a maze and put all agents at its start."""
        self._open = self._built()
        self._far = self._distances()
        self.places = dict.fromkeys(self.possible_agents, (0, 0))
        self._before = dict.fromkeys(self.possible_agents, "nothing")
        self._steps = dict.fromkeys(self.possible_agents, 0)

    def options(self, agent: str) -> Sequence[str]:
        """Return the directions without a wall; at the exit only to stay."""
        place = self.places[agent]
        if place == self._exit:
            return [STAY]
        return [way for way in WAYS if _next(place, way) in self._open[place]]

    def prompt(self, agent: str) -> str:
        """Return the agent's cell, the open directions, the step before, and the cells of the others."""
        column, row = self.places[agent]
        ways = ", ".join(self.options(agent))
        others = ", ".join(f"{x} {y}" for name, (x, y) in self.places.items() if name != agent)
        return (
            f"Maze at {column} {row}, exit {self._exit[0]} {self._exit[1]}. Last step {self._before[agent]}. "
            f"Others at {others or 'none'}. Open: {ways}. Which way? Answer:"
        )

    def play(self, choices: Mapping[str, str]) -> Mapping[str, float]:
        """Walk. Return what each has gained."""
        gains = {}
        for agent, choice in choices.items():
            place = self.places[agent]
            if choice == STAY:
                gains[agent] = 0.0
                continue
            new = _next(place, choice)
            self.places[agent], self._before[agent] = new, choice
            self._steps[agent] += 1
            gains[agent] = 0.1 * (self._far[place] - self._far[new]) - 0.05 + float(new == self._exit)
        return gains

    @property
    def over(self) -> bool:
        """True if all are at the exit."""
        return all(place == self._exit for place in self.places.values())

    def best(self, agent: str) -> str:
        """Return the direction of the shortest way."""
        return min(self.options(agent), key=lambda way: self._far[_next(self.places[agent], way)])

    def score(self) -> float:
        """Return the mean score of all agents."""
        return sum(self.scores().values()) / len(self.possible_agents)

    def scores(self) -> Mapping[str, float]:
        """Return the steps of the shortest way over those that were taken; 0 without the exit (SPL, Anderson 2018)."""
        shortest = self._far[0, 0]
        return {
            agent: shortest / self._steps[agent] if place == self._exit else 0.0 for agent, place in self.places.items()
        }

    def _built(self) -> dict[Cell, set[Cell]]:
        """Return the neighbours of each cell without a wall between, by a depth-first walk."""
        ways: dict[Cell, set[Cell]] = {(x, y): set() for x in range(self.size) for y in range(self.size)}
        path, seen = [(0, 0)], {(0, 0)}
        while path:
            near = [cell for way in WAYS if (cell := _next(path[-1], way)) in ways and cell not in seen]
            if not near:
                path.pop()
                continue
            cell = near[int(self.random.integers(len(near)))]
            ways[path[-1]].add(cell)
            ways[cell].add(path[-1])
            seen.add(cell)
            path.append(cell)
        return ways

    def _distances(self) -> dict[Cell, int]:
        """Return the steps from each cell to the exit."""
        far, waiting = {self._exit: 0}, deque([self._exit])
        while waiting:
            cell = waiting.popleft()
            for near in self._open[cell]:
                if near not in far:
                    far[near] = far[cell] + 1
                    waiting.append(near)
        return far


def _next(place: Cell, way: str) -> Cell:
    across, down = WAYS.get(way, (0, 0))
    return place[0] + across, place[1] + down
