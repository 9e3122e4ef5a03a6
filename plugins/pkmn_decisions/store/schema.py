"""Tables of a run: their columns, with meaning and storage type.

A table is a folder of Parquet files. Every file holds :data:`SCHEMA_VERSION`, which rises when a column is added,
renamed or changes its meaning. A column that a file of an earlier version lacks has its default there.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any, Final

from pkmncli.api import DECISION_HORIZON, REMEMBERED_ACTIONS

SCHEMA_VERSION: Final = 4
"""Version of the columns below, written into every file under the key ``pkmn_schema``."""

REQUIRED: Final[Any] = object()
"""Default of a column that every row must have."""

NUMPY_TYPES: Final = {
    "BOOLEAN": "?",
    "UTINYINT": "u1",
    "USMALLINT": "u2",
    "INTEGER": "i4",
    "UINTEGER": "u4",
    "BIGINT": "i8",
    "UBIGINT": "u8",
    "FLOAT": "f4",
    "DOUBLE": "f8",
}
"""Numpy type of each numeric SQL type in use. Others are Python objects: text, bytes (BLOB), and mappings."""

AMOUNTS: Final = "MAP(VARCHAR, FLOAT)"
"""SQL type of a column of amounts by name."""


@dataclass(frozen=True, slots=True)
class Column:
    """Column with its SQL type, its meaning, and its value if a writer leaves it out."""

    name: str
    sql: str
    meaning: str
    default: Any = REQUIRED
    since: int = 1
    """First version of the schema that has it."""
    formerly: str = ""
    """SQL of its value in a file of a version before ``since``; empty for the default."""
    empty_if_nan: bool = False
    """True if NaN is written as NULL, which sums and means leave out."""

    @property
    def coded(self) -> bool:
        """True if each distinct value is kept once."""
        return self.sql in ("VARCHAR", AMOUNTS)

    @property
    def numpy(self) -> str | None:
        """Numpy type, or None for Python objects."""
        return NUMPY_TYPES.get(self.sql)


@dataclass(frozen=True, slots=True)
class Table:
    """Table. ``step`` names the column with the step of the run at which a row became known."""

    name: str
    step: str
    columns: tuple[Column, ...]
    rows_per_file: int
    """Number of rows after which the store writes a file by itself."""
    one_row_per_step: bool = False

    def column(self, name: str) -> Column | None:
        """Return the column of that name; None if there is none."""
        return next((column for column in self.columns if column.name == name), None)


def _previous(back: int) -> Column:
    what = "action before this one" if back == 1 else f"action {back} steps before"
    return Column(
        f"previous_{back}",
        "INTEGER",
        f"{what} in the episode, -1 for none",
        default=-1,
        since=3,
        # Six decimal digits, the latest last; a digit was the action + 1, 0 for none.
        formerly=f"(previous_actions // {10 ** (back - 1)})::INTEGER % 10 - 1",
    )


DECISIONS: Final = Table(
    "decisions",
    step="global_step",
    one_row_per_step=True,
    rows_per_file=65_536,
    columns=(
        Column("global_step", "BIGINT", "environment steps of the whole run, counted over all environments, from 1"),
        Column("environment", "USMALLINT", "number of the environment, from 0"),
        Column("episode", "UINTEGER", "episode of that environment, from 0"),
        Column("step", "UINTEGER", "step within the episode, from 1"),
        Column("time", "DOUBLE", "time of recording, seconds since 1970 (UTC)"),
        Column("action", "INTEGER", "number of the action, from 0; its name is in the run's names.json"),
        Column("source", "UTINYINT", "source of the decision: 0 learner, 1 its exploration, 2 rules, 3 language model"),
        Column("confidence", "FLOAT", "confidence of that source, 0 to 1"),
        Column("reward", "FLOAT", "reward of this step"),
        Column("terminated", "BOOLEAN", "the episode ended by the game's own rules"),
        Column("truncated", "BOOLEAN", "the episode was ended by a limit"),
        Column("done", "BOOLEAN", "the episode ended, either way", default=False),
        Column("map_id", "UINTEGER", "map of the decision; in Game Boy games group * 256 + number"),
        Column("x", "INTEGER", "place on that map, from the left"),
        Column("y", "INTEGER", "place on that map, from the top"),
        Column("phase", "UINTEGER", "kind of situation, as the environment numbers them"),
        Column("battle", "UINTEGER", "kind of battle, 0 for none"),
        Column("opponent", "UINTEGER", "kind of opponent, such as its species, 0 for none"),
        Column("health", "FLOAT", "health of the player, as a share of its maximum (0 to 1)"),
        Column("milestones", "USMALLINT", "milestones reached so far in this episode"),
        Column("frames", "UINTEGER", "frames of the game since the episode began"),
        Column("coarse_hash", "UBIGINT", "hash of place and phase of the decision"),
        Column("fine_hash", "UBIGINT", "hash of everything that the next decision could depend on, after the step"),
        Column("memory_hash", "UBIGINT", "hash of the whole memory after the step; 0 if not computed", default=0),
        Column("reason", "VARCHAR", "reason, in a few words"),
        Column("pilot_confidence", "FLOAT", "confidence of the pilot's next proposal, 0 to 1", default=0.0),
        Column(
            "advice_steps_left", "USMALLINT", "steps after this one for which the pilot's advice still holds", default=0
        ),
        *(_previous(back) for back in range(1, REMEMBERED_ACTIONS + 1)),
        Column("model", "VARCHAR", "language model whose advice was followed, empty for none", default=""),
        Column(
            "opponent_health",
            "FLOAT",
            "health of the opponent, as a share of its maximum (0 to 1)",
            default=0.0,
            since=2,
        ),
        Column(
            "alternative",
            "INTEGER",
            "learner's best action other than the one taken, -1 if unknown",
            default=-1,
            since=2,
        ),
        Column(
            "value",
            "FLOAT",
            "learner's value of the action taken, empty if unknown",
            default=nan,
            since=2,
            empty_if_nan=True,
        ),
        Column(
            "alternative_value",
            "FLOAT",
            "learner's value of the alternative, empty if unknown",
            default=nan,
            since=2,
            empty_if_nan=True,
        ),
        Column(
            "latency_s",
            "FLOAT",
            "seconds that the answer with the followed advice took, 0 for none",
            default=0.0,
            since=2,
        ),
        Column("reward_parts", AMOUNTS, "parts of the reward that are not 0, weighted", default={}, since=2),
        Column(
            "near_return",
            "FLOAT",
            f"sum of the rewards of this step and the next {DECISION_HORIZON - 1} of its episode, empty while unknown",
            default=nan,
            since=2,
            empty_if_nan=True,
        ),
        Column("outcome", "UTINYINT", "outcome within those steps", default=0, since=2),
    ),
)

EPISODES: Final = Table(
    "episodes",
    step="last_step",
    rows_per_file=64,
    columns=(
        Column("environment", "USMALLINT", "number of the environment, from 0"),
        Column("episode", "UINTEGER", "episode of that environment, from 0"),
        Column("first_step", "BIGINT", "environment steps of the whole run when the episode began"),
        Column("last_step", "BIGINT", "environment steps of the whole run when the episode ended"),
        Column("seed", "UBIGINT", "seed of the episode's start"),
        Column("start", "VARCHAR", "hash of the start state, empty for the game's own start"),
        Column("steps", "UINTEGER", "steps of the episode"),
        Column("total_reward", "DOUBLE", "sum of the episode's rewards"),
        Column("terminated", "BOOLEAN", "the episode ended by the game's own rules"),
        Column("truncated", "BOOLEAN", "the episode was ended by a limit"),
        Column(
            "outcome", "VARCHAR", "end of the episode: goal (a success), ended (terminated otherwise) or time-limit"
        ),
        Column("llm_share", "FLOAT", "share of the steps that carried out advice of a language model (0 to 1)"),
        Column("milestones", "VARCHAR", "JSON object: goal reached -> step of the episode that reached it"),
        Column(
            "presses",
            "BLOB",
            "two bytes for each step, little-endian: the action; one byte before version 3; four bytes for each number "
            "of a continuous action (float32)",
        ),
        Column("fine_hashes", "BLOB", "eight bytes for each step, little-endian: the state's hash after it"),
        Column("memory_hashes", "BLOB", "twelve bytes each, little-endian: step (4), hash of the memory after it (8)"),
        Column("frames", "UINTEGER", "frames of the game in the episode"),
        Column("purpose", "VARCHAR", "train or eval", default="train"),
        Column("checkpoint", "VARCHAR", "checkpoint whose weights were used, empty while training", default=""),
        Column(
            "metrics", "VARCHAR", "JSON object: the environment's own metrics of the episode", default="{}", since=3
        ),
    ),
)

METRICS: Final = Table(
    "metrics",
    step="global_step",
    rows_per_file=16_384,
    columns=(
        Column("global_step", "BIGINT", "environment steps of the whole run at that time"),
        Column("time", "DOUBLE", "time of the measurement, seconds since 1970 (UTC)"),
        Column("name", "VARCHAR", "name of the metric"),
        Column("value", "DOUBLE", "value of the metric"),
    ),
)

ADVICE: Final = Table(
    "advice",
    step="global_step",
    rows_per_file=1024,
    columns=(
        Column("global_step", "BIGINT", "first environment step of the whole run after the answer, from 1"),
        Column("asked_at", "BIGINT", "environment steps of the whole run when the question was asked"),
        Column("environment", "USMALLINT", "number of the environment, from 0"),
        Column("time", "DOUBLE", "time of taking effect, seconds since 1970 (UTC)"),
        Column("event", "VARCHAR", "reason for the question"),
        Column("followed", "BOOLEAN", "true if the pilot got the advice; otherwise the rules had their share"),
        Column("reading", "VARCHAR", "way of reading the reply: schema, prose, nothing"),
        Column("problem", "VARCHAR", "problem of the reply, empty if none"),
        Column("advice", "VARCHAR", "JSON object of the advice, empty if none"),
        Column("model", "VARCHAR", "model that answered, empty if none did"),
        Column("cached", "BOOLEAN", "the reply came from the cache"),
        Column("prompt", "VARCHAR", "text of the question"),
        Column("reply", "VARCHAR", "text of the answer; that of a repair follows after a line of dashes"),
        Column("prompt_tokens", "UINTEGER", "tokens of the prompts"),
        Column("completion_tokens", "UINTEGER", "tokens of the replies"),
        Column("latency_s", "FLOAT", "seconds from question to answer"),
        Column(
            "members",
            "VARCHAR",
            "JSON list of the answer of each model of an ensemble, empty without one; agreed is true if it gave the "
            "advice",
            default="",
            since=4,
        ),
    ),
)

TABLES: Final = {table.name: table for table in (DECISIONS, EPISODES, METRICS, ADVICE)}
