"""What a plugin author sees: the contracts between the core and its plugins, and the data that crosses them.

Nothing heavy is imported here, so that a plugin's registration module may import it freely.
A contract is a :class:`typing.Protocol`: a class satisfies it by having the methods, without inheriting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from pkmncli import version

if TYPE_CHECKING:
    import gymnasium
    import numpy as np
    from numpy.typing import NDArray

API_VERSION = version.API_VERSION
"""Version of these contracts. A plugin that asks for a newer one is reported and left out."""


PROVIDED: dict[str, Any] = {"provided": True}
"""Marks a field of an environment's settings, ``Field(..., json_schema_extra=PROVIDED)``, that the trainer fills in
from its own settings. Users find such a field among the trainer's settings only.
"""


class Action(IntEnum):
    """The nine actions of every Game Boy environment, in the order of the action mask."""

    A = 0
    B = 1
    START = 2
    SELECT = 3
    UP = 4
    DOWN = 5
    LEFT = 6
    RIGHT = 7
    NONE = 8


PILOT_ACTS = -1
"""Sent to a worker in place of an action: the environment's pilot decides this step."""


class Source(IntEnum):
    """Who decided a step. Stored as a number in records, shown by its lower-case name."""

    RL = 0
    EXPLORE = 1
    RULE = 2
    LLM = 3


class Facts(NamedTuple):
    """What an environment says about its state after a step, as plain numbers.

    Every field is defined by the environment; 0 where it has nothing to say. ``map_id`` identifies a map
    (for Game Boy games group * 256 + number), ``x`` and ``y`` a tile on it, ``phase`` a kind of situation whose
    names the environment lists in :attr:`Environment.phase_names`, ``battle`` 0 when there is none,
    ``opponent`` a species, ``health`` the party's share of hit points (0..1), ``milestones`` how many of the
    game's goals were reached in this episode, ``frames`` emulated frames since the episode began.
    ``coarse_hash`` covers place and phase, ``fine_hash`` all that a decision could depend on; both are 64-bit and
    the same in every process.
    """

    map_id: int
    x: int
    y: int
    phase: int
    battle: int
    opponent: int
    health: float
    milestones: int
    frames: int
    coarse_hash: int
    fine_hash: int


REASON_BYTES = 64
"""A pilot's reason is kept in UTF-8 and cut to this many bytes."""

STEP_RECORD: tuple[tuple[str, str], ...] = (
    # numpy field formats of one environment's record of one step, in shared memory
    ("episode", "u4"),  # of this environment, from 0
    ("step", "u4"),  # within the episode, from 1
    ("action", "i1"),  # what was pressed
    ("source", "u1"),  # a Source
    ("confidence", "f4"),  # of whoever decided, 0..1
    ("reward", "f4"),
    ("terminated", "?"),
    ("truncated", "?"),
    ("map_id", "u4"),
    ("x", "u1"),
    ("y", "u1"),
    ("phase", "u1"),
    ("battle", "u1"),
    ("opponent", "u1"),
    ("health", "f4"),
    ("milestones", "u2"),
    ("frames", "u4"),
    ("coarse_hash", "u8"),  # of the state in which the step was decided
    ("fine_hash", "u8"),  # of the state that the step led to
    ("memory_hash", "u8"),  # of all work RAM after the step; 0 on the steps where it is not taken
    ("reason", f"S{REASON_BYTES}"),
    ("pilot_confidence", "f4"),  # of the pilot's next proposal; 0 without a pilot
)
"""Layout of a step's record. Facts are those of the state in which the step was decided, except the fine hash."""

MEMORY_HASH_INTERVAL = 1000
"""Steps of an episode between two hashes of all work RAM; the last step of an episode is always hashed."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What a language model (or anyone) advises: a goal, and presses or one skill that serve it."""

    goal: str
    presses: tuple[int, ...] = ()
    skill: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    confidence: float = 0.5
    reason: str = ""
    expires_after: int = 100
    """Steps after which the advice is out of date."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where an episode begins. ``state`` is a saved start state; without one the game's own start is used."""

    seed: int
    state: bytes | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """A state in words, for language models, logs and people."""

    current_goal: str
    context_summary: str
    action_suggestions: tuple[str, ...] = ()
    text_map: str = ""


