"""What goes on in the first environment of a training, in words for people who watch the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmncli.api import Action, Source
from pkmncli.training.display.status import Scene

if TYPE_CHECKING:
    import numpy as np

    from pkmncli.advice.coordinator import AdviceCoordinator
    from pkmncli.training.progression import Progression

WHO = {Source.RL: "the learner", Source.EXPLORE: "exploration", Source.RULE: "the rules", Source.LLM: "the LLM"}
"""Who decides, in words."""


def scene_of(
    game: str, goal: str | None, record: np.void, advice: AdviceCoordinator | None, progression: Progression
) -> Scene:
    """The scene after a step.

    Args:
        game: where the game stands, in words.
        goal: the milestone that ends an episode.
        record: of the step.
        advice: the coordinator of advice; None without a language model.
        progression: who has how much say.
    """
    return Scene(
        game=game,
        goal=goal,
        action=Action(int(record["action"])).name.lower(),
        source=WHO[Source(int(record["source"]))],
        reason=record["reason"].decode(errors="ignore"),
        advice="" if advice is None else advice.latest_advice,
        trust=progression.trust,
        strategy="" if progression.strategy is None else progression.strategy.name,
        share=progression.share or 0.0,
    )
