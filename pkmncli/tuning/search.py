"""The search: it asks the study for trials, trains their runs in parallel, and stops those that fall behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pkmncli.errors import ConfigurationError, PkmnError, TrainingError
from pkmncli.experiments.side_by_side import LOOK_S, Trainings, take_over
from pkmncli.experiments.standing import ExperimentRun, State
from pkmncli.plugins import Registry
from pkmncli.tuning.plan import TuningPlan
from pkmncli.tuning.study import Study, Trial
from pkmncli.tuning.trial_in_hand import TrialInHand

MEASURE_S = 2.0
"""Seconds between two readings of the runs' tables; a run writes its tables only every few seconds."""

_HOPELESS = 3
"""Number of failed trials, without any other, after which the search ends."""


class Search:
    """Search over the trials of a tuning, from their current state to their end.

    Args:
        plan: content of the tuning's file.
        study: keeps the trials.
        save_dir: the folder with the tuning's folder.
        registry: the plugins.
        processes: number of parallel trainings.
        tell: called with messages for people.
        on_end: called with each ended trial.
        on_look: called now and then with the running trainings.
    """

    def __init__(
        self,
        plan: TuningPlan,
        study: Study,
        save_dir: Path,
        registry: Registry,
        processes: int,
        *,
        tell: Callable[[str], None],
        on_end: Callable[[TrialInHand], None],
        on_look: Callable[[Sequence[ExperimentRun]], None] = lambda running: None,
    ) -> None:
        self._plan, self._study, self._save_dir, self._registry = plan, study, save_dir, registry
        self._processes = processes
        self._tell, self._on_end, self._on_look = tell, on_end, on_look
        self._in_hand: list[TrialInHand] = []
        self._interrupted = False
        self._exhausted = False
        self._measured_at = 0.0

    @property
    def ended(self) -> int:
        """Number of ended trials."""
        return len(self._study.results())

    def run(self, interrupted: Callable[[], bool]) -> None:
        """Run until all trials have ended, or until it is interrupted and all trainings are saved.

        Raises:
            ConfigurationError: runs have no such metric.
            TrainingError: all trials failed.
        """
        with Trainings() as trainings:
            self._take_up()
            while True:
                if interrupted() and not self._interrupted:
                    self._interrupted = True
                    trainings.interrupt()
                self._hear_of_ended(trainings)
                self._measure(trainings)
                self._settle()
                if not self._interrupted:
                    self._fill(trainings)
                if not trainings and (self._interrupted or not self._in_hand):
                    return
                self._on_look(trainings.running)
                time.sleep(LOOK_S)

    def _take_up(self) -> None:
        """Resume the trials that had not ended when the tuning was interrupted."""
        for trial in self._study.begun():
            hand = self._hand(trial)
            if hand is None:
                continue
            told = []
            for one in hand.runs:
                taken = ", which was still being trained" if take_over(one) else ""
                done = (
                    f"{one.run.read_summary().get('total_steps', 0):,} steps" if one.run.summary_file.exists() else ""
                )
                stands = {State.NEW: "anew", State.BEGUN: "from its checkpoint", State.FINISHED: f"finished, {done}"}
                told.append(f"seed {one.planned.seed} {stands[one.state]}{taken}")
            self._tell(f"Trial {trial.number} resumes: {'; '.join(told)}.")
            hand.refresh()  # a run that was still training may have ended

    def _hand(self, trial: Trial) -> TrialInHand | None:
        """Return a trial with its runs; None if its settings do not fit together: it fails at once."""
        try:
            runs = self._plan.runs(trial.number, trial.values, self._save_dir, self._registry)
        except PkmnError as error:
            hand = TrialInHand(trial, (), self._plan, self._registry)
            hand.fail(str(error))
        else:
            hand = TrialInHand(trial, runs, self._plan, self._registry)
        self._in_hand.append(hand)
        return hand if not hand.outcome else None

    def _hear_of_ended(self, trainings: Trainings) -> None:
        for ended in trainings.ended():
            hand = next(hand for hand in self._in_hand if ended.one.name in hand.names)
            hand.end(ended, interrupted=self._interrupted)
            self._measured_at = 0.0  # its last values decide what follows

    def _measure(self, trainings: Trainings) -> None:
        if time.monotonic() - self._measured_at < MEASURE_S:
            return
        for hand in self._in_hand:
            try:
                hand.look()
            except ConfigurationError as error:
                if all(one.state == "failed" for one in self._study.results()):
                    raise  # these trainings cannot have the requested figure
                hand.fail(str(error))
            except PkmnError as error:
                hand.fail(str(error))
            if hand.outcome:
                trainings.interrupt(hand.names)
        self._measured_at = time.monotonic()

    def _settle(self) -> None:
        """Report decided trials to the study."""
        for hand in [hand for hand in self._in_hand if hand.over]:
            self._in_hand.remove(hand)
            hand.keep()
            value = sum(hand.figures) / len(hand.figures) if hand.figures else None
            self._study.tell(hand.trial, hand.outcome, value)
            self._on_end(hand)
            states = [one.state for one in self._study.results()]
            if states.count("failed") == len(states) >= _HOPELESS:
                raise TrainingError(f"all of the first {len(states)} trials failed: {hand.why}")

    def _fill(self, trainings: Trainings) -> None:
        """Begin trainings while there is room: first of the current trials, then of a new one."""
        while len(trainings) < self._processes:
            waiting = ((hand, one) for hand in self._in_hand if (one := hand.next_run()) is not None)
            hand, one = next(waiting, (None, None))
            if hand is not None and one is not None:
                take_over(one)
                trainings.start(one)
                hand.started(one)
            elif not self._exhausted and self.ended + len(self._in_hand) < self._plan.trials and self._room_for_a_trial:
                before = len(self._study.repeated)
                trial = self._study.ask()
                if trial is None:
                    self._exhausted = True
                    count = self.ended + len(self._in_hand)
                    self._tell(f"All combinations of [space] were tried: it ends after {count} trials.")
                    return
                if len(self._study.repeated) > before:
                    self._tell(
                        f"Trial {trial.number}: an earlier combination was sampled again, and another taken instead."
                    )
                self._hand(trial)
            else:
                return

    @property
    def _room_for_a_trial(self) -> bool:
        return len(self._in_hand) < self._plan.trials_at_a_time(self._processes)
