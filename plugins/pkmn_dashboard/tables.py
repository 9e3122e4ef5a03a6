"""Questions about a run's tables, answered by DuckDB from the store's files, also during the training.

One question at a time and on one thread, so that the training keeps its cores.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from pkmn_dashboard.kept_answers import KeptAnswers
from pkmncli.api import open_tables
from pkmncli.errors import RunError

MEMORY_LIMIT = "1GB"
FRESH_S = 2.0
"""Seconds for which an answer is kept for equal questions."""

HEAVY_FRESH_S = 15.0
"""Seconds for which answers to questions that read every decision are kept."""

Cursor = tuple[int, int]
"""Step of the run and environment. Rows are ordered by both, because several may share a step."""


_THE_END: Cursor = (2**63 - 1, 0)


class Tables:
    """Tables in a folder. Methods may be called from several threads."""

    def __init__(self, folder: Path) -> None:
        self._store = open_tables(folder)
        self._kept = KeptAnswers(folder).kept
        self.aside = Path(tempfile.mkdtemp(prefix="pkmn-duckdb-"))
        """Temporary folder of DuckDB for data beyond its memory."""
        self._remove_aside = weakref.finalize(self, shutil.rmtree, self.aside, ignore_errors=True)
        config: dict[str, Any] = {
            "threads": 1,
            "memory_limit": MEMORY_LIMIT,
            "temp_directory": str(self.aside),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        self._connection = duckdb.connect(":memory:", config=config)

    def close(self) -> None:
        """Interrupt the running question, and remove DuckDB's temporary files."""
        self._connection.interrupt()
        self._store.close()
        self._remove_aside()

    def _rows(self, table: str, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Return the rows of a query over ``rows``, the table; empty if it has no file yet."""
        source = getattr(self._store, "source", None)
        if source is None:
            raise RunError(f"the store {type(self._store).__name__} of this run can't be asked: it has no source()")
        for attempt in (0, 1, 2):
            try:
                cursor = self._connection.execute(f"WITH rows AS ({source(table)}) {sql}", list(parameters))
                names = [column[0] for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
            except duckdb.IOException:
                if attempt == 2:  # a resuming run moves files, but not for ever
                    raise
        raise AssertionError("unreachable")

    # Metrics -----------------------------------------------------------------------------------------------------

    def metric_names(self) -> list[dict[str, Any]]:
        """Return each metric with its count and its latest value."""
        sql = """SELECT name, count(*) AS count, arg_max(value, (global_step, time)) AS latest FROM rows
                 WHERE isfinite(value) GROUP BY name ORDER BY name"""
        return self._kept("metrics", "names", FRESH_S, lambda: self._rows("metrics", sql))

    def metrics(self, names: Sequence[str], points: int) -> dict[str, dict[str, list[float]]]:
        """Return series of metrics by name: steps and values, at most ``points`` of each; neighbours are averaged."""
        sql = """
            , chosen AS (SELECT * FROM rows WHERE list_contains(?, name) AND isfinite(value)),
            reach AS (SELECT min(global_step) AS low, max(global_step) - min(global_step) + 1 AS width FROM chosen)
            SELECT name, CAST(floor((global_step - low) * ? / width) AS BIGINT) AS place,
                max(global_step) AS step, avg(value) AS value
            FROM chosen, reach GROUP BY name, place ORDER BY name, place
        """

        def ask() -> dict[str, dict[str, list[float]]]:
            found: dict[str, dict[str, list[float]]] = {name: {"steps": [], "values": []} for name in names}
            for row in self._rows("metrics", sql, [list(names), points]):
                found[row["name"]]["steps"].append(row["step"])
                found[row["name"]]["values"].append(row["value"])
            return found

        return self._kept("metrics", (tuple(names), points), FRESH_S, ask)

    def milestones(self, order: Sequence[str], frames_per_second: float) -> list[dict[str, Any]]:
        """Return the milestones in order: number of episodes that reached each, its fastest and latest split."""
        sql = """
            SELECT split_part(name, '/', 2) AS name,
                count(*) FILTER (name LIKE '%/step') AS episodes,
                min(global_step) AS first_seen,
                CAST(min(value) FILTER (name LIKE '%/step') AS BIGINT) AS best_step,
                CAST(arg_max(value, global_step) FILTER (name LIKE '%/step') AS BIGINT) AS latest_step,
                min(value) FILTER (name LIKE '%/frame') AS best_frame,
                arg_max(value, global_step) FILTER (name LIKE '%/frame') AS latest_frame
            FROM rows WHERE name LIKE 'milestone/%' GROUP BY 1
        """

        at_once = """SELECT arg_max(milestones, last_step) AS milestones, count(*) AS episodes,
                        min(last_step) AS first_seen
                     FROM rows WHERE purpose = 'train' HAVING count(*) > 0"""

        def ask() -> list[dict[str, Any]]:
            reached = {row.pop("name"): row for row in self._rows("metrics", sql)}
            for row in self._rows("episodes", at_once):  # has no split to measure
                for name, step in json.loads(row["milestones"]).items():
                    if step == 0 and name not in reached:
                        zero = {"best_step": 0, "latest_step": 0, "best_frame": 0, "latest_frame": 0}
                        reached[name] = {"episodes": row["episodes"], "first_seen": row["first_seen"], **zero}
            nothing = {"episodes": 0, "first_seen": None, "best_step": None, "latest_step": None}
            found = []
            for name in [*order, *(name for name in reached if name not in order)]:
                row = reached.get(name, {})
                seconds = {
                    f"{which}_s": None
                    if row.get(f"{which}_frame") is None
                    else row[f"{which}_frame"] / frames_per_second
                    for which in ("best", "latest")
                }
                kept = {key: row.get(key, value) for key, value in nothing.items()}
                found.append({"name": name, **kept, **seconds})
            return found

        return self._kept("metrics", ("milestones", *order), FRESH_S, ask)

    # Episodes and decisions --------------------------------------------------------------------------------------

    def episodes(self, limit: int) -> list[dict[str, Any]]:
        """Return the latest episodes, newest first."""
        sql = """SELECT environment, episode, last_step, steps, total_reward, outcome, llm_share, milestones FROM rows
                 WHERE purpose = 'train' ORDER BY last_step DESC, environment LIMIT ?"""

        def ask() -> list[dict[str, Any]]:
            rows = self._rows("episodes", sql, [limit])
            return [{**row, "milestones": json.loads(row["milestones"])} for row in rows]

        return self._kept("episodes", limit, FRESH_S, ask)

    def rewards(self) -> list[float]:
        """Return the total reward of each episode."""
        sql = "SELECT total_reward FROM rows ORDER BY environment, episode"
        return [float(row["total_reward"]) for row in self._rows("episodes", sql)]

    def decisions(self, source: int | None, limit: int, before: Cursor | None) -> list[dict[str, Any]]:
        """Return the latest decisions, newest first; of one source and before one row, if given."""
        sql = """SELECT global_step, environment, episode, step, action, source, confidence, reward, map_id, x, y,
                    phase, reason, model
                 FROM rows WHERE (? IS NULL OR source = ?)
                    AND (global_step < ? OR (global_step = ? AND environment < ?))
                 ORDER BY global_step DESC, environment DESC LIMIT ?"""
        step, environment = before or _THE_END
        parameters = [source, source, step, step, environment, limit]
        return self._kept("decisions", tuple(parameters), FRESH_S, lambda: self._rows("decisions", sql, parameters))

    def maps(self) -> list[dict[str, Any]]:
        """Return the visited maps, with the steps spent on each and the number of its visited tiles."""
        sql = """SELECT map_id, count(*) AS steps, count(DISTINCT (x, y)) AS tiles FROM rows
                 GROUP BY map_id ORDER BY steps DESC"""
        return self._kept("decisions", "maps", HEAVY_FRESH_S, lambda: self._rows("decisions", sql))

    def visits(self, map_id: int) -> list[dict[str, Any]]:
        """Return the visited tiles of a map, and the steps decided on each."""
        sql = "SELECT x, y, count(*) AS steps FROM rows WHERE map_id = ? GROUP BY x, y ORDER BY steps DESC, y, x"
        return self._kept(
            "decisions", ("visits", map_id), HEAVY_FRESH_S, lambda: self._rows("decisions", sql, [map_id])
        )

    # The language model ------------------------------------------------------------------------------------------

    def advice(self, limit: int, before: Cursor | None) -> list[dict[str, Any]]:
        """Return the latest answers of the language model, newest first."""
        sql = """SELECT global_step, asked_at, environment, event, followed, reading, problem, advice, model, cached,
                    prompt, reply, prompt_tokens, completion_tokens, latency_s
                 FROM rows WHERE global_step < ? OR (global_step = ? AND environment < ?)
                 ORDER BY global_step DESC, environment DESC LIMIT ?"""
        step, environment = before or _THE_END

        def ask() -> list[dict[str, Any]]:
            rows = self._rows("advice", sql, [step, step, environment, limit])
            return [{**row, "advice": json.loads(row["advice"]) if row["advice"] else None} for row in rows]

        return self._kept("advice", (limit, before), FRESH_S, ask)

    def advice_totals(self) -> dict[str, Any]:
        """Return tokens and answers of the language model over the whole run."""
        sql = """SELECT count(*) AS answers, coalesce(sum(prompt_tokens), 0)::BIGINT AS prompt_tokens,
                    coalesce(sum(completion_tokens), 0)::BIGINT AS completion_tokens FROM rows"""

        def ask() -> dict[str, Any]:
            return self._rows("advice", sql)[0]

        return self._kept("advice", "totals", FRESH_S, ask)
