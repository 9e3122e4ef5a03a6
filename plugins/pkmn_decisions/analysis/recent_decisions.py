"""Latest decisions as records, with the documented keys."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pkmn_decisions.store.names import Names
from pkmn_decisions.store.previous import earlier_actions
from pkmn_decisions.store.view import RunViews


def recent_decisions(views: RunViews, limit: int) -> list[dict[str, Any]]:
    """Return the latest ``limit`` decisions, newest first."""
    newest = views.newest_steps()
    # There is one row for each step of a run, so the latest rows are those of the latest steps.
    recent = " OR ".join(["false", *("(run = ? AND global_step > ?)" for _ in newest)])
    parameters = [value for name, last in newest.items() for value in (name, last - limit)]
    names, rows = views.query(
        f"""
        WITH recent AS (
            {views.judged(f"(SELECT * FROM decision_rows WHERE {recent})")}
            ORDER BY time DESC, global_step DESC LIMIT ?
        ), totals AS (
            SELECT run, environment, episode, sum(reward::DOUBLE) AS total
            FROM decision_rows SEMI JOIN recent USING (run, environment, episode) GROUP BY ALL
        )
        SELECT recent.*, totals.total FROM recent JOIN totals USING (run, environment, episode)
        ORDER BY time DESC, global_step DESC
        """,
        [*parameters, limit],
    )
    return [_record(dict(zip(names, row, strict=True)), views.names) for row in rows]


def _record(row: Mapping[str, Any], names: Names) -> dict[str, Any]:
    return {
        "id": f"{row['run']}/{row['global_step']}",
        "timestamp": datetime.fromtimestamp(row["time"], UTC),
        "state_hash": row["coarse_hash"],
        "action": row["action"],
        "reasoning": row["reason"],
        "confidence": row["confidence"],
        "outcome_reward": row["reward"],
        "episode_id": f"{row['environment']}-{row['episode']}",
        "step_number": row["step"],
        "step_in_episode": row["step"],
        "context": {
            "map": row["map_id"],
            "map_name": names.of("map", row["map_id"]),
            "x": row["x"],
            "y": row["y"],
            "phase": row["phase"],
            "phase_name": names.of("phase", row["phase"]),
            "battle": row["battle"],
            "opponent": row["opponent"],
            "health": row["health"],
            "milestones": row["milestones"],
            "source": names.of("source", row["source"]),
            "model": row["model"],
            "previous_actions": earlier_actions(row),
        },
        "outcome": {True: "success", False: "failure", None: None}[row["success"]],
        "total_episode_reward": row["total"],
    }
