"""Finds which actions paid off in which situations: grouping, comparison and ranking, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pkmn_decisions.conditions import Condition
from pkmn_decisions.names import SOURCE_NAMES, Names
from pkmn_decisions.view import RunViews
from pkmncli.errors import DecisionValidationError

DIMENSIONS: dict[str, tuple[str, ...]] = {
    "map": ("map_id",),
    "tile": ("x", "y"),
    "phase": ("phase",),
    "battle": ("battle",),
    "opponent": ("opponent",),
    "milestones": ("milestones",),
    "previous": ("previous_actions % 10",),
    "source": ("source",),
}
"""What can tell situations apart, and the SQL that gives it."""

DEFAULT_DIMENSIONS = ("map", "phase", "battle")

SORTS = {
    "success": "interval_low DESC NULLS LAST",
    "frequency": "frequency DESC",
    "lift": "lift DESC NULLS LAST, interval_low DESC NULLS LAST",
    "reward": "mean_return DESC NULLS LAST",
}
"""Orders of a report. Success counts by the low end of its interval, so that chance doesn't lead the list."""

_Z = 1.959963984540054
"""Standard normal quantile of a two-sided 95% interval."""


@dataclass(frozen=True, slots=True)
class PatternQuestion:
    """What is asked. ``by`` names the dimensions of a situation, ``conditions`` choose the decisions."""

    min_frequency: int = 3
    by: Sequence[str] = DEFAULT_DIMENSIONS
    conditions: Sequence[Condition] = ()
    sort: str = "success"
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """One action in one situation. Rates are shares of the ``judged`` decisions, whose outcome is known."""

    situation: dict[str, int]
    """Dimension -> number; a tile as ``x`` and ``y``."""
    action: int
    frequency: int
    judged: int
    successes: int
    success_rate: float | None
    interval: tuple[float, float] | None
    """Wilson score interval of the success rate, 95% (Wilson, 1927, JASA 22:209-212)."""
    other_rate: float | None
    """Success rate of all other actions in the same situation."""
    lift: float | None
    """Success rate over that of the other actions; empty where there are none, or none succeeded."""
    mean_reward: float
    """Mean reward of the step itself."""
    mean_return: float | None
    """Mean of the rewards summed over the horizon."""
    sources: dict[str, int]
    """Who decided -> how often."""

    def as_dict(self, names: Names) -> dict[str, Any]:
        """The pattern as plain values, with the names of its numbers."""
        context: dict[str, Any] = {}
        for key, number in self.situation.items():
            context[key] = number
            if key in ("map", "phase", "battle", "opponent", "previous", "source"):
                context[f"{key}_name"] = names.of(key, number)
        return {
            "context": context,
            "action": self.action,
            "action_name": names.of("action", self.action),
            "frequency": self.frequency,
            "judged": self.judged,
            "successes": self.successes,
            "success_rate": self.success_rate,
            "interval": list(self.interval) if self.interval else None,
            "other_success_rate": self.other_rate,
            "lift": self.lift,
            "mean_reward": self.mean_reward,
            "mean_return": self.mean_return,
            "sources": self.sources,
        }


