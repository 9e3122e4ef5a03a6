"""Command `pkmn analyze-patterns`: how the agent of a run decides, and what could be improved."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmn_decisions.analysis.conditions import parse_conditions, parse_filter
from pkmn_decisions.analysis.findings import Analysis
from pkmn_decisions.analysis.patterns import PatternQuestion, highest_frequency
from pkmn_decisions.analysis.prices import Prices, known_prices
from pkmn_decisions.analysis.sequences import LONGEST, SHORTEST
from pkmn_decisions.analysis.situations import DEFAULT_DIMENSIONS
from pkmn_decisions.report.headline import headline, observations
from pkmn_decisions.report.html_page import html_page
from pkmn_decisions.report.picture import check_plot, draw
from pkmn_decisions.report.rows import Format, flat, to_json, write
from pkmn_decisions.report.section_table import SectionTable
from pkmn_decisions.report.sections import DEFAULT, Show, tables, values
from pkmn_decisions.store.names import with_names_of_numbers
from pkmn_decisions.store.read_only import check_read_only
from pkmn_decisions.store.sqlite_history import import_history, is_sqlite
from pkmn_decisions.store.view import STANDALONE_FILE, RunViews, default_horizon, folders_of_tables, run_names
from pkmncli.api import RunInfo, find_run
from pkmncli.errors import ConfigurationError
from pkmncli.tables import headings_left_out, prose

_LENGTHS = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")


_OF_A_RUN = ("versions.json", "config.toml")
"""Files of a run's folder."""

_RUNS, _DECISIONS, _CONTENT, _OUTPUT = "Runs", "Decisions", "Content", "Output"


class Sort(StrEnum):
    """Order of patterns."""

    SUCCESS = "success"
    FREQUENCY = "frequency"
    LIFT = "lift"
    REWARD = "reward"
    STAKE = "stake"


class Dimension(StrEnum):
    """Dimensions of situations."""

    MAP = "map"
    TILE = "tile"
    PHASE = "phase"
    BATTLE = "battle"
    OPPONENT = "opponent"
    MILESTONES = "milestones"
    PREVIOUS = "previous"
    SOURCE = "source"


class DecidedBy(StrEnum):
    """Sources of decisions."""

    RL = "rl"
    EXPLORE = "explore"
    RULE = "rule"
    LLM = "llm"


