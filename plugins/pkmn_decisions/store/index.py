"""Index of a run's tables: the written files, with their number of rows and their checksum.

``tables.jsonl`` is beside the tables' folders. Its first line has the id of the run's tables, which every file of the
tables holds too. Each further line is a file, added after the file itself is on disk. A process killed between the two
leaves a file with the id that the index does not list; such a file counts.
"""

from __future__ import annotations

import json
import os
import secrets
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pkmn_decisions.store.files import named_file
from pkmncli.api import TABLES_INDEX

FORMAT = 1
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class FileEntry:
    """File of a table as it was written. ``rows`` is None if an earlier version wrote it and it cannot be read now."""

    file: str
    """Path from the index's folder, with slashes."""
    rows: int | None
    bytes: int
    crc32: int
    schema: int

    @property
    def table(self) -> str:
        """Name of the table."""
        return self.file.partition("/")[0]

    def matches(self, size: int, checksum: int) -> bool:
        """Return whether a file of this size in bytes and this checksum is the one that was written."""
        return (self.bytes, self.crc32) == (size, checksum)


@dataclass(slots=True)
class TableIndex:
    """Index of the files written to the tables in a folder. Only the writer of the tables changes it."""

    folder: Path
    id: str
    entries: dict[str, FileEntry] = field(default_factory=dict)
    whole: bool = True
    """True if every line of the file can be read, except for a truncated last one."""
    complete: bool = True
    """True if the file holds all of ``entries``, and ends with a whole line."""
    takes_unmarked: bool = False
    """True if an earlier version began the tables, whose files hold no id."""

    @property
    def path(self) -> Path:
        """File of the index."""
        return self.folder / TABLES_INDEX

    @classmethod
    def new(cls, folder: Path, known_id: str | None, *, takes_unmarked: bool) -> TableIndex:
        """Return an empty index, with a new id unless the tables have one already. Nothing is written."""
        return cls(folder, known_id or secrets.token_hex(8), takes_unmarked=takes_unmarked)

    @classmethod
    def read(cls, folder: Path) -> TableIndex | None:
        """Return the index in a folder; None if there is none with an id."""
        path = folder / TABLES_INDEX
        try:
            status = path.stat()
            key = (status.st_ino, status.st_mtime_ns, status.st_size)
            kept = _read.get(path)
            if kept is None or kept[0] != key:
                kept = _read[path] = (key, cls._parsed(folder, path.read_bytes()))
        except OSError:  # reported if files show that there was one
            return None
        index = kept[1]
        return None if index is None else replace(index, entries=dict(index.entries))

    @classmethod
    def _parsed(cls, folder: Path, content: bytes) -> TableIndex | None:
        lines = content.splitlines(keepends=True)
        values = [_value(line) for line in lines]
        if not values or not isinstance(values[0].get("tables"), str):
            return None
        index = cls(folder, values[0]["tables"], takes_unmarked=bool(values[0].get("takes_unmarked")))
        for line, value in zip(lines[1:], values[1:], strict=True):
            entry = _entry(value)
            if entry is not None:
                index.entries[entry.file] = entry
            elif line.endswith(b"\n"):
                index.whole = index.complete = False
            else:
                index.complete = False
        return index

    def owns(self, owner: str | None) -> bool:
        """Return whether a file with this owner may belong to these tables."""
        return self.takes_unmarked if owner is None else owner == self.id

    def mark(self) -> str:
        """Return the mark of a new file: the tables' id, and a part that no other file has."""
        return f"{self.id}/{secrets.token_hex(8)}"

    def entry(self, path: Path, rows: int | None, schema: int) -> FileEntry:
        """Return the entry of a file as it is on disk now."""
        size, checksum = measure(path)
        return FileEntry(f"{path.parent.name}/{path.name}", rows, size, checksum, schema)

    def add(self, entry: FileEntry) -> None:
        """Add a file that is on disk. Raise OSError if the index cannot be written; the next call writes all of it."""
        self.entries[entry.file] = entry
        if self.complete and self.path.exists():
            self.complete = False  # half a line may be written
            with self.path.open("ab") as file:
                file.write(_line(asdict(entry)))
            self.complete = True
        else:
            self.write()

    def replace(self, gone: Iterable[str], new: Iterable[FileEntry] = ()) -> None:
        """Remove files, before they are moved, and add others. Raise OSError if the index cannot be written."""
        names, entries = set(gone), {entry.file: entry for entry in new}
        if names or entries:
            kept = {name: entry for name, entry in self.entries.items() if name not in names}
            self.entries = kept | entries
            self.write()

    def write(self) -> None:
        """Write the whole index again. Raise OSError if it cannot be written."""
        temporary = self.path.with_name(f".{TABLES_INDEX}.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as file:
                file.write(_line({"tables": self.id, "format": FORMAT, "takes_unmarked": self.takes_unmarked}))
                file.writelines(_line(asdict(entry)) for entry in self.entries.values())
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
            self.whole = self.complete = True
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def measure(path: Path) -> tuple[int, int]:
    """Return the size of a file in bytes, and its checksum (CRC-32)."""
    size = checksum = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            checksum = zlib.crc32(chunk, checksum)
    return size, checksum


def _entry(value: dict[str, Any]) -> FileEntry | None:
    try:
        entry = FileEntry(**value)
    except TypeError:
        return None
    numbers = (entry.bytes, entry.crc32, entry.schema, entry.rows or 0)
    if not isinstance(entry.file, str) or not all(type(one) is int for one in numbers):
        return None
    return None if named_file(Path(entry.file)) is None else entry


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _value(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


_read: dict[Path, tuple[tuple[int, int, int], TableIndex | None]] = {}
"""Indexes read so far, by file, with its inode, time of change and size: a question reads one many times."""
