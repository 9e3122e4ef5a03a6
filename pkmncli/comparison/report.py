"""Output of a comparison as tables for people, Markdown, CSV or JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

from pkmncli.comparison.comparing import Comparison, Estimate
from pkmncli.plurals import counted
from pkmncli.tables import Format, Rows, csv_text, markdown, prose, table

_PROFILE_COLUMNS = 5
"""Number of thresholds shown of a profile."""

_TEXT = frozenset({"runs of", "the one", "the other", "by run", "goal"})
"""Headings of columns with text."""

_DROPPED = ("by run", "mean", "area under curve", "reward in training", "random", "pilot", "goal")
"""Columns that a narrow terminal leaves out, in this order."""


def write(comparison: Comparison, form: Format) -> str:
    """Return a comparison in a format, without a final line break. CSV has the groups alone, JSON everything."""
    if form is Format.JSON:
        return json.dumps(comparison.as_dict(), indent=2, ensure_ascii=False)
    if form is Format.CSV:
        return _csv(comparison)
    render = markdown if form is Format.MARKDOWN else _table

    def said(text: str) -> str:
        return text if form is Format.MARKDOWN else prose(text)

    better = ", lower is better" if comparison.lower_is_better else ""
    several = any(len(group.runs) > 1 for group in comparison.groups)
    intervals = " Intervals of 95%, by resampling the runs of each group." if several else ""
    parts = [said(f"Score: {comparison.score}{better}.{intervals}")]
    parts.append(render(*_groups(comparison)))
    if any(group.learner_alone for group in comparison.groups):
        parts += [
            said("The learner alone, from held-out starts, beside pilot and random play from the same:"),
            render(*_alone(comparison)),
        ]
    if comparison.improvements:
        parts += [
            said("Probability that a run of the first group does better than a run of the second:"),
            render(*_improvements(comparison)),
        ]
    if comparison.has_profile:
        parts += ["Share of the runs with a score above:", render(*_profile(comparison))]
    if comparison.not_evaluated:
        count = counted(len(comparison.not_evaluated), "run")
        apart = "has no evaluation and is" if len(comparison.not_evaluated) == 1 else "have no evaluation and are"
        commands = "\n".join(f"  pkmn eval {shlex.quote(folder)}" for folder in comparison.not_evaluated)
        parts.append(said(f"{count} {apart} not compared. To evaluate:") + f"\n{commands}")
    return "\n\n".join(parts)


def _table(headings: list[str], rows: Rows) -> str:
    """Return a table without the columns that have nothing in any row."""
    kept = [index for index in range(len(headings)) if any(row[index] != "-" for row in rows)]
    headings, rows = [headings[index] for index in kept], [[row[index] for index in kept] for row in rows]
    return table(headings, rows, text=_TEXT, drop=_DROPPED)


def _groups(comparison: Comparison) -> tuple[list[str], Rows]:
    headings = ["runs of", "runs", "interquartile mean", "95%", "mean"]
    gap = any(group.optimality_gap for group in comparison.groups)
    headings += ["gap", "95%"] if gap else []
    headings += ["area under curve", "95%"] if comparison.curve else []
    rows = []
    for group in comparison.groups:
        row = [group.label, str(len(group.runs)), *_cells(group.interquartile_mean), _number(group.mean.value)]
        row += _cells(group.optimality_gap) if gap else []
        row += _cells(group.area_under_curve) if comparison.curve else []
        rows.append([*row, ", ".join(_number(value) for value in group.scores)])
    return [*headings, "by run"], rows


def _alone(comparison: Comparison) -> tuple[list[str], Rows]:
    headings = ["runs of", "runs", "goal", "reached", "95%", "reward alone", "pilot", "random", "reward in training"]
    rows = []
    for group in comparison.groups:
        alone = group.learner_alone
        if alone is None:
            rows.append([group.label, "0", *["-"] * 6, _or_dash(group.training_reward)])
            continue
        shown = ["-"] * 3
        if alone.goal is not None:
            interval = f"{_or_dash(alone.low, _share)} to {_or_dash(alone.high, _share)}"
            shown = [alone.goal, f"{alone.reached} of {alone.episodes}", interval]
        rows.append(
            [
                group.label,
                str(alone.runs),
                *shown,
                _number(alone.reward),
                _or_dash(alone.pilot_share, _share),
                _or_dash(alone.random_share, _share),
                _or_dash(group.training_reward),
            ]
        )
    return headings, rows


def _improvements(comparison: Comparison) -> tuple[list[str], Rows]:
    rows = [[one.group, one.other, *_cells(one.probability, _share)] for one in comparison.improvements]
    return ["the one", "the other", "probability", "95%"], rows


def _profile(comparison: Comparison) -> tuple[list[str], Rows]:
    last = len(comparison.thresholds) - 1
    # The ends are trivial: no score is below the lowest, and none is above the highest.
    shown = [round(last * (number + 1) / (_PROFILE_COLUMNS + 1)) for number in range(_PROFILE_COLUMNS)]
    headings = ["runs of", *(_number(comparison.thresholds[index]) for index in shown)]
    return headings, [[group.label, *(f"{group.profile[index]:.0%}" for index in shown)] for group in comparison.groups]


def _csv(comparison: Comparison) -> str:
    measures = ("interquartile_mean", "mean", "optimality_gap", "area_under_curve")
    heads = [f"{measure}{end}" for measure in measures for end in ("", "_low", "_high")]
    beside = ("reached", "episodes", "low", "high", "reward", "pilot_share", "random_share")
    rows = []
    for group in comparison.groups:
        estimates = [getattr(group, measure) for measure in measures]
        cells = [(None, None, None) if one is None else (one.value, one.low, one.high) for one in estimates]
        alone = [getattr(group.learner_alone, name, None) for name in beside]
        figures = [*(value for cell in cells for value in cell), group.training_reward, *alone]
        rows.append([group.label, len(group.runs), *figures, " ".join(map(str, group.scores))])
    headings = ["group", "runs", *heads, "training_reward", *(f"learner_alone_{name}" for name in beside), "scores"]
    return csv_text(headings, rows)


def _number(value: float) -> str:
    """Return a number with four digits, or all digits before the decimal point if these are more."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _or_dash(value: float | None, shown: Callable[[float], str] = _number) -> str:
    return "-" if value is None else shown(value)


def _share(value: float) -> str:
    return f"{value:.0%}"


def _cells(estimate: Estimate | None, shown: Callable[[float], str] = _number) -> list[str]:
    """Return a value and its interval."""
    if estimate is None:
        return ["-", "-"]
    if estimate.low is None or estimate.high is None:
        return [shown(estimate.value), "-"]
    return [shown(estimate.value), f"{shown(estimate.low)} to {shown(estimate.high)}"]
