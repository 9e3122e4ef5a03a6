"""The sections of a report: their findings as headings and cells for people, and as plain values for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pkmn_decisions.advice import advice_document, advise
from pkmn_decisions.analysis import Analysis
from pkmn_decisions.calibration import BINS, Calibration
from pkmn_decisions.changes import compared_parts
from pkmn_decisions.headline import tiles
from pkmn_decisions.names import SOURCE_NAMES, Names
from pkmn_decisions.option_tests import wilson
from pkmn_decisions.patterns import Pattern
from pkmn_decisions.sequences import Sequence as ActionSequence
from pkmn_decisions.significance import LEVEL
from pkmn_decisions.situations import in_words

MARK = "*"
"""Stands beside a difference that is more than chance."""

_BRIEF = 8
"""Most rows of a section but the first in a report of several."""


class Show(StrEnum):
    """A section."""

    PATTERNS = "patterns"
    SOURCES = "sources"
    LOOPS = "loops"
    SEQUENCES = "sequences"
    CHANGES = "changes"
    ADVICE = "advice"


DEFAULT = (Show.PATTERNS, Show.SOURCES, Show.LOOPS, Show.SEQUENCES)


@dataclass(frozen=True, slots=True)
class SectionTable:
    """One table for people."""

    title: str
    note: str
    headings: list[str]
    rows: list[list[str]]
    nothing: str
    """What to say without rows."""


def tables(analysis: Analysis, show: Show, *, brief: bool) -> list[SectionTable]:
    """The tables of a section; where ``brief``, each of a few rows."""
    return _TABLES[show](analysis, _BRIEF if brief else None)


def values(analysis: Analysis, show: Show) -> dict[str, Any]:
    """The findings of a section for programs, by the name of their kind."""
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


def pattern_cells(patterns: Sequence[Pattern], names: Names) -> tuple[list[str], list[list[str]]]:
    """Patterns in words: headings and cells. The situation comes first, then the action and its figures."""
    keys = list(patterns[0].situation) if patterns else []
    shown = [key for key in keys if key not in ("x", "y")]
    if "x" in keys:
        shown.insert(shown.index("map") + 1, "tile")
    headings = [*shown, "action", "times", "success", "95%", "lift", "return", "others", "", "mostly"]
    rows = []
    for pattern in patterns:
        situation, figures = pattern.situation, pattern.figures
        cells = [
            f"{situation['x']},{situation['y']}" if key == "tile" else names.of(key, situation[key]) for key in shown
        ]
        rows.append(
            [
                *cells,
                names.of("action", pattern.action),
                f"{figures.frequency:,}",
                _share(figures.success_rate),
                _interval(figures.interval),
                "-" if figures.lift is None else f"{figures.lift:.2f}",
                _signed(figures.mean_return),
                _signed(figures.others_return),
                MARK if figures.significant else "",
                max(figures.sources, key=lambda name: figures.sources[name]),
            ]
        )
    return headings, rows


def _patterns(analysis: Analysis, brief: int | None) -> list[SectionTable]:
    patterns = analysis.patterns
    headings, rows = pattern_cells(patterns, analysis.views.names)
    following = analysis.views.horizon - 1
    judged = f"the rewards of a decision and the {following} that follow add up to" if following else "its reward is"
    count = sum(one.figures.significant for one in analysis.all_patterns)
    note = (
        f"success: {judged} more than 0; with its 95% interval.\n"
        "lift: that rate over the rate of the other actions in the same situation.\n"
        f"return: mean of those {'sums' if following else 'rewards'}; others: that of the other actions, "
        "with as many goals reached.\n"
        "mostly: who decided most often.\n"
        f"{MARK} return and others differ by more than chance, tested over episodes, at most {LEVEL:.0%} of those "
        f"marked being false; {count:,} of {len(analysis.all_patterns):,} patterns."
    )
    return [SectionTable("Single patterns", note, headings, rows, "")]


def _sources(analysis: Analysis, brief: int | None) -> list[SectionTable]:
    names, limit = analysis.views.names, brief or analysis.question.limit
    rows = []
    for place in analysis.deciders[:limit]:
        where = in_words(place.situation, names)
        for one in place.sources:
            rows.append(
                [
                    where,
                    SOURCE_NAMES[one.number],
                    f"{one.frequency:,}",
                    _share(one.success_rate),
                    _interval(one.interval),
                    _signed(one.mean_return),
                    _signed(one.others_return),
                    MARK if one.significant else "",
                    "best" if SOURCE_NAMES[one.number] == place.best else "",
                ]
            )
            where = ""
    found = [
        SectionTable(
            "Who is right",
            "return: mean sum of rewards after decisions of that one; others: of all others in the same situation,\n"
            "with as many goals reached. Who decides is not drawn by lot: a difference may be one of when they decide.",
            ["situation", "who", "times", "success", "95%", "return", "others", "", ""],
            rows,
            f"In no situation did two of them decide {analysis.question.min_frequency:,} times or more.",
        ),
        SectionTable(
            "Confidence",
            "says: mean confidence; comes: success rate; error: expected calibration error, the mean distance of the\n"
            "two; then the success rate by confidence.",
            ["who", "times", "says", "comes", "error", *_bin_names()],
            [_calibration_row(one) for one in analysis.calibrations],
            "No decision has been judged yet.",
        ),
    ]
    costs = analysis.advice_costs
    if costs:
        found.append(
            SectionTable(
                "What advice cost",
                "Questions to the language model by where they were asked; cached: answered from the cache; useless:\n"
                "no advice could be read from the answer, or something was wrong with it.",
                ["situation", "asked", "cached", "useless", "tokens", "seconds each", "dollars"],
                [
                    [
                        in_words(one.situation, names),
                        f"{one.calls:,}",
                        f"{one.cached:,}",
                        f"{one.useless:,}",
                        f"{one.tokens:,}",
                        "-" if one.latency_s is None else f"{one.latency_s:.2f}",
                        "-" if one.dollars is None else f"{one.dollars:.3f}",
                    ]
                    for one in costs[:limit]
                ],
                "",
            )
        )
    return found


def _bin_names() -> list[str]:
    return [f"{number / BINS:.1f}" for number in range(BINS)]


def _calibration_row(one: Calibration) -> list[str]:
    return [
        one.source,
        f"{one.judged:,}",
        f"{one.confidence:.0%}",
        f"{one.success_rate:.0%}",
        f"{one.error:.2f}",
        *("" if found is None else f"{found.success_rate:.0%}" for found in one.bins),
    ]


def _loops(analysis: Analysis, brief: int | None) -> list[SectionTable]:
    names = analysis.views.names
    total = sum(one.steps for one in analysis.loops)
    share = total / max(analysis.overview["decisions"], 1)
    rows = [
        [
            names.of("map", one.map_id) + tiles(one),
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
        "64 decisions and more among the same few states without a reward. wasted: decisions of all loops there;\n"
        "longest: of one of them, and the episode in which it was. "
        f"In all {total:,} decisions were wasted so, {share:.1%}."
    )
    headings = ["where", "phase", "loops", "wasted", "longest", "in episode", "who", "pressing"]
    return [SectionTable("Loops", note, headings, rows, "No episode went round in circles for 64 decisions or more.")]


def _sequences(analysis: Analysis, brief: int | None) -> list[SectionTable]:
    names = analysis.views.names
    rows = [_sequence_row(one, names) for one in analysis.sequences[: brief or analysis.question.limit]]
    shortest, longest = analysis.lengths
    lengths = f"{shortest}" if shortest == longest else f"{shortest} to {longest}"
    note = (
        f"{lengths} actions in a row, by how much difference they make. success, return: from the last\n"
        "of them on; usual: of all decisions in the situation. A part of a longer run is not shown by itself. "
        "Not tested."
    )
    nothing = f"No {shortest} actions were taken in a row {analysis.question.min_frequency:,} times or more."
    headings = ["situation", "actions", "times", "success", "95%", "usual", "return", "usual"]
    return [SectionTable("Sequences", note, headings, rows, nothing)]


def _sequence_row(one: ActionSequence, names: Names) -> list[str]:
    return [
        in_words(one.situation, names),
        " ".join(names.of("action", action) for action in one.actions),
        f"{one.frequency:,}",
        _share(one.success_rate),
        _interval(wilson(one.successes, one.judged)),
        _share(one.usual_rate),
        _signed(one.mean_return),
        _signed(one.usual_return),
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
        f"Between {before} and {after}: what moved by more than chance. taken: share of the decisions in that\n"
        "situation, and how often it was met; return: mean sum of rewards, and how often the action was taken."
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
    Show.PATTERNS: _patterns,
    Show.SOURCES: _sources,
    Show.LOOPS: _loops,
    Show.SEQUENCES: _sequences,
    Show.CHANGES: _changes,
    Show.ADVICE: _advice,
}


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _interval(value: tuple[float, float] | None) -> str:
    return "-" if value is None else f"{value[0] * 100:.0f}-{value[1]:.0%}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"
