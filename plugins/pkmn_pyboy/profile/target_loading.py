"""Loader of targets in milestones.toml. Refuses keys that have no meaning together."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from pkmn_pyboy.profile.memory_map import MemoryField, MemoryMap
from pkmn_pyboy.profile.milestone_schema import ByFile, GoalFile, PlaceFile, TargetFile
from pkmn_pyboy.profile.milestones import Station, Target, TargetCase, field_at
from pkmn_pyboy.profile.model import Radio
from pkmncli.errors import EnvironmentSetupError


def build_target(path: Path, where: str, entry: GoalFile, memory: MemoryMap, radio: Radio | None) -> Target | None:
    """Return a goal's target; None if it has none.

    Args:
        path: the file, for errors.
        where: the goal's key in it, for errors.
        entry: the goal as it is written.
        memory: fields that ``by`` may name.
        radio: the game's radio, if it has one.

    Raises:
        EnvironmentSetupError: keys have no meaning together, or a byte does not exist; the message has file and key.
    """
    place = entry.target
    if place is None:
        return None
    check = _Checker(path, where, entry.key)
    check.push(place, entry)
    check.station(place, radio)
    check.scene(place)
    check.place(place, place, "")
    target = Target(
        place.map[0] * 256 + place.map[1],
        place.x,
        place.y,
        place.facing,
        place.person or 0,
        place.scene if place.scene is not None else -1,
        place.push_to,
        Station(place.station.knob, place.station.music) if place.station is not None else None,
        _byte(place.by, memory, check),
        tuple(TargetCase(case.value, case.x, case.y, case.facing, case.person) for case in place.cases),
        tuple(TargetCase(0, choice.x, choice.y, choice.facing, choice.person) for choice in place.choices),
    )
    check.cases(place)
    check.alternatives(place, target)
    return target


def _byte(by: ByFile | None, memory: MemoryMap, check: _Checker) -> MemoryField | None:
    if by is None:
        return None
    if (by.field is None) == (by.address is None):
        check.fail("by", "give either field or address")
    if by.field is None:
        return field_at(by.address or 0)
    try:
        field = memory[by.field]
    except EnvironmentSetupError as error:
        check.fail("by", str(error))
    if field.size != 1:
        check.fail("by", f"{by.field} has {field.size} bytes; a case is selected by one")
    return field


class _Checker:
    """Checks of targets.

    Args:
        path: the file.
        where: the goal's place in it.
        key: the goal's key.
    """

    def __init__(self, path: Path, where: str, key: str) -> None:
        self._path = path
        self._where = where
        self._key = key

    def fail(self, name: str, message: str) -> NoReturn:
        """Raise the error for a key of the target."""
        inner = f".{name}" if name else ""
        raise EnvironmentSetupError(f"{self._path}: {self._where}.target{inner}: {self._key}: {message}")

    def place(self, place: PlaceFile, base: TargetFile, name: str) -> None:
        """Refuse half a tile, a tile with a person, and a direction without a tile or person.

        ``base`` is the target that a case or choice changes, or ``place`` itself.
        """
        if (place.x is None) != (place.y is None):
            self.fail(name, "x and y go together")
        if place.x is not None and place.person is not None:
            self.fail(name, "give either a person or x and y: a person is found at any place")
        there = place.x is not None or place.person is not None or base.x is not None or base.person is not None
        if place.facing is not None and not there:
            self.fail(name, "facing is for a person, or for x and y")

    def scene(self, place: TargetFile) -> None:
        """Refuse keys that have no effect on a scene: it starts on any of its tiles."""
        if place.scene is None:
            return
        for name in ("x", "y", "facing", "person"):
            if getattr(place, name) is not None:
                self.fail("", f"a scene starts on any of its tiles; remove {name}")

    def push(self, place: TargetFile, entry: GoalFile) -> None:
        """Require strength for a boulder to push, and one tile to push it to."""
        if place.push_to is None:
            return
        for name in ("x", "y", "facing", "scene"):
            if getattr(place, name) is not None:
                self.fail("", f"push_to is the destination; remove {name}")
        for name in ("by", "cases", "choices"):
            if getattr(place, name):
                self.fail("", f"push_to is one tile; remove {name}")
        if "strength" not in entry.needs_field_moves:
            self.fail("", 'push_to needs needs_field_moves = ["strength"]')

    def station(self, place: TargetFile, radio: Radio | None) -> None:
        """Require a radio whose knob reaches the station, and a person or tile to press A at."""
        if place.station is None:
            return
        if radio is None:
            self.fail("station", "game.toml has no [radio]")
        knob = place.station.knob
        if knob > radio.most or knob % radio.step:
            steps = f"0 to {radio.most} in steps of {radio.step}"
            self.fail("station", f"the knob has no position {knob}; it has {steps}")
        at_a_tile = None not in (place.x, place.y, place.facing)
        if place.scene is not None or place.push_to is not None or not (place.person or at_a_tile):
            self.fail("station", "a station is for a person, or for x, y and facing")

    def cases(self, place: TargetFile) -> None:
        """Require a byte for cases and cases for a byte, each value once."""
        if (place.by is None) != (not place.cases):
            self.fail("by", "by and cases go together")
        if place.by is not None and place.choices:
            self.fail("choices", "there are cases already; give only one of the two")
        values = [case.value for case in place.cases]
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            self.fail("cases", f"value {twice} is listed twice")

    def alternatives(self, place: TargetFile, target: Target) -> None:
        """Refuse cases and choices that change nothing, or that make a target invalid."""
        lists: tuple[tuple[str, list[PlaceFile]], ...] = (("cases", [*place.cases]), ("choices", [*place.choices]))
        for name, entries in lists:
            for number, entry in enumerate(entries):
                inner = f"{name}.{number}"
                if entry.x is None and entry.y is None and entry.person is None and entry.facing is None:
                    self.fail(inner, "it changes nothing; give x and y, person or facing")
                self.place(entry, place, inner)
                case = TargetCase(0, entry.x, entry.y, entry.facing, entry.person)
                changed = target.with_case(case)
                if place.station is not None and not changed.person and changed.facing is None:
                    self.fail(inner, "a station is for a person, or for x, y and facing")