def find_patterns(views: RunViews, question: PatternQuestion) -> list[Pattern]:
    """Answers a question about the decisions of some runs.

    Raises:
        DecisionValidationError: the question is not valid.
    """
    _check(question)
    keys, expressions = _situation(question.by)
    conditions, parameters = _where([c for c in question.conditions if c.key != "action"])
    # Conditions on the action only choose what is shown: the other actions are what it is compared with.
    shown, shown_parameters = _where([c for c in question.conditions if c.key == "action"])
    situation = ", ".join(f"s{index}" for index in range(len(keys)))
    selected = ", ".join(f"{expression} AS s{index}" for index, expression in enumerate(expressions))
    by_source = ", ".join(f"count(*) FILTER (source = {number}) AS by_{number}" for number in SOURCE_NAMES)
    limit = f"LIMIT {int(question.limit)}" if question.limit is not None else ""
    _, rows = views.query(
        f"""
        WITH chosen AS (
            SELECT {selected}, action, source, reward, near_return, success
            FROM judged_decisions WHERE {conditions}
        ), grouped AS (
            SELECT {situation}, action, count(*) AS frequency, count(success) AS judged,
                count(*) FILTER (success) AS successes, avg(reward) AS mean_reward, avg(near_return) AS mean_return,
                {by_source}
            FROM chosen GROUP BY {situation}, action
        ), compared AS (
            SELECT *, successes / nullif(judged, 0) AS rate,
                (sum(successes) OVER alike - successes) / nullif(sum(judged) OVER alike - judged, 0) AS other_rate
            FROM grouped WINDOW alike AS (PARTITION BY {situation})
        ), rated AS (
            SELECT *, rate / nullif(other_rate, 0) AS lift,
                (rate + {_Z**2} / (2 * judged)) / (1 + {_Z**2} / judged) AS center,
                {_Z} * sqrt(rate * (1 - rate) / judged + {_Z**2} / (4 * judged * judged)) / (1 + {_Z**2} / judged)
                    AS half
            FROM compared WHERE frequency >= ? AND {shown}
        )
        SELECT {situation}, action, frequency, judged, successes, rate, greatest(center - half, 0) AS interval_low,
            least(center + half, 1) AS interval_high, other_rate, lift, mean_reward, mean_return,
            {", ".join(f"by_{number}" for number in SOURCE_NAMES)}
        FROM rated ORDER BY {SORTS[question.sort]}, frequency DESC, {situation}, action {limit}
        """,
        [*parameters, question.min_frequency, *shown_parameters],
    )
    return [_pattern(keys, row) for row in rows]


def highest_frequency(views: RunViews, question: PatternQuestion) -> int:
    """How often the most frequent action of one situation was taken; 0 without decisions that fit the question."""
    _check(question)
    _, expressions = _situation(question.by)
    conditions, parameters = _where(question.conditions)
    _, rows = views.query(
        f"SELECT max(frequency) FROM (SELECT count(*) AS frequency FROM decision_rows WHERE {conditions} "
        f"GROUP BY {', '.join(expressions)}, action)",
        parameters,
    )
    return int(rows[0][0] or 0)


def _check(question: PatternQuestion) -> None:
    if question.min_frequency < 1:
        raise DecisionValidationError(f"The minimum frequency must be at least 1, not {question.min_frequency}.")
    if question.limit is not None and question.limit < 1:
        raise DecisionValidationError(f"The limit must be at least 1, not {question.limit}.")
    unknown = [name for name in question.by if name not in DIMENSIONS]
    if unknown or not question.by:
        raise DecisionValidationError(
            f"Situations can be told apart by {', '.join(DIMENSIONS)}, not by {', '.join(unknown) or 'nothing'}."
        )
    if question.sort not in SORTS:
        raise DecisionValidationError(f"Patterns can be sorted by {', '.join(SORTS)}, not by {question.sort}.")


def _situation(by: Sequence[str]) -> tuple[list[str], list[str]]:
    # A tile's numbers mean nothing without its map.
    wanted = [name for name in DIMENSIONS if name in by or (name == "map" and "tile" in by)]
    keys = [key for name in wanted for key in (("x", "y") if name == "tile" else (name,))]
    return keys, [expression for name in wanted for expression in DIMENSIONS[name]]


def _where(conditions: Sequence[Condition]) -> tuple[str, list[int | float | str]]:
    parts = [condition.sql() for condition in conditions]
    parameters = [parameter for _, values in parts for parameter in values]
    return " AND ".join(f"({text})" for text, _ in parts) or "true", parameters


def _pattern(keys: list[str], row: tuple[Any, ...]) -> Pattern:
    situation = dict(zip(keys, row[: len(keys)], strict=True))
    action, frequency, judged, successes, rate, low, high, other, lift, reward, total, *by_source = row[len(keys) :]
    return Pattern(
        situation=situation,
        action=action,
        frequency=frequency,
        judged=judged,
        successes=successes,
        success_rate=rate,
        interval=None if rate is None else (low, high),
        other_rate=other,
        lift=lift,
        mean_reward=reward,
        mean_return=total,
        sources={SOURCE_NAMES[number]: count for number, count in enumerate(by_source) if count},
    )
