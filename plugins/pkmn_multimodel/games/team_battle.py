"""Battle of two teams of creatures, in which types decide how much a move hurts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from pkmn_multimodel.games.text_game import TextGame

BEATS: Final = {
    "flame": ("leaf",),
    "wave": ("flame", "stone"),
    "leaf": ("wave", "stone"),
    "stone": ("flame", "spark"),
    "spark": ("wave",),
}
"""Types that each type is strong against. Against itself, and against a type that beats it, it is weak."""
STRONG, PLAIN, WEAK = 4, 2, 1
"""Hit points that a move takes."""
MOVES = 3
"""Moves that a creature knows."""


class TeamBattle(TextGame):
    """Two teams fight. In every round each agent's creature makes a move against the first creature of the other team.

    A move is a type, and what it takes depends on the type of the creature that it meets. A creature without hit
    points does nothing. A team wins when the other has no creature left.

    Args:
        num_agents: agents, an even number; the first half is one team.
        cooperation_level: as for :class:`TextGame`.
        hit_points: of each creature.
        rounds: most rounds of a battle.
    """

    metadata: ClassVar[dict[str, Any]] = {**TextGame.metadata, "name": "team_battle_v0"}
    vocabulary = tuple(BEATS)

    def __init__(
        self, num_agents: int = 4, cooperation_level: float | None = None, hit_points: int = 8, rounds: int = 8
    ) -> None:
        if num_agents < 2 or num_agents % 2:
            raise ValueError(f"the game team-battle needs an even number of models: {num_agents}")
        if hit_points < 1 or rounds < 1:
            raise ValueError("hit_points and rounds must be 1 or more")
        super().__init__(num_agents, rounds, cooperation_level)
        half = num_agents // 2
        self._teams = (self.possible_agents[:half], self.possible_agents[half:])
        self.hit_points = hit_points
        self.types: dict[str, str] = {}
        self.moves: dict[str, Sequence[str]] = {}
        self.left: dict[str, int] = {}
        """Hit points of each agent's creature."""
        self.begin()

    def begin(self) -> None:
        """Deal a type and three moves to each creature."""
        names = list(self.vocabulary)
        for agent in self.possible_agents:
            self.types[agent] = names[int(self.random.integers(len(names)))]
            known = self.random.choice(len(names), MOVES, replace=False)
            self.moves[agent] = [names[place] for place in sorted(known.tolist())]
        self.left = dict.fromkeys(self.possible_agents, self.hit_points)
        self._dealt = dict.fromkeys(self.possible_agents, 0)
        self._possible = dict.fromkeys(self.possible_agents, 0)

    def teams(self) -> Mapping[str, str]:
        """Return red or blue for each agent."""
        return {agent: name for name, team in zip(("red", "blue"), self._teams, strict=True) for agent in team}

    def options(self, agent: str) -> Sequence[str]:
        """Return the moves that the agent's creature knows."""
        return self.moves[agent]

    def prompt(self, agent: str) -> str:
        """Return the types and hit points of both sides, and the moves."""
        own, target = self.left[agent], self._target(agent)
        foe = "none left" if target is None else f"{self.types[target]}, {self.left[target]} HP"
        moves = ", ".join(self.moves[agent])
        return f"Battle. You: {self.types[agent]}, {own} HP. Foe: {foe}. Moves: {moves}. Which move? Answer:"

    def play(self, choices: Mapping[str, str]) -> Mapping[str, float]:
        """Make all moves at once. Return for each agent what its team dealt less what it took, by member.

        The end of a battle adds 1 for the winners.
        """
        targets = {agent: self._target(agent) for agent in choices}
        acting = [agent for agent in choices if self.left[agent] > 0]
        hits: dict[str, int] = dict.fromkeys(choices, 0)
        dealt = dict.fromkeys(("red", "blue"), 0)
        teams = self.teams()
        for agent in acting:
            target = targets[agent]
            if target is None:
                continue
            power = damage(choices[agent], self.types[target])
            hits[target] += power
            dealt[teams[agent]] += power
            self._dealt[agent] += power
            self._possible[agent] += self._most(agent, target)
        for agent, power in hits.items():
            self.left[agent] = max(self.left[agent] - power, 0)
        size, scale = len(self._teams[0]), float(self.hit_points)
        others = {"red": "blue", "blue": "red"}
        beaten = {name: not any(self.left[agent] for agent in team) for name, team in self._named().items()}
        return {
            agent: (dealt[team] - dealt[others[team]]) / (scale * size) + float(beaten[others[team]]) - beaten[team]
            for agent, team in teams.items()
        }

    @property
    def over(self) -> bool:
        """True if a team has no creature left."""
        return any(not any(self.left[agent] for agent in team) for team in self._teams)

    def best(self, agent: str) -> str:
        """Return the move that takes most hit points from the creature that it meets now."""
        target = self._target(agent)
        moves = self.moves[agent]
        return moves[0] if target is None else max(moves, key=lambda move: damage(move, self.types[target]))

    def score(self) -> float:
        """Return the hit points that moves took over the most that the known moves could have taken in their place."""
        return sum(self._dealt.values()) / max(sum(self._possible.values()), 1)

    def scores(self) -> Mapping[str, float]:
        """Return the same for each agent."""
        return {agent: self._dealt[agent] / max(self._possible[agent], 1) for agent in self.possible_agents}

    def _named(self) -> dict[str, Sequence[str]]:
        return {"red": self._teams[0], "blue": self._teams[1]}

    def _target(self, agent: str) -> str | None:
        """Return the first creature of the other team that has hit points."""
        foes = self._teams[1] if agent in self._teams[0] else self._teams[0]
        return next((foe for foe in foes if self.left[foe] > 0), None)

    def _most(self, agent: str, target: str) -> int:
        return max(damage(move, self.types[target]) for move in self.moves[agent])


def damage(move: str, target: str) -> int:
    """Return the hit points that a move takes from a creature of a type."""
    if target in BEATS[move]:
        return STRONG
    return WEAK if move == target or move in BEATS[target] else PLAIN
