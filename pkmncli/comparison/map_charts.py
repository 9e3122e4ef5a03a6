"""Chart of the tiles that a group of runs visited, over the maps of the game, all at one scale."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.comparison.charts import LABEL_COLUMNS, WIDTH_INCHES
from pkmncli.comparison.run_plots import Plotted, PlottedGroup, Tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_MAPS = 24
"""Maximum maps of a chart: those with most visits."""

_TALLEST_INCHES = 12.0
_TILE_INCHES = (0.14, 0.02)
"""Largest and smallest edge of a tile."""

_GAP_INCHES, _TITLE_INCHES, _BAR_INCHES, _HEAD_INCHES = 0.25, 0.34, 0.75, 0.45
_TITLE_COLUMNS, _LEAST_WIDTH_INCHES = 22, 1.35
"""Characters of a line of a map's title, and the width that they need."""

_DIMMED = 0.45
"""Brightness of the game's map, so that visits are seen on it, on light and on dark pages."""

_UNKNOWN = (58, 61, 68)
"""Colour of a map of which there is no picture."""

_BRIGHTEST = (0.35, 1.0)
"""Part of the colour map that is bright enough to be seen on the dimmed map."""

_Box = tuple[int, float, float, float, float]
"""Map, and left, top, width and height in inches."""


def shown_maps(tiles: Tiles) -> list[int]:
    """Return the maps that are drawn, those with most visits first."""
    return sorted(tiles, key=lambda map_id: -sum(tiles[map_id].values()))[:MOST_MAPS]


def maps_figure(plotted: Plotted, group: PlottedGroup) -> Any:
    """Return the figure of tiles that one group visited, map by map, each tile as large as any other."""
    from matplotlib import colormaps  # noqa: PLC0415
    from matplotlib.cm import ScalarMappable  # noqa: PLC0415
    from matplotlib.colors import ListedColormap, LogNorm  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    sizes = {map_id: _size(group.tiles[map_id], plotted.map_pictures.get(map_id)) for map_id in shown_maps(group.tiles)}
    boxes, height = _placed(sizes)
    head = _HEAD_INCHES if len(plotted.groups) > 1 else 0.1
    whole = height + head + _BAR_INCHES
    figure = Figure(figsize=(WIDTH_INCHES, whole))
    most = max(visits for map_id in sizes for visits in group.tiles[map_id].values())
    norm, colours = LogNorm(1, max(most, 2)), ListedColormap(colormaps["inferno"](np.linspace(*_BRIGHTEST, 256)))
    for map_id, left, top, width, high in boxes:
        tiles = group.tiles[map_id]
        columns, rows = sizes[map_id]
        axes = figure.add_axes(
            (left / WIDTH_INCHES, 1 - (head + top + high) / whole, width / WIDTH_INCHES, high / whole)
        )
        ground = np.full((rows, columns, 3), _UNKNOWN, np.uint8)
        picture = plotted.map_pictures.get(map_id)
        if picture is not None:
            ground = (picture * _DIMMED).astype(np.uint8)
        visits = np.full((rows, columns), np.nan)
        for (x, y), count in tiles.items():
            if 0 <= y < rows and 0 <= x < columns:
                visits[y, x] = count
        axes.imshow(ground, interpolation="nearest", aspect="auto")
        axes.imshow(visits, norm=norm, cmap=colours, interpolation="nearest", aspect="auto", alpha=0.9)
        axes.set_axis_off()
        name = plotted.map_names.get(map_id, f"map {map_id >> 8}.{map_id & 255}")
        lines = textwrap.wrap(name, _TITLE_COLUMNS, max_lines=1, placeholder="...")
        axes.set_title("\n".join([*lines, f"{len(tiles):,} tiles"]), fontsize=7, loc="left", pad=3)
    if len(plotted.groups) > 1:
        label = textwrap.shorten(group.label, LABEL_COLUMNS, placeholder="...")
        figure.text(0.01, 1 - 0.2 / whole, label, fontsize=9, va="center")
    bar = figure.add_axes((0.3, 0.45 / whole, 0.4, 0.1 / whole))
    figure.colorbar(ScalarMappable(norm, colours), cax=bar, orientation="horizontal").set_label("steps", labelpad=0)
    return figure


def _size(tiles: Mapping[tuple[int, int], int], picture: NDArray[np.uint8] | None) -> tuple[int, int]:
    """Return the columns and rows of a map: those of its picture, else up to the last visited tile."""
    if picture is not None:
        return picture.shape[1], picture.shape[0]
    columns, rows = zip(*tiles, strict=True)
    return max(0, *columns) + 1, max(0, *rows) + 1


def _placed(sizes: Mapping[int, tuple[int, int]]) -> tuple[list[_Box], float]:
    """Return the place of each map, row by row, and the height of all, at the largest scale that has room."""
    largest, smallest = _TILE_INCHES
    for tile in np.linspace(largest, smallest, 25).tolist():
        boxes: list[_Box] = []
        left, top, row = 0.1, 0.0, 0.0
        for map_id, (columns, rows) in sizes.items():
            width, high = columns * tile, rows * tile
            cell = max(width, _LEAST_WIDTH_INCHES)
            if left > 0.1 and left + cell > WIDTH_INCHES - 0.1:
                left, top, row = 0.1, top + row, 0.0
            boxes.append((map_id, left, top + _TITLE_INCHES, width, high))
            left, row = left + cell + _GAP_INCHES, max(row, high + _TITLE_INCHES + 0.1)
        widest = max(columns for columns, _ in sizes.values()) * tile
        if top + row <= _TALLEST_INCHES and widest <= WIDTH_INCHES - 0.2:
            break
    return boxes, top + row
