"""Environments, and what lives beside them in their process: pilots and rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from pkmncli.api.decisions import Advice, Decision, Facts

if TYPE_CHECKING:
    import gymnasium
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Start:
    """Where an episode begins. ``state`` is a saved start state; without one the game's own start is used."""

    seed: int
    state: bytes | None = None


class MilestoneSplit(NamedTuple):
    """When a milestone was reached: the step of the episode and its emulated frame, both 0 at the episode's start."""

    name: str
    step: int
    frame: int


@dataclass(frozen=True, slots=True)
class Context:
    """A state in words, for language models, logs and people.

    ``changes`` are what happened since the context before, ``danger`` is none, low, high or critical, ``milestones``
    those reached in this episode, in the order in which they were.
    """

    current_goal: str
    context_summary: str
    action_suggestions: tuple[str, ...] = ()
    text_map: str = ""
    danger: str = ""
    changes: tuple[str, ...] = ()
    milestones: tuple[MilestoneSplit, ...] = ()


@runtime_checkable
class Environment(Protocol):
    """A Gymnasium environment with what training, advice and exact resume need beside it.

    ``reset(seed=..., options={"start_state": bytes})`` and ``step`` are Gymnasium's. Observations are a
    dictionary of arrays; ``action_mask`` int8 (n,), 1 = allowed, is always among them. A state passed through
    :meth:`save_state` and :meth:`load_state` goes on exactly as if it had never been saved.

    It may also have ``reward_names``, the parts that its reward is made of, and ``write_reward_parts(out)``, which
    writes what each of them earned in the latest step into a float32 array, in that order; the rest of it is 0.
    It may also have ``view()``: the picture as people see it now, (height, width, 3) uint8, or None where none is
    drawn. Those who watch a training see it; without it they see the screen that the learner observes.
    It may have ``identity``, plain values by name that say what a recorded press depends on, such as the image's hash
    and the frames of an action: an episode recorded elsewhere plays again only where they are the same.
    It may have ``goal_name``, the milestone that ends an episode; ``situations``, parallel to ``phase_names``, a kind
    of situation for each phase: the learner takes over kind by kind; and ``guide(pilot)``, which is called once with
    the pilot that lives beside it, whose goals observations are to show from then on.
    And it may have ``progress()``: how far the running episode has got, as a few named numbers for people, such as
    ``{"badges": 2, "level": 14}``; ``steps_since_progress``, the steps since anything was new; ``milestone_frames()``,
    like ``milestone_steps()`` in emulated frames; and ``milestone_titles`` among its ``names``, by milestone.
    """

    observation_space: gymnasium.spaces.Dict
    action_space: gymnasium.spaces.Discrete
    max_steps_per_episode: int
    """Steps after which an episode is truncated."""
    phase_names: Sequence[str]
    milestone_names: Sequence[str]
    names: Mapping[str, Any]
    """Names of the game's numbers, for people: ``game`` a text; ``maps``, ``species`` and the like, by number."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Begins an episode; the same seed begins the same one. Returns (observation, info)."""
        ...

    def step(self, action: int) -> tuple[dict[str, NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Takes one action. Returns (observation, reward, terminated, truncated, info)."""
        ...

    def advance(self, action: int) -> tuple[float, bool, bool]:
        """A step without an observation. Returns (reward, terminated, truncated)."""
        ...

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        """Writes the observation into arrays of the space's shapes and dtypes, such as shared memory."""
        ...

    @property
    def pressed(self) -> int:
        """The action of the latest step as it was pressed. One that the mask forbids is not: NONE takes its place."""
        ...

    def facts(self) -> Facts:
        """The state after the latest reset or step."""
        ...

    def memory_hash(self) -> int:
        """A 64-bit hash of all work RAM, for checking a replay. Costs more than a few microseconds."""
        ...

    def milestone_steps(self) -> list[int]:
        """For each milestone the step of this episode at which it was reached, 0 at its start, -1 if not yet."""
        ...

    def context(self) -> Context:
        """The state in words."""
        ...

    def render(self) -> Any:
        """Gymnasium's: the picture, uint8 (height, width, 3), where the environment was built to draw any."""
        ...

    def save_state(self) -> bytes:
        """The whole state: the emulator's, the episode's and the rewards'."""
        ...

    def load_state(self, state: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Goes on from a saved state; returns what :meth:`reset` returns. Raises EmulatorError if it does not fit."""
        ...

    def close(self) -> None:
        """Ends the emulator, without writing anything."""
        ...


class Pilot(Protocol):
    """Plays one kind of environment by rules. It lives beside the environment, in its process.

    Built with the environment and the pilot's own settings. ``act`` must press only what the mask allows.
    What it remembers goes through ``save_state`` as plain values (JSON), so that a resumed run goes on exactly.

    It may also have ``reconsider(advice) -> Decision | None``: called where advice comes for a state in which ``act``
    has decided already, it decides again, or lets that decision stand. Without it advice begins one step later.

    It may also have ``reports() -> list``: asked after every step, it returns what it has to report of the running
    episode, such as where it stands when it gets nowhere, each report plain values (JSON) with its ``number`` in the
    episode, from 1. A report that has changed is returned again. A training keeps them in the run. `pkmn doctor --run`
    shows of each its ``words``, a list of lines; ``tried``, a list of ``{"remedy": name, "step": step}``; ``helped``,
    the name of what did. What ``act`` returns must not depend on whether it is asked.
    """

    def reset(self, seed: int) -> None:
        """An episode has begun. Whatever is drawn at random is drawn from ``seed``."""
        ...

    def act(self, advice: Advice | None) -> Decision:
        """What to press now. Called once a step, whether the step before was the pilot's or not."""
        ...

    def save_state(self) -> dict[str, Any]:
        """What it remembers, as plain values."""
        ...

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`save_state`."""
        ...


class Reward(Protocol):
    """A part of the reward. ``state`` is the environment's own typed state; parts are named and added up.

    It may also have ``PARTS``, the names of the parts that it may give, by which decisions are recorded: without it
    they are recorded as one; ``bind(environment)``, called once when the environment is complete; and
    ``finish(state) -> parts``, called where the goal, reached in ``state``, has ended the episode, and added to its
    last step.
    """

    def reset(self, state: Any) -> None:
        """An episode has begun in ``state``."""
        ...

    def score(self, previous: Any, action: int, state: Any) -> Mapping[str, float]:
        """What the step from ``previous`` to ``state`` is worth, by part."""
        ...

    def save_state(self) -> dict[str, Any]:
        """What it remembers, as plain values (JSON)."""
        ...

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`save_state`."""
        ...
