"""Pilot ``random``."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pkmn_balatro.pilot.players import Player
from pkmncli.api import Decision

if TYPE_CHECKING:
    from pkmn_balatro.environment import BalatroEnvironment

_MOST_KEPT: Final = 1000


class RandomPlayer(Player):
    """Pilot ``random``: any action that is allowed, each with the same chance. It is the least that a player can do."""

    def __init__(self, environment: BalatroEnvironment) -> None:
        super().__init__(environment)
        self._luck = random.Random(0)
        self._decisions = [Decision(action, "random", 0.0) for action in range(environment.actions.count)]
        self._allowed: dict[bytes, list[int]] = {}
        """Allowed actions of masks that were met: there are few of them."""

    def reset(self, seed: int) -> None:
        """Begin an episode. The same seed chooses the same actions."""
        super().reset(seed)
        self._luck.seed(seed)

    def by_rules(self) -> Decision:
        """Return an action without advice."""
        mask = self.environment.mask_bytes()
        allowed = self._allowed.get(mask)
        if allowed is None:
            if len(self._allowed) >= _MOST_KEPT:
                self._allowed.clear()
            allowed = self._allowed[mask] = [action for action, allows in enumerate(mask) if allows]
        return self._decisions[allowed[int(self._luck.random() * len(allowed))]]

    def save_state(self) -> dict[str, Any]:
        """Return the memory as plain values."""
        version, words, gauss = self._luck.getstate()
        return {**super().save_state(), "luck": [version, list(words), gauss]}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`save_state`."""
        super().load_state(state)
        version, words, gauss = state["luck"]
        self._luck.setstate((version, tuple(words), gauss))
