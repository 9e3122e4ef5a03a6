"""Patterns of recorded decisions, found by the analyzer that is registered under the name `decisions`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pkmn_dashboard.tables import Tables
from pkmncli.api import open_analyzer

FRESH_S = 30.0


class Patterns:
    """Asks the analyzer, seldom, since it reads every decision.

    Args:
        folder: of the run's tables.
        tables: what keeps its answers.
    """

    def __init__(self, folder: Path, tables: Tables) -> None:
        self._folder = folder
        self._tables = tables

    def find(self, min_frequency: int, limit: int) -> list[dict[str, Any]]:
        """The patterns, as the analyzer describes them; the surest success first."""

        def ask() -> list[dict[str, Any]]:
            analyzer = open_analyzer(self._folder)
            try:
                return [dict(one) for one in analyzer.analyze_patterns(min_frequency, limit=limit)]
            finally:
                analyzer.close()

        return self._tables.kept("decisions", ("patterns", min_frequency, limit), FRESH_S, ask)
