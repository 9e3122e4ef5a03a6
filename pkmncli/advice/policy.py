"""Policy: whether a piece of advice is followed, and if not, why.

The curriculum's trust is no part of it: trust weighs the whole advised side, rules included, against the learner at
each step (:mod:`pkmncli.hybrid.arbiter`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any

from pkmncli.advice.triggers import Event
from pkmncli.advice.worth import AdviceWorth
from pkmncli.api import Advice

_FIRST_LENGTH = 8.0
_MEMORY = 0.9

_OVERTAKES_ALL = frozenset({Event.EPISODE, Event.GOAL, Event.STUCK})
_OVERTAKES_MOMENT = frozenset(Event) - {Event.INTERVAL}
"""A skill continues over maps and battles; actions were meant for one situation."""


class Objection(StrEnum):
    """Reason not to follow a piece of advice, in words for people."""

    OUTDATED = "it came too late"
    EARNS_LESS = "advice has earned less than the rules"
    RULES_TURN = "set aside for the rules' share"
    NOTE = "it only wrote a note"


class LLMShare:
    """Share of the language model in the steps for which there is advice, kept by correcting the difference.

    Advice set aside counts as present for about as many steps as advice is followed on average.

    Args:
        share: of the language model, 0..1.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self.llm_steps = 0
        self.rule_steps = 0
        self._length = _FIRST_LENGTH

    @property
    def covered_steps(self) -> int:
        """Steps of the advised side for which there was advice."""
        return self.llm_steps + self.rule_steps

    def follows(self) -> bool:
        """Return True if new advice is followed: while the model has had at most its share."""
        return self.share >= 1 or self.llm_steps <= self.share * self.covered_steps

    @property
    def stretch(self) -> int:
        """Average number of steps for which advice is followed."""
        return max(round(self._length), 1)

    def count(self, *, llm: bool) -> None:
        """Count a step of the advised side for which there was advice."""
        self.llm_steps += llm
        self.rule_steps += not llm

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


class AdvicePolicy:
    """Policy of a training: the strategy's share, and the worth of advice so far.

    Args:
        llm_share: the language model's share of the steps with advice, 0..1; a strategy may change it.
        most_cost: maximum cost of advice, as a share of what the rules alone would have earned; no limit from 1 on.
    """

    def __init__(self, llm_share: float = 1.0, most_cost: float = 1.0) -> None:
        self.share = LLMShare(llm_share)
        self.worth = AdviceWorth()
        self.held_back = 0
        """Pieces of advice that were held back because advice had earned less than the rules."""
        self._most_cost = most_cost

    def objection(self, advice: Advice, happened: Collection[Event] = ()) -> Objection | None:
        """Return why new advice is not followed; None if it is followed. Counts advice that is held back.

        Args:
            advice: from the language model.
            happened: events since the question.
        """
        if is_overtaken(happened, for_moment=_is_for_moment(advice)):
            return Objection.OUTDATED
        if not self.worth.affords(self._most_cost, self.share.stretch):
            self.held_back += 1
            return Objection.EARNS_LESS
        return None if self.share.follows() else Objection.RULES_TURN

    def may_continue(self) -> bool:
        """Return True if live advice may continue for another step."""
        return self.worth.affords(self._most_cost)

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {"share": self.share.state_dict(), "worth": self.worth.state_dict(), "held_back": self.held_back}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.share.load_state_dict(state["share"])
        self.worth.load_state_dict(state["worth"])
        self.held_back = int(state["held_back"])


def is_overtaken(events: Collection[Event], *, for_moment: bool) -> bool:
    """Return True if events have made advice pointless; ``for_moment`` if it is meant for one situation."""
    return not (_OVERTAKES_MOMENT if for_moment else _OVERTAKES_ALL).isdisjoint(events)


def _is_for_moment(advice: Advice) -> bool:
    """Return True for advice about one situation: actions, and tiles of a map that it does not name."""
    return not advice.skill or ("x" in advice.arguments and "map" not in advice.arguments)
