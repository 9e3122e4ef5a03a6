"""The plot of a comparison: learning curves, interquartile means, profiles, and probabilities of improvement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.atomic_files import write_atomic
from pkmncli.comparison.charts import (
    CURVE_POINTS,
    chart_style,
    check_drawing,
    colour,
    draw_curves,
    draw_legend,
    file_of,
    legend_lines,
    new_figure,
    show_zero,
)
from pkmncli.comparison.comparing import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".svg", ".png")

_PANEL_WIDTH_INCHES, _PANEL_INCHES = 5.5, 3.8
_BAR_INCHES = 0.4
"""Minimum height of a bar with its name."""

MOST_BARS = 16
"""Maximum groups, and pairs of groups, that are drawn: a picture has a greatest height."""

_LABEL_INCHES = 0.2


def check_plot(path: Path) -> None:
    """Make sure that a plot can be drawn, before anything is computed.

    Raises:
        ConfigurationError: the file is neither SVG nor PNG, its folder is missing, or matplotlib is missing.
    """
    check_drawing("--plot", path, SUFFIXES)


def draw(comparison: Comparison, path: Path) -> None:
    """Write the plot of a comparison to a file. The same comparison gives the same file.

    Raises:
        RunError: it cannot be written.
    """
    panels: list[Callable[[Comparison, Any], None]] = [_means]
    if comparison.curves:
        panels.insert(0, _curves)
    if comparison.has_profile:
        panels.append(_profiles)
    if comparison.improvements:
        panels.append(_improvements)
    with chart_style():
        columns = min(len(panels), 2)
        rows = (len(panels) + 1) // 2
        bars = min(max(len(comparison.groups), len(comparison.improvements)), MOST_BARS)
        height = max(_PANEL_INCHES, _BAR_INCHES * bars)
        lines = legend_lines([group.label for group in comparison.groups[:MOST_BARS]])
        figure = new_figure(columns * _PANEL_WIDTH_INCHES, height * rows + _LABEL_INCHES * (lines + 2))
        figure.suptitle(f"score: {comparison.score}{_left_out(comparison)}")
        for number, panel in enumerate(panels):
            panel(comparison, figure.add_subplot(rows, columns, number + 1))
        draw_legend(figure, [group.label for group in comparison.groups[:MOST_BARS]])
        write_atomic(path, file_of(figure, path.suffix.lower().removeprefix(".")))


def _left_out(comparison: Comparison) -> str:
    """Return a line that says what is only in the tables, since a picture has a greatest height."""
    found = {"groups": len(comparison.groups), "pairs of groups": len(comparison.improvements)}
    more = [f"{count - MOST_BARS} more {noun}" for noun, count in found.items() if count > MOST_BARS]
    return f"\n{' and '.join(more)} are in the tables alone" if more else ""


def _curves(comparison: Comparison, axes: Axes) -> None:
    """Draw the interquartile mean of each group's curves, with its interval."""
    assert comparison.curve_steps is not None
    at = np.linspace(*comparison.curve_steps, CURVE_POINTS)
    for number, (label, curves) in enumerate(list(comparison.curves.items())[:MOST_BARS]):
        draw_curves(axes, at, curves, number, label)
    axes.set_xlabel("steps")
    axes.set_ylabel(comparison.curve or "")
    axes.set_title("learning curves, interquartile mean")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    show_zero(axes)


def _means(comparison: Comparison, axes: Axes) -> None:
    """Draw the interquartile mean of each group, its interval, and a dot for each run."""
    for number, group in enumerate(comparison.groups[:MOST_BARS]):
        estimate, own = group.interquartile_mean, colour(number)
        if estimate.low is not None and estimate.high is not None:
            axes.barh(number, estimate.high - estimate.low, left=estimate.low, height=0.5, color=own, alpha=0.3)
        axes.plot([estimate.value] * 2, [number - 0.25, number + 0.25], color=own, linewidth=2)
        axes.plot(group.scores, [number] * len(group.scores), "o", color=own, markersize=4, alpha=0.8)
    _name_groups(axes, [str(number + 1) for number in range(len(comparison.groups[:MOST_BARS]))])
    axes.set_xlabel("score")
    axes.set_title("interquartile mean, 95% interval, one dot for each run")


def _profiles(comparison: Comparison, axes: Axes) -> None:
    """Draw the share of runs above each score."""
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415

    for number, group in enumerate(comparison.groups[:MOST_BARS]):
        own = colour(number)
        axes.plot(comparison.thresholds, group.profile, drawstyle="steps-post", color=own, label=group.label)
        band = (group.profile_low, group.profile_high)
        axes.fill_between(comparison.thresholds, *band, step="post", color=own, alpha=0.15, linewidth=0)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("score")
    axes.set_ylabel("share of runs above")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_title("performance profile")


def _improvements(comparison: Comparison, axes: Axes) -> None:
    """Draw the probability that a run of one group does better than one of another."""
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415

    place = {group.label: number for number, group in enumerate(comparison.groups, start=1)}
    shown = comparison.improvements[:MOST_BARS]
    for number, one in enumerate(shown):
        low, high, value = one.probability.low, one.probability.high, one.probability.value
        if low is not None and high is not None:
            axes.barh(number, high - low, left=low, height=0.5, color="#888888", alpha=0.3)
        axes.plot([value] * 2, [number - 0.25, number + 0.25], color="black", linewidth=2)
    _name_groups(axes, [f"{place[one.group]} over {place[one.other]}" for one in shown])
    axes.axvline(0.5, color="#888888", linestyle=":")
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_title("probability of improvement: first over second")


def _name_groups(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
