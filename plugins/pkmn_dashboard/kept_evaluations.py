"""Evaluations that the run keeps, with the interval of their mean reward."""

from __future__ import annotations

import contextlib
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
from pydantic import ValidationError

from pkmn_dashboard.answers import Evaluation
from pkmn_dashboard.tables import Tables
from pkmncli.api.runs import Interval, evaluations, interval
from pkmncli.errors import PkmnError

MOST_LISTED = 20

_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)\d\d-")
"""Beginning of the name of an evaluation's folder."""


class KeptEvaluations:
    """Evaluations of one run. Methods may be called from several threads.

    Args:
        run: the run's folder.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._intervals: dict[Path, tuple[int, Interval]] = {}
        """By folder: the time of change of its table of episodes, which follows the result, and the interval."""

    def listed(self) -> list[Evaluation]:
        """Return the newest evaluations, newest first, without damaged ones."""
        found = []
        with contextlib.suppress(PkmnError, OSError):  # a run that just begins, or may not be read
            for result in evaluations(self._run, most=MOST_LISTED):
                with contextlib.suppress(ValidationError):
                    found.append(self._described(result))
        return found

    def _described(self, result: dict[str, Any]) -> Evaluation:
        time = _TIME.match(result["folder"].name)
        content = {name: result.get(name) for name in Evaluation.model_fields}
        content |= {"time": "{}-{}-{} {}:{}".format(*time.groups()) if time else "", "reward": result["avg_reward"]}
        described = Evaluation.model_validate(content | {"stochastic": bool(result.get("stochastic"))})
        _, described.reward_low, described.reward_high = self._interval(result["folder"], described.reward)
        return described

    def _interval(self, folder: Path, mean: float) -> Interval:
        """Return the mean reward with its interval, which has no ends without the rewards of two episodes."""
        try:
            changed = (folder / "episodes").stat().st_mtime_ns  # a file of the table came or went
        except OSError:  # there is none yet
            changed = 0
        kept = self._intervals.get(folder)
        if kept is None or kept[0] != changed:
            kept = changed, Interval(mean, None, None)
            with contextlib.suppress(PkmnError, duckdb.Error, OSError), closing(Tables(folder)) as tables:
                if len(rewards := tables.rewards()) > 1:
                    kept = changed, interval(rewards, "mean")
            self._intervals[folder] = kept
        return kept[1]
