"""`pkmn analyze-patterns`: which actions paid off in which situations of a run."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmn_decisions.analyzer import STANDALONE_FILE, default_horizon
from pkmn_decisions.conditions import parse_conditions, parse_filter
from pkmn_decisions.patterns import DEFAULT_DIMENSIONS, Pattern, PatternQuestion, find_patterns, highest_frequency
from pkmn_decisions.read_only import check_read_only
from pkmn_decisions.report import Format, flat_patterns, pattern_table, to_json, write
from pkmn_decisions.view import RunViews, run_names
from pkmncli.api import find_run
from pkmncli.errors import ConfigurationError


class Sort(StrEnum):
    """What comes first."""

    SUCCESS = "success"
    FREQUENCY = "frequency"
    LIFT = "lift"
    REWARD = "reward"


class Dimension(StrEnum):
    """What tells situations apart."""

    MAP = "map"
    TILE = "tile"
    PHASE = "phase"
    BATTLE = "battle"
    OPPONENT = "opponent"
    MILESTONES = "milestones"
    PREVIOUS = "previous"
    SOURCE = "source"


class DecidedBy(StrEnum):
    """Who decided."""

    RL = "rl"
    EXPLORE = "explore"
    RULE = "rule"
    LLM = "llm"


def analyze_patterns(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="Run folders or names. [default: latest]")
    ] = None,
    *,
    min_frequency: Annotated[
        int, typer.Option(min=1, help="Least number of times that an action was taken in a situation.")
    ] = 3,
    context: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Only these decisions, such as 'map=24.4', 'action!=none', 'health<0.5', 'reason~door'. Repeatable.",
        ),
    ] = None,
    source: Annotated[list[DecidedBy] | None, typer.Option(help="Only what was decided so. Repeatable.")] = None,
    by: Annotated[
        list[Dimension] | None,
        typer.Option(help="What tells situations apart. Repeatable. [default: map, phase, battle]"),
    ] = None,
    sort: Annotated[
        Sort, typer.Option(help="What comes first. Success counts by the low end of its interval.")
    ] = Sort.SUCCESS,
    limit: Annotated[int, typer.Option(min=1, help="Most patterns to show.")] = 20,
    form: Annotated[Format, typer.Option("--format", help="How the result is written.")] = Format.TABLE,
    sql: Annotated[
        str | None,
        typer.Option(
            metavar="QUERY",
            help="Answer this SQL query over decisions, episodes, metrics and names instead. Reads only.",
        ),
    ] = None,
    save_dir: Annotated[Path | None, typer.Option(help="Folder of the run folders. [default: runs]")] = None,
) -> None:
    """Show which actions paid off in which situations, also while a training runs.

    A decision is a success if the rewards of it and of the 7 decisions that follow it in its episode sum above zero.
    """
    run_folders, folders = _find_tables(runs or [None], save_dir)
    views = RunViews(folders, default_horizon(folders), name_folders=run_folders)
    try:
        if sql is not None:
            check_read_only(views, sql)
            views.lock()
            typer.echo(write(*views.query(sql), form))
            return
        texts = context or []
        conditions = parse_conditions(texts, views.names)
        if source:
            conditions += parse_filter({"source": [one.value for one in source]}, views.names)
        question = PatternQuestion(
            min_frequency, [one.value for one in by] if by else DEFAULT_DIMENSIONS, conditions, sort.value, limit
        )
        patterns = find_patterns(views, question)
        overview = _overview(views)
        if form is Format.JSON:
            typer.echo(to_json({**overview, "patterns": [pattern.as_dict(views.names) for pattern in patterns]}))
        elif form is Format.CSV:
            typer.echo(write(*flat_patterns(patterns, views.names), form))
        else:
            _show(overview, patterns, views, question, form)
    finally:
        views.close()


def _find_tables(runs: list[str] | list[None], save_dir: Path | None) -> tuple[list[Path], list[Path]]:
    """The folders of these runs, and the folders in which their tables stand.

    A folder of decisions recorded by hand is taken as it is.
    """
    run_folders, folders = [], []
    for which in runs:
        if which is not None and (Path(which) / STANDALONE_FILE).exists():
            run_folders.append(Path(which))
            folders.append(Path(which))
            continue
        run = find_run(which, save_dir)
        elsewhere = run.settings.get("", {}).get("decision_db_path")
        run_folders.append(run.folder)
        folders.append(Path(elsewhere) if elsewhere else run.folder)
    if len(set(folders)) != len(folders):
        raise ConfigurationError("The same decisions were named twice: name each run once.")
    return run_folders, folders


def _overview(views: RunViews) -> dict[str, Any]:
    """How much the runs hold, and of which time: counts, and the first and last decision's time in UTC."""
    _, rows = views.query("SELECT count(*), max(global_step), min(time), max(time) FROM decision_rows")
    decisions, steps, first, last = rows[0]
    _, rows = views.query("SELECT count(*), count(*) FILTER (purpose = 'train') FROM episodes")
    return {
        "runs": run_names(views.folders),
        "decisions": decisions,
        "episodes": rows[0][1],
        "steps": steps or 0,
        "first": None if first is None else datetime.fromtimestamp(first, UTC),
        "last": None if last is None else datetime.fromtimestamp(last, UTC),
    }


def _show(
    overview: dict[str, Any], patterns: list[Pattern], views: RunViews, question: PatternQuestion, form: Format
) -> None:
    runs = ", ".join(overview["runs"])
    if not overview["decisions"]:
        typer.echo(f"Run {runs} has no decisions on disk yet: train for a while, then ask again.")
        return
    first, last = (overview[key].astimezone().strftime("%Y-%m-%d %H:%M") for key in ("first", "last"))
    typer.echo(
        f"Run {runs}: {overview['decisions']:,} decisions, {overview['episodes']:,} finished episodes, "
        f"{overview['steps']:,} steps, recorded from {first} to {last}."
    )
    if not patterns:
        typer.echo(_why_nothing(views, question))
        return
    following = views.horizon - 1
    judged = f"the rewards of a decision and the {following} that follow add up to" if following else "its reward is"
    typer.echo(
        f"success: {judged} more than 0; with its 95% interval.\n"
        "lift: that rate over the rate of the other actions in the same situation.\n"
        f"return: mean of those {'sums' if following else 'rewards'}. mostly: who decided most often.\n"
    )
    typer.echo(write(*pattern_table(patterns, views.names), form))
    if question.limit is not None and len(patterns) == question.limit:
        typer.echo(f"\nThe first {question.limit} patterns are shown; --limit shows more.")


def _why_nothing(views: RunViews, question: PatternQuestion) -> str:
    most = highest_frequency(views, question)
    if most:
        return (
            f"No action was taken {question.min_frequency:,} times or more in one situation. "
            f"The most frequent was taken {most:,} times: --min-frequency {most} shows it."
        )
    return "No decision meets all the conditions of --context and --source: leave one out."
