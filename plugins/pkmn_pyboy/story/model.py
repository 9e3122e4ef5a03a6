"""Milestones of a game: the evidence in memory for each, and the tracker of those reached in an episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pkmn_pyboy.state.memory_map import Memory, MemoryField, MemoryMap, Span
from pkmncli.api import MilestoneSplit

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


class MilestoneTracker:
    """Milestones reached in this episode, with the step of each.

    A milestone is tested only after the milestones that it needs, because some evidence has another meaning earlier in
    the story. A reached milestone stays reached until the episode ends.

    Args:
        milestones: in order.
        errands: by key; their requirements of the party count as well.
        memory: memory to test errands with; by default that of :meth:`begin` or :meth:`update`.
    """

    def __init__(
        self,
        milestones: Sequence[Milestone],
        errands: Mapping[str, Milestone] | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.milestones = tuple(milestones)
        self._errands = errands or {}
        place = {milestone.key: index for index, milestone in enumerate(self.milestones)}
        self._needs = [tuple(place[key] for key in milestone.needs) for milestone in self.milestones]
        self.steps = [-1] * len(self.milestones)
        """Step at which each milestone was reached, 0 at the start of the episode, -1 if not yet."""
        self.frames = [-1] * len(self.milestones)
        """Emulated frame of the episode at which each was reached, by the same rules."""
        self.count = 0
        self._wanted: dict[int, frozenset[int]] = {}
        self._ready: list[int] = []
        self._memory = memory
        self._watch: Callable[[], bytes] | None = None
        self._unproven: tuple[bytes, int] | None = None

    @property
    def party_room(self) -> int:
        """Total of free party slots for the remaining milestones and their errands."""
        wanted: dict[str, int] = {}
        queue = [one for one, step in zip(self.milestones, self.steps, strict=True) if step < 0]
        seen = {one.key for one in queue}
        for goal in queue:
            if goal.room:
                wanted[goal.key] = goal.room
            for key in goal.errands:
                errand = self._errands.get(key)
                if errand is not None and key not in seen:
                    seen.add(key)
                    queue.append(errand)
        if wanted and self._memory is not None:
            done = [key for key in wanted if key in self._errands and self._errands[key].held(self._memory, -1)]
            for key in done:
                del wanted[key]
        return sum(wanted.values())

    def begin(self, memory: Memory, map_id: int) -> None:
        """Start an episode: milestones that hold already count as reached at step 0.

        If a milestone with lasting evidence holds, those that it needs count as reached too, although their evidence
        may be gone. The first one, the start of the game, needs only its lasting evidence.
        """
        self.steps = [-1] * len(self.milestones)
        self.frames = [-1] * len(self.milestones)
        for index in range(len(self.milestones) - 1, -1, -1):
            milestone = self.milestones[index]
            if self.steps[index] < 0 and milestone.lasting and milestone.holds(memory, map_id):
                self._reach_with_needs(index)
        if self.milestones and self.steps[0] < 0 and self.milestones[0].held(memory, map_id):
            self._reach_with_needs(0)
        self._find_ready()
        self.update(memory, map_id, 0)

    def splits(self) -> tuple[MilestoneSplit, ...]:
        """Return the milestones reached in this episode, in the order in which they were reached."""
        reached = [
            MilestoneSplit(milestone.key, step, frame)
            for milestone, step, frame in zip(self.milestones, self.steps, self.frames, strict=True)
            if step >= 0
        ]
        return tuple(sorted(reached, key=lambda split: split.step))

    def update(self, memory: Memory, map_id: int, step: int, frame: int = 0) -> bool:
        """Test the evidence after a step that ended at ``frame``. Return True if a milestone was reached."""
        if memory is not self._memory:
            self._memory = memory
            self._watch = None
        if self._watch is None:
            self._watch = memory.bind(self._watched())
        evidence = (self._watch(), map_id)
        if evidence == self._unproven:
            return False
        found = False
        while True:
            reached = [index for index in self._ready if self.milestones[index].holds(memory, map_id)]
            if not reached:
                # Nothing can become true until one of these bytes changes; which bytes are watched may just have
                # changed.
                self._unproven = None if found else evidence
                return found
            found = True
            for index in reached:
                self.steps[index], self.frames[index] = step, frame
            self._find_ready()

    def current(self, goal: int = -1) -> Milestone | None:
        """Return the next required milestone; None if all are reached.

        Args:
            goal: index of the target milestone, -1 for the last one: milestones that it needs are required.
        """
        wanted = self._wanted.get(goal)
        if wanted is None:
            wanted = self._wanted[goal] = self._with_needs(goal)
        for index, milestone in enumerate(self.milestones):
            if self.steps[index] < 0 and (not milestone.optional or index in wanted):
                return milestone
        return None

    def _with_needs(self, goal: int) -> frozenset[int]:
        found: set[int] = set()
        queue = [goal] if goal >= 0 else []
        while queue:
            index = queue.pop()
            if index not in found:
                found.add(index)
                queue.extend(self._needs[index])
        return frozenset(found)

    def save_state(self) -> dict[str, Any]:
        """Return the state for :meth:`load_state`, as plain values."""
        return {"steps": list(self.steps), "frames": list(self.frames)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore a saved state. Raises ValueError if it belongs to other milestones."""
        steps = [int(step) for step in state["steps"]]
        if len(steps) != len(self.milestones):
            raise ValueError(f"it has {len(steps)} milestones, not {len(self.milestones)}")
        self.steps = steps
        self.frames = [int(frame) for frame in state["frames"]]
        self._find_ready()

    def _reach_with_needs(self, index: int) -> None:
        self.steps[index] = self.frames[index] = 0
        for needed in self._needs[index]:
            if self.steps[needed] < 0:
                self._reach_with_needs(needed)

    def _watched(self) -> list[Span]:
        """Return the bytes that may prove a milestone that is ready."""
        items = (item for index in self._ready for item in self.milestones[index].evidence if item.size)
        return [(item.bank, item.address, item.size) for item in items]

    def _find_ready(self) -> None:
        self._watch = self._unproven = None
        steps = self.steps
        self.count = sum(step >= 0 for step in steps)
        self._ready = [
            index
            for index, needs in enumerate(self._needs)
            if steps[index] < 0 and all(steps[needed] >= 0 for needed in needs)
        ]
