"""Command `pkmn tune`: search settings for the best ones by trials of several seeds, and write them as a preset."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pkmncli.api import quoted_path
from pkmncli.atomic_files import write_atomic, write_errors_explained
from pkmncli.config import ResolvedSettings
from pkmncli.diagnostics import say
from pkmncli.errors import EXIT_UNEXPECTED, ConfigurationError, RunError
from pkmncli.experiments.side_by_side import LOGS, STOPPING
from pkmncli.experiments.training_bars import TrainingBars
from pkmncli.plugins import Registry, get_registry
from pkmncli.runs import Run, default_save_dir
from pkmncli.standard_streams import output_is_extra
from pkmncli.tables import prose
from pkmncli.training.display.estimate import duration, size
from pkmncli.training.display.progress import ProgressWriter
from pkmncli.training.interrupts import InterruptFlag
from pkmncli.tuning.forecast import forecast
from pkmncli.tuning.objective import EPISODES
from pkmncli.tuning.plan import TuningPlan, read_tuning
from pkmncli.tuning.result import (
    PRESET_FILE,
    best_in_words,
    importance_in_words,
    learners_own,
    preset_text,
    shown,
    table,
)
from pkmncli.tuning.search import Search
from pkmncli.tuning.space import corners
from pkmncli.tuning.study import STUDY_FILE, Study, TrialResult, check_optuna
from pkmncli.tuning.trial_in_hand import TrialInHand

KEPT_FILE = "tune.toml"
"""Latest copy of the tuning's file."""


