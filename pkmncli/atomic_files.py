"""Writes files that appear whole or not at all, and says in one line when the disk is full."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pkmncli.errors import RunError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_atomic(path: Path, content: str | bytes, *, durable: bool = True) -> None:
    """Writes a file under a temporary name in its folder and renames it over what was there.

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
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


def write_json(path: Path, content: Any, *, durable: bool = True) -> None:
    """Writes JSON atomically. Numbers that JSON cannot hold (NaN, infinities) become null; see :func:`write_atomic`."""
    write_atomic(path, json.dumps(_plain(content), indent=2, ensure_ascii=False) + "\n", durable=durable)


def to_disk(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on disk and survive a power cut."""
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folders, and keeps their names by itself
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def write_errors_explained(path: Path) -> Iterator[None]:
    """Turns what the operating system says into a :class:`RunError` that names what could not be written, and why."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise RunError(f"the disk is full: {path} could not be written; free some space, then go on") from error
        raise RunError(f"{path} could not be written: {error.strerror or error}") from error


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
