"""Players that do not learn: scripts of known strength."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pkmn_multimodel.games.text_game import TextGame


class RandomPlayer:
    """Player that takes any option.

    Args:
        seed: of its choices.
    """

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)

    def replies(self, prompts: Sequence[str], options: Sequence[Sequence[str]]) -> list[str]:
        """Return an option for each prompt."""
        return [words[int(self.random.integers(len(words)))] for words in options]


class ScriptedPlayer:
    """Player of known strength: it sees the game itself, and takes the best known option or a random one.

    Args:
        strength: share of the choices that are the best known, 0..1; 0 is chance.
        seed: of its choices.
    """

    def __init__(self, strength: float = 1.0, seed: int = 0) -> None:
        self.strength = strength
        self.name = "best" if strength == 1 else f"scripted-{strength:g}"
        self.random = np.random.default_rng(seed)

    def choose(self, game: TextGame, agent: str) -> str:
        """Return an option of an agent in a game."""
        if self.random.random() < self.strength:
            return game.best(agent)
        options = game.options(agent)
        return options[int(self.random.integers(len(options)))]

    def replies(self, prompts: Sequence[str], options: Sequence[Sequence[str]]) -> list[str]:
        """Refuse: what is best cannot be seen in a prompt; :func:`pkmn_multimodel.rollouts.play` calls choose."""
        raise NotImplementedError("a scripted player chooses by the game")
