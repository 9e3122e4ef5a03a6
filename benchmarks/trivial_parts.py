"""A trivial environment and its pilot: all that a step of them costs is the loop around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from pkmncli import hookimpl
from pkmncli.api import Advice, BaseEnvironment, Decision, Facts


class Trivial(BaseEnvironment):
    """Two actions, four numbers, and an end after 200 steps."""

    max_steps_per_episode = 200

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Dict(
            {
                "numbers": gymnasium.spaces.Box(-1, 1, (4,), np.float32),
                "action_mask": gymnasium.spaces.Box(0, 1, (2,), np.int8),
            }
        )
        self.action_space = gymnasium.spaces.Discrete(2)
        self.place = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Begin at a place from the seed."""
        self.steps = 0
        self.place = (seed or 0) % 100
        return {}, {}

    def advance(self, action: int) -> tuple[float, bool, bool]:
        """Move one place back or on."""
        self.steps += 1
        self.place += 1 if action else -1
        return float(action), False, self.steps >= self.max_steps_per_episode

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        """Write the place."""
        out["numbers"].fill(self.place / 1000)
        out["action_mask"].fill(1)

    def facts(self) -> Facts:
        """Return place and step."""
        return Facts(x=self.place, frames=self.steps, coarse_hash=self.place & 0xFFFF, fine_hash=self.place & 0xFFFF)


class TrivialPilot:
    """Pilot that takes both actions in turn.

    Args:
        environment: of the worker; not looked at.
    """

    def __init__(self, environment: Any) -> None:
        self._decisions = (Decision(0, "even", 1.0), Decision(1, "odd", 1.0))
        self._acts = 0

    def reset(self, seed: int) -> None:
        """Begin with an action from the seed."""
        self._acts = seed % 2

    def act(self, advice: Advice | None) -> Decision:
        """Return the other action."""
        self._acts ^= 1
        return self._decisions[self._acts]

    def save_state(self) -> dict[str, Any]:
        """Return the latest action."""
        return {"acts": self._acts}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`save_state`."""
        self._acts = state["acts"]


class TrivialPlugin:
    """Plugin that registers both."""

    @hookimpl
    def pkmn_register_environments(self, register: Any) -> None:
        """Register the environment."""
        register("trivial", Trivial, help="costs nothing")

    @hookimpl
    def pkmn_register_pilots(self, register: Any) -> None:
        """Register the pilot."""
        register("trivial", TrivialPilot, help="costs nothing")
