"""The runs of a comparison: the search for them, their settings and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmncli.api import expand_home, tables_folder
from pkmncli.config import NONE
from pkmncli.config.core_sections import CORE_SECTIONS
from pkmncli.config.run_file import COMMAND, plain, read_run_file
from pkmncli.config.template import settings_model
from pkmncli.errors import ConfigurationError, PluginError, RunError, did_you_mean
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.plugins import Registry
from pkmncli.runs import Run, default_save_dir, is_folder, list_runs, open_run
from pkmncli.training.assembly import open_store
from pkmncli.training.evaluation.command_evaluation import MODE
from pkmncli.training.evaluation.kept_evaluations import evaluation_folders, read_evaluation

CURVES = ("evaluation/avg_reward", "alone/reward", "episode/average_reward", "episode/reward")
"""Default metrics of a learning curve: the first that all runs have enough values of."""

LEAST_POINTS = 2
"""Minimum number of points of a curve."""

TRAIN = "train"
"""Command of a run whose settings name no other."""

_TOO_FEW = "a comparison needs at least two runs: name them, or a folder of runs"

Curve = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Steps (n,), rising, and values (n,)."""


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run with its settings by ``key`` or ``section.key``; settings without a value are missing."""

    run: Run
    settings: Mapping[str, Any]
    named: bool = True
    """True if it was named itself; False if it is in a folder that was named."""

    @property
    def of_training(self) -> bool:
        """True if ``pkmn train`` made it, not a plugin's command."""
        return bool(self.settings.get(COMMAND, TRAIN) == TRAIN)

    @property
    def summary(self) -> dict[str, Any]:
        """The run's summary."""
        return self.run.read_summary()

    @property
    def tables(self) -> Path:
        """The folder of the run's tables."""
        return tables_folder(self.run.folder, self.settings)


@dataclass(frozen=True, slots=True)
class Score:
    """A run's score and its kind: ``evaluation``, ``training``, or the name of a metric."""

    value: float
    kind: str


@dataclass(frozen=True, slots=True)
class Alone:
    """Shares of goals reached from held-out start states, by a run's learner alone and by others."""

    reward: float
    goal: str | None
    reached: int | None
    episodes: int
    pilot_share: float | None
    random_share: float | None


def find_runs(named: Iterable[str], save_dir: Path | None, *, least: int = 2) -> list[ComparedRun]:
    """Return the named runs, by name or folder, in that order; of a folder of runs, all in it.

    If none is named, return all in the folder for runs.

    Raises:
        RunError: there is no such run, or this version cannot read it.
    """
    found: dict[Path, ComparedRun] = {}
    for which in list(named) or [str(save_dir or default_save_dir())]:
        for run in _runs_at(which, save_dir):
            found.setdefault(run.run.folder, run)
    if len(found) < least:
        raise ConfigurationError(_TOO_FEW)
    return list(found.values())


def with_defaults(runs: Iterable[ComparedRun], registry: Registry) -> list[ComparedRun]:
    """Return the runs with the default of each setting that another run has and their own, older files lack."""
    runs = list(runs)
    names = {name for run in runs for name in run.settings}
    return [replace(run, settings=dict(run.settings) | _missing(run, names, registry)) for run in runs]


def _missing(run: ComparedRun, names: Iterable[str], registry: Registry) -> dict[str, Any]:
    found = {}
    sections = {name.partition(".")[0] for name in run.settings if "." in name}
    for name in names if run.of_training else ():
        section, dot, key = name.rpartition(".")
        if name in run.settings or (dot and section not in sections and section not in CORE_SECTIONS):
            continue
        try:
            model = settings_model(section, registry)
        except (PluginError, ConfigurationError):
            continue  # of a plugin that is not installed any more
        field = model.model_fields.get(key)
        if field is not None and not field.is_required():
            default = field.get_default(call_default_factory=True, validated_data={})
            if default is not None:
                found[name] = plain(default)
    return found


def score_runs(
    runs: Sequence[ComparedRun], registry: Registry, metric: str | None, last: int
) -> tuple[dict[Path, Score], list[ComparedRun]]:
    """Return the score of each run, by its folder, and the runs of a folder that have nothing to compare yet.

    Without a metric the scores are of one kind: rewards of evaluations if two runs or more have one, else of the
    training. Runs without an evaluation then have no score, and are not among those with nothing to compare.

    Args:
        runs: two or more.
        registry: where the stores of their tables are looked up.
        metric: a name of the table of metrics; None for the reward.
        last: number of the metric's latest values that count.

    Raises:
        ConfigurationError: a named run has no such metric, or fewer than two runs are left.
        RunError: none of a run's episodes has ended yet, or a file is damaged.
    """
    if metric is None:
        evaluated = {run.run.folder: reward for run in runs if (reward := evaluated_reward(run)) is not None}
        if len(evaluated) > 1:
            return {folder: Score(value, "evaluation") for folder, value in evaluated.items()}, []
    found: dict[Path, Score] = {}
    left_out: list[ComparedRun] = []
    for run in runs:
        try:
            found[run.run.folder] = _training_score(run) if metric is None else _score(run, registry, metric, last)
        except (RunError, ConfigurationError):
            if run.named or len(runs) - len(left_out) <= 2:
                raise
            left_out.append(run)
    return found, left_out


