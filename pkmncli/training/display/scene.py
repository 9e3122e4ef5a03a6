"""Scene in the first environment of a training, in words for people who watch the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmncli.api import ActionNames, Source
from pkmncli.training.display.status import Scene

if TYPE_CHECKING:
    import numpy as np

    from pkmncli.advice.coordinator import AdviceCoordinator
    from pkmncli.training.progression import Progression

WHO = {Source.RL: "the learner", Source.EXPLORE: "exploration", Source.RULE: "the rules", Source.LLM: "the LLM"}
"""Deciding side, in words."""


def scene_of(
    game: str,
    goal: str | None,
    record: np.void,
    names: ActionNames,
    advice: AdviceCoordinator | None,
    progression: Progression,
) -> Scene:
    """Return the scene after a step.

    Args:
        game: state of the game, in words.
        goal: milestone that ends an episode.
        record: record of the step.
        names: names of the actions.
        advice: coordinator of advice; None without a language model.
        progression: shares of the deciding sides.
    """
    return Scene(
        game=game,
        goal=goal,
        action=names.names[int(record["action"])],
        source=WHO[Source(int(record["source"]))],
        reason=record["reason"].decode(errors="ignore"),
        advice="" if advice is None else advice.latest_advice,
        trust=progression.trust,
        strategy="" if progression.strategy is None else progression.strategy.name,
        share=progression.share or 0.0,
    )
