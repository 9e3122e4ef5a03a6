"""Import of a history of decisions, one table of an SQLite file, into tables like those of a run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from pkmn_decisions.store.game_states import state_columns
from pkmn_decisions.store.names import DEFAULT_ACTIONS, SOURCE_NAMES
from pkmn_decisions.store.previous import MOST_ACTION, PreviousActions
from pkmn_decisions.store.schema import DECISIONS
from pkmn_decisions.store.store import DuckDBStore
from pkmn_decisions.store.view import STANDALONE_FILE
from pkmncli.api import Source, parse_json
from pkmncli.errors import RunError

_HEADER = b"SQLite format 3\x00"

_NAMES: Mapping[str, tuple[str, ...]] = {
    "action": ("action", "action_taken"),
    "reward": ("outcome_reward", "reward"),
    "outcome": ("outcome",),
    "state_hash": ("state_hash",),
    "context": ("context", "game_state"),
    "reason": ("reasoning", "reason"),
    "confidence": ("confidence",),
    "time": ("timestamp", "time", "created_at"),
    "episode": ("episode_id", "episode"),
    "step": ("step_number", "step_in_episode", "step"),
    "total": ("total_episode_reward",),
    "source": ("source",),
}
"""Value -> columns that may hold it; the first existing one is read."""

_BATCH = 10_000


def is_sqlite(path: Path) -> bool:
    """Return whether a path is an SQLite file."""
    try:
        with path.open("rb") as file:
            return file.read(len(_HEADER)) == _HEADER
    except OSError:
        return False


def import_history(path: Path, folder: Path) -> int:
    """Copy a history into tables in ``folder``; the file is only read.

    A decision is a success if its ``outcome`` says so, or if its ``outcome_reward`` is above 0. Episodes are
    distinguished by ``episode_id``, or begin where the step within the episode does not rise.

    Returns:
        Number of decisions.

    Raises:
        RunError: the file cannot be read, or has no table of decisions.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STANDALONE_FILE).write_text(json.dumps({"horizon": 1}) + "\n", encoding="utf-8")
    count = 0
    try:
        # `mode=ro` does not disturb a file that another program writes, and makes none if it is gone.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")  # a view of an untrusted file calls no function
            table, columns = _table(database, path)
            with DuckDBStore(folder) as store:
                rows: list[dict[str, Any]] = []
                for row in _rows(database, table, columns):
                    rows.append(row)
                    if len(rows) == _BATCH:
                        count += _append(store, rows)
                count += _append(store, rows)
    except sqlite3.Error as error:
        raise RunError(f"{path} cannot be read as SQLite: {error}.") from error
    return count


def _table(database: sqlite3.Connection, path: Path) -> tuple[str, dict[str, str]]:
    """Return the name of the table of decisions, and its columns by value."""
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    for name in sorted(tables, key=lambda name: (name != "decisions", name)):
        there = [row[1] for row in database.execute(f"PRAGMA table_info({_quoted(name)})")]
        columns = {
            what: next(one for one in names if one in there)
            for what, names in _NAMES.items()
            if any(one in there for one in names)
        }
        if "action" in columns and ("reward" in columns or "outcome" in columns):
            return name, columns
    known = f"its tables are {', '.join(tables)}" if tables else "it has no tables"
    raise RunError(
        f"{path} has no table of decisions, which would have the columns action and outcome_reward or outcome; {known}."
    )


def _rows(database: sqlite3.Connection, table: str, columns: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    chosen = ", ".join(f"{_quoted(column)} AS {_quoted(what)}" for what, column in columns.items())
    database.row_factory = sqlite3.Row
    episodes: dict[Any, int] = {}
    last_step, episode, previous = 0, 0, PreviousActions()
    total: Any = None
    held: dict[str, Any] | None = None
    for number, row in enumerate(database.execute(f"SELECT {chosen} FROM {_quoted(table)} ORDER BY rowid"), start=1):
        given = dict(row)
        said = given.get("step")
        step = int(said) if isinstance(said, (int, float)) else last_step + 1
        if "episode" in given:
            new = episodes.setdefault(given["episode"], len(episodes))
        else:
            new = episode + (step <= last_step)
        if new != episode:
            previous = PreviousActions()
        if held is not None:
            # Without rewards of single steps, an episode's last step has all of its reward.
            if new != held["episode"] and total is not None:
                held["reward"] = _number(total)
            yield held
        episode, last_step = new, step
        total = given.get("total") if "reward" not in columns else None
        held = _decision(given, number, episode, step, previous)
        previous.add(held["action"])
    if held is not None:
        if total is not None:
            held["reward"] = _number(total)
        yield held


def _decision(
    given: Mapping[str, Any], number: int, episode: int, step: int, previous: PreviousActions
) -> dict[str, Any]:
    context = _context(given.get("context"))
    reward = _number(given.get("reward"))
    outcome = str(given.get("outcome") or "").casefold()
    came = {"success": 1.0, "failure": 0.0}.get(outcome, reward)
    if "reward" in given and (came > 0) == (reward > 0):
        came = reward
    source = str(given.get("source") or context.get("source") or "").casefold()
    return {
        "global_step": number,
        "environment": 0,
        "episode": episode,
        "step": max(step, 0),
        "time": _time(given.get("time")),
        "action": _action(given.get("action")),
        "source": next((kind for kind, name in SOURCE_NAMES.items() if name == source), int(Source.RULE)),
        "confidence": min(max(_number(given.get("confidence") or context.get("confidence")), 0.0), 1.0),
        "reward": reward,
        "terminated": False,
        "truncated": False,
        "frames": 0,
        "coarse_hash": _hash(given.get("state_hash")),
        "fine_hash": 0,
        "reason": str(given.get("reason") or context.get("reasoning") or ""),
        **previous.columns(),
        "near_return": came,
        **state_columns(context),
    }


def _append(store: DuckDBStore, rows: list[dict[str, Any]]) -> int:
    if rows:
        store.append("decisions", {name: _column(name, [row[name] for row in rows]) for name in rows[0]})
    count = len(rows)
    rows.clear()
    return count


def _column(name: str, values: list[Any]) -> Any:
    """Return the values in the table's form; a whole number out of range becomes the nearest one in range."""
    column = DECISIONS.column(name)
    if column is None or column.numpy is None:
        return values
    kind = np.dtype(column.numpy)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        values = [min(max(value, int(limits.min)), int(limits.max)) for value in values]
    return np.array(values, kind)


def _context(value: Any) -> dict[str, Any]:
    try:
        found = parse_json(value) if isinstance(value, (str, bytes)) else value
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _action(value: Any) -> int:
    """Return the number of an action, given as a number or by a default name; an unknown one is the idle action."""
    text = str(value).casefold()
    number = value if isinstance(value, (int, float)) else int(text) if text.isdecimal() else -1
    if 0 <= number <= MOST_ACTION:
        return int(number)
    return next((number for number, name in DEFAULT_ACTIONS.items() if name == text), max(DEFAULT_ACTIONS))


def _time(value: Any) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    try:
        when = datetime.fromisoformat(str(value))
    except ValueError:
        return 0.0
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _hash(value: Any) -> int:
    try:
        return int(value) % 2**64
    except (TypeError, ValueError):
        return 0


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return 0.0
    return number if isfinite(number) else 0.0


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
