"""Registration of the decision store, its analyzer and the command that reports patterns."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_stores(register: Register) -> None:
    """Register the store that writes Parquet files through DuckDB."""
    register(
        "duckdb", "pkmn_decisions.store.store:DuckDBStore", help="Parquet files in the run folder, read with DuckDB"
    )


@hookimpl
def pkmn_register_analyzers(register: Register) -> None:
    """Register the analyzer of recorded decisions."""
    register(
        "decisions",
        "pkmn_decisions.analyzer:DecisionHistoryAnalyzer",
        help="which actions paid off in which situations",
    )


@hookimpl
def pkmn_register_commands(register: Register) -> None:
    """Register ``pkmn analyze-patterns``."""
    register(
        "analyze-patterns",
        "pkmn_decisions.command:analyze_patterns",
        help="Show which actions paid off in which situations of a run.",
    )
