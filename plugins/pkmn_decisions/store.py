"""The tables of a run as folders of Parquet files, written and read through DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import numpy as np

from pkmn_decisions.row_buffer import RowBuffer
from pkmn_decisions.schema import SCHEMA_VERSION, TABLES, Table
from pkmn_decisions.table_count import count_rows
from pkmn_decisions.table_export import export_table
from pkmn_decisions.table_files import TableFile, free_path, list_files, relation, sql_text
from pkmn_decisions.table_writing import copy_file, first_line, force_to_disk, rows_query, write_failed
from pkmncli.errors import DecisionValidationError, RunError

SUPERSEDED = "superseded"
"""Folder of the run that keeps what a resumed run recorded before it went back to a checkpoint."""

_READ_ATTEMPTS = 5


class DuckDBStore:
    """Keeps the tables of one run; see :mod:`pkmn_decisions.schema` for their columns.

    Each flush writes one new file for each table, under a temporary name, and renames it. Files are never appended
    to or merged, so any number of processes may read while one writes. One process at a time may write.
    """

    def __init__(self, folder: Path) -> None:
        """Opens the tables in a run's ``folder``. Nothing is created before the first flush."""
        self._folder = Path(folder)
        self._buffers: dict[str, RowBuffer] = {}
        self._ready_to_write = False
        # One thread: the store lives beside a training that needs the cores.
        self._connection = duckdb.connect(":memory:", config={"threads": 1})

    def append(self, table: str, columns: Mapping[str, Any]) -> None:
        """Collects rows. They are on disk after :meth:`flush`, or earlier when many have come together.

        Args:
            table: ``decisions``, ``episodes`` or ``metrics``.
            columns: column name -> array or list; all of one length. Copied, so buffers may be used again.

        Raises:
            DecisionValidationError: the columns are not those of the table; nothing was collected.
            RunError: the rows could not be written. They are kept, and the next flush tries again.
        """
        buffer = self._buffer(table)
        buffer.append(columns)
        if buffer.count >= buffer.table.rows_per_file:
            self._write(buffer)

    def flush(self) -> None:
        """Writes all rows collected so far, one new file for each table that has some.

        Raises:
            RunError: the disk is full or the folder cannot be written; no part of a file is left, rows are kept.
        """
        for buffer in self._buffers.values():
            if buffer.count:
                self._write(buffer)

    def read(self, table: str, where: str = "", parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Rows that were flushed, in the order of their steps, and within a step in the order of writing.

        Args:
            table: ``decisions``, ``episodes`` or ``metrics``.
            where: an SQL condition on the table's columns, with ``?`` for each parameter; empty for all rows.
            parameters: values for the ``?`` of the condition.

        Raises:
            DecisionValidationError: no such table, or the condition is not valid.
            RunError: a file cannot be read.
        """
        schema = _table(table)
        condition = f" WHERE {where}" if where else ""
        order = f"{schema.step}, filename, file_row_number"
        names = ", ".join(f'"{column.name}"' for column in schema.columns)
        with self._connection.cursor() as cursor:
            for attempt in range(_READ_ATTEMPTS):
                files = list_files(self._folder / table)
                if not files:
                    return []
                try:
                    source = relation(schema, files, places=True)
                    rows = cursor.execute(
                        f"SELECT {names} FROM ({source}){condition} ORDER BY {order}", list(parameters)
                    ).fetchall()
                except duckdb.Error as error:
                    # A run that resumes may have moved a file since it was listed.
                    if attempt + 1 < _READ_ATTEMPTS and any(not file.path.exists() for file in files):
                        continue
                    if isinstance(error, duckdb.IOException) or any(str(file.path) in str(error) for file in files):
                        raise RunError(f"Cannot read the {table} in {self._folder}: {first_line(error)}") from error
                    raise DecisionValidationError(f"Cannot select {table}: {first_line(error)}") from error
                keys = [column.name for column in schema.columns]
                return [dict(zip(keys, row, strict=True)) for row in rows]
        raise AssertionError("unreachable")

    def export(self, table: str, path: Path, form: str) -> int:
        """Writes the flushed rows of a table to one file; see :func:`pkmn_decisions.table_export.export_table`."""
        return export_table(self._folder, _table(table), path, form)

    def count(self, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Counts the flushed rows by columns; see :func:`pkmn_decisions.table_count.count_rows`."""
        return count_rows(self._folder, _table(table), columns)

    def size_bytes(self) -> int:
        """Disk space of all files of the store, those set aside included."""
        folders = [self._folder / name for name in TABLES] + [self._folder / SUPERSEDED / name for name in TABLES]
        return sum(_size(file.path) for folder in folders for file in list_files(folder))

    def supersede(self, after_step: int, tables: Sequence[str] | None = None) -> int:
        """Moves the rows of steps after ``after_step`` to the folder ``superseded``, when a run resumes there.

        Args:
            after_step: the last step whose rows stay.
            tables: of these tables only; of all without.

        A file of which only a part is past that step is rewritten without it; the original is kept in
        ``superseded``. Files are handled from the newest backwards, each by renames that take effect at once, so a
        process killed at any point leaves a run without gaps and without doubled rows; calling it again goes on.
        A reader that listed the files just before may have to list them again, as :meth:`read` does.

        Returns:
            How many rows were set aside, over all tables.
        """
        self.flush()
        self._prepare_to_write()
        moved = 0
        for name in TABLES if tables is None else tables:
            table = _table(name)
            for file in reversed(list_files(self._folder / name)):
                if file.last > after_step:
                    moved += self._supersede_file(table, file, after_step)
        self._buffers.clear()
        return moved

    def close(self) -> None:
        """Flushes, and lets go of the database's memory. Safe to call twice."""
        try:
            self.flush()
        finally:
            self._buffers.clear()
            self._connection.close()

    def __enter__(self) -> DuckDBStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _buffer(self, name: str) -> RowBuffer:
        if name not in self._buffers:
            files = list_files(self._folder / name)
            last = max((file.last for file in files), default=-1)
            self._buffers[name] = RowBuffer(_table(name), last)
        return self._buffers[name]

    def _write(self, buffer: RowBuffer) -> None:
        self._prepare_to_write()
        table = buffer.table
        columns = buffer.columns()
        steps = columns[table.step]
        folder = self._folder / table.name
        target = free_path(folder, int(steps.min()), int(steps.max()))
        values = {column.name: buffer.values(column.name) for column in table.columns if column.coded}
        registered = {"rows_to_write": columns} | {
            f"values_of_{name}": {"number": np.arange(len(own), dtype=np.uint32), "value": np.array(own, object)}
            for name, own in values.items()
            if len(own) > 1
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in registered.items():
                self._connection.register(name, content)
            try:
                self._write_file(rows_query(table, values), target)
            finally:
                for name in registered:
                    self._connection.unregister(name)
        except OSError as error:
            raise RunError(write_failed(table.name, target, error)) from error
        buffer.clear()

    def _write_file(self, query: str, target: Path) -> None:
        """Writes the rows of a query under a temporary name and renames the file to ``target``."""
        temporary = target.with_name(target.name + ".tmp")
        try:
            self._connection.execute(
                f"COPY ({query}) TO {sql_text(temporary)} (FORMAT parquet, COMPRESSION zstd, "
                # Faster than the default, and for these columns no larger.
                f"COMPRESSION_LEVEL 1, USE_TMP_FILE false, KV_METADATA {{pkmn_schema: '{SCHEMA_VERSION}'}})"
            )
            force_to_disk(temporary)
            temporary.replace(target)
            force_to_disk(target.parent)
        except duckdb.Error as error:
            raise OSError(first_line(error)) from error
        finally:
            temporary.unlink(missing_ok=True)

    def _supersede_file(self, table: Table, file: TableFile, after_step: int) -> int:
        past = f"{table.step} > {after_step}"
        source = relation(table, [file])
        try:
            count, last_kept = self._connection.execute(
                f"SELECT count(*) FILTER ({past}), max({table.step}) FILTER (NOT ({past})) FROM ({source})"
            ).fetchall()[0]
            kept_originals = self._folder / SUPERSEDED / table.name
            kept_originals.mkdir(parents=True, exist_ok=True)
            aside = free_path(kept_originals, file.first, file.last)
            if last_kept is None:
                file.path.replace(aside)
                return int(count)
            if count:
                # The original is in both places until the rows to keep replace it, under its own name, at once.
                if not any(original.path.samefile(file.path) for original in list_files(kept_originals)):
                    copy_file(file.path, aside)
                self._write_file(f"{source} WHERE NOT ({past})", file.path)
            # Its name still promises rows that it no longer has; so also when an earlier call was cut off here.
            file.path.replace(free_path(file.path.parent, file.first, int(last_kept)))
            return int(count)
        except (OSError, duckdb.Error) as error:
            raise RunError(write_failed(table.name, file.path, error)) from error

    def _prepare_to_write(self) -> None:
        """Removes what a killed process left half-written. Not done while only reading: it may be in use then."""
        if self._ready_to_write:
            return
        for name in TABLES:
            for folder in (self._folder / name, self._folder / SUPERSEDED / name):
                for leftover in folder.glob("*.parquet.tmp"):
                    leftover.unlink(missing_ok=True)
        self._ready_to_write = True


def _table(name: str) -> Table:
    if name not in TABLES:
        raise DecisionValidationError(f"There is no table {name}; the tables are {', '.join(TABLES)}.")
    return TABLES[name]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
