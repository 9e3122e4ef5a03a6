"""The last line of a ``config.toml``, by which a file that was cut off is told from a whole one, and an edit is seen.

A file in which something is missing would be read as one in which something was left out: defaults would stand in for
what the run was begun with.
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
    """How many settings a file was written with, set or not, and the checksum of its text."""

    settings: int
    checksum: str

    @property
    def line(self) -> str:
        """The line that says it, as a comment."""
        return f"# End of {self.settings} settings: {_HINT}: {self.checksum}"


def with_end(text: str) -> str:
    """The text of a file of settings with its last line."""
    text = text.rstrip() + "\n\n"
    return f"{text}{End(count_settings(text), _checksum(text)).line}\n"


def find_end(text: str) -> End | None:
    """What the last line of a file says; None where it has none."""
    for line in reversed(text.splitlines()):
        if found := _END.fullmatch(line.strip()):
            return End(int(found[1]), found[2])
    return None


def count_settings(text: str) -> int:
    """How many settings a text holds, those included that it says are not set."""
    return sum(bool(_UNSET.fullmatch(line) or _is_setting(line)) for line in map(str.strip, text.splitlines()))


def is_cut_off(text: str) -> bool:
    """Whether a file of settings was written by a training, and has lost its end."""
    return HEAD in text and find_end(text) is None


def is_as_written(text: str, end: End) -> bool:
    """Whether nothing in a text but line endings has changed since it was written."""
    return _checksum(text) == end.checksum


def _is_setting(line: str) -> bool:
    return not line.startswith(("#", "[")) and "=" in line


def _checksum(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    kept = "\n".join(line for line in lines if line and not _END.fullmatch(line))
    return hashlib.blake2b(kept.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
