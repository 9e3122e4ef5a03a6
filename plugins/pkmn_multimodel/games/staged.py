"""Stages from easy to hard: what the right answer is depends on more with each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from pkmn_multimodel.games.text_game import TextGame

COLOURS: Final = ("red", "green", "blue", "gold")
STAGES: Final = ("say the sign", "say the colour after the sign", "say the colour that is your place after the sign")
"""Tasks, from easy to hard. The colours are a circle."""


class Staged(TextGame):
    """All agents see the same sign. A stage is passed when more than half answer right in the same round.

    Stage 1 asks for the sign, stage 2 for the next colour in the circle, stage 3 for a different colour of each agent:
    that as many places further as its own place in the row, from 1. A wrong answer costs 1, a passed stage earns 2.

    Args:
        num_agents: agents.
        cooperation_level: as for :class:`TextGame`.
        stages: number of stages, up to 3.
        spare_rounds: rounds beyond one for each stage.
    """

    metadata: ClassVar[dict[str, Any]] = {**TextGame.metadata, "name": "staged_v0"}
    vocabulary = COLOURS

    def __init__(
        self,
        num_agents: int = 2,
        cooperation_level: float | None = None,
        stages: int = len(STAGES),
        spare_rounds: int = 3,
    ) -> None:
        if not 1 <= stages <= len(STAGES):
            raise ValueError(f"stages must be 1 to {len(STAGES)}: {stages}")
        if spare_rounds < 0:
            raise ValueError(f"spare_rounds must be 0 or more: {spare_rounds}")
        super().__init__(num_agents, stages + spare_rounds, cooperation_level)
        self.stages = stages
        self.passed = 0
        """Stages that are passed."""
        self._sign = 0

    def begin(self) -> None:
        """Return to the first stage, with a new sign."""
        self.passed = 0
        self._sign = int(self.random.integers(len(COLOURS)))

    def options(self, agent: str) -> Sequence[str]:
        """Return the colours."""
        return self.vocabulary

    def prompt(self, agent: str) -> str:
        """Return the task of the stage, the agent's place and the sign."""
        stage = min(self.passed, self.stages - 1)
        place = self.possible_agents.index(agent) + 1
        circle = ", ".join(COLOURS)
        return (
            f"Circle: {circle}. Stage {stage + 1}: {STAGES[stage]}. Place {place}. Sign {COLOURS[self._sign]}. Answer:"
        )

    def play(self, choices: Mapping[str, str]) -> Mapping[str, float]:
        """Compare the answers with the right ones. Return what each has gained."""
        right = {agent: choice == self.best(agent) for agent, choice in choices.items()}
        passes = 2 * sum(right.values()) > len(choices) and not self.over
        self.passed += passes
        self._sign = int(self.random.integers(len(COLOURS)))
        return {agent: 2.0 * passes - (not is_right) for agent, is_right in right.items()}

    @property
    def over(self) -> bool:
        """True if all stages are passed."""
        return self.passed >= self.stages

    def best(self, agent: str) -> str:
        """Return the right answer."""
        stage = min(self.passed, self.stages - 1)
        further = (0, 1, self.possible_agents.index(agent) + 1)[stage]
        return COLOURS[(self._sign + further) % len(COLOURS)]

    def score(self) -> float:
        """Return the share of the stages that were passed."""
        return self.passed / self.stages
