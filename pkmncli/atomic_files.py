"""Files that are written whole or not at all, and read without blocking, with errors in one line."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

from pkmncli.api.data_text import parse_json
from pkmncli.errors import RunError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_atomic(path: Path, content: str | bytes, *, durable: bool = True) -> None:
    """Write a file under a temporary name in its folder, and rename it over the old one.

    Args:
        path: the file.
        content: text is written as UTF-8.
        durable: wait until it is on disk, so that it survives a power cut.

    Raises:
        RunError: the disk is full, or the file cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with write_errors_explained(path):
        try:
            with temporary.open("wb") as file:
                file.write(data)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            temporary.replace(path)
            if durable:
                to_disk(path.parent)  # otherwise a power cut may lose the name, and with it the file
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


def write_json(path: Path, content: Any, *, durable: bool = True) -> None:
    """Write JSON atomically. Numbers that JSON cannot hold (NaN, infinities) become null; see :func:`write_atomic`."""
    write_atomic(path, json.dumps(_plain(content), indent=2, ensure_ascii=False) + "\n", durable=durable)


def to_disk(path: Path) -> None:
    """Wait until a file, or a folder's names, are on disk and survive a power cut."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open folders, and keeps their names itself
    # Windows syncs only a file that is open for writing.
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def open_regular(path: Path) -> Iterator[BufferedReader]:
    """Open a file for reading.

    Raises:
        OSError: it cannot be opened, or is not a regular file: a pipe or a device might block, or never end.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
    except BaseException:
        os.close(descriptor)
        raise
    with os.fdopen(descriptor, "rb") as file:
        yield file


def read_regular(path: Path) -> bytes:
    """Return the content of a regular file; see :func:`open_regular`."""
    with open_regular(path) as file:
        return file.read()


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not a JSON object, or is nested too deeply.
    """
    content = parse_json(read_regular(path).decode("utf-8"))
    if not isinstance(content, dict):
        raise ValueError("it holds no object")
    return content


def reason(error: OSError) -> str:
    """Return the operating system's error message."""
    return error.strerror or str(error) or type(error).__name__


@contextlib.contextmanager
def write_errors_explained(path: Path) -> Iterator[None]:
    """Turn an OSError into a :class:`RunError` that names the file that could not be written, and the reason."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise RunError(f"the disk is full: {path} could not be written; free some space, then resume") from error
        raise RunError(f"{path} could not be written: {reason(error)}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "tolist"):  # a number or array of numpy
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value
