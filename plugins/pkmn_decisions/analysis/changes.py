"""Changes between the two halves of a run, or between two runs: how often actions were taken, and their return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pkmn_decisions.analysis.clusters import MOST_CLUSTERS, cluster_expression
from pkmn_decisions.analysis.conditions import where
from pkmn_decisions.analysis.option_tests import Option, compare_options
from pkmn_decisions.analysis.patterns import PatternQuestion
from pkmn_decisions.analysis.situations import situation, with_names
from pkmn_decisions.store.files import sql_text
from pkmn_decisions.store.names import Names
from pkmn_decisions.store.view import RunViews, run_names
from pkmncli.errors import DecisionValidationError

_PARTS = "part_tallies"
_SHARES = "part_shares"


@dataclass(frozen=True, slots=True)
class Change:
    """Pattern with a changed figure: ``share`` of the decisions in its situation, or mean ``return``."""

    situation: dict[str, int]
    action: int
    figure: str
    before: float
    after: float
    times_before: int
    times_after: int
    """Times that the action was taken; for shares, times that the situation occurred."""
    adjusted_p: float | None
    significant: bool

    @property
    def weight(self) -> float:
        """Order of changes: the difference of the figure, times the number of decisions."""
        return abs(self.after - self.before) * min(self.times_before, self.times_after)

    def as_dict(self, names: Names) -> dict[str, Any]:
        """Return plain values, with the names of the numbers."""
        return {
            "context": with_names(self.situation, names),
            "action": self.action,
            "action_name": names.of("action", self.action),
            "figure": self.figure,
            "before": self.before,
            "after": self.after,
            "times_before": self.times_before,
            "times_after": self.times_after,
            "adjusted_p": self.adjusted_p,
            "significant": self.significant,
        }


def compared_parts(views: RunViews) -> tuple[str, str]:
    """Return the names of the two compared parts.

    Raises:
        DecisionValidationError: there are more than two runs.
    """
    runs = run_names(views.folders)
    if len(runs) > 2:
        raise DecisionValidationError(
            f"Changes compare the halves of one run, or two runs, not {len(runs)}: name one or two."
        )
    if len(runs) == 2:
        return runs[0], runs[1]
    return "the first half", "the second half"


def find_changes(views: RunViews, question: PatternQuestion) -> list[Change]:
    """Return the patterns whose share or return changed by more than chance, the largest first.

    Each of the two figures is tested over clusters like single patterns, and corrected for all patterns.

    Raises:
        DecisionValidationError: there are more than two runs.
    """
    compared_parts(views)
    keys, expressions = situation(question.by)
    condition, parameters = where(question.of_situations)
    count = len(keys)
    parts = ", ".join(f"s{index}" for index in range(count))
    selected = ", ".join(f"{expression} AS s{index}" for index, expression in enumerate(expressions))
    views.query(
        f"""
        CREATE OR REPLACE TEMP TABLE {_PARTS} AS
        SELECT {_part(views)} AS part, {cluster_expression(views)} + part * {MOST_CLUSTERS} AS cluster, {selected},
            action AS s{count}, source, count(*) AS frequency, count(near_return) AS judged,
            count(*) FILTER (success) AS successes, coalesce(sum(near_return), 0) AS total,
            coalesce(sum(near_return::DOUBLE * near_return), 0) AS squares, sum(reward) AS reward
        FROM judged_decisions WHERE {condition} GROUP BY ALL
        """,
        parameters,
    )
    # For the share of an action each decision of the situation counts, as 1 if it was that action.
    views.query(
        f"""
        CREATE OR REPLACE TEMP TABLE {_SHARES} AS
        WITH met AS (
            SELECT part, cluster, {parts}, sum(frequency) AS frequency FROM {_PARTS} GROUP BY ALL
        ), taken AS (
            SELECT part, cluster, {parts}, s{count}, sum(frequency) AS taken FROM {_PARTS} GROUP BY ALL
        ), actions AS (SELECT DISTINCT {parts}, s{count} FROM {_PARTS})
        SELECT part, cluster, {parts}, s{count}, 0 AS source, frequency, frequency AS judged,
            coalesce(taken, 0) AS successes, coalesce(taken, 0)::DOUBLE AS total, coalesce(taken, 0)::DOUBLE AS squares,
            0.0 AS reward
        FROM met JOIN actions USING ({parts}) LEFT JOIN taken USING (part, cluster, {parts}, s{count})
        """
    )
    found = []
    of_actions, values = where(question.of_actions)
    shown = of_actions.replace("action ", f"s{count} "), values
    for figure, table in (("return", _PARTS), ("share", _SHARES)):
        options = compare_options(views, table, count + 1, "part", question.min_frequency, shown, rests=False)
        before = {one.situation: one for one in options if one.number == 0}
        after = {one.situation: one for one in options if one.number == 1}
        found += [_change(keys, figure, before[key], after[key]) for key in before if key in after]
    chosen = [one for one in found if one.significant]
    chosen.sort(key=lambda one: (-one.weight, one.figure))
    return chosen[: question.limit]


def _part(views: RunViews) -> str:
    if len(views.folders) == 2:
        return f"(run = {sql_text(run_names(views.folders)[1])})::USMALLINT"
    _, rows = views.query("SELECT (min(global_step) + max(global_step)) // 2 FROM decision_rows")
    return f"(global_step > {int(rows[0][0] or 0)})::USMALLINT"


def _change(keys: list[str], figure: str, before: Option, after: Option) -> Change:
    return Change(
        situation=dict(zip(keys, before.situation[:-1], strict=True)),
        action=before.situation[-1],
        figure=figure,
        before=before.mean_return or 0.0,
        after=after.mean_return or 0.0,
        times_before=before.frequency,
        times_after=after.frequency,
        adjusted_p=before.adjusted_p,
        significant=before.significant,
    )
