"""Single patterns: which actions paid off in which situations, how often, and if that is more than chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pkmn_decisions.analysis.conditions import Condition, where
from pkmn_decisions.analysis.option_tests import Option, compare_options
from pkmn_decisions.analysis.situations import DEFAULT_DIMENSIONS, situation, with_names
from pkmn_decisions.analysis.tallies import TABLE
from pkmn_decisions.store.names import Names
from pkmn_decisions.store.view import RunViews
from pkmncli.errors import DecisionValidationError


@dataclass(frozen=True, slots=True)
class PatternQuestion:
    """Question about patterns. ``by`` names the dimensions of a situation, ``conditions`` select the decisions."""

    min_frequency: int = 3
    by: Sequence[str] = DEFAULT_DIMENSIONS
    conditions: Sequence[Condition] = ()
    sort: str = "success"
    limit: int | None = None

    def check(self) -> None:
        """Check that the question can be answered.

        Raises:
            DecisionValidationError: a number is below 1, or a dimension or order is unknown.
        """
        if self.min_frequency < 1:
            raise DecisionValidationError(f"The minimum frequency must be at least 1, not {self.min_frequency}.")
        if self.limit is not None and self.limit < 1:
            raise DecisionValidationError(f"The limit must be at least 1, not {self.limit}.")
        if self.sort not in SORTS:
            raise DecisionValidationError(f"Patterns can be sorted by {', '.join(SORTS)}, not by {self.sort}.")
        situation(self.by)

    @property
    def of_situations(self) -> list[Condition]:
        """Conditions on decisions. Those on the action select the rows shown, not the rows compared with."""
        return [condition for condition in self.conditions if condition.key != "action"]

    @property
    def of_actions(self) -> list[Condition]:
        """Conditions on the action."""
        return [condition for condition in self.conditions if condition.key == "action"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Action in a situation."""

    situation: dict[str, int]
    """Dimension -> number; a tile as ``x`` and ``y``."""
    figures: Option

    @property
    def action(self) -> int:
        """Number of the action."""
        return self.figures.number

    def as_dict(self, names: Names) -> dict[str, Any]:
        """Return the pattern as plain values, with the names of its numbers."""
        figures = self.figures
        return {
            "context": with_names(self.situation, names),
            "action": self.action,
            "action_name": names.of("action", self.action),
            "frequency": figures.frequency,
            "judged": figures.judged,
            "successes": figures.successes,
            "success_rate": figures.success_rate,
            "interval": list(figures.interval) if figures.interval else None,
            "other_success_rate": figures.others_rate,
            "lift": figures.lift,
            "mean_reward": figures.mean_reward,
            "mean_return": figures.mean_return,
            "other_mean_return": figures.others_return,
            "return_difference": figures.difference,
            "adjusted_p": figures.adjusted_p,
            "significant": figures.significant,
            "sources": figures.sources,
            "outcomes": figures.outcomes,
        }


def _down(value: float | None) -> float:
    return -value if value is not None else math.inf


SORTS: dict[str, Callable[[Pattern], tuple[float, ...]]] = {
    "success": lambda one: (_down(one.figures.interval[0] if one.figures.interval else None),),
    "frequency": lambda one: (-one.figures.frequency,),
    "lift": lambda one: (
        _down(one.figures.lift),
        _down(one.figures.interval[0] if one.figures.interval else None),
    ),
    "reward": lambda one: (_down(one.figures.mean_return),),
    "stake": lambda one: (not one.figures.significant, -one.figures.stake),
}
"""Orders of a report. Success counts by the low end of its interval, so that chance does not lead the list."""


def patterns_of_tallies(views: RunViews, question: PatternQuestion) -> list[Pattern]:
    """Return the patterns of a question whose tallies are collected."""
    keys, _ = situation(question.by)
    condition, parameters = where(question.of_actions)
    options = compare_options(
        views, TABLE, len(keys), "action", question.min_frequency, (condition.replace("action ", "option "), parameters)
    )
    patterns = [Pattern(dict(zip(keys, one.situation, strict=True)), one) for one in options]
    key = SORTS[question.sort]
    patterns.sort(key=lambda one: (*key(one), -one.figures.frequency))
    return patterns[: question.limit]


def highest_frequency(views: RunViews, question: PatternQuestion) -> int:
    """Return the count of the most frequent action of one situation; 0 if no decisions fit the question."""
    question.check()
    _, expressions = situation(question.by)
    conditions, parameters = where(question.conditions)
    _, rows = views.query(
        f"SELECT max(frequency) FROM (SELECT count(*) AS frequency FROM decision_rows WHERE {conditions} "
        f"GROUP BY {', '.join(expressions)}, action)",
        parameters,
    )
    return int(rows[0][0] or 0)
