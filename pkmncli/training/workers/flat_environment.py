"""An environment as the workers step it: actions are numbers from 0, and the observation has a mask of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np

from pkmncli.api.actions import MASK, FlatActions
from pkmncli.errors import EnvironmentSetupError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.api import Environment


def flattened(environment: Environment) -> Environment:
    """Return an environment whose actions are numbers from 0 and whose observation has a mask of them.

    It is the given one if that is so already. Other members are the given environment's own.

    Raises:
        EnvironmentSetupError: its actions cannot be numbered, or its observation is no dictionary.
    """
    flat = FlatActions.of(environment.action_space)
    space: Any = environment.observation_space
    if not isinstance(space, gymnasium.spaces.Dict):
        raise EnvironmentSetupError(f"the observation space {space} is no Dict of arrays")
    if flat.trivial and MASK in space.spaces and space[MASK].shape == (flat.count,):
        return environment
    return cast("Environment", FlatEnvironment(environment, flat))


class FlatEnvironment:
    """View of an environment with flat actions and a mask.

    Args:
        environment: the environment; its mask, if it has one, is as :meth:`pkmncli.api.FlatActions.mask` reads it.
        flat: numbers of its actions.
    """

    def __init__(self, environment: Environment, flat: FlatActions) -> None:
        self._environment = environment
        self._flat = flat
        own = environment.observation_space.spaces
        mask = gymnasium.spaces.Box(0, 1, (flat.count,), np.int8)
        self.action_space = flat.space
        self.observation_space = gymnasium.spaces.Dict({**own, MASK: mask})
        self.action_names = flat.declared_names(getattr(environment, "action_names", None))
        self._own_mask: NDArray[Any] | None = None
        if MASK in own:
            self._own_mask = np.zeros(own[MASK].shape or (), own[MASK].dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._environment, name)

    @property
    def pressed(self) -> int:
        """Number of the action that the latest step carried out."""
        environment: Any = self._environment
        return 0 if self._flat.dimensions else self._flat.number(environment.pressed)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Begin an episode."""
        observation, info = self._environment.reset(seed=seed, options=options)
        return self._masked(observation), info

    def step(
        self, action: int | NDArray[np.float32]
    ) -> tuple[dict[str, NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Take the action with a number, or continuous controls (dimensions,)."""
        observation, reward, terminated, truncated, info = self._environment.step(self._flat.action(action))
        return self._masked(observation), reward, terminated, truncated, info

    def advance(self, action: int | NDArray[np.float32]) -> tuple[float, bool, bool]:
        """Take the action with a number, without an observation."""
        return self._environment.advance(self._flat.action(action))

    def load_state(self, state: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Resume from a saved state."""
        observation, info = self._environment.load_state(state)
        return self._masked(observation), info

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        """Write the observation with its mask."""
        if self._own_mask is None:
            self._environment.write_observation({name: array for name, array in out.items() if name != MASK})
            out[MASK][...] = 1
        else:
            self._environment.write_observation({**out, MASK: self._own_mask})
            out[MASK][...] = self._flat.mask(self._own_mask)

    def _masked(self, observation: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        mask = self._flat.mask(observation[MASK]) if MASK in observation else np.ones(self._flat.count, np.int8)
        return {**observation, MASK: mask}
