"""Runs, for plugins and scripts: to find, make, resume, evaluate and compare them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pkmncli.api.data_text import expand_home

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pydantic import BaseModel

    from pkmncli.training.command_run import CommandRun as CommandRun  # noqa: PLC0414 - part of the contract


Outcome = Literal["goal", "ended", "time-limit"]
"""End of an episode: a success, terminated otherwise, or truncated."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Run, for hooks."""

    folder: Path
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """Summary of an episode that has ended.

    ``milestone_steps`` maps each milestone reached to the step that reached it, ``milestone_frames`` to the emulated
    frame, where the environment counts them. ``success`` is None where neither the environment nor a goal says so.
    ``metrics`` are the environment's own figures, by name.
    """

    environment: int
    episode: int
    seed: int
    steps: int
    total_reward: float
    terminated: bool
    outcome: Outcome
    llm_share: float
    milestone_steps: Mapping[str, int]
    first_step: int
    """Environment steps of the whole run at the beginning of the episode."""
    milestone_frames: Mapping[str, int] = field(default_factory=dict)
    success: bool | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


def find_run(which: str | Path | None = None, save_dir: str | Path | None = None) -> RunInfo:
    """Find an existing run, for a plugin's command. Its settings are those in its ``config.toml``.

    Args:
        which: the run's folder, its name under ``save_dir``, or None for the latest.
        save_dir: the folder for run folders; without one ``PKMN_SAVE_DIR``, or ``runs``.

    Raises:
        RunError: there is no such run, or this version cannot read it.
    """
    from pkmncli.config.run_file import read_run_file  # noqa: PLC0415 - registration modules import this one
    from pkmncli.runs import open_run  # noqa: PLC0415

    folder = open_run(which, _path(save_dir)).folder
    settings: dict[str, dict[str, Any]] = {}
    for given in read_run_file(folder).given:
        settings.setdefault(given.section, {})[given.key] = given.value
    return RunInfo(folder, settings)


def tell_once(message: str) -> None:
    """Report a line on standard error, unless the running command has reported it before."""
    from pkmncli.diagnostics import say_once  # noqa: PLC0415 - registration modules import this one

    say_once(message)


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else expand_home(Path(given))


# Runs of plugins' commands -----------------------------------------------------------------------------------------


def start(
    command: str,
    settings: Mapping[str, Any] | BaseModel | None = None,
    *,
    config: str | Path | None = None,
    sets: Iterable[str] | None = None,
    seed: int | None = None,
    save_dir: str | Path | None = None,
    run_name: str | None = None,
    names: Mapping[str, Any] | None = None,
    environments: int = 1,
    check: Callable[[Any], object] | None = None,
) -> AbstractContextManager[CommandRun]:
    """Make a new run and record it while entered, locked as the run of a training is.

    If the command has registered a settings model, settings also come from ``PKMN_COMMAND__KEY``, and are checked. The
    run has ``keep_checkpoints``, ``disk_limit_gb``, ``log_level``, ``track`` and ``web`` of the core, too. When the
    block ends without an error, the run is finished; if it fails before anything was written, no run is
    left. The first Ctrl-C sets ``stop_requested``, the second raises KeyboardInterrupt.

    Args:
        command: name of the command that makes the run.
        settings: its own options by name, None for those that were not given; or an instance of a model.
        config: a TOML or JSON file with more.
        sets: values of ``--set``, as ``section.key=value``.
        seed: of everything random.
        save_dir: folder for run folders.
        run_name: name of the folder.
        names: names of the run's numbers for readers: ``game``, ``actions`` (a list), ``phases``, ``maps``.
        environments: environments or agents that decisions are of.
        check: called with the command's settings before the folder is made; raises ConfigurationError for what their
            model cannot see.

    Raises:
        ConfigurationError: a setting is wrong.
        RunError: the name is taken, or the folder cannot be made.
    """
    from pkmncli.plugins import get_registry  # noqa: PLC0415 - registration modules import this one
    from pkmncli.training.command_run_start import Options, start_run  # noqa: PLC0415

    core = {"seed": seed, "save_dir": _path(save_dir), "run_name": run_name}
    options = Options(settings or {}, core, _path(config), sets or (), check=check)
    return start_run(command, options, {**(names or {}), "environments": environments}, get_registry())


