"""Learns from recorded decisions: which actions paid off in which situations, and what was decided lately."""

from __future__ import annotations

import json
import math
import time
import weakref
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmn_decisions.conditions import parse_filter
from pkmn_decisions.game_states import state_columns, state_hash, state_variables
from pkmn_decisions.patterns import DEFAULT_DIMENSIONS, PatternQuestion, find_patterns
from pkmn_decisions.store import DuckDBStore
from pkmn_decisions.view import HORIZON, RunViews
from pkmncli.api import Source
from pkmncli.errors import DecisionValidationError, RunError

if TYPE_CHECKING:
    from filelock import BaseFileLock

STANDALONE_FILE = "standalone.json"
"""Marks a folder of decisions recorded one by one, each with its own outcome, and not by a training."""


_FLUSH_EVERY = 256
_FLUSH_SECONDS = 60.0


class DecisionHistoryAnalyzer:
    """Reads the decisions of runs, also while they are being recorded, or keeps decisions of its own.

    Opened on the folder of a run (or several), it answers questions about that run. Opened on any other path, it
    keeps there what :meth:`record_decision` is given; such a path is a folder, made with the first decision.
    """

    def __init__(
        self,
        db_path: str | Path | Sequence[str | Path] = "decisions.db",
        *,
        horizon: int | None = None,
        threads: int | None = None,
    ) -> None:
        """Opens the decisions at ``db_path``.

        Args:
            db_path: a run's folder, several of them, the ``decision_db_path`` of trainings, or a path of its own for
                decisions recorded by hand.
            horizon: decisions over which a decision's reward is summed to tell whether it succeeded. By default
                8 for a run; 1 for decisions recorded by hand, whose ``outcome_reward`` is all that came of them.
            threads: threads that a question may take; all cores by default.

        Raises:
            RunError: a path is a file, or was written by a newer version.
        """
        paths = [db_path] if isinstance(db_path, (str, Path)) else list(db_path)
        if not paths:
            raise DecisionValidationError("Name at least one folder of decisions.")
        self._folders = [Path(path) for path in paths]
        for folder in self._folders:
            if folder.is_file():
                raise RunError(f"{folder} is a file: decisions are kept in a folder. Choose another path.")
        self._horizon = horizon
        self._threads = threads
        self._views: RunViews | None = None
        self._viewed: list[Path] = []
        self._store: DuckDBStore | None = None
        self._lock: BaseFileLock | None = None
        self._episode = 0
        self._step = 0
        self._global_step = 0
        self._flushed = time.monotonic()
        self._at_exit: weakref.finalize[..., DecisionHistoryAnalyzer] | None = None

    @property
    def folder(self) -> Path:
        """Where the decisions are: the first of the folders."""
        return self._folders[0]

    def record_decision(
        self, game_state: Any, action_taken: int, reasoning: str, confidence: float, outcome_reward: float
    ) -> None:
        """Keeps one decision. It is on disk after the next question, after :meth:`flush`, or after :meth:`close`.

        The decisions that one analyzer records are one episode.

        Args:
            game_state: what was seen: an object with ``state_variables``, or a dictionary.
            action_taken: number of the action.
            reasoning: why, in words.
            confidence: 0 to 1.
            outcome_reward: the reward that it brought.

        Raises:
            DecisionValidationError: a value is not valid, or the folder is a run's, which its training records.
            RunError: another process records there, or the folder cannot be written.
        """
        if not (isinstance(confidence, Real) and 0 <= confidence <= 1):
            raise DecisionValidationError(f"The confidence must be a number between 0 and 1, not {confidence!r}.")
        if not (isinstance(outcome_reward, Real) and math.isfinite(outcome_reward)):
            raise DecisionValidationError(f"The outcome's reward must be a finite number, not {outcome_reward!r}.")
        state = state_variables(game_state)
        store = self._open_for_recording()
        values: dict[str, Any] = {
            "global_step": self._global_step + 1,
            "environment": 0,
            "episode": self._episode,
            "step": self._step + 1,
            "time": time.time(),
            "action": action_taken,
            "source": int(Source.RULE),
            "confidence": confidence,
            "reward": outcome_reward,
            "terminated": False,
            "truncated": False,
            "frames": 0,
            "coarse_hash": state_hash(state),
            "fine_hash": 0,
            "reason": reasoning,
            **state_columns(state),
        }
        store.append("decisions", {name: [value] for name, value in values.items()})
        self._global_step += 1
        self._step += 1
        if self._step % _FLUSH_EVERY == 0 or time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self.flush()

    def analyze_patterns(
        self,
        min_frequency: int = 3,
        context_filter: Mapping[str, Any] | None = None,
        *,
        by: Sequence[str] = DEFAULT_DIMENSIONS,
        sort: str = "success",
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """Which actions were taken in which situations, how often, and what came of them.

        Args:
            min_frequency: least number of times an action was taken in a situation.
            context_filter: conditions on the decisions; see :func:`pkmn_decisions.conditions.parse_filter`.
            by: what tells situations apart; see :data:`pkmn_decisions.patterns.DIMENSIONS`.
            sort: ``success``, ``frequency``, ``lift`` or ``reward``.
            limit: most patterns to return; all by default.

        Returns:
            One dictionary for each pattern; its keys are those of :meth:`pkmn_decisions.patterns.Pattern.as_dict`.

        Raises:
            DecisionValidationError: a condition, dimension or number is not valid.
        """
        views = self._open_views()
        conditions = parse_filter(context_filter or {}, views.names)
        found = find_patterns(views, PatternQuestion(min_frequency, by, conditions, sort, limit))
        return [pattern.as_dict(views.names) for pattern in found]

    def get_recent_decisions(self, limit: int = 100) -> list[dict[str, Any]]:
        """The latest decisions, newest first.

        Args:
            limit: most decisions to return.

        Returns:
            One dictionary for each: ``id``, ``timestamp`` (in UTC), ``state_hash``, ``action``, ``reasoning``,
            ``confidence``, ``outcome_reward`` (of the step), ``episode_id``, ``step_number``, ``step_in_episode``,
            ``context``, ``outcome`` (``success``, ``failure``, or None where it is not known yet), and
            ``total_episode_reward`` (so far, while the episode is running).

        Raises:
            DecisionValidationError: the limit is below 1.
        """
        if limit < 1:
            raise DecisionValidationError(f"The limit must be at least 1, not {limit}.")
        views = self._open_views()
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
        return [self._record(dict(zip(names, row, strict=True)), views) for row in rows]

    def flush(self) -> None:
        """Puts what was recorded on disk."""
        self._flushed = time.monotonic()
        if self._store is not None:
            self._store.flush()

    def close(self) -> None:
        """Puts what was recorded on disk and lets go of the folder. The analyzer can be used again."""
        try:
            if self._store is not None:
                self._store.close()
        finally:
            self._store = None
            if self._at_exit is not None:
                self._at_exit.detach()
            if self._lock is not None:
                self._lock.release()
            self._lock = None
            if self._views is not None:
                self._views.close()
            self._views = None

    def __enter__(self) -> DecisionHistoryAnalyzer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _open_views(self) -> RunViews:
        self.flush()
        folders = self._tables()
        if self._views is not None and folders != self._viewed:
            self._views.close()
            self._views = None
        if self._views is None:
            self._viewed = folders
            self._views = RunViews(folders, self._horizon or default_horizon(folders), self._threads)
        else:
            self._views.refresh()
        return self._views

    def _tables(self) -> list[Path]:
        """The folders with tables: those named, and the runs in them where a training was told to keep its there."""
        found = []
        for folder in self._folders:
            runs = sorted(path.parent for path in folder.glob("*/decisions"))
            found += [folder, *runs] if not runs or (folder / "decisions").is_dir() else runs
        return found

    def _open_for_recording(self) -> DuckDBStore:
        if self._store is not None:
            return self._store
        if len(self._folders) != 1:
            raise DecisionValidationError("Decisions can be recorded in one folder only, and several were opened.")
        from filelock import FileLock, Timeout  # noqa: PLC0415 - imports asyncio, which reading needs not

        folder = self._folders[0]
        marker = folder / STANDALONE_FILE
        if not marker.exists() and folder.is_dir() and any(folder.iterdir()):
            raise DecisionValidationError(
                f"{folder} was not made by recording decisions by hand: give record_decision a path of its own."
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder / "standalone.lock")
            lock.acquire(timeout=0)
            marker.write_text(json.dumps({"horizon": 1}) + "\n", encoding="utf-8")
        except Timeout:
            raise RunError(f"{folder} is in use by another process: wait for it, or choose another path.") from None
        except OSError as error:
            raise RunError(f"Decisions cannot be kept in {folder}: {error.strerror}. Choose another path.") from error
        self._lock = lock
        if self._views is not None:
            self._views.close()
            self._views = None
        views = RunViews([folder], horizon=1, threads=1)
        _, rows = views.query("SELECT coalesce(max(global_step), 0), coalesce(max(episode) + 1, 0) FROM decision_rows")
        views.close()
        self._global_step, self._episode = rows[0]
        self._step = 0
        self._store = DuckDBStore(folder)
        # A script may end without closing: what it recorded must not be lost then.
        self._at_exit = weakref.finalize(self, self._store.close)
        return self._store

    def _record(self, row: Mapping[str, Any], views: RunViews) -> dict[str, Any]:
        names = views.names
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
                "previous_actions": [int(digit) - 1 for digit in str(row["previous_actions"]) if digit != "0"],
            },
            "outcome": {True: "success", False: "failure", None: None}[row["success"]],
            "total_episode_reward": row["total"],
        }


def default_horizon(folders: Sequence[Path]) -> int:
    """Decisions over which a reward is summed: 1 where all were recorded by hand, each with its own outcome."""
    by_hand = all((folder / STANDALONE_FILE).exists() for folder in folders)
    return 1 if by_hand else HORIZON
