"""Actions, their sources and reasons, and the record of a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple


class Action(IntEnum):
    """Nine actions of a Game Boy environment, in the order of the action mask.

    They are also the names of an environment that has nine actions and declares no names.
    """

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

NO_ACTION = -1
"""Recorded where there is no action: before an episode's first one, or if the pilot names none."""


class Source(IntEnum):
    """Deciding side of a step. Stored as a number in records, shown by its lower-case name."""

    RL = 0
    EXPLORE = 1
    RULE = 2
    LLM = 3


class Consequence(IntEnum):
    """Consequence of a step, found from the facts before and after it; higher ones say more.

    A step may have several consequences; the highest is kept. A tile or map is new if the episode had not been there.
    An environment without tiles, texts or battles has none of theirs.
    """

    NOTHING = 0
    NEW_TILE = 1
    TEXT_CLOSED = 2
    """A phase with the role READING or ANSWERING is over."""
    DAMAGE_DEALT = 3
    """Less health of the opponent, in a battle."""
    DAMAGE_TAKEN = 4
    """Less health, in a battle."""
    BATTLE_ENDED = 5
    """End of a battle, however it ended."""
    NEW_MAP = 6
    MILESTONE = 7


DECISION_HORIZON = 8
"""Steps, the step itself included, whose rewards and consequences say what came of a decision."""

REMEMBERED_ACTIONS = 6
"""Actions before a decision that its row holds, in the columns ``previous_1`` (the latest) to ``previous_6``."""


class Facts(NamedTuple):
    """State of an environment after a step, as plain numbers. A field is 0 where the environment has nothing to say.

    The names of maps, phases, opponents and battles are in :attr:`Environment.phase_names` and in
    :attr:`Environment.names` under ``maps``, ``species`` and ``battles``.
    """

    map_id: int = 0
    """Number of a map, level or other area, up to 32 bits."""
    x: int = 0
    """Place on that map, from the left, 32 bits with a sign."""
    y: int = 0
    """Place on that map, from the top."""
    phase: int = 0
    """Kind of situation: a place in :attr:`Environment.phase_names`."""
    battle: int = 0
    """Kind of battle, 0 for none. What a battle alone has is looked for only while it is not 0."""
    opponent: int = 0
    """Kind of opponent, up to 32 bits; 0 for none."""
    health: float = 0.0
    """Health of the player, as a share of the maximum (0..1)."""
    milestones: int = 0
    """Milestones reached in this episode."""
    frames: int = 0
    """Frames of the game since the episode began."""
    coarse_hash: int = 0
    """Hash of place and phase, 64 bits, the same in every process."""
    fine_hash: int = 0
    """Hash of all that a decision could depend on, 64 bits, the same in every process."""
    opponent_health: float = 0.0
    """Health of the opponent, as a share of the maximum (0..1)."""


REASON_BYTES = 64
"""A pilot's reason is kept in UTF-8 and cut to this many bytes."""


REWARD_PARTS = 32
"""Maximum number of reward parts in a record. If an environment names more, the last place holds their sum."""


STEP_RECORD: tuple[tuple[str, str], ...] = (
    # numpy field formats of one environment's record of one step, in shared memory
    ("episode", "u4"),  # of this environment, from 0
    ("step", "u4"),  # within the episode, from 1
    ("action", "i4"),  # the action that was taken
    ("source", "u1"),  # a Source
    ("confidence", "f4"),  # of whoever decided, 0..1
    ("reward", "f4"),
    ("reward_parts", f"({REWARD_PARTS},)f4"),  # what each of the environment's ``reward_names`` earned, weighted
    ("terminated", "?"),
    ("truncated", "?"),
    ("map_id", "u4"),
    ("x", "i4"),
    ("y", "i4"),
    ("phase", "u4"),
    ("battle", "u4"),
    ("opponent", "u4"),
    ("health", "f4"),
    ("opponent_health", "f4"),
    ("milestones", "u2"),
    ("frames", "u4"),
    ("coarse_hash", "u8"),  # of the state in which the step was decided
    ("fine_hash", "u8"),  # of the state that the step led to
    ("memory_hash", "u8"),  # of the whole memory after the step; 0 on the steps where it is not taken
    ("reason", f"S{REASON_BYTES}"),
    ("pilot_confidence", "f4"),  # of the pilot's next proposal; 0 without a pilot
    ("pilot_action", "i4"),  # of that proposal; -1 where there is none, or it is not shown
    ("advice_steps_left", "u2"),  # steps that the advice of the pilot still holds after this one; 0 without any
    ("consequence", "u1"),  # a Consequence of this step alone
    ("next_map", "u4"),
    ("next_phase", "u4"),
)
"""Layout of a step's record. Facts are those of the state in which the step was decided, except the fine hash, and map
and phase that the next step is decided in (``next_``)."""


MEMORY_HASH_INTERVAL = 1000
"""Steps of an episode between two hashes of the whole memory; the last step of an episode is always hashed."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice: a goal, and the actions (``presses``) or the skill that serve it."""

    goal: str
    presses: tuple[int, ...] = ()
    skill: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    confidence: float = 0.5
    reason: str = ""
    expires_after: int = 100
    """Steps after which the advice is out of date."""
    note: str = ""
    """Note of the model for itself, which its later questions have."""

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Advice:
        """Return the advice whose fields ``dataclasses.asdict`` returned."""
        return cls(**{**values, "presses": tuple(values["presses"])})


class Decision(NamedTuple):
    """Decision of a pilot: the action, its reason, and the confidence (0..1).

    ``advised``: it carries out advice. ``advice_over``: the advice is completed or cannot be followed; it is withdrawn
    after this step.
    """

    action: int
    reason: str
    confidence: float
    advised: bool = False
    advice_over: bool = False
