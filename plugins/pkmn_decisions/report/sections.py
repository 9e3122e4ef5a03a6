"""Sections of a report: their findings as headings and cells for people, and as plain values for programs."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from pkmn_decisions.analysis.advice import advice_document, advise
from pkmn_decisions.analysis.changes import compared_parts
from pkmn_decisions.analysis.findings import Analysis
from pkmn_decisions.analysis.option_tests import wilson
from pkmn_decisions.analysis.sequences import Sequence
from pkmn_decisions.analysis.situations import in_words
from pkmn_decisions.report.pattern_table import patterns_table
from pkmn_decisions.report.section_table import SectionTable, interval, share, signed
from pkmn_decisions.report.source_tables import source_tables
from pkmn_decisions.store.names import Names

_BRIEF = 8
"""Maximum rows of each section but the first in a report of several."""


class Show(StrEnum):
    """Section of a report."""

    PATTERNS = "patterns"
    SOURCES = "sources"
    LOOPS = "loops"
    SEQUENCES = "sequences"
    CHANGES = "changes"
    ADVICE = "advice"


DEFAULT = (Show.PATTERNS, Show.SOURCES, Show.LOOPS, Show.SEQUENCES)


def tables(analysis: Analysis, show: Show, *, brief: bool) -> list[SectionTable]:
    """Return the tables of a section; if ``brief``, each of a few rows."""
    return _TABLES[show](analysis, _BRIEF if brief else None)


def values(analysis: Analysis, show: Show) -> dict[str, Any]:
    """Return the findings of a section for programs, by the name of their kind."""
    names = analysis.views.names
    if show is Show.PATTERNS:
        return {"patterns": [one.as_dict(names) for one in analysis.patterns]}
    if show is Show.SOURCES:
        return {
            "sources": [one.as_dict(names) for one in analysis.deciders[: analysis.question.limit]],
            "calibration": [one.as_dict() for one in analysis.calibrations],
            "advice_costs": [one.as_dict(names) for one in analysis.advice_costs[: analysis.question.limit]],
        }
    if show is Show.LOOPS:
        return {"loops": [one.as_dict(names) for one in analysis.loops[: analysis.question.limit]]}
    if show is Show.SEQUENCES:
        return {"sequences": [one.as_dict(names) for one in analysis.sequences]}
    if show is Show.CHANGES:
        before, after = compared_parts(analysis.views)
        return {"compared": [before, after], "changes": [one.as_dict(names) for one in analysis.changes]}
    return advice_document(analysis, advise(analysis))


def _loops(analysis: Analysis, brief: int | None) -> list[SectionTable]:
    names = analysis.views.names
    total = sum(one.steps for one in analysis.loops)
    wasted = total / max(analysis.overview["decisions"], 1)
    rows = [
        [
            one.in_words(names) or "-",
            names.of("phase", one.phases.most_common(1)[0][0]),
            f"{one.loops:,}",
            f"{one.steps:,}",
            f"{one.longest:,}",
            f"{one.first}, step {one.first_step:,}",
            ", ".join(f"{who} {count / one.steps:.0%}" for who, count in one.sources.most_common(2)),
            ", ".join(
                f"{names.of('action', what)} {count / one.steps:.0%}" for what, count in one.actions.most_common(2)
            ),
        ]
        for one in analysis.loops[: brief or analysis.question.limit]
    ]
    note = (
        "A loop: 64 decisions or more among the same few states without a reward.\n"
        "wasted: decisions of all loops there; longest: those of the longest loop; in episode: where it began.\n"
        f"In all, {total:,} of the decisions ({wasted:.1%}) were in loops."
    )
    headings = ["where", "phase", "loops", "wasted", "longest", "in episode", "who", "actions"]
    nothing = "No episode was in a loop of 64 decisions or more."
    if analysis.question.of_situations:
        nothing = "None of the decisions asked about were part of a loop of 64 decisions or more."
    return [SectionTable("Loops", note, headings, rows, nothing)]


def _sequences(analysis: Analysis, brief: int | None) -> list[SectionTable]:
    names = analysis.views.names
    rows = [_sequence_row(one, names) for one in analysis.sequences[: brief or analysis.question.limit]]
    shortest, longest = analysis.lengths
    lengths = f"{shortest}" if shortest == longest else f"{shortest} to {longest}"
    note = (
        f"{lengths} actions in a row, sorted by the difference that they make. Not tested.\n"
        "success, return: from the last of them on; usual: of all decisions in the situation.\n"
        "A part of a longer sequence is not shown by itself."
    )
    nothing = f"No {shortest} actions were taken in a row {analysis.question.min_frequency:,} times or more."
    headings = ["situation", "actions", "times", "success", "95%", "usual", "return", "usual"]
    return [SectionTable("Sequences", note, headings, rows, nothing)]


def _sequence_row(one: Sequence, names: Names) -> list[str]:
    return [
        in_words(one.situation, names),
        " ".join(names.of("action", action) for action in one.actions),
        f"{one.frequency:,}",
        share(one.success_rate),
        interval(wilson(one.successes, one.judged)),
        share(one.usual_rate),
        signed(one.mean_return),
        signed(one.usual_return),
    ]


def _changes(analysis: Analysis, brief: int | None) -> list[SectionTable]:
    names = analysis.views.names
    before, after = compared_parts(analysis.views)
    rows = [
        [
            in_words(one.situation, names),
            names.of("action", one.action),
            "taken" if one.figure == "share" else "return",
            *(f"{value:.1%}" if one.figure == "share" else f"{value:+.3f}" for value in (one.before, one.after)),
            f"{one.times_before:,}",
            f"{one.times_after:,}",
        ]
        for one in analysis.changes[: brief or analysis.question.limit]
    ]
    note = (
        f"Differences between {before} and {after} by more than chance.\n"
        "taken: share of the decisions in that situation; times: how often the situation occurred.\n"
        "return: mean sum of rewards; times: how often the action was taken."
    )
    nothing = f"Nothing changed by more than chance between {before} and {after}."
    headings = ["situation", "action", "figure", "before", "after", "times before", "times after"]
    return [SectionTable("What changed", note, headings, rows, nothing)]


def _advice(analysis: Analysis, brief: int | None) -> list[SectionTable]:
    names = analysis.views.names
    rows = [[one.audience, in_words(one.situation, names), one.text, one.evidence] for one in advise(analysis)]
    note = "What is significant and can be acted on. With --format json it is a file for `pkmn train --lessons-file`."
    nothing = "Nothing differs by more than chance yet: train for longer."
    return [SectionTable("Advice", note, ["for", "situation", "advice", "evidence"], rows, nothing)]


_TABLES: dict[Show, Callable[[Analysis, int | None], list[SectionTable]]] = {
    Show.PATTERNS: patterns_table,
    Show.SOURCES: source_tables,
    Show.LOOPS: _loops,
    Show.SEQUENCES: _sequences,
    Show.CHANGES: _changes,
    Show.ADVICE: _advice,
}
