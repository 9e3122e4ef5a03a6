"""Contents of the bag: counts by number, and pocket by pocket with names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pkmn_pyboy.profile.memory_map import Memory, MemoryMap, item_pairs
from pkmn_pyboy.profile.model import ItemUses
from pkmn_pyboy.rules_gen2.slots import KEY_ITEM_SLOTS, MACHINES

_LIST_END = 0xFF


@dataclass(frozen=True, slots=True)
class Bag:
    """Items carried, by number."""

    items: Mapping[int, int] = field(default_factory=dict)
    balls: Mapping[int, int] = field(default_factory=dict)
    key_items: frozenset[int] = frozenset()
    machines: Mapping[int, int] = field(default_factory=dict)
    """Count of each machine, by index from 0: 50 that are used up when taught, then the permanent ones."""

    @classmethod
    def read(cls, memory: Memory, places: MemoryMap) -> Bag:
        """Read the bag from memory. Pockets that the profile has no field for are empty."""

        def raw(name: str) -> bytes:
            place = places.fields.get(name)
            return memory.read(place.bank, place.address, place.size) if place is not None else b""

        def pairs(count: str, listed: str) -> dict[int, int]:
            number = raw(count)
            return dict(item_pairs(raw(listed))[: number[0]]) if number else {}

        keys = raw("wKeyItems").split(bytes([_LIST_END]), 1)[0]
        number = raw("wNumKeyItems")
        machines = {place: count for place, count in enumerate(raw("wTMsHMs")) if count and count != _LIST_END}
        return cls(
            pairs("wNumItems", "wItems"),
            pairs("wNumBalls", "wBalls"),
            frozenset(keys[: number[0]]) if number else frozenset(),
            machines,
        )

    @property
    def kinds(self) -> int:
        """Number of different items."""
        return len(self.items) + len(self.balls) + len(self.key_items) + len(self.machines)

    def has(self, item: int) -> bool:
        """Return True if any pocket holds at least one of an item."""
        return item in self.items or item in self.balls or item in self.key_items

    def count(self, item: int) -> int:
        """Return the number of an item."""
        return self.items.get(item, 0) or self.balls.get(item, 0) or int(item in self.key_items)

    def healing(self, uses: ItemUses, wanted: int) -> tuple[int, int] | None:
        """Return (item, HP) of the item that heals the wanted HP with the least excess, else of the strongest item."""
        owned = [(points, item) for item, points in uses.heal.items() if self.items.get(item)]
        if not owned:
            return None
        enough = [pair for pair in owned if pair[0] >= wanted]
        points, item = min(enough) if enough else max(owned)
        return item, points

    def cure(self, uses: ItemUses, status: int) -> int | None:
        """Return an item that cures a status condition, preferring the most specific one."""
        owned = [(bits.bit_count(), item) for item, bits in uses.cure.items() if bits & status and self.items.get(item)]
        return min(owned)[1] if owned else None

    def revival(self, uses: ItemUses) -> int | None:
        """Return an item that revives a fainted member."""
        return min((item for item in uses.revive if self.items.get(item)), default=None)

    def best_ball(self, uses: ItemUses) -> int | None:
        """Return the cheapest ball in the bag; strong ones are saved."""
        owned = [(uses.ball.get(item, 1.0), item) for item in self.balls]
        return min(owned)[1] if owned else None


@dataclass(frozen=True, slots=True)
class Stack:
    """Stack of one item."""

    item: int
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Machine:
    """Machine that teaches a move. ``label`` goes from TM01 to HM07; ``move`` is 0 if the image does not say."""

    label: str
    move: int
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class NamedBag:
    """Pockets of the bag with names, each in the order in which the game shows it."""

    items: tuple[Stack, ...] = ()
    balls: tuple[Stack, ...] = ()
    key_items: tuple[Stack, ...] = ()
    machines: tuple[Machine, ...] = ()

    def count(self, item: int) -> int:
        """Return the number of an item that is carried, without machines."""
        return sum(stack.count for stack in (*self.items, *self.balls, *self.key_items) if stack.item == item)

    def counts(self) -> dict[str, int]:
        """Return the number of each item carried, by name; machines by label and move."""
        found = {stack.name: stack.count for stack in (*self.items, *self.balls, *self.key_items)}
        return found | {f"{machine.label} {machine.name}".strip(): machine.count for machine in self.machines}


def read_stacks(number: int, data: bytes, limit: int, names: Mapping[int, str]) -> tuple[Stack, ...]:
    """Return a pocket of pairs; empty if it claims more entries than slots, as before a game is loaded."""
    if not 0 < number <= limit:
        return ()
    return tuple(Stack(item, _name(item, names), count) for item, count in item_pairs(data)[:number])


def read_key_items(number: int, data: bytes, names: Mapping[int, str]) -> tuple[Stack, ...]:
    """Return the pocket of key items, one of each."""
    if not 0 < number <= KEY_ITEM_SLOTS:
        return ()
    listed = data.split(bytes((_LIST_END,)), 1)[0][:number]
    return tuple(Stack(item, _name(item, names), 1) for item in listed)


def read_machines(data: bytes, moves: tuple[int, ...], names: Mapping[int, str]) -> tuple[Machine, ...]:
    """Return the machines: memory holds a count for each, the hidden ones last."""
    machines = []
    for place, count in enumerate(data):
        if count:
            hidden = place >= MACHINES
            label = f"HM{place - MACHINES + 1:02}" if hidden else f"TM{place + 1:02}"
            move = moves[place] if place < len(moves) else 0
            machines.append(Machine(label, move, names.get(move, ""), count))
    return tuple(machines)


def _name(item: int, names: Mapping[int, str]) -> str:
    return names.get(item, f"item {item}")
