"""Store of a run's tables as folders of Parquet files, written and read through DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import numpy as np

from pkmn_decisions.store.counting import count_rows
from pkmn_decisions.store.export import export_table
from pkmn_decisions.store.files import (
    SUPERSEDED,
    TableFile,
    first_line,
    free_path,
    list_files,
    named_file,
    names_one_of,
    owner,
    relation,
    retry_if_moved,
    schema_version,
)
from pkmn_decisions.store.index import FileEntry, TableIndex
from pkmn_decisions.store.parquet_writing import copy_file, force_to_disk, rows_query, write_failed, write_parquet
from pkmn_decisions.store.recorded_files import TableCheck, check_table, check_tables, recorded_files
from pkmn_decisions.store.row_buffer import RowBuffer
from pkmn_decisions.store.schema import SCHEMA_VERSION, TABLES, Table
from pkmncli.api import TABLES_INDEX
from pkmncli.errors import DecisionValidationError, RunError


class DuckDBStore:
    """Store of the tables of one run; see :mod:`pkmn_decisions.store.schema` for their columns.

    Each flush writes one new file for each table, under a temporary name, and renames it. Files are never appended
    to or merged, so any number of processes may read while one writes. One process at a time may write.
    """

    def __init__(self, folder: Path) -> None:
        """Open the tables in a run's ``folder``. Nothing is created before the first flush."""
        self._folder = Path(folder)
        self._buffers: dict[str, RowBuffer] = {}
        self._written_index: TableIndex | None = None
        """Index of the written files; None before the first write."""
        # One thread: the store runs during a training that needs the cores.
        self._connection = duckdb.connect(":memory:", config={"threads": 1})

    def append(self, table: str, columns: Mapping[str, Any]) -> None:
        """Collect rows. They are on disk after :meth:`flush`, or earlier if there are many.

        Args:
            table: ``decisions``, ``episodes`` or ``metrics``.
            columns: column name -> array or list; all of one length. Copied, so the caller may reuse its buffers.

        Raises:
            DecisionValidationError: the columns are not those of the table; nothing was collected.
            RunError: the rows could not be written. They are kept, and the next flush tries again.
        """
        buffer = self._buffer(table)
        buffer.append(columns)
        if buffer.count >= buffer.table.rows_per_file:
            self._write(buffer)

    def flush(self) -> None:
        """Write all rows collected so far, one new file for each table that has any.

        Raises:
            RunError: the disk is full or the folder cannot be written; no part of a file is left, rows are kept.
        """
        for buffer in self._buffers.values():
            if buffer.count:
                self._write(buffer)

    def read(self, table: str, where: str = "", parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Return the flushed rows, in the order of their steps, and within a step in the order of writing.

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
            files: list[TableFile] = []

            def select() -> list[tuple[Any, ...]]:
                files[:] = recorded_files(self._folder, schema)
                source = relation(schema, files, places=True)
                query = f"SELECT {names} FROM ({source}){condition} ORDER BY {order}"
                return cursor.execute(query, list(parameters)).fetchall() if files else []

            try:
                rows = retry_if_moved(select, files)
            except duckdb.Error as error:
                if isinstance(error, duckdb.IOException) or names_one_of(error, files):
                    raise RunError(f"Cannot read the {table} in {self._folder}: {first_line(error)}") from error
                raise DecisionValidationError(f"Cannot select {table}: {first_line(error)}") from error
        keys = [column.name for column in schema.columns]
        return [dict(zip(keys, row, strict=True)) for row in rows]

    def export(self, table: str, path: Path, form: str) -> int:
        """Write the flushed rows of a table to one file; see :func:`pkmn_decisions.store.export.export_table`."""
        return export_table(self._folder, _table(table), path, form)

    def count(self, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count the flushed rows by columns; see :func:`pkmn_decisions.store.counting.count_rows`."""
        return count_rows(self._folder, _table(table), columns)

    def source(self, table: str) -> str:
        """Return SQL for DuckDB that selects the flushed rows of a table as it is now; see :func:`relation`.

        Raises:
            DecisionValidationError: no such table.
            RunError: a file is damaged, or was written by a newer version.
        """
        return relation(_table(table), recorded_files(self._folder, _table(table)))

    def problems(self) -> list[str]:
        """Return a line for each table file that is missing, damaged, doubled or another run's.

        Raises:
            RunError: a folder can't be read.
        """
        return check_tables(self._folder, TABLES.values())

    def size_bytes(self) -> int:
        """Return the disk space of all files of the store in bytes, including those set aside and the index."""
        folders = [self._folder / name for name in TABLES] + [self._folder / SUPERSEDED / name for name in TABLES]
        tables = sum(_size(file.path) for folder in folders for file in list_files(folder))
        return tables + _size(self._folder / TABLES_INDEX)

    def supersede(self, after_step: int, tables: Sequence[str] | None = None) -> int:
        """Move the rows of steps after ``after_step`` to the folder ``superseded``, when a run resumes there.

        Args:
            after_step: the last step whose rows stay.
            tables: names of the tables; all by default.

        A file that is only partly past that step is rewritten without that part; the original is kept in
        ``superseded``. Files are handled from the newest backwards, each by atomic renames, so a process killed at any
        point leaves a run without gaps and without doubled rows; a second call completes the work. A reader that
        listed the files just before may have to list them again, as :meth:`read` does.

        Returns:
            Number of rows set aside, over all tables.
        """
        self.flush()
        index = self._index()
        moved = 0
        for name in TABLES if tables is None else tables:
            table = _table(name)
            found = check_table(self._folder, table)
            later = [file for file in found.files if file.last > after_step]
            unreadable = [file for file in (*found.damaged, *found.strange) if file.last > after_step]
            try:
                self._forget(index, table, found, after_step)
            except OSError as error:
                raise RunError(write_failed(table.name, index.path, error)) from error
            for file in reversed(later):
                moved += self._supersede_file(index, table, file, after_step)
            for file in unreadable:
                self._set_aside(table, file)
        self._buffers.clear()
        return moved

    def close(self) -> None:
        """Flush, and release the database's memory. May be called twice."""
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
            found = check_table(self._folder, _table(name))
            last = max((file.last for file in (*found.files, *found.damaged)), default=-1)
            self._buffers[name] = RowBuffer(_table(name), last)
        return self._buffers[name]

    def _write(self, buffer: RowBuffer) -> None:
        index = self._index()
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
            if not index.path.exists():
                index.write()
            for name, content in registered.items():
                self._connection.register(name, content)
            try:
                write_parquet(self._connection, rows_query(table, values), target, index.mark())
            finally:
                for name in registered:
                    self._connection.unregister(name)
        except OSError as error:
            raise RunError(write_failed(table.name, target, error)) from error
        rows = buffer.count
        buffer.clear()
        # The rows are on disk: a file that the index lacks still counts, and is listed at the next write.
        with suppress(OSError):
            index.add(index.entry(target, rows, SCHEMA_VERSION))

    def _forget(self, index: TableIndex, table: Table, found: TableCheck, after_step: int) -> None:
        """Remove the files that are about to move from the index. A file that cannot be read any more leaves a gap."""
        readable = {file.path.name for file in found.files}
        gone, gaps = [], []
        for name, entry in index.entries.items():
            file = named_file(self._folder / name)
            if entry.table != table.name or file is None or file.last <= after_step:
                continue
            gone.append(name)
            if file.path.name not in readable and file.first <= after_step:
                gap = free_path(file.path.parent, file.first, after_step)
                gaps.append(replace(entry, file=f"{table.name}/{gap.name}", rows=None))
        index.replace(gone, gaps)

    def _supersede_file(self, index: TableIndex, table: Table, file: TableFile, after_step: int) -> int:
        past = f"{table.step} > {after_step}"
        source = relation(table, [file])
        try:
            count, kept, last_kept = self._connection.execute(
                f"SELECT count(*) FILTER ({past}), count(*) FILTER (NOT ({past})), "
                f"max({table.step}) FILTER (NOT ({past})) FROM ({source})"
            ).fetchall()[0]
            if not kept:
                self._set_aside(table, file)
                return int(count)
            if count:
                kept_originals = self._superseded(table)
                # The original is in both places until the rows to keep replace it, under its own name, atomically.
                if not any(original.path.samefile(file.path) for original in list_files(kept_originals)):
                    copy_file(file.path, free_path(kept_originals, file.first, file.last))
                write_parquet(self._connection, f"{source} WHERE NOT ({past})", file.path, index.mark())
            # Its name still promises rows that it no longer has; also if an earlier call was interrupted here.
            shorter = free_path(file.path.parent, file.first, int(last_kept))
            file.path.replace(shorter)
            force_to_disk(shorter.parent)
            index.add(index.entry(shorter, int(kept), schema_version(shorter)))
            return int(count)
        except (OSError, duckdb.Error) as error:
            raise RunError(write_failed(table.name, file.path, error)) from error

    def _set_aside(self, table: Table, file: TableFile) -> None:
        try:
            file.path.replace(free_path(self._superseded(table), file.first, file.last))
        except OSError as error:
            raise RunError(write_failed(table.name, file.path, error)) from error

    def _superseded(self, table: Table) -> Path:
        folder = self._folder / SUPERSEDED / table.name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _index(self) -> TableIndex:
        """Return the index to write to, in which all files of the tables are listed.

        Remove what a killed process left half-written. Reading does not do this: the files may be in use then.
        """
        if self._written_index is None:
            for name in TABLES:
                for folder in (self._folder / name, self._folder / SUPERSEDED / name):
                    for leftover in folder.glob("*.parquet.tmp"):
                        leftover.unlink(missing_ok=True)
            self._written_index = self._opened_index()
        return self._written_index

    def _opened_index(self) -> TableIndex:
        index = TableIndex.read(self._folder)
        checks = [(table, check_table(self._folder, table)) for table in TABLES.values()]
        if index is None:
            # An earlier version's tables, or the index is lost: only the files themselves are known.
            owners = [owner(file.path) for _, found in checks for file in found.files]
            own = next((one for one in owners if one is not None), None)
            index = TableIndex.new(self._folder, own, takes_unmarked=None in owners)
            new = [
                self._entry_of(index, table, file)
                for table, found in checks
                for file in found.files
                if index.owns(owner(file.path))
            ]
        else:
            new = [self._entry_of(index, table, file) for table, found in checks for file in found.unlisted]
        if new or not index.complete:
            try:
                index.entries |= {entry.file: entry for entry in new}
                index.write()
            except OSError as error:
                raise RunError(write_failed("the index", index.path, error)) from error
        return index

    def _entry_of(self, index: TableIndex, table: Table, file: TableFile) -> FileEntry:
        try:
            counted = self._connection.execute(f"SELECT count(*) FROM ({relation(table, [file])})").fetchall()
            rows = int(counted[0][0])
        except duckdb.Error:
            rows = None  # readers report it
        return index.entry(file.path, rows, schema_version(file.path))


def _table(name: str) -> Table:
    if name not in TABLES:
        raise DecisionValidationError(f"There is no table {name}; the tables are {', '.join(TABLES)}.")
    return TABLES[name]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
