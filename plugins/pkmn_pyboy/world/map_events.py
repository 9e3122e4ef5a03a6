"""Events of maps: warps, triggers, signs and people, with what their scripts show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.image import Image, OutOfImage
from pkmn_pyboy.world.map_layout import Header
from pkmn_pyboy.world.records import NO_FLAG, NOWHERE, MapPerson, Role, Sign, Trigger, Warp

WARP_BYTES, TRIGGER_BYTES, SIGN_BYTES, PERSON_BYTES = 5, 8, 5, 13
"""Bytes of one row of each list of events."""
PERSON_SHIFT = 4
"""Difference between a person's column or row in data and on the map."""

_BACK = (0, 0xFF)
_NO_FLAG = 0xFFFF
_ANY_HOUR = 0xFF
_ROLES = {1: Role.ITEM, 2: Role.TRAINER}
"""Roles by kind; other kinds speak."""
_SCRIPT_BYTES = 160
_MOST_SHOPS = 64


def warp_of(number: int, row: bytes) -> Warp:
    """Return the warp of a row."""
    if row[2] in _BACK:
        return Warp(number, row[1], row[0], NOWHERE, 0, back=True)
    return Warp(number, row[1], row[0], row[3] << 8 | row[4], row[2])


def trigger_of(row: bytes) -> Trigger:
    """Return the trigger of a row."""
    return Trigger(row[0], row[2], row[1])


def sign_of(row: bytes) -> Sign:
    """Return the sign of a row, without the item that it may hide."""
    return Sign(row[1], row[0], row[2])


def person_of(number: int, row: bytes, profile: GameProfile, tile: tuple[int, int] | None = None) -> MapPerson:
    """Return the person of a row, on another tile if one is given. The role follows from kind and movement."""
    rules, movement, kind, flag = profile.world, row[3], row[7] & 0x0F, row[11] | row[12] << 8
    role = role_by_movement(movement, profile) or _ROLES.get(kind, Role.PERSON)
    x, y = tile if tile is not None else (row[2] - PERSON_SHIFT, row[1] - PERSON_SHIFT)
    return MapPerson(
        number,
        x,
        y,
        role,
        row[0],
        movement,
        movement in rules.walks,
        (row[4] & 0x0F, row[4] >> 4),
        rules.facing.get(movement, -1),
        (-1 if row[5] == _ANY_HOUR else row[5], -1 if row[6] == _ANY_HOUR else row[6]),
        row[8] if _ROLES.get(kind) is Role.TRAINER else 0,
        NO_FLAG if flag == _NO_FLAG else flag,
    )


def role_by_movement(movement: int, profile: GameProfile) -> Role | None:
    """Return the role that a movement shows, None if any is possible."""
    strength = profile.field_moves.get("strength")
    if strength is not None and movement == strength.movement:
        return Role.BOULDER
    role = profile.world.roles.get(movement)
    return None if role is None else Role(role)


