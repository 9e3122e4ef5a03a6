"""Turns data/ and gfx/ into the data banks of the cartridge.

Writes build/data.bin (banks 4 and up), build/data.h (addresses, ids and flags for the C source), names.toml and
tables.toml (where each table lies, for programs that read the image).
"""

from __future__ import annotations

import gfx
import text
from art import build_art
from creatures import build_creatures
from maps import Map, build_maps, load_maps, write_changed_blocks
from names import write_names
from rom import BANK_TEXT, Banks, Table, word
from scripts import OPCODES
from source import HOME, toml
from tilesets import Tileset, build_tilesets

TILESETS = ("outdoor", "indoor", "cave")


def to_macro(name: str) -> str:
    """MapGroupPointers as MAP_GROUP_POINTERS."""
    out = ""
    for i, ch in enumerate(name):
        out += "_" + ch if i and ch.isupper() and not name[i - 1].isupper() else ch
    return out.upper()


def write_header(places: dict[str, tuple[int, int]], named: dict[str, str], maps: dict[str, Map]) -> None:
    """build/data.h."""
    creatures, start = toml("creatures.toml"), toml("game_start.toml")
    lines = ["/* Written by tools/build_data.py: where the tables lie, and the ids of words, flags and creatures. */"]
    for name, (bank, address) in places.items():
        lines += [f"#define BANK_{name} {bank}", f"#define ADDR_{name} 0x{address:04X}"]
    lines += [f"#define TX_{key.upper()} {i}" for i, key in enumerate(named)]
    lines += [f"#define FLAG_{key} {i}" for key, i in toml("flags.toml").items()]
    lines += [f"#define OP_{key.upper()} {i}" for key, i in OPCODES.items()]
    for m in maps.values():
        lines += [f"#define MAP_{m.key.upper()}_GROUP {m.id[0]}", f"#define MAP_{m.key.upper()}_NUMBER {m.id[1]}"]
    lines += [f"#define SPECIES_{s['name']} {i}" for i, s in enumerate(creatures["species"], 1)]
    lines += [f"#define MOVE_ID_{move[0].replace(' ', '_')} {i}" for i, move in enumerate(creatures["moves"], 1)]
    lines += [
        f"#define SPRITE_{name.upper()} {i}" for i, name in enumerate(gfx.load_people(HOME / "gfx/people.txt"), 1)
    ]
    lines += [f"#define NUM_ITEMS {len(toml('items.toml')['item'])}"]
    lines += [f"#define TYPE_{name} {number}" for number, name in creatures["types"]]
    lines += [f"#define NUM_SPAWNS {len(start['spawns'])}", f"#define NUM_SPECIES {len(creatures['species'])}"]
    (HOME / "build/data.h").write_text("\n".join(lines) + "\n")


def write_tables(tables: dict[str, Table]) -> None:
    """tables.toml."""
    lines = ["# Written by tools/build_data.py: the tables of the cartridge image by bank and address.", "[rom_tables]"]
    for name, (bank, address, layout) in tables.items():
        lines.append(f'{name} = {{ bank = 0x{bank:02X}, address = 0x{address:04X}, layout = "{layout}" }}')
    (HOME / "tables.toml").write_text("\n".join(lines) + "\n")


def main() -> None:
    """Build everything."""
    (HOME / "build").mkdir(exist_ok=True)
    banks = Banks()
    named: dict[str, str] = toml("text.toml")
    texts = [text.message(words) for words in named.values()]
    tilesets = {name: Tileset(name, gfx.load_cells(HOME / f"gfx/{name}.txt")) for name in TILESETS}
    maps = load_maps(tilesets)
    tables = build_maps(banks, tilesets, maps, texts) | build_tilesets(banks, tilesets) | build_creatures(banks)
    places = {to_macro(name): (bank, address) for name, (bank, address, _) in tables.items()} | build_art(banks)
    texts_at = [banks.add(BANK_TEXT, f"text {i}", message) for i, message in enumerate(texts)]
    places["TEXTS"] = BANK_TEXT, banks.add(BANK_TEXT, "texts", b"".join(map(word, texts_at)))
    write_header(places, named, maps)
    write_tables(tables)
    write_names(maps)
    write_changed_blocks(maps)
    (HOME / "build/data.bin").write_bytes(banks.image())
    banks.report()


if __name__ == "__main__":
    main()
