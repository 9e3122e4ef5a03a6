"""The latest observations of an environment as one: each Box of the space has a new first axis, oldest first."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np

from pkmncli.api import BitPlanes
from pkmncli.api.actions import MASK
from pkmncli.api.spaces import array_members, blank_observation, part_at
from pkmncli.errors import EnvironmentSetupError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.api import Environment

_HEADER = struct.Struct("<8s?Q")
"""Beginning of a saved state: a mark, whether no step was taken yet, bytes of the frames that follow."""
_MARK = b"\x93frames\x01"


def stacked(environment: Environment, count: int) -> Environment:
    """Return an environment that shows its latest ``count`` observations; the given one for 1.

    Raises:
        EnvironmentSetupError: no part of its observation is a Box.
    """
    return environment if count == 1 else cast("Environment", StackedEnvironment(environment, count))


def unstacked_state(state: bytes) -> bytes:
    """Return the environment's own saved state from one of :class:`StackedEnvironment`; any other one as it is."""
    if not state.startswith(_MARK):
        return state
    _mark, _fresh, size = _HEADER.unpack_from(state)
    return state[_HEADER.size + size :]


class StackedEnvironment:
    """View of an environment with its latest observations in one. Other members are the environment's own.

    The mask, maps of bits and whatever is no Box are not stacked. A reset fills all places with the first observation.
    The latest place always shows the present state, as the pilot's goal may change between two steps.

    Args:
        environment: the environment.
        count: number of observations, at least 2.
    """

    def __init__(self, environment: Environment, count: int) -> None:
        self._environment = environment
        self._members = array_members(environment.observation_space)
        self._seen = blank_observation(environment.observation_space)  # as the environment writes it
        self._frames: dict[tuple[str, ...], NDArray[Any]] = {}
        self._fresh = True  # no step was taken since the reset
        self._missing = False  # the present observation is not among the frames yet
        self.observation_space = self._stacked(environment.observation_space, count)
        if not self._frames:
            raise EnvironmentSetupError(f"stack = {count}: the observation of the environment has no Box to stack")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._environment, name)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode."""
        if options and options.get("start_state"):
            options = {**options, "start_state": unstacked_state(options["start_state"])}
        _, info = self._environment.reset(seed=seed, options=options)
        self._fresh, self._missing = True, False
        return self._observation(), info

    def step(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Take one action."""
        self._look_before_a_step()
        _, reward, terminated, truncated, info = self._environment.step(action)
        self._fresh, self._missing = False, True
        return self._observation(), reward, terminated, truncated, info

    def advance(self, action: int) -> tuple[float, bool, bool]:
        """Take one action without an observation."""
        self._look_before_a_step()
        result = self._environment.advance(action)
        self._fresh, self._missing = False, True
        return result

    def write_observation(self, out: Mapping[str, Any]) -> None:
        """Write the latest observations into arrays of the space."""
        self._look()
        for path in self._members:
            found = self._frames.get(path)
            part_at(out, path)[...] = part_at(self._seen, path) if found is None else found

    def save_state(self) -> bytes:
        """Return the whole state: that of the environment, and the frames."""
        if self._missing:
            self._look()
        frames = b"".join(array.tobytes() for array in self._frames.values())
        return _HEADER.pack(_MARK, self._fresh, len(frames)) + frames + self._environment.save_state()

    def load_state(self, state: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
        """Resume from a saved state; one without frames fills all places with its observation.

        Raises:
            EnvironmentSetupError: its frames are of other shapes.
        """
        own = unstacked_state(state)
        _, info = self._environment.load_state(own)
        self._fresh, self._missing = True, False
        if own is not state:
            _mark, self._fresh, size = _HEADER.unpack_from(state)
            if size != sum(array.nbytes for array in self._frames.values()):
                raise EnvironmentSetupError("the saved frames are of another stack or environment")
            start = _HEADER.size
            for array in self._frames.values():
                array[...] = np.frombuffer(state, array.dtype, array.size, start).reshape(array.shape)
                start += array.nbytes
        return self._observation(), info

    def _stacked(self, space: gymnasium.spaces.Dict, count: int, outer: tuple[str, ...] = ()) -> gymnasium.spaces.Dict:
        """Make the frames of a space, of which ``outer`` is the path. Return the space of what is shown."""
        shown: dict[str, gymnasium.Space[Any]] = {}
        for key, member in space.spaces.items():
            path = (*outer, key)
            if isinstance(member, gymnasium.spaces.Dict):
                shown[key] = self._stacked(member, count, path)
            elif isinstance(member, gymnasium.spaces.Box) and not isinstance(member, BitPlanes) and path != (MASK,):
                low, high = (np.stack([bound] * count) for bound in (member.low, member.high))
                shown[key] = gymnasium.spaces.Box(low, high, dtype=cast(Any, member.dtype))
                self._frames[path] = np.zeros(low.shape, member.dtype)
            elif path in self._members:
                shown[key] = member
        return gymnasium.spaces.Dict(shown)

    def _look_before_a_step(self) -> None:
        """Keep the observation that the next step will leave behind."""
        if self._fresh or self._missing:
            self._look()

    def _look(self) -> None:
        """Let the frames end with the present observation."""
        self._environment.write_observation(self._seen)
        for path, frames in self._frames.items():
            if self._fresh:
                frames[...] = part_at(self._seen, path)
                continue
            if self._missing:
                frames[:-1] = frames[1:].copy()
            frames[-1] = part_at(self._seen, path)
        self._missing = False

    def _observation(self) -> dict[str, Any]:
        out = blank_observation(self.observation_space)
        self.write_observation(out)
        return out
