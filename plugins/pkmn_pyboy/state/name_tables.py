"""Names in the cartridge image, for those that a profile does not give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pkmn_pyboy.profile.charmap import Charmap
from pkmn_pyboy.profile.memory_map import RomTable
from pkmn_pyboy.rules_gen2.screen import NAME_END, SHORT_WORD, SHORT_WORD_LETTERS

if TYPE_CHECKING:
    from pkmn_pyboy.profile.model import GameProfile, Names

_SPECIES_NAME_BYTES = 10
_LONGEST_NAME = 20
_MOST = 255
_BANK_BYTES = 0x4000


def names_with_image(profile: GameProfile, rom: bytes) -> Names:
    """Return the profile's names; a kind that it leaves out is read from the image, if its address is known."""
    names, tables = profile.names, profile.memory.rom_tables
    return replace(
        names,
        species=names.species or _fixed(rom, tables.get("PokemonNames"), profile.charmap),
        moves=names.moves or _strings(rom, tables.get("MoveNames"), profile.charmap),
        items=names.items or _strings(rom, tables.get("ItemNames"), profile.charmap),
        trainer_classes=names.trainer_classes or _strings(rom, tables.get("TrainerClassNames"), profile.charmap),
        types=names.types or _pointed(rom, tables.get("TypeNames"), profile.charmap),
    )


class EncodedNames:
    """Names of items and moves by number, as a list on the screen shows them.

    Args:
        rom: the cartridge image.
        tables: addresses of its tables.
    """

    def __init__(self, rom: bytes, tables: Mapping[str, RomTable]) -> None:
        self.items, self.moves = (
            {
                number: name.replace(SHORT_WORD, SHORT_WORD_LETTERS)
                for number, name in _encoded(rom, table, NAME_END).items()
            }
            for table in (tables.get("ItemNames"), tables.get("MoveNames"))
        )


def _fixed(rom: bytes, table: RomTable | None, charmap: Charmap) -> dict[int, str]:
    names = {}
    for number in range(1, _MOST + 1):
        if table is None:
            break
        start = table.offset + (number - 1) * _SPECIES_NAME_BYTES
        name = _name(rom[start : start + _SPECIES_NAME_BYTES], charmap)
        if not name:
            break
        names[number] = name
    return names


def _strings(rom: bytes, table: RomTable | None, charmap: Charmap) -> dict[int, str]:
    """Return consecutive strings up to the first invalid one: the table does not say how many it has."""
    names = {}
    for number, data in _encoded(rom, table, charmap.end).items():
        name = _name(data, charmap)
        if not name:
            break
        names[number] = name
    return names


def _encoded(rom: bytes, table: RomTable | None, end_mark: int) -> dict[int, bytes]:
    names = {}
    place = table.offset if table is not None else len(rom)
    for number in range(1, _MOST + 1):
        end = rom.find(end_mark, place, place + _LONGEST_NAME)
        if end < 0:
            break
        names[number] = rom[place:end]
        place = end + 1
    return names


def _pointed(rom: bytes, table: RomTable | None, charmap: Charmap) -> dict[int, str]:
    """Return the names of a list of addresses in its bank; the list ends at the first of the names."""
    if table is None:
        return {}
    names: dict[int, str] = {}
    end = table.address + 2 * _MOST
    place = table.address
    while place < end:
        offset = table.offset + place - table.address
        address = int.from_bytes(rom[offset : offset + 2], "little")
        if not _BANK_BYTES <= address < 2 * _BANK_BYTES:
            break
        if address > table.address:
            end = min(end, address)
        start = RomTable(table.bank, address).offset
        name = _name(rom[start : start + _LONGEST_NAME], charmap)
        if name:
            names[(place - table.address) // 2] = name
        place += 2
    return names


def _name(data: bytes, charmap: Charmap) -> str:
    """Return a name; empty if any byte of it is not a character."""
    codes = data.split(bytes((charmap.end,)), 1)[0]
    return charmap.decode(codes) if all(code in charmap.characters for code in codes) else ""
