"""Sharing advised steps between the language model and the rules: a piece of advice is followed, or set aside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FIRST_LENGTH = 8.0
_MEMORY = 0.9


class SideShare:
    """Decides for each new piece of advice whose the next stretch of steps is, so that the model's share is kept.

    What is set aside counts as advice that there was, for about as many steps as advice is followed for.

    Args:
        share: of the language model, 0..1.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self.llm_steps = 0
        self.rule_steps = 0
        self._length = _FIRST_LENGTH

    def follows(self) -> bool:
        """Whether new advice is followed: while the model has had no more than its share."""
        if self.share >= 1:
            return True
        return self.llm_steps <= self.share * (self.llm_steps + self.rule_steps)

    @property
    def stretch(self) -> int:
        """Steps for which advice that is set aside counts as there: as long as advice lasts on average."""
        return max(round(self._length), 1)

    def count(self, *, llm: bool) -> None:
        """A step was the advised side's, and there was advice."""
        if llm:
            self.llm_steps += 1
        else:
            self.rule_steps += 1

    def followed(self, steps: int) -> None:
        """Advice was followed for so many steps."""
        self._length = _MEMORY * self._length + (1 - _MEMORY) * steps

    def state_dict(self) -> dict[str, Any]:
        """Plain values that the next choices depend on."""
        return {
            "share": self.share,
            "llm_steps": self.llm_steps,
            "rule_steps": self.rule_steps,
            "length": self._length,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`."""
        self.share = float(state["share"])
        self.llm_steps, self.rule_steps = int(state["llm_steps"]), int(state["rule_steps"])
        self._length = float(state["length"])
