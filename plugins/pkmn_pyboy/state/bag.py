"""Contents of the bag as counts by number, and the choice of an item by its use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pkmn_pyboy.profile.memory_map import Memory, MemoryMap, item_pairs
from pkmn_pyboy.profile.model import ItemUses

LIST_END = b"\xff"
"""Byte that ends a list of items."""


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

        keys = raw("wKeyItems").split(LIST_END, 1)[0]
        number = raw("wNumKeyItems")
        machines = {place: count for place, count in enumerate(raw("wTMsHMs")) if count and count != LIST_END[0]}
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
