"""A card game with the metrics and masks of Balatro that is learned in few steps, for tests of the framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from pkmn_balatro.framework import HyperparameterConfig, TrainerConfig
from pkmncli.api import BaseEnvironment

ACTIONS = 6
PLAYS_OF_ANTE = 3
NUMBERS: dict[str, dict[str, Any]] = {
    "PPO": {"n_steps": 16, "batch_size": 16, "n_epochs": 2},
    "A2C": {},
    "DQN": {"learning_starts": 16, "buffer_size": 500},
}
"""Numbers of each algorithm for a short training."""


class LittleBalatro(BaseEnvironment):
    """Three right plays beat an ante; three wrong ones lose. The observation shows the right play.

    A forbidden action counts as an illegal one.
    """

    metric_names = ("ante", "round", "score", "money", "jokers")
    action_names = tuple(f"play_{place}" for place in range(ACTIONS))
    max_steps_per_episode = 60
    save_state = BaseEnvironment.save_state  # as its own: an inherited one does not count inside of wrappers
    load_state = BaseEnvironment.load_state

    def __init__(self, win_ante: int = 8, forbidden: float = 0.5) -> None:
        self.forbidden = forbidden
        self.win_ante = win_ante
        self.observation_space = spaces.Dict(
            numbers=spaces.Box(0.0, 1.0, (ACTIONS,), np.float32),
            kinds=spaces.MultiDiscrete([4, 9], dtype=np.int16),
            action_mask=spaces.Box(0, 1, (ACTIONS,), np.int8),
        )
        self.action_space = spaces.Discrete(ACTIONS)
        self.illegal = 0
        self._clear()

    def _clear(self) -> None:
        self.right = self.wrong = 0
        self.wanted = 0
        self.mask = np.ones(ACTIONS, np.int8)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        super().reset(seed=seed)
        self._clear()
        self._deal()
        return self.observation(), {}

    def _deal(self) -> None:
        self.mask = (self.np_random.random(ACTIONS) > self.forbidden).astype(np.int8)
        self.wanted = int(self.np_random.integers(ACTIONS))
        self.mask[self.wanted] = 1

    def advance(self, action: int) -> tuple[float, bool, bool]:
        self.steps += 1
        if not self.mask[action]:
            self.illegal += 1
            return 0.0, False, self.steps >= self.max_steps_per_episode
        good = action == self.wanted
        self.right, self.wrong = self.right + good, self.wrong + (not good)
        self._deal()
        ended = self.wrong == PLAYS_OF_ANTE or self.succeeded
        return float(good), ended, not ended and self.steps >= self.max_steps_per_episode

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        out["numbers"][:] = 0
        out["numbers"][self.wanted] = 1
        out["kinds"][:] = (self.wrong, min(self.ante, 8))
        out["action_mask"][...] = self.mask

    @property
    def ante(self) -> int:
        return 1 + self.right // PLAYS_OF_ANTE

    @property
    def succeeded(self) -> bool:
        return self.ante > self.win_ante

    def metrics(self) -> dict[str, float]:
        best = 100.0 * self.right
        return {"ante": self.ante, "round": self.right, "score": best, "money": 4.0, "jokers": 0.0}


def quick(algorithm: str, **fields: Any) -> TrainerConfig:
    """Return a configuration of a training that is over soon."""
    hyperparams = HyperparameterConfig(
        features_dim=8,
        policy_net_arch=[8],
        value_net_arch=[8],
        algorithm_specific=NUMBERS[algorithm.removeprefix("SB3-")],
    )
    own = {
        "algorithm": algorithm,
        "hyperparams": hyperparams,
        "total_timesteps": 40,
        "n_envs": 1,
        "eval_freq": 1_000_000,
        "settings": {"quiet": True, "eval_episodes": 1},
    }
    return TrainerConfig(**{**own, **fields})
