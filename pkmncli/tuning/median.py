"""The median rule: a trial falls behind that stands below the median of the completed ones at the same look."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from optuna.pruners import BasePruner
from optuna.study import StudyDirection
from optuna.trial import TrialState

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial


class MedianOfLook(BasePruner):
    """Judges a trial by what it has reached at its latest look, whatever it had reached before.

    Optuna's own median pruner takes the best of all its looks, which lets a trial on that has got worse since.

    Args:
        startup_trials: completed trials that there must be before any is stopped.
    """

    def __init__(self, startup_trials: int) -> None:
        self._startup_trials = startup_trials

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Whether the trial falls behind."""
        look = trial.last_step
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if look is None or len(complete) < self._startup_trials:
            return False
        others = [one.intermediate_values[look] for one in complete if look in one.intermediate_values]
        if not others:
            return False
        value, middle = trial.intermediate_values[look], median(others)
        return value < middle if study.direction == StudyDirection.MAXIMIZE else value > middle
