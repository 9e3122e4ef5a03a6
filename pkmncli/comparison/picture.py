"""Draws a comparison: learning curves, interquartile means, performance profiles, and who does better than whom."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pkmncli.atomic_files import write_atomic
from pkmncli.comparison.comparing import Comparison
from pkmncli.comparison.measures import bootstrap_interval, interquartile_mean
from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".svg", ".png")
MISSING = "a plot needs matplotlib, which is not installed; run: pip install 'pkmncli[plot]'"

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#f0e442", "#000000")
"""Told apart by colour-blind readers too: M. Okabe and K. Ito, "Color universal design", 2008."""

_CURVE_POINTS = 100
_CURVE_DRAWS = 2_000
_DOTS_PER_INCH = 150
_PANEL_WIDTH_INCHES, _PANEL_INCHES = 5.5, 3.8
_BAR_INCHES = 0.4
"""Height that a bar with its name takes at least."""


def check_plot(path: Path) -> None:
    """Makes sure that a plot can be drawn, before anything is computed.

    Raises:
        ConfigurationError: the file is neither SVG nor PNG, its folder is missing, or matplotlib is.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigurationError(f"--plot {path}: write it to a file that ends in {' or '.join(SUFFIXES)}")
    if not path.absolute().parent.is_dir():
        raise ConfigurationError(f"--plot {path}: there is no folder {path.absolute().parent}")
    try:
        import matplotlib  # noqa: F401, PLC0415 - an extra that only plots need
    except ImportError:
        raise ConfigurationError(MISSING) from None


def draw(comparison: Comparison, path: Path) -> None:
    """Writes the plot of a comparison to a file. The same comparison gives the same file.

    Raises:
        RunError: it cannot be written.
    """
    from matplotlib import rc_context  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415 - without pyplot, which would look for a display

    panels: list[Callable[[Comparison, Any], None]] = [_means, _profiles]
    if comparison.curves:
        panels.insert(0, _curves)
    if comparison.improvements:
        panels.append(_improvements)
    with rc_context({"svg.hashsalt": "pkmncli", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        rows = (len(panels) + 1) // 2
        bars = max(len(comparison.groups), len(comparison.improvements))
        height = max(_PANEL_INCHES, _BAR_INCHES * bars)
        figure = Figure(figsize=(2 * _PANEL_WIDTH_INCHES, height * rows), layout="constrained")
        figure.suptitle(f"score: {comparison.score}")
        for number, panel in enumerate(panels):
            panel(comparison, figure.add_subplot(rows, 2, number + 1))
        picture = io.BytesIO()
        form = path.suffix.lower().removeprefix(".")
        dated = {"Date": None} if form == "svg" else {}
        figure.savefig(picture, format=form, dpi=_DOTS_PER_INCH, metadata=dated)
    write_atomic(path, picture.getvalue())


def _curves(comparison: Comparison, axes: Axes) -> None:
    """The interquartile mean of each group's curves, with its interval."""
    assert comparison.curve_steps is not None
    at = np.linspace(*comparison.curve_steps, _CURVE_POINTS)
    for number, (label, curves) in enumerate(comparison.curves.items()):
        values = np.stack([np.interp(at, steps, found) for steps, found in curves])
        colour = _colour(number)
        axes.plot(at, interquartile_mean(values.T), color=colour, label=label)
        if len(values) > 1:
            axes.fill_between(at, *_band(values), color=colour, alpha=0.2, linewidth=0)
    axes.set_xlabel("steps")
    axes.set_ylabel(comparison.curve or "")
    axes.set_title("learning curves, interquartile mean")
    axes.legend(frameon=False)


def _band(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The interval at each point of curves (runs, points): whole curves are drawn, as the runs are."""
    numbers = np.arange(len(values))

    def measure(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        return interquartile_mean(values[drawn.astype(np.int64)].swapaxes(1, 2))

    return bootstrap_interval([numbers.astype(np.float64)], measure, draws=_CURVE_DRAWS)


def _means(comparison: Comparison, axes: Axes) -> None:
    """The interquartile mean of each group, its interval, and a dot for each run."""
    for number, group in enumerate(comparison.groups):
        estimate, colour = group.interquartile_mean, _colour(number)
        if estimate.low is not None and estimate.high is not None:
            axes.barh(number, estimate.high - estimate.low, left=estimate.low, height=0.5, color=colour, alpha=0.3)
        axes.plot([estimate.value] * 2, [number - 0.25, number + 0.25], color=colour, linewidth=2)
        axes.plot(group.scores, [number] * len(group.scores), "o", color=colour, markersize=4, alpha=0.8)
    _name_groups(axes, [group.label for group in comparison.groups])
    axes.set_xlabel("score")
    axes.set_title("interquartile mean, 95% interval, a dot a run")


def _profiles(comparison: Comparison, axes: Axes) -> None:
    """The share of runs above each score."""
    for number, group in enumerate(comparison.groups):
        colour = _colour(number)
        axes.plot(comparison.thresholds, group.profile, drawstyle="steps-post", color=colour, label=group.label)
        band = (group.profile_low, group.profile_high)
        axes.fill_between(comparison.thresholds, *band, step="post", color=colour, alpha=0.15, linewidth=0)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("score")
    axes.set_ylabel("share of runs above")
    axes.set_title("performance profile")
    axes.legend(frameon=False)


def _improvements(comparison: Comparison, axes: Axes) -> None:
    """The chance that a run of one group does better than one of another."""
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


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
