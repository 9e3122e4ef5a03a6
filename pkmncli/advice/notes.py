"""Notes that a language model writes for itself: the latest ones are part of its later questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Notes:
    """Notes of a run, oldest first. Those of all environments are common, and stay when an episode ends.

    Args:
        most: maximum number; the oldest note goes when another comes.
    """

    most: int = 0
    lines: list[str] = field(default_factory=list)

    def add(self, note: str) -> None:
        """Add a note. One that is repeated becomes the latest; an empty one is none."""
        if not note or not self.most:
            return
        if note in self.lines:
            self.lines.remove(note)
        self.lines = [*self.lines, note][-self.most :]

    def state_dict(self) -> list[str]:
        """Return the notes."""
        return list(self.lines)

    def load_state_dict(self, lines: Sequence[str]) -> None:
        """Resume from :meth:`state_dict`."""
        self.lines = list(lines)[-self.most :] if self.most else []
