"""Runs, as plugins see them: the store of their tables, their settings, their episodes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Outcome = Literal["goal", "time-limit"]
"""End of an episode: its goal was reached, or it was truncated."""

DEFAULT_STORE = "duckdb"
"""Name of the store that trainings write their tables with."""


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of which few values differ: row ``i`` holds ``values[codes[i]]``. ``codes`` is unsigned, (rows,)."""

    codes: NDArray[np.unsignedinteger[Any]]
    values: Sequence[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def decoded(self) -> NDArray[np.object_]:
        """The column as an array of objects, (rows,)."""
        import numpy as np  # noqa: PLC0415 - registration modules import this one

        values = np.empty(len(self.values), object)
        values[:] = self.values
        column: NDArray[np.object_] = values[self.codes]
        return column


class Store(Protocol):
    """Keeps the tables of a run (decisions, episodes, metrics) and reads them back. Built with the run's folder.

    A table is columns of equal length. Rows that were flushed are never changed, and may be read by other
    processes at any time; rows that were not are lost when the process is killed.

    A training calls these methods from any of its threads, :meth:`flush` mostly from one beside the training's own, but
    never two at once: the next call comes after the one before has returned. What is bound to the thread that made it,
    such as an SQLite connection by default, does not do.
    """

    def append(self, table: str, columns: Mapping[str, Any]) -> None:
        """Adds rows to a table: columns by name, all of one length; arrays, lists, or :class:`Coded`."""
        ...

    def flush(self) -> None:
        """Puts all rows on disk, where nothing but a damaged disk can take them back."""
        ...

    def read(self, table: str, where: str = "", parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Rows as dictionaries, in the order in which they were written; ``where`` is an SQL condition."""
        ...

    def size_bytes(self) -> int:
        """Disk space that the tables take."""
        ...

    def supersede(self, after_step: int, tables: Sequence[str] | None = None) -> int:
        """Sets aside the rows of steps after ``after_step``, when a run resumes there. Returns how many.

        Args:
            after_step: the last step whose rows stay.
            tables: of these tables only; of all without.
        """
        ...

    def close(self) -> None:
        """Flushes, and lets go of everything."""
        ...


class ExportingStore(Store, Protocol):
    """A store that can write a table as one file, for ``pkmn export``. Others leave the method out."""

    def export(self, table: str, path: Path, form: str) -> int:
        """Writes what was flushed of a table to a new file that appears whole, also while another process records.

        Args:
            table: its name.
            path: the file; one that is there is replaced.
            form: ``csv``, with a line of names, or ``parquet``.

        Returns:
            How many rows it has.
        """
        ...


class CountingStore(Store, Protocol):
    """A store that can count rows, for ``pkmn plot``. Others leave the method out."""

    def count(self, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count the flushed rows for each combination of values of some columns: these values, the count last."""


class SourceStore(Store, Protocol):
    """A store whose tables DuckDB can read, for the live page's questions. Others leave the method out."""

    def source(self, table: str) -> str:
        """Return SQL for DuckDB that selects the rows of a table that are flushed by now, with all its columns."""
        ...


class CheckedStore(Store, Protocol):
    """A store that knows what it wrote, and so what has been lost since. Others leave the method out."""

    def problems(self) -> list[str]:
        """Return a line for each gap in the tables, and for each file in them that isn't the run's."""
        ...


class Analyzer(Protocol):
    """Learns from the decisions of a run, also while they are being recorded. Built with the folder of its tables."""

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
        """Lets go of everything."""
        ...


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run, as hooks see it."""

    folder: Path
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """How an episode ended.

    ``milestone_steps`` maps each milestone reached to the step that reached it, ``milestone_frames`` to the emulated
    frame, where the environment counts them.
    """

    environment: int
    episode: int
    seed: int
    steps: int
    total_reward: float
    terminated: bool
    outcome: Outcome
    llm_share: float
    milestone_steps: Mapping[str, int]
    first_step: int
    """Number of environment steps taken in the whole run when the episode began."""
    milestone_frames: Mapping[str, int] = field(default_factory=dict)


def find_run(which: str | Path | None = None, save_dir: Path | None = None) -> RunInfo:
    """Finds an existing run, for a plugin's command. Its settings are those in its ``config.toml``.

    Args:
        which: the run's folder, its name under ``save_dir``, or None for the latest.
        save_dir: the folder for run folders; without one ``PKMN_SAVE_DIR``, or ``runs``.

    Raises:
        RunError: there is no such run, or this version cannot read it.
    """
    from pkmncli.config.run_file import read_run_file  # noqa: PLC0415 - registration modules import this one
    from pkmncli.runs import open_run  # noqa: PLC0415

    folder = open_run(which, save_dir).folder
    settings: dict[str, dict[str, Any]] = {}
    for given in read_run_file(folder).given:
        settings.setdefault(given.section, {})[given.key] = given.value
    return RunInfo(folder, settings)


def open_tables(folder: Path) -> Store:
    """Return the store of the tables in a folder, as trainings write them.

    Raises:
        PluginError: it can't be loaded.
    """
    from pkmncli.plugins import get_registry  # noqa: PLC0415 - registration modules import this one

    store: Store = get_registry().get("stores", DEFAULT_STORE).load()(folder)
    return store


def tell_once(message: str) -> None:
    """Tells the user something in a line on standard error, unless the running command has told it before."""
    from pkmncli.diagnostics import say_once  # noqa: PLC0415 - registration modules import this one

    say_once(message)


def open_analyzer(folder: Path, name: str = "decisions", *, threads: int | None = None) -> Analyzer:
    """The analyzer that a plugin registered, on the tables in a folder.

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
