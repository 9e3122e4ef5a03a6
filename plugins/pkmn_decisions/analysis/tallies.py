"""Sums of the decisions of a question, by cluster, situation, action and source.

They are read from the files once, and small; single patterns and sources follow from them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pkmn_decisions.analysis.clusters import cluster_expression
from pkmn_decisions.analysis.conditions import Condition, where
from pkmn_decisions.analysis.situations import situation
from pkmn_decisions.store.names import OUTCOME_NAMES
from pkmn_decisions.store.view import RunViews

TABLE = "tallies"


def collect(views: RunViews, by: Sequence[str], conditions: Sequence[Condition]) -> list[str]:
    """Make the temporary table :data:`TABLE` and return the names of the situation's parts.

    Its columns: ``cluster``; ``s0``, ``s1``, ... for the parts of the situation; ``milestones``, ``action``,
    ``source``; ``frequency``, and of it ``outcome_0``, ``outcome_1``, ..., by outcome; of those with a known return
    ``judged``, ``successes``, ``total`` (sum of their near returns) and ``squares`` (of their squares); ``reward`` (sum
    of all rewards of the steps themselves).

    ``rest`` and ``rest_squares`` are like ``total`` and ``squares``, but of the returns minus the mean of their
    situation at the same number of milestones. The possible reward of a place changes during the game, and so does the
    source of decisions; comparing rests keeps these apart.
    """
    keys, expressions = situation(by)
    condition, parameters = where(conditions)
    led_to = ", ".join(f"count(*) FILTER (outcome = {number}) AS outcome_{number}" for number in OUTCOME_NAMES)
    parts = ", ".join(f"s{index}" for index in range(len(keys)))
    selected = ", ".join(f"{expression} AS s{index}" for index, expression in enumerate(expressions))
    views.query(
        f"""
        CREATE OR REPLACE TEMP TABLE {TABLE} AS
        WITH sums AS MATERIALIZED (
        SELECT {cluster_expression(views)} AS cluster, {selected}, milestones, action, source, count(*) AS frequency,
            count(near_return) AS judged, count(*) FILTER (success) AS successes,
            coalesce(sum(near_return), 0) AS total,
            coalesce(sum(near_return::DOUBLE * near_return), 0) AS squares, sum(reward) AS reward,
            {led_to}
        FROM judged_decisions WHERE {condition} GROUP BY ALL
        ), means AS (
            SELECT {parts}, milestones, coalesce(sum(total) / nullif(sum(judged), 0), 0) AS mean FROM sums GROUP BY ALL
        )
        SELECT * EXCLUDE (mean), total - judged * mean AS rest,
            squares - 2 * mean * total + mean * mean * judged AS rest_squares
        FROM sums JOIN means USING ({parts}, milestones)
        """,
        parameters,
    )
    return keys