def resume(
    which: str | Path | None = None,
    command: str | None = None,
    settings: Mapping[str, Any] | BaseModel | None = None,
    *,
    sets: Iterable[str] | None = None,
    may_change: Collection[str] = (),
    save_dir: str | Path | None = None,
) -> AbstractContextManager[CommandRun]:
    """Resume a run from its newest whole checkpoint, whose state is in ``state``, and record it while entered.

    What was recorded after the checkpoint is set aside.

    Args:
        which: the run's folder, its name under ``save_dir``, or None for the latest.
        command: the command that must have made it; None for any but ``pkmn train``.
        settings: options that were given, as for :func:`start`.
        sets: values of ``--set``.
        may_change: the command's settings that may differ from the run's, such as its budget.
        save_dir: folder of run folders.

    Raises:
        ConfigurationError: an option would change what cannot change.
        RunError: there is no such run, another command made it, or another process has it.
        CheckpointError: none of its checkpoints can be used.
    """
    from pkmncli.plugins import get_registry  # noqa: PLC0415 - registration modules import this one
    from pkmncli.training.command_run_start import Options, resume_run  # noqa: PLC0415

    options = Options(settings or {}, {"save_dir": _path(save_dir)}, None, sets or (), may_change)
    return resume_run(which, command, options, get_registry())


def read_state(
    which: str | Path | None = None, checkpoint: str = "latest", save_dir: str | Path | None = None
) -> dict[str, Any]:
    """Return the state in a checkpoint of a run: arrays and plain values by name.

    Args:
        which: the run, as for :func:`find_run`.
        checkpoint: ``latest``, ``best``, or a number of steps.
        save_dir: folder of run folders.

    Raises:
        RunError: there is no such run.
        CheckpointError: there is no such checkpoint, or it is damaged.
    """
    from pkmncli.runs import open_run  # noqa: PLC0415 - registration modules import this one
    from pkmncli.training.checkpoints.files import read_checkpoint  # noqa: PLC0415
    from pkmncli.training.checkpoints.selection import readable_checkpoint  # noqa: PLC0415

    return dict(read_checkpoint(readable_checkpoint(open_run(which, _path(save_dir)), checkpoint)).learner)


class Interval(NamedTuple):
    """A measure of values with the ends of its interval; None where a single value gives none."""

    value: float
    low: float | None
    high: float | None


def evaluate(
    which: str | Path | None = None,
    *,
    checkpoint: str = "latest",
    episodes: int = 10,
    mode: str = "rl-only",
    envs: int = 2,
    seed: int | None = None,
    stochastic: bool = False,
    baselines: bool = False,
    save_dir: str | Path | None = None,
) -> dict[str, Any]:
    """Evaluate a run from held-out starts, and keep the result in it, as ``pkmn eval``.

    A run of a plugin's command is evaluated by the function that its plugin declares; mode, envs and baselines are for
    runs of ``pkmn train``.

    Args:
        which: the run, as for :func:`find_run`.
        checkpoint: ``latest``, ``best``, a milestone, ``episode-N``, or a number of steps.
        episodes: episodes to play.
        mode: ``rl-only``, ``adaptive``, ``llm-only`` or ``random``.
        envs: parallel environments; the result is the same.
        seed: of the starts; the run's if None.
        stochastic: sample the learner's actions from its policy, as ``pkmn eval --stochastic``.
        baselines: also play with the pilot and at random, from the same starts.
        save_dir: folder of run folders.

    Returns:
        What ``pkmn eval --json`` prints: ``avg_reward`` and more.

    Raises:
        RunError: there is no such run, or its command declares no evaluation.
        ConfigurationError: the mode does not suit the run.
        CheckpointError: there is no such checkpoint.
    """
    from pkmncli.config.run_file import read_run_file  # noqa: PLC0415 - registration modules import this one
    from pkmncli.errors import ConfigurationError  # noqa: PLC0415
    from pkmncli.plugins import get_registry  # noqa: PLC0415
    from pkmncli.runs import open_run  # noqa: PLC0415
    from pkmncli.training.evaluation.command_evaluation import evaluate_command_run  # noqa: PLC0415
    from pkmncli.training.evaluation.run_evaluation import EvaluationMode, RunEvaluation  # noqa: PLC0415
    from pkmncli.training.run_settings import run_settings  # noqa: PLC0415

    if mode not in set(EvaluationMode):
        raise ConfigurationError(f"mode {mode!r}: choose {', '.join(EvaluationMode)}")
    if stochastic and mode != EvaluationMode.RL_ONLY:
        raise ConfigurationError("stochastic: only the learner alone samples its actions; use it with mode 'rl-only'")
    run, registry = open_run(which, _path(save_dir)), get_registry()
    if read_run_file(run.folder).command is not None:
        return evaluate_command_run(run, registry, checkpoint=checkpoint, episodes=episodes, seed=seed)
    evaluation = RunEvaluation.of(
        run,
        run_settings(run, registry),
        registry,
        checkpoint=checkpoint,
        mode=EvaluationMode(mode),
        envs=envs,
        episodes=episodes,
        seed=seed,
        stochastic=stochastic,
        baselines=baselines,
    )
    played, result = evaluation.play()
    evaluation.keep(played, result)
    return result


