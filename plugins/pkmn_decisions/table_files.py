"""The Parquet files of a table: how they are named, listed, and read as one relation.

A file's name says which steps of the run it holds (``000000000001-000000004096.parquet``), and the names sort in
the order in which the files were written. Any other file in the folder is ignored.
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass
from math import isnan
from pathlib import Path

from pkmn_decisions.schema import AMOUNTS, SCHEMA_VERSION, Column, Table

_NAME = re.compile(r"(\d{12})-(\d{12})(?:_(\d{3}))?\.parquet")

_TAIL = struct.Struct("<I4s")
"""A Parquet file ends with its description, the length of that, and four letters."""
_VERSION = re.compile(rb"pkmn_schema\x18[\x01-\x09](\d+)")
"""Key, kind of the next field (a text) and its length in Thrift's compact form, then the version."""


@dataclass(frozen=True, slots=True, order=True)
class TableFile:
    """One file of a table, and the first and last step that its name gives."""

    path: Path
    first: int
    last: int


def list_files(folder: Path) -> list[TableFile]:
    """The files of the table kept in ``folder``, in the order in which they were written."""
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    matches = [(name, _NAME.fullmatch(name)) for name in names]
    return [TableFile(folder / name, int(match[1]), int(match[2])) for name, match in matches if match]


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


def relation(table: Table, files: list[TableFile], columns: str = "*", *, places: bool = False) -> str:
    """SQL that selects the rows of these files. Without files it selects no rows of the same columns.

    Columns that a file of an earlier version does not have hold their defaults.

    Args:
        table: whose files they are.
        files: the files.
        columns: what to select, in SQL.
        places: whether rows have two columns more: ``filename``, and ``file_row_number`` from 0.
    """
    parts = []
    for version, group in _by_version(files):
        paths = ", ".join(sql_text(file.path) for file in group)
        options = ", filename = true, file_row_number = true" if places else ""
        missing = [f'{_default(column)} AS "{column.name}"' for column in table.columns if column.since > version]
        parts.append(f"SELECT {', '.join(['*', *missing])} FROM read_parquet([{paths}]{options})")
    if len(parts) == 1:
        return f"SELECT {columns} FROM ({parts[0]})"
    if parts:
        return f"SELECT {columns} FROM ({' UNION ALL BY NAME '.join(parts)})"
    nothing = [f'NULL::{column.sql} AS "{column.name}"' for column in table.columns]
    nothing += ["'' AS filename", "0 AS file_row_number"] if places else []
    return f"SELECT {columns} FROM (SELECT {', '.join(nothing)}) WHERE false"


def _by_version(files: list[TableFile]) -> list[tuple[int, list[TableFile]]]:
    """The files by the version of the schema that they were written in. A run's files only ever get newer."""
    if not files:
        return []
    if schema_version(files[0].path) == schema_version(files[-1].path):
        return [(schema_version(files[0].path), files)]
    groups: dict[int, list[TableFile]] = {}
    for file in files:
        groups.setdefault(schema_version(file.path), []).append(file)
    return sorted(groups.items())


def schema_version(path: Path) -> int:
    """The version of the schema that stands in a file; the present one where it cannot be told.

    Files that cannot be read are told when they are.
    """
    try:
        with path.open("rb") as file:
            file.seek(-_TAIL.size, os.SEEK_END)
            length, magic = _TAIL.unpack(file.read(_TAIL.size))
            if magic != b"PAR1":
                return SCHEMA_VERSION
            file.seek(-_TAIL.size - length, os.SEEK_END)
            found = _VERSION.search(file.read(length))
    except (OSError, ValueError):
        return SCHEMA_VERSION
    return int(found[1]) if found is not None else SCHEMA_VERSION


def _default(column: Column) -> str:
    default = column.default
    if column.sql == AMOUNTS:
        return f"MAP([]::VARCHAR[], []::FLOAT[])::{AMOUNTS}"
    if isinstance(default, float) and isnan(default):
        return f"NULL::{column.sql}" if column.empty_if_nan else f"'NaN'::{column.sql}"
    return f"{sql_text(default) if isinstance(default, str) else default}::{column.sql}"
