"""How often something happens: every so many steps or episodes of all environments, however many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Progress(NamedTuple):
    """Where a training stands, counted over all environments."""

    steps: int
    episodes: int


@dataclass(frozen=True, slots=True)
class Interval:
    """Steps, episodes, both or neither: then it never comes."""

    steps: int | None = None
    episodes: int | None = None

    def passed(self, before: Progress, now: Progress) -> bool:
        """Whether a multiple of it lies in (before, now]."""
        return (self.steps is not None and crossings(before.steps, now.steps, self.steps) > 0) or (
            self.episodes is not None and crossings(before.episodes, now.episodes, self.episodes) > 0
        )

    @property
    def ever(self) -> bool:
        """Whether it comes at all."""
        return self.steps is not None or self.episodes is not None


def crossings(before: int, now: int, interval: int) -> int:
    """How many multiples of ``interval`` lie in (before, now]."""
    return now // interval - before // interval
