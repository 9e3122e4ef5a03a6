"""Writes a whole table as one file, CSV or Parquet, for programs that are no part of this one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import duckdb

from pkmn_decisions.store.files import TableFile, may_have_moved, path_literal, relation
from pkmn_decisions.store.recorded_files import recorded_files
from pkmn_decisions.store.schema import AMOUNTS, SCHEMA_VERSION, Column, Table
from pkmncli.errors import DecisionValidationError, RunError

MEMORY_LIMIT = "2GB"
"""Memory that putting the rows in order may take before DuckDB goes on in a temporary folder."""

_ATTEMPTS = 5
_FORMATS = {
    "csv": "FORMAT csv, HEADER true",
    "parquet": f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{pkmn_schema: '{SCHEMA_VERSION}'}}",
}


def export_table(folder: Path, table: Table, path: Path, form: str) -> int:
    """Writes the rows of a table to ``path``, which appears whole; in the order of their steps.

    Bytes are written to CSV as hexadecimal digits, amounts by name as JSON. Other processes may write it meanwhile.

    Returns:
        How many rows there are.

    Raises:
        DecisionValidationError: no such format.
        RunError: a file of the table cannot be read, or the new one not written.
    """
    if form not in _FORMATS:
        raise DecisionValidationError(f"There is no format {form}; the formats are {', '.join(_FORMATS)}.")
    names = ", ".join(_cell(column, form) for column in table.columns)
    temporary = path.with_name(path.name + ".tmp")
    # what DuckDB puts aside would by default lie in the folder that the command was started from
    aside = tempfile.TemporaryDirectory(prefix="pkmn-duckdb-", ignore_cleanup_errors=True)
    config: dict[str, Any] = {"memory_limit": MEMORY_LIMIT, "temp_directory": aside.name}
    try:
        with aside, duckdb.connect(":memory:", config=config) as connection:
            for attempt in range(_ATTEMPTS):
                files = recorded_files(folder, table)
                query = f"SELECT {names} FROM ({_source(table, files)}) ORDER BY {table.step}, file, row"
                try:
                    written = connection.execute(f"COPY ({query}) TO {path_literal(temporary)} ({_FORMATS[form]})")
                    (count,) = written.fetchall()[0]
                    break
                except duckdb.Error as error:
                    is_ours = temporary.name in str(error)  # such as a disk that is full
                    if attempt + 1 < _ATTEMPTS and may_have_moved(error, files) and not is_ours:
                        continue
                    text = str(error).strip().split("\n", 1)[0]
                    reason = "the disk is full" if "No space left" in text else text
                    raise RunError(f"Cannot export the {table.name} of {folder} to {path}: {reason}") from error
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return int(count)


def _source(table: Table, files: list[TableFile]) -> str:
    return relation(table, files, "*, filename AS file, file_row_number AS row", places=True)


def _cell(column: Column, form: str) -> str:
    if form == "csv" and column.sql == "BLOB":
        return f'lower(hex("{column.name}")) AS "{column.name}"'
    if form == "csv" and column.sql == AMOUNTS:
        return f'to_json("{column.name}")::VARCHAR AS "{column.name}"'
    return f'"{column.name}"'
