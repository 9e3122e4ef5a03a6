"""Gymnasium ids of the games: ``pkmn/Quillwood-v0``, ``pkmn/Crystal-v0`` and, for any, ``pkmn/GameBoy-v0``.

Importing this module registers them. Gymnasium imports it for
``gymnasium.make("pkmn_pyboy.registration:pkmn/Quillwood-v0")``; after ``import pkmn_pyboy.registration`` the short
names are enough. The emulator is loaded when a game is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gymnasium.envs.registration import register, registry

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment
    from pkmn_pyboy.gameboy.environment import GameBoyEnvironment

ENVIRONMENTS = {
    "pkmn/Quillwood-v0": "pkmn_pyboy.registration:make_quillwood",
    "pkmn/Crystal-v0": "pkmn_pyboy.registration:make_crystal",
    "pkmn/GameBoy-v0": "pkmn_pyboy.registration:make_game_boy",
}


def register_gymnasium() -> None:
    """Register the games with Gymnasium, unless they are registered."""
    for name, factory in ENVIRONMENTS.items():
        if name not in registry:
            register(id=name, entry_point=factory)


def make_quillwood(**settings: Any) -> PokemonEnvironment:
    """Make the bundled game. Keyword arguments are fields of EnvironmentSettings."""
    return _make("quillwood", settings)


def make_crystal(**settings: Any) -> PokemonEnvironment:
    """Make Pokemon Crystal; needs ``rom_path``. Keyword arguments are fields of EnvironmentSettings."""
    return _make("crystal", settings)


def make_game_boy(**settings: Any) -> GameBoyEnvironment:
    """Make an environment of any Game Boy image; needs ``rom_path``.

    Keyword arguments are fields of GameBoySettings.
    """
    from pkmn_pyboy.gameboy.environment import make_game_boy as make  # noqa: PLC0415

    return make(**settings)


def _make(game: str, settings: dict[str, Any]) -> PokemonEnvironment:
    from pkmn_pyboy.environment import make_environment  # noqa: PLC0415

    return make_environment(game=game, **settings)


register_gymnasium()
