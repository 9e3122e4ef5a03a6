"""Functions that make games, for :attr:`MultiModelTrainer.environment`."""

from __future__ import annotations

from typing import Any

from pkmn_multimodel.games.coop_compete import CoopCompete
from pkmn_multimodel.games.maze import Maze
from pkmn_multimodel.games.social import Social
from pkmn_multimodel.games.staged import Staged
from pkmn_multimodel.games.team_battle import TeamBattle
from pkmn_multimodel.games.text_game import TextGame

MultiModelTrainingEnvironment = TextGame
"""Kind of all games."""


def create_multi_model_coop_compete_env(
    num_models: int = 4, cooperation_level: float = 0.5, **arguments: Any
) -> TextGame:
    """Return the game of shared coins. ``arguments`` are further ones of the game, here and below."""
    return CoopCompete(num_models, cooperation_level, **arguments)


def create_multi_model_team_battle(num_models: int = 4, **arguments: Any) -> TextGame:
    """Return the battle of two teams."""
    return TeamBattle(num_models, **arguments)


def create_multi_model_staged_env(num_models: int = 4, **arguments: Any) -> TextGame:
    """Return the stages from easy to hard."""
    return Staged(num_models, **arguments)


def create_maze_training_env(complexity: str = "easy", num_models: int = 4, **arguments: Any) -> TextGame:
    """Return a maze. Raise ValueError if there is no such complexity.

    Args:
        complexity: easy, medium or hard.
        num_models: agents.
        arguments: further ones of the game.
    """
    return Maze(num_models, complexity=complexity, **arguments)


def create_social_training_env(scenario: str = "prisoners-dilemma", num_models: int = 4, **arguments: Any) -> TextGame:
    """Return a social dilemma. Raise ValueError if there is no such scenario.

    Args:
        scenario: prisoners-dilemma, stag-hunt, chicken or volunteer.
        num_models: agents.
        arguments: further ones of the game.
    """
    return Social(num_models, scenario=scenario, **arguments)
