"""Command `pkmn experiment`: train every combination of settings and seed of a file, and compare them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pkmncli.atomic_files import write_atomic, write_errors_explained
from pkmncli.comparison.compared_runs import find_runs
from pkmncli.comparison.comparing import Question, compare
from pkmncli.comparison.report import Format, write
from pkmncli.diagnostics import say
from pkmncli.errors import EXIT_UNEXPECTED, PkmnError
from pkmncli.experiments.plan import Plan, read_plan
from pkmncli.experiments.side_by_side import LOGS, STOPPING, Ended, run_side_by_side
from pkmncli.experiments.standing import ExperimentRun, State, prepare
from pkmncli.plugins import Registry, get_registry
from pkmncli.runs import default_save_dir
from pkmncli.standard_streams import output_is_extra
from pkmncli.training.interrupts import InterruptFlag

KEPT_FILE = "experiment.toml"
"""Latest copy of the experiment's file."""


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
    plan, registry = read_plan(file), get_registry()
    runs = prepare(plan, save_dir or default_save_dir(), registry)
    states = {one.name: one.state for one in runs}
    folder = runs[0].run.folder.parent
    if dry_run:
        width = max(map(len, State))
        typer.echo("\n".join(f"{states[one.name]:{width}}  {one.run.folder}" for one in runs))
        return
    output_is_extra()
    processes = processes or plan.processes
    count = [sum(state is which for state in states.values()) for which in State]
    typer.echo(
        f"Experiment {plan.name}: {len(runs)} runs, {count[0]} new, {count[1]} begun, {count[2]} finished; "
        f"{processes} at a time, {_left(runs)} to go.\n"
        f"Writing to {folder}, what they print to {LOGS}/ in it. Ctrl-C saves and stops."
    )
    with write_errors_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / KEPT_FILE, file.read_bytes())
    failed = _train(runs, states, processes)
    _compare(plan, runs, registry)
    if failed:
        again = "Give the command again to resume them."
        say(f"{len(failed)} of {len(runs)} runs failed: {', '.join(failed)}. {again}")
        raise typer.Exit(EXIT_UNEXPECTED)


def _train(runs: Sequence[ExperimentRun], states: dict[str, State], processes: int) -> list[str]:
    """Train all unfinished runs; return the names of those that failed."""
    failed: list[str] = []
    ended = 0

    def tell(name: str, text: str) -> None:
        nonlocal ended
        ended += 1
        typer.echo(f"[{ended}/{len(runs)}] {name}: {text}")

    def on_end(end: Ended) -> None:
        if not end.exit_code:
            tell(end.one.name, _reached(end.one))
        elif interrupted:
            tell(end.one.name, f"stopped, {_reached(end.one)}")
        else:
            failed.append(end.one.name)
            tell(end.one.name, f"failed with exit code {end.exit_code}: {end.said}")

    with InterruptFlag(STOPPING) as interrupted:
        for one in runs:
            if states[one.name] is State.FINISHED:
                tell(one.name, f"finished before, {_reached(one)}")
        waiting = [one for one in runs if states[one.name] is not State.FINISHED]
        run_side_by_side(waiting, processes, interrupted=lambda: bool(interrupted), on_end=on_end)
        if interrupted:
            say("Interrupted, and saved. Give the command again to resume.")
            raise typer.Exit(interrupted.exit_code)
    return failed


def _left(runs: Sequence[ExperimentRun]) -> str:
    """Return the steps left of all budgets that count steps."""
    left = [one.steps_left for one in runs]
    steps = sum(one for one in left if one is not None)
    more = "" if None not in left else "and some episodes"
    return " ".join(part for part in (f"{steps:,} steps", more) if part)


def _reached(one: ExperimentRun) -> str:
    summary = one.run.read_summary()
    reward = summary.get("final_avg_reward")
    told = "" if reward is None else f", reward in training {reward:.1f} over the last episodes"
    return f"{summary.get('total_steps', 0):,} steps{told}. {summary.get('verdict', '')}".rstrip()


def _compare(plan: Plan, runs: Sequence[ExperimentRun], registry: Registry) -> None:
    """Show the comparison of the finished runs, if there are any."""
    finished = [str(one.run.folder) for one in runs if one.state is State.FINISHED]
    if len(finished) < 2:
        return
    try:
        found = compare(find_runs(finished, None), registry, Question(by=plan.varying or ("rl",)))
    except PkmnError as error:
        say(f"The runs cannot be compared: {error}")
        return
    typer.echo(f"\n{write(found, Format.TABLE)}")
    for note in found.notes:
        say(f"Note: {note}.")
