"""Common parts of all charts: requirements, colours, curves of a group of runs, and output to a file."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pkmncli.comparison.measures import bootstrap_interval, interquartile_mean
from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING = "a plot needs matplotlib, which is not installed; run: pip install 'pkmncli[plot]'"

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#f0e442", "#888888")
"""Colours that colour-blind readers can tell apart: M. Okabe and K. Ito, "Color universal design", 2008; grey replaces
their black."""

DOTS_PER_INCH = 150
WIDTH_INCHES = 10.0
"""Width of a chart of runs."""

LABEL_COLUMNS = 110
"""Characters that fit in a line of a legend."""
CURVE_POINTS = 100
_CURVE_DRAWS = 2_000

_DARK: dict[Any, Any] = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), "#d6d9de"),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "#16181d"),
}


def check_drawing(option: str, path: Path, suffixes: Sequence[str]) -> None:
    """Make sure that a chart can be drawn, before anything is computed.

    Args:
        option: name of the option that gives the file, for messages.
        path: the file.
        suffixes: allowed suffixes.

    Raises:
        ConfigurationError: the suffix is another one, the folder is missing, or matplotlib is.
    """
    if path.suffix.lower() not in suffixes:
        raise ConfigurationError(f"{option} {path}: write it to a file that ends in {' or '.join(suffixes)}")
    if not path.absolute().parent.is_dir():
        raise ConfigurationError(f"{option} {path}: there is no folder {path.absolute().parent}")
    try:
        import matplotlib  # noqa: F401, PLC0415 - an extra that only plots need
    except ImportError:
        raise ConfigurationError(MISSING) from None


@contextmanager
def chart_style(*, dark: bool = False) -> Iterator[None]:
    """Draw charts in the common style while the context is open. The same data give the same file."""
    from matplotlib import rc_context  # noqa: PLC0415

    style: dict[Any, Any] = {"svg.hashsalt": "pkmncli", "font.size": 9}
    style |= dict.fromkeys(("axes.spines.top", "axes.spines.right"), False)
    with rc_context(style | (_DARK if dark else {})):
        yield


def new_figure(width_inches: float, height_inches: float) -> Any:
    """Return an empty figure, made without pyplot, which would look for a display."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    return Figure(figsize=(width_inches, height_inches), layout="constrained")


def file_of(figure: Any, form: str) -> bytes:
    """Return the content of a figure's file, ``svg`` or ``png``."""
    picture = io.BytesIO()
    dated = {"Date": None} if form == "svg" else {}
    figure.savefig(picture, format=form, dpi=DOTS_PER_INCH, metadata=dated)
    return picture.getvalue()


def colour(number: int) -> str:
    """Return the colour of a group, by its index."""
    return COLOURS[number % len(COLOURS)]


def legend_lines(labels: Sequence[str]) -> int:
    """Return the number of lines that a legend of these groups takes; 0 for one group, which needs none."""
    return sum(len(_label(label)) for label in labels) if len(labels) > 1 else 0


def draw_legend(figure: Any, labels: Sequence[str]) -> None:
    """Draw the groups' numbers, colours and labels below all panels; nothing for one group."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    if len(labels) < 2:
        return
    texts = ["\n".join(_label(f"{number}. {label}")) for number, label in enumerate(labels, start=1)]
    handles = [Line2D([], [], color=colour(number), linewidth=3, label=text) for number, text in enumerate(texts)]
    figure.legend(handles=handles, loc="outside lower left", frameon=False)


def _label(text: str) -> list[str]:
    """Return the lines of a label: at most three, since the settings of many groups would fill the picture."""
    return textwrap.wrap(text, LABEL_COLUMNS, max_lines=3, placeholder=" ...") or [""]


def show_zero(axes: Axes) -> None:
    """Let the vertical axis reach 0, so that noise far from it does not look like progress."""
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0.0), max(high, 0.0))


def draw_curves(
    axes: Axes,
    at: NDArray[np.float64],
    curves: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    number: int,
    label: str,
) -> None:
    """Draw the interquartile mean of a group's curves at some steps, with its interval if there are several curves.

    At a single step it is a point.
    """
    values = np.stack([np.interp(at, steps, found) for steps, found in curves])
    mark = "o" if len(at) == 1 else ""
    axes.plot(at, interquartile_mean(values.T), color=colour(number), label=label, marker=mark, markersize=4)
    if len(values) > 1:
        axes.fill_between(at, *_band(values), color=colour(number), alpha=0.2, linewidth=0)


def _band(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the interval at each point of curves (runs, points); whole curves are resampled, as runs are."""
    numbers = np.arange(len(values))

    def measure(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        return interquartile_mean(values[drawn.astype(np.int64)].swapaxes(1, 2))

    return bootstrap_interval([numbers.astype(np.float64)], measure, draws=_CURVE_DRAWS)
