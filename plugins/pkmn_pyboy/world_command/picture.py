"""Schematic pictures of maps and routes, in plain colours, for any game. Needs Pillow, loaded on first use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.map_symbols import LEDGES, Ground, Look, Thing, ground, things
from pkmn_pyboy.world.records import ENTER, WorldMap
from pkmn_pyboy.world.route import Leg
from pkmn_pyboy.world.tile_rules import STEPS
from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

_PAPER, _INK, _FAINT, _LIGHT = (252, 251, 248), (40, 42, 48), (214, 210, 200), (255, 255, 255)
_MARGIN, _GAP, _TITLE, _TEXT = 24, 28, 24, 15
_WIDEST, _TILE_RANGE = 1600, (6, 20)
_SUFFIXES = (".png", ".gif", ".jpg", ".jpeg", ".webp", ".bmp")


@dataclass(frozen=True, slots=True)
class Part:
    """Map in a picture, with the route on it, and its upper left tile among its neighbours."""

    here: WorldMap
    leg: Leg | None
    x: int
    y: int
    number: int = 0


Region = list[Part]
"""Maps side by side, as they are in the game."""


def check_picture_name(path: Path) -> Path:
    """Return a file name that a picture can be written to. Raises ConfigurationError for others."""
    if path.suffix.lower() not in _SUFFIXES:
        raise ConfigurationError(f"--picture {path}: a picture's name ends in {', '.join(_SUFFIXES)}")
    if path.is_dir():
        raise ConfigurationError(f"--picture {path} is a folder: name a file in it")
    return path


def save_picture(path: Path, world: World, regions: Sequence[Region], title: str) -> tuple[int, int]:
    """Write a picture and return its width and height. Raises ConfigurationError if it cannot be written."""
    picture = _draw(world, regions, title)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.save(path)
    except OSError as error:
        raise ConfigurationError(f"--picture {path} cannot be written: {error.strerror or error}") from None
    return picture.size


def one_map(here: WorldMap) -> list[Region]:
    """Return the region of one map alone."""
    return [[Part(here, None, 0, 0)]]


def along(world: World, legs: Sequence[Leg]) -> list[Region]:
    """Return the maps of a route: maps joined over edges side by side, a new region after each door."""
    regions: list[Region] = []
    before: tuple[Leg, Part] | None = None
    for number, leg in enumerate(legs, 1):
        here = world.map(leg.map_id)
        if here is None:
            continue
        part = Part(here, leg, 0, 0, number)
        if before is not None and before[0].warp == 0 and before[0].press != ENTER and before[0].leads_to is not None:
            last, (dx, dy) = before[0].tiles[-1], STEPS[before[0].press]
            x = before[1].x + last[0] + dx - before[0].leads_to.x
            y = before[1].y + last[1] + dy - before[0].leads_to.y
            part = Part(here, leg, x, y, number)
            if not any(_overlap(part, other) for other in regions[-1]):
                regions[-1].append(part)
                before = leg, part
                continue
            part = Part(here, leg, 0, 0, number)
        regions.append([part])
        before = leg, part
    return regions


def _overlap(one: Part, other: Part) -> bool:
    return (
        one.x < other.x + other.here.width
        and other.x < one.x + one.here.width
        and one.y < other.y + other.here.height
        and other.y < one.y + one.here.height
    )


class _Canvas:
    """Picture of one region."""

    def __init__(self, world: World, region: Region, tile: int) -> None:
        from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 - slow to load, and not needed for text

        self._world = world
        self._tile = tile
        left, top = min(part.x for part in region), min(part.y for part in region)
        right = max(part.x + part.here.width for part in region)
        bottom = max(part.y + part.here.height for part in region)
        self._title_font = ImageFont.load_default(_TEXT)
        self._small_font = ImageFont.load_default(max(8, int(tile * 0.75)))
        self.used: set[Look] = set()
        names = [(part, f"{part.number}. {part.here.name}" if part.number else part.here.name) for part in region]
        widest = max(int(self._title_font.getlength(name)) for _, name in names)
        self.picture: Picture = Image.new(
            "RGB", (max((right - left) * tile, widest) + 2, (bottom - top) * tile + _TITLE + 2), _PAPER
        )
        self._pen: Any = ImageDraw.Draw(self.picture)
        for part, _ in names:
            self._map(part, (part.x - left) * tile + 1, (part.y - top) * tile + _TITLE)
        for index, (part, _) in enumerate(names):
            place = (part.x - left) * tile + 1, (part.y - top) * tile + _TITLE
            self._way(part, *place, first=index == 0, last=index == len(names) - 1)
        for part, name in names:
            self._name(name, (part.x - left) * tile + 1, (part.y - top) * tile + _TITLE, alone=len(names) == 1)

    def _box(self, left: int, top: int, x: int, y: int, inset: float = 0) -> tuple[float, float, float, float]:
        tile, gap = self._tile, inset * self._tile
        return (
            left + x * tile + gap,
            top + y * tile + gap,
            left + (x + 1) * tile - 1 - gap,
            top + (y + 1) * tile - 1 - gap,
        )

    def _map(self, part: Part, left: int, top: int) -> None:
        here, pen, tile = part.here, self._pen, self._tile
        for y in range(here.height):
            for x in range(here.width):
                kind = ground(self._world, here.grid, x, y)
                self.used.add(kind.value)
                pen.rectangle(self._box(left, top, x, y), fill=kind.value.colour)
                if kind in LEDGES:
                    self._arrow(left, top, x, y, LEDGES.index(kind))
                elif kind is Ground.TREE:
                    pen.ellipse(self._box(left, top, x, y, 0.15), fill=(90, 170, 110))
        pen.rectangle((left - 1, top - 1, left + here.width * tile, top + here.height * tile), outline=_INK)
        doors = [(way.x, way.y) for way in self._world.exits(here.map_id) if way.warp]
        for (x, y), thing in things(here, doors).items():
            self._thing(left, top, x, y, thing)

    def _arrow(self, left: int, top: int, x: int, y: int, direction: int) -> None:
        dx, dy = STEPS[direction]
        reach, half = self._tile * 0.3, (self._tile - 1) / 2
        cx, cy = left + x * self._tile + half, top + y * self._tile + half
        self._pen.polygon(
            [
                (cx + dx * reach, cy + dy * reach),
                (cx - dx * reach + dy * reach, cy - dy * reach + dx * reach),
                (cx - dx * reach - dy * reach, cy - dy * reach - dx * reach),
            ],
            fill=(150, 116, 70),
        )

    def _thing(self, left: int, top: int, x: int, y: int, thing: Thing) -> None:
        look, pen = thing.value, self._pen
        self.used.add(look)
        if thing is Thing.DOOR:
            pen.rectangle(self._box(left, top, x, y, 0.1), fill=look.colour)
            return
        if thing in (Thing.SIGN, Thing.HIDDEN, Thing.BOULDER, Thing.ROCK):
            pen.rectangle(self._box(left, top, x, y, 0.2), fill=look.colour)
        else:
            pen.ellipse(self._box(left, top, x, y, 0.06), fill=look.colour)
        if self._tile >= 12 and thing is not Thing.SIGN:
            half = (self._tile - 1) / 2
            middle = (left + x * self._tile + half, top + y * self._tile + half)
            pen.text(middle, look.letter, font=self._small_font, fill=_LIGHT, anchor="mm")

    def _way(self, part: Part, left: int, top: int, *, first: bool, last: bool) -> None:
        if part.leg is None:
            return
        tile, half = self._tile, (self._tile - 1) / 2
        points = [(left + x * tile + half, top + y * tile + half) for x, y in part.leg.tiles]
        if part.leg.press != ENTER and part.leg.leads_to is not None:
            dx, dy = STEPS[part.leg.press]
            reach = tile * 0.6 if last else tile  # onto the first tile of the map beside it
            points.append((points[-1][0] + dx * reach, points[-1][1] + dy * reach))
        self.used.add(Thing.PATH.value)
        width = max(2, tile // 4)
        if len(points) > 1:
            self._pen.line(points, fill=_LIGHT, width=width + 2, joint="curve")
            self._pen.line(points, fill=Thing.PATH.value.colour, width=width, joint="curve")
        radius = tile * 0.42
        ends = [(points[0], _INK)] if first else []
        ends += [(points[-1], Thing.PATH.value.colour)] if last else []
        for (x, y), colour in ends:
            self._pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour, outline=_LIGHT)

    def _name(self, name: str, left: int, top: int, *, alone: bool) -> None:
        pen, font = self._pen, self._title_font
        if alone or top <= _TITLE:
            pen.text((left, top - 5), name, font=font, fill=_INK, anchor="ls")
            return
        # the name of a map with neighbours is inside of it
        width = font.getlength(name)
        pen.rectangle((left + 2, top + 2, left + width + 10, top + 22), fill=_PAPER, outline=_INK)
        pen.text((left + 6, top + 17), name, font=font, fill=_INK, anchor="ls")


def _draw(world: World, regions: Sequence[Region], title: str) -> Picture:
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415

    widest = max(
        max(part.x + part.here.width for part in region) - min(part.x for part in region) for region in regions
    )
    tile = max(_TILE_RANGE[0], min(_TILE_RANGE[1], _WIDEST // widest, 20 if len(regions) == 1 else 12))
    canvases = [_Canvas(world, region, tile) for region in regions]
    places, height, width = _flow([canvas.picture.size for canvas in canvases])
    used = set().union(*(canvas.used for canvas in canvases))
    font, small = ImageFont.load_default(20), ImageFont.load_default(_TEXT)
    width = max(width, int(font.getlength(title)), 520)
    rows = list(_legend_rows(used, small, width))
    bottom = 2 * _MARGIN + 16 + height
    picture = Image.new("RGB", (width + 2 * _MARGIN, bottom + len(rows) * 22 + _MARGIN), _PAPER)
    pen = ImageDraw.Draw(picture)
    pen.text((_MARGIN, _MARGIN), title, font=font, fill=_INK, anchor="lm")
    for canvas, (x, y) in zip(canvases, places, strict=True):
        picture.paste(canvas.picture, (x + _MARGIN, y + _MARGIN + 16))
    for number, row in enumerate(rows):
        for x, look in row:
            y = bottom + number * 22
            pen.rectangle((_MARGIN + x, y, _MARGIN + x + 14, y + 14), fill=look.colour, outline=_FAINT)
            pen.text((_MARGIN + x + 20, y + 12), look.meaning, font=small, fill=_INK, anchor="ls")
    return picture


def _flow(sizes: Sequence[tuple[int, int]]) -> tuple[list[tuple[int, int]], int, int]:
    """Return the places of boxes in rows, and the height and width that they take."""
    places, x, y, row, widest = [], 0, 0, 0, 0
    for width, height in sizes:
        if x and x + width > _WIDEST:
            x, y, row = 0, y + row + _GAP, 0
        places.append((x, y))
        x += width + _GAP
        row = max(row, height)
        widest = max(widest, x - _GAP)
    return places, y + row, widest


def _legend_rows(used: set[Look], font: Any, width: int) -> Iterator[list[tuple[int, Look]]]:
    row: list[tuple[int, Look]] = []
    x = 0
    for look in [*(kind.value for kind in Ground), *(thing.value for thing in Thing)]:
        if look not in used:
            continue
        room = 20 + int(font.getlength(look.meaning)) + 24
        if row and x + room > width:
            yield row
            row, x = [], 0
        row.append((x, look))
        x += room
    if row:
        yield row
