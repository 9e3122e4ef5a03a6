"""Registers the games with Gymnasium, so that ``gymnasium.make("pkmn/Quillwood-v0")`` works without an import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment


def register_gymnasium() -> None:
    """Called by Gymnasium through the entry point ``gymnasium.envs``. Imports nothing heavy."""
    from gymnasium.envs.registration import register  # noqa: PLC0415

    register(id="Quillwood-v0", entry_point="pkmn_pyboy.registration:make_quillwood")
    register(id="Crystal-v0", entry_point="pkmn_pyboy.registration:make_crystal")


def make_quillwood(**settings: Any) -> PokemonEnvironment:
    """The bundled game. Keyword arguments are fields of EnvironmentSettings."""
    return _make("quillwood", settings)


def make_crystal(**settings: Any) -> PokemonEnvironment:
    """Pokemon Crystal; needs ``rom_path``. Keyword arguments are fields of EnvironmentSettings."""
    return _make("crystal", settings)


def _make(game: str, settings: dict[str, Any]) -> PokemonEnvironment:
    from pkmn_pyboy.environment import make_environment  # noqa: PLC0415

    return make_environment(game=game, **settings)
