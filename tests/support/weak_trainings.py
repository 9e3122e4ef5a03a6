"""Two small games with pilots, for trainings with a planted weakness: a plugin that a test registers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pydantic import BaseModel

from pkmncli import hookimpl
from pkmncli.api import Advice, BaseEnvironment, Context, Decision, Facts, Register

ACTIONS = 4
PAYS = (2, 0, 3, 1)
"""Action that earns a point in each hall."""

KEYS = 4
"""Right actions in a row that open a locked room."""

OPEN_STEPS = 50
"""Steps that a room stays open."""


class HallsSettings(BaseModel):
    """Settings of ``halls``."""

    dark: bool = False
    """True if observations do not show the hall; words do."""


class Halls(BaseEnvironment):
    """Four halls in any order. In each another action earns a point, always the same one."""

    max_steps_per_episode = 40
    constants: ClassVar[tuple[str, ...]] = ("dark",)

    def __init__(self, settings: HallsSettings) -> None:
        self.dark = settings.dark
        self.observation_space = spaces.Dict(hall=spaces.Box(0, 1, (len(PAYS),), np.float32))
        self.action_space = spaces.Discrete(ACTIONS)
        self.hall = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.hall = int(self.np_random.integers(len(PAYS)))
        return self.observation(), {}

    def advance(self, action: int) -> tuple[float, bool, bool]:
        reward = float(action == PAYS[self.hall])
        self.steps += 1
        self.hall = int(self.np_random.integers(len(PAYS)))
        return reward, False, self.steps >= self.max_steps_per_episode

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        out["hall"][:] = 0 if self.dark else np.arange(len(PAYS)) == self.hall

    def facts(self) -> Facts:
        return super().facts()._replace(map_id=0 if self.dark else self.hall)

    @property
    def names(self) -> Mapping[str, Any]:
        maps = {} if self.dark else {hall: f"hall {hall}" for hall in range(len(PAYS))}
        return {"game": "Halls", "maps": maps}

    def context(self) -> Context:
        return Context("earn points", f"You are in hall {self.hall}.")


class LocksSettings(BaseModel):
    """Settings of ``locks``."""

    pilots: ClassVar[tuple[str, ...]] = ("locksmith", "stubborn")


class Locks(BaseEnvironment):
    """A room that shows which action earns a point, until it is locked; the right keys are not shown."""

    max_steps_per_episode = 400

    def __init__(self, settings: LocksSettings) -> None:
        self.observation_space = spaces.Dict(wanted=spaces.Box(0, 1, (ACTIONS,), np.float32))
        self.action_space = spaces.Discrete(ACTIONS)
        self.wanted = self.keys = self.open_steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.keys, self.open_steps = 0, 0
        self._draw()
        return self.observation(), {}

    def advance(self, action: int) -> tuple[float, bool, bool]:
        right = action == self.wanted
        reward = float(right and not self.keys)
        self.steps += 1
        if self.keys:
            self.keys, self.open_steps = self.keys - 1 if right else KEYS, 0
        else:
            self.open_steps += 1
            self.keys = KEYS if self.open_steps == OPEN_STEPS else 0
        self._draw()
        return reward, False, self.steps >= self.max_steps_per_episode

    def _draw(self) -> None:
        self.wanted = int(self.np_random.integers(ACTIONS))

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        out["wanted"][:] = 0 if self.keys else np.arange(ACTIONS) == self.wanted


class Locksmith:
    """Pilot that opens every lock; elsewhere it is right in half of the steps."""

    def __init__(self, environment: Any, settings: Any = None) -> None:
        self.game: Locks = environment
        self.seed = 0

    def reset(self, seed: int) -> None:
        self.seed = seed

    def act(self, advice: Advice | None) -> Decision:
        lucky = np.random.default_rng((self.seed, self.game.steps)).random() < 0.5
        return Decision(self.game.wanted if self.game.keys or lucky else 0, "as it knows", 0.3)

    def save_state(self) -> dict[str, Any]:
        return {"seed": self.seed}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.seed = state["seed"]


class Stubborn(Locksmith):
    """Pilot that tries the same key again and again."""

    def act(self, advice: Advice | None) -> Decision:
        return Decision(0, "always", 0.3) if self.game.keys else super().act(advice)


class Plugin:
    """Registration of both games and their pilots."""

    @hookimpl
    def pkmn_register_environments(self, register: Register) -> None:
        register("halls", f"{__name__}:Halls", config=f"{__name__}:HallsSettings", help="four halls")
        register("locks", f"{__name__}:Locks", config=f"{__name__}:LocksSettings", help="rooms that are locked")

    @hookimpl
    def pkmn_register_pilots(self, register: Register) -> None:
        register("locksmith", f"{__name__}:Locksmith", help="opens every lock")
        register("stubborn", f"{__name__}:Stubborn", help="opens none")
