"""Pixel art kept as text: cells, people, letters, creatures -> Game Boy tiles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SHADES = {".": 0, " ": 0, "-": 1, "o": 2, "#": 3}

Pixels = list[list[int]]


@dataclass
class Cell:
    """Cell of 16x16 pixels in a tileset: its map character, pixels, palettes and collision."""

    char: str
    name: str
    pixels: Pixels
    palettes: list[int]
    collision: int


def blocks(path: Path) -> list[tuple[str, list[str]]]:
    """Return the "@" headings of a drawing file, each with its rows."""
    found: list[tuple[str, list[str]]] = []
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if line.startswith("@ "):
            found.append((line[2:].strip(), []))
        elif line.startswith("=") and " pal=" in line:
            found.append(("alias " + line[1:], []))
        elif line.startswith(";") or not line.strip():
            continue
        elif not found:
            raise SystemExit(f"{path}:{number}: a row before the first heading")
        else:
            found[-1][1].append(line.rstrip())
    return found


def to_pixels(rows: list[str], where: str) -> Pixels:
    """Return rows of shade characters as numbers; every row must be as long as the first."""
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise SystemExit(f"{where}: rows of different length")
    return [[SHADES[ch] for ch in row] for row in rows]


def tile_bytes(pixels: Pixels, x: int, y: int) -> bytes:
    """Return the 16 bytes of the 8x8 tile whose upper left pixel is (x, y)."""
    out = bytearray()
    for row in pixels[y : y + 8]:
        low = high = 0
        for value in row[x : x + 8]:
            low = low << 1 | value & 1
            high = high << 1 | value >> 1
        out += bytes((low, high))
    return bytes(out)


def load_cells(path: Path) -> dict[str, Cell]:
    """Return a tileset's cells by map character."""
    cells: dict[str, Cell] = {}
    for heading, rows in blocks(path):
        if heading.startswith("alias "):
            char, source, *options = heading.split()[1:]
            pixels, name = cells[source].pixels, cells[source].name + "_" + char
        else:
            char, name, *options = heading.split()
            pixels = to_pixels(rows, f"{path}: {heading}")
            if len(pixels) == 8:
                pixels = [row * 2 for row in pixels] * 2
        values = dict(option.split("=") for option in options)
        palettes = [int(p) for p in values["pal"].split(",")]
        cells[char] = Cell(char, name, pixels, palettes * (4 // len(palettes)), int(values["coll"], 16))
    return cells


def load_people(path: Path) -> dict[str, list[bytes]]:
    """Six frames of four tiles (upper left, lower left, upper right, lower right) per sprite."""
    order = ["down", "down_walk", "up", "up_walk", "left", "left_walk"]
    frames: dict[str, dict[str, bytes]] = {}
    for heading, rows in blocks(path):
        sprite, frame = heading.split()
        pixels = to_pixels(rows, f"{path}: {heading}")
        if len(pixels) != 16 or len(pixels[0]) != 16:
            raise SystemExit(f"{path}: {heading}: not 16x16")
        frames.setdefault(sprite, {})[frame] = b"".join(tile_bytes(pixels, x, y) for x in (0, 8) for y in (0, 8))
    return {s: [f.get(name, f["down"]) for name in order] for s, f in frames.items()}


def load_portraits(path: Path) -> dict[str, bytes]:
    """Each person from the front at twice the size, as the tiles of a 40x40 picture, column by column."""
    portraits: dict[str, bytes] = {}
    for heading, rows in blocks(path):
        sprite, frame = heading.split()
        if frame != "down":
            continue
        pixels = [[0] * 40 for _ in range(8)]
        for row in to_pixels(rows, f"{path}: {heading}"):
            wide = [0] * 4 + [value for value in row for _ in range(2)] + [0] * 4
            pixels += [wide, wide]
        portraits[sprite] = b"".join(tile_bytes(pixels, x * 8, y * 8) for x in range(5) for y in range(5))
    return portraits


def load_picture(path: Path) -> tuple[int, bytes]:
    """Return a square picture as (tiles per side, tiles column by column)."""
    rows = [line.rstrip("\n") for line in path.read_text().split("\n") if line and not line.startswith(";")]
    pixels = to_pixels(rows, str(path))
    side = len(pixels) // 8
    if len(pixels) != len(pixels[0]) or len(pixels) % 8:
        raise SystemExit(f"{path}: not a square of whole tiles")
    return side, b"".join(tile_bytes(pixels, x * 8, y * 8) for x in range(side) for y in range(side))


def load_screen(path: Path) -> tuple[bytes, bytes, bytes, int]:
    """Return a picture of whole tiles as (tiles, tile numbers, attributes, rows); at most 192 different tiles."""
    lines = [line for line in path.read_text().split("\n") if line and not line.startswith(";")]
    palettes = [[int(ch) for ch in line[2:]] for line in lines if line.startswith("p ")]
    pixels = to_pixels([line for line in lines if not line.startswith("p ")], str(path))
    tiles: list[bytes] = []
    numbers, attributes = bytearray(), bytearray()
    for row, row_palettes in enumerate(palettes):
        for col, palette in enumerate(row_palettes):
            tile = tile_bytes(pixels, col * 8, row * 8)
            if tile not in tiles:
                tiles.append(tile)
            number = tiles.index(tile)
            numbers.append(number % 96)
            attributes.append(palette | (8 if number >= 96 else 0))
    if len(tiles) > 192:
        raise SystemExit(f"{path}: {len(tiles)} different tiles")
    return b"".join(tiles).ljust(192 * 16, b"\0"), bytes(numbers), bytes(attributes), len(palettes)


def load_font(path: Path) -> dict[str, bytes]:
    """Return letters as tiles in black (shade 3) on white (shade 1)."""
    font: dict[str, bytes] = {}
    for line in path.read_text().split("\n"):
        if not line or line.startswith("; The"):
            continue
        char, *bits = line.split()
        rows = [[1] * 8]
        rows += [([1] + [3 if bit == "1" else 1 for bit in row] + [1, 1])[:8] for row in bits]
        font[char] = tile_bytes(rows, 0, 0)
    return font


def color_word(text: str) -> int:
    """Return an "rrggbb" colour as the 15-bit word of the colour screen."""
    red, green, blue = (int(text[i : i + 2], 16) >> 3 for i in (0, 2, 4))
    return red | green << 5 | blue << 10
