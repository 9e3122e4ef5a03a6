"""Total reward: named parts with weights, added up."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pkmn_pyboy.emulation.settings import settings_from
from pkmn_pyboy.rewards.built_in import BUILT_IN_REWARDS
from pkmn_pyboy.settings import RewardPart
from pkmn_pyboy.state.game_state import GameState
from pkmncli.api import Reward
from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pkmn_pyboy.game import Game


OTHER_PART = "other"
"""Part for what a reward earned outside of its named parts."""


class RewardSum:
    """Weighted sum of the rewards.

    Args:
        parts: target and weight of each reward.

    Raises:
        ConfigurationError: a reward is unknown, can't be imported, or has wrong settings.
    """

    def __init__(self, parts: Mapping[str, RewardPart]) -> None:
        self._rewards = _build(parts)
        self.parts: dict[str, float] = {}
        """Weighted parts of the latest step, by ``reward.part``."""
        self.totals: dict[str, float] = {}
        """Weighted sums of the episode so far, by the same names."""
        self._places: dict[str, int] = {}
        for name, _, reward in self._rewards:
            declared = getattr(reward, "PARTS", None)
            for key in [name] if declared is None else [f"{name}.{part}" for part in declared]:
                self._places[key] = len(self._places)
        self.part_names = (*self._places, OTHER_PART)
        """Names of the parts of a step's reward: ``reward.part``, or ``reward`` alone if it names no parts."""

    @property
    def names(self) -> set[str]:
        """Names of the rewards."""
        return {name for name, _, _ in self._rewards}

    def bind(self, game: Game) -> None:
        """Pass the complete game, once, to the rewards that have a method ``bind(game)``."""
        for _, _, reward in self._rewards:
            bind = getattr(reward, "bind", None)
            if bind is not None:
                bind(game)

    def reset(self, state: GameState) -> None:
        """Start an episode."""
        self.parts, self.totals = {}, {}
        for _, _, reward in self._rewards:
            reward.reset(state)

    def score(self, previous: GameState, action: int, state: GameState) -> float:
        """Return the sum for one step."""
        total = 0.0
        parts: dict[str, float] = {}
        for name, weight, reward in self._rewards:
            for part, value in reward.score(previous, action, state).items():
                key, weighted = f"{name}.{part}", weight * value
                parts[key] = weighted
                self.totals[key] = self.totals.get(key, 0.0) + weighted
                total += weighted
        self.parts = parts
        return total

    def finish(self, state: GameState) -> float:
        """Return the addition to the latest step, which reached the goal and ended the episode in ``state``.

        Only rewards that have a method ``finish(state)``, such as a potential, add anything.
        """
        total = 0.0
        for name, weight, reward in self._rewards:
            finish = getattr(reward, "finish", None)
            for part, value in finish(state).items() if finish is not None else ():
                key, weighted = f"{name}.{part}", weight * value
                self.parts[key] = self.parts.get(key, 0.0) + weighted
                self.totals[key] = self.totals.get(key, 0.0) + weighted
                total += weighted
        return total

    def write_parts(self, out: NDArray[np.float32]) -> None:
        """Write the weighted earnings of :attr:`part_names` in the latest step; 0 into the rest of ``out``."""
        out.fill(0.0)
        for key, value in self.parts.items():
            place = self._places.get(key)
            if place is None:  # the reward names no parts, or earned one that it does not name
                place = self._places.get(key.partition(".")[0], len(self.part_names) - 1)
            out[place] += value

    def save_state(self) -> dict[str, Any]:
        """Return the states of the rewards, by name."""
        return {name: reward.save_state() for name, _, reward in self._rewards}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`save_state` returned."""
        self.parts = {}
        for name, _, reward in self._rewards:
            reward.load_state(state[name])


def _build(parts: Mapping[str, RewardPart]) -> list[tuple[str, float, Reward]]:
    rewards = []
    for name, part in parts.items():
        target: str | Callable[..., Any] | None = part.target
        config: Any = part.config
        if target is None:
            if name not in BUILT_IN_REWARDS:
                known = ", ".join(BUILT_IN_REWARDS)
                raise ConfigurationError(f"rewards: {name!r} has no target and is none of {known}; give its target")
            target, config, _ = BUILT_IN_REWARDS[name]
        factory = _resolve(target, f"rewards.{name}.target")
        settings: Any = dict(part.settings)
        if config is not None:
            settings = settings_from(_resolve(config, f"rewards.{name}.config"), settings, f"rewards.{name}.settings")
        try:
            rewards.append((name, part.weight, factory(settings)))
        except TypeError as error:
            raise ConfigurationError(f"rewards.{name}.target: it is no reward ({error})") from error
    return rewards


def _resolve(target: Any, where: str) -> Any:
    if not isinstance(target, str):
        return target
    module, _, attribute = target.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"{where}: {target} can't be imported: {error}") from None
    return found
