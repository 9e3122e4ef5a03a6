"""The tables of a run: their columns, what each one means, and how it is stored.

A table is a folder of Parquet files. :data:`SCHEMA_VERSION` stands in every file; it rises when a column is
added, renamed or changes its meaning. A column that a file of an earlier version lacks has its default there.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any, Final

SCHEMA_VERSION: Final = 2
"""Version of the columns below, written into every file under the key ``pkmn_schema``."""

REQUIRED: Final[Any] = object()
"""The default of a column that every row must bring."""

NUMPY_TYPES: Final = {
    "BOOLEAN": "?",
    "TINYINT": "i1",
    "UTINYINT": "u1",
    "USMALLINT": "u2",
    "UINTEGER": "u4",
    "BIGINT": "i8",
    "UBIGINT": "u8",
    "FLOAT": "f4",
    "DOUBLE": "f8",
}
"""The numpy type of each numeric SQL type in use. Others are Python objects: text, bytes (BLOB), and mappings."""

AMOUNTS: Final = "MAP(VARCHAR, FLOAT)"
"""SQL type of a column of amounts by name."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its SQL type, its meaning, and what it holds where a writer leaves it out."""

    name: str
    sql: str
    meaning: str
    default: Any = REQUIRED
    since: int = 1
    """First version of the schema that has it."""
    empty_if_nan: bool = False
    """Whether what is not a number is written as nothing (NULL), which sums and means leave out."""

    @property
    def coded(self) -> bool:
        """Whether its values are kept once each."""
        return self.sql in ("VARCHAR", AMOUNTS)

    @property
    def numpy(self) -> str | None:
        """Its numpy type, or nothing for Python objects."""
        return NUMPY_TYPES.get(self.sql)


@dataclass(frozen=True, slots=True)
class Table:
    """One table. ``step`` names the column that says at which step of the run a row became known."""

    name: str
    step: str
    columns: tuple[Column, ...]
    rows_per_file: int
    """Rows after which the store writes a file by itself."""
    one_row_per_step: bool = False

    def column(self, name: str) -> Column | None:
        """The column of that name, if there is one."""
        return next((column for column in self.columns if column.name == name), None)


DECISIONS: Final = Table(
    "decisions",
    step="global_step",
    one_row_per_step=True,
    rows_per_file=65_536,
    columns=(
        Column("global_step", "BIGINT", "environment steps of the whole run, counted over all environments, from 1"),
        Column("environment", "USMALLINT", "which environment, from 0"),
        Column("episode", "UINTEGER", "episode of that environment, from 0"),
        Column("step", "UINTEGER", "step within the episode, from 1"),
        Column("time", "DOUBLE", "when it was recorded, seconds since 1970 (UTC)"),
        Column("action", "TINYINT", "what was pressed: 0 to 8 are A, B, start, select, up, down, left, right, none"),
        Column("source", "UTINYINT", "who decided: 0 learner, 1 its exploration, 2 rules, 3 language model"),
        Column("confidence", "FLOAT", "of whoever decided, 0 to 1"),
        Column("reward", "FLOAT", "reward of this step"),
        Column("terminated", "BOOLEAN", "the episode ended by the game's own rules"),
        Column("truncated", "BOOLEAN", "the episode was cut off"),
        Column("done", "BOOLEAN", "the episode ended, either way", default=False),
        Column("map_id", "UINTEGER", "map on which it was decided (group * 256 + number)"),
        Column("x", "UTINYINT", "tile on that map, from the left"),
        Column("y", "UTINYINT", "tile on that map, from the top"),
        Column("phase", "UTINYINT", "kind of situation, as the environment numbers them"),
        Column("battle", "UTINYINT", "kind of battle, 0 for none"),
        Column("opponent", "UTINYINT", "species fought, 0 for none"),
        Column("health", "FLOAT", "hit points of the party, as a share of all it could have (0 to 1)"),
        Column("milestones", "USMALLINT", "goals of the game reached so far in this episode"),
        Column("frames", "UINTEGER", "emulated frames since the episode began"),
        Column("coarse_hash", "UBIGINT", "hash of place and phase in which it was decided"),
        Column("fine_hash", "UBIGINT", "hash of all that the next decision could depend on, after the step"),
        Column("memory_hash", "UBIGINT", "hash of all work RAM after the step; 0 where it was not taken", default=0),
        Column("reason", "VARCHAR", "why, in a few words"),
        Column("pilot_confidence", "FLOAT", "of the pilot's next proposal, 0 to 1", default=0.0),
        Column("advice_steps_left", "USMALLINT", "steps that the pilot's advice still holds after this one", default=0),
        Column(
            "previous_actions",
            "UINTEGER",
            "the six actions before this one, as decimal digits, oldest first; a digit is the action + 1, 0 is none",
            default=0,
        ),
        Column("model", "VARCHAR", "language model whose advice was followed, empty for none", default=""),
        Column(
            "opponent_health",
            "FLOAT",
            "hit points of the one that is fought, as a share of all it could have (0 to 1)",
            default=0.0,
            since=2,
        ),
        Column(
            "alternative",
            "TINYINT",
            "best action for the learner but for what was pressed, -1 if unknown",
            default=-1,
            since=2,
        ),
        Column(
            "value",
            "FLOAT",
            "learner's value of what was pressed, empty if unknown",
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
            "seconds that the answer with the advice that was followed had taken, 0 for none",
            default=0.0,
            since=2,
        ),
        Column("reward_parts", AMOUNTS, "parts of the reward that are not 0, weighted", default={}, since=2),
        Column(
            "near_return",
            "FLOAT",
            "sum of the rewards of this step and of those that follow it in its episode, 8 in all, empty while unknown",
            default=nan,
            since=2,
            empty_if_nan=True,
        ),
        Column("outcome", "UTINYINT", "what came of it within those steps", default=0, since=2),
    ),
)

