"""Output of a comparison as tables for people, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from enum import StrEnum

from pkmncli.comparison.comparing import Comparison, Estimate

_PROFILE_COLUMNS = 5
"""Number of thresholds shown of a profile."""

_WIDTH_WITHOUT_TERMINAL = 160

Rows = list[list[str]]


class Format(StrEnum):
    """Format of a comparison."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def write(comparison: Comparison, form: Format) -> str:
    """Return a comparison in a format, without a final line break. CSV has the groups alone, JSON everything."""
    if form is Format.JSON:
        return json.dumps(comparison.as_dict(), indent=2, ensure_ascii=False)
    if form is Format.CSV:
        return _csv(comparison)
    render = _markdown if form is Format.MARKDOWN else _table
    better = ", lower is better" if comparison.lower_is_better else ""
    parts = [f"Score: {comparison.score}{better}. Intervals of 95%, by resampling the runs of each group."]
    parts.append(render(*_groups(comparison)))
    if any(group.learner_alone for group in comparison.groups):
        parts += [
            "The learner alone, from held-out starts, beside pilot and random play from the same:",
            render(*_alone(comparison)),
        ]
    if comparison.improvements:
        parts += [
            "Probability that a run of the first group does better than a run of the second:",
            render(*_improvements(comparison)),
        ]
    parts += ["Share of the runs with a score above:", render(*_profile(comparison))]
    return "\n\n".join(parts)


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
        reached = [alone.goal, f"{alone.reached} of {alone.episodes}", f"{alone.low:.0%} to {alone.high:.0%}"]
        rows.append(
            [
                group.label,
                str(alone.runs),
                *(["-"] * 3 if alone.goal is None else map(str, reached)),
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
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    measures = ("interquartile_mean", "mean", "optimality_gap", "area_under_curve")
    heads = [f"{measure}{end}" for measure in measures for end in ("", "_low", "_high")]
    beside = ("reached", "episodes", "low", "high", "reward", "pilot_share", "random_share")
    writer.writerow(
        ["group", "runs", *heads, "training_reward", *(f"learner_alone_{name}" for name in beside), "scores"]
    )
    for group in comparison.groups:
        estimates = [getattr(group, measure) for measure in measures]
        cells = [("", "", "") if one is None else (one.value, one.low, one.high) for one in estimates]
        figures = ["" if value is None else value for cell in cells for value in cell]
        alone = [getattr(group.learner_alone, name, None) for name in beside]
        plain = ["" if value is None else value for value in (group.training_reward, *alone)]
        writer.writerow([group.label, len(group.runs), *figures, *plain, " ".join(map(str, group.scores))])
    return text.getvalue().rstrip("\n")


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


def _markdown(headings: Sequence[str], rows: Rows) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _table(headings: Sequence[str], rows: Rows) -> str:
    from rich import box  # noqa: PLC0415 - only this format needs it
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for index, heading in enumerate(headings):
        text = heading in {"runs of", "the one", "the other", "by run", "95%", "goal"}
        table.add_column(Text(heading), justify="left" if text else "right", overflow="fold", no_wrap=index > 0)
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH_WITHOUT_TERMINAL
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))
