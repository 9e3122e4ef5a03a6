"""Environments that tests of workers need, importable by a worker."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np

from pkmn_pyboy.enhanced_environment import EnhancedPyBoyPokemonCrystalEnv
from pkmn_pyboy.environment import PokemonEnvironment
from pkmncli.api import Context


class ThreadListing(PokemonEnvironment):
    """Names the Python threads of its process in place of the summary in words."""

    def context(self) -> Context:
        names = sorted(thread.name for thread in threading.enumerate())
        return replace(super().context(), context_summary=" ".join(names))


class Failing(PokemonEnvironment):
    """Its third step always fails, as a reward with a mistake in it would make it."""

    def advance(self, action: int) -> tuple[float, bool, bool]:  # type: ignore[override]
        if self.steps == 2:
            raise ZeroDivisionError("no reward for nothing")
        return super().advance(action)


class Thrifty(EnhancedPyBoyPokemonCrystalEnv):
    """Its reward is one of a user's own: 3 for every step."""

    def _calculate_reward(self, current_state: Any, previous_state: Any, action: int) -> float:
        return 3.0


class Unseen(PokemonEnvironment):
    """Its picture for people is whole at first, then of another shape, and then fails."""

    looks = 0

    def view(self) -> Any:  # type: ignore[override]
        self.looks += 1
        if self.looks == 1:
            return np.full((4, 5, 3), 7, np.uint8)
        if self.looks == 2:
            return np.zeros((3, 3, 3), np.uint8)
        raise KeyError("no such palette")


class Unsorted(PokemonEnvironment):
    """It names one kind of situation, where it has several phases."""

    def __init__(self, settings: Any = None) -> None:
        super().__init__(settings)
        self.situations = ("walking",)
