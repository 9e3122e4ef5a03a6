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
    file_of,
    new_figure,
)
from pkmncli.comparison.comparing import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".svg", ".png")

_PANEL_WIDTH_INCHES, _PANEL_INCHES = 5.5, 3.8
_BAR_INCHES = 0.4
"""Minimum height of a bar with its name."""


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
    panels: list[Callable[[Comparison, Any], None]] = [_means, _profiles]
    if comparison.curves:
        panels.insert(0, _curves)
    if comparison.improvements:
        panels.append(_improvements)
    with chart_style():
        rows = (len(panels) + 1) // 2
        bars = max(len(comparison.groups), len(comparison.improvements))
        height = max(_PANEL_INCHES, _BAR_INCHES * bars)
        figure = new_figure(2 * _PANEL_WIDTH_INCHES, height * rows)
        figure.suptitle(f"score: {comparison.score}")
        for number, panel in enumerate(panels):
            panel(comparison, figure.add_subplot(rows, 2, number + 1))
        write_atomic(path, file_of(figure, path.suffix.lower().removeprefix(".")))


def _curves(comparison: Comparison, axes: Axes) -> None:
    """Draw the interquartile mean of each group's curves, with its interval."""
    assert comparison.curve_steps is not None
    at = np.linspace(*comparison.curve_steps, CURVE_POINTS)
    for number, (label, curves) in enumerate(comparison.curves.items()):
        draw_curves(axes, at, curves, number, label)
    axes.set_xlabel("steps")
    axes.set_ylabel(comparison.curve or "")
    axes.set_title("learning curves, interquartile mean")
    axes.legend(frameon=False)


def _means(comparison: Comparison, axes: Axes) -> None:
    """Draw the interquartile mean of each group, its interval, and a dot for each run."""
    for number, group in enumerate(comparison.groups):
        estimate, own = group.interquartile_mean, colour(number)
        if estimate.low is not None and estimate.high is not None:
            axes.barh(number, estimate.high - estimate.low, left=estimate.low, height=0.5, color=own, alpha=0.3)
        axes.plot([estimate.value] * 2, [number - 0.25, number + 0.25], color=own, linewidth=2)
        axes.plot(group.scores, [number] * len(group.scores), "o", color=own, markersize=4, alpha=0.8)
    _name_groups(axes, [group.label for group in comparison.groups])
    axes.set_xlabel("score")
    axes.set_title("interquartile mean, 95% interval, a dot per run")


def _profiles(comparison: Comparison, axes: Axes) -> None:
    """Draw the share of runs above each score."""
    for number, group in enumerate(comparison.groups):
        own = colour(number)
        axes.plot(comparison.thresholds, group.profile, drawstyle="steps-post", color=own, label=group.label)
        band = (group.profile_low, group.profile_high)
        axes.fill_between(comparison.thresholds, *band, step="post", color=own, alpha=0.15, linewidth=0)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("score")
    axes.set_ylabel("share of runs above")
    axes.set_title("performance profile")
    axes.legend(frameon=False)


def _improvements(comparison: Comparison, axes: Axes) -> None:
    """Draw the probability that a run of one group does better than one of another."""
    for number, one in enumerate(comparison.improvements):
        low, high, value = one.probability.low, one.probability.high, one.probability.value
        if low is not None and high is not None:
            axes.barh(number, high - low, left=low, height=0.5, color="#888888", alpha=0.3)
        axes.plot([value] * 2, [number - 0.25, number + 0.25], color="black", linewidth=2)
    _name_groups(axes, [f"{one.group}\nagainst {one.other}" for one in comparison.improvements])
    axes.axvline(0.5, color="#888888", linestyle=":")
    axes.set_xlim(0, 1)
    axes.set_title("probability of improvement")


def _name_groups(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
