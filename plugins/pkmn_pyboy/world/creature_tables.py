"""Readers of species, moves, items and machines. Each table ends where its entries become invalid."""

from __future__ import annotations

from pkmn_pyboy.profile.model import Names
from pkmn_pyboy.rules_gen2.records import Evolution, EvolutionKind, GrowthRate, Item, MoveData, Species
from pkmn_pyboy.rules_gen2.slots import HIDDEN_MACHINES, MACHINES
from pkmn_pyboy.world.image import Image, OutOfImage

_SPECIES_BYTES, _MOVE_BYTES, _ITEM_BYTES, _GROWTH_BYTES = 32, 7, 7, 4
_CHART_END, _CHART_SECOND_PART = 0xFF, 0xFE
_MACHINE_BITS, _GROWTH_PLACE = slice(24, 32), 22
_MOST_LEVEL = 100
_MOST_LIST = 64
_ALL_MACHINES = MACHINES + HIDDEN_MACHINES


def read_species(image: Image, names: Names) -> dict[int, Species]:
    """Return all species by number."""
    table = image.table("BaseData")
    if table is None:
        return {}
    growing = read_growing(image)
    found = {}
    for number in range(1, min(image.room(table.offset) // _SPECIES_BYTES, 0xFF) + 1):
        row = image.take(table.offset + (number - 1) * _SPECIES_BYTES, _SPECIES_BYTES)
        if row[0] != number:
            break
        bits = int.from_bytes(row[_MACHINE_BITS], "little")
        evolutions, learns = growing.get(number, ((), ()))
        hp, attack, defense, speed, special_attack, special_defense = row[1:7]
        found[number] = Species(
            number,
            names.species.get(number, f"species {number}"),
            hp,
            attack,
            defense,
            speed,
            special_attack,
            special_defense,
            (row[7], row[8]),
            row[9],
            row[10],
            (row[11], row[12]),
            row[_GROWTH_PLACE],
            frozenset(place for place in range(64) if bits >> place & 1),
            evolutions,
            learns,
        )
    return found


def read_growing(image: Image) -> dict[int, tuple[tuple[Evolution, ...], tuple[tuple[int, int], ...]]]:
    """Return evolutions, and levels with the moves learned at them, by species."""
    table = image.table("EvosAttacks")
    if table is None:
        return {}
    found = {}
    for number, place in enumerate(image.pointer_list(table), 1):
        try:
            evolutions, start = _evolutions(image, place)
            found[number] = evolutions, _learns(image, start)
        except (OutOfImage, ValueError):
            continue
    return found


def _evolutions(image: Image, place: int) -> tuple[tuple[Evolution, ...], int]:
    found: list[Evolution] = []
    while (kind := image.byte(place)) != 0:
        if len(found) >= _MOST_LIST:
            raise OutOfImage("a list of evolutions without an end")
        if EvolutionKind(kind) is EvolutionKind.STAT:
            level, comparison, species = image.take(place + 1, 3)
            found.append(Evolution(EvolutionKind.STAT, level, species, comparison))
            place += 4
        else:
            parameter, species = image.take(place + 1, 2)
            found.append(Evolution(EvolutionKind(kind), parameter, species))
            place += 3
    return tuple(found), place + 1


def _learns(image: Image, place: int) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    while (level := image.byte(place)) != 0:
        if level > _MOST_LEVEL or len(found) >= _MOST_LIST:
            raise OutOfImage("a list of moves without an end")
        found.append((level, image.byte(place + 1)))
        place += 2
    return tuple(found)


def read_moves(image: Image, names: Names) -> dict[int, MoveData]:
    """Return all moves by number."""
    table = image.table("Moves")
    if table is None:
        return {}
    found = {}
    for number in range(1, min(image.room(table.offset) // _MOVE_BYTES, 0xFF) + 1):
        row = image.take(table.offset + (number - 1) * _MOVE_BYTES, _MOVE_BYTES)
        if row[0] != number:
            break
        found[number] = MoveData(number, names.moves.get(number, f"move {number}"), *row[1:])
    return found


def read_items(image: Image, names: Names) -> dict[int, Item]:
    """Return all items by number, as far as the profile names items."""
    table = image.table("ItemAttributes")
    if table is None:
        return {}
    most = min(image.room(table.offset) // _ITEM_BYTES, max(names.items, default=0xFF), 0xFF)
    found = {}
    for number in range(1, most + 1):
        row = image.take(table.offset + (number - 1) * _ITEM_BYTES, _ITEM_BYTES)
        name = names.items.get(number, f"item {number}")
        found[number] = Item(number, name, row[0] | row[1] << 8, row[2], row[3], row[5])
    return found


def read_machines(image: Image) -> tuple[int, ...]:
    """Return the move of each machine by slot: TMs, HMs, then tutor moves up to a 0; 0 for an empty slot."""
    table = image.table("TMHMMoves")
    if table is None:
        return ()
    data = image.take(table.offset, min(_MOST_LIST, image.room(table.offset)))
    return tuple(data[:_ALL_MACHINES] + data[_ALL_MACHINES:].split(b"\0", 1)[0])


def read_growth_rates(image: Image, species: dict[int, Species]) -> tuple[GrowthRate, ...]:
    """Return growth rates by number, as many as species use."""
    table = image.table("GrowthRates")
    if table is None or not species:
        return ()
    count = max(one.growth for one in species.values()) + 1
    found = []
    for number in range(min(count, image.room(table.offset) // _GROWTH_BYTES)):
        share, square, linear, constant = image.take(table.offset + number * _GROWTH_BYTES, _GROWTH_BYTES)
        signed = 0x80 - square if square & 0x80 else square
        found.append(GrowthRate(share >> 4, share & 0x0F, signed, linear, constant))
    return tuple(found)


def read_type_factors(image: Image) -> dict[tuple[int, int], float]:
    """Return the effectiveness by attacking and defending type, where it is not 1."""
    table = image.table("TypeMatchups")
    if table is None:
        return {}
    found = {}
    row, end = table.offset, table.offset + image.room(table.offset)
    while row + 3 <= end and image.byte(row) != _CHART_END:
        if image.byte(row) == _CHART_SECOND_PART:
            row += 1
            continue
        attacker, defender, tenths = image.take(row, 3)
        found[attacker, defender] = tenths / 10
        row += 3
    return found
