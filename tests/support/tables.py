"""Rows for tests: whole tables of plausible columns, of which a test sets those that it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmn_decisions.store.schema import ADVICE, AMOUNTS, DECISIONS, EPISODES, Table
from pkmn_decisions.store.store import DuckDBStore
from pkmncli.api import REMEMBERED_ACTIONS

PREVIOUS = [f"previous_{back}" for back in range(1, REMEMBERED_ACTIONS + 1)]


def previous_actions(actions: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The columns of earlier actions for episodes of these actions, (episodes, steps)."""
    columns = {}
    for back, name in enumerate(PREVIOUS, start=1):
        before = np.full(actions.shape, -1, np.int32)
        before[:, back:] = actions[:, :-back]
        columns[name] = before.ravel()
    return columns


def _filled(table: Table, rows: int, given: dict[str, Any]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for column in table.columns:
        if column.numpy:
            nothing = {"near_return": np.nan} | dict.fromkeys(PREVIOUS, -1)
            columns[column.name] = np.full(rows, nothing.get(column.name, 0), column.numpy)
        else:
            columns[column.name] = [{"BLOB": b"", AMOUNTS: {}}.get(column.sql, "")] * rows
    return columns | given


def decisions(first: int, last: int, **given: Any) -> dict[str, Any]:
    """Decisions of one environment's first episode at the steps ``first`` to ``last``, both included."""
    steps = np.arange(first, last + 1)
    base = {"global_step": steps, "step": steps.astype("u4"), "reason": [f"reason {step}" for step in steps]}
    return _filled(DECISIONS, len(steps), base | given)


def episodes(*last_steps: int, **given: Any) -> dict[str, Any]:
    """One finished episode of environment 0 for each of the steps given."""
    rows = len(last_steps)
    base = {
        "episode": np.arange(rows),
        "last_step": list(last_steps),
        "outcome": ["finished"] * rows,
        "purpose": ["train"] * rows,
        "milestones": ["{}"] * rows,
    }
    return _filled(EPISODES, rows, base | given)


def advice(steps: list[int], environments: list[int]) -> dict[str, Any]:
    """One answer of a language model for each step and environment given."""
    return _filled(ADVICE, len(steps), {"global_step": steps, "environment": environments})


def metrics(*steps: int, name: str = "loss") -> dict[str, Any]:
    """One metric at each of the steps given, its value the step."""
    return {
        "global_step": list(steps),
        "time": [0.0] * len(steps),
        "name": [name] * len(steps),
        "value": [float(step) for step in steps],
    }


def write_steps(folder: Path, episodes: int, steps: int, **given: Any) -> Path:
    """A run of one environment: columns in the order of its steps."""
    number = np.arange(episodes * steps)
    columns = decisions(
        1, len(number), episode=number // steps, step=number % steps + 1, truncated=number % steps == steps - 1, **given
    )
    del columns["done"]
    with DuckDBStore(folder) as store:
        store.append("decisions", columns)
    return folder
