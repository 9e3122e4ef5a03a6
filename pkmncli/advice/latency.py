"""Whether a language model answers in time, and what to do when it doesn't."""

from __future__ import annotations

import math
from dataclasses import dataclass

ENOUGH_ANSWERS = 10
"""Answers after which it is judged; also how far back their average reaches."""

FEW_ANSWERS = 3
"""Answers that are enough where every one was too late."""

_SHORT_LAG = 8


@dataclass(slots=True)
class Timeliness:
    """How many steps go by while a question is answered, and how many answers come too late for their situation."""

    answers: int = 0
    outdated: int = 0
    lag_steps: float = 0.0
    """Steps of an environment for one answer, on average over the latest."""
    told: bool = False

    def add(self, lag_steps: float) -> None:
        """An answer came after so many steps of its environment."""
        self.answers += 1
        self.lag_steps += (lag_steps - self.lag_steps) / min(self.answers, ENOUGH_ANSWERS)

    @property
    def rounded_lag(self) -> int:
        """The lag as prompts say it: few different numbers, so that prompts are alike; 0 where it is no matter."""
        return 0 if self.lag_steps < _SHORT_LAG else 2 ** round(math.log2(self.lag_steps))

    def complaint(self) -> str:
        """What to tell people, once, when most answers come too late; empty otherwise."""
        most_late = self.answers >= ENOUGH_ANSWERS and 2 * self.outdated > self.answers
        all_late = self.answers >= FEW_ANSWERS and self.outdated == self.answers
        if self.told or not (most_late or all_late):
            return ""
        self.told = True
        fitting = max(10, math.ceil(self.lag_steps / 10) * 10)
        return (
            f"Most answers of the language model come too late ({self.outdated} of {self.answers}): in the time of one "
            f"an environment takes about {self.lag_steps:.0f} steps. What fits: --llm-interval {fitting}, a faster "
            "model, or --llm-wait, with which the game waits."
        )
