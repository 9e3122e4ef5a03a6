"""Charts of the data of :mod:`pkmncli.comparison.run_plots`: curves, splits, and maps of visits."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pkmncli.comparison.charts import (
    CURVE_POINTS,
    chart_style,
    colour,
    draw_curves,
    file_of,
    new_figure,
)
from pkmncli.comparison.measures import interquartile_mean
from pkmncli.comparison.run_plots import LEVELS, SHARES, TITLES, Plotted, PlottedGroup
from pkmncli.training.recording.journey import Journey, Reached

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH_INCHES = 10.0
_CURVE_INCHES = 2.6
_MILESTONE_INCHES = 0.26
_LABEL_INCHES = 0.2
_MAP_INCHES = 2.2
_MAP_COLUMNS = 4
_LABEL_COLUMNS, _TITLE_COLUMNS, _MAP_TITLE_COLUMNS = 110, 90, 32
"""Characters that fit in a line over a figure: of a legend, of a title, of a map's title."""


_LEVEL_COLOUR = "#888888"
_JOURNEY_INCHES = 0.2
_MINUTE_S, _HOUR_S = 60, 3600
_Time = Callable[["Journey", "Reached"], float | None]
_JOURNEY_TIMES: dict[str, _Time] = {
    "play time": lambda journey, one: None if one.frame is None else one.frame / journey.frames_per_second,
    "time of the training": lambda journey, one: one.elapsed_s,
}
"""Times, in seconds, that milestones are drawn over in addition to steps."""


class Chart(NamedTuple):
    """A chart with its title and note, drawn as a PNG file for a light or a dark page."""

    title: str
    note: str
    png: Callable[[bool], bytes]


def charts_of(plotted: Plotted) -> Iterator[Chart]:
    """Yield the charts, drawn on demand."""
    if plotted.metrics:
        yield Chart(
            "Curves",
            "Interquartile mean over the runs of a group, with the 95% interval of resampled runs; only a line for "
            "one run. The learner alone plays from start states of seeds that training does not use; pilot and "
            "random play are shown as lines. The reward in training is of whichever side decides.",
            partial(_drawn, plotted, _curves),
        )
    if plotted.milestones:
        yield Chart(
            "Milestone splits",
            "Step of its soonest episode at which each run reached a milestone: a dot per run, a bar at the "
            "interquartile mean.",
            partial(_drawn, plotted, _splits),
        )
    if plotted.journey_milestones:
        yield Chart(
            "Journey",
            "When the episode of each run that got furthest, ended or not, reached its milestones: by its steps, by "
            "the game's own time, and by the time that the training had taken.",
            partial(_drawn, plotted, _journeys),
        )
    for group in plotted.groups:
        if group.tiles:
            yield Chart(
                f"Visited tiles of {group.label}",
                "Steps spent on each tile, over all its runs and episodes; the scale is logarithmic.",
                partial(_drawn, plotted, partial(_maps, group=group)),
            )


def _drawn(plotted: Plotted, draw: Callable[[Plotted], Any], dark: bool) -> bytes:
    with chart_style(dark=dark):
        return file_of(draw(plotted), "png")


