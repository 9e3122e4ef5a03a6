"""People and objects on the loaded map: their current tiles, and which are hidden."""

from __future__ import annotations

from dataclasses import dataclass

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.profile.model import GameProfile

ITEM, TRAINER = 1, 2
"""Kinds of a person besides 0, which speaks."""

_LOADED_BYTES, _LOADED, _LOADED_MAP_OBJECT, _LOADED_X, _LOADED_Y = 40, 13, 0x01, 0x10, 0x11
_OBJECT_BYTES, _OBJECTS = 16, 16
_SHIFT = 4
_HIDDEN = 0xFF
_EFFECT = 0xFF


@dataclass(frozen=True, slots=True)
class Person:
    """Person or object on a map: ``number`` on the map (from 1), tile, kind (0 speaks, ITEM or TRAINER).

    ``movement`` is the game's number for how it moves; boulders have their own.
    """

    number: int
    x: int
    y: int
    kind: int
    movement: int = 0


class PeopleReader:
    """Reader of the people on the loaded map.

    Args:
        emulator: runs the game.
        profile: addresses of the people.
    """

    def __init__(self, emulator: Emulator, profile: GameProfile) -> None:
        memory = profile.memory
        self._emulator = emulator
        self._loaded = memory.fields.get("wObjectStructs")
        self._objects = memory.fields.get("wMapObjects")
        self._masks = memory.fields.get("wObjectMasks")

    def nearby(self) -> dict[int, tuple[int, int]]:
        """Return the tiles of people near the screen, by number. A walking person counts for the tile ahead."""
        if self._loaded is None:
            return {}
        data = self._emulator.read(self._loaded.bank, self._loaded.address, _LOADED_BYTES * _LOADED)
        return {
            data[start + _LOADED_MAP_OBJECT]: (data[start + _LOADED_X] - _SHIFT, data[start + _LOADED_Y] - _SHIFT)
            for start in range(_LOADED_BYTES, _LOADED_BYTES * _LOADED, _LOADED_BYTES)
            if data[start] and data[start + _LOADED_MAP_OBJECT] != _EFFECT
        }

    def all(self) -> list[Person]:
        """Return everyone on the map whom the story does not hide."""
        nearby = self.nearby()
        if self._objects is None:
            return [Person(number, x, y, 0) for number, (x, y) in nearby.items()]
        data = self._emulator.read(self._objects.bank, self._objects.address, _OBJECT_BYTES * _OBJECTS)
        masks = b""
        if self._masks is not None:
            masks = self._emulator.read(self._masks.bank, self._masks.address, _OBJECTS)
        people = []
        for number in range(1, _OBJECTS):
            entry = data[number * _OBJECT_BYTES : (number + 1) * _OBJECT_BYTES]
            if not entry[1] or (masks and masks[number] == _HIDDEN):
                continue
            x, y = nearby.get(number, (entry[3] - _SHIFT, entry[2] - _SHIFT))
            people.append(Person(number, x, y, entry[8] & 0x0F, entry[4]))
        return people
