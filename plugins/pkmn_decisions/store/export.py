"""Export of a whole table to one file, CSV or Parquet, or into an SQLite file, for other programs."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

from pkmn_decisions.store.files import TableFile, failure, path_literal, relation, retry_if_moved
from pkmn_decisions.store.recorded_files import recorded_files
from pkmn_decisions.store.schema import AMOUNTS, SCHEMA_VERSION, Column, Table
from pkmncli.errors import DecisionValidationError, RunError

MEMORY_LIMIT = "2GB"
"""Maximum memory for sorting the rows; beyond it DuckDB uses a temporary folder."""

SQLITE = "sqlite"
_BATCH = 10_000
_SQLITE_TYPES = {
    **dict.fromkeys(("DOUBLE", "FLOAT"), "REAL"),
    **dict.fromkeys(("VARCHAR", "UBIGINT", AMOUNTS), "TEXT"),
    "BLOB": "BLOB",
}
"""Types of SQLite for other types than whole numbers."""

_FORMATS = {
    "csv": "FORMAT csv, HEADER true",
    "parquet": f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{pkmn_schema: '{SCHEMA_VERSION}'}}",
}


def export_table(folder: Path, table: Table, path: Path, form: str) -> int:
    """Write the rows of a table to ``path``, in the order of their steps. The file appears whole.

    In CSV, bytes are hexadecimal digits. In CSV and SQLite, amounts by name are JSON. SQLite has no unsigned numbers of
    64 bits: they are decimal text there. An SQLite file keeps its other tables. Other processes may write the table
    meanwhile.

    Returns:
        Number of rows.

    Raises:
        DecisionValidationError: no such format.
        RunError: a file of the table cannot be read, or the new one not written.
    """
    if form not in (*_FORMATS, SQLITE):
        raise DecisionValidationError(f"There is no format {form}; the formats are {', '.join((*_FORMATS, SQLITE))}.")
    names = ", ".join(_cell(column, form) for column in table.columns)
    temporary = path.with_name(path.name + ".tmp")

    def failed(error: duckdb.Error) -> RunError:
        return RunError(f"Cannot export the {table.name} of {folder} to {path}: {failure(error)}")

    # By default DuckDB's temporary files are in the folder from which the command was started.
    aside = tempfile.TemporaryDirectory(prefix="pkmn-duckdb-", ignore_cleanup_errors=True)
    config: dict[str, Any] = {"memory_limit": MEMORY_LIMIT, "temp_directory": aside.name}
    try:
        with aside, duckdb.connect(":memory:", config=config) as connection:
            files: list[TableFile] = []

            def write() -> int:
                files[:] = recorded_files(folder, table)
                query = f"SELECT {names} FROM ({_source(table, files)}) ORDER BY {table.step}, file, row"
                if form == SQLITE:
                    return _to_sqlite(connection.execute(query), table, path, temporary)
                try:
                    written = connection.execute(f"COPY ({query}) TO {path_literal(temporary)} ({_FORMATS[form]})")
                except duckdb.Error as error:
                    if temporary.name in str(error):  # such as a full disk: no reason to try again
                        raise failed(error) from error
                    raise
                return int(written.fetchall()[0][0])

            try:
                count = retry_if_moved(write, files)
            except duckdb.Error as error:
                raise failed(error) from error
            except (sqlite3.Error, OSError) as error:
                raise RunError(f"Cannot export the {table.name} of {folder} to {path}: {error}") from error
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return count


def _to_sqlite(rows: duckdb.DuckDBPyConnection, table: Table, path: Path, temporary: Path) -> int:
    """Write the rows of a query as a table of an SQLite file, in place of one of its name. Return their number."""
    temporary.unlink(missing_ok=True)
    if path.exists():
        shutil.copyfile(path, temporary)
    columns = ", ".join(f'"{column.name}" {_SQLITE_TYPES.get(column.sql, "INTEGER")}' for column in table.columns)
    with closing(sqlite3.connect(temporary)) as database, database:
        database.execute(f'DROP TABLE IF EXISTS "{table.name}"')
        database.execute(f'CREATE TABLE "{table.name}" ({columns})')
        places, count = ", ".join("?" * len(table.columns)), 0
        while batch := rows.fetchmany(_BATCH):
            database.executemany(f'INSERT INTO "{table.name}" VALUES ({places})', batch)
            count += len(batch)
    return count


def _source(table: Table, files: list[TableFile]) -> str:
    return relation(table, files, "*, filename AS file, file_row_number AS row", places=True)


def _cell(column: Column, form: str) -> str:
    if form == "csv" and column.sql == "BLOB":
        return f'lower(hex("{column.name}")) AS "{column.name}"'
    if form == SQLITE and column.sql == "UBIGINT":
        return f'"{column.name}"::VARCHAR AS "{column.name}"'
    if form in ("csv", SQLITE) and column.sql == AMOUNTS:
        return f'to_json("{column.name}")::VARCHAR AS "{column.name}"'
    return f'"{column.name}"'
