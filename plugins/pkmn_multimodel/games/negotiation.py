"""Negotiation: agents with private values claim items in rounds until each has a different one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from pkmn_multimodel.games.text_game import TextGame

ITEMS: Final = ("apple", "book", "coin", "drum", "egg", "flute", "glove", "hat")
DONE = "done"
"""Option of an agent that has its item."""
MOST_VALUE = 9


class Negotiation(TextGame):
    """Each agent claims an item in every round; an item that nobody else claims in that round is the agent's.

    The value of each item is known only to the agent whose value it is, and claims of the last round are known to all.
    A contested item stays. Each round after the first takes a share of all values, so that agreement pays.

    Args:
        num_agents: agents, 2 to 8; there are as many items, at least 3.
        cooperation_level: as for :class:`TextGame`.
        rounds: rounds of an episode.
        discount: share of the values that is left after a round.
    """

    metadata: ClassVar[dict[str, Any]] = {**TextGame.metadata, "name": "negotiation_v0"}

    def __init__(
        self, num_agents: int = 2, cooperation_level: float | None = None, rounds: int = 4, discount: float = 0.8
    ) -> None:
        if not 2 <= num_agents <= len(ITEMS):
            raise ValueError(f"the game negotiation needs 2 to {len(ITEMS)} models: {num_agents}")
        if rounds < 1 or not 0 < discount <= 1:
            raise ValueError("rounds must be 1 or more, and discount above 0 and up to 1")
        super().__init__(num_agents, rounds, cooperation_level)
        self.items = ITEMS[: max(num_agents, 3)]
        self.vocabulary = (*self.items, DONE)
        self.discount = discount
        self.begin()

    def begin(self) -> None:
        """Give every agent a value from 1 to 9 of every item."""
        shape = (len(self.possible_agents), len(self.items))
        values = self.random.integers(1, MOST_VALUE + 1, shape).tolist()
        self.values: dict[str, dict[str, int]] = {
            agent: dict(zip(self.items, row, strict=True))
            for agent, row in zip(self.possible_agents, values, strict=True)
        }
        self.owned: dict[str, str] = {}
        """Item of each agent that has one."""
        self._claims = "none"
        self._reached = 0.0
        self._fair = _assignment(values)
        self._optimum = float(sum(row[item] for row, item in zip(values, self._fair, strict=True)))

    def options(self, agent: str) -> Sequence[str]:
        """Return the items that nobody has; only ``done`` for an agent that has one."""
        if agent in self.owned:
            return [DONE]
        taken = set(self.owned.values())
        return [item for item in self.items if item not in taken]

    def prompt(self, agent: str) -> str:
        """Return the agent's values of the items that are left, and the last claims of all."""
        if agent in self.owned:
            return f"You have the {self.owned[agent]}. Answer:"
        values = ", ".join(f"{item} {self.values[agent][item]}" for item in self.options(agent))
        return (
            f"Round {min(self.round + 1, self.rounds)}. Your values: {values}. Claims: {self._claims}. Which? Answer:"
        )

    def play(self, choices: Mapping[str, str]) -> Mapping[str, float]:
        """Give items to those who alone claimed them. Return the values that they have gained, over the largest."""
        claims = {agent: item for agent, item in choices.items() if item != DONE}
        wanted = list(claims.values())
        left = float(self.discount**self.round)
        gains = dict.fromkeys(choices, 0.0)
        for agent, item in claims.items():
            if wanted.count(item) == 1:
                self.owned[agent] = item
                self._reached += left * self.values[agent][item]
                gains[agent] = left * self.values[agent][item] / MOST_VALUE
        self._claims = ", ".join(wanted) or "none"
        return gains

    @property
    def over(self) -> bool:
        """True if each agent has an item."""
        return len(self.owned) == len(self.possible_agents)

    def best(self, agent: str) -> str:
        """Return the agent's item in the division with the largest sum of values."""
        options = self.options(agent)
        item = self.items[self._fair[self.possible_agents.index(agent)]]
        return item if item in options else options[0]

    def score(self) -> float:
        """Return the sum of the values reached over the largest that a division has."""
        return self._reached / self._optimum


def _assignment(values: Sequence[Sequence[int]]) -> list[int]:
    """Return a different item for each agent with the largest sum of values, by sets of items that are taken."""
    best: dict[int, tuple[int, list[int]]] = {0: (0, [])}
    for row in values:
        further: dict[int, tuple[int, list[int]]] = {}
        for taken, (total, chosen) in best.items():
            for item, value in enumerate(row):
                if not taken >> item & 1:
                    key, found = taken | 1 << item, (total + value, [*chosen, item])
                    if key not in further or further[key][0] < found[0]:
                        further[key] = found
        best = further
    return max(best.values())[1]