@dataclass(frozen=True, slots=True)
class Events:
    """All events of a map."""

    warps: tuple[Warp, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    signs: tuple[Sign, ...] = ()
    people: tuple[MapPerson, ...] = ()


class EventReader:
    """Reader of events.

    Args:
        image: the cartridge image.
        profile: rules for movements and scripts.
        maps: the maps that warps can lead to.
    """

    def __init__(self, image: Image, profile: GameProfile, maps: Mapping[int, int]) -> None:
        self._image = image
        self._profile = profile
        self._rules = profile.world
        self._classes = profile.names.trainer_classes
        self._maps = maps

    def read(self, header: Header) -> Events:
        """Return a map's events inside the map. Raises OutOfImage if a list runs beyond the image."""
        width, height = header.width * 2, header.height * 2
        warps, place = self._list(header.events + 2, WARP_BYTES)
        triggers, place = self._list(place, TRIGGER_BYTES)
        signs, place = self._list(place, SIGN_BYTES)
        people, _ = self._list(place, PERSON_BYTES)
        scripts = (*(row[4:6] for row in triggers), *(row[3:5] for row in signs), *(row[9:11] for row in people))
        ends = self._script_ends(header, scripts)
        return Events(
            tuple(self._warp(number, row) for number, row in enumerate(warps, 1)),
            tuple(trigger_of(row) for row in triggers if row[2] < width and row[1] < height),
            tuple(self._sign(header, row) for row in signs if row[1] < width and row[0] < height),
            tuple(
                self._person(header, number, row, ends)
                for number, row in enumerate(people, 1)
                if 0 <= row[2] - PERSON_SHIFT < width and 0 <= row[1] - PERSON_SHIFT < height
            ),
        )

    def _list(self, place: int, size: int) -> tuple[list[bytes], int]:
        count = self._image.byte(place)
        data = self._image.take(place + 1, count * size)
        return [data[start : start + size] for start in range(0, len(data), size)], place + 1 + count * size

    def _warp(self, number: int, row: bytes) -> Warp:
        warp = warp_of(number, row)
        return warp if warp.target_map in self._maps else replace(warp, target_map=NOWHERE, target_warp=0)

    def _sign(self, header: Header, row: bytes) -> Sign:
        if row[2] != self._rules.hidden_item_kind:
            return sign_of(row)
        try:
            place = self._image.place(header.scripts_bank, row[3] | row[4] << 8)
            flag, item = self._image.word(place), self._image.byte(place + 2)
        except OutOfImage:
            return sign_of(row)
        return Sign(row[1], row[0], row[2], item, flag)

    def _person(self, header: Header, number: int, row: bytes, ends: Mapping[int, int]) -> MapPerson:
        person, kind = person_of(number, row, self._profile), row[7] & 0x0F
        if role_by_movement(person.movement, self._profile) is not None:
            return person
        role, kept = self._role_by_script(header, row, kind, person.role, ends)
        return replace(
            person,
            role=role,
            beaten_flag=kept.get("flag", NO_FLAG),
            trainer_class=kept.get("class", 0),
            trainer=kept.get("trainer", 0),
            item=kept.get("item", 0),
            quantity=kept.get("quantity", 0) or (1 if "item" in kept else 0),
            shop=kept.get("shop", -1),
        )

    def _role_by_script(
        self, header: Header, row: bytes, kind: int, role: Role, ends: Mapping[int, int]
    ) -> tuple[Role, dict[str, int]]:
        """Return the role and values of the first pattern that matches the script."""
        try:
            start = self._image.place(header.scripts_bank, row[9] | row[10] << 8)
        except OutOfImage:
            return role, {}
        script = self._image.data[start : ends.get(start, start + _SCRIPT_BYTES)]
        for mark in self._rules.marks:
            if mark.kind not in (-1, kind):
                continue
            kept = mark.read(script)
            if kept is None or not self._makes_sense(kept):
                continue
            return Role(mark.role), kept
        return role, {}

    def _makes_sense(self, kept: Mapping[str, int]) -> bool:
        """Return True if the trainer or shop is plausible: other bytes may look like a pattern."""
        if kept.get("shop", 0) >= _MOST_SHOPS:
            return False
        if "class" not in kept:
            return True
        number = kept["class"]
        return number > 0 and kept.get("trainer", 1) > 0 and (not self._classes or number in self._classes)

    def _script_ends(self, header: Header, words: Iterable[bytes]) -> dict[int, int]:
        """Return the latest end of each script: where the next one begins, or the events themselves."""
        places = {header.events}
        for data in words:
            try:
                places.add(self._image.place(header.scripts_bank, data[0] | data[1] << 8))
            except OutOfImage:
                continue
        ordered = sorted(places)
        return {
            place: min(later, place + _SCRIPT_BYTES)
            for place, later in zip(ordered, [*ordered[1:], len(self._image.data)], strict=True)
        }
