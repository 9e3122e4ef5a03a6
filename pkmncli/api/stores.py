"""Contracts of the tables of a run: stores, and analyzers of what they keep."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT_STORE = "duckdb"
"""Name of the store of trainings."""

TABLES_INDEX = "tables.jsonl"
"""Index of the tables in a folder: after the first line, one for each file, in the order of writing."""

_INDEX_END_BYTES = 4096
"""End of the index that has the last files of every table: a file's line is shorter than 200 bytes."""

_LAST_STEP = re.compile(rb'"file": ?"\w+/\d{12}-(\d{12})')
"""Last step of a file, in its name."""


@dataclass(frozen=True, slots=True)
class Coded:
    """Column with few different values: row ``i`` holds ``values[codes[i]]``. ``codes`` is unsigned, (rows,)."""

    codes: NDArray[np.unsignedinteger[Any]]
    values: Sequence[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def decoded(self) -> NDArray[np.object_]:
        """Return the column as an array of objects, (rows,)."""
        import numpy as np  # noqa: PLC0415 - registration modules import this one

        values = np.empty(len(self.values), object)
        values[:] = self.values
        column: NDArray[np.object_] = values[self.codes]
        return column


class Store(Protocol):
    """Store of the tables of a run: decisions, episodes, metrics, advice. Built with the run's folder.

    A table is columns of equal length. Rows that were flushed are never changed, and may be read by other
    processes at any time; rows that were not are lost when the process is killed.

    A training calls these methods from any of its threads, :meth:`flush` mostly from one beside the training's own, but
    never two at once: the next call comes after the one before has returned. What is bound to the thread that made it,
    such as an SQLite connection by default, does not do.
    """

    def append(self, table: str, columns: Mapping[str, Any]) -> None:
        """Add rows to a table: columns by name, all of one length; arrays, lists, or :class:`Coded`."""
        ...

    def flush(self) -> None:
        """Put all rows on disk, safe from everything but a damaged disk."""
        ...

    def read(self, table: str, where: str = "", parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Return rows as dictionaries, in the order of writing; ``where`` is an SQL condition, as DuckDB has it."""
        ...

    def size_bytes(self) -> int:
        """Return the disk space of the tables."""
        ...

    def supersede(self, after_step: int, tables: Sequence[str] | None = None) -> int:
        """Set aside the rows of steps after ``after_step``, when a run resumes there. Return their number.

        Args:
            after_step: the last step whose rows stay.
            tables: of these tables only; of all without.
        """
        ...

    def close(self) -> None:
        """Flush, and release everything."""
        ...


class ExportingStore(Store, Protocol):
    """Store that can write a table as one file, for ``pkmn export``."""

    def export(self, table: str, path: Path, form: str) -> int:
        """Write the flushed rows of a table to a new file, which appears whole, also while another process records.

        Args:
            table: its name.
            path: the file; one that is there is replaced.
            form: ``csv``, with a line of names, ``parquet``, or ``sqlite``, where the file keeps its other tables.

        Returns:
            How many rows it has.
        """
        ...


class CountingStore(Store, Protocol):
    """Store that can count rows, for ``pkmn plot``."""

    def count(self, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count the flushed rows for each combination of values of some columns: these values, the count last."""


class SourceStore(Store, Protocol):
    """Store whose tables DuckDB can read, for the live page."""

    def source(self, table: str) -> str:
        """Return SQL for DuckDB that selects the rows of a table that are flushed by now, with all its columns."""
        ...


class CheckedStore(Store, Protocol):
    """Store that can find which of its files were lost."""

    def problems(self) -> list[str]:
        """Return a line for each gap in the tables, and for each file in them that isn't the run's."""
        ...


class Analyzer(Protocol):
    """Analyzer of the decisions of a run, also while they are recorded. Built with the folder of the tables."""

    def analyze_patterns(self, min_frequency: int = 3, *, limit: int | None = None) -> Sequence[Mapping[str, Any]]:
        """Find which actions were taken in which situations, how often, and what came of them.

        Args:
            min_frequency: least number of times an action was taken in a situation.
            limit: most patterns; all by default.

        Returns:
            A description of each: ``context``, ``action_name``, ``frequency``, ``success_rate``, ``interval`` and more.
        """
        ...

    def close(self) -> None:
        """Release everything."""
        ...


def open_tables(folder: Path) -> Store:
    """Return the store of the tables in a folder, as trainings write them.

    Raises:
        PluginError: it can't be loaded.
    """
    from pkmncli.plugins import get_registry  # noqa: PLC0415 - registration modules import this one

    store: Store = get_registry().get("stores", DEFAULT_STORE).load()(folder)
    return store


def tables_folder(run: Path, core: Mapping[str, Any]) -> Path:
    """Return the folder of a run's tables.

    Args:
        run: the run's folder.
        core: settings of the core as the run's file has them, which may have been edited.
    """
    elsewhere = core.get("decision_db_path")
    return Path(elsewhere) if elsewhere and isinstance(elsewhere, str | Path) else run


def recorded_steps(folder: Path) -> int:
    """Return the last step that the tables in a folder hold, so far as their index tells; 0 if they are empty.

    Reads the end of one file, so that many runs can be listed. Steps of the last seconds of a training are not written.
    """
    try:
        path = folder / TABLES_INDEX
        if path.is_file():  # a pipe never ends
            with path.open("rb") as file:
                file.seek(max(file.seek(0, os.SEEK_END) - _INDEX_END_BYTES, 0))
                return max(map(int, _LAST_STEP.findall(file.read())), default=0)
    except OSError:
        pass
    return 0


def open_analyzer(folder: Path, name: str = "decisions", *, threads: int | None = None) -> Analyzer:
    """Return the analyzer that a plugin registered, on the tables in a folder.

    Args:
        folder: where the tables are.
        name: what it is registered under.
        threads: threads that a question may take, for an analyzer that takes this argument; others have their own mind.

    Raises:
        PluginError: none is registered under the name.
    """
    from pkmncli.plugins import get_registry  # noqa: PLC0415 - registration modules import this one

    build = get_registry().get("analyzers", name).load()
    takes_threads = threads is not None and "threads" in inspect.signature(build).parameters
    analyzer: Analyzer = build(folder, threads=threads) if takes_threads else build(folder)
    return analyzer
