"""Files of a table that hold recorded rows, according to the index of the run's tables.

A missing file leaves a gap, and a file that is not the run's or is a copy is left out; a line reports each. A file with
other content than was written under its name is an error. Tables of earlier versions have no index: only their doubled
or missing decisions are noticed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pkmn_decisions.store.files import TableFile, list_files, named_file, owner
from pkmn_decisions.store.index import FileEntry, TableIndex, measure
from pkmn_decisions.store.schema import Table
from pkmncli.api import TABLES_INDEX, tell_once
from pkmncli.errors import RunError

_ATTEMPTS = 5
_measured: dict[tuple[Path, int, int, int], tuple[int, int]] = {}
"""Size and checksum of files by path, inode, time of change and size."""


@dataclass(slots=True)
class TableCheck:
    """Result of a check of a table's files."""

    files: list[TableFile] = field(default_factory=list)
    """Files with recorded rows, in the order of writing."""
    damaged: list[TableFile] = field(default_factory=list)
    strange: list[TableFile] = field(default_factory=list)
    """Files of other runs, and copies."""
    unlisted: list[TableFile] = field(default_factory=list)
    """Files among ``files`` that the index lacks: their writer was killed, or is about to list them."""
    gaps: list[str] = field(default_factory=list)
    """Lines for missing and for damaged files."""
    notes: list[str] = field(default_factory=list)
    """Lines for files that are left out because they are not the run's."""


def recorded_files(folder: Path, table: Table) -> list[TableFile]:
    """Return the files of a table that hold recorded rows. Report missing files and files left out once.

    Args:
        folder: folder of the tables.
        table: one of them.

    Raises:
        RunError: a file has other content than was recorded, or a folder cannot be read.
    """
    found = check_table(folder, table)
    if found.damaged:
        raise RunError(found.gaps[0])
    for line in (*found.gaps, *found.notes):
        tell_once(line)
    return found.files


def check_tables(folder: Path, tables: Iterable[Table]) -> list[str]:
    """Return a line for each gap and each file left out, over these tables."""
    checks = [check_table(folder, table) for table in tables]
    return list(dict.fromkeys(line for found in checks for line in found.gaps + found.notes))


def check_table(folder: Path, table: Table) -> TableCheck:
    """Compare the files of a table with the index, both as the writer left them at one time."""
    for attempt in range(_ATTEMPTS):
        index = TableIndex.read(folder)
        try:
            found = _check(folder, table, index)
        except FileNotFoundError:  # a resuming run has just moved it
            if attempt + 1 == _ATTEMPTS:
                raise RunError(f"The {table.name} in {folder} are changing: try again") from None
            continue
        # The index changes before files are moved, so an unchanged index describes these files.
        if not (found.gaps or found.notes) or _same(index, TableIndex.read(folder)):
            return found
    return found


def _check(folder: Path, table: Table, index: TableIndex | None) -> TableCheck:
    files = list_files(folder / table.name)
    found = TableCheck()
    if index is None:
        if any(owner(file.path) is not None for file in files[:1]):
            found.notes.append(
                f"{folder / TABLES_INDEX} is missing or damaged: it is unknown whether files are missing"
            )
        _take_without_index(table, files, found)
        return found
    if not index.whole:
        found.notes.append(f"{folder / TABLES_INDEX} has damaged lines: it is unknown whether files are missing")
    entries = {name: entry for name, entry in index.entries.items() if entry.table == table.name}
    written = {(entry.bytes, entry.crc32): name for name, entry in entries.items()}
    for file in files:
        entry = entries.pop(f"{table.name}/{file.path.name}", None)
        size, checksum = _measure(file.path)
        if entry is not None:
            if entry.matches(size, checksum):
                found.files.append(TableFile(file.path, file.first, file.last, entry.schema))
            else:
                found.damaged.append(file)
                found.gaps.append(_damaged(table, file, entry, size))
        elif (size, checksum) in written:
            original = Path(written[size, checksum]).name
            found.strange.append(file)
            found.notes.append(f"{file.path} is a copy of {original}, and was left out")
        elif not index.owns(owner(file.path)):
            file.path.stat()  # raises if it has just been moved, which hides its owner
            found.strange.append(file)
            found.notes.append(f"{file.path} was not recorded by this run, and was left out")
        else:
            written[size, checksum] = file.path.name
            found.files.append(file)
            found.unlisted.append(file)
    found.notes += _strangers(folder / table.name)
    if entries:
        found.gaps.append(_missing(folder, table, list(entries.values())))
    return found


def _take_without_index(table: Table, files: Sequence[TableFile], found: TableCheck) -> None:
    """Take the files of an earlier version's tables; their names show missing and doubled steps of decisions."""
    last = None
    for file in files:
        if table.one_row_per_step and last is not None:
            if file.first <= last:
                found.strange.append(file)
                found.notes.append(f"{file.path} holds steps that an earlier file has, and was left out")
                continue
            if file.first > last + 1:
                found.gaps.append(f"{file.path.parent} has no {table.name} of steps {last + 1:,} to {file.first - 1:,}")
        found.files.append(file)
        last = file.last


def _strangers(folder: Path) -> list[str]:
    """Return lines for files with names that this store does not write."""
    try:
        paths = sorted(path for path in folder.glob("*.parquet") if named_file(path) is None)
    except OSError:
        return []
    return [f"{path} was not recorded by this run, and was left out" for path in paths]


def _damaged(table: Table, file: TableFile, entry: FileEntry, size: int) -> str:
    rows = "" if entry.rows is None else f" with {entry.rows:,} rows"
    has = f"it has {size:,} bytes" if size != entry.bytes else "its content differs"
    return (
        f"{file.path} is not what was recorded: {has}, {entry.bytes:,} bytes{rows} of {table.name} were written; "
        "put a copy of it back, or remove it to continue without these rows"
    )


def _missing(folder: Path, table: Table, entries: Sequence[FileEntry]) -> str:
    known = [entry.rows for entry in entries if entry.rows is not None]
    rows = f"{sum(known):,} rows" if len(known) == len(entries) else "rows"
    names = [file for entry in entries if (file := named_file(folder / entry.file)) is not None]
    first, last = min(file.first for file in names), max(file.last for file in names)
    steps = f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"
    which = f"{folder / entries[0].file} is missing" if len(entries) == 1 else None
    which = which or f"{len(entries):,} files of {folder / table.name} are missing, {names[0].path.name} the first"
    return f"{which}: {rows} of {table.name}, {steps}, were recorded there and are left out"


def _measure(path: Path) -> tuple[int, int]:
    status = path.stat()
    key = (path, status.st_ino, status.st_mtime_ns, status.st_size)
    if key not in _measured:
        try:
            _measured[key] = measure(path)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise RunError(f"{path} can't be read: {error.strerror or error}") from None
    return _measured[key]


def _same(one: TableIndex | None, other: TableIndex | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.id, one.entries) == (other.id, other.entries)