@runtime_checkable
class Environment(Protocol):
    """A Gymnasium environment with what training, advice and exact resume need beside it.

    ``reset(seed=..., options={"start_state": bytes})`` and ``step`` are Gymnasium's. Observations are a
    dictionary of arrays; ``action_mask`` int8 (n,), 1 = allowed, is always among them. A state passed through
    :meth:`save_state` and :meth:`load_state` goes on exactly as if it had never been saved.
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

    def save_state(self) -> bytes:
        """The whole state: the emulator's, the episode's and the rewards'."""
        ...

    def load_state(self, state: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Goes on from a saved state; returns what :meth:`reset` returns. Raises EmulatorError if it does not fit."""
        ...

    def close(self) -> None:
        """Ends the emulator, without writing anything."""
        ...


class Decision(NamedTuple):
    """What a pilot would press, why, and how sure it is (0..1). ``advised`` where it carries out advice."""

    action: int
    reason: str
    confidence: float
    advised: bool = False


class Pilot(Protocol):
    """Plays one kind of environment by rules. It lives beside the environment, in its process.

    Built with the environment and the pilot's own settings. ``act`` must press only what the mask allows.
    What it remembers goes through ``save_state`` as plain values (JSON), so that a resumed run goes on exactly.
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
    """A part of the reward. ``state`` is the environment's own typed state; parts are named and added up."""

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


@dataclass(frozen=True, slots=True)
class Transitions:
    """One step of every environment, batch first: arrays of shape (num_envs, ...), to be copied by who keeps them.

    ``observations`` is what was acted on; ``next_observations`` what followed: where an episode ended, that is its
    last observation, and the new episode's first one is among the next step's ``observations``. ``sources`` says who
    pressed.
    """

    observations: Mapping[str, NDArray[Any]]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    next_observations: Mapping[str, NDArray[Any]]
    sources: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of consecutive experience for a checkpoint. A sealed one never changes again and may be linked."""

    name: str
    sealed: bool
    arrays: Mapping[str, NDArray[Any]]


class Algorithm(Protocol):
    """A learner. Built with (observation_space, action_space, num_envs, seed, settings, device, total_steps).

    ``act``, ``observe``, ``draw`` and ``publish`` are called by the trainer's thread; ``learn`` by the learner's,
    at the same time as ``act`` and ``observe``. What ``learn`` changes acts only after ``publish``. So the trainer's
    loop is: every ``update_interval`` steps wait for the running ``learn``, ``publish``, ``draw``, start ``learn``.
    """

    update_interval: int
    """Environment steps, counted over all environments, between two updates."""

    def act(
        self, observations: Mapping[str, NDArray[Any]], explore: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Actions (n,), confidences (n,) in 0..1, and which of the actions are exploration (n,).

        Every action is allowed by its ``action_mask``. With ``explore`` off, acting is greedy, and has no effect
        on what comes after.
        """
        ...

    def observe(self, transitions: Transitions) -> None:
        """Takes in one step of every environment, whoever pressed it."""
        ...

    def draw(self) -> object | None:
        """What the next ``learn`` will learn from; nothing while there is too little experience."""
        ...

    def learn(self, drawn: object) -> dict[str, float]:
        """One update. Returns metrics, by name."""
        ...

    def time_learning(self) -> float:
        """Seconds that one :meth:`learn` takes here and now. Measured without a trace, before a training begins."""
        ...

    def publish(self) -> None:
        """From now on, acting uses what :meth:`learn` has changed."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """All that decides what comes next, except the segments: tensors, arrays and plain values, by dotted name."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`; tensors come back as arrays."""
        ...

    def segments(self) -> Iterable[Segment]:
        """The experience kept, oldest first. Nothing for a learner that keeps none."""
        ...

    def load_segments(self, segments: Iterable[Segment]) -> None:
        """Takes back the experience that :meth:`segments` gave."""
        ...


class Store(Protocol):
    """Keeps the tables of a run (decisions, episodes, metrics) and reads them back. Built with the run's folder.

    A table is columns of equal length. Rows that were flushed are never changed, and may be read by other
    processes at any time; rows that were not are lost when the process is killed.
    """

    def append(self, table: str, columns: Mapping[str, Any]) -> None:
        """Adds rows to a table: columns by name, all of one length."""
        ...

    def flush(self) -> None:
        """Puts all rows on disk, where nothing but a damaged disk can take them back."""
        ...

    def read(self, table: str, where: str = "", parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Rows as dictionaries, in the order in which they were written; ``where`` is an SQL condition."""
        ...

    def size_bytes(self) -> int:
        """Disk space that the tables take."""
        ...

    def supersede(self, after_step: int) -> int:
        """Sets aside the rows of steps after ``after_step``, when a run resumes there. Returns how many."""
        ...

    def close(self) -> None:
        """Flushes, and lets go of everything."""
        ...


class Register(Protocol):
    """Given to each ``pkmn_register_*`` hook. ``target`` and ``config`` are resolved on first use."""

    def __call__(
        self,
        name: str,
        target: str | type | Callable[..., Any],
        *,
        config: str | type | None = None,
        help: str = "",
        api: int = API_VERSION,
        extra: str = "",
    ) -> None:
        """Registers ``name``.

        Args:
            name: lower case, words joined by hyphens; unique within its kind.
            target: ``"package.module:Name"``, or the object itself.
            config: the pydantic model of its settings, which users set under ``[name]``.
            help: one line for ``pkmn plugins``.
            api: the API version that the plugin was written for.
            extra: the extra of the distribution that brings what the target imports.
        """
        ...


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run, as hooks see it."""

    folder: Path
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """How an episode ended. ``milestone_steps`` maps each milestone reached to the step that reached it."""

    environment: int
    episode: int
    seed: int
    steps: int
    total_reward: float
    terminated: bool
    outcome: str
    llm_share: float
    milestone_steps: Mapping[str, int]
    first_step: int
    """Number of environment steps taken in the whole run when the episode began."""


def find_run(which: str | Path | None = None, save_dir: Path | None = None) -> RunInfo:
    """Finds an existing run, for a plugin's command. Its settings are those in its ``config.toml``.

    Args:
        which: the run's folder, its name under ``save_dir``, or None for the latest.
        save_dir: the folder for run folders; without one ``PKMN_SAVE_DIR``, or ``runs``.

    Raises:
        RunError: there is no such run, or this version cannot read it.
    """
    from pkmncli.config.run_file import read_run_file  # noqa: PLC0415 - registration modules import this one
    from pkmncli.runs import open_run  # noqa: PLC0415

    folder = open_run(which, save_dir).folder
    settings: dict[str, dict[str, Any]] = {}
    for given in read_run_file(folder):
        settings.setdefault(given.section, {})[given.key] = given.value
    return RunInfo(folder, settings)
