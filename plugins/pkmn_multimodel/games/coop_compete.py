"""Public goods: what is shared grows for all, what is kept is one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pkmn_multimodel.games.text_game import TextGame

SHARE, KEEP = "share", "keep"


class CoopCompete(TextGame):
    """Each agent shares or keeps a coin in every round. Shared coins are multiplied and divided among all.

    With cooperation level 1 to share is best for everyone; with level 0, or for one's own gain, to keep is, whatever
    the others do.

    Args:
        num_agents: agents, at least 2.
        cooperation_level: as for :class:`TextGame`.
        rounds: rounds of an episode.
        growth: factor of the shared coins, between 1 and the number of agents.
    """

    metadata: ClassVar[dict[str, Any]] = {**TextGame.metadata, "name": "coop_compete_v0"}
    vocabulary = (KEEP, SHARE)

    def __init__(
        self, num_agents: int = 2, cooperation_level: float | None = None, rounds: int = 3, growth: float = 1.6
    ) -> None:
        if num_agents < 2:
            raise ValueError("the game coop-compete needs 2 models or more")
        if not 1 < growth < num_agents:
            raise ValueError(f"growth must be between 1 and the number of models, {num_agents}: {growth}")
        super().__init__(num_agents, rounds, cooperation_level)
        self.growth = float(growth)
        self._shared: list[int] = []

    def begin(self) -> None:
        """Forget the rounds of the last episode."""
        self._shared = []

    def options(self, agent: str) -> Sequence[str]:
        """Return the two options."""
        return self.vocabulary

    def prompt(self, agent: str) -> str:
        """Return the round, and how many shared in the last one."""
        last = f"{self._shared[-1]} of {len(self.possible_agents)} shared" if self._shared else "none"
        return f"Coins, round {min(self.round + 1, self.rounds)}. Last round: {last}. keep or share? Answer:"

    def play(self, choices: Mapping[str, str]) -> Mapping[str, float]:
        """Divide the shared coins. Return what each has gained."""
        shared = sum(choice == SHARE for choice in choices.values())
        self._shared.append(shared)
        return {agent: self.growth * shared / len(choices) + (choice == KEEP) for agent, choice in choices.items()}

    def best(self, agent: str) -> str:
        """Return the option that earns most at this level of cooperation."""
        return SHARE if self.sharing_pays else KEEP

    def score(self) -> float:
        """Return the share of choices that are best at this level of cooperation."""
        share = sum(self._shared) / max(len(self._shared) * len(self.possible_agents), 1)
        return share if self.sharing_pays else 1 - share

    @property
    def sharing_pays(self) -> bool:
        """True if to share earns an agent more than to keep, whatever the others do.

        To share costs an agent a coin of its lead, and the mean of all gains ``(growth - 1) / agents``.
        """
        level = self.cooperation_level
        return level is not None and level * (self.growth - 1) / len(self.possible_agents) > 1 - level
