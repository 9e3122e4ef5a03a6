"""Independent units for comparisons of decisions: episodes, or stretches of them if there are few.

Consecutive decisions share rewards, and an episode that goes well goes well in many places. A test that takes each
decision as an independent observation finds differences everywhere. So sums are compared over clusters (Liang and
Zeger, "Longitudinal data analysis using generalized linear models", 1986).
"""

from __future__ import annotations

from pkmn_decisions.store.files import sql_text
from pkmn_decisions.store.view import RunViews, run_names

MOST_CLUSTERS = 256
"""Maximum clusters; more episodes share them in turn: sums over many are as good, and take less memory."""

FEWEST_EPISODES = 32
"""Minimum episodes as clusters; with fewer, stretches of them count."""

STRETCH = 256
"""Decisions of a stretch: 32 times the horizon, so that few rewards are shared across its ends."""


def cluster_expression(views: RunViews) -> str:
    """Return SQL for the number of a decision's cluster, from 0 to :data:`MOST_CLUSTERS` - 1."""
    size = views.episode_numbers()
    if not size:
        return "0"
    environments = max(count for count, _ in size.values())
    total = sum(count * episodes for count, episodes in size.values())
    first, offsets = 0, []
    for run in run_names(views.folders):
        if run in size:
            offsets.append(f"WHEN {sql_text(run)} THEN {first}")
            first += environments * size[run][1]
    number = f"episode::BIGINT * {environments} + environment"
    if len(offsets) > 1:
        number += f" + CASE run {' '.join(offsets)} END"
    if total < FEWEST_EPISODES:
        _, rows = views.query("SELECT max(step) FROM decision_rows")
        stretches = int(rows[0][0]) // STRETCH + 1
        number = f"({number}) * {stretches} + step // {STRETCH}"
    return f"(({number}) % {MOST_CLUSTERS})::USMALLINT"
