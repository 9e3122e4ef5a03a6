"""Paths, and readers of files, JSON and TOML that may be anybody's: every fault of a text is a ValueError."""

from __future__ import annotations

import contextlib
import errno
import shlex
import stat
from pathlib import Path
from typing import Any

MOST_TEXT = 16 * 2**20
"""Bytes of settings, a profile, a template or the like; none of the program's own has a tenth of that."""
MOST_BYTES = 64 * 2**20
"""Bytes of anything else, such as a saved state."""

MOST_LEVELS = 100
"""Tables and lists within each other; none of the program's files has more than twenty."""

_TOO_DEEP = f"nested more than {MOST_LEVELS} levels deep"


def expand_home(path: Path) -> Path:
    """Return a path with a home folder in place of ``~`` or ``~user``; unchanged if nobody has it, as shells do."""
    try:
        return path.expanduser()
    except (RuntimeError, ValueError):
        return path


def quoted_path(path: Path) -> str:
    """Return a path as it can be pasted into a command line here: relative to the current folder if it is in it."""
    with contextlib.suppress(OSError, ValueError):  # the current folder is gone, or the path is elsewhere
        path = path.absolute().relative_to(Path.cwd())
    text = str(path)
    # else an option, a home folder or, for --start-from, the policy of a game
    return shlex.quote(f"./{text}" if text.startswith(("-", "~", "pretrained")) else text)


def is_folder(path: Path) -> bool:
    """Return True for a folder. Raise OSError if it can't be examined, which ``is_dir()`` hides from Python 3.14 on."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP):
            return False
        raise


def read_given(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file that a user named, which may be a pipe, such as a shell's ``<(...)``.

    Raises:
        OSError: it can't be read, or has more than ``most`` bytes. So has a film that was named by mistake, and a
            device without an end; read whole, they would take all memory.
    """
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most >> 20} MB", str(path))
    return content


def read_given_text(path: Path) -> str:
    """Return the text of such a file, in UTF-8: with ``\\n`` as the end of every line, and without a byte order mark.

    Raises:
        OSError: as for :func:`read_given`; it has more than :data:`MOST_TEXT` bytes.
        UnicodeDecodeError: it is no such text.
    """
    text = read_given(path, MOST_TEXT).decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is no JSON, nested too deeply, has a number of too many digits, or an object with two values of
            one name. A ``json.JSONDecodeError`` except where bytes are no text.
    """
    import json  # noqa: PLC0415 - many commands read none

    try:
        value = json.loads(text, object_pairs_hook=_object)
        fault = _TOO_DEEP if _levels_exceed(value, MOST_LEVELS) else ""
    except RecursionError:
        fault = _TOO_DEEP
    except _TwiceError as error:
        fault = str(error)
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
            raise
        fault = "a number has too many digits"
    if fault:
        raise json.JSONDecodeError(fault, "", 0) from None
    return value


def parse_toml(text: str) -> dict[str, Any]:
    """Return the content of a TOML text.

    Raises:
        tomllib.TOMLDecodeError: it is no TOML, nested too deeply, or has a number of too many digits.
    """
    import tomllib  # noqa: PLC0415

    try:
        content = tomllib.loads(text)
        fault = _TOO_DEEP if _levels_exceed(content, MOST_LEVELS) else ""
    except RecursionError:
        fault = _TOO_DEEP
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        fault = "a number has too many digits" if "digits" in str(error) else str(error)
    if fault:
        # Python 3.14 warns of a call without a place in the text, and 3.11 shows one that is given as a tuple
        raise tomllib.TOMLDecodeError.__new__(tomllib.TOMLDecodeError, fault) from None
    return content


class _TwiceError(ValueError):
    """An object has two values of one name, of which Python would take the last without a word."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(f"{next(name for name in names if names.count(name) > 1)!r} is there twice")
    return value


def _levels_exceed(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most + 1):
        level = [one for one in level if isinstance(one, dict | list)]
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return any(isinstance(one, dict | list) for one in level)
