"""A trial in training: its waiting, running and ended runs, and its figures so far."""

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
    """A running trial.

    Looks have a fixed order, whatever runs in parallel: the first seed after each interval and at its end, then the
    next seed. The value reported at a look is the mean of the seeds so far, so that the same training leads to the same
    decisions at any speed.

    Args:
        trial: with its sampled values.
        runs: its trainings, one for each seed.
        plan: content of the tuning's file.
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
        """``complete``, ``pruned`` or ``failed``, once decided."""
        self.why = ""

    @property
    def names(self) -> set[str]:
        """Names of its runs."""
        return {one.name for one in self.runs}

    @property
    def over(self) -> bool:
        """True if its outcome is decided and none of its runs is training."""
        return bool(self.outcome) and not self._running

    def refresh(self) -> None:
        """Check which of its runs have ended by now."""
        self._ended = {one.name for one in self.runs if one.state is State.FINISHED}

    def next_run(self) -> ExperimentRun | None:
        """Return the first run that needs training and is not training; None if there is none."""
        if self.outcome:
            return None
        waiting = (one for one in self.runs if one.name not in self._ended and one.name not in self._running)
        return next(waiting, None)

    def started(self, one: ExperimentRun) -> None:
        """Note that one of its runs was begun or resumed."""
        self._running.add(one.name)

    def end(self, ended: Ended, *, interrupted: bool) -> None:
        """Note that one of its runs has ended."""
        self._running.discard(ended.one.name)
        if not ended.exit_code:
            self._ended.add(ended.one.name)
        elif not interrupted and not self.outcome:
            self.fail(f"seed {ended.one.planned.seed} failed with exit code {ended.exit_code}: {ended.said}")

    def fail(self, why: str) -> None:
        """End the trial as failed."""
        self.outcome, self.why = "failed", why

    def look(self) -> None:
        """Take in the values that its runs have measured since the last look.

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
                # a value reported before the tuning was interrupted stays valid, wherever the run resumes
                self._report(kept, one, steps)
            elif last and one.name in self._ended:
                self._take(self._final(one), one, steps)
            elif not last and one.name in self._running | self._ended:
                found = measure(one, self._plan.objective, self._registry)
                # a step counts all environments: its values may be recorded a little later
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
        """Return the figure of a run that has ended."""
        value = measure(one, self._plan.objective, self._registry).value(self._plan.objective, math.inf)
        if value is None:
            raise no_figure(one, self._plan.objective, self._registry)
        return value

    def _take(self, value: float, one: ExperimentRun, steps: int) -> None:
        """Take in the figure of a seed; that of the last seed ends the trial."""
        self.figures.append(value)
        if len(self.figures) == len(self.runs) and math.isfinite(value):
            self.outcome = "complete"
        else:
            self._report(fmean(self.figures), one, steps)

    def _report(self, so_far: float, one: ExperimentRun, steps: int) -> None:
        """Let the study decide on the value reached so far."""
        seed = one.planned.seed
        at_end = steps == self._plan.steps
        where = f"after seed {seed}" if at_end else f"at {steps:,} of {self._plan.steps:,} steps of seed {seed}"
        if not math.isfinite(so_far):
            self.fail(f"{self._plan.objective.metric} was not a number {where}")
        elif self.trial.report(self._looks, so_far):
            self.outcome, self.why = "pruned", f"stopped {where}, with {so_far:.4g}"

    def keep(self) -> None:
        """Keep its figures with the trial."""
        self.trial.keep(self.figures, self.why)
