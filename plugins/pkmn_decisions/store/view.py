"""Tables of one or more runs as SQL views: decisions with their outcome and that of their episode.

Views:
    judged_decisions: every recorded decision, with ``run``, ``near_return`` and ``success``.
    decisions: the same, with names and the outcome of the episode; slower. It adds ``action_name``,
        ``source_name``, ``episode_return``, ``episode_outcome`` (the last two empty while the episode is running).
    episodes, metrics, advice: as recorded, with ``run``.
    names: kind (map, opponent, phase, ...), number, name.

A decision's ``near_return`` is the sum of the rewards of that step and of the steps that follow in its episode,
``horizon`` steps in all or fewer at the episode's end. It is a ``success`` if that sum is above zero. Both are empty if
the episode has neither ended nor lasted for long enough yet. The sum is read if the files have it for this horizon;
otherwise it is computed from the rewards, which takes several times as long.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from pkmn_decisions.store.files import (
    SUPERSEDED,
    TableFile,
    first_line,
    names_one_of,
    path_literal,
    relation,
    retry_if_moved,
    sql_text,
)
from pkmn_decisions.store.names import SOURCE_NAMES, Names, load_names
from pkmn_decisions.store.recorded_files import recorded_files
from pkmn_decisions.store.schema import ADVICE, DECISIONS, EPISODES, METRICS, Table
from pkmncli.api import DECISION_HORIZON, TABLES_INDEX
from pkmncli.errors import DecisionValidationError, RunError

STANDALONE_FILE = "standalone.json"
"""Marker of a folder of decisions recorded one by one, each with its own outcome, and not by a training."""

MEMORY_LIMIT = "1500MB"
"""Maximum memory of a question; beyond it DuckDB uses a temporary folder."""

_NEAR_RETURN_SINCE = 2
"""Version of the files that first held ``near_return``."""

_LATEST_FILES = 4
"""Number of latest files in which each environment has certainly taken a step."""


_SOURCE_CASES = " ".join(f"WHEN {number} THEN {sql_text(name)}" for number, name in SOURCE_NAMES.items())

_JOINED = f"""
    SELECT d.*,
        coalesce(a.name, 'action_' || d.action) AS action_name,
        CASE source {_SOURCE_CASES} END AS source_name,
        e.total_reward AS episode_return,
        e.outcome AS episode_outcome
    FROM judged_decisions d
    LEFT JOIN (SELECT * FROM episodes WHERE purpose = 'train') e USING (run, environment, episode)
    LEFT JOIN (SELECT number, name FROM names WHERE kind = 'action') a ON a.number = d.action
