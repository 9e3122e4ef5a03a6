"""Shared resource: a stock that all take from and that grows by what is left in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final

from pkmn_multimodel.games.text_game import TextGame

TAKES: Final = {"none": 0, "little": 1, "much": 3}
"""Units that each option takes."""
LEVELS: Final = {1: 1.0, 2: 0.5, 3: 0.25}
"""Growth of the stock in a round, as a share of what is left, by level."""


class Resources(TextGame):
    """Each agent takes none, a little or much of a shared stock in every round. What is left grows.

    The stock begins full, with four units for each agent. Who takes much gains at once and leaves less for all. If more
    is taken than there is, all is divided by what each wanted.

    Args:
        num_agents: agents, at least 2.
        cooperation_level: as for :class:`TextGame`.
        level: 1 (the stock grows fast), 2 or 3 (slowly).
        rounds: rounds of an episode.
    """

    metadata: ClassVar[dict[str, Any]] = {**TextGame.metadata, "name": "resources_v0"}
    vocabulary = tuple(TAKES)

    def __init__(
        self, num_agents: int = 2, cooperation_level: float | None = None, level: int = 1, rounds: int = 5
    ) -> None:
        if num_agents < 2:
            raise ValueError("the game resources needs 2 models or more")
        if level not in LEVELS:
            raise ValueError(f"level must be 1, 2 or 3: {level}")
        if rounds < 1:
            raise ValueError(f"rounds must be 1 or more: {rounds}")
        super().__init__(num_agents, rounds, cooperation_level)
        self.capacity = 4 * num_agents
        self.growth = LEVELS[level]
        self.stock = self.capacity
        self._taken = 0

    def begin(self) -> None:
        """Fill the stock."""
        self.stock, self._taken = self.capacity, 0

    def options(self, agent: str) -> Sequence[str]:
        """Return the three options."""
        return self.vocabulary

    def prompt(self, agent: str) -> str:
        """Return the round and the stock."""
        left = self.rounds - min(self.round, self.rounds - 1)
        return f"Stock {self.stock} of {self.capacity}, rounds left {left}. none, little or much? Answer:"

    def play(self, choices: Mapping[str, str]) -> Mapping[str, float]:
        """Take from the stock and let it grow. Return what each has taken."""
        wanted = {agent: TAKES[choice] for agent, choice in choices.items()}
        asked = sum(wanted.values())
        taken = min(asked, self.stock)
        self._taken += taken
        self.stock = self._grown(self.stock - taken)
        return {agent: taken * units / asked if asked else 0.0 for agent, units in wanted.items()}

    def best(self, agent: str) -> str:
        """Return this agent's part of the total that leads to the largest harvest."""
        if self.round >= self.rounds:
            return "none"
        total = self._plan(self.stock, self.rounds - self.round)[1]
        return _parts(total, len(self.possible_agents))[self.possible_agents.index(agent)]

    def score(self) -> float:
        """Return the units taken over the most that could be taken."""
        return self._taken / self._plan(self.capacity, self.rounds)[0]

    def _grown(self, left: int) -> int:
        return min(self.capacity, left + int(left * self.growth))

    def _plan(self, stock: int, rounds: int) -> tuple[int, int]:
        """Return (largest harvest from here, total to take now)."""
        return _plan(stock, rounds, len(self.possible_agents), self.capacity, self.growth)


@lru_cache(maxsize=65536)
def _plan(stock: int, rounds: int, agents: int, capacity: int, growth: float) -> tuple[int, int]:
    if rounds == 0 or stock == 0:
        return 0, 0
    found = (-1, 0)
    for total in _totals(agents):
        left = stock - min(total, stock)
        after = _plan(min(capacity, left + int(left * growth)), rounds - 1, agents, capacity, growth)[0]
        found = max(found, (stock - left + after, -total))
    return found[0], abs(found[1])


@lru_cache
def _totals(agents: int) -> tuple[int, ...]:
    """Return every total that so many agents can ask for."""
    found = {0}
    for _ in range(agents):
        found = {total + units for total in found for units in TAKES.values()}
    return tuple(sorted(found))


def _parts(total: int, agents: int) -> list[str]:
    """Return an option of each agent, which together ask for a total."""
    much = next(count for count in range(total // 3, -1, -1) if total - 3 * count <= agents - count)
    little = total - 3 * much
    return ["much"] * much + ["little"] * little + ["none"] * (agents - much - little)
