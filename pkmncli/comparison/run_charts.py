"""Charts of the data of :mod:`pkmncli.comparison.run_plots`: curves, splits, journeys and maps, at most so tall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pkmncli.comparison.charts import (
    CURVE_POINTS,
    WIDTH_INCHES,
    chart_style,
    colour,
    draw_curves,
    draw_legend,
    file_of,
    legend_lines,
    new_figure,
    show_zero,
)
from pkmncli.comparison.compared_runs import LEAST_POINTS
from pkmncli.comparison.map_charts import MOST_MAPS, maps_figure
from pkmncli.comparison.measures import interquartile_mean
from pkmncli.comparison.run_plots import LEVELS, SHARES, TITLES, Plotted, PlottedGroup
from pkmncli.plurals import counted
from pkmncli.training.recording.journey import Journey, Reached

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pkmncli.comparison.compared_runs import Curve

_TALLEST_INCHES = 13.0
"""Maximum height of a chart."""

_MOST_CURVES = 10
"""Maximum metrics of a chart; more make further charts."""

_CURVE_INCHES = 2.6
_MILESTONE_INCHES = 0.26
_LABEL_INCHES = 0.2
_LEVEL_COLOUR = "#888888"
_JOURNEY_INCHES = 0.2
_MINUTE_S, _HOUR_S = 60, 3600
_Time = Callable[["Journey", "Reached"], float | None]
_JOURNEY_TIMES: dict[str, _Time] = {
    "play time": lambda journey, one: None if one.frame is None else one.frame / journey.frames_per_second,
    "time of the training": lambda journey, one: one.elapsed_s,
}
"""Times, in seconds, that milestones are drawn over in addition to steps."""


LEGEND = "Groups"
"""Title of the chart with the colours of the groups."""


class Chart(NamedTuple):
    """A chart with its title and note, drawn as a PNG file for a light or a dark page."""

    title: str
    note: str
    png: Callable[[bool], bytes]


def charts_of(plotted: Plotted) -> Iterator[Chart]:
    """Yield the charts, drawn on demand."""
    if len(plotted.groups) > 1:
        yield Chart(LEGEND, "", partial(_drawn, plotted, legend_figure))
    for first in range(0, len(plotted.metrics), _MOST_CURVES):
        some = replace(plotted, metrics=plotted.metrics[first : first + _MOST_CURVES])
        yield Chart(
            "More curves" if first else "Curves",
            "Interquartile mean over the runs of a group, with the 95% interval of resampled runs; only a line for "
            "one run. The learner alone plays from start states of seeds that training does not use; pilot and "
            "random play are shown as lines. The reward in training is of whichever side decides.",
            partial(_drawn, some, curves_figure),
        )
    if plotted.milestones:
        yield Chart(
            "Milestone splits",
            "Step of its soonest episode at which each run reached a milestone: a dot per run, a bar at the "
            "interquartile mean.",
            partial(_drawn, plotted, splits_figure),
        )
    if plotted.journey_milestones:
        yield Chart(
            "Journey",
            "When the episode of each run that got furthest, ended or not, reached its milestones: by its steps, by "
            "the game's own time, and by the time that the training had taken.",
            partial(_drawn, plotted, journeys_figure),
        )
    for group in plotted.groups:
        if group.tiles:
            yield Chart(
                f"Visited tiles of {group.label}",
                "Steps spent on each tile, over all its runs and episodes; the scale is logarithmic. All maps have the "
                f"same scale.{_maps_left_out(group)}",
                partial(_drawn, plotted, partial(maps_figure, group=group)),
            )


def _maps_left_out(group: PlottedGroup) -> str:
    more = len(group.tiles) - MOST_MAPS
    return f" {counted(more, 'map')} with fewer visits {'is' if more == 1 else 'are'} left out." if more > 0 else ""


def _drawn(plotted: Plotted, draw: Callable[[Plotted], Any], dark: bool) -> bytes:
    with chart_style(dark=dark):
        return file_of(draw(plotted), "png")


def curves_figure(plotted: Plotted) -> Any:
    """Return the figure of metrics over steps."""
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415

    columns = min(2, len(plotted.metrics))
    rows = -(-len(plotted.metrics) // columns)
    figure = new_figure(WIDTH_INCHES, _CURVE_INCHES * rows)
    for place, metric in enumerate(plotted.metrics, start=1):
        axes: Axes = figure.add_subplot(rows, columns, place)
        for number, group in enumerate(plotted.groups):
            _draw_group(axes, group.curves.get(metric, ()), number, group.label)
        if metric in SHARES:
            axes.set_ylim(-0.03, 1.06)
            axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        else:
            show_zero(axes)
        if metric in LEVELS:
            axes.set_xlim(left=0)
        _draw_levels(axes, plotted.levels.get(metric, {}))
        axes.set_title(TITLES.get(metric, metric))
        axes.set_xlabel("steps")
        axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure


def _draw_group(axes: Axes, curves: Sequence[Curve], number: int, label: str) -> None:
    """Draw the curves of a group over the steps that they share; each alone if they share none, and dots for values."""
    lines = [curve for curve in curves if len(curve[0]) >= LEAST_POINTS]
    start, end = max((steps[0] for steps, _ in lines), default=0), min((steps[-1] for steps, _ in lines), default=0)
    if start < end:
        draw_curves(axes, np.linspace(start, end, CURVE_POINTS), lines, number, label)
    else:
        for steps, values in lines:
            draw_curves(axes, steps, [(steps, values)], number, label)
    for steps, values in curves:
        if len(steps) < LEAST_POINTS:
            axes.plot(steps, values, "o", color=colour(number), markersize=4)


def _draw_levels(axes: Axes, levels: Mapping[str, float]) -> None:
    """Draw horizontal lines with their names, to compare a curve with."""
    for (name, level), style in zip(levels.items(), ("--", ":"), strict=False):
        axes.axhline(level, color=_LEVEL_COLOUR, linestyle=style, linewidth=1.2)
        axes.annotate(
            name,
            (1, level),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 2),
            textcoords="offset points",
            ha="right",
            fontsize=7,
            color=_LEVEL_COLOUR,
        )


def splits_figure(plotted: Plotted) -> Any:
    """Return the figure of steps until each milestone."""
    rows = len(plotted.milestones) * min(max(len(plotted.groups), 1), 2)
    figure = new_figure(WIDTH_INCHES, min(1.2 + _MILESTONE_INCHES * rows, _TALLEST_INCHES))
    with_figures = len(plotted.groups) <= 2  # more would lie over each other
    axes: Axes = figure.add_subplot()
    height = 0.8 / len(plotted.groups)
    for number, group in enumerate(plotted.groups):
        for place, name in enumerate(plotted.milestones):
            steps = group.splits.get(name)
            if not steps:
                continue
            at = place - 0.4 + height * (number + 0.5)
            mean = float(interquartile_mean(steps))
            axes.plot([mean] * 2, [at - height / 2.5, at + height / 2.5], color=colour(number), linewidth=2.5)
            axes.plot(steps, [at] * len(steps), "o", color=colour(number), markersize=4, alpha=0.7)
            text = f" {mean:,.0f}" + (f" ({len(steps)} of {len(group.runs)})" if len(steps) < len(group.runs) else "")
            if with_figures:
                axes.annotate(
                    text, (max(steps), at), va="center", fontsize=7, xytext=(4, 0), textcoords="offset points"
                )
    axes.set_yticks(range(len(plotted.milestones)), plotted.milestones)
    axes.set_xlim(left=0)
    axes.margins(x=0.12)
    axes.set_ylim(len(plotted.milestones) - 0.3, -0.7)
    axes.set_xlabel("step of the episode")
    axes.grid(axis="y", alpha=0.2)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure


def journeys_figure(plotted: Plotted) -> Any:
    """Return the figure of how far each run came."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    names = plotted.journey_milestones
    place = {name: number for number, name in enumerate(names)}
    figure = new_figure(WIDTH_INCHES, min(1.3 + _JOURNEY_INCHES * len(names), _TALLEST_INCHES))
    first: Axes | None = None
    scales: list[tuple[str, _Time]] = [("step of the episode", lambda journey, one: one.step)]
    scales += [_in_a_unit_that_fits(title, of, plotted) for title, of in _JOURNEY_TIMES.items()]
    for column, (title, of) in enumerate(scales, start=1):
        axes: Axes = figure.add_subplot(1, len(scales), column, sharey=first)
        for number, group in enumerate(plotted.groups):
            for journey in group.journeys:
                points = [(at, place[one.name]) for one in journey.milestones if (at := of(journey, one)) is not None]
                if points:
                    axes.plot(*zip(*points, strict=True), "o-", color=colour(number), markersize=3.5, linewidth=1.2)
        axes.set_xlabel(title)
        axes.set_xlim(left=0)
        axes.grid(axis="y", alpha=0.2)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        if first is None:
            first = axes
            axes.set_yticks(range(len(names)), names)
            axes.set_ylim(len(names) - 0.3, -0.7)
            axes.xaxis.set_major_formatter("{x:,.0f}")
        else:
            axes.tick_params(labelleft=False)
    return figure


def _in_a_unit_that_fits(title: str, of: _Time, plotted: Plotted) -> tuple[str, _Time]:
    every = [of(journey, one) for group in plotted.groups for journey in group.journeys for one in journey.milestones]
    most = max((seconds for seconds in every if seconds is not None), default=0.0)
    size, unit = (_HOUR_S, "hours") if most >= 2 * _HOUR_S else (_MINUTE_S, "minutes")

    def scaled(journey: Journey, one: Reached) -> float | None:
        seconds = of(journey, one)
        return None if seconds is None else seconds / size

    return f"{title}, {unit}", scaled


def legend_figure(plotted: Plotted) -> Any:
    """Return the figure of the groups' colours and labels."""
    labels = [group.label for group in plotted.groups]
    figure = new_figure(WIDTH_INCHES, _LABEL_INCHES * (legend_lines(labels) + 1))
    draw_legend(figure, labels)
    return figure
