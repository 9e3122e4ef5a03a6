"""Reward for money, once: money spent and earned again pays nothing, so trading back and forth gains nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pkmn_coin_reward.settings import CoinSettings


class CoinReward:
    """Reward (:class:`pkmncli.api.Reward`): it has the methods, and inherits nothing."""

    def __init__(self, settings: CoinSettings | None = None) -> None:
        self.settings = settings or CoinSettings()
        self._most = 0

    def reset(self, state: Any) -> None:
        """Begin an episode: its initial money is not paid for."""
        self._most = state.money

    def score(self, previous: Any, action: int, state: Any) -> Mapping[str, float]:
        """Return the rewards of this step, by part."""
        gained = state.money - self._most
        if gained <= 0:
            return {}
        self._most = state.money
        return {"coins": self.settings.per_thousand * gained / 1000}

    def save_state(self) -> dict[str, Any]:
        """Return the state that a resumed run needs."""
        return {"most": self._most}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resume from a saved state."""
        self._most = int(state["most"])
