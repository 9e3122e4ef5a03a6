"""Turns data/ and gfx/ into the data banks of the cartridge.

Writes build/data.bin (banks 4 and up), build/data.h (addresses, ids and flags for the C source) and
tables.toml (where each table lies, for programs that read the image).
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import gfx  # noqa: E402
import text  # noqa: E402
from rom import FIRST_BANK, Banks, Blob, word  # noqa: E402
from scripts import OPCODES, ScriptCompiler  # noqa: E402

HOME = Path(__file__).resolve().parent.parent
BANK_MAPS, BANK_BLOCKS, BANK_TILESETS, BANK_SCRIPTS = 4, 5, 6, 7
BANK_TEXT, BANK_CREATURES, BANK_PICTURES, BANK_ART = 8, 9, 10, 11
TILES = 192  # of a tileset, half of them in each bank of video memory
MAP_BUFFER = 0xC800
MOVEMENTS = {"wander": 2, "down": 6, "up": 7, "left": 8, "right": 9}
DIRECTIONS = ("north", "south", "west", "east")
CONNECTION_BITS = {"north": 8, "south": 4, "west": 2, "east": 1}


def toml(path: str) -> dict[str, Any]:
    with open(HOME / "data" / path, "rb") as file:
        return tomllib.load(file)


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
        for i, (old, old_palette) in enumerate(zip(self.tiles, self.tile_palettes)):
            if old == data and old_palette == palette and i:
                return i
        self.tiles.append(data)
        self.tile_palettes.append(palette)
        if len(self.tiles) > TILES:
            raise SystemExit(f"{self.name}: more than {TILES} tiles")
        return len(self.tiles) - 1

    def block(self, four: str) -> int:
        """The id of the block whose cells are four characters: upper left, upper right, lower left, lower right."""
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

    def palette_map(self) -> bytes:
        """A nibble per tile: the palette, and 8 for the second bank of video memory."""
        palettes = (self.tile_palettes + [0] * TILES)[:TILES]
        palettes = [p | (8 if i >= TILES // 2 else 0) for i, p in enumerate(palettes)]
        return bytes(palettes[i] | palettes[i + 1] << 4 for i in range(0, TILES, 2))


@dataclass
class Map:
    key: str
    data: dict[str, Any]
    width: int
    height: int
    blocks: bytes
    border: int

    @property
    def id(self) -> tuple[int, int]:
        return self.data["group"], self.data["number"]


def load_maps(tilesets: dict[str, Tileset]) -> dict[str, Map]:
    maps = {}
    for path in sorted((HOME / "data/maps").glob("*.toml")):
        data = toml(f"maps/{path.name}")
        rows = data["grid"].strip("\n").split("\n")
        if len(rows) % 2 or any(len(row) != len(rows[0]) for row in rows) or len(rows[0]) % 2:
            raise SystemExit(f"{path}: the grid must be a rectangle of even sides")
        tileset = tilesets[data["tileset"]]
        ids = bytes(
            tileset.block(rows[y][x : x + 2] + rows[y + 1][x : x + 2])
            for y in range(0, len(rows), 2)
            for x in range(0, len(rows[0]), 2)
        )
        border = tileset.block(data["border"] * 4)
        maps[path.stem] = Map(path.stem, data, len(rows[0]) // 2, len(rows) // 2, ids, border)
    return maps


def connection(here: Map, there: Map, direction: str, offset: int, there_blocks: int) -> bytes:
    """The 12-byte record of a map joined to an edge; offset in blocks along that edge."""
    skip, target = max(0, -(offset + 3)), max(0, offset + 3)
    stride = here.width + 6
    w, h = there.width, there.height
    if direction in ("north", "south"):
        length = min(here.width + 3 - offset, w) - skip
        source = w * (h - 3) + skip if direction == "north" else skip
        place = target if direction == "north" else stride * (here.height + 3) + target
        window = (w + 6) * h + 1 if direction == "north" else w + 7
        y, x = (h * 2 - 1 if direction == "north" else 0), -2 * offset
    else:
        length = min(here.height + 3 - offset, h) - skip
        source = w * skip + (w - 3 if direction == "west" else 0)
        place = stride * target + (here.width + 3 if direction == "east" else 0)
        window = (w + 6) * 2 - 6 if direction == "west" else w + 7
        y, x = -2 * offset, (w * 2 - 1 if direction == "west" else 0)
    head = bytes(there.id) + word(there_blocks + source) + word(MAP_BUFFER + place)
    return head + bytes([length, w, y & 255, x & 255]) + word(MAP_BUFFER + window)


def build_maps(banks: Banks, tilesets: dict[str, Tileset], maps: dict[str, Map], texts: list[bytes]) -> dict[str, Any]:
    flags, scenes = toml("flags.toml"), toml("scenes.toml")
    species = [s["name"] for s in toml("creatures.toml")["species"]]
    sprites = list(gfx.load_people(HOME / "gfx/people.txt"))
    blocks_at = {m.key: banks.add(BANK_BLOCKS, f"blocks of {m.key}", m.blocks) for m in maps.values()}
    tileset_ids = {name: i for i, name in enumerate(tilesets)}
    headers: dict[int, dict[int, bytes]] = {}
    spawns, wild = bytearray(), bytearray()
    for m in maps.values():
        data = m.data
        people = data.get("people", [])
        compiler = ScriptCompiler(m.key, flags, scenes, species, {p["name"]: i + 1 for i, p in enumerate(people)}, maps, texts)
        start = banks.here(BANK_SCRIPTS)
        entry = flags["GAME_STARTED"], data.get("visited", 0)
        scripts_at, code = compiler.compile(data.get("scripts", {}), start + 1)
        # the map script is one byte: the spawn bit to set on entry, 0 for none
        banks.add(BANK_SCRIPTS, f"scripts of {m.key}", bytes([entry[1]]) + code)
        events = Blob(b"\0\0")
        warps, triggers, signs = data.get("warps", []), data.get("triggers", []), data.get("signs", [])
        events.byte(len(warps))
        for warp in warps:
            events.raw(bytes([warp["y"], warp["x"], warp["warp"], *maps[warp["to"]].id]))
        events.byte(len(triggers))
        for t in triggers:
            events.raw(bytes([0xFF, t["y"], t["x"], 0]) + word(scripts_at[t["script"]]) + b"\0\0")
        events.byte(len(signs))
        for s in signs:
            events.raw(bytes([s["y"], s["x"], 0]) + word(scripts_at[s["script"]]))
        events.byte(len(people))
        for p in people:
            radius = p.get("radius", [0, 0])
            events.raw(
                bytes([sprites.index(p["sprite"]) + 1, p["y"] + 4, p["x"] + 4, MOVEMENTS[p["movement"]]])
                + bytes([radius[1] << 4 | radius[0], 0xFF, 0xFF, p["palette"] << 4, 0])
                + word(scripts_at[p["script"]])
                + word(flags[p["hidden"]] if "hidden" in p else 0xFFFF)
            )
        events_at = banks.add(BANK_SCRIPTS, f"events of {m.key}", bytes(events.data))
        joined = data.get("connections", {})
        attributes = Blob(bytes([m.border, m.height, m.width, BANK_BLOCKS]) + word(blocks_at[m.key]))
        attributes.raw(bytes([BANK_SCRIPTS]) + word(start) + word(events_at))
        attributes.byte(sum(CONNECTION_BITS[d] for d in joined))
        for direction in DIRECTIONS:
            if direction in joined:
                there = maps[joined[direction]["map"]]
                attributes.raw(connection(m, there, direction, joined[direction]["offset"], blocks_at[there.key]))
        at = banks.add(BANK_MAPS, f"attributes of {m.key}", bytes(attributes.data))
        group, number = m.id
        headers.setdefault(group, {})[number] = (
            bytes([BANK_MAPS, tileset_ids[data["tileset"]], data["kind"]]) + word(at) + bytes([data["landmark"], 0, 0, 0])
        )
        if "wild" in data:
            slots = b"".join(bytes([level, species.index(name) + 1]) for level, name in data["wild"]["slots"])
            wild += bytes(m.id) + bytes(data["wild"]["rate"]) + slots * 3
    pointers = bytearray()
    for group in range(1, max(headers) + 1):
        rows = headers[group]
        pointers += word(banks.add(BANK_MAPS, f"headers of group {group}", b"".join(rows[n] for n in range(1, max(rows) + 1))))
    groups_at = banks.add(BANK_MAPS, "MapGroupPointers", bytes(pointers))
    for key, x, y in toml("game_start.toml")["spawns"]:
        spawns += bytes([*maps[key].id, x, y])
    return {
        "MapGroupPointers": (BANK_MAPS, groups_at, f"{max(headers)} words, each the address of a group's 9-byte map headers"),
        "SpawnPoints": (BANK_MAPS, banks.add(BANK_MAPS, "SpawnPoints", bytes(spawns)), "4 bytes each: group, number, x, y; from spawn 0"),
        "WildGrass": (BANK_CREATURES, banks.add(BANK_CREATURES, "WildGrass", bytes(wild) + b"\xff"), "47 bytes each, FF ends"),
    }


def build_tilesets(banks: Banks, tilesets: dict[str, Tileset]) -> dict[str, Any]:
    rows = bytearray()
    for t in tilesets.values():
        tiles = banks.add(BANK_TILESETS, f"tiles of {t.name}", b"".join(t.tiles).ljust(TILES * 16, b"\0"), 16)
        blocks = banks.add(BANK_TILESETS, f"blocks of {t.name}", b"".join(t.blocks))
        collision = banks.add(BANK_TILESETS, f"collision of {t.name}", b"".join(t.collisions))
        palettes = banks.add(BANK_TILESETS, f"palette map of {t.name}", t.palette_map())
        for address in (tiles, blocks, collision):
            rows += bytes([BANK_TILESETS]) + word(address)
        rows += word(0) + word(0) + word(palettes)
        print(f"  tileset {t.name}: {len(t.tiles)} tiles, {len(t.blocks)} blocks")
    permission = bytearray(256)
    with open(HOME / "data/collision.toml", "rb") as file:
        classes = tomllib.load(file)
    for value in classes["water"]:
        permission[value] = 0x01
    for value in classes["wall"]:
        permission[value] = 0x0F
    return {
        "Tilesets": (BANK_TILESETS, banks.add(BANK_TILESETS, "Tilesets", bytes(rows)), "15 bytes each, from tileset 0"),
        "CollisionPermissionTable": (
            BANK_TILESETS,
            banks.add(BANK_TILESETS, "CollisionPermissionTable", bytes(permission)),
            "256 bytes: 00 land, 01 water, 0F wall",
        ),
    }


def build_creatures(banks: Banks) -> dict[str, Any]:
    data = toml("creatures.toml")
    types = {name: number for number, name in data["types"]}
    moves = [m[0] for m in data["moves"]]
    percent = lambda value: value * 255 // 100  # noqa: E731
    base, names, learn = bytearray(), bytearray(), []
    for number, s in enumerate(data["species"], 1):
        row = bytes([number, *s["stats"], *(types[t] for t in s["types"]), s["catch"], s["exp"], 0, 0, 0x7F, 100, 20, 5])
        base += row.ljust(22, b"\0") + bytes([0]) + bytes(9)
        names += text.name(s["name"], 10)
        learn.append(b"\0" + b"".join(bytes([level, moves.index(m) + 1]) for level, m in s["moves"]) + b"\0")
    table = [banks.add(BANK_CREATURES, f"learns {i}", row) for i, row in enumerate(learn)]
    move_rows = b"".join(
        bytes([i, effect, power, types[kind], percent(accuracy), pp, percent(chance)])
        for i, (_, effect, power, kind, accuracy, pp, chance) in enumerate(data["moves"], 1)
    )
    chart = b"".join(bytes([types[a], types[d], factor]) for a, d, factor in data["chart"])
    type_names = [banks.add(BANK_CREATURES, f"type {i}", text.name(types_by_id(types).get(i, "-"))) for i in range(28)]
    items = toml("items.toml")["items"]
    stages = [(25, 100), (28, 100), (33, 100), (40, 100), (50, 100), (66, 100), (1, 1), (15, 10), (2, 1), (25, 10), (3, 1), (35, 10), (4, 1)]

    def add(name: str, blob: bytes, layout: str) -> tuple[int, int, str]:
        return BANK_CREATURES, banks.add(BANK_CREATURES, name, blob), layout

    return {
        "BaseData": add("BaseData", bytes(base), "32 bytes per species from id 1; growth is always level cubed"),
        "PokemonNames": add("PokemonNames", bytes(names), "10 bytes per species, padded with 0x50"),
        "EvosAttacks": add("EvosAttacks", b"".join(map(word, table)), "a word per species: evolutions, 0, level and move pairs, 0"),
        "Moves": add("Moves", move_rows, "7 bytes per move from id 1"),
        "MoveNames": add("MoveNames", b"".join(text.name(m) for m in moves), "0x50-ended strings in id order"),
        "ItemNames": add("ItemNames", b"".join(text.name(i) for i in items), "0x50-ended strings in id order"),
        "TypeNames": add("TypeNames", b"".join(map(word, type_names)), "pointers by type id"),
        "TypeMatchups": add("TypeMatchups", chart + b"\xfe\xff", "attacker, defender, factor x10; FE, then FF ends"),
        "StatStages": add("StatStages", b"".join(map(bytes, stages)), "13 pairs numerator, denominator"),
    }


def types_by_id(types: dict[str, int]) -> dict[int, str]:
    return {number: name for name, number in types.items()}


def build_art(banks: Banks) -> dict[str, Any]:
    """Font, people, pictures and palettes; returns addresses for the C source."""
    out: dict[str, Any] = {}
    font = gfx.load_font(HOME / "gfx/font.txt")
    white = gfx.tile_bytes([[1] * 8] * 8, 0, 0)
    letters = [white] * 128
    for char, tile in font.items():
        code = text.SYMBOLS.get(char, text.CHARMAP.get(char, 0x7F))
        if code >= 0x80:
            letters[code - 0x80] = tile
    out["FONT"] = BANK_ART, banks.add(BANK_ART, "font", b"".join(letters), 16)
    frame = dict(gfx.blocks(HOME / "gfx/frame.txt"))
    tiles = [white] * 32
    for heading, rows in frame.items():
        tiles[int(heading.split()[0], 16) - 0x60] = gfx.tile_bytes(gfx.to_pixels(rows, heading), 0, 0)
    out["FRAME"] = BANK_ART, banks.add(BANK_ART, "frame", b"".join(tiles), 16)
    people = gfx.load_people(HOME / "gfx/people.txt")
    out["PEOPLE"] = BANK_ART, banks.add(BANK_ART, "people", b"".join(b"".join(f) for f in people.values()), 16)
    palettes = toml("palettes.toml")
    for name, group in palettes.items():
        words = b"".join(word(gfx.color_word(c)) for row in next(iter(group.values())) for c in row)
        out[f"PAL_{name.upper()}"] = BANK_ART, banks.add(BANK_ART, f"palette {name}", words)
    title = HOME / "gfx/title.txt"
    cells = gfx.load_cells(title) if title.exists() else {}
    _ = cells
    species = toml("creatures.toml")["species"]
    table, colors = bytearray(), bytearray()
    for s in species:
        row = bytearray()
        for view in ("front", "back"):
            path = HOME / f"gfx/creatures/{s['name'].lower()}_{view}.txt"
            side, data = gfx.load_picture(path)
            if side != 5:
                raise SystemExit(f"{path}: not 40x40")
            row += word(banks.add(BANK_PICTURES, path.name, data, 16))
        table += row
        light, dark = (word(gfx.color_word(c)) for c in s["colors"])
        colors += word(gfx.color_word("f8f8f8")) + light + dark + word(gfx.color_word("181820"))
    out["PICTURES"] = BANK_PICTURES, banks.add(BANK_PICTURES, "pictures", bytes(table))
    out["CREATURE_COLORS"] = BANK_PICTURES, banks.add(BANK_PICTURES, "creature colours", bytes(colors))
    return out


def main() -> None:
    (HOME / "build").mkdir(exist_ok=True)
    banks = Banks()
    texts: list[bytes] = []
    named = toml("text.toml")
    for words in named.values():
        texts.append(text.message(words))
    tilesets = {n: Tileset(n, gfx.load_cells(HOME / f"gfx/{n}.txt")) for n in ("outdoor", "indoor")}
    maps = load_maps(tilesets)
    tables = build_maps(banks, tilesets, maps, texts)
    tables |= build_tilesets(banks, tilesets)
    tables |= build_creatures(banks)
    art = build_art(banks)
    texts_at = [banks.add(BANK_TEXT, f"text {i}", t) for i, t in enumerate(texts)]
    art["TEXTS"] = BANK_TEXT, banks.add(BANK_TEXT, "texts", b"".join(map(word, texts_at)))

    header = ["/* Written by tools/build_data.py: where the tables lie, and the ids of words, flags and creatures. */"]
    for name, (bank, address, *_rest) in {**{to_macro(k): v for k, v in tables.items()}, **art}.items():
        header += [f"#define BANK_{name} {bank}", f"#define ADDR_{name} 0x{address:04X}"]
    header += [f"#define TX_{key.upper()} {i}" for i, key in enumerate(named)]
    header += [f"#define FLAG_{key} {i}" for key, i in toml("flags.toml").items()]
    header += [f"#define OP_{key.upper()} {i}" for key, i in OPCODES.items()]
    for m in maps.values():
        header += [f"#define MAP_{m.key.upper()}_GROUP {m.id[0]}", f"#define MAP_{m.key.upper()}_NUMBER {m.id[1]}"]
    creatures = toml("creatures.toml")
    header += [f"#define SPECIES_{s['name']} {i}" for i, s in enumerate(creatures["species"], 1)]
    header += [f"#define TYPE_{name} {number}" for number, name in creatures["types"]]
    start = toml("game_start.toml")
    header += [f"#define NUM_SPAWNS {len(start['spawns'])}"]
    header += [f"#define NUM_SPECIES {len(creatures['species'])}"]
    (HOME / "build/data.h").write_text("\n".join(header) + "\n")
    (HOME / "build/data.bin").write_bytes(banks.image())
    lines = ["# Written by tools/build_data.py: the tables of the cartridge image by bank and address.", "[rom_tables]"]
    for name, (bank, address, layout) in tables.items():
        lines.append(f'{name} = {{ bank = 0x{bank:02X}, address = 0x{address:04X}, layout = "{layout}" }}')
    (HOME / "tables.toml").write_text("\n".join(lines) + "\n")
    write_names(maps)
    banks.report()
    _ = FIRST_BANK


KINDS = {1: "town", 2: "route", 3: "indoor", 4: "cave", 6: "gate", 7: "dungeon"}


def write_names(maps: dict[str, Map]) -> None:
    """names.toml: what the numbers in memory are called."""
    creatures = toml("creatures.toml")

    def table(name: str, comment: str, rows: list[list[Any]]) -> list[str]:
        cells = lambda row: ", ".join(f'"{v}"' if isinstance(v, str) else str(v) for v in row)  # noqa: E731
        return [f"[{name}]", f"# {comment}", "table = [", *(f"  [{cells(row)}]," for row in rows), "]", ""]

    by_id = sorted(maps.values(), key=lambda m: m.id)
    lines = ["# Written by tools/build_data.py: names of the numbers that Quillwood keeps in memory.", ""]
    lines += table("maps", "group, number, name, kind, width and height in blocks of 2x2 tiles", [
        [*m.id, m.data["name"], KINDS[m.data["kind"]], m.width, m.height] for m in by_id
    ])
    lines += table("species", "id, name", [[i, s["name"]] for i, s in enumerate(creatures["species"], 1)])
    lines += table("moves", "id, name", [[i, m[0]] for i, m in enumerate(creatures["moves"], 1)])
    lines += table("types", "id, name", creatures["types"])
    lines += table("items", "id, name", [[i, n] for i, n in enumerate(toml("items.toml")["items"], 1)])
    lines += table("landmarks", "id, name", toml("landmarks.toml")["landmarks"])
    lines += table("event_flags", "index, name", [[i, n] for n, i in toml("flags.toml").items()])
    spawns = [[m.data["visited"], m.data["name"], *m.id] for m in by_id if "visited" in m.data]
    lines += table("visited_towns", "bit of wVisitedSpawns, name, group, number", spawns)
    (HOME / "names.toml").write_text("\n".join(lines).rstrip() + "\n")


def to_macro(name: str) -> str:
    return "".join("_" + ch if ch.isupper() and i and not name[i - 1].isupper() else ch for i, ch in enumerate(name)).upper()


if __name__ == "__main__":
    main()
