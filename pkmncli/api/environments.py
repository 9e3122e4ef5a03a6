"""Contracts of environments, and of the pilots and rewards in their process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from pkmncli.api.decisions import Advice, Decision, Facts

if TYPE_CHECKING:
    import gymnasium
    from numpy.typing import NDArray


DangerLevel = Literal["", "none", "low", "high", "critical"]

DEFAULT_RENDER_FPS = 30
"""Pictures per second of an environment whose metadata have no ``render_fps``."""


@dataclass(frozen=True, slots=True)
class Start:
    """Start of an episode. ``state`` is a saved start state; None for the game's own start."""

    seed: int
    state: bytes | None = None


class MilestoneSplit(NamedTuple):
    """Step and emulated frame of the episode at which a milestone was reached; both 0 at the episode's start."""

    name: str
    step: int
    frame: int


@dataclass(frozen=True, slots=True)
class Context:
    """State in words, for language models, logs and people.

    ``changes`` are the changes since the previous context; ``milestones`` are those reached in this episode, in order.
    """

    current_goal: str
    context_summary: str
    action_suggestions: tuple[str, ...] = ()
    text_map: str = ""
    danger: DangerLevel = ""
    changes: tuple[str, ...] = ()
    milestones: tuple[MilestoneSplit, ...] = ()


@runtime_checkable
class Environment(Protocol):
    """Gymnasium environment with the methods that training, advice and exact resume need.

    ``reset(seed=..., options={"start_state": bytes})`` and ``step`` are Gymnasium's. Observations are a
    dictionary of arrays. One of them may be ``action_mask`` int8 (n,), 1 = allowed; without it every action is allowed.
    After :meth:`save_state` and :meth:`load_state`, an episode continues exactly as if it had never been saved.

    Actions may be of any Discrete, MultiDiscrete or MultiBinary space. Learners, pilots and records see their numbers
    in :class:`pkmncli.api.FlatActions`; the environment gets actions of its space.

    Optional members are in :class:`pkmncli.api.OptionalEnvironment`. :class:`pkmncli.api.BaseEnvironment` has
    defaults, and :class:`pkmncli.api.GymnasiumEnvironment` adapts any :class:`gymnasium.Env`.
    """

    observation_space: gymnasium.spaces.Dict
    action_space: gymnasium.Space[Any]
    max_steps_per_episode: int
    """Steps after which an episode is truncated."""
    phase_names: Sequence[str]
    milestone_names: Sequence[str]
    names: Mapping[str, Any]
    """Names for people: ``game``, the title; ``about``, the kind of game in a few words, for prompts; names by number,
    such as ``maps``, ``species`` and ``battles``; ``milestone_titles``, by milestone.
    """

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Begin an episode; the same seed begins the same episode. Return (observation, info)."""
        ...

    def step(self, action: Any) -> tuple[dict[str, NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Take one action. Return (observation, reward, terminated, truncated, info)."""
        ...

    def advance(self, action: Any) -> tuple[float, bool, bool]:
        """Take one action without an observation. Return (reward, terminated, truncated)."""
        ...

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        """Write the observation into arrays of the space's shapes and dtypes, such as shared memory."""
        ...

    def facts(self) -> Facts:
        """Return the state after the latest reset or step."""
        ...

    def memory_hash(self) -> int:
        """Return a 64-bit hash of the whole memory, to check a replay. It may cost more than a few microseconds."""
        ...

    def milestone_steps(self) -> list[int]:
        """Return for each milestone the step of this episode at which it was reached, 0 at its start, -1 if not yet."""
        ...

    def context(self) -> Context:
        """Return the state in words."""
        ...

    def render(self) -> Any:
        """Return the picture, uint8 (height, width, 3); None unless the environment was built to draw. Gymnasium's."""
        ...

    def save_state(self) -> bytes:
        """Return the whole state: of the game, the episode and the rewards."""
        ...

    def load_state(self, state: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Resume from a saved state. Return as :meth:`reset` does. Raise EnvironmentSetupError if it does not fit."""
        ...

    def close(self) -> None:
        """Release what the environment holds, without writing anything."""
        ...


class Pilot(Protocol):
    """Player of one kind of environment by rules, in the environment's process.

    Built with the environment and the pilot's settings. ``act`` returns only actions that the mask allows. The pilot's
    memory passes through ``save_state`` as plain values (JSON), so that a resumed run continues exactly.

    Optional members are in :class:`pkmncli.api.OptionalPilot`.
    """

    def reset(self, seed: int) -> None:
        """Begin an episode. All random choices derive from ``seed``."""
        ...

    def act(self, advice: Advice | None) -> Decision:
        """Return the next action. Called once a step, whoever decided the step before."""
        ...

    def save_state(self) -> dict[str, Any]:
        """Return the memory as plain values."""
        ...

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`save_state`."""
        ...


class Reward(Protocol):
    """Part of the reward. ``state`` is the environment's typed state; parts have names and are added up.

    Optional members are in :class:`pkmncli.api.OptionalReward`.
    """

    def reset(self, state: Any) -> None:
        """Begin an episode in ``state``."""
        ...

    def score(self, previous: Any, action: int, state: Any) -> Mapping[str, float]:
        """Return the reward of the step from ``previous`` to ``state``, by part."""
        ...

    def save_state(self) -> dict[str, Any]:
        """Return the memory as plain values (JSON)."""
        ...

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`save_state`."""
        ...
