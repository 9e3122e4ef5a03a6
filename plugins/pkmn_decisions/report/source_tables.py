"""Sources, confidence and cost of advice as tables of a report."""

from __future__ import annotations

from pkmn_decisions.analysis.calibration import BINS, Calibration
from pkmn_decisions.analysis.findings import Analysis
from pkmn_decisions.analysis.situations import in_words
from pkmn_decisions.report.section_table import MARK, SectionTable, interval, share, signed
from pkmn_decisions.store.names import SOURCE_NAMES


def source_tables(analysis: Analysis, brief: int | None) -> list[SectionTable]:
    """Return the tables, each of at most ``brief`` rows, or of the question's limit."""
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
                    share(one.success_rate),
                    interval(one.interval),
                    signed(one.mean_return),
                    signed(one.others_return),
                    MARK if one.significant else "",
                    "best" if SOURCE_NAMES[one.number] == place.best else "",
                ]
            )
            where = ""
    found = [
        SectionTable(
            "Who is right",
            "return: mean sum of rewards after its decisions; others: after those of all others in the same situation, "
            "with as many milestones reached.\n"
            "Sources are not random: a difference may come from when each of them decides.",
            ["situation", "who", "times", "success", "95%", "return", "others", "", ""],
            rows,
            f"In no situation did two sources decide {analysis.question.min_frequency:,} times or more.",
        ),
        SectionTable(
            "Confidence",
            "confidence: mean; success: success rate; error: the expected calibration error, their mean distance.\n"
            "0.0 to 0.9: success rate of decisions with a confidence from there on.",
            ["who", "times", "confidence", "success", "error", *_bin_names()],
            [_calibration_row(one) for one in analysis.calibrations],
            "No decision has been judged yet.",
            (*_bin_names(), "error"),
        ),
    ]
    costs = analysis.advice_costs
    if costs:
        found.append(
            SectionTable(
                "What advice cost",
                "Questions to the language model by situation.\n"
                "cached: answered from the cache; useless: no advice could be read from the answer, or there was an "
                "error.",
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
