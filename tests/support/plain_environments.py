"""Small environments that know nothing of a training: what any user of Gymnasium may have."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from pkmncli.api import BaseEnvironment

LENGTH = 6


class Corridor(gymnasium.Env[Any, int]):
    """A corridor to the right end, in which the seed decides the start. It reports success and a metric in ``info``."""

    observation_space = spaces.Box(0.0, LENGTH, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, wind: float = 0.0) -> None:
        self.wind = wind
        self.place = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = int(self.np_random.integers(1, 4))
        return self._seen(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        blown = self.np_random.random() < self.wind
        self.place += 1 if action and not blown else -1
        ended = self.place in (0, LENGTH)
        info = {"success": self.place == LENGTH, "metrics": {"place": self.place}}
        return self._seen(), float(self.place == LENGTH), ended, False, info

    def _seen(self) -> NDArray[np.float32]:
        return np.array([self.place], np.float32)


class Forgetful(Corridor):
    """A corridor whose wind no seed decides."""

    count = 0

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        type(self).count += 1
        seen, *others = super().step(action)
        return seen + 1e-3 * self.count, *others  # type: ignore[return-value]


class Unseeded(Corridor):
    """A corridor whose beginning is sampled from the generators of the process, which no seed of an episode decides."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        seen, info = super().reset(seed=seed)
        return seen + np.float32(np.random.random() + random.random()), info


class Snapshot(Corridor):
    """A corridor that can give and take its state, and counts the steps that were really taken."""

    taken = 0

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        type(self).taken += 1
        return super().step(action)

    def get_state(self) -> dict[str, Any]:
        return {"place": self.place, "random": self.np_random}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.place, self.np_random = state["place"], state["random"]


class Compound(gymnasium.Env[Any, int]):
    """Observations of every kind, and a mask in ``info``."""

    observation_space = spaces.Dict(
        where=spaces.Tuple((spaces.Discrete(3), spaces.Box(0, 1, (2, 2), np.float32))),
        bits=spaces.MultiBinary(4),
        mission=spaces.Text(20),
    )
    action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        where = (2, np.ones((2, 2), np.float32))
        return {"where": where, "bits": np.ones(4, np.int8), "mission": "go"}, {"action_mask": np.array([0, 1, 0])}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.reset()[0], 0.0, False, False, {}


class Nested(BaseEnvironment):
    """An environment of the fast contract with nested observations and the actions of two components, 3 by 4."""

    max_steps_per_episode = 5

    def __init__(self) -> None:
        hand = spaces.Dict(cards=spaces.Box(0, 9, (2,), np.float32), suit=spaces.Discrete(4))
        self.observation_space = spaces.Dict(me=hand, said=spaces.Text(9))
        self.action_space = spaces.MultiDiscrete([3, 4])  # type: ignore[assignment]
        self.latest = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        super().reset(seed=seed)
        self.latest = 0
        return self.observation(), {}

    def advance(self, action: Any) -> tuple[float, bool, bool]:
        self.steps += 1
        self.latest = int(action[1])
        return float(action[0]), False, self.steps >= self.max_steps_per_episode

    def write_observation(self, out: Mapping[str, Any]) -> None:
        out["me"]["cards"][:] = self.steps
        out["me"]["suit"][...] = self.latest


class Counting(BaseEnvironment):
    """An environment of the fast contract: a number that grows by the action."""

    max_steps_per_episode = 5
    metric_names = ("total",)

    def __init__(self) -> None:
        mask = spaces.Box(0, 1, (3,), np.int8)
        self.observation_space = spaces.Dict(number=spaces.Box(0, 100, (1,), np.float32), action_mask=mask)
        self.action_space = spaces.Discrete(3)
        self.total = 0
        self.seen: set[int] = set()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        super().reset(seed=seed)
        self.total, self.seen = int(self.np_random.integers(3)), set()
        return self.observation(), {}

    def advance(self, action: int) -> tuple[float, bool, bool]:
        self.steps += 1
        self.total += action
        self.seen.add(self.total)
        return float(action), False, self.steps >= self.max_steps_per_episode

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        out["number"][0] = self.total
        out["action_mask"][:] = 1

    def metrics(self) -> Mapping[str, float]:
        return {"total": float(self.total)}


class OneAllowed(gymnasium.ActionWrapper[Any, int, Any]):
    """Two actions in place of those of :class:`Nested`, of which the second one is forbidden."""

    action_space = spaces.Discrete(2)

    def action(self, action: int) -> NDArray[np.int64]:
        if action:
            raise ValueError(f"the action {action} is forbidden")
        return np.zeros(2, np.int64)

    def action_masks(self) -> list[bool]:
        return [True, False]


class Endless(Counting):
    """An environment of the fast contract that knows no limit."""

    def advance(self, action: int) -> tuple[float, bool, bool]:
        return *super().advance(action)[:2], False
