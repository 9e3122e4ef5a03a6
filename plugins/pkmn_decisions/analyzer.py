"""Analyzer of recorded decisions: which actions paid off in which situations, and the latest decisions."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pkmn_decisions.analysis.conditions import parse_filter
from pkmn_decisions.analysis.findings import Analysis
from pkmn_decisions.analysis.patterns import PatternQuestion
from pkmn_decisions.analysis.recent_decisions import recent_decisions
from pkmn_decisions.analysis.situations import DEFAULT_DIMENSIONS
from pkmn_decisions.report.sections import Show, values
from pkmn_decisions.store.game_states import state_variables
from pkmn_decisions.store.recording_by_hand import RecordingByHand, check_decision
from pkmn_decisions.store.sqlite_history import import_history, is_sqlite
from pkmn_decisions.store.view import STANDALONE_FILE, RunViews, default_horizon, folders_of_tables
from pkmncli.errors import DecisionValidationError, RunError

BY_HAND = "by-hand"
"""Folder of decisions recorded by hand, where trainings keep theirs beside it."""


class DecisionHistoryAnalyzer:
    """Analyzer that reads the decisions of runs, also while they are recorded, or records its own.

    Opened on the folder of a run (or several), it answers questions about that run; opened on an SQLite file with a
    table of decisions, about a copy of those. Opened on any other path, it stores there the decisions given to
    :meth:`record_decision`; such a path is a folder, made with the first decision. On the ``decision_db_path`` of
    trainings they go into a folder of that one, ``by-hand``.
    """

    def __init__(
        self,
        db_path: str | Path | Sequence[str | Path] = "decisions.db",
        *,
        horizon: int | None = None,
        threads: int | None = None,
    ) -> None:
        """Open the decisions at ``db_path``.

        Args:
            db_path: a run's folder, an SQLite file, several of them, the ``decision_db_path`` of trainings, or a new
                path for decisions recorded by hand.
            horizon: decisions over which a decision's reward is summed to judge its success. By default
                8 for a run; 1 for decisions recorded by hand, whose ``outcome_reward`` is their whole outcome.
            threads: maximum threads of a question; all cores by default.

        Raises:
            RunError: a path is a file of another kind, or was written by a newer version.
        """
        paths = [db_path] if isinstance(db_path, (str, Path)) else list(db_path)
        if not paths:
            raise DecisionValidationError("Name at least one folder of decisions.")
        self._copies: list[weakref.finalize[..., DecisionHistoryAnalyzer]] = []
        self._imported: set[Path] = set()
        self._folders = [self._folder_of(Path(path)) for path in paths]
        self._horizon = horizon
        self._threads = threads
        self._views: RunViews | None = None
        self._viewed: list[Path] = []
        self._recording: RecordingByHand | None = None

    @property
    def folder(self) -> Path:
        """First of the folders of decisions."""
        return self._folders[0]

    def record_decision(
        self, game_state: Any, action_taken: int, reasoning: str, confidence: float, outcome_reward: float
    ) -> None:
        """Record one decision. It is on disk after the next question, :meth:`flush` or :meth:`close`.

        The decisions that one analyzer records are one episode.

        Args:
            game_state: the observed state: an object with ``state_variables``, or a dictionary.
            action_taken: number of the action.
            reasoning: the reason, in words.
            confidence: 0 to 1.
            outcome_reward: its reward.

        Raises:
            DecisionValidationError: a value is not valid, or the folder is a run's, which its training records.
            RunError: another process records there, or the folder cannot be written.
        """
        check_decision(action_taken, confidence, outcome_reward)
        state_variables(game_state)
        self._open_recording().add(game_state, action_taken, reasoning, confidence, outcome_reward)

    def analyze_patterns(
        self,
        min_frequency: int = 3,
        context_filter: Mapping[str, Any] | None = None,
        *,
        by: Sequence[str] = DEFAULT_DIMENSIONS,
        sort: str = "success",
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """Return the actions taken in each situation, with their frequency and outcome.

        Args:
            min_frequency: minimum number of times an action was taken in a situation.
            context_filter: conditions on the decisions; see :func:`pkmn_decisions.analysis.conditions.parse_filter`.
            by: dimensions that distinguish situations; see :data:`pkmn_decisions.analysis.patterns.DIMENSIONS`.
            sort: ``success``, ``frequency``, ``lift`` or ``reward``.
            limit: maximum patterns to return; all by default.

        Returns:
            One dictionary for each pattern, with the keys of
            :meth:`~pkmn_decisions.analysis.patterns.Pattern.as_dict`.

        Raises:
            DecisionValidationError: a condition, dimension or number is not valid.
        """
        views = self._open_views()
        conditions = parse_filter(context_filter or {}, views.names)
        analysis = Analysis(views, PatternQuestion(min_frequency, by, conditions, sort, limit))
        return [pattern.as_dict(views.names) for pattern in analysis.patterns]

    def findings(
        self,
        show: str,
        min_frequency: int = 3,
        context_filter: Mapping[str, Any] | None = None,
        *,
        by: Sequence[str] = DEFAULT_DIMENSIONS,
        limit: int | None = 20,
    ) -> dict[str, Any]:
        """Return a section of the report of ``pkmn analyze-patterns``, as in its JSON.

        Args:
            show: ``patterns``, ``sources``, ``loops``, ``sequences``, ``changes`` or ``advice``.
            min_frequency: as for :meth:`analyze_patterns`, as are ``context_filter`` and ``by``.
            context_filter: conditions on the decisions.
            by: dimensions that distinguish situations.
            limit: maximum rows of each kind.

        Raises:
            DecisionValidationError: there is no such section, or another value is not valid.
        """
        if show not in list(Show):
            raise DecisionValidationError(f"There is no section {show}; choose from {', '.join(Show)}.")
        views = self._open_views()
        conditions = parse_filter(context_filter or {}, views.names)
        question = PatternQuestion(min_frequency, by, conditions, "success", limit)
        return values(Analysis(views, question), Show(show))

    def advice(
        self, min_frequency: int = 3, context_filter: Mapping[str, Any] | None = None, *, limit: int | None = 20
    ) -> list[dict[str, Any]]:
        """Return advice for the next training, from all that differs by more than chance.

        Returns:
            One dictionary for each: ``for`` (``prompt``, ``pilot`` or ``strategy``), ``context``, ``text``,
            ``evidence``; at most ``limit`` for each audience, the most important first.
        """
        advice: list[dict[str, Any]] = self.findings("advice", min_frequency, context_filter, limit=limit)["advice"]
        return advice

    def get_recent_decisions(self, limit: int = 100) -> list[dict[str, Any]]:
        """Return the latest decisions, newest first.

        Args:
            limit: maximum decisions to return.

        Returns:
            One dictionary for each: ``id``, ``timestamp`` (in UTC), ``state_hash``, ``action``, ``reasoning``,
            ``confidence``, ``outcome_reward`` (of the step), ``episode_id``, ``step_number``, ``step_in_episode``,
            ``context``, ``outcome`` (``success``, ``failure``, or None if it is not known yet), and
            ``total_episode_reward`` (so far, while the episode is running).

        Raises:
            DecisionValidationError: the limit is below 1.
        """
        if limit < 1:
            raise DecisionValidationError(f"The limit must be at least 1, not {limit}.")
        return recent_decisions(self._open_views(), limit)

    def flush(self) -> None:
        """Write recorded decisions to disk."""
        if self._recording is not None:
            self._recording.flush()

    def close(self) -> None:
        """Write recorded decisions to disk and release the folder. The analyzer can be used again."""
        try:
            if self._recording is not None:
                self._recording.close()
        finally:
            self._recording = None
            if self._views is not None:
                self._views.close()
            self._views = None

    def __enter__(self) -> DecisionHistoryAnalyzer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _folder_of(self, path: Path) -> Path:
        """Return the folder of decisions for a path: the path itself, or that of a copy of an SQLite file."""
        if not path.is_file():
            return path
        if not is_sqlite(path):
            raise RunError(f"{path} is a file: decisions are kept in a folder. Choose another path.")
        copies = Path(tempfile.mkdtemp(prefix="pkmn-history-"))
        self._copies.append(weakref.finalize(self, shutil.rmtree, copies, ignore_errors=True))
        import_history(path, copies / path.name)
        self._imported.add(copies / path.name)
        return copies / path.name

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
        """Return the folders with tables: the named ones, and the runs in them if ``decision_db_path`` was set."""
        return [found for folder in self._folders for found in folders_of_tables(folder) or [folder]]

    def _open_recording(self) -> RecordingByHand:
        if self._recording is not None:
            return self._recording
        if len(self._folders) != 1:
            raise DecisionValidationError("Decisions can be recorded in one folder only, and several were opened.")
        folder = self._folders[0]
        if folder in self._imported:
            raise DecisionValidationError(
                f"{folder.name} is an SQLite file, which is only read: give record_decision another path."
            )
        beside_trainings = not (folder / STANDALONE_FILE).exists() and folder not in folders_of_tables(folder)
        if beside_trainings and folders_of_tables(folder):
            folder /= BY_HAND
        self._recording = RecordingByHand(folder)
        if self._views is not None:
            self._views.close()
        self._views = None
        return self._recording
