"""Patterns of recorded decisions, found by the analyzer that is registered under the name `decisions`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pkmn_dashboard.kept_answers import KeptAnswers
from pkmncli.api import open_analyzer

FRESH_S = 30.0


class Patterns:
    """Asks the analyzer, seldom, since it reads every decision.

    Args:
        folder: of the run's tables.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._answers = KeptAnswers(folder)
        """Of its own: the other questions wait for no analysis."""

    def find(self, min_frequency: int, limit: int) -> list[dict[str, Any]]:
        """The patterns, as the analyzer describes them; the surest success first."""

        def ask() -> list[dict[str, Any]]:
            analyzer = open_analyzer(self._folder, threads=1)  # the training beside it needs the cores
            try:
                return [dict(one) for one in analyzer.analyze_patterns(min_frequency, limit=limit)]
            finally:
                analyzer.close()

        return self._answers.kept("decisions", ("patterns", min_frequency, limit), FRESH_S, ask)
