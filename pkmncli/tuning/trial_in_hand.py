"""A trial whose runs are trained: what waits, runs and has ended, and what it has reached so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from pkmncli.experiments.side_by_side import Ended
from pkmncli.experiments.standing import ExperimentRun, State
from pkmncli.plugins import Registry
from pkmncli.tuning.objective import measure, no_figure
from pkmncli.tuning.plan import TuningPlan
from pkmncli.tuning.study import Trial


class TrialInHand:
    """A trial that goes on.

    It is looked at in one order, whatever runs side by side: the first seed after each interval and at its end, then
    the next one. What is reported at a look is the mean of the seeds so far, so that the same
    training leads to the same decisions however fast it was.

    Args:
        trial: with the values that were drawn.
        runs: its trainings, one for each seed.
        plan: what the tuning's file says.
        registry: where the store of the runs' tables is looked up.
    """

    def __init__(self, trial: Trial, runs: Sequence[ExperimentRun], plan: TuningPlan, registry: Registry) -> None:
        self.trial, self.runs = trial, list(runs)
        self._plan, self._registry = plan, registry
        self._looks = 0
        self._running: set[str] = set()
        self._ended: set[str] = set()
        self.refresh()
        self.figures: list[float] = []
        self.outcome = ""
        """``complete``, ``pruned`` or ``failed``, once that is decided."""
        self.why = ""

    @property
    def names(self) -> set[str]:
        """The names of its runs."""
        return {one.name for one in self.runs}

    @property
    def over(self) -> bool:
        """Whether it is decided how it ended, and none of its runs goes on any more."""
        return bool(self.outcome) and not self._running

    def refresh(self) -> None:
        """Looks which of its runs have come to their end by now."""
        self._ended = {one.name for one in self.runs if one.state is State.FINISHED}

    def next_run(self) -> ExperimentRun | None:
        """The first run that is to be trained and is not."""
        if self.outcome:
            return None
        waiting = (one for one in self.runs if one.name not in self._ended and one.name not in self._running)
        return next(waiting, None)

    def started(self, one: ExperimentRun) -> None:
        """A run of it has been begun, or gone on with."""
        self._running.add(one.name)

    def end(self, ended: Ended, *, interrupted: bool) -> None:
        """A run of it has ended."""
        self._running.discard(ended.one.name)
        if not ended.exit_code:
            self._ended.add(ended.one.name)
        elif not interrupted and not self.outcome:
            self.fail(f"seed {ended.one.planned.seed} failed with exit code {ended.exit_code}: {ended.said}")

    def fail(self, why: str) -> None:
        """Nothing comes of it."""
        self.outcome, self.why = "failed", why

    def look(self) -> None:
        """Takes in what its runs have measured since the last look.

        Raises:
            ConfigurationError: a run that has ended has no such metric.
            RunError: it has not measured anything.
        """
        every = self._plan.looks
        while not self.outcome and self._looks < every * len(self.runs):
            seed, at = divmod(self._looks, every)
            one, last = self.runs[seed], at == every - 1
            steps = self._plan.steps if last else (at + 1) * self._plan.interval
            kept = self.trial.figure_at(self._looks)
            if kept is not None and not last:
                # what was reported before the tuning was cut off stands, wherever the run goes on from
                self._report(kept, one, steps)
            elif last and one.name in self._ended:
                self._take(self._final(one), one, steps)
            elif not last and one.name in self._running | self._ended:
                found = measure(one, self._plan.objective, self._registry)
                # with several environments a step counts them all: what falls on one may stand a little behind it
                until = steps + one.settings.train.envs - 1
                if found.steps <= until and one.name not in self._ended:
                    return
                value = found.value(self._plan.objective, until)
                if value is not None:
                    self._report(fmean([*self.figures, value]), one, steps)
            else:
                return
            self._looks += 1

    def _final(self, one: ExperimentRun) -> float:
        """The figure of a run that has ended."""
        value = measure(one, self._plan.objective, self._registry).value(self._plan.objective, math.inf)
        if value is None:
            raise no_figure(one, self._plan.objective, self._registry)
        return value

    def _take(self, value: float, one: ExperimentRun, steps: int) -> None:
        """The figure of a seed; that of the last one ends the trial."""
        self.figures.append(value)
        if len(self.figures) == len(self.runs) and math.isfinite(value):
            self.outcome = "complete"
        else:
            self._report(fmean(self.figures), one, steps)

    def _report(self, so_far: float, one: ExperimentRun, steps: int) -> None:
        """Has the study decide on what was reached by now."""
        seed = one.planned.seed
        at_end = steps == self._plan.steps
        where = f"after seed {seed}" if at_end else f"at {steps:,} of {self._plan.steps:,} steps of seed {seed}"
        if not math.isfinite(so_far):
            self.fail(f"{self._plan.objective.metric} was no number {where}")
        elif self.trial.report(self._looks, so_far):
            self.outcome, self.why = "pruned", f"stopped {where}, with {so_far:.4g}"

    def keep(self) -> None:
        """Keeps what it came to with the trial."""
        self.trial.keep(self.figures, self.why)
