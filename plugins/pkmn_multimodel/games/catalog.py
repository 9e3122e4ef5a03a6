"""Games by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from pkmn_multimodel.games.naming import known_name
from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    from pkmn_multimodel.games.text_game import TextGame

GAMES: Final[Mapping[str, str]] = {
    "coop-compete": "pkmn_multimodel.games.coop_compete:CoopCompete",
    "resources": "pkmn_multimodel.games.resources:Resources",
    "team-battle": "pkmn_multimodel.games.team_battle:TeamBattle",
    "staged": "pkmn_multimodel.games.staged:Staged",
    "maze": "pkmn_multimodel.games.maze:Maze",
    "social": "pkmn_multimodel.games.social:Social",
    "negotiation": "pkmn_multimodel.games.negotiation:Negotiation",
    "quillwood": "pkmn_multimodel.games.quillwood:Quillwood",
}
"""Import target of each game."""


def game_maker(name: str, num_models: int, arguments: Mapping[str, Any]) -> Callable[[], TextGame]:
    """Return a function that makes a game. Raise ConfigurationError if there is no such game, or arguments are wrong.

    Args:
        name: of the game.
        num_models: agents.
        arguments: of the game, besides ``num_agents``.
    """
    try:
        module, _, kind = GAMES[known_name("game", name, GAMES)].partition(":")
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
    make = getattr(import_module(module), kind)

    def game() -> TextGame:
        made: TextGame = make(num_agents=num_models, **arguments)
        return made

    try:
        game()
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigurationError(f"game '{name}': {error}") from None
    return game
