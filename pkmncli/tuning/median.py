"""The median rule: a trial is stopped if it is below the median of the completed ones at the same look."""

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
    """Pruner that judges a trial by its value at the latest look, not by earlier ones.

    Optuna's own median pruner takes the best of all looks, which continues a trial that has become worse since.

    Args:
        startup_trials: completed trials needed before any trial is stopped.
    """

    def __init__(self, startup_trials: int) -> None:
        self._startup_trials = startup_trials

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Return True if the trial should be stopped."""
        look = trial.last_step
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if look is None or len(complete) < self._startup_trials:
            return False
        others = [one.intermediate_values[look] for one in complete if look in one.intermediate_values]
        if not others:
            return False
        value, middle = trial.intermediate_values[look], median(others)
        return value < middle if study.direction == StudyDirection.MAXIMIZE else value > middle