def _score(compared: ComparedRun, registry: Registry, metric: str, last: int) -> Score:
    """Return the mean of a metric's latest values. Raise ConfigurationError if the run has no such metric."""
    _, values = read_curve(compared, registry, metric)
    if not len(values):
        raise ConfigurationError(no_such_metric(compared, registry, metric))
    return Score(float(values[-last:].mean()), metric)


def _training_score(compared: ComparedRun) -> Score:
    """Return the mean reward of the last training episodes. Raise RunError if none has ended."""
    reward = training_reward(compared)
    if reward is None:
        raise RunError(f"run {compared.run.folder} has nothing to compare yet: none of its episodes has ended")
    return Score(reward, "training")


def training_reward(compared: ComparedRun) -> float | None:
    """Return the mean reward of the last training episodes, whichever side earned it; None before one has ended."""
    reward = compared.summary.get("final_avg_reward")
    return None if reward is None else float(reward)


def evaluated_reward(compared: ComparedRun) -> float | None:
    """Return the mean reward of the trained side in the run's latest evaluation; None if there was none.

    Raises:
        RunError: an evaluation is damaged.
    """
    latest = _latest_evaluation(compared)
    if latest is not None:
        return float(latest["avg_reward"])
    of_training = compared.summary.get("final_evaluation")
    return float(of_training["avg_reward"]) if of_training else None


def learner_alone(compared: ComparedRun) -> Alone | None:
    """Return the results of the learner alone, and of others, in the run's latest evaluation; None if there is none.

    Raises:
        RunError: an evaluation is damaged.
    """
    alone = compared.settings.get("rl") != NONE and compared.of_training
    found = _latest_evaluation(compared) if alone else None
    if found is None or "reached" not in found:
        return None
    shares = [found[name]["goal_share"] if name in found else None for name in ("pilot", "random")]
    return Alone(float(found["avg_reward"]), found["goal"], found["reached"], int(found["episodes"]), *shares)


def read_curve(compared: ComparedRun, registry: Registry, metric: str) -> Curve:
    """Return a metric over the steps of a run; of several values at one step, their mean."""
    store = open_store(registry, compared.tables)
    try:
        rows = store.read("metrics", "name = ?", [metric])
    finally:
        store.close()
    steps = np.array([row["global_step"] for row in rows], np.float64)
    values = np.array([row["value"] for row in rows], np.float64)
    finite = np.isfinite(values)
    at, place = np.unique(steps[finite], return_inverse=True)
    return at, np.bincount(place, values[finite], len(at)) / np.bincount(place, minlength=len(at))


def read_curves(
    runs: Sequence[ComparedRun], registry: Registry, metric: str | None
) -> tuple[str, list[Curve]] | tuple[None, None]:
    """Return the learning curves of all runs and their metric; (None, None) if a run has none."""
    for name in CURVES if metric is None else (metric,):
        curves = [read_curve(compared, registry, name) for compared in runs]
        if all(len(steps) >= LEAST_POINTS for steps, _ in curves):
            return name, curves
    return None, None


def _runs_at(which: str, save_dir: Path | None) -> list[ComparedRun]:
    for folder in (expand_home(Path(which)), (save_dir or default_save_dir()) / which):
        if is_folder(folder) and not Run(folder).versions_file.exists():
            runs = list_runs(folder)
            if not runs:
                raise RunError(f"{folder.absolute()} is no run folder, and has none in it")
            for run in runs:
                run.check_layout()
            # A run that is just beginning has no settings yet.
            return [ComparedRun(run, _settings(run), named=False) for run in runs if run.config_file.exists()]
    run = open_run(which, save_dir)
    return [ComparedRun(run, _settings(run))]


def _settings(run: Run) -> dict[str, Any]:
    """Return the run's settings and its command, with an environment's ``id`` in ``env``, as ``gym:CartPole-v1``."""
    given = read_run_file(run.folder).given
    found = {f"{one.section}.{one.key}" if one.section else one.key: one.value for one in given}
    identifier = found.pop(f"{found.get('env')}.id", None)
    return {COMMAND: TRAIN, **found} | ({} if identifier is None else {"env": f"{found['env']}:{identifier}"})


def _latest_evaluation(compared: ComparedRun) -> dict[str, Any] | None:
    """Return the latest evaluation of the trained side; None if there is none."""
    return next(evaluations_of(compared), None)


def evaluations_of(compared: ComparedRun) -> Iterator[dict[str, Any]]:
    """Yield the evaluations of the trained side, latest first: the learner alone, or the pilot.

    Evaluations of random play, of learner and pilot together, or of sampled actions are ignored.

    Raises:
        RunError: an evaluation is damaged.
    """
    mode: str = AgentMode.LLM_ONLY if compared.settings.get("rl") == NONE else AgentMode.RL_ONLY
    if not compared.of_training:
        mode = MODE
    for folder in evaluation_folders(compared.run.folder):
        result = read_evaluation(folder, lambda found: found["mode"] == mode and not found.get("stochastic"))
        if result is not None:
            yield result


def no_such_metric(compared: ComparedRun, registry: Registry, metric: str) -> str:
    """Return a message that a run has no such metric, with a similar name if there is one."""
    store = open_store(registry, compared.tables)
    try:
        names = sorted({row["name"] for row in store.read("metrics")})
    finally:
        store.close()
    own = f"environment/{metric}"
    hint = did_you_mean(own if own in names else metric, names, f"it has {', '.join(names) or 'none'}")
    return f"run {compared.run.name} has no metric '{metric}': {hint}"
