"""Patterns of recorded decisions, from the analyzer registered as `decisions`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pkmn_dashboard.kept_answers import KeptAnswers
from pkmncli.api import open_analyzer

FRESH_S = 30.0


class Patterns:
    """Source of patterns that asks the analyzer rarely, because it reads every decision.

    Args:
        folder: folder of the run's tables.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._answers = KeptAnswers(folder)
        """Separate cache, so that the other questions do not wait for an analysis."""

    def find(self, min_frequency: int, limit: int) -> list[dict[str, Any]]:
        """Return the patterns as the analyzer describes them, the surest success first."""

        def ask() -> list[dict[str, Any]]:
            analyzer = open_analyzer(self._folder, threads=1)  # the training needs the cores
            try:
                return [dict(one) for one in analyzer.analyze_patterns(min_frequency, limit=limit)]
            finally:
                analyzer.close()

        return self._answers.kept("decisions", ("patterns", min_frequency, limit), FRESH_S, ask)
