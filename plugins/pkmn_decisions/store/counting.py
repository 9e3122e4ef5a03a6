"""Count of a table's rows by the values of some columns, without fetching the rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from pkmn_decisions.store.files import TableFile, first_line, relation, retry_if_moved
from pkmn_decisions.store.recorded_files import recorded_files
from pkmn_decisions.store.schema import Table
from pkmncli.errors import DecisionValidationError, RunError


def count_rows(folder: Path, table: Table, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return each combination of values with its number of rows, in the order of the values.

    Raises:
        DecisionValidationError: the table has no such column.
        RunError: a file cannot be read.
    """
    for name in columns:
        if table.column(name) is None:
            raise DecisionValidationError(f"The {table.name} have no column {name}.")
    names = ", ".join(f'"{name}"' for name in columns)
    with duckdb.connect(":memory:") as connection:
        files: list[TableFile] = []

        def count() -> list[tuple[Any, ...]]:
            files[:] = recorded_files(folder, table)
            rows = relation(table, files, names)
            return connection.execute(f"SELECT {names}, count(*) FROM ({rows}) GROUP BY ALL ORDER BY ALL").fetchall()

        try:
            return retry_if_moved(count, files)
        except duckdb.Error as error:
            raise RunError(f"Cannot count the {table.name} in {folder}: {first_line(error)}") from error
