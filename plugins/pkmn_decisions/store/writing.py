"""What it takes to write a file of a table: its query, getting it to the disk, and what to say where that fails."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from pkmn_decisions.store.files import failure, sql_text
from pkmn_decisions.store.schema import AMOUNTS, Column, Table


def rows_query(table: Table, values: Mapping[str, Sequence[str]]) -> str:
    """SQL that selects the rows to write: those collected, with the values that their numbers stand for."""
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


def _decoded(column: Column, text: str) -> str:
    return f"{text}::JSON::{AMOUNTS}" if column.sql == AMOUNTS else f"{text}::VARCHAR"


def copy_file(source: Path, target: Path) -> None:
    """A second name for a file, or a copy where the file system has no links. ``target`` appears whole."""
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
    """Waits until a file's content, or the names in a folder, are on the disk and survive a power cut."""
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folders, and keeps their names by itself
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_failed(table: str, path: Path, error: Exception) -> str:
    """What to say of a file that could not be written, and what to do."""
    return f"Cannot write {table} to {path}: {failure(error)}. Free some space or mend the folder, then resume the run."
