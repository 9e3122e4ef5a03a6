"""Counts the rows of a table by the values of some columns, without fetching them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from pkmn_decisions.store.files import may_have_moved, relation
from pkmn_decisions.store.recorded_files import recorded_files
from pkmn_decisions.store.schema import Table
from pkmncli.errors import DecisionValidationError, RunError

_ATTEMPTS = 5


def count_rows(folder: Path, table: Table, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """For each combination of values its values and its number of rows, in the order of the values.

    Raises:
        DecisionValidationError: the table has no such column.
        RunError: a file cannot be read.
    """
    for name in columns:
        if table.column(name) is None:
            raise DecisionValidationError(f"The {table.name} have no column {name}.")
    names = ", ".join(f'"{name}"' for name in columns)
    with duckdb.connect(":memory:") as connection:
        for attempt in range(_ATTEMPTS):
            files = recorded_files(folder, table)
            rows = relation(table, files, names)
            try:
                return connection.execute(
                    f"SELECT {names}, count(*) FROM ({rows}) GROUP BY ALL ORDER BY ALL"
                ).fetchall()
            except duckdb.Error as error:
                # A run that resumes may have moved a file since it was listed.
                if attempt + 1 < _ATTEMPTS and may_have_moved(error, files):
                    continue
                text = str(error).strip().split("\n", 1)[0]
                raise RunError(f"Cannot count the {table.name} in {folder}: {text}") from error
    raise AssertionError("unreachable")
