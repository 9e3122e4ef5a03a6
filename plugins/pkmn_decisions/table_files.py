"""The Parquet files of a table: how they are named, listed, and read as one relation.

A file's name says which steps of the run it holds (``000000000001-000000004096.parquet``), and the names sort in
the order in which the files were written. Any other file in the folder is ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pkmn_decisions.schema import Table

_NAME = re.compile(r"(\d{12})-(\d{12})(?:_(\d{3}))?\.parquet")


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


def relation(table: Table, files: list[TableFile], columns: str = "*") -> str:
    """SQL that selects the rows of these files. Without files it selects no rows of the same columns."""
    if not files:
        nothing = ", ".join(f'NULL::{column.sql} AS "{column.name}"' for column in table.columns)
        return f"SELECT {columns} FROM (SELECT {nothing}) WHERE false"
    paths = ", ".join(sql_text(file.path) for file in files)
    return f"SELECT {columns} FROM read_parquet([{paths}])"
