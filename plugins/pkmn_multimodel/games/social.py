"""Social dilemmas: repeated games of two options in which the own gain and that of all differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from pkmn_multimodel.games.naming import known_name
from pkmn_multimodel.games.text_game import TextGame


@dataclass(frozen=True, slots=True)
class Scenario:
    """Dilemma of two options.

    Attributes:
        kind: option that is kind to the others.
        other: option that is not.
        payoffs: gain of an agent against another: (kind, kind), (kind, other), (other, kind), (other, other), the own
            option first. Its gain of a round is the mean over all others. None for the volunteer's dilemma: all gain 2
            if anyone is kind, and who is kind pays 1.
    """

    kind: str
    other: str
    payoffs: tuple[float, float, float, float] | None


SCENARIOS: Final[Mapping[str, Scenario]] = {
    "prisoners-dilemma": Scenario("cooperate", "defect", (3.0, 0.0, 5.0, 1.0)),
    "stag-hunt": Scenario("stag", "hare", (4.0, 0.0, 3.0, 3.0)),
    "chicken": Scenario("swerve", "dare", (3.0, 1.0, 4.0, 0.0)),
    "volunteer": Scenario("volunteer", "wait", None),
}
"""Dilemmas by name. The numbers of the prisoner's dilemma are Axelrod's (1980)."""


class Social(TextGame):
    """All agents play a dilemma with each other for some rounds and see what was chosen in the last one.

    Args:
        num_agents: agents, at least 2.
        cooperation_level: as for :class:`TextGame`.
        scenario: prisoners-dilemma, stag-hunt, chicken or volunteer.
        rounds: rounds of an episode.
    """

    metadata: ClassVar[dict[str, Any]] = {**TextGame.metadata, "name": "social_v0"}

    def __init__(
        self,
        num_agents: int = 2,
        cooperation_level: float | None = None,
        scenario: str = "prisoners-dilemma",
        rounds: int = 4,
    ) -> None:
        self.scenario = known_name("scenario", scenario, SCENARIOS)
        if num_agents < 2:
            raise ValueError("the game social needs 2 models or more")
        if rounds < 1:
            raise ValueError(f"rounds must be 1 or more: {rounds}")
        super().__init__(num_agents, rounds, cooperation_level)
        self._rules = SCENARIOS[self.scenario]
        self.vocabulary = (self._rules.other, self._rules.kind)
        sums = [self._sum(kind) for kind in range(num_agents + 1)]
        self._least, self._most = min(sums), max(sums)
        self._best_kind = sums.index(self._most)
        self._kind: list[int] = []

    def begin(self) -> None:
        """Forget the rounds of the last episode."""
        self._kind = []

    def options(self, agent: str) -> Sequence[str]:
        """Return the two options."""
        return self.vocabulary

    def prompt(self, agent: str) -> str:
        """Return the scenario, the round, and how many were kind in the last one."""
        other, kind = self.vocabulary
        last = f"{self._kind[-1]} of {len(self.possible_agents)} chose {kind}" if self._kind else "none"
        shown = self.scenario.replace("-", " ")
        return f"{shown}, round {min(self.round + 1, self.rounds)}. Last round: {last}. {other} or {kind}? Answer:"

    def play(self, choices: Mapping[str, str]) -> Mapping[str, float]:
        """Pay the gains of a round."""
        kind = sum(choice == self._rules.kind for choice in choices.values())
        self._kind.append(kind)
        return {agent: self._gain(choice == self._rules.kind, kind) for agent, choice in choices.items()}

    def best(self, agent: str) -> str:
        """Return this agent's part of the choices with the largest sum."""
        return self._rules.kind if self.possible_agents.index(agent) < self._best_kind else self._rules.other

    def score(self) -> float:
        """Return the sum of all gains, from the least possible (0) to the most (1)."""
        if not self._kind:
            return 0.0
        mean = sum(self._sum(kind) for kind in self._kind) / len(self._kind)
        return (mean - self._least) / (self._most - self._least)

    def _sum(self, kind: int) -> float:
        """Return the sum of all gains when so many are kind."""
        count = len(self.possible_agents)
        of_kind = kind * self._gain(True, kind) if kind else 0.0
        return of_kind + ((count - kind) * self._gain(False, kind) if kind < count else 0.0)

    def _gain(self, is_kind: bool, kind: int) -> float:
        """Return the gain of an agent when so many are kind, itself included."""
        if self._rules.payoffs is None:
            return 2.0 * (kind > 0) - is_kind
        with_kind, with_other = self._rules.payoffs[:2] if is_kind else self._rules.payoffs[2:]
        others = len(self.possible_agents) - 1
        near = kind - is_kind
        return (near * with_kind + (others - near) * with_other) / others
