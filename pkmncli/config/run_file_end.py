"""The last line of a ``config.toml``, which shows whether the file was cut off or edited.

Without it, defaults would replace the values that a truncated file has lost.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

HEAD = "Settings of this run, and where each came from. The last line tells that all are there."

_END = re.compile(r"# End of (\d{1,9}) settings\b.*\b([0-9a-f]{16})")
_UNSET = re.compile(r"# [\w-]+ is not set")
_HINT = "values may be edited, no line may be missing; checksum of what was written"


@dataclass(frozen=True, slots=True)
class End:
    """Number of settings that a file was written with, unset ones included, and the checksum of its text."""

    settings: int
    checksum: str

    @property
    def line(self) -> str:
        """Return the last line, a comment."""
        return f"# End of {self.settings} settings: {_HINT}: {self.checksum}"


def with_end(text: str) -> str:
    """Return the text of a settings file with its last line added."""
    text = text.rstrip() + "\n\n"
    return f"{text}{End(count_settings(text), _checksum(text)).line}\n"


def find_end(text: str) -> End | None:
    """Return the content of a file's last line; None without one."""
    for line in reversed(text.splitlines()):
        if found := _END.fullmatch(line.strip()):
            return End(int(found[1]), found[2])
    return None


def count_settings(text: str) -> int:
    """Return the number of settings in a text, unset ones included."""
    return sum(bool(_UNSET.fullmatch(line) or _is_setting(line)) for line in map(str.strip, text.splitlines()))


def is_cut_off(text: str) -> bool:
    """Return True if a settings file was written by a training and has lost its end."""
    return HEAD in text and find_end(text) is None


def is_as_written(text: str, end: End) -> bool:
    """Return True if only line endings of a text have changed since it was written."""
    return _checksum(text) == end.checksum


def _is_setting(line: str) -> bool:
    return not line.startswith(("#", "[")) and "=" in line


def _checksum(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    kept = "\n".join(line for line in lines if line and not _END.fullmatch(line))
    return hashlib.blake2b(kept.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