EPISODES: Final = Table(
    "episodes",
    step="last_step",
    rows_per_file=64,
    columns=(
        Column("environment", "USMALLINT", "which environment, from 0"),
        Column("episode", "UINTEGER", "episode of that environment, from 0"),
        Column("first_step", "BIGINT", "environment steps that the whole run had taken when it began"),
        Column("last_step", "BIGINT", "environment steps that the whole run had taken when it ended"),
        Column("seed", "UBIGINT", "seed of its start"),
        Column("start", "VARCHAR", "hash of the saved state in which it began, empty for the game's own start"),
        Column("steps", "UINTEGER", "its own steps"),
        Column("total_reward", "DOUBLE", "sum of its rewards"),
        Column("terminated", "BOOLEAN", "it ended by the game's own rules"),
        Column("truncated", "BOOLEAN", "it was cut off"),
        Column("outcome", "VARCHAR", "how it ended, in a word or two"),
        Column("llm_share", "FLOAT", "share of its steps that carried out advice of a language model (0 to 1)"),
        Column("milestones", "VARCHAR", "JSON object: goal reached -> step of the episode that reached it"),
        Column("presses", "BLOB", "one byte for each step: the action"),
        Column("fine_hashes", "BLOB", "eight bytes for each step, little-endian: the state's hash after it"),
        Column("memory_hashes", "BLOB", "twelve bytes each, little-endian: step (4), hash of work RAM after it (8)"),
        Column("frames", "UINTEGER", "emulated frames that it took"),
        Column("purpose", "VARCHAR", "train or eval", default="train"),
        Column("checkpoint", "VARCHAR", "checkpoint whose weights played it, empty while training", default=""),
    ),
)

METRICS: Final = Table(
    "metrics",
    step="global_step",
    rows_per_file=16_384,
    columns=(
        Column("global_step", "BIGINT", "environment steps of the whole run when it was measured"),
        Column("time", "DOUBLE", "when it was measured, seconds since 1970 (UTC)"),
        Column("name", "VARCHAR", "what was measured"),
        Column("value", "DOUBLE", "its value"),
    ),
)

ADVICE: Final = Table(
    "advice",
    step="global_step",
    rows_per_file=1024,
    columns=(
        Column(
            "global_step", "BIGINT", "first environment step of the whole run for which the answer was there, from 1"
        ),
        Column("asked_at", "BIGINT", "environment steps of the whole run when it was asked for"),
        Column("environment", "USMALLINT", "which environment, from 0"),
        Column("time", "DOUBLE", "when it took effect, seconds since 1970 (UTC)"),
        Column("event", "VARCHAR", "why it was asked for"),
        Column("followed", "BOOLEAN", "the pilot was given it; otherwise the rules had their share"),
        Column("reading", "VARCHAR", "how the reply was read: schema, prose, nothing"),
        Column("problem", "VARCHAR", "what was wrong, empty if nothing"),
        Column("advice", "VARCHAR", "JSON object of the advice, empty without any"),
        Column("model", "VARCHAR", "model that answered, empty where none did"),
        Column("cached", "BOOLEAN", "the reply came from the cache"),
        Column("prompt", "VARCHAR", "what was asked"),
        Column("reply", "VARCHAR", "what was answered; a repair's after the first, parted by a line of dashes"),
        Column("prompt_tokens", "UINTEGER", "tokens of the prompts"),
        Column("completion_tokens", "UINTEGER", "tokens of the replies"),
        Column("latency_s", "FLOAT", "seconds from question to answer"),
    ),
)

TABLES: Final = {table.name: table for table in (DECISIONS, EPISODES, METRICS, ADVICE)}
