"""Command `pkmn experiment`: train every combination of settings and seed of a file, and compare them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pkmncli.api import quoted_path
from pkmncli.comparison.report import write
from pkmncli.diagnostics import say
from pkmncli.errors import EXIT_UNEXPECTED, PkmnError
from pkmncli.experiments.plan import TRAIN
from pkmncli.experiments.running import Experiment
from pkmncli.experiments.side_by_side import LOGS
from pkmncli.experiments.standing import ExperimentRun, State
from pkmncli.plugins import Registry, get_registry
from pkmncli.runs import default_save_dir
from pkmncli.standard_streams import output_is_extra
from pkmncli.tables import Format, commands_to_copy, prose
from pkmncli.training.display.progress import ProgressWriter


def experiment(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Experiment file, TOML.")],
    *,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Parallel trainings. [default: the file's, or 1]")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the runs and their states.")] = False,
    save_dir: Annotated[Path | None, typer.Option(help="Folder for the experiment's folder. [default: runs]")] = None,
) -> None:
    """Train every combination of settings and seed that a file asks for, then compare them.

    Given again, it resumes where it stopped. Ctrl-C saves all trainings.
    """
    registry = get_registry()
    found = Experiment.read(file, save_dir or default_save_dir(), registry)
    plan, runs, states = found.plan, found.runs, found.states
    if dry_run:
        width = max(map(len, State))
        typer.echo("\n".join(f"{states[one.name]:{width}}  {one.run.folder}" for one in runs))
        return
    output_is_extra()
    processes = processes or plan.processes
    count = [sum(state is which for state in states.values()) for which in State]
    left = _left(runs)
    typer.echo(
        prose(
            f"Experiment {plan.name}: {len(runs)} runs, {count[0]} new, {count[1]} begun, {count[2]} finished; "
            f"{processes} at a time{f', {left} to go' if left else ''}.\n"
            f"Writing to {found.folder}, the output of the trainings to {LOGS}/ in it. Ctrl-C saves and stops."
        )
    )
    numbers = itertools.count(1)
    with ProgressWriter() as progress:
        failed, interrupted = found.train(
            processes,
            lambda name, text: typer.echo(prose(f"[{next(numbers)}/{len(runs)}] {name}: {text}", indent="  ")),
            progress,
        )
    if interrupted:
        say("Interrupted, and saved. Give the command again to resume.")
        raise typer.Exit(interrupted.exit_code)
    _compare(found, registry)
    if failed:
        again = "Give the command again to resume them."
        say(f"{len(failed)} of {len(runs)} runs failed: {', '.join(failed)}. {again}")
        raise typer.Exit(EXIT_UNEXPECTED)


def _left(runs: Sequence[ExperimentRun]) -> str:
    """Return the steps left of all budgets that count steps; empty for a plugin's command, whose budget is its own."""
    if runs[0].planned.command != TRAIN:
        return ""
    left = [one.steps_left for one in runs]
    steps = sum(one for one in left if one is not None)
    more = "" if None not in left else "and some episodes"
    return " ".join(part for part in (f"{steps:,} steps", more) if part)


def _compare(found: Experiment, registry: Registry) -> None:
    """Show the comparison of the finished runs, if there are any."""
    try:
        comparison = found.compare(registry)
    except PkmnError as error:
        say(f"The runs cannot be compared: {error}")
        return
    if comparison is not None:
        typer.echo(f"\n{write(comparison, Format.TABLE)}")
        for note in comparison.notes:
            say(prose(f"Note: {note}."))
        folder = quoted_path(found.folder)
        steps = [
            (f"pkmn plot {folder}", "curves of all runs"),
            (f"pkmn compare {folder} --format json", "these tables for other programs"),
        ]
        typer.echo(f"\nNext:\n{commands_to_copy(steps)}")
