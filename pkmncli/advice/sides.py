"""Sharing of advised steps between the language model and the rules: advice is followed or set aside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FIRST_LENGTH = 8.0
_MEMORY = 0.9


class SideShare:
    """Decision for each piece of advice whether it is followed, so that the model's share is kept.

    Advice set aside counts as present for about as many steps as advice is followed on average.

    Args:
        share: of the language model, 0..1.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self.llm_steps = 0
        self.rule_steps = 0
        self._length = _FIRST_LENGTH

    def follows(self) -> bool:
        """Return True if new advice is followed: while the model has had at most its share."""
        if self.share >= 1:
            return True
        return self.llm_steps <= self.share * (self.llm_steps + self.rule_steps)

    @property
    def stretch(self) -> int:
        """Steps for which advice that is set aside counts as present: as long as advice lasts on average."""
        return max(round(self._length), 1)

    def count(self, *, llm: bool) -> None:
        """Count a step of the advised side for which there was advice."""
        if llm:
            self.llm_steps += 1
        else:
            self.rule_steps += 1

    def followed(self, steps: int) -> None:
        """Note that advice was followed for ``steps`` steps."""
        self._length = _MEMORY * self._length + (1 - _MEMORY) * steps

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "share": self.share,
            "llm_steps": self.llm_steps,
            "rule_steps": self.rule_steps,
            "length": self._length,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.share = float(state["share"])
        self.llm_steps, self.rule_steps = int(state["llm_steps"]), int(state["rule_steps"])
        self._length = float(state["length"])
