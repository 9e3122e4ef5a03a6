"""Goals on the way through a game: what in memory proves each, and which were reached in this episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pkmn_pyboy.state.memory_map import Memory, MemoryMap


@dataclass(frozen=True, slots=True)
class Evidence:
    """One condition in memory. Build it with :meth:`build`.

    ``lasting`` evidence stays true once it was (a flag, a badge); where the player stands does not.
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
        *,
        map: tuple[int, int] | None = None,
        flag: int | None = None,
        key_item: int | None = None,
        field: str | None = None,
        bit: int | None = None,
        equals: int | None = None,
        at_least: int | None = None,
    ) -> Evidence:
        """Makes a condition from what a profile says. Raises ValueError unless it is exactly one condition."""
        tests = [test for test in (map, flag, key_item, bit, equals, at_least) if test is not None]
        if len(tests) != 1 or (field is None) != (bit is None and equals is None and at_least is None):
            raise ValueError("give one of map, flag, key_item, or a field with one of bit, equals, at_least")
        if map is not None:
            return cls("map", 0, 0, 0, 0, lasting=False, map_id=map[0] * 256 + map[1])
        if flag is not None:
            flags = memory["wEventFlags"]
            if flag >> 3 >= flags.size:
                raise ValueError(f"flag {flag} is beyond the last one, {flags.size * 8 - 1}")
            return cls("bit", flags.bank, flags.address + (flag >> 3), 1, 1, mask=1 << (flag & 7))
        if key_item is not None:
            items = memory["wKeyItems"]
            return cls("listed", items.bank, items.address, items.size, key_item)
        place = memory[field or ""]
        if bit is not None:
            if bit >> 3 >= place.size:
                raise ValueError(f"bit {bit} is beyond {field}")
            return cls("bit", place.bank, place.address + (bit >> 3), 1, 1, mask=1 << (bit & 7))
        if equals is not None:
            return cls("equals", place.bank, place.address, place.size, equals, lasting=False)
        return cls("at_least", place.bank, place.address, place.size, at_least or 0)

    def holds(self, memory: Memory, map_id: int) -> bool:
        """Whether the condition is met. ``map_id`` is the map the player stands on, -1 while none is known."""
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


@dataclass(frozen=True, slots=True)
class Target:
    """A place to walk to: a map, and where known a tile on it and the direction to face there."""

    map_id: int
    x: int | None = None
    y: int | None = None
    facing: str | None = None


@dataclass(frozen=True, slots=True)
class Milestone:
    """A goal on the way through a game."""

    key: str
    name: str
    evidence: tuple[Evidence, ...]
    optional: bool = False
    hint: str = ""
    target: Target | None = None
    needs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lasting(self) -> bool:
        """Whether some of its evidence stays once it is there."""
        return any(item.lasting for item in self.evidence)

    def holds(self, memory: Memory, map_id: int) -> bool:
        """Whether all its evidence is there."""
        return all(item.holds(memory, map_id) for item in self.evidence)


class MilestoneTracker:
    """Which milestones were reached in this episode, and at which step.

    Required ones are reached in order: each is looked for only once those before it are reached, because some
    evidence means something else earlier in the story. Optional ones are looked for from the moment the required
    ones before them are reached. Once reached, a milestone stays reached until the episode ends.
    """

    def __init__(self, milestones: Sequence[Milestone]) -> None:
        self.milestones = tuple(milestones)
        self.steps = [-1] * len(self.milestones)
        """For each milestone the step at which it was reached, 0 at the start of the episode, -1 if not yet."""
        self.count = 0
        self._next = 0
        self._optional: list[int] = []

    def begin(self, memory: Memory, map_id: int) -> None:
        """Starts an episode: what is already behind the player counts as reached at step 0.

        The furthest required milestone that holds, with some evidence that lasts, marks the place in the story; the
        required ones before it count as reached, since their own evidence may have passed.
        """
        self.steps = [-1] * len(self.milestones)
        self.count = 0
        self._next = 0
        self._optional = []
        furthest = -1
        for index in range(len(self.milestones) - 1, -1, -1):
            milestone = self.milestones[index]
            if not milestone.optional and milestone.lasting and milestone.holds(memory, map_id):
                furthest = index
                break
        for index in range(furthest + 1):
            if not self.milestones[index].optional:
                self._reach(index, 0)
        self._next = furthest + 1
        self._optional = [index for index in range(furthest + 1) if self.milestones[index].optional]
        self.update(memory, map_id, 0)

    def update(self, memory: Memory, map_id: int, step: int) -> bool:
        """Looks for new evidence after a step. Returns whether a milestone was reached."""
        before = self.count
        milestones = self.milestones
        while self._next < len(milestones):
            milestone = milestones[self._next]
            if milestone.optional:
                self._optional.append(self._next)
            elif milestone.holds(memory, map_id):
                self._reach(self._next, step)
            else:
                break
            self._next += 1
        for index in self._optional:
            if milestones[index].holds(memory, map_id):
                self._reach(index, step)
        if self.count != before:
            self._optional = [index for index in self._optional if self.steps[index] < 0]
        return self.count != before

    def _reach(self, index: int, step: int) -> None:
        self.steps[index] = step
        self.count += 1

    def current(self) -> Milestone | None:
        """The next required milestone; None when all are reached."""
        return self.milestones[self._next] if self._next < len(self.milestones) else None

    def save_state(self) -> dict[str, Any]:
        """What :meth:`load_state` needs, as plain values."""
        return {"steps": list(self.steps), "next": self._next, "optional": list(self._optional)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from a saved state."""
        self.steps = [int(step) for step in state["steps"]]
        self.count = sum(step >= 0 for step in self.steps)
        self._next = int(state["next"])
        self._optional = [int(index) for index in state["optional"]]