def tune(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Tuning file, TOML.")],
    *,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Parallel trainings. [default: the file's, or 1]")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the plan and its progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --dry-run: write the ended trials as JSON.")] = False,
    save_dir: Annotated[Path | None, typer.Option(help="Folder for the tuning's folder. [default: runs]")] = None,
) -> None:
    """Search settings for the best ones: trials of several seeds, and a preset at the end.

    Given again, it resumes where it stopped. Ctrl-C saves all trainings.
    """
    if as_json and not dry_run:
        raise ConfigurationError("--json is for the trials that have ended: pkmn tune FILE --dry-run --json")
    check_optuna()
    registry, save_dir = get_registry(), (save_dir or default_save_dir()).absolute()
    plan = read_tuning(file, save_dir, registry)
    processes, folder = processes or plan.processes, save_dir / plan.name
    _check_folder(folder)
    if dry_run:
        begun = (folder / STUDY_FILE).exists()
        with Study.copied(folder, plan, processes) if begun else nullcontext() as study:
            if as_json:
                typer.echo(json.dumps([asdict(one) for one in (study.results() if study else ())], indent=2))
            else:
                _announce(plan, study, save_dir, registry, processes)
        return
    output_is_extra()
    with write_errors_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with _opened(folder, plan, processes) as study:
        _announce(plan, study, save_dir, registry, processes)
        with write_errors_explained(folder):
            write_atomic(folder / KEPT_FILE, file.read_bytes())
        _search(plan, study, save_dir, registry, processes)
        _conclude(plan, study, save_dir, registry)


def _check_folder(folder: Path) -> None:
    """Raise RunError if the folder holds something other than a tuning."""
    if not folder.exists() or (folder / STUDY_FILE).exists():
        return
    if not folder.is_dir():
        raise RunError(f"{folder} is no folder: give the tuning another name")
    others = sorted(one.name for one in folder.iterdir() if one != Run(folder).lock_file)
    if others:
        raise RunError(f"{folder} has no tuning, but {others[0]}: give the tuning another name, or empty that folder")


@contextmanager
def _opened(folder: Path, plan: TuningPlan, processes: int) -> Iterator[Study]:
    """Yield the study in the folder, locked for this tuning."""
    if (holder := Run(folder).in_use_by()) is not None:
        raise RunError(f"the tuning in {folder} is already running, in process {holder}: wait, or stop that")
    with Run(folder).locked():
        yield Study(folder, plan, processes)


def _announce(plan: TuningPlan, study: Study | None, save_dir: Path, registry: Registry, processes: int) -> None:
    """Print the plan, its folder, and the expected time and disk space."""
    ended = [] if study is None else study.results()
    left = max(plan.trials - len(ended), 0)
    folder = save_dir / plan.name
    seeds = len(plan.seeds)
    lines = [
        f"Tuning {plan.name}: {plan.trials} trials of {seeds} {'seed' if seeds == 1 else 'seeds'} and "
        f"{plan.steps:,} steps, {len(ended)} ended, {left} to go.",
        *(f"  {name}: {dimension}" for name, dimension in plan.space.items()),
        f"Objective: {plan.objective}; pruner: {plan.pruner}, a look every {plan.interval:,} steps.",
    ]
    if left:
        (one, *_) = plan.runs(plan.trials, corners(plan.space)[0], save_dir, registry)
        at_once = min(processes, plan.trials_at_a_time(processes) * seeds)
        cost = forecast(one, registry, steps=plan.steps, runs=left * seeds, processes=at_once)
        lines += [
            f"At most {left * seeds * plan.steps:,} steps, {processes} {'training' if processes == 1 else 'trainings'} "
            f"at a time. All to their end take about {duration(cost.seconds)} and {size(cost.disk_bytes)}.",
            f"Writing to {folder}, the output of the trainings to {LOGS}/ in it. Ctrl-C saves and stops.",
        ]
        if plan.objective.metric == EPISODES and not learners_own(one.training):
            say("Note: the player by rules earns part of this objective; evaluation/avg_reward is the learner's alone.")
    typer.echo(prose("\n".join(lines)))


def _search(plan: TuningPlan, study: Study, save_dir: Path, registry: Registry, processes: int) -> None:
    seeds, ended = len(plan.seeds), len(study.results())
    with InterruptFlag(STOPPING) as interrupted, ProgressWriter() as progress:
        bars = TrainingBars(progress, "all trials", plan.trials * seeds, ended=ended * seeds)

        def tell(text: str) -> None:
            typer.echo(prose(text, indent="  "))

        def on_end(hand: TrialInHand) -> None:
            bars.count_as_ended(hand.names)
            tell(f"[{len(study.results())}/{plan.trials}] {_ended(hand)}")

        search = Search(plan, study, save_dir, registry, processes, tell=tell, on_end=on_end, on_look=bars.look)
        search.run(lambda: bool(interrupted))
        if interrupted:
            say("Interrupted, and saved. Give the command again to resume.")
            raise typer.Exit(interrupted.exit_code)


def _ended(hand: TrialInHand) -> str:
    """Return how a trial ended, in a line."""
    values = ", ".join(f"{name}={shown(value)}" for name, value in hand.trial.values.items())
    if hand.outcome != "complete":
        return f"trial {hand.trial.number}: {hand.outcome}, {hand.why}; {values}"
    mean = sum(hand.figures) / len(hand.figures)
    by_seed = f" ({', '.join(f'{value:.4g}' for value in hand.figures)})" if len(hand.figures) > 1 else ""
    return f"trial {hand.trial.number}: {mean:.4g}{by_seed}; {values}"


def _conclude(plan: TuningPlan, study: Study, save_dir: Path, registry: Registry) -> None:
    """Print the best trial and the importance of settings; write the preset."""
    results, best = study.results(), study.best()
    counts = {state: sum(one.state == state for one in results) for state in ("complete", "pruned", "failed")}
    typer.echo(f"\n{', '.join(f'{count} {state}' for state, count in counts.items())}.")
    if best is None:
        say("No trial was completed, so there is no best one.")
        raise typer.Exit(EXIT_UNEXPECTED)
    typer.echo(f"{table(results, plan)}\n")
    typer.echo(prose(best_in_words(best, plan), indent="  "))
    typer.echo(prose(importance_in_words(study.importances(), counts["complete"], study.telling), indent="  "))
    path = save_dir / plan.name / PRESET_FILE
    _write_preset(path, plan, best, save_dir, registry)
    typer.echo(prose("\nThe figure is that of the seeds it was chosen by: train others before you trust it."))
    typer.echo(f"  pkmn train --preset {quoted_path(path)} --seed {max(plan.seeds) + 1}")
    failed: Sequence[TrialResult] = [one for one in results if one.state == "failed"]
    if failed:
        say(f"{len(failed)} of {len(results)} trials failed: {failed[-1].why}")
        raise typer.Exit(EXIT_UNEXPECTED)


def _write_preset(path: Path, plan: TuningPlan, best: TrialResult, save_dir: Path, registry: Registry) -> None:
    one = plan.runs(best.number, best.values, save_dir, registry)[0]
    settings = ResolvedSettings.from_run(one.run.folder, registry)
    write_atomic(path, preset_text(plan, best, settings, registry))
