"""Command `pkmn compare`: compare what trainings reached, and the part of chance in it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from pkmncli.comparison.compared_runs import find_runs
from pkmncli.comparison.comparing import Question
from pkmncli.comparison.comparing import compare as compare_runs
from pkmncli.comparison.picture import check_plot, draw
from pkmncli.comparison.report import write
from pkmncli.diagnostics import say
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import get_registry
from pkmncli.tables import Format, prose


def compare(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Run folders or names, or folders of runs. [default: all runs]"),
    ] = None,
    *,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="Setting that distinguishes groups, such as rl or dqn.gamma. Repeatable. [default: all that differ]",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Metric whose latest value is a run's score. [default: mean reward of the latest evaluation, "
            "or of the last training episodes if fewer than two runs have one]",
        ),
    ] = None,
    last: Annotated[int, typer.Option(min=1, help="Latest values of the metric, whose mean is the score.")] = 1,
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Smaller scores are better, as for milestone/starter/step.")
    ] = False,
    target: Annotated[
        float | None,
        typer.Option(help="A score that is good enough: shows the optimality gap, the mean shortfall to it."),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="Setting whose values are the tasks of each group, such as goal. Repeatable.",
        ),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Format of the result.")] = Format.TABLE,
    plot: Annotated[Path | None, typer.Option(help="Draw the result to this file, .svg or .png.")] = None,
    save_dir: Annotated[Path | None, typer.Option(help="Folder of the run folders. [default: runs]")] = None,
) -> None:
    """Compare what runs reached. Runs that differ only in the seed are one group.

    Also works while they train.
    """
    if plot is not None:
        check_plot(plot)
    if target is not None and not math.isfinite(target):
        raise ConfigurationError(f"--target {target}: must be a finite number")
    registry = get_registry()
    question = Question(metric, last, lower_is_better, target, tuple(by or ()), tuple(task or ()))
    found = compare_runs(find_runs(runs or (), save_dir), registry, question)
    typer.echo(write(found, form))
    for note in found.notes:
        say(prose(f"Note: {note}.", indent="  "))
    if plot is not None:
        draw(found, plot)
        say(f"Wrote {plot}.")
