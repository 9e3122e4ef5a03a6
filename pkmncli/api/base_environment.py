"""Base class of environments: defaults for all that training needs beside the steps and observations."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
import numpy as np

from pkmncli.api.decisions import Facts
from pkmncli.api.environments import DEFAULT_RENDER_FPS, Context
from pkmncli.api.plain_state import attributes_from_bytes, attributes_to_bytes
from pkmncli.api.spaces import blank_observation
from pkmncli.errors import EnvironmentSetupError

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULT_EPISODE_STEPS = 10_000
"""Steps after which an episode is truncated where nothing else says so."""

_NO_STATE = frozenset({"observation_space", "action_space", "spec", "metadata", "render_mode", "settings"})
"""Attributes that no step changes."""


class BaseEnvironment(gymnasium.Env[dict[str, "NDArray[Any]"], int]):
    """Environment with defaults for everything except its steps and observations.

    A subclass sets ``observation_space``, a Dict, and ``action_space``, and writes
    :meth:`advance`, :meth:`write_observation` and ``reset``, which begins with ``super().reset(seed=seed)``. It may
    override the rest, and have any member of :class:`pkmncli.api.OptionalEnvironment`.

    A plain Gymnasium environment, with ``reset`` and ``step``, needs none of this: see docs/environments.md.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": DEFAULT_RENDER_FPS}  # type: ignore[misc]
    observation_space: gymnasium.spaces.Dict  # type: ignore[assignment]
    max_steps_per_episode: int = DEFAULT_EPISODE_STEPS
    """Steps after which :meth:`advance` truncates an episode."""
    phase_names: Sequence[str] = ("playing",)
    milestone_names: Sequence[str] = ()
    constants: ClassVar[Sequence[str]] = ()
    """Attributes that no step and no reset changes. :meth:`save_state` leaves them out."""
    steps: int = 0
    """Steps of the running episode; :meth:`advance` counts them."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Seed ``np_random`` and set :attr:`steps` to 0. A subclass begins the episode then."""
        super().reset(seed=seed, options=options)
        self.steps = 0
        return {}, {}

    def advance(self, action: int) -> tuple[float, bool, bool]:
        """Take one action, and add 1 to :attr:`steps`. Return (reward, terminated, truncated)."""
        raise NotImplementedError(f"{type(self).__name__} has neither advance() nor step()")

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        """Write the observation into arrays of the space's shapes and dtypes."""
        raise NotImplementedError(f"{type(self).__name__} has no write_observation()")

    def step(self, action: int) -> tuple[dict[str, NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Take one action. Return (observation, reward, terminated, truncated, info)."""
        reward, terminated, truncated = self.advance(action)
        return self.observation(), reward, terminated, truncated, {}

    def observation(self) -> dict[str, NDArray[Any]]:
        """Return the observation of the latest step or reset, in new arrays."""
        out = blank_observation(self.observation_space)
        self.write_observation(out)
        return out

    @property
    def names(self) -> Mapping[str, Any]:
        """Names for people; by default the class is the game's title."""
        return {"game": type(self).__name__}

    @property
    def frames_per_second(self) -> float:
        """Pictures that are one second of play: ``render_fps`` of the metadata."""
        return float(self.metadata.get("render_fps") or DEFAULT_RENDER_FPS)

    def facts(self) -> Facts:
        """Return the state after the latest reset or step: steps as frames, and a hash of the observation."""
        reached = sum(step >= 0 for step in self.milestone_steps())
        digest = hash_of_observation(self.observation())
        return Facts(milestones=reached, frames=self.steps, coarse_hash=digest, fine_hash=digest)

    def memory_hash(self) -> int:
        """Return the hash that a replay compares at the end of an episode; by default that of :meth:`facts`."""
        return self.facts().fine_hash

    def milestone_steps(self) -> list[int]:
        """Return for each milestone the step that reached it, -1 if not yet. With milestones, override it."""
        return [-1] * len(self.milestone_names)

    def context(self) -> Context:
        """Return the state in words."""
        return Context(current_goal="", context_summary=f"{self.names['game']}, step {self.steps}.")

    def save_state(self) -> bytes:
        """Return the attributes of the instance, without :attr:`constants` and spaces, as bytes.

        An object that two attributes share, such as a random generator, is restored as the same object.

        Raises:
            EnvironmentSetupError: an attribute is no plain value, or an array that shares memory with another one.
        """
        left_out = _NO_STATE.union(self.constants)
        kept = {
            name: value
            for name, value in vars(self).items()
            if name not in left_out and not isinstance(value, gymnasium.Space)
        }
        try:
            return attributes_to_bytes(kept)
        except TypeError as error:
            name, reason = error.args
            raise EnvironmentSetupError(
                f"{type(self).__name__}.{name} cannot be saved ({reason}): override save_state() and load_state(), "
                "or name it in `constants` if no step changes it"
            ) from None

    def load_state(self, state: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Resume from a saved state. Return as :meth:`reset` does.

        Raises:
            EnvironmentSetupError: the state is damaged, or of another environment.
        """
        try:
            found = attributes_from_bytes(state)
        except (ValueError, TypeError, KeyError) as error:
            raise EnvironmentSetupError(f"the state is none of {type(self).__name__}: {error}") from None
        for name, value in found.items():
            setattr(self, name, value)
        return self.observation(), {}


def hash_of_observation(observation: Mapping[str, Any]) -> int:
    """Return a 64-bit hash of arrays by name (BLAKE2b), also nested, the same in every process."""
    digest = hashlib.blake2b(digest_size=8)
    _feed(digest, observation)
    return int.from_bytes(digest.digest(), "little")


def _feed(digest: Any, observation: Mapping[str, Any]) -> None:
    for name in sorted(observation):
        value = observation[name]
        if isinstance(value, Mapping):
            _feed(digest, value)
        else:
            digest.update(np.ascontiguousarray(value).tobytes())
