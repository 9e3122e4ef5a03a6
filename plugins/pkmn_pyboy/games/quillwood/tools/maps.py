"""Maps: text grids and TOML become headers, attributes, blocks, events and connections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import gfx
from rom import BANK_BLOCKS, BANK_CREATURES, BANK_MAPS, BANK_SCRIPTS, Banks, Table, word
from scripts import ScriptCompiler
from source import HOME, toml
from tilesets import Tileset

MAP_BUFFER = 0xC800
MOVEMENTS = {"wander": 2, "down": 6, "up": 7, "left": 8, "right": 9, "boulder": 25}
KIND_TRAINER = 2
CONNECTION_BITS = {"north": 8, "south": 4, "west": 2, "east": 1}
CHANGED_MARK = "# Written by tools/build_data.py: blocks that the story changes."
CHANGE_BLOCK, CHANGE_CLEAR, CHANGE_PLACE = 1, 2, 3
"""Kinds of the 7-byte rows that src/map.c runs on entry; 0 ends them."""


@dataclass(frozen=True)
class Change:
    """A block that a map shows while a story flag is set, or while it is not."""

    flag: str
    when_set: bool
    x: int
    y: int
    block: int


@dataclass
class Map:
    """A map file: its data, and its size and blocks."""

    key: str
    data: dict[str, Any]
    width: int
    height: int
    blocks: bytes
    border: int
    changes: tuple[Change, ...] = ()

    @property
    def id(self) -> tuple[int, int]:
        """Group and number."""
        return self.data["group"], self.data["number"]


def load_maps(tilesets: dict[str, Tileset]) -> dict[str, Map]:
    """All map files by name; their blocks go into the tilesets."""
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
        changes = tuple(
            Change(one["flag"], one.get("set", True), one["x"], one["y"], tileset.block(one["block"]))
            for one in data.get("changed", ())
        )
        maps[path.stem] = Map(path.stem, data, len(rows[0]) // 2, len(rows) // 2, ids, border, changes)
    return maps


def connection(here: Map, there: Map, direction: str, offset: int, there_blocks: int) -> bytes:
    """Return the 12-byte record of a map joined to an edge; offset in blocks along that edge."""
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


def events_of(m: Map, maps: dict[str, Map], scripts_at: dict[str, int]) -> bytes:
    """Warps, triggers, signs and people of a map."""
    data, flags = m.data, toml("flags.toml")
    sprites = list(gfx.load_people(HOME / "gfx/people.txt"))
    out = bytearray(2)
    warps, triggers = data.get("warps", []), data.get("triggers", [])
    signs, people = data.get("signs", []), data.get("people", [])
    out.append(len(warps))
    for warp in warps:
        out += bytes([warp["y"], warp["x"], warp["warp"], *maps[warp["to"]].id])
    out.append(len(triggers))
    for t in triggers:
        out += bytes([0xFF, t["y"], t["x"], 0]) + word(scripts_at[t["script"]]) + bytes(2)
    out.append(len(signs))
    for s in signs:
        out += bytes([s["y"], s["x"], 0]) + word(scripts_at[s["script"]])
    out.append(len(people))
    for p in people:
        radius_x, radius_y = p.get("radius", [0, 0])
        sight = p.get("sight", 0)
        kind = KIND_TRAINER if sight else 0
        out += bytes([sprites.index(p["sprite"]) + 1, p["y"] + 4, p["x"] + 4, MOVEMENTS[p["movement"]]])
        out += bytes([radius_y << 4 | radius_x, 0xFF, 0xFF, p["palette"] << 4 | kind, sight])
        out += word(scripts_at[p["script"]]) + word(flags[p["hidden"]] if "hidden" in p else 0xFFFF)
    return bytes(out)


def entry_rows(m: Map, flags: dict[str, int], scenes: dict[str, int]) -> bytes:
    """Return what happens when a map is entered: flags to clear, then blocks by flags, then people by scene bytes."""
    people = {person["name"]: number for number, person in enumerate(m.data.get("people", []), 1)}
    out = bytearray()
    for flag in m.data.get("clears", ()):
        out += bytes([CHANGE_CLEAR]) + word(flags[flag]) + bytes(4)
    for one in m.changes:
        out += bytes([CHANGE_BLOCK]) + word(flags[one.flag]) + bytes([one.when_set, one.x, one.y, one.block])
    for one in m.data.get("placed", ()):
        row = [one["value"], people[one["person"]], one["x"], one["y"]]
        out += bytes([CHANGE_PLACE]) + word(scenes[one["scene"]]) + bytes(row)
    return bytes(out) + b"\0"


def write_changed_blocks(maps: dict[str, Map]) -> None:
    """Write the [[changed]] tables of world.toml, below its mark: blocks by story flags, as entry rows set them."""
    flags = toml("flags.toml")

    def blocks(changes: Iterable[Change]) -> str:
        return "[" + ", ".join(f"{{ x = {one.x}, y = {one.y}, block = {one.block} }}" for one in changes) + "]"

    lines = []
    for m in sorted((one for one in maps.values() if one.changes), key=lambda one: one.id):
        events = dict.fromkeys(one.flag for one in m.changes)
        always = [one for one in m.changes if not one.when_set]
        lines += ["", "[[changed]]", f"map = [{m.id[0]}, {m.id[1]}]"]
        lines += [f"always = {blocks(always)}"] if always else []
        for event in events:
            alone = [one for one in m.changes if (one.flag == event) == one.when_set]
            lines += ["[[changed.with]]", f"event = {flags[event]}", f"blocks = {blocks(alone)}"]
    path = HOME / "world.toml"
    head = path.read_text().split(CHANGED_MARK)[0].rstrip()
    path.write_text("\n".join([head, "", CHANGED_MARK, *lines]) + "\n")


def build_map(banks: Banks, m: Map, maps: dict[str, Map], blocks_at: dict[str, int], texts: list[bytes]) -> int:
    """Scripts, events and attributes of a map; returns the address of its attributes."""
    start = banks.here(BANK_SCRIPTS)
    # the map script: the spawn bit to set on entry, 0 for none, then rows of what else happens
    entry = bytes([m.data.get("visited", 0)]) + entry_rows(m, toml("flags.toml"), toml("scenes.toml"))
    scripts_at, code = ScriptCompiler(m, maps, texts).compile(start + len(entry))
    banks.add(BANK_SCRIPTS, f"scripts of {m.key}", entry + code)
    events_at = banks.add(BANK_SCRIPTS, f"events of {m.key}", events_of(m, maps, scripts_at))
    joined = m.data.get("connections", {})
    out = bytes([m.border, m.height, m.width, BANK_BLOCKS]) + word(blocks_at[m.key])
    out += bytes([BANK_SCRIPTS]) + word(start) + word(events_at)
    out += bytes([sum(CONNECTION_BITS[d] for d in joined)])
    for direction in CONNECTION_BITS:
        if direction in joined:
            there = maps[joined[direction]["map"]]
            out += connection(m, there, direction, joined[direction]["offset"], blocks_at[there.key])
    return banks.add(BANK_MAPS, f"attributes of {m.key}", out)


def build_maps(
    banks: Banks, tilesets: dict[str, Tileset], maps: dict[str, Map], texts: list[bytes]
) -> dict[str, Table]:
    """Add everything about the maps; the words of their scripts go to the end of texts."""
    species = [s["name"] for s in toml("creatures.toml")["species"]]
    tileset_ids = {name: i for i, name in enumerate(tilesets)}
    blocks_at = {m.key: banks.add(BANK_BLOCKS, f"blocks of {m.key}", m.blocks) for m in maps.values()}
    headers: dict[int, dict[int, bytes]] = {}
    spawns, wild, wild_water, pointers = bytearray(), bytearray(), bytearray(), bytearray()
    for m in maps.values():
        attributes_at = build_map(banks, m, maps, blocks_at, texts)
        head = bytes([BANK_MAPS, tileset_ids[m.data["tileset"]], m.data["kind"]])
        head += word(attributes_at) + bytes([m.data["landmark"], 0, 0, 0])
        headers.setdefault(m.id[0], {})[m.id[1]] = head
        if "wild" in m.data:
            by_day, by_night = (
                b"".join(bytes([level, species.index(name) + 1]) for level, name in slots)
                for slots in (m.data["wild"]["slots"], m.data["wild"].get("night", m.data["wild"]["slots"]))
            )
            wild += bytes(m.id) + bytes(m.data["wild"]["rate"]) + by_day * 2 + by_night
        if "wild_water" in m.data:
            slots = b"".join(bytes([lv, species.index(name) + 1]) for lv, name in m.data["wild_water"]["slots"])
            wild_water += bytes([*m.id, m.data["wild_water"]["rate"]]) + slots
    for group in range(1, max(headers) + 1):
        rows = headers[group]
        listed = b"".join(rows[number] for number in range(1, max(rows) + 1))
        pointers += word(banks.add(BANK_MAPS, f"headers of group {group}", listed))
    for key, x, y in toml("game_start.toml")["spawns"]:
        spawns += bytes([*maps[key].id, x, y])
    wild.append(0xFF)
    wild_water.append(0xFF)

    def add(bank: int, name: str, data: bytearray, layout: str) -> Table:
        return bank, banks.add(bank, name, bytes(data)), layout

    groups = f"{max(headers)} words, each the address of a group's 9-byte map headers"
    return {
        "MapGroupPointers": add(BANK_MAPS, "MapGroupPointers", pointers, groups),
        "SpawnPoints": add(BANK_MAPS, "SpawnPoints", spawns, "4 bytes each: group, number, x, y; from spawn 0"),
        "WildGrass": add(BANK_CREATURES, "WildGrass", wild, "47 bytes each, FF ends"),
        "WildWater": add(BANK_CREATURES, "WildWater", wild_water, "9 bytes each, FF ends"),
    }