def evaluations(
    which: str | Path | None = None, *, most: int | None = None, save_dir: str | Path | None = None
) -> list[dict[str, Any]]:
    """Return the evaluations that a run keeps, newest first; damaged ones are left out.

    Args:
        which: the run, as for :func:`find_run`.
        most: return at most this many; all if None.
        save_dir: folder of run folders.

    Returns:
        For each what :func:`evaluate` returned, and its ``folder``: its name begins with the time, and the folder holds
        the table of its episodes.

    Raises:
        RunError: there is no such run.
    """
    from pkmncli.errors import RunError  # noqa: PLC0415 - registration modules import this one
    from pkmncli.runs import open_run  # noqa: PLC0415
    from pkmncli.training.evaluation.kept_evaluations import evaluation_folders, read_evaluation  # noqa: PLC0415

    found: list[dict[str, Any]] = []
    for folder in evaluation_folders(open_run(which, _path(save_dir)).folder):
        if len(found) == most:
            break
        with contextlib.suppress(RunError):
            if (result := read_evaluation(folder)) is not None:
                found.append({**result, "folder": folder})
    return found


def export_policy(
    which: str | Path | None, folder: str | Path, *, checkpoint: str = "latest", save_dir: str | Path | None = None
) -> Path:
    """Write the policy of a run of ``pkmn train`` and its description, as ``pkmn export --policy``; replace older ones.

    Args:
        which: the run, as for :func:`find_run`.
        folder: where the two files go.
        checkpoint: as for :func:`evaluate`.
        save_dir: folder of run folders.

    Returns:
        The policy's file.

    Raises:
        RunError: there is no such run, or a file cannot be written.
        ConfigurationError: the run has no learner, or one that cannot export its policy.
        CheckpointError: there is no such checkpoint.
    """
    from pkmncli.config.run_file import read_run_file  # noqa: PLC0415 - registration modules import this one
    from pkmncli.errors import ConfigurationError  # noqa: PLC0415
    from pkmncli.exporting import DESCRIPTION, export_run_policy, prepare_folder  # noqa: PLC0415
    from pkmncli.plugins import get_registry  # noqa: PLC0415
    from pkmncli.runs import open_run  # noqa: PLC0415
    from pkmncli.training.checkpoints.selection import readable_checkpoint  # noqa: PLC0415
    from pkmncli.training.run_settings import run_settings  # noqa: PLC0415

    run, registry = open_run(which, _path(save_dir)), get_registry()
    command = read_run_file(run.folder).command
    if command is not None:
        raise ConfigurationError(f"{run.name} was made by 'pkmn {command}': it has no policy to export")
    settings = run_settings(run, registry)
    source = readable_checkpoint(run, checkpoint)
    folder = expand_home(Path(folder))
    prepare_folder(folder, [DESCRIPTION], overwrite=True)
    return export_run_policy(run, source, settings, registry, folder)


