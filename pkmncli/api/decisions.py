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


class Source(IntEnum):
    """Deciding side of a step. Stored as a number in records, shown by its lower-case name."""

    RL = 0
    EXPLORE = 1
    RULE = 2
    LLM = 3


class Consequence(IntEnum):
    """Consequence of a step; higher ones say more. Tiles and maps are new if the episode had not been there.

    A step may have several consequences; the highest stands for all.
    """

    NOTHING = 0
    NEW_TILE = 1
    TEXT_CLOSED = 2
    """A text or a question of the game is over."""
    DAMAGE_DEALT = 3
    DAMAGE_TAKEN = 4
    """In a battle, by any member of the party."""
    BATTLE_ENDED = 5
    """In any way."""
    NEW_MAP = 6
    MILESTONE = 7


class Facts(NamedTuple):
    """State of an environment after a step, as plain numbers.

    Every field is defined by the environment; 0 where it has nothing to say. ``map_id`` identifies a map
    (for Game Boy games group * 256 + number), ``x`` and ``y`` a tile on it, ``phase`` a kind of situation whose
    names the environment lists in :attr:`Environment.phase_names`, ``battle`` 0 when there is none,
    ``opponent`` a species, ``health`` the party's share of hit points (0..1), ``milestones`` how many of the
    game's goals were reached in this episode, ``frames`` emulated frames since the episode began,
    ``opponent_health`` the share of hit points of the one that is fought (0..1).
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
    opponent_health: float = 0.0


REASON_BYTES = 64
"""A pilot's reason is kept in UTF-8 and cut to this many bytes."""


REWARD_PARTS = 32
"""Maximum number of reward parts in a record. If an environment names more, the last place holds their sum."""


STEP_RECORD: tuple[tuple[str, str], ...] = (
    # numpy field formats of one environment's record of one step, in shared memory
    ("episode", "u4"),  # of this environment, from 0
    ("step", "u4"),  # within the episode, from 1
    ("action", "i1"),  # what was pressed
    ("source", "u1"),  # a Source
    ("confidence", "f4"),  # of whoever decided, 0..1
    ("reward", "f4"),
    ("reward_parts", f"({REWARD_PARTS},)f4"),  # what each of the environment's ``reward_names`` earned, weighted
    ("terminated", "?"),
    ("truncated", "?"),
    ("map_id", "u4"),
    ("x", "u1"),
    ("y", "u1"),
    ("phase", "u1"),
    ("battle", "u1"),
    ("opponent", "u1"),
    ("health", "f4"),
    ("opponent_health", "f4"),
    ("milestones", "u2"),
    ("frames", "u4"),
    ("coarse_hash", "u8"),  # of the state in which the step was decided
    ("fine_hash", "u8"),  # of the state that the step led to
    ("memory_hash", "u8"),  # of all work RAM after the step; 0 on the steps where it is not taken
    ("reason", f"S{REASON_BYTES}"),
    ("pilot_confidence", "f4"),  # of the pilot's next proposal; 0 without a pilot
    ("pilot_action", "i1"),  # of that proposal; -1 where there is none, or it is not told
    ("advice_steps_left", "u2"),  # steps that the advice of the pilot still holds after this one; 0 without any
    ("consequence", "u1"),  # a Consequence of this step alone
    ("next_map", "u4"),
    ("next_phase", "u1"),
)
"""Layout of a step's record. Facts are those of the state in which the step was decided, except the fine hash, and map
and phase that the next step is decided in (``next_``)."""


MEMORY_HASH_INTERVAL = 1000
"""Steps of an episode between two hashes of all work RAM; the last step of an episode is always hashed."""


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
