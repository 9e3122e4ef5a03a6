"""Plot of a report: patterns with the largest difference, sources of decisions, confidence and outcome, loops."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from pkmn_decisions.analysis.findings import Analysis
from pkmn_decisions.analysis.situations import in_words
from pkmn_decisions.store.names import SOURCE_NAMES
from pkmncli.errors import ConfigurationError, RunError

SUFFIXES = (".svg", ".png")
MISSING = "a plot needs matplotlib, which is not installed; run: pip install 'pkmncli[plot]'"

COLOURS = {"rl": "#0072b2", "explore": "#56b4e9", "rule": "#009e73", "llm": "#d55e00"}
"""Colours that colour-blind readers can distinguish: M. Okabe and K. Ito, "Color universal design", 2008."""

_BETTER, _WORSE = "#009e73", "#d55e00"
_MOST_BARS = 10
_DOTS_PER_INCH = 150
_PANEL_INCHES = (6.5, 4.5)


def check_plot(path: Path) -> None:
    """Check that a plot can be drawn, before anything is computed.

    Raises:
        ConfigurationError: the file is neither SVG nor PNG, its folder is missing, or matplotlib is.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigurationError(f"--plot {path}: write it to a file that ends in {' or '.join(SUFFIXES)}")
    if not path.absolute().parent.is_dir():
        raise ConfigurationError(f"--plot {path}: there is no folder {path.absolute().parent}")
    try:
        import matplotlib  # noqa: F401, PLC0415 - an extra for plots only
    except ImportError:
        raise ConfigurationError(MISSING) from None


def draw(analysis: Analysis, path: Path) -> None:
    """Write the plot to a file, which appears complete.

    Raises:
        RunError: it cannot be written.
    """
    from matplotlib import rc_context  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415 - without pyplot, which would need a display

    with rc_context({"svg.hashsalt": "pkmncli", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        found = {_patterns: analysis.weighty_patterns, _deciders: analysis.deciders, _loops: analysis.loops}
        panels = [panel for panel in (_patterns, _deciders, _calibration, _loops) if found.get(panel, True)]
        columns, rows = min(len(panels), 2), -(-len(panels) // 2)
        figure = Figure(figsize=(columns * _PANEL_INCHES[0], rows * _PANEL_INCHES[1]), layout="constrained")
        figure.suptitle(", ".join(analysis.overview["runs"]))
        for number, panel in enumerate(panels, start=1):
            panel(analysis, figure.add_subplot(rows, columns, number))
        picture = io.BytesIO()
        form = path.suffix.lower().removeprefix(".")
        figure.savefig(picture, format=form, dpi=_DOTS_PER_INCH, metadata={"Date": None} if form == "svg" else {})
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_bytes(picture.getvalue())
        temporary.replace(path)
    except OSError as error:
        raise RunError(f"The plot cannot be written to {path}: {error.strerror}.") from error


def _patterns(analysis: Analysis, axes: Any) -> None:
    names = analysis.views.names
    shown = analysis.weighty_patterns[:_MOST_BARS]
    differences = [one.figures.difference or 0.0 for one in shown]
    colours = [_BETTER if value > 0 else _WORSE for value in differences]
    axes.barh(range(len(shown)), differences, color=colours)
    labels = [f"{names.of('action', one.action)}: {in_words(one.situation, names)}" for one in shown]
    _name_bars(axes, labels, "return against the other actions there")
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_title("actions that differ by more than chance")


def _deciders(analysis: Analysis, axes: Any) -> None:
    names = analysis.views.names
    shown = analysis.deciders[:_MOST_BARS]
    for row, place in enumerate(shown):
        for one in place.sources:
            source = SOURCE_NAMES[one.number]
            filled = "full" if one.significant else "none"
            axes.plot(one.mean_return, row, "o", color=COLOURS[source], fillstyle=filled, markersize=7)
    met = {SOURCE_NAMES[one.number] for place in shown for one in place.sources}
    for source in [name for name in COLOURS if name in met]:
        axes.plot([], [], "o", color=COLOURS[source], label=source)
    _name_bars(axes, [in_words(place.situation, names) for place in shown], "return (filled: differs from the others)")
    _legend(axes)
    axes.set_title("who decides best")


def _calibration(analysis: Analysis, axes: Any) -> None:
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415

    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle="--")
    for one in analysis.calibrations:
        bins = [found for found in one.bins if found]
        said, came = [found.confidence for found in bins], [found.success_rate for found in bins]
        label = f"{one.source}, error {one.error:.2f}"
        axes.plot(said, came, "o-", color=COLOURS.get(one.source, "grey"), label=label, markersize=4)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("confidence")
    axes.set_ylabel("success rate")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1.0))
    _legend(axes)
    axes.set_title("confidence and outcome")


def _loops(analysis: Analysis, axes: Any) -> None:
    names = analysis.views.names
    shown = analysis.loops[:_MOST_BARS]
    left = [0.0] * len(shown)
    for source, colour in COLOURS.items():
        counts = [one.sources[source] for one in shown]
        if any(counts):
            axes.barh(range(len(shown)), counts, left=left, color=colour, label=source)
        left = [start + count for start, count in zip(left, counts, strict=True)]
    _name_bars(axes, [one.in_words(names) or "-" for one in shown], "decisions wasted")
    _legend(axes)
    axes.set_title("loops")


def _legend(axes: Any) -> None:
    """Draw the legend below the panel, so that it hides nothing."""
    axes.legend(frameon=False, loc="upper right", bbox_to_anchor=(1, -0.14), ncols=4, columnspacing=1)


def _name_bars(axes: Any, labels: list[str], meaning: str) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlabel(meaning)
