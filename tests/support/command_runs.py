"""Runs of the command ``bandit``, whose package is in the examples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pkmncli.api import open_tables, runs

EXAMPLE = Path(__file__).parents[2] / "examples" / "pkmn_bandit"
Pkmn = Callable[..., Any]
Register = Callable[..., Any]


def course(folder: Path) -> dict[str, Any]:
    """All that a run has recorded, without times."""
    store = open_tables(folder)
    tables = {name: store.read(name) for name in ("decisions", "episodes", "metrics")}
    store.close()
    kept = {name: [{key: row[key] for key in row if key != "time"} for row in rows] for name, rows in tables.items()}
    state = {name: np.asarray(value).tolist() for name, value in runs.read_state(folder).items()}
    return {**kept, "state": state}


def error_of(result: Any, code: int) -> str:
    assert result.code == code, result.err
    assert len(result.err.splitlines()) == 1, result.err
    text: str = result.err
    return text
