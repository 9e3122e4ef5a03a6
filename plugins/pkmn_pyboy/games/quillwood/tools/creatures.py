"""Species, moves, types and items become the tables that battles read."""

from __future__ import annotations

from typing import Any

import text
from rom import BANK_CREATURES, Banks, Table, word
from source import toml

# numerator and denominator of the stat stages 1 to 13
STAGES = [(25, 100), (28, 100), (33, 100), (40, 100), (50, 100), (66, 100), (1, 1)]
STAGES += [(15, 10), (2, 1), (25, 10), (3, 1), (35, 10), (4, 1)]
# the same for accuracy and evasion
ACCURACY_STAGES = [(33, 100), (36, 100), (43, 100), (50, 100), (60, 100), (75, 100), (1, 1)]
ACCURACY_STAGES += [(133, 100), (166, 100), (2, 1), (233, 100), (133, 50), (3, 1)]


GROWTH = {"medium": 0, "fast": 4, "slow": 5}
KINDS = {"none": 0, "ball": 1, "heal": 2, "cure": 3, "revive": 4, "lesson": 5}
POCKETS = {"items": 1, "key": 2, "balls": 3, "lessons": 4}
LESSONS = 57  # places in the pocket of the lessons


def trainer(row: list[Any], species: list[str]) -> bytes:
    """Return a trainer: name, 0 for a plain party, level and species pairs, FF."""
    name, *members = row
    pairs = b"".join(bytes([level, species.index(kind) + 1]) for level, kind in members)
    return text.name(name) + b"\0" + pairs + b"\xff"


def percent(value: int) -> int:
    """Return a chance in percent as a number of 255."""
    return value * 255 // 100


def build_creatures(banks: Banks) -> dict[str, Table]:
    """Species, moves, types, items."""
    data = toml("creatures.toml")
    type_names: dict[int, str] = dict(data["types"])
    types = {name: number for number, name in type_names.items()}
    moves = [m[0] for m in data["moves"]]
    species = [s["name"] for s in data["species"]]
    items = toml("items.toml")
    lessons = {i["power"]: i["teaches"] for i in items["item"] if i["kind"] == "lesson"}
    base, names = bytearray(), bytearray()
    learn: list[bytes] = []
    for number, s in enumerate(data["species"], 1):
        row = bytes([number, *s["stats"], *(types[t] for t in s["types"]), s["catch"], s["exp"]])
        base += row.ljust(22, b"\0") + bytes([GROWTH[s.get("growth", "medium")]]) + bytes(1)
        base += sum(1 << place for place, move in lessons.items() if move in s.get("lessons", [])).to_bytes(8, "little")
        names += text.name(s["name"], 10)
        becomes = bytes([1, s["evolves"][0], species.index(s["evolves"][1]) + 1]) if "evolves" in s else b""
        learn.append(becomes + b"\0" + b"".join(bytes([level, moves.index(m) + 1]) for level, m in s["moves"]) + b"\0")
    learned_at = [banks.add(BANK_CREATURES, f"learns {i}", row) for i, row in enumerate(learn)]
    move_rows = b"".join(
        bytes([i, effect, power, types[kind], percent(accuracy), pp, percent(chance)])
        for i, (_, effect, power, kind, accuracy, pp, chance) in enumerate(data["moves"], 1)
    )
    chart = b"".join(bytes([types[a], types[d], factor]) for a, d, factor in data["chart"])
    names_at = [banks.add(BANK_CREATURES, f"type {i}", text.name(type_names.get(i, "-"))) for i in range(28)]
    rows = items["item"]
    attributes = b"".join(
        word(i["price"]) + bytes([KINDS[i["kind"]], i["power"], 0, POCKETS[i["pocket"]], 0]) for i in rows
    )
    item_names = [i["name"] for i in rows]
    shops = [
        banks.add(BANK_CREATURES, f"shop {name}", bytes([len(sold), *(item_names.index(i) + 1 for i in sold), 0xFF]))
        for name, sold in items["shops"].items()
    ]
    trainers = toml("trainers.toml")
    groups = [
        banks.add(BANK_CREATURES, f"trainers {c['name']}", b"".join(trainer(t, species) for t in c["trainers"]))
        for c in trainers["class"]
    ]
    rewards = bytes(c["reward"] for c in trainers["class"])
    titles = b"".join(text.name(c["title"]) for c in trainers["class"])

    def add(name: str, blob: bytes, layout: str) -> Table:
        return BANK_CREATURES, banks.add(BANK_CREATURES, name, blob), layout

    pointers = b"".join(map(word, learned_at))
    taught = bytes(moves.index(lessons[place]) + 1 if place in lessons else 0 for place in range(LESSONS)) + bytes(1)
    return {
        "BaseData": add(
            "BaseData",
            bytes(base),
            "32 bytes per species from id 1; 22 rate of growth, 24 on a bit per lesson",
        ),
        "PokemonNames": add("PokemonNames", bytes(names), "10 bytes per species, padded with 0x50"),
        "EvosAttacks": add("EvosAttacks", pointers, "a word per species: evolutions, 0, level, move pairs, 0"),
        "Moves": add("Moves", move_rows, "7 bytes per move from id 1"),
        "TMHMMoves": add("TMHMMoves", taught, "the move of each lesson by its place in the pocket, 0 for none; 0 ends"),
        "MoveNames": add("MoveNames", b"".join(text.name(m) for m in moves), "0x50-ended strings in id order"),
        "ItemNames": add("ItemNames", b"".join(map(text.name, item_names)), "0x50-ended strings in id order"),
        "ItemAttributes": add("ItemAttributes", attributes, "7 bytes per item: price, kind, power, 0, pocket, 0"),
        "Marts": add("Marts", b"".join(map(word, shops)), "a word per shop; there: count, items, FF"),
        "TrainerGroups": add("TrainerGroups", b"".join(map(word, groups)), "a word per class; there trainers in order"),
        "TrainerClassNames": add("TrainerClassNames", titles, "0x50-ended strings in class order"),
        "TrainerRewards": add("TrainerRewards", rewards, "a byte per class: prize money per level of the last foe"),
        "TypeNames": add("TypeNames", b"".join(map(word, names_at)), "pointers by type id"),
        "TypeMatchups": add("TypeMatchups", chart + b"\xfe\xff", "attacker, defender, factor x10; FE, then FF ends"),
        "StatStages": add("StatStages", b"".join(map(bytes, STAGES)), "13 pairs numerator, denominator"),
        "AccuracyStages": add(
            "AccuracyStages",
            b"".join(map(bytes, ACCURACY_STAGES)),
            "13 pairs numerator, denominator; evasion turned round",
        ),
    }