def analyze_patterns(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="Run folders or names. [default: latest]")
    ] = None,
    *,
    run: Annotated[
        list[str] | None, typer.Option(metavar="RUN", help="Additional run. Repeatable.", rich_help_panel=_RUNS)
    ] = None,
    show: Annotated[
        list[Show] | None,
        typer.Option(
            help="Only this section. Repeatable. Changes compare the halves of a run, or two runs. "
            "[default: patterns, sources, loops, sequences, after at most five findings to act on]",
            rich_help_panel=_CONTENT,
        ),
    ] = None,
    min_frequency: Annotated[
        int,
        typer.Option(
            min=1, help="Least number of times that an action was taken in a situation.", rich_help_panel=_DECISIONS
        ),
    ] = 3,
    context: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Only these decisions, such as 'map=24.4', 'action!=none', 'health<0.5', 'reason~door'. Repeatable.",
            rich_help_panel=_DECISIONS,
        ),
    ] = None,
    source: Annotated[
        list[DecidedBy] | None,
        typer.Option(help="Only decisions by this source. Repeatable.", rich_help_panel=_DECISIONS),
    ] = None,
    by: Annotated[
        list[Dimension] | None,
        typer.Option(
            help="Dimensions that distinguish situations. Repeatable. [default: map, phase, battle]",
            rich_help_panel=_DECISIONS,
        ),
    ] = None,
    sort: Annotated[
        Sort,
        typer.Option(
            help="Order of patterns. Success counts by the low end of its interval; stake is the total of a "
            "significant difference over all decisions.",
            rich_help_panel=_CONTENT,
        ),
    ] = Sort.SUCCESS,
    limit: Annotated[
        int,
        typer.Option(
            min=1, max=1_000_000, help="Maximum patterns to show, and rows of a section.", rich_help_panel=_CONTENT
        ),
    ] = 20,
    length: Annotated[
        str, typer.Option(metavar="N or N-M", help="Actions in a sequence, from 2 to 6.", rich_help_panel=_CONTENT)
    ] = f"{SHORTEST}-{LONGEST}",
    form: Annotated[
        Format, typer.Option("--format", help="Format of the result.", rich_help_panel=_OUTPUT)
    ] = Format.TABLE,
    sql: Annotated[
        str | None,
        typer.Option(
            metavar="QUERY",
            help="Answer this SQL query over decisions, episodes, advice, metrics and names instead. Reads only.",
            rich_help_panel=_CONTENT,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Plot the findings to this file too, PNG or SVG. Needs the extra plot.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    save_dir: Annotated[
        Path | None, typer.Option(help="Folder of the run folders. [default: runs]", rich_help_panel=_RUNS)
    ] = None,
) -> None:
    """Show how the agent decides: which actions paid off, which source is right, and where it loops.

    A decision is a success if the rewards of it and of the 7 decisions that follow it in its episode sum above zero.
    It works while a training runs. An SQLite file with a table of decisions can be named too.
    """
    if plot is not None:
        check_plot(plot)
    lengths = _lengths(length)
    chosen = list(dict.fromkeys(show)) if show else list(DEFAULT)
    if form is Format.CSV and show and len(chosen) > 1:
        raise ConfigurationError("--format csv writes one section: name one with --show")
    with _opened([*(runs or []), *(run or [])] or [None], save_dir) as (views, prices, infos):
        if sql is not None:
            check_read_only(views, sql)
            views.lock()
            columns, rows = views.query(sql)
            if form in (Format.TABLE, Format.MARKDOWN, Format.HTML):
                rows = with_names_of_numbers(columns, rows, views.names)
            typer.echo(_page_of_rows(sql, columns, rows) if form is Format.HTML else write(columns, rows, form))
            return
        conditions = parse_conditions(context or [], views.names)
        if source:
            conditions += parse_filter({"source": [one.value for one in source]}, views.names)
        by_names = [one.value for one in by] if by else DEFAULT_DIMENSIONS
        question = PatternQuestion(min_frequency, by_names, conditions, sort.value, limit)
        analysis = Analysis(views, question, lengths, prices, infos)
        if plot is not None and analysis.overview["decisions"]:
            draw(analysis, plot)
            typer.echo(f"The plot is in {plot}.", err=True)
        if form is Format.JSON:
            typer.echo(to_json(_json(analysis, chosen, whole=not show)))
        elif form is Format.CSV:
            typer.echo(write(*flat(_records(analysis, chosen[0])), form))
        else:
            _show(analysis, chosen, form, whole=not show)


@contextmanager
def _opened(
    which: list[str] | list[str | None] | list[None], save_dir: Path | None
) -> Iterator[tuple[RunViews, dict[str, Prices], list[RunInfo]]]:
    """Yield the tables of these runs, by their names the prices of their language models, and the runs.

    A folder of decisions recorded by hand is used directly; an SQLite file is copied for the time of the call.
    """
    run_folders: list[Path] = []
    folders: list[Path] = []
    prices: list[Prices] = []
    runs: list[RunInfo] = []
    copies = Path(tempfile.mkdtemp(prefix="pkmn-history-"))
    try:
        for number, one in enumerate(which):
            if one is not None and is_sqlite(Path(one)):
                copy = copies / str(number) / Path(one).name
                import_history(Path(one), copy)
                run_folders.append(Path(one).absolute())
                folders.append(copy)
                prices.append({})
            elif one is not None and _is_there(Path(one) / STANDALONE_FILE):
                run_folders.append(Path(one))
                folders.append(Path(one))
                prices.append({})
            elif one is not None and (kept := _kept_elsewhere(Path(one))):
                run_folders += kept
                folders += kept
                prices += [{} for _ in kept]
            else:
                found = find_run(one, save_dir)
                elsewhere = found.settings.get("", {}).get("decision_db_path")
                runs.append(found)
                run_folders.append(found.folder)
                folders.append(Path(elsewhere) if elsewhere else found.folder)
                prices.append(known_prices(found.folder, found.settings))
        if len({folder.resolve() for folder in run_folders}) != len(folders) or len(set(folders)) != len(folders):
            raise ConfigurationError("The same decisions were named twice: name each run once.")
        views = RunViews(folders, default_horizon(folders), name_folders=run_folders)
        try:
            yield views, dict(zip(run_names(folders), prices, strict=True)), runs
        finally:
            views.close()
    finally:
        shutil.rmtree(copies, ignore_errors=True)


def _lengths(text: str) -> tuple[int, int]:
    match = _LENGTHS.fullmatch(text)
    shortest, longest = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not SHORTEST <= shortest <= longest <= LONGEST:
        raise ConfigurationError(f"--length {text}: write a number from {SHORTEST} to {LONGEST}, or two as 2-4")
    return shortest, longest


def _json(analysis: Analysis, chosen: list[Show], *, whole: bool) -> dict[str, Any]:
    if chosen == [Show.ADVICE]:
        return values(analysis, Show.ADVICE)  # the file that a training reads
    result = dict(analysis.overview)
    if whole:
        result["act_on"] = [one.as_dict() for one in headline(analysis)]
        result["observations"] = [one.as_dict() for one in observations(analysis)]
    for show in chosen:
        result |= {key: found for key, found in values(analysis, show).items() if key not in ("version", "runs")}
    return result


def _records(analysis: Analysis, show: Show) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = values(analysis, show)[show.value]
    if show is not Show.SOURCES:
        return found
    return [{"context": place["context"], "best": place["best"], **one} for place in found for one in place["sources"]]


def _show(analysis: Analysis, chosen: list[Show], form: Format, *, whole: bool) -> None:
    introduction = _introduction(analysis)
    runs = ", ".join(analysis.overview["runs"])
    findings: list[list[str]] = []
    seen: list[str] = []
    sections: list[SectionTable] = []
    if analysis.overview["decisions"]:
        findings = [one.lines for one in headline(analysis)] if whole else []
        seen = [" ".join(one.lines) for one in observations(analysis)] if whole else []
        # Even if patterns are too rare, loops, confidence and costs may have findings.
        if whole and not analysis.all_patterns and not highest_frequency(analysis.views, analysis.question):
            sections = [SectionTable("Single patterns", "", [], [], _why_nothing(analysis))]
        else:
            for show in chosen:
                sections += tables(analysis, show, brief=whole)
            for number, section in enumerate(sections):
                if section.title == "Single patterns" and not section.rows:
                    sections[number] = SectionTable(section.title, "", [], [], _why_nothing(analysis))
    if form is Format.HTML:
        typer.echo(html_page(f"How {runs} decides", introduction, findings, seen, sections))
        return
    heading = "## " if form is Format.MARKDOWN else ""
    typer.echo(prose(introduction))
    if findings:
        typer.echo(f"\n{heading}What you could act on\n")
        for number, lines in enumerate(findings, start=1):
            typer.echo(_numbered(number, lines))
    if seen:
        typer.echo(f"\n{heading}What no setting of yours changes\n")
        for text in seen:
            typer.echo(prose(f"- {text}", indent="  "))
    for section in sections:
        typer.echo(f"\n{heading}{section.title}")
        if not section.rows:
            typer.echo("\n" + prose(section.nothing))
            continue
        note = section.note if heading else _note(section)
        if note:
            typer.echo(("\n" if heading else "") + prose(note, indent="  "))
        typer.echo("\n" + write(section.headings, section.rows, form, section.order))
    limit = analysis.question.limit or 0
    if Show.PATTERNS in chosen and sections and len(analysis.all_patterns) > limit:
        typer.echo(f"\nThe first {limit} patterns are shown; --limit shows more.")


def _note(section: SectionTable) -> str:
    """Return the note of a section without the lines about columns that the terminal lacks room for."""
    left_out = headings_left_out(section.headings, section.rows, drop=section.order)
    return "\n".join(line for line in section.note.split("\n") if line.partition(":")[0] not in left_out)


def _numbered(number: int, lines: list[str]) -> str:
    """Return a finding; its command has a separate line, whole, so that it can be copied."""
    shown = []
    for place, line in enumerate(lines):
        words, *command = line.split(": `")
        begin = "   " if place else f"{number}. "
        shown.append(prose(f"{begin}{words}{':' if command else ''}", indent="   "))
        shown += [f"     {one.rstrip('`')}" for one in command]
    return "\n".join(shown)


def _introduction(analysis: Analysis) -> str:
    overview = analysis.overview
    runs = ", ".join(overview["runs"])
    if not overview["decisions"]:
        return f"Run {runs} has no decisions on disk yet: train for a while, then ask again."
    first, last = (overview[key].astimezone().strftime("%Y-%m-%d %H:%M") for key in ("first", "last"))
    counts = {"decision": "decisions", "finished episode": "episodes", "step": "steps"}
    found = [f"{overview[key]:,} {noun}{'' if overview[key] == 1 else 's'}" for noun, key in counts.items()]
    return f"Run {runs}: {', '.join(found)}, recorded from {first} to {last}."


def _why_nothing(analysis: Analysis) -> str:
    question = analysis.question
    most = highest_frequency(analysis.views, question)
    if most:
        return (
            f"No action was taken {question.min_frequency:,} times or more in one situation. "
            f"The most frequent was taken {most:,} times: --min-frequency {most} shows it."
        )
    return "No decision meets all the conditions of --context and --source: leave one out."


def _page_of_rows(sql: str, columns: list[str], rows: list[tuple[Any, ...]]) -> str:
    cells = [["-" if value is None else str(value) for value in row] for row in rows]
    return html_page("Query", "", [], [], [SectionTable("Result", sql, columns, cells, "No rows.")])


def _kept_elsewhere(folder: Path) -> list[Path]:
    """Return the folders of tables in a ``decision_db_path``, or in a run's folder there; empty for a run folder."""
    if not _is_there(folder):
        return []
    kept = folders_of_tables(folder)
    runs = any((one / name).exists() for one in (folder, *kept) for name in _OF_A_RUN)
    return [] if runs else kept


def _is_there(path: Path) -> bool:
    """Return whether a file is there, by a name that may be one which no system takes."""
    try:
        return path.exists()
    except OSError:
        return False