"""


class RunViews:
    """In-memory database with views on the files of runs. :meth:`refresh` lists the files again."""

    def __init__(
        self,
        folders: Sequence[Path],
        horizon: int = DECISION_HORIZON,
        threads: int | None = None,
        name_folders: Sequence[Path] | None = None,
    ) -> None:
        """Open the tables in ``folders``.

        Args:
            folders: folders of tables, one for each run; a folder without tables counts as empty.
            horizon: decisions over which a decision's reward is summed.
            threads: threads of the database; all cores by default.
            name_folders: run folders with the names of maps and so on; by default those of the tables.

        Raises:
            RunError: a table was written by a newer version, or cannot be read.
        """
        self.folders = [Path(folder) for folder in folders]
        self._name_folders = self.folders if name_folders is None else list(name_folders)
        self.horizon = horizon
        self._by_hand = by_hand(self.folders)
        self._files: list[TableFile] = []
        self._stored = False
        """True if the files have ``near_return``."""
        self._locked = False
        aside = tempfile.mkdtemp(prefix="pkmn-duckdb-")
        self._remove_aside = weakref.finalize(self, shutil.rmtree, aside, ignore_errors=True)
        config: dict[str, Any] = {
            "memory_limit": MEMORY_LIMIT,
            # By default it is in the folder from which the command was started.
            "temp_directory": aside,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if threads is not None:
            config["threads"] = threads
        self._connection = duckdb.connect(":memory:", config=config)
        # No query depends on the order of rows in the files, and keeping it takes memory.
        self._connection.execute("SET preserve_insertion_order = false")
        self.names = Names()
        self.refresh()

    def refresh(self) -> None:
        """Include the files written since the last call."""
        self.names = load_names(self._name_folders)
        try:
            retry_if_moved(self._make_views, self._files)
        except duckdb.Error as error:
            raise RunError(f"Cannot read the tables of {self._shown_folders()}: {first_line(error)}") from error

    def _make_views(self) -> None:
        self._files.clear()
        for table in (DECISIONS, EPISODES, METRICS, ADVICE):
            view = "decision_rows" if table is DECISIONS else table.name
            self._connection.execute(f"CREATE OR REPLACE VIEW {view} AS {self._all_runs(table)}")
        self._stored = self.horizon == DECISION_HORIZON and all(map(self._has_near_return, self.folders))
        self._connection.execute(f"CREATE OR REPLACE VIEW judged_decisions AS {self.judged('decision_rows')}")
        self._write_names()
        self._connection.execute(f"CREATE OR REPLACE VIEW decisions AS {_JOINED}")

    def judged(self, rows: str) -> str:
        """Return SQL that adds ``near_return`` and ``success`` to these rows of decisions.

        Args:
            rows: name of a view or a query in parentheses. It must hold, for each row, the recorded ones that follow it
                in its episode.
        """
        outcome = [column.name for column in DECISIONS.columns if column.name in ("near_return", "success")]
        others = f"* EXCLUDE ({', '.join(outcome)})"
        if self._stored:
            # NaN means unknown; DuckDB would sort it above any number.
            return f"""
                SELECT {others}, nullif(near_return, 'nan'::FLOAT) AS near_return,
                    nullif(near_return, 'nan'::FLOAT) > 0 AS success
                FROM {rows}
            """
        if self.horizon == 1:
            # Decisions recorded by hand state their outcome; nothing is summed.
            near = "coalesce(nullif(near_return, 'nan'::FLOAT), reward)" if self._by_hand else "reward"
            return f"SELECT {others}, {near}::DOUBLE AS near_return, {near} > 0 AS success FROM {rows}"
        # With one run, its name is not needed to distinguish episodes, which saves a third of the time.
        episode = "environment, episode" if len(self.folders) == 1 else "run, environment, episode"
        following = range(1, self.horizon)
        near_return = " + ".join(["reward::DOUBLE", *(f"lead(reward, {step}, 0) OVER steps" for step in following)])
        known = f"lead(true, {self.horizon - 1}, false) OVER steps OR bool_or(done) OVER whole"
        return f"""
            SELECT * EXCLUDE (sum_of_rewards, known),
                CASE WHEN known THEN sum_of_rewards END AS near_return,
                CASE WHEN known THEN sum_of_rewards > 0 END AS success
            FROM (
                SELECT {others}, {near_return} AS sum_of_rewards, {known} AS known
                FROM {rows}
                WINDOW steps AS (PARTITION BY {episode} ORDER BY step), whole AS (PARTITION BY {episode})
            )
        """

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the column names and rows of a query.

        Raises:
            DecisionValidationError: the query is not valid.
            RunError: a file cannot be read.
        """

        def select() -> tuple[list[str], list[tuple[Any, ...]]]:
            cursor = self._connection.execute(sql, list(parameters))
            return [column[0] for column in cursor.description or ()], cursor.fetchall()

        try:
            if self._locked:  # the files cannot be listed again
                return select()
            return retry_if_moved(select, self._files, self.refresh)
        except duckdb.Error as error:
            if isinstance(error, duckdb.IOException) or names_one_of(error, self._files):
                raise RunError(f"Cannot read {self._shown_folders()}: {first_line(error)}") from error
            raise DecisionValidationError(f"The query failed: {first_line(error)}") from error

    def lock(self) -> None:
        """Forbid to open other files or to change settings from now on. :meth:`refresh` then fails."""
        paths = ", ".join(path_literal(file.path) for file in self._files)
        self._connection.execute(f"SET allowed_paths = [{paths}]")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")
        self._locked = True

    def newest_steps(self) -> dict[str, int]:
        """Return the last recorded step of each run that has decisions."""
        newest: dict[str, int] = {}
        for folder, name in zip(self.folders, run_names(self.folders), strict=True):
            files = recorded_files(folder, DECISIONS)
            if files:
                newest[name] = max(file.last for file in files)
        return newest

    def episode_numbers(self) -> dict[str, tuple[int, int]]:
        """Return the number of environments, and of episodes that the furthest has begun, of each run with decisions.

        All environments take each step, so the latest files have both.
        """
        found: dict[str, tuple[int, int]] = {}
        for folder, name in zip(self.folders, run_names(self.folders), strict=True):
            latest = recorded_files(folder, DECISIONS)[-_LATEST_FILES:]
            if latest:
                rows = relation(DECISIONS, latest)
                _, counted = self.query(f"SELECT max(environment) + 1, max(episode) + 1 FROM ({rows})")
                found[name] = (int(counted[0][0]), int(counted[0][1]))
        return found

    def times(self) -> tuple[float, float] | None:
        """Return the times of the first and the latest decision, in seconds since 1970; None without decisions."""
        ends = []
        for folder in self.folders:
            files = recorded_files(folder, DECISIONS)
            ends += [files[0], files[-1]] if files else []
        if not ends:
            return None
        _, rows = self.query(f"SELECT min(time), max(time) FROM ({relation(DECISIONS, ends)})")
        return rows[0][0], rows[0][1]

    def close(self) -> None:
        """Release the database's memory and its temporary files."""
        self._connection.close()
        self._remove_aside()

    def _all_runs(self, table: Table) -> str:
        parts = []
        for folder, name in zip(self.folders, run_names(self.folders), strict=True):
            files = recorded_files(folder, table)
            self._files += files
            columns = ", ".join(f'"{column.name}"' for column in table.columns)
            parts.append(relation(table, files, f"{sql_text(name)} AS run, {columns}"))
        return " UNION ALL ".join(parts)

    def _has_near_return(self, folder: Path) -> bool:
        """Return whether a run's files have ``near_return`` from the first on, with a value in some row."""
        files = recorded_files(folder, DECISIONS)
        if not files:
            return True
        if files[0].version < _NEAR_RETURN_SINCE:
            return False
        known = f"SELECT coalesce(bool_or(NOT isnan(near_return)), false) FROM ({relation(DECISIONS, files[:1])})"
        return bool(self._connection.execute(known).fetchall()[0][0])

    def _write_names(self) -> None:
        rows = [(kind, number, name) for kind in self.names.kinds for number, name in self.names.kinds[kind].items()]
        kinds, numbers, names = zip(*rows, strict=True)
        self._connection.execute(
            "CREATE OR REPLACE TABLE names AS SELECT unnest(?::VARCHAR[]) AS kind, unnest(?::BIGINT[]) AS number, "
            "unnest(?::VARCHAR[]) AS name",
            [list(kinds), list(numbers), list(names)],
        )

    def _shown_folders(self) -> str:
        return ", ".join(str(folder) for folder in self.folders)


def by_hand(folders: Sequence[Path]) -> bool:
    """Return whether all of these folders hold decisions recorded by hand."""
    return all((folder / STANDALONE_FILE).exists() for folder in folders)


def folders_of_tables(folder: Path) -> list[Path]:
    """Return the folders with tables of decisions: this one, and those in it if ``decision_db_path`` named it."""
    inside = sorted(path.parent for path in folder.glob("*/decisions") if path.parent.name != SUPERSEDED)
    own = (folder / "decisions").is_dir() or (folder / TABLES_INDEX).exists()
    return [folder, *inside] if own else inside


def default_horizon(folders: Sequence[Path]) -> int:
    """Return the number of decisions over which a reward is summed: 1 if all were recorded by hand."""
    return 1 if by_hand(folders) else DECISION_HORIZON


def run_names(folders: Sequence[Path]) -> list[str]:
    """Return a name for each run: its folder's, or its whole path if two have the same name."""
    names = [folder.absolute().name for folder in folders]
    return [name if names.count(name) == 1 else str(folder) for name, folder in zip(names, folders, strict=True)]
