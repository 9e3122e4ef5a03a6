"""Milestones of a game: targets, requirements, and the evidence in memory for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from pkmn_pyboy.profile.memory_map import Memory, MemoryField, MemoryMap

_SWITCHED_WORK_RAM = 0xD000
_NEEDS = {
    "map": "group and number",
    "event": "index",
    "key_item": "id",
    "bit": "a field or an address, and bit",
    "equals": "a field or an address, and value",
    "at_least": "a field or an address, and value",
    "machine": "place",
    "party_species": "id",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Condition in memory. Build it with :meth:`build`.

    ``lasting`` evidence stays true once it was true (a flag, a badge); the player's position does not.
    """

    kind: str
    bank: int
    address: int
    size: int
    value: int
    mask: int = 0xFF
    lasting: bool = True
    map_id: int = -1

    @classmethod
    def build(
        cls,
        memory: MemoryMap,
        kind: str,
        *,
        group: int | None = None,
        number: int | None = None,
        index: int | None = None,
        field: str | None = None,
        address: int | None = None,
        bit: int | None = None,
        value: int | None = None,
        id: int | None = None,
        place: int | None = None,
    ) -> Evidence:
        """Make a condition from the keys of a profile.

        Args:
            memory: the fields.
            kind: ``map`` (group, number), ``event`` (index of an event flag), ``key_item`` (id), ``machine`` (slot of
                the machine, from 0), ``party_species`` (id), or of a field or an address: ``bit`` (bit),
                ``equals`` or ``at_least`` (value).

        Raises:
            ValueError: a value is missing or out of range.
        """
        if kind == "map" and group is not None and number is not None:
            return cls("map", 0, 0, 0, 0, lasting=False, map_id=group * 256 + number)
        if kind == "event" and index is not None:
            flags = memory["wEventFlags"]
            if index >> 3 >= flags.size:
                raise ValueError(f"event {index} is beyond the last one, {flags.size * 8 - 1}")
            return cls("bit", flags.bank, flags.address + (index >> 3), 1, 1, mask=1 << (index & 7))
        if kind == "key_item" and id is not None:
            items = memory["wKeyItems"]
            return cls("listed", items.bank, items.address, items.size, id)
        if kind == "machine" and place is not None:
            machines = memory["wTMsHMs"]
            if place >= machines.size:
                raise ValueError(f"machine {place} is beyond the last one, {machines.size - 1}")
            return cls("at_least", machines.bank, machines.address + place, 1, 1)
        if kind == "party_species" and id is not None:
            species = memory["wPartySpecies"]
            return cls("listed", species.bank, species.address, species.size, id, lasting=False)
        if (field is None) == (address is None):
            raise ValueError(f"{kind} needs {_NEEDS.get(kind, 'a known kind')}")
        where = memory[field] if field is not None else field_at(address or 0)
        if kind == "bit" and bit is not None:
            if bit >> 3 >= where.size:
                raise ValueError(f"bit {bit} is beyond {where.name}")
            return cls("bit", where.bank, where.address + (bit >> 3), 1, 1, mask=1 << (bit & 7))
        if kind in ("equals", "at_least") and value is not None:
            return cls(kind, where.bank, where.address, where.size, value, lasting=kind == "at_least")
        raise ValueError(f"{kind} needs {_NEEDS.get(kind, 'a known kind')}")

    def holds(self, memory: Memory, map_id: int) -> bool:
        """Return True if the condition is met. ``map_id`` is the map that the player is on, -1 if unknown."""
        if self.kind == "map":
            return self.map_id == map_id
        data = memory.read(self.bank, self.address, self.size)
        if self.kind == "bit":
            return bool(data[0] & self.mask)
        if self.kind == "listed":
            listed = data.split(b"\xff", 1)[0]
            return self.value in listed
        number = int.from_bytes(data, "big")
        return number == self.value if self.kind == "equals" else number >= self.value


def field_at(address: int) -> MemoryField:
    """Return the byte at an address of work RAM, in the first of its switched banks."""
    return MemoryField(f"{address:04X}", address, 1 if address >= _SWITCHED_WORK_RAM else 0, 1)


class Station(NamedTuple):
    """Station of a radio: the position of its knob, and the music that shows that it plays."""

    knob: int
    music: int


