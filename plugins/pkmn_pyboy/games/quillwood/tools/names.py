"""Writes names.toml: what the numbers in memory are called."""

from __future__ import annotations

from typing import Any

from maps import Map
from source import HOME, toml

KINDS = {1: "town", 2: "route", 3: "indoor", 4: "cave", 6: "gate", 7: "dungeon"}
BADGES = ('"Thorn"', '"Tide"', '"Cairn"')


def write_names(maps: dict[str, Map]) -> None:
    """Write the names of maps, species, moves, types, items, places and flags."""
    creatures = toml("creatures.toml")

    def table(name: str, comment: str, rows: list[list[Any]]) -> list[str]:
        written = [", ".join(f'"{v}"' if isinstance(v, str) else str(v) for v in row) for row in rows]
        return [f"[{name}]", f"# {comment}", "table = [", *(f"  [{row}]," for row in written), "]", ""]

    by_id = sorted(maps.values(), key=lambda m: m.id)
    lines = ["# Written by tools/build_data.py: names of the numbers that Quillwood keeps in memory.", ""]
    lines += ["# Badges, bit by bit from the lowest.", f"johto_badges = [{', '.join(BADGES)}]", ""]
    lines += table(
        "maps",
        "group, number, name, kind, width and height in blocks of 2x2 tiles",
        [[*m.id, m.data["name"], KINDS[m.data["kind"]], m.width, m.height] for m in by_id],
    )
    lines += table("species", "id, name", [[i, s["name"]] for i, s in enumerate(creatures["species"], 1)])
    lines += table("moves", "id, name", [[i, m[0]] for i, m in enumerate(creatures["moves"], 1)])
    lines += table("types", "id, name", creatures["types"])
    lines += table("items", "id, name", [[i, n["name"]] for i, n in enumerate(toml("items.toml")["item"], 1)])
    classes = [[i, c["title"] or c["trainers"][0][0]] for i, c in enumerate(toml("trainers.toml")["class"], 1)]
    lines += table("trainer_classes", "id, name", classes)
    lines += table("landmarks", "id, name", toml("landmarks.toml")["landmarks"])
    lines += table("event_flags", "index, name", [[i, n] for n, i in toml("flags.toml").items()])
    spawns = [[m.data["visited"], m.data["name"], *m.id] for m in by_id if "visited" in m.data]
    lines += table("visited_towns", "bit of wVisitedSpawns, name, group, number", spawns)
    (HOME / "names.toml").write_text("\n".join(lines).rstrip() + "\n")
