"""Parquet files of a table: their names, their listing, and the one way to read them.

A file's name has the first and last step that it holds (``000000000001-000000004096.parquet``), and the names sort in
the order of writing. Any other file in the folder is ignored.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import TypeVar

import duckdb

from pkmn_decisions.store.literal_paths import literal_path
from pkmn_decisions.store.schema import AMOUNTS, SCHEMA_VERSION, Column, Table
from pkmncli.errors import RunError

SUPERSEDED = "superseded"
"""Folder of the run with rows that were recorded after the checkpoint from which the run resumed."""

_NAME = re.compile(r"(\d{12})-(\d{12})(?:_(\d{3}))?\.parquet")

_READ_ATTEMPTS = 5

T = TypeVar("T")


@dataclass(frozen=True, slots=True, order=True)
class TableFile:
    """File of a table, with the first and last step in its name."""

    path: Path
    first: int
    last: int
    schema: int | None = field(default=None, compare=False)
    """Version of its columns, if known without reading it."""

    @property
    def version(self) -> int:
        """Version of its columns, read from the file if it is not known."""
        return schema_version(self.path) if self.schema is None else self.schema


def list_files(folder: Path) -> list[TableFile]:
    """Return the files of the table in ``folder``, in the order of writing."""
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise RunError(f"{folder} can't be read: {error.strerror}; repair the folder") from None
    return [file for name in names if (file := named_file(folder / name)) is not None]


def named_file(path: Path, schema: int | None = None) -> TableFile | None:
    """Return the table's file of this path; None if its name is not one of a table's."""
    match = _NAME.fullmatch(path.name)
    return TableFile(path, int(match[1]), int(match[2]), schema) if match else None


def free_path(folder: Path, first: int, last: int) -> Path:
    """Return an unused path for a new file of rows ``first`` to ``last``."""
    stem = f"{first:012d}-{last:012d}"
    path, number = folder / f"{stem}.parquet", 1
    while path.exists():
        number += 1
        # An underscore sorts after the dot of the first file's extension: names stay in the order of writing.
        path = folder / f"{stem}_{number:03d}.parquet"
    return path


def first_line(error: Exception) -> str:
    """Return the first line of an error's text: DuckDB adds an excerpt of the query."""
    return str(error).strip().split("\n", 1)[0] or type(error).__name__


def failure(error: Exception) -> str:
    """Return the reason why a file could not be written, in one line."""
    return "the disk is full" if "No space left" in str(error) else first_line(error)


def sql_text(value: str | Path) -> str:
    """Return a text as an SQL literal."""
    return "'" + str(value).replace("'", "''") + "'"


def path_literal(path: Path) -> str:
    """Return a path as an SQL literal that DuckDB reads as this one file, with any characters in it."""
    return sql_text(literal_path(path))


def relation(table: Table, files: Sequence[TableFile], columns: str = "*", *, places: bool = False) -> str:
    """Return SQL that selects the rows of these files. Without files it selects no rows of the same columns.

    Columns that a file of an earlier version lacks have their defaults. Parts of the files' paths are never read as
    values.

    Args:
        table: table of the files.
        files: the files.
        columns: selected columns, in SQL.
        places: true to add the columns ``filename``, and ``file_row_number`` from 0.

    Raises:
        RunError: a file was written by a newer version.
    """
    parts = []
    for version, group in _by_version(files):
        paths = ", ".join(path_literal(file.path) for file in group)
        options = "hive_partitioning = false" + (", filename = true, file_row_number = true" if places else "")
        names = [
            f'{_missing(column)} AS "{column.name}"' if column.since > version else f'"{column.name}"'
            for column in table.columns
        ]
        names += ["filename", "file_row_number"] if places else []
        parts.append(f"SELECT {', '.join(names)} FROM read_parquet([{paths}], {options})")
    if len(parts) == 1:
        return f"SELECT {columns} FROM ({parts[0]})"
    if parts:
        return f"SELECT {columns} FROM ({' UNION ALL BY NAME '.join(parts)})"
    nothing = [f'NULL::{column.sql} AS "{column.name}"' for column in table.columns]
    nothing += ["'' AS filename", "0 AS file_row_number"] if places else []
    return f"SELECT {columns} FROM (SELECT {', '.join(nothing)}) WHERE false"


def names_one_of(error: Exception, files: Sequence[TableFile]) -> bool:
    """Return whether an error of the database is about one of these files."""
    text = str(error)
    return any(file.path.name in text for file in files)


def retry_if_moved(
    read: Callable[[], T],
    files: Sequence[TableFile],
    list_again: Callable[[], object] = lambda: None,
) -> T:
    """Return the result of ``read``; try again if a run that resumes has moved or rewritten a file meanwhile.

    Args:
        read: queries the files.
        files: the files that ``read`` queries; looked at after a failure, so it may be filled by ``read``.
        list_again: called before each further attempt, if ``read`` does not list the files itself.

    Raises:
        duckdb.Error: the query failed for another reason, or each time.
    """
    for _ in range(_READ_ATTEMPTS - 1):
        try:
            return read()
        except duckdb.Error as error:
            if not isinstance(error, duckdb.IOException) and all(file.path.exists() for file in files):
                raise
            list_again()
    return read()


def _by_version(files: Sequence[TableFile]) -> list[tuple[int, list[TableFile]]]:
    """Return the files by the version of their schema, oldest first."""
    groups: dict[int, list[TableFile]] = {}
    for file in files:
        version = file.version
        if version > SCHEMA_VERSION:
            raise RunError(f"{file.path} was written by a newer version of pkmncli: install that version to read it.")
        groups.setdefault(version, []).append(file)
    return sorted(groups.items())


def schema_version(path: Path) -> int:
    """Return the version of the schema that a file was written in; the present one if the file cannot be read."""
    version = _metadata(path).get("pkmn_schema", "")
    return int(version) if version.isdecimal() else SCHEMA_VERSION


def owner(path: Path) -> str | None:
    """Return the id of the tables that a file belongs to (:class:`pkmn_decisions.store.index.TableIndex`).

    None if the file has none, or cannot be read.
    """
    return _metadata(path).get("pkmn_tables", "").partition("/")[0] or None


@functools.cache
def _metadata_reader() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config={"threads": 1})


def _metadata(path: Path) -> Mapping[str, str]:
    """Return the keys and values of a Parquet file's footer; empty if it cannot be read."""
    try:
        status = path.stat()
        return _read_metadata(path, status.st_ino, status.st_mtime_ns, status.st_size)
    except (OSError, duckdb.Error):
        return {}


@functools.lru_cache(maxsize=16_384)
def _read_metadata(path: Path, *_identity: int) -> Mapping[str, str]:
    with _metadata_reader().cursor() as cursor:
        found = cursor.execute(f"SELECT key, value FROM parquet_kv_metadata({path_literal(path)})").fetchall()
    return {key.decode(errors="replace"): value.decode(errors="replace") for key, value in found}


def _missing(column: Column) -> str:
    """Return SQL of a column's value in a file that lacks it."""
    return f"({column.formerly})::{column.sql}" if column.formerly else _default(column)


def _default(column: Column) -> str:
    default = column.default
    if column.sql == AMOUNTS:
        return f"MAP([]::VARCHAR[], []::FLOAT[])::{AMOUNTS}"
    if isinstance(default, float) and isnan(default):
        return f"NULL::{column.sql}" if column.empty_if_nan else f"'NaN'::{column.sql}"
    return f"{sql_text(default) if isinstance(default, str) else default}::{column.sql}"
