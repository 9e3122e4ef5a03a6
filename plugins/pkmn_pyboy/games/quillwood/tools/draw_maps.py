"""Picture of all maps with their people, for the guide: `python tools/draw_maps.py PICTURE.png`.

Rows of maps in the order of the story; the names are in the guide.
"""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import gfx
from maps import Map, load_maps
from source import HOME, toml
from tilesets import Tileset

CELL = 16
GAP = 6
ROWS = (
    ("fern_trail", "alderbrook", "quill_glade"),
    ("windmoor_road", "tangle_wood", "marrowmere"),
    ("hollow_cave", "highcairn", "still_tarn"),
    ("home_2f", "home_1f", "lab", "rest_house", "thorn_lodge", "marrow_rest", "marrow_shop"),
    ("tide_hall", "cairn_rest", "cairn_shop", "cairn_hall", "hollow_cellar"),
    ("stone_porch", "summit_house", "proving_lobby", "oak_room", "iron_room"),
)
FRAMES = {"wander": "down", "boulder": "down", "right": "left"}

Color = tuple[int, int, int]
Picture = list[list[Color]]


def color(text: str) -> Color:
    """Red, green and blue of six hexadecimal digits."""
    red, green, blue = bytes.fromhex(text)
    return red, green, blue


def draw_cell(picture: Picture, left: int, top: int, cell: gfx.Cell, palettes: list[list[Color]]) -> None:
    """Draw a cell of the ground."""
    for y, row in enumerate(cell.pixels):
        for x, shade in enumerate(row):
            picture[top + y][left + x] = palettes[cell.palettes[y // 8 * 2 + x // 8]][shade]


def draw_person(picture: Picture, left: int, top: int, pixels: gfx.Pixels, colors: list[Color]) -> None:
    """Draw a figure; its lightest shade is clear."""
    for y, row in enumerate(pixels):
        for x, shade in enumerate(row):
            if shade and top + y >= 0:
                picture[top + y][left + x] = colors[shade]


def draw_map(m: Map, cells: dict[str, gfx.Cell], people: dict[str, gfx.Pixels]) -> Picture:
    """Return the picture of a whole map."""
    palettes = toml("palettes.toml")
    ground = [[color(one) for one in row] for row in palettes[m.data["tileset"]]["bg"]]
    cloth = [[color(one) for one in row] for row in palettes["people"]["obj"]]
    picture: Picture = [[(0, 0, 0)] * (m.width * 2 * CELL) for _ in range(m.height * 2 * CELL)]
    for y, row in enumerate(m.data["grid"].strip("\n").split("\n")):
        for x, char in enumerate(row):
            draw_cell(picture, x * CELL, y * CELL, cells[char], ground)
    for person in m.data.get("people", []):
        frame = FRAMES.get(person["movement"], person["movement"])
        pixels = people.get(f"{person['sprite']} {frame}", people[f"{person['sprite']} down"])
        if person["movement"] == "right" and frame == "left":
            pixels = [row[::-1] for row in pixels]
        draw_person(picture, person["x"] * CELL, person["y"] * CELL - 4, pixels, cloth[person["palette"]])
    return picture


def beside(pictures: list[Picture]) -> Picture:
    """Return pictures in a row, on white."""
    height = max(map(len, pictures))
    rows: Picture = [[] for _ in range(height)]
    for picture in pictures:
        width = len(picture[0]) + GAP
        for y in range(height):
            line = picture[y] if y < len(picture) else []
            rows[y] += line + [(255, 255, 255)] * (width - len(line))
    return rows


def write_png(path: Path, picture: Picture) -> None:
    """Write a picture with a palette."""
    colors = sorted({one for row in picture for one in row})
    number = {one: i for i, one in enumerate(colors)}

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(picture[0]), len(picture), 8, 3, 0, 0, 0)
    lines = b"".join(b"\0" + bytes(number[one] for one in row) for row in picture)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"PLTE", b"".join(map(bytes, colors)))
        + chunk(b"IDAT", zlib.compress(lines, 9))
        + chunk(b"IEND", b"")
    )


def main() -> None:
    """Draw the rows below each other."""
    cells = {name: gfx.load_cells(HOME / f"gfx/{name}.txt") for name in ("outdoor", "indoor", "cave")}
    maps = load_maps({name: Tileset(name, found) for name, found in cells.items()})
    people = {heading: gfx.to_pixels(rows, heading) for heading, rows in gfx.blocks(HOME / "gfx/people.txt")}
    missing = set(maps) - {key for row in ROWS for key in row}
    if missing:
        raise SystemExit(f"tools/draw_maps.py: no place for {', '.join(sorted(missing))}")
    rows = [beside([draw_map(maps[key], cells[maps[key].data["tileset"]], people) for key in row]) for row in ROWS]
    width = max(len(row[0]) for row in rows)
    picture: Picture = []
    for row in rows:
        picture += [line + [(255, 255, 255)] * (width - len(line)) for line in row]
        picture += [[(255, 255, 255)] * width for _ in range(GAP)]
    write_png(Path(sys.argv[1]), picture)


if __name__ == "__main__":
    main()
