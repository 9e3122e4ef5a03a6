"""Tilesets: the cells of a drawing file become tiles, and fours of cells become blocks."""

from __future__ import annotations

from dataclasses import dataclass, field

import gfx
from rom import BANK_DRAWN_BLOCKS, BANK_TILESETS, Banks, Table, word
from source import toml

THICKET, GRASS = "H", "."
TILES = 192  # of a tileset, half of them in each bank of video memory


@dataclass
class Tileset:
    """Cells of one drawing file, and the blocks and tiles the maps need of them."""

    name: str
    cells: dict[str, gfx.Cell]
    tiles: list[bytes] = field(default_factory=lambda: [bytes(16)])
    tile_palettes: list[int] = field(default_factory=lambda: [0])
    blocks: list[bytes] = field(default_factory=lambda: [bytes(16)])
    collisions: list[bytes] = field(default_factory=lambda: [bytes([0xFF] * 4)])
    block_ids: dict[str, int] = field(default_factory=dict)

    def tile(self, data: bytes, palette: int) -> int:
        """Return the number of a tile in a palette; tile 0 stays blank."""
        for i in range(1, len(self.tiles)):
            if self.tiles[i] == data and self.tile_palettes[i] == palette:
                return i
        self.tiles.append(data)
        self.tile_palettes.append(palette)
        if len(self.tiles) > TILES:
            raise SystemExit(f"{self.name}: more than {TILES} tiles")
        return len(self.tiles) - 1

    def block(self, four: str) -> int:
        """Return the id of a block by the characters of its cells: upper left, upper right, lower left, lower right."""
        if four not in self.block_ids:
            tiles = bytearray(16)
            for index, char in enumerate(four):
                cell = self.cells[char]
                for part in range(4):
                    x, y = part % 2, part // 2
                    place = (index // 2 * 2 + y) * 4 + index % 2 * 2 + x
                    tiles[place] = self.tile(gfx.tile_bytes(cell.pixels, x * 8, y * 8), cell.palettes[part])
            self.blocks.append(bytes(tiles))
            self.collisions.append(bytes(self.cells[char].collision for char in four))
            self.block_ids[four] = len(self.blocks) - 1
            if len(self.blocks) > 256:
                raise SystemExit(f"{self.name}: more than 255 blocks")
        return self.block_ids[four]

    def cut_blocks(self) -> bytes:
        """Return pairs of a block with thickets and the same block without; 0 ends them."""
        thickets = [four for four in self.block_ids if THICKET in four]
        pairs = b"".join(bytes([self.block(four), self.block(four.replace(THICKET, GRASS))]) for four in thickets)
        return pairs + b"\0"

    def drawn_blocks(self) -> bytes:
        """Return the blocks as the game draws them: eight bytes a cell, in the order that takes the fewest steps.

        Tiles upper left, upper right, lower right, lower left, then attributes lower left, lower right, upper right,
        upper left. Tiles of the second bank of video memory have the same numbers as those of the first.
        """
        drawn = bytearray()
        for block in self.blocks:
            for corner in (0, 2, 8, 10):
                upper_left, upper_right, lower_left, lower_right = (block[corner + i] for i in (0, 1, 4, 5))
                drawn += bytes(t % (TILES // 2) for t in (upper_left, upper_right, lower_right, lower_left))
                drawn += bytes(map(self.attribute, (lower_left, lower_right, upper_right, upper_left)))
        return bytes(drawn)

    def attribute(self, tile: int) -> int:
        """Return a tile's palette, and 8 for the second bank of video memory."""
        return self.tile_palettes[tile] | (8 if tile >= TILES // 2 else 0)

    def palette_map(self) -> bytes:
        """Return a nibble per tile: the palette, and 8 for the second bank of video memory."""
        palettes = (self.tile_palettes + [0] * TILES)[:TILES]
        palettes = [p | (8 if i >= TILES // 2 else 0) for i, p in enumerate(palettes)]
        return bytes(palettes[i] | palettes[i + 1] << 4 for i in range(0, TILES, 2))


def build_tilesets(banks: Banks, tilesets: dict[str, Tileset]) -> dict[str, Table]:
    """Add the tilesets and what their collision values mean."""
    rows = bytearray()
    cut_at = [banks.add(BANK_TILESETS, f"cut blocks of {t.name}", t.cut_blocks()) for t in tilesets.values()]
    for t in tilesets.values():
        tiles = banks.add(BANK_TILESETS, f"tiles of {t.name}", b"".join(t.tiles).ljust(TILES * 16, b"\0"), 16)
        blocks = banks.add(BANK_TILESETS, f"blocks of {t.name}", b"".join(t.blocks))
        collision = banks.add(BANK_TILESETS, f"collision of {t.name}", b"".join(t.collisions))
        drawn = banks.add(BANK_DRAWN_BLOCKS, f"drawn blocks of {t.name}", t.drawn_blocks(), 32)
        palettes = banks.add(BANK_TILESETS, f"palette map of {t.name}", t.palette_map())
        for address in (tiles, blocks, collision):
            rows += bytes([BANK_TILESETS]) + word(address)
        rows += word(0) + word(drawn) + word(palettes)
        print(f"  tileset {t.name}: {len(t.tiles)} tiles, {len(t.blocks)} blocks")
    permission = bytearray(256)
    classes = toml("collision.toml")
    for value in classes["water"]:
        permission[value] = 0x01
    for value in classes["wall"]:
        permission[value] = 0x0F
    cut = banks.add(BANK_TILESETS, "CutBlocks", b"".join(map(word, cut_at)))
    return {
        "CutBlocks": (
            BANK_TILESETS,
            cut,
            "a word per tileset: pairs of a block and what cutting leaves, 0 ends",
        ),
        "Tilesets": (BANK_TILESETS, banks.add(BANK_TILESETS, "Tilesets", bytes(rows)), "15 bytes each, from tileset 0"),
        "CollisionPermissionTable": (
            BANK_TILESETS,
            banks.add(BANK_TILESETS, "CollisionPermissionTable", bytes(permission)),
            "256 bytes: 00 land, 01 water, 0F wall",
        ),
    }