def compare(
    which: Iterable[str | Path] = (),
    *,
    metric: str | None = None,
    last: int = 1,
    lower_is_better: bool = False,
    target: float | None = None,
    by: Iterable[str] = (),
    tasks: Iterable[str] = (),
    save_dir: str | Path | None = None,
) -> dict[str, Any]:
    """Compare what runs reached, as ``pkmn compare``: runs that differ only in the seed are one group.

    Args:
        which: run folders or names, or folders of runs; all runs if there is none.
        metric: metric whose latest value is a run's score; the reward if None.
        last: number of its latest values, whose mean is the score.
        lower_is_better: true if smaller scores are better.
        target: score that is good enough, for the optimality gap.
        by: settings that distinguish groups, such as ``bandit.arms``; all that differ if there is none.
        tasks: settings whose values are the tasks of each group.
        save_dir: folder of run folders.

    Returns:
        What ``pkmn compare --format json`` prints: groups, improvements and notes.

    Raises:
        ConfigurationError: a run has no such metric or setting, or there are fewer than two runs.
        RunError: there is no such run, or it has nothing to compare yet.
    """
    from pkmncli.comparison.compared_runs import find_runs  # noqa: PLC0415 - registration modules import this one
    from pkmncli.comparison.comparing import Question  # noqa: PLC0415
    from pkmncli.comparison.comparing import compare as compare_runs  # noqa: PLC0415
    from pkmncli.plugins import get_registry  # noqa: PLC0415

    question = Question(metric, last, lower_is_better, target, tuple(by), tuple(tasks))
    return compare_runs(find_runs(map(str, which), _path(save_dir)), get_registry(), question).as_dict()


def interval(
    values: Sequence[float] | Sequence[Sequence[float]],
    measure: Literal["iqm", "mean"] | Callable[[NDArray[np.float64]], NDArray[np.float64]] = "iqm",
    *,
    confidence: float = 0.95,
) -> Interval:
    """Return a measure of values with its bootstrap interval, as ``pkmn compare`` does (Agarwal et al. 2021).

    Args:
        values: one for each run; or a list of them for each task, within which runs are resampled.
        measure: interquartile mean, mean, or a function along the last axis.
        confidence: share of the resampled measures within the interval.

    Raises:
        ConfigurationError: there are no values.
    """
    import numpy as np  # noqa: PLC0415 - registration modules import this one

    from pkmncli.comparison.measures import bootstrap_interval, interquartile_mean, mean  # noqa: PLC0415
    from pkmncli.errors import ConfigurationError  # noqa: PLC0415

    tasks = list(values)
    if not tasks or isinstance(tasks[0], Sequence):
        scores = [np.asarray(task, np.float64) for task in tasks]
    else:
        scores = [np.asarray(tasks, np.float64)]
    if not scores or not all(map(len, scores)):
        raise ConfigurationError("an interval needs at least one value of each task")
    named = {"iqm": interquartile_mean, "mean": mean}
    function = named[measure] if isinstance(measure, str) else measure
    value = float(function(np.concatenate(scores)))
    if max(map(len, scores)) < 2:
        return Interval(value, None, None)
    low, high = bootstrap_interval(scores, function, confidence=confidence)
    return Interval(value, float(low), float(high))


def experiment(
    file: str | Path,
    *,
    processes: int | None = None,
    save_dir: str | Path | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Make every run that an experiment file asks for, each in a process, and compare them, as ``pkmn experiment``.

    Args:
        file: the file, TOML.
        processes: parallel runs; the file's number if None.
        save_dir: folder for the experiment's folder.
        tell: takes a line for each run that has ended.

    Returns:
        ``runs``, the folders; ``failed``, names of runs; ``comparison`` as :func:`compare` returns it, None for fewer
        than two finished runs.

    Raises:
        ConfigurationError: something in the file is wrong.
        KeyboardInterrupt: Ctrl-C, after all runs were saved.
    """
    from pkmncli.experiments.running import Experiment  # noqa: PLC0415 - registration modules import this one
    from pkmncli.plugins import get_registry  # noqa: PLC0415
    from pkmncli.runs import default_save_dir  # noqa: PLC0415

    registry = get_registry()
    found = Experiment.read(expand_home(Path(file)), _path(save_dir) or default_save_dir(), registry)
    failed, interrupted = found.train(processes, lambda name, text: tell(f"{name}: {text}"))
    if interrupted:
        raise KeyboardInterrupt
    comparison = found.compare(registry)
    return {
        "runs": [one.run.folder for one in found.runs],
        "failed": failed,
        "comparison": None if comparison is None else comparison.as_dict(),
    }


def __getattr__(name: str) -> Any:
    """Return the class of the runs that :func:`start` gives, imported on first use."""
    if name != "CommandRun":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pkmncli.training.command_run import CommandRun  # noqa: PLC0415 - registration modules import this one

    return CommandRun
