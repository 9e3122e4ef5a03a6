"""Readers of wild Pokemon, trainers and their parties, shops, and the places of return after a defeat."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pkmn_pyboy.profile.charmap import Charmap
from pkmn_pyboy.profile.memory_map import RomTable
from pkmn_pyboy.profile.model import Names
from pkmn_pyboy.rules_gen2.records import Slot, Trainer, TrainerMember, WildTable
from pkmn_pyboy.world.image import Image, OutOfImage

_END = 0xFF
_GRASS_CHANCES, _WATER_CHANCES = (30, 30, 20, 10, 5, 4, 1), (60, 30, 10)
_TIMES = 3
_MOST_NAME, _MOST_PARTY, _MOST_LEVEL, _MOST_TRAINERS, _MOST_SOLD = 12, 6, 100, 128, 24
_WITH_MOVES, _WITH_ITEM = 1, 2
_MOVES = 4


def read_wild(image: Image, maps: Collection[int]) -> tuple[WildTable, ...]:
    """Return all wild tables: the profile's tables whose names begin with WildGrass or WildWater."""
    found: list[WildTable] = []
    for name in sorted(image.tables):
        table = image.table(name)
        if table is None:
            continue
        if name.startswith("WildGrass"):
            found += _wild(image, table, maps, water=False)
        elif name.startswith("WildWater"):
            found += _wild(image, table, maps, water=True)
    return tuple(found)


def _wild(image: Image, table: RomTable, maps: Collection[int], *, water: bool) -> Iterator[WildTable]:
    chances = _WATER_CHANCES if water else _GRASS_CHANCES
    times = 1 if water else _TIMES
    size = 2 + times + times * len(chances) * 2
    place, end = table.offset, table.offset + image.room(table.offset)
    while place + size <= end and image.byte(place) != _END:
        row = image.take(place, size)
        place += size
        map_id = row[0] << 8 | row[1]
        if map_id not in maps:
            continue
        data = row[2 + times :]
        slots = []
        for time in range(times):
            part = data[time * len(chances) * 2 : (time + 1) * len(chances) * 2]
            slots.append(tuple(Slot(chance, part[2 * slot], part[2 * slot + 1]) for slot, chance in enumerate(chances)))
        yield WildTable(map_id, water, tuple(row[2 : 2 + times]), tuple(slots))


def read_trainers(image: Image, names: Names, charmap: Charmap) -> dict[tuple[int, int], Trainer]:
    """Return all trainers by class and number. A class ends where the next begins, or at an invalid trainer."""
    table = image.table("Trainers") or image.table("TrainerGroups")
    if table is None:
        return {}
    groups = image.pointer_list(table)
    groups = groups[: max(names.trainer_classes, default=len(groups))]
    starts = sorted({*groups, table.offset})
    found = {}
    for number, start in enumerate(groups, 1):
        if number < len(groups) and groups[number] == start:
            continue  # a class without trainers
        end = next((place for place in starts if place > start), start + image.room(start))
        for trainer in _trainers(image, number, start, end, charmap):
            found[number, trainer.number] = trainer
    return found


def _trainers(image: Image, trainer_class: int, place: int, end: int, charmap: Charmap) -> Iterator[Trainer]:
    for number in range(1, _MOST_TRAINERS):
        if place >= end:
            return
        try:
            name, place = _name(image, place, charmap)
            party, place = _party(image, place)
        except OutOfImage:
            return
        yield Trainer(trainer_class, number, name, party)


def _name(image: Image, place: int, charmap: Charmap) -> tuple[str, int]:
    for size in range(_MOST_NAME):
        code = image.byte(place + size)
        if code == charmap.end:
            return charmap.decode(image.take(place, size)), place + size + 1
        if code not in charmap.characters:
            break
    raise OutOfImage("not a trainer's name")


def _party(image: Image, place: int) -> tuple[tuple[TrainerMember, ...], int]:
    kind = image.byte(place)
    if kind > _WITH_MOVES | _WITH_ITEM:
        raise OutOfImage("not a trainer's party")
    size = 2 + (kind & _WITH_ITEM) // _WITH_ITEM + _MOVES * (kind & _WITH_MOVES)
    place += 1
    party: list[TrainerMember] = []
    while image.byte(place) != _END:
        row = image.take(place, size)
        if not 0 < row[0] <= _MOST_LEVEL or len(party) == _MOST_PARTY:
            raise OutOfImage("not a trainer's party")
        item = row[2] if kind & _WITH_ITEM else 0
        moves = tuple(move for move in row[-_MOVES:] if move) if kind & _WITH_MOVES else ()
        party.append(TrainerMember(row[0], row[1], item, moves))
        place += size
    if not party:
        raise OutOfImage("an empty party")
    return tuple(party), place + 1


def read_shops(image: Image) -> tuple[tuple[int, ...], ...]:
    """Return the items that each shop sells, by shop number."""
    table = image.table("Marts")
    if table is None:
        return ()
    found = []
    for place in image.pointer_list(table):
        try:
            count = image.byte(place)
            data = image.take(place + 1, count + 1)
        except OutOfImage:
            break
        if not 0 < count <= _MOST_SOLD or data[-1] != _END or _END in data[:-1]:
            break
        found.append(tuple(data[:-1]))
    return tuple(found)
