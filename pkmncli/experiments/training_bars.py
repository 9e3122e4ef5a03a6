"""Progress of trainings in parallel processes: a bar for each, and one for all."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pkmncli.api.live import LiveTraining
from pkmncli.experiments.standing import ExperimentRun
from pkmncli.training.display.progress import Bar, ProgressWriter

SECONDS_BETWEEN_LOOKS = 2.0
"""Minimum time between two looks at the trainings."""

WATCHED_S = 0.2
"""Time that a training writes its progress for after each look: each time costs it a little."""


@dataclass(slots=True)
class _Shown:
    bar: Bar
    live: LiveTraining | None = None


class TrainingBars:
    """Bars of trainings, which report their progress on their live board.

    Args:
        progress: shows the bars.
        what: all trainings in words.
        total: their number.
        shares: by name, the share of each training's budget that is used now, 0..1; 0 for those that are missing.
        ended: number of trainings without a name that have ended.
    """

    def __init__(
        self,
        progress: ProgressWriter,
        what: str,
        total: int,
        shares: Mapping[str, float] | None = None,
        ended: int = 0,
    ) -> None:
        self._progress = progress
        self._shares = dict(shares or {})
        self._ended = ended
        self._all = progress.begin(what, total, self._done)
        self._shown: dict[str, _Shown] = {}
        self._due = 0.0

    @property
    def _done(self) -> float:
        return self._ended + sum(self._shares.values())

    def count_as_ended(self, names: Iterable[str]) -> None:
        """Count trainings as ended, also those that never began."""
        self._shares |= dict.fromkeys(names, 1.0)

    def look(self, running: Sequence[ExperimentRun]) -> None:
        """Show the progress of the running trainings; those that were running before have ended."""
        names = {one.name for one in running}
        gone = [name for name in self._shown if name not in names]
        for name in gone:
            self._shown.pop(name).bar.end()
        self.count_as_ended(gone)  # a failed one, too, is not waited for
        if time.monotonic() < self._due:
            return
        for one in running:
            share = self._shares.setdefault(one.name, one.share_done)
            if one.name not in self._shown:
                self._shown[one.name] = _Shown(self._progress.begin(one.name, 1.0, share))
            shown = self._shown[one.name]
            shown.live = shown.live or LiveTraining.attach(one.run.folder)
            if shown.live is not None:
                shown.live.watch(WATCHED_S, 0)
                state = shown.live.state()
                if state.age_s is not None:
                    self._shares[one.name] = min(state.fraction_done, 1.0)
            shown.bar.update(self._shares[one.name])
        self._all.update(self._done)
        self._due = time.monotonic() + SECONDS_BETWEEN_LOOKS