def _curves(plotted: Plotted) -> Any:
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415

    columns = min(2, len(plotted.metrics))
    rows = -(-len(plotted.metrics) // columns)
    figure = new_figure(_WIDTH_INCHES, _CURVE_INCHES * rows + _LABEL_INCHES * _label_lines(plotted))
    for place, metric in enumerate(plotted.metrics, start=1):
        axes: Axes = figure.add_subplot(rows, columns, place)
        for number, group in enumerate(plotted.groups):
            curves = group.curves.get(metric)
            if curves:
                start, end = max(steps[0] for steps, _ in curves), min(steps[-1] for steps, _ in curves)
                if start < end:
                    draw_curves(axes, np.linspace(start, end, CURVE_POINTS), curves, number, group.label)
        if metric in SHARES:
            axes.set_ylim(-0.03, 1.06)
            axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        if metric in LEVELS:
            axes.set_xlim(left=0)
        _draw_levels(axes, plotted.levels.get(metric, {}))
        axes.set_title(TITLES.get(metric, metric))
        axes.set_xlabel("steps")
        axes.xaxis.set_major_formatter("{x:,.0f}")
    _legend(figure, plotted)
    return figure


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


def _splits(plotted: Plotted) -> Any:
    figure = new_figure(
        _WIDTH_INCHES,
        1.2
        + _MILESTONE_INCHES * len(plotted.milestones) * max(len(plotted.groups), 1)
        + _LABEL_INCHES * (_label_lines(plotted) - len(plotted.groups)),
    )
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
            axes.annotate(text, (max(steps), at), va="center", fontsize=7, xytext=(4, 0), textcoords="offset points")
    axes.set_yticks(range(len(plotted.milestones)), plotted.milestones)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.margins(x=0.12)
    axes.set_xlabel("step of the episode")
    axes.grid(axis="y", alpha=0.2)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    _legend(figure, plotted)
    return figure


def _journeys(plotted: Plotted) -> Any:
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    names = plotted.journey_milestones
    place = {name: number for number, name in enumerate(names)}
    labels = 0.0 if len(plotted.groups) < 2 else _LABEL_INCHES * _label_lines(plotted)
    figure = new_figure(_WIDTH_INCHES, 1.3 + _JOURNEY_INCHES * len(names) + labels)
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
            axes.invert_yaxis()
            axes.xaxis.set_major_formatter("{x:,.0f}")
        else:
            axes.tick_params(labelleft=False)
    _legend(figure, plotted)
    return figure


def _in_a_unit_that_fits(title: str, of: _Time, plotted: Plotted) -> tuple[str, _Time]:
    every = [of(journey, one) for group in plotted.groups for journey in group.journeys for one in journey.milestones]
    most = max((seconds for seconds in every if seconds is not None), default=0.0)
    size, unit = (_HOUR_S, "hours") if most >= 2 * _HOUR_S else (_MINUTE_S, "minutes")

    def scaled(journey: Journey, one: Reached) -> float | None:
        seconds = of(journey, one)
        return None if seconds is None else seconds / size

    return f"{title}, {unit}", scaled


def _label_lines(plotted: Plotted) -> int:
    """Return the number of lines that the groups' labels take."""
    return sum(len(textwrap.wrap(group.label, _LABEL_COLUMNS)) or 1 for group in plotted.groups)


def _legend(figure: Any, plotted: Plotted) -> None:
    """Draw the legend above all panels, because labels may be long."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    if len(plotted.groups) > 1:
        labels = [textwrap.fill(group.label, _LABEL_COLUMNS) for group in plotted.groups]
        handles = [Line2D([], [], color=colour(number), label=label) for number, label in enumerate(labels)]
        figure.legend(handles=handles, loc="outside upper left", frameon=False)


def _maps(plotted: Plotted, group: PlottedGroup) -> Any:
    from matplotlib.colors import LogNorm  # noqa: PLC0415
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    by_visits = sorted(group.tiles, key=lambda map_id: -sum(group.tiles[map_id].values()))
    columns = min(_MAP_COLUMNS, len(by_visits))
    rows = -(-len(by_visits) // columns)
    figure = new_figure(_WIDTH_INCHES, _MAP_INCHES * rows + 0.4)
    most = max(visits for tiles in group.tiles.values() for visits in tiles.values())
    image, every = None, []
    for place, map_id in enumerate(by_visits, start=1):
        tiles = group.tiles[map_id]
        visits = np.full((max(y for _, y in tiles) + 1, max(x for x, _ in tiles) + 1), np.nan)
        for (x, y), count in tiles.items():
            visits[y, x] = count
        axes: Axes = figure.add_subplot(rows, columns, place)
        image = axes.imshow(visits, norm=LogNorm(1, max(most, 2)), cmap="viridis", interpolation="nearest")
        name = plotted.map_names.get(map_id, f"map {map_id >> 8}.{map_id & 255}")
        axes.set_title(f"{textwrap.fill(name, _MAP_TITLE_COLUMNS)}\n{len(tiles):,} tiles", fontsize=8)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(4, integer=True))
        axes.tick_params(labelsize=6)
        every.append(axes)
    if len(plotted.groups) > 1:
        figure.suptitle(textwrap.fill(group.label, _TITLE_COLUMNS))
    figure.colorbar(image, ax=every, label="steps", shrink=0.8)
    return figure
