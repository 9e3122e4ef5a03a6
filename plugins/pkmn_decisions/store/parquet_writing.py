"""Writing of a table's Parquet file: its query, the flush to disk, and the message if it fails."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from pkmn_decisions.store.files import failure, first_line, path_literal, sql_text
from pkmn_decisions.store.schema import AMOUNTS, SCHEMA_VERSION, Column, Table


def rows_query(table: Table, values: Mapping[str, Sequence[str]]) -> str:
    """Return SQL that selects the rows to write: the collected ones, with the values of their codes."""
    names, joins = [], []
    for column in table.columns:
        name = f'"{column.name}"'
        if column.coded:
            if len(values[column.name]) == 1:
                value = _decoded(column, sql_text(values[column.name][0]))
            else:
                value, of_it = f"values_of_{column.name}.value", f"values_of_{column.name}"
                known = f"SELECT number, {_decoded(column, 'value')} AS value FROM {of_it}"
                joins.append(f"JOIN ({known}) AS {of_it} ON {of_it}.number = rows_to_write.{name}")
            names.append(f"{value} AS {name}")
        elif column.empty_if_nan:
            names.append(f"nullif(rows_to_write.{name}, 'NaN'::{column.sql}) AS {name}")
        elif column.numpy:
            names.append(f"rows_to_write.{name}")
        else:
            names.append(f"rows_to_write.{name}::{column.sql} AS {name}")
    return f"SELECT {', '.join(names)} FROM rows_to_write {' '.join(joins)}"


def write_parquet(connection: duckdb.DuckDBPyConnection, query: str, target: Path, mark: str) -> None:
    """Write the rows of a query under a temporary name and rename the file to ``target``.

    Args:
        connection: executes the query.
        query: SQL that selects the rows.
        target: path of the file.
        mark: mark of the tables' index, which the file holds beside the schema's version.

    Raises:
        OSError: DuckDB or the system could not write the file.
    """
    temporary = target.with_name(target.name + ".tmp")
    about = f"pkmn_schema: '{SCHEMA_VERSION}', pkmn_tables: '{mark}'"
    try:
        connection.execute(
            f"COPY ({query}) TO {path_literal(temporary)} (FORMAT parquet, COMPRESSION zstd, "
            # Faster than the default, and for these columns no larger.
            f"COMPRESSION_LEVEL 1, USE_TMP_FILE false, KV_METADATA {{{about}}})"
        )
        force_to_disk(temporary)
        temporary.replace(target)
        force_to_disk(target.parent)
    except duckdb.Error as error:
        raise OSError(first_line(error)) from error
    finally:
        temporary.unlink(missing_ok=True)


def _decoded(column: Column, text: str) -> str:
    return f"{text}::JSON::{AMOUNTS}" if column.sql == AMOUNTS else f"{text}::VARCHAR"


def copy_file(source: Path, target: Path) -> None:
    """Link a file to a second name, or copy it if the file system has no links. ``target`` appears whole."""
    try:
        os.link(source, target)
    except OSError:
        temporary = target.with_name(target.name + ".tmp")
        try:
            shutil.copy2(source, temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def force_to_disk(path: Path) -> None:
    """Wait until a file's content, or a folder's names, are on the disk and survive a power cut."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open folders, and keeps their names itself
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_failed(table: str, path: Path, error: Exception) -> str:
    """Return the message for a file that could not be written, with a remedy."""
    return (
        f"Cannot write {table} to {path}: {failure(error)}. Free some space or repair the folder, then resume the run."
    )