@dataclass(frozen=True, slots=True)
class TargetCase:
    """Keys of a target that replace its own; None keeps the target's value.

    A tile and a person exclude each other: ``x`` and ``y`` remove ``person``, and the reverse.
    """

    value: int = 0
    """Value of the byte that selects the case, among the cases of a target; unused for choices."""
    x: int | None = None
    y: int | None = None
    facing: str | None = None
    person: int | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """Destination: a map, and if known a tile on it and the direction to face there before A is pressed.

    ``person`` is the number on the map of a person to speak to, at any place; with ``facing`` from the side from which
    the player faces that direction. ``scene`` is any tile that starts the map's scene of that number, -1 for none. With
    ``push_to`` it is the boulder ``person``, 0 for any, to push to that column and row. ``station`` must play on the
    radio before A is pressed.
    """

    map_id: int
    x: int | None = None
    y: int | None = None
    facing: str | None = None
    person: int = 0
    scene: int = -1
    push_to: tuple[int, int] | None = None
    station: Station | None = None
    by: MemoryField | None = None
    """Byte in memory that selects one of ``cases``."""
    cases: tuple[TargetCase, ...] = ()
    choices: tuple[TargetCase, ...] = ()
    """Alternatives that the pilot's setting ``partner`` selects from; the first is 1."""

    def now(self, memory: Memory, partner: int = 0) -> Target:
        """Return the target at this moment.

        Args:
            memory: memory with the byte that selects a case.
            partner: number of the choice, 0 for the unchanged target.
        """
        if partner and self.choices:
            return self.with_case(self.choices[min(partner, len(self.choices)) - 1])
        value = self.value(memory)
        return next((self.with_case(case) for case in self.cases if case.value == value), self)

    def value(self, memory: Memory) -> int:
        """Return the value of the byte that selects a case, -1 if there is none."""
        return -1 if self.by is None else memory.read(self.by.bank, self.by.address, 1)[0]

    def with_case(self, case: TargetCase) -> Target:
        """Return the target with the keys of a case."""
        changed = self if case.facing is None else replace(self, facing=case.facing)
        if case.person is not None:
            return replace(changed, person=case.person, x=None, y=None, scene=-1)
        if case.x is not None:
            return replace(changed, x=case.x, y=case.y, person=0, scene=-1)
        return changed

    @property
    def is_a_place(self) -> bool:
        """True if it names more than a map."""
        return self.x is not None or self.person > 0 or self.scene >= 0 or self.push_to is not None


class Foe(NamedTuple):
    """Trainer, by class and number. ``event`` is the event flag with which they are fought, -1 for always."""

    trainer_class: int
    number: int
    event: int = -1


@dataclass(frozen=True, slots=True)
class Requirements:
    """Requirements of a goal besides earlier milestones."""

    items: tuple[int, ...] = ()
    badges: tuple[int, ...] = ()
    """Badges: 0 to 7 of the first region, 8 to 15 of the second."""
    field_moves: tuple[str, ...] = ()
    species: tuple[int, ...] = ()
    """Species of which at least one must be in the party."""
    min_level: int = 0
    """Minimum level of the strongest party member."""
    foes: tuple[Foe, ...] = ()
    """Trainers that will be fought for it."""
    party_room: int = 0
    """Free slots that the party must have."""


@dataclass(frozen=True, slots=True)
class Milestone:
    """Milestone of a game. ``needs`` are the keys of milestones that must be reached before.

    ``errands`` are the keys of side tasks to finish first, in order. An errand is tracked but does not count as a
    milestone. ``gives`` are the items received by reaching it.
    """

    key: str
    name: str
    evidence: tuple[Evidence, ...]
    optional: bool = False
    hint: str = ""
    target: Target | None = None
    needs: tuple[str, ...] = ()
    errands: tuple[str, ...] = ()
    gives: tuple[int, ...] = ()
    requires: Requirements = Requirements()
    refuse_words: tuple[str, ...] = ()
    """Words of questions that are answered no while it is the goal."""
    over_with: tuple[str, ...] = ()
    """Keys of goals any of which ends an errand, whatever its evidence."""
    catch: tuple[int, ...] = ()
    """Species to catch when met while it is the goal."""
    supplies: tuple[tuple[int, int], ...] = ()
    """Items to carry before, with their numbers, as far as the money allows."""
    gives_hour: int = -1
    """Approximate hour of the game's clock once it is reached, -1 if the clock is unchanged."""
    gives_species: tuple[int, ...] = ()
    """Species received by reaching it; if there are several, one, by the player's choice."""

    @property
    def room(self) -> int:
        """Free slots that the party must have: as required, or one if there is a species to catch."""
        return self.requires.party_room or bool(self.catch)

    @property
    def lasting(self) -> bool:
        """True if some of its evidence is lasting."""
        return any(item.lasting for item in self.evidence)

    def held(self, memory: Memory, map_id: int) -> bool:
        """Return True if it has lasting evidence, and all of it holds."""
        return self.lasting and all(item.holds(memory, map_id) for item in self.evidence if item.lasting)

    def holds(self, memory: Memory, map_id: int) -> bool:
        """Return True if all its evidence holds."""
        return all(item.holds(memory, map_id) for item in self.evidence)


@dataclass(frozen=True, slots=True)
class LockedRooms:
    """Maps that lock behind the player. From outside they are entered through the map ``enter``."""

    enter: int
    rooms: frozenset[int]
