"""Twelve kinds of environments, each as small as its kind allows: ``gym:support.toy_environments:ID``.

In most of them each observation shows which action is wanted next, and the wanted one earns a point.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from pkmncli.api import FlatActions

ROUNDS = 12
BITS = 12
SIDE = 84

Step = tuple[Any, float, bool, bool, dict[str, Any]]


class Wanted(gymnasium.Env[Any, Any]):
    """Base of games of some rounds: the seed decides which action is wanted in each. It reports no success."""

    observation_space: gymnasium.Space[Any] = spaces.Box(0, 1, (BITS,), np.float32)
    point: ClassVar[float] = 1.0

    def __init__(self) -> None:
        self.flat = FlatActions.of(self.action_space)
        self.round = self.wanted = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.round = 0
        self._next()
        return self.seen(), self.info()

    def step(self, action: Any) -> Step:
        if not self.action_space.contains(action):
            raise ValueError(f"{action!r} is not in {self.action_space}")
        reward = self.point * (self.flat.number(action) == self.wanted)
        self.round += 1
        self._next()
        return self.seen(), reward, self.round == ROUNDS, False, self.info()

    def _next(self) -> None:
        self.wanted = int(self.np_random.integers(self.flat.count))

    def seen(self) -> Any:
        return self.bits()

    def bits(self) -> NDArray[np.float32]:
        return np.array([self.wanted >> bit & 1 for bit in range(BITS)], np.float32)

    def info(self) -> dict[str, Any]:
        return {}


class Line(gymnasium.Env[Any, Any]):
    """A line of six tiles: 3 actions, a vector; success at the right end, with metrics, both in ``info``."""

    observation_space = spaces.Box(0, 6, (1,), np.float32)
    action_space = spaces.Discrete(3)

    def __init__(self, step_s: float = 0.0) -> None:
        self.step_s = step_s
        self.place = self.moves = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.moves = int(self.np_random.integers(1, 4)), 0
        return np.array([self.place], np.float32), {}

    def step(self, action: Any) -> Step:
        time.sleep(self.step_s)
        self.place += int(action) - 1
        self.moves += action != 1
        arrived = self.place == 6
        info = {"success": arrived, "metrics": {"place": self.place, "moves": self.moves}}
        return np.array([self.place], np.float32), float(arrived), self.place in (0, 6), False, info


class Shifted(Wanted):
    """Actions from -2 to 2, and a million for the wanted one."""

    action_space = spaces.Discrete(5, start=-2)
    point = 1e6


class Hundreds(Wanted):
    """500 actions, of which half are allowed; a forbidden one is an error. The mask is in ``info``."""

    action_space = spaces.Discrete(500)

    def info(self) -> dict[str, Any]:
        return {"action_mask": (np.arange(500) % 2 == self.wanted % 2).astype(np.int8)}

    def step(self, action: Any) -> Step:
        if action % 2 != self.wanted % 2:
            raise ValueError(f"the action {action} is forbidden")
        return super().step(action)


class Thousands(Wanted):
    """4,096 actions, of which ``action_masks()`` allows a quarter; a forbidden one is an error. Its state is kept."""

    action_space = spaces.Discrete(4096)

    def action_masks(self) -> NDArray[np.bool_]:
        return np.asarray(np.arange(4096) % 4 == self.wanted % 4)

    def step(self, action: Any) -> Step:
        if action % 4 != self.wanted % 4:
            raise ValueError(f"the action {action} is forbidden")
        return super().step(action)

    def save_state(self) -> dict[str, Any]:
        return {"round": self.round, "wanted": self.wanted, "random": self.np_random}

    def load_state(self, state: dict[str, Any]) -> None:
        self.round, self.wanted, self.np_random = state["round"], state["wanted"], state["random"]


class Pairs(Wanted):
    """Actions of two components, with names."""

    action_space = spaces.MultiDiscrete([4, 6])
    action_names = (("north", "east", "south", "west"), ("one", "two", "three", "four", "five", "six"))


class Switches(Wanted):
    """Actions of six bits."""

    action_space = spaces.MultiBinary(6)


class Nested(Wanted):
    """An observation of Dict in Dict and Tuple."""

    action_space = spaces.Discrete(4)
    observation_space = spaces.Dict(
        me=spaces.Dict(bits=spaces.Box(0, 1, (BITS,), np.float32), flags=spaces.MultiBinary(3)),
        around=spaces.Tuple((spaces.Discrete(4), spaces.MultiDiscrete([4, 4]))),
    )

    def seen(self) -> Any:
        me = {"bits": self.bits(), "flags": np.ones(3, np.int8)}
        return {"me": me, "around": (self.wanted, np.array([self.wanted, 3 - self.wanted]))}


class Rooms(Wanted):
    """An observation that is one number."""

    action_space = spaces.Discrete(4)
    observation_space = spaces.Discrete(4)

    def seen(self) -> int:
        return self.wanted


class Pictures(Wanted):
    """A grey picture of 84 by 84 pixels, in which a bright square moves from round to round."""

    action_space = spaces.Discrete(6)
    observation_space = spaces.Box(0, 255, (SIDE, SIDE, 1), np.uint8)
    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 15}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__()
        self.render_mode = render_mode

    def seen(self) -> NDArray[np.uint8]:
        picture = np.zeros((SIDE, SIDE, 1), np.uint8)
        row, column = 6 * self.round, 14 * self.wanted
        picture[row : row + 12, column : column + 12] = 255
        return picture

    def render(self) -> NDArray[np.uint8]:  # type: ignore[override]
        return np.repeat(self.seen(), 3, axis=2)


class Words(Wanted):
    """A text beside numbers, which only the state in words shows."""

    action_space = spaces.Discrete(4)
    observation_space = spaces.Dict(bits=spaces.Box(0, 1, (BITS,), np.float32), mission=spaces.Text(30))

    def seen(self) -> Any:
        return {"bits": self.bits(), "mission": f"choose {self.wanted}"}


class Trap(Wanted):
    """A game that can only be lost: a wrong action after the third round ends it, as a failure."""

    action_space = spaces.Discrete(3)

    def step(self, action: Any) -> Step:
        lost = self.round >= 3 and action != self.wanted
        seen, reward, _, _, info = super().step(action)
        return seen, reward - lost, lost, self.round == ROUNDS, info

    def info(self) -> dict[str, Any]:
        return {"is_success": False}


@dataclass(frozen=True)
class Kind:
    """Environment, and how it is trained.

    Attributes:
        env: value of ``--env``.
        options: further options of ``pkmn train``.
        actions: number of its actions.
        success: True if it reports whether an episode is a success.
        metrics: names of its metrics.
    """

    env: str
    options: tuple[str, ...]
    actions: int
    success: bool = False
    metrics: tuple[str, ...] = ()


DQN = ("--rl=dqn", "--set=dqn.learning_starts=40", "--set=dqn.batch_size=8")
PPO = ("--rl=ppo", "--set=ppo.n_steps=20", "--set=ppo.batch_size=10")
A2C = ("--rl=a2c",)
POLE = ("--env-arg=sutton_barto_reward=true", "--max-steps-per-episode=60")

KINDS = {
    "vector": Kind("Line", DQN, 3, success=True, metrics=("moves", "place")),
    "shifted": Kind("Shifted", (*PPO, "--envs=2", "--set=ppo.normalize_rewards=true"), 5),
    "masked": Kind("Hundreds", DQN, 500),
    "thousands": Kind("Thousands", (*DQN, "--envs=2"), 4096),
    "pairs": Kind("Pairs", PPO, 24),
    "switches": Kind("Switches", (*A2C, "--envs=2"), 64),
    "nested": Kind("Nested", (*DQN, "--set=dqn.normalize_observations=true"), 4),
    "rooms": Kind("Rooms", A2C, 4),
    "pictures": Kind("Pictures", (*DQN, "--set=env.stack=4"), 6),
    "words": Kind("Words", (*PPO, "--envs=2"), 4),
    "trap": Kind("Trap", (*DQN, "--envs=2"), 3, success=True),
    "pole": Kind("gym:CartPole-v1", (*PPO, *POLE), 2),
}

for _kind in (Line, Shifted, Hundreds, Thousands, Pairs, Switches, Nested, Rooms, Pictures, Words, Trap):
    gymnasium.register(f"{_kind.__name__}-v0", f"{__name__}:{_kind.__name__}", max_episode_steps=30)


def training_of(name: str) -> list[str]:
    """Return the options of a training with one kind."""
    kind = KINDS[name]
    env = kind.env if ":" in kind.env else f"gym:{__name__}:{kind.env}-v0"
    return [f"--env={env}", *kind.options, "--seed=3", "--no-film"]
