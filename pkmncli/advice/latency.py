"""Latency of answers: how many steps an answer takes, and a message if most come too late."""

from __future__ import annotations

import math
from dataclasses import dataclass

ENOUGH_ANSWERS = 10
"""Answers after which latency is judged, and over which it is averaged."""

FEW_ANSWERS = 3
"""Answers that are enough if all were too late."""

_SHORT_LAG = 8


@dataclass(slots=True)
class AnswerLatency:
    """Steps of an environment while a question is answered, and answers that came too late."""

    answers: int = 0
    outdated: int = 0
    """Answers that came too late for their situation."""
    lag_steps: float = 0.0
    """Steps of an environment for one answer, on average over the latest."""
    told: bool = False
    """True if :meth:`complaint` has returned its message."""

    def add(self, lag_steps: float) -> None:
        """Add an answer that took ``lag_steps`` steps of its environment."""
        self.answers += 1
        self.lag_steps += (lag_steps - self.lag_steps) / min(self.answers, ENOUGH_ANSWERS)

    @property
    def rounded_lag(self) -> int:
        """Lag for a prompt: few different numbers, so that prompts are alike; 0 if it is too short to matter."""
        return 0 if self.lag_steps < _SHORT_LAG else 2 ** round(math.log2(self.lag_steps))

    def complaint(self) -> str:
        """Return a message for people, once, when most answers come too late; empty otherwise."""
        most_late = self.answers >= ENOUGH_ANSWERS and 2 * self.outdated > self.answers
        all_late = self.answers >= FEW_ANSWERS and self.outdated == self.answers
        if self.told or not (most_late or all_late):
            return ""
        self.told = True
        fitting = max(10, math.ceil(self.lag_steps / 10) * 10)
        return (
            f"Most answers of the language model come too late ({self.outdated} of {self.answers}): an environment "
            f"takes about {self.lag_steps:.0f} steps while one answer is computed. Try --llm-interval {fitting}, a "
            "faster model, or --llm-wait, with which the game waits."
        )
