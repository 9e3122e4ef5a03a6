"""The Parquet files of a table: how they are named and listed, and the one way in which they are read.

A file's name says which steps of the run it holds (``000000000001-000000004096.parquet``), and the names sort in
the order in which the files were written. Any other file in the folder is ignored.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path

import duckdb

from pkmn_decisions.store.literal_paths import literal_path
from pkmn_decisions.store.schema import AMOUNTS, SCHEMA_VERSION, Column, Table
from pkmncli.errors import RunError

SUPERSEDED = "superseded"
"""Folder of the run that keeps what a resumed run recorded before it went back to a checkpoint."""

_NAME = re.compile(r"(\d{12})-(\d{12})(?:_(\d{3}))?\.parquet")

_TAIL = struct.Struct("<I4s")
"""A Parquet file ends with its description, the length of that, and four letters."""
_VERSION = re.compile(rb"pkmn_schema\x18[\x01-\x09](\d+)")
"""Key, kind of the next field (a text) and its length in Thrift's compact form, then the version."""
_TABLES = re.compile(rb"pkmn_tables\x18.([0-9a-f]+)/")
"""The same for what tells a run's files from those of others."""


@dataclass(frozen=True, slots=True, order=True)
class TableFile:
    """One file of a table, and the first and last step that its name gives."""

    path: Path
    first: int
    last: int
    schema: int | None = field(default=None, compare=False)
    """Version of its columns, where that is known without a look into it."""


def list_files(folder: Path) -> list[TableFile]:
    """The files of the table kept in ``folder``, in the order in which they were written."""
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise RunError(f"{folder} can't be read: {error.strerror}; mend the folder") from None
    return [file for name in names if (file := named_file(folder / name)) is not None]


def named_file(path: Path, schema: int | None = None) -> TableFile | None:
    """Return the table's file of this path; None where its name is none of a table's."""
    match = _NAME.fullmatch(path.name)
    return TableFile(path, int(match[1]), int(match[2]), schema) if match else None


def free_path(folder: Path, first: int, last: int) -> Path:
    """A path for a new file of rows ``first`` to ``last`` that no file has yet."""
    stem = f"{first:012d}-{last:012d}"
    path, number = folder / f"{stem}.parquet", 1
    while path.exists():
        number += 1
        # An underscore sorts after the dot of the first file's extension: names stay in the order of writing.
        path = folder / f"{stem}_{number:03d}.parquet"
    return path


def sql_text(value: str | Path) -> str:
    """A text as an SQL literal."""
    return "'" + str(value).replace("'", "''") + "'"


def path_literal(path: Path) -> str:
    """A path as an SQL literal that DuckDB takes for this file alone, whatever characters are in it."""
    return sql_text(literal_path(path))


def relation(table: Table, files: Sequence[TableFile], columns: str = "*", *, places: bool = False) -> str:
    """SQL that selects the rows of these files. Without files it selects no rows of the same columns.

    Columns that a file of an earlier version does not have hold their defaults. What stands in the files' paths is
    never read as a value.

    Args:
        table: whose files they are.
        files: the files.
        columns: what to select, in SQL.
        places: whether rows have two columns more: ``filename``, and ``file_row_number`` from 0.

    Raises:
        RunError: a file was written by a newer version.
    """
    parts = []
    for version, group in _by_version(files):
        paths = ", ".join(path_literal(file.path) for file in group)
        options = "hive_partitioning = false" + (", filename = true, file_row_number = true" if places else "")
        missing = [f'{_default(column)} AS "{column.name}"' for column in table.columns if column.since > version]
        parts.append(f"SELECT {', '.join(['*', *missing])} FROM read_parquet([{paths}], {options})")
    if len(parts) == 1:
        return f"SELECT {columns} FROM ({parts[0]})"
    if parts:
        return f"SELECT {columns} FROM ({' UNION ALL BY NAME '.join(parts)})"
    nothing = [f'NULL::{column.sql} AS "{column.name}"' for column in table.columns]
    nothing += ["'' AS filename", "0 AS file_row_number"] if places else []
    return f"SELECT {columns} FROM (SELECT {', '.join(nothing)}) WHERE false"


def names_one_of(error: Exception, files: Sequence[TableFile]) -> bool:
    """Whether an error of the database is about one of these files."""
    text = str(error)
    return any(file.path.name in text for file in files)


def may_have_moved(error: Exception, files: Sequence[TableFile]) -> bool:
    """Whether a query may have failed because a run that resumes moved a file meanwhile, or wrote it anew since."""
    return isinstance(error, duckdb.IOException) or any(not file.path.exists() for file in files)


def _by_version(files: Sequence[TableFile]) -> list[tuple[int, list[TableFile]]]:
    """The files by the version of the schema that they were written in, oldest first."""
    groups: dict[int, list[TableFile]] = {}
    for file in files:
        version = schema_version(file.path) if file.schema is None else file.schema
        if version > SCHEMA_VERSION:
            raise RunError(f"{file.path} was written by a newer version of pkmncli: install that version to read it.")
        groups.setdefault(version, []).append(file)
    return sorted(groups.items())


def schema_version(path: Path) -> int:
    """The version of the schema that stands in a file; the present one where it cannot be told.

    Files that cannot be read are told when they are.
    """
    found = _VERSION.search(_description(path))
    return int(found[1]) if found is not None else SCHEMA_VERSION


def owner(path: Path) -> str | None:
    """What the file says about whose tables it belongs to (:class:`pkmn_decisions.store.index.TableIndex`)."""
    found = _TABLES.search(_description(path))
    return found[1].decode() if found is not None else None


def _description(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(-_TAIL.size, os.SEEK_END)
            length, magic = _TAIL.unpack(file.read(_TAIL.size))
            if magic != b"PAR1":
                return b""
            file.seek(-_TAIL.size - length, os.SEEK_END)
            return file.read(length)
    except (OSError, ValueError):
        return b""


def _default(column: Column) -> str:
    default = column.default
    if column.sql == AMOUNTS:
        return f"MAP([]::VARCHAR[], []::FLOAT[])::{AMOUNTS}"
    if isinstance(default, float) and isnan(default):
        return f"NULL::{column.sql}" if column.empty_if_nan else f"'NaN'::{column.sql}"
    return f"{sql_text(default) if isinstance(default, str) else default}::{column.sql}"
