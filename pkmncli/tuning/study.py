"""The study of a tuning: Optuna's samples and results, kept in the tuning's folder."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.atomic_files import write_errors_explained
from pkmncli.errors import ConfigurationError
from pkmncli.tuning.plan import TuningPlan
from pkmncli.tuning.space import Choice, Range, Value, combinations, key_of

if TYPE_CHECKING:
    import optuna

MISSING = "pkmn tune needs optuna, which is not installed; run: pip install 'pkmncli[tune]'"
STUDY_FILE = "study.log"

_ASKED, _FIGURES, _WHY, _STOPPED, _LEFT_OUT = "asked", "figures", "why", "stopped_at", "left_out"
_MOST_SAMPLES = 100
"""Tries at a combination that was not there before."""
_REDUCTION = 3
"""Successive halving keeps one in this many trials at a rung."""


def check_optuna() -> None:
    """Raise ConfigurationError, with the command to install it, if optuna is missing."""
    try:
        import optuna  # noqa: F401, PLC0415 - an extra that only tuning needs
    except ImportError as error:
        raise ConfigurationError(MISSING) from error


@dataclass(frozen=True, slots=True)
class TrialResult:
    """An ended trial: ``complete``, ``pruned`` or ``failed``, with the figure of each seed or the reason."""

    number: int
    state: str
    values: Mapping[str, Value]
    value: float | None
    figures: tuple[float, ...]
    why: str


class Trial:
    """A running trial."""

    def __init__(self, trial: optuna.Trial) -> None:
        self._trial = trial
        self.number = trial.number
        self.values: dict[str, Value] = dict(trial.params)
        self._reported = set(_frozen(trial).intermediate_values)

    def report(self, look: int, value: float) -> bool:
        """Keep the value of a look, once. Return True if the trial falls behind and should be stopped.

        The decision is kept too: halving decides once at each of its rungs, and would say no if asked again.
        """
        if look not in self._reported:
            self._trial.report(value, look)
            self._reported.add(look)
        stopped = _frozen(self._trial).user_attrs.get(_STOPPED)
        if stopped is not None or look != max(self._reported):
            return bool(stopped == look)
        behind = bool(self._trial.should_prune())
        if behind:
            self._trial.set_user_attr(_STOPPED, look)
        return behind

    def figure_at(self, look: int) -> float | None:
        """Return the value kept of a look; None if there is none."""
        kept: dict[int, float] = _frozen(self._trial).intermediate_values
        return kept.get(look)

    def leave_out(self) -> None:
        """Record that it is no separate trial."""
        self._trial.set_user_attr(_LEFT_OUT, True)

    def keep(self, figures: list[float], why: str) -> None:
        """Keep the figures of its seeds so far, and the reason of its end."""
        self._trial.set_user_attr(_FIGURES, figures)
        self._trial.set_user_attr(_WHY, why)


class Study:
    """The trials of a tuning, in its folder. Only one process at a time may open it.

    Args:
        folder: the tuning's.
        plan: content of its file.
        processes: number of parallel trainings; it determines the number of parallel trials.
        file: the journal, if it is not the one in the folder.

    Raises:
        ConfigurationError: the folder has a tuning with another definition.
        RunError: it cannot be written.
    """

    def __init__(self, folder: Path, plan: TuningPlan, processes: int, file: Path | None = None) -> None:
        import optuna  # noqa: PLC0415 - half a second of start-up
        from optuna.storages import JournalStorage  # noqa: PLC0415
        from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock  # noqa: PLC0415

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._optuna, self._plan = optuna, plan
        self._several = plan.trials_at_a_time(processes) > 1
        path = file or folder / STUDY_FILE
        with write_errors_explained(path):
            _mend(path)
            storage = JournalStorage(JournalFileBackend(str(path), lock_obj=JournalFileOpenLock(str(path))))
            self._study = optuna.create_study(
                storage=storage,
                study_name=plan.name,
                direction="maximize" if plan.objective.maximize else "minimize",
                pruner=self._pruner(),
                load_if_exists=True,
            )
            asked = self._study.user_attrs.get(_ASKED)
            if asked is None:
                asked = plan.asked
                self._study.set_user_attr(_ASKED, asked)
            other = [name for name, text in plan.asked.items() if asked.get(name) != text]
            if other:
                raise ConfigurationError(
                    f"the tuning in {folder} was begun with other {', '.join(other)}: "
                    "give this one another name, or delete that folder"
                )

    @classmethod
    @contextmanager
    def copied(cls, folder: Path, plan: TuningPlan, processes: int) -> Iterator[Study]:
        """Open a copy of the current study for reading, also while a tuning has it open; the folder is not written to.

        Raises:
            ConfigurationError: the folder has a tuning with another definition.
            RunError: it cannot be read.
        """
        with TemporaryDirectory() as elsewhere:
            with write_errors_explained(folder):
                (Path(elsewhere) / STUDY_FILE).write_bytes((folder / STUDY_FILE).read_bytes())
            yield cls(folder, plan, processes, Path(elsewhere) / STUDY_FILE)

    def begun(self) -> list[Trial]:
        """Return the trials that had not ended when the tuning was interrupted, with their sampled values."""
        running = self._study.get_trials(deepcopy=False, states=(self._optuna.trial.TrialState.RUNNING,))
        return [self._sampled(self._optuna.Trial(self._study, one._trial_id)) for one in running]

    def ask(self) -> Trial | None:
        """Return a new trial, of a combination that no other trial has; None where all were tried.

        What is sampled depends on the sampler's seed, its number, and the trials that have ended.
        """
        trials = self._study.get_trials(deepcopy=False)
        tried = {key_of(one.params) for one in trials if len(one.params) == len(self._plan.space)}
        every = combinations(self._plan.space)
        untried = None if every is None else [values for values in every if key_of(values) not in tried]
        if untried is not None and not untried:
            return None
        for _ in range(_MOST_SAMPLES):
            trial = self._sampled(self._study.ask())
            if key_of(trial.values) not in tried:
                return trial
            self._leave_out(trial, untried)
        return None

    def _leave_out(self, trial: Trial, untried: list[dict[str, Value]] | None) -> None:
        """End a trial that has what another one had; the next one takes one of those that none has, if they are known.

        The same settings and seeds would be trained again, to the same figure.
        """
        trial.leave_out()
        self._study.tell(trial.number, state=self._optuna.trial.TrialState.FAIL)
        if untried:
            entropy = np.random.SeedSequence([self._plan.sampler_seed, trial.number])
            chosen = untried[int(entropy.generate_state(1)[0]) % len(untried)]
            self._study.enqueue_trial(chosen)

    def tell(self, trial: Trial, state: str, value: float | None = None) -> None:
        """End a trial as ``complete``, ``pruned`` or ``failed``."""
        states = self._optuna.trial.TrialState
        ended = {"complete": states.COMPLETE, "pruned": states.PRUNED, "failed": states.FAIL}[state]
        self._study.tell(trial.number, value if state == "complete" else None, state=ended)

    def results(self) -> list[TrialResult]:
        """Return the trials that have ended, by number."""
        states = self._optuna.trial.TrialState
        names = {states.COMPLETE: "complete", states.PRUNED: "pruned", states.FAIL: "failed"}
        return [
            TrialResult(
                one.number,
                names[one.state],
                one.params,
                one.value,
                tuple(one.user_attrs.get(_FIGURES, ())),
                str(one.user_attrs.get(_WHY, "")),
            )
            for one in self._study.get_trials(deepcopy=False)
            if one.state in names and not one.user_attrs.get(_LEFT_OUT)
        ]

    @property
    def repeated(self) -> list[int]:
        """Numbers of the trials that were left out, since they had sampled the values of another one."""
        return [one.number for one in self._study.get_trials(deepcopy=False) if one.user_attrs.get(_LEFT_OUT)]

    def best(self) -> TrialResult | None:
        """Return the best completed trial, the first of equal ones; None if there is none."""
        complete = [one for one in self.results() if one.state == "complete" and one.value is not None]
        sign = 1 if self._plan.objective.maximize else -1
        return max(complete, key=lambda one: (sign * float(one.value or 0.0), -one.number), default=None)

    @property
    def telling(self) -> int:
        """Number of completed trials needed for importances."""
        return 2 * len(self._plan.space) + 2

    def importances(self) -> dict[str, float]:
        """Return the importance of each setting, as shares of 1: PED-ANOVA (Watanabe, Bansal and Hutter 2023).

        Empty if there are too few trials, or all have the same figure.
        """
        from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances  # noqa: PLC0415

        complete = [one for one in self.results() if one.state == "complete"]
        if len(complete) < self.telling or len({one.value for one in complete}) == 1:
            return {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about too few trials
            try:
                found = get_param_importances(self._study, evaluator=PedAnovaImportanceEvaluator())
            except (ValueError, RuntimeError, ZeroDivisionError):
                return {}
        return {name: share for name, share in found.items() if share == share}  # noqa: PLR0124 - leaves out NaN

    def _pruner(self) -> Any:
        pruners: Any = self._optuna.pruners
        plan = self._plan
        if plan.pruner == "median":
            from pkmncli.tuning.median import MedianOfLook  # noqa: PLC0415 - brings optuna

            return MedianOfLook(plan.startup_trials)
        looks = plan.looks * len(plan.seeds)
        if plan.pruner == "halving":
            return pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=_REDUCTION)
        if plan.pruner == "hyperband":
            return pruners.HyperbandPruner(min_resource=1, max_resource=looks, reduction_factor=_REDUCTION)
        return pruners.NopPruner()

    def _sampled(self, trial: optuna.Trial) -> Trial:
        """Sample the missing values of a trial; each value is kept at once.

        Each setting has its own sampler and seed, so it does not matter which were sampled before a kill.
        """
        for name, dimension in self._plan.space.items():
            self._study.sampler = self._sampler(trial.number, name)
            if isinstance(dimension, Choice):
                trial.suggest_categorical(name, dimension.values)
            else:
                _suggest_number(trial, name, dimension)
        return Trial(trial)

    def _sampler(self, number: int, setting: str) -> Any:
        entropy = [self._plan.sampler_seed, number, zlib.crc32(setting.encode())]
        seed = int(np.random.SeedSequence(entropy).generate_state(1)[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # constant_liar is called experimental in some versions
            return self._optuna.samplers.TPESampler(
                seed=seed, n_startup_trials=self._plan.startup_trials, constant_liar=self._several
            )


def _suggest_number(trial: optuna.Trial, name: str, dimension: Range) -> None:
    if dimension.whole:
        low, high = int(dimension.low), int(dimension.high)
        trial.suggest_int(name, low, high, step=int(dimension.step) or 1, log=dimension.log)
    else:
        step: Any = dimension.step or None
        trial.suggest_float(name, dimension.low, dimension.high, step=step, log=dimension.log)


def _frozen(trial: optuna.Trial) -> Any:
    return trial.study.get_trials(deepcopy=False)[trial.number]


def _mend(path: Path) -> None:
    """Remove what a killed tuning left: half a line at the end, and the lock of a write."""
    path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
    if path.exists():
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with path.open("r+b") as file:
                file.truncate(len(whole))
