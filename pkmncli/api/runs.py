"""Contracts of runs for plugins: stores of tables, analyzers, episodes."""

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
"""Name of the store of trainings."""


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
    """Store of the tables of a run: decisions, episodes, metrics. Built with the run's folder.

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
            form: ``csv``, with a line of names, or ``parquet``.

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


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Run, for hooks."""

    folder: Path
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """Summary of an episode that has ended.

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
    """Environment steps of the whole run at the beginning of the episode."""
    milestone_frames: Mapping[str, int] = field(default_factory=dict)


def find_run(which: str | Path | None = None, save_dir: Path | None = None) -> RunInfo:
    """Find an existing run, for a plugin's command. Its settings are those in its ``config.toml``.

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
    """Report a line on standard error, unless the running command has reported it before."""
    from pkmncli.diagnostics import say_once  # noqa: PLC0415 - registration modules import this one

    say_once(message)


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
