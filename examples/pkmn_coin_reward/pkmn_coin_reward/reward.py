"""Pays for money, once: what was spent and earned again pays nothing, so that trading back and forth is no living."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pkmn_coin_reward.settings import CoinSettings


class CoinReward:
    """A :class:`pkmncli.api.Reward`: it has the methods, and inherits nothing."""

    def __init__(self, settings: CoinSettings | None = None) -> None:
        self.settings = settings or CoinSettings()
        self._most = 0

    def reset(self, state: Any) -> None:
        """An episode begins: the money that is there is not paid for."""
        self._most = state.money

    def score(self, previous: Any, action: int, state: Any) -> Mapping[str, float]:
        """What this step earned, by part."""
        gained = state.money - self._most
        if gained <= 0:
            return {}
        self._most = state.money
        return {"coins": self.settings.per_thousand * gained / 1000}

    def save_state(self) -> dict[str, Any]:
        """What a resumed run needs to go on exactly."""
        return {"most": self._most}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from a saved state."""
        self._most = int(state["most"])
