"""Shared fixtures of the PyBoy environment's tests: the bundled game, environments that are closed, a cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands import own_cache
from support.pyboy_fakes import FakeMemory

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.loading import GAMES_FOLDER, load_profile
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.settings import EnvironmentSettings

__all__ = ["own_cache"]


@pytest.fixture(scope="session")
def quillwood() -> GameProfile:
    return load_profile(GAMES_FOLDER / "quillwood")


@pytest.fixture(scope="session")
def crystal() -> GameProfile:
    return load_profile(GAMES_FOLDER / "crystal")


@pytest.fixture(scope="session")
def rom_path(quillwood: GameProfile) -> Path:
    assert quillwood.bundled_rom is not None
    return quillwood.bundled_rom


@pytest.fixture
def memory(crystal: GameProfile) -> FakeMemory:
    return FakeMemory(crystal.memory)


@pytest.fixture
def make() -> Iterator[Callable[..., PokemonEnvironment]]:
    """Build environments from settings, and close them after the test."""
    made: list[PokemonEnvironment] = []

    def build(**settings: Any) -> PokemonEnvironment:
        made.append(PokemonEnvironment(EnvironmentSettings(**settings)))
        return made[-1]

    yield build
    for environment in made:
        environment.close()
