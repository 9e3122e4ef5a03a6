"""A third party's game with any number of actions: the wanted one earns a point, and a forbidden one is an error."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from pkmncli.api import Context, Facts, FlatActions

PLUGIN = """
from pkmncli import hookimpl

@hookimpl
def pkmn_register_environments(register):
    register("cards", "support.card_game:Cards", config="support.card_game:CardSettings", help="a card game")
"""

BITS = 13


class CardSettings(BaseModel):
    """Settings of the card game."""

    model_config = ConfigDict(extra="forbid")

    pilots: ClassVar[tuple[str, ...]] = ()
    actions: int = 500
    kind: Literal["discrete", "from_five", "multi", "binary"] = "discrete"
    masked: bool = True
    rounds: int = 12
    step_s: float = 0.0
    max_steps_per_episode: int = 100


def space_of(settings: CardSettings) -> gymnasium.Space[Any]:
    """Return an action space; a multi-discrete one has a multiple of 10 actions, a binary one a power of 2."""
    if settings.kind == "multi":
        return gymnasium.spaces.MultiDiscrete([10, settings.actions // 10])
    if settings.kind == "binary":
        return gymnasium.spaces.MultiBinary(settings.actions.bit_length() - 1)
    return gymnasium.spaces.Discrete(settings.actions, start=5 if settings.kind == "from_five" else 0)


class Cards:
    """Game of a few rounds. Even or odd actions are allowed, and the observation has the bits of the wanted one."""

    metadata: Mapping[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}
    phase_names = ("draw", "discard")
    milestone_names: tuple[str, ...] = ()
    names: Mapping[str, Any] = {"game": "Cards"}

    def __init__(self, settings: CardSettings | None = None) -> None:
        self.settings = settings or CardSettings()
        self.action_space = space_of(self.settings)
        self._flat = FlatActions.of(self.action_space)
        self.max_steps_per_episode = self.settings.max_steps_per_episode
        self.observation_space = gymnasium.spaces.Dict({"bits": gymnasium.spaces.Box(0, 1, (BITS,), np.float32)})
        if self.settings.masked:
            count = self._flat.count
            self.observation_space["action_mask"] = gymnasium.spaces.Box(0, 1, (count,), np.int8)
        self.reset(seed=0)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        self._random = random.Random(seed)
        self.round = 0
        self.wanted = self._random.randrange(self._flat.count)
        self.pressed: Any = self._flat.action(0)
        return self._observation(), {}

    def advance(self, action: Any) -> tuple[float, bool, bool]:
        if not self.action_space.contains(action):
            raise ValueError(f"{action!r} is no action of {self.action_space}")
        number = self._flat.number(action)
        if self.settings.masked and number % 2 != self.wanted % 2:
            raise ValueError(f"the action {number} is not allowed")
        if self.round == self.settings.rounds:
            raise ValueError("the game is over")
        time.sleep(self.settings.step_s)
        reward = float(number == self.wanted)
        self.round += 1
        self.pressed = action
        self.wanted = self._random.randrange(self._flat.count)
        return reward, self.round == self.settings.rounds, False

    def step(self, action: Any) -> tuple[dict[str, NDArray[Any]], float, bool, bool, dict[str, Any]]:
        reward, terminated, truncated = self.advance(action)
        return self._observation(), reward, terminated, truncated, {}

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        out["bits"][...] = [self.wanted >> bit & 1 for bit in range(BITS)]
        if self.settings.masked:
            out["action_mask"][...] = np.arange(self._flat.count) % 2 == self.wanted % 2

    def facts(self) -> Facts:
        state = 1 + self.wanted + 100_000 * self.round
        return Facts(1, 300 + self.round, -5, self.round % 2, 0, 100_000, 1.0, 0, self.round, state, state)

    def memory_hash(self) -> int:
        return 1 + self.wanted

    def milestone_steps(self) -> list[int]:
        return []

    def context(self) -> Context:
        return Context("win", f"round {self.round}")

    def render(self) -> NDArray[np.uint8]:
        return np.full((32, 48, 3), self.round, np.uint8)

    def save_state(self) -> bytes:
        pressed = self._flat.number(self.pressed)
        return json.dumps([self.round, self.wanted, pressed, self._random.getstate()]).encode()

    def load_state(self, state: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        self.round, self.wanted, pressed, (version, words, gauss) = json.loads(state)
        self.pressed = self._flat.action(pressed)
        self._random.setstate((version, tuple(words), gauss))
        return self._observation(), {}

    def close(self) -> None:
        pass

    def _observation(self) -> dict[str, NDArray[Any]]:
        out = {name: np.zeros(space.shape or (), space.dtype) for name, space in self.observation_space.items()}
        self.write_observation(out)
        return out


class WronglyMasked(Cards):
    """Its mask lacks the last action."""

    def __init__(self, settings: CardSettings | None = None) -> None:
        super().__init__(settings)
        self.observation_space["action_mask"] = gymnasium.spaces.Box(0, 1, (self._flat.count - 1,), np.int8)

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        out["bits"][...] = 0
        out["action_mask"][...] = 1
