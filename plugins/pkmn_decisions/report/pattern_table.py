"""Single patterns as a table of a report."""

from __future__ import annotations

from collections.abc import Sequence

from pkmn_decisions.analysis.findings import Analysis
from pkmn_decisions.analysis.option_tests import Option
from pkmn_decisions.analysis.patterns import Pattern
from pkmn_decisions.analysis.significance import LEVEL
from pkmn_decisions.report.section_table import MARK, SectionTable, interval, share, signed
from pkmn_decisions.store.names import OUTCOME_NAMES, Names
from pkmncli.api import DECISION_HORIZON, Consequence

LEADS_TO = f"leads to: what most often came of it within {DECISION_HORIZON} decisions.\n"
DROP = ("leads to", "lift", "battle", "mostly", "95%", "others", "phase", "times", "return", "")
"""Columns that a narrow terminal leaves out, in this order."""
NOTHING = OUTCOME_NAMES[Consequence.NOTHING]


def pattern_cells(patterns: Sequence[Pattern], names: Names) -> tuple[list[str], list[list[str]]]:
    """Patterns in words: headings and cells. The situation comes first, then the action and its figures."""
    keys = list(patterns[0].situation) if patterns else []
    shown = [key for key in keys if key not in ("x", "y")]
    if "x" in keys:
        shown.insert(shown.index("map") + 1, "tile")
    headings = [*shown, "action", "times", "success", "95%", "lift", "return", "others", "", "mostly"]
    has_outcomes = any(name != NOTHING for one in patterns for name in one.figures.outcomes)
    headings += ["leads to"] if has_outcomes else []
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
                share(figures.success_rate),
                interval(figures.interval),
                "-" if figures.lift is None else f"{figures.lift:.2f}",
                signed(figures.mean_return),
                signed(figures.others_return),
                MARK if figures.significant else "",
                max(figures.sources, key=lambda name: figures.sources[name]),
                *([_leads_to(figures)] if has_outcomes else []),
            ]
        )
    return headings, rows


def _leads_to(figures: Option) -> str:
    most = max(figures.outcomes, key=lambda name: figures.outcomes[name])
    return f"{most.replace('_', ' ')} {share(figures.outcomes[most] / figures.frequency)}"


def patterns_table(analysis: Analysis, brief: int | None) -> list[SectionTable]:
    """Return as many patterns as the question asks for; ``brief`` has no effect."""
    patterns = analysis.patterns
    headings, rows = pattern_cells(patterns, analysis.views.names)
    following = analysis.views.horizon - 1
    judged = f"the rewards of a decision and the {following} that follow add up to" if following else "its reward is"
    count = sum(one.figures.significant for one in analysis.all_patterns)
    note = (
        f"success: {judged} more than 0; with its 95% interval.\n"
        "lift: that rate over the rate of the other actions in the same situation.\n"
        f"return: mean of those {'sums' if following else 'rewards'}; others: that of the other actions, "
        "with as many milestones reached.\n"
        f"mostly: who decided most often.\n{LEADS_TO if 'leads to' in headings else ''}"
        f"{MARK} return and others differ by more than chance: {count:,} of {len(analysis.all_patterns):,} patterns. "
        f"Tested over episodes; about {LEVEL:.0%} of those marked are false at most."
    )
    return [SectionTable("Single patterns", note, headings, rows, "", DROP)]
