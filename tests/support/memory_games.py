"""Environments of which one observation says too little: the change since the one before decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from pkmncli.api import BaseEnvironment, BitPlanes


class Trend(BaseEnvironment):
    """A number that moves at random; the action pays that says whether it has risen."""

    max_steps_per_episode = 20

    def __init__(self) -> None:
        self.observation_space = spaces.Dict(
            me=spaces.Dict(number=spaces.Box(-9, 9, (1,), np.float32), round=spaces.Discrete(30)),
            tiles=BitPlanes((5, 5), ["shown"]),
            said=spaces.Text(9),
            action_mask=spaces.Box(0, 1, (2,), np.int8),
        )
        self.action_space = spaces.Discrete(2)
        self.number = self.before = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.number = self.before = float(self.np_random.normal())
        return self.observation(), {}

    def advance(self, action: int) -> tuple[float, bool, bool]:
        right = action == int(self.number > self.before)
        self.steps += 1
        self.before, self.number = self.number, float(self.np_random.normal())
        return float(right), False, self.steps >= self.max_steps_per_episode

    def write_observation(self, out: Mapping[str, Any]) -> None:
        out["me"]["number"][0] = self.number
        out["me"]["round"][...] = self.steps
        out["tiles"][...] = self.steps % 2
        out["action_mask"][:] = 1
