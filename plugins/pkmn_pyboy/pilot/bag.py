"""What is in the bag, and what its things are good for as the profile says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pkmn_pyboy.profile import ItemUses
from pkmn_pyboy.state.memory_map import Memory, MemoryMap, item_pairs

ITEMS, BALLS, KEY_ITEMS, MACHINES = 0, 1, 2, 3
"""Pockets, as memory numbers the one that is shown."""

_END = 0xFF


@dataclass(frozen=True, slots=True)
class Bag:
    """Things carried, by number."""

    items: Mapping[int, int] = field(default_factory=dict)
    balls: Mapping[int, int] = field(default_factory=dict)
    key_items: frozenset[int] = frozenset()
    machines: Mapping[int, int] = field(default_factory=dict)
    """How many of each machine, by its place from 0: 50 that teach once, then those that stay."""

    @classmethod
    def read(cls, memory: Memory, places: MemoryMap) -> Bag:
        """The bag now. What the profile has no field for is empty."""

        def raw(name: str) -> bytes:
            place = places.fields.get(name)
            return memory.read(place.bank, place.address, place.size) if place is not None else b""

        def pairs(count: str, listed: str) -> dict[int, int]:
            number = raw(count)
            return dict(item_pairs(raw(listed))[: number[0]]) if number else {}

        keys = raw("wKeyItems").split(bytes([_END]), 1)[0]
        number = raw("wNumKeyItems")
        machines = {place: count for place, count in enumerate(raw("wTMsHMs")) if count and count != _END}
        return cls(
            pairs("wNumItems", "wItems"),
            pairs("wNumBalls", "wBalls"),
            frozenset(keys[: number[0]]) if number else frozenset(),
            machines,
        )

    @property
    def kinds(self) -> int:
        """How many different things there are."""
        return len(self.items) + len(self.balls) + len(self.key_items) + len(self.machines)

    def has(self, item: int) -> bool:
        """Whether at least one of a thing is there, in whichever pocket."""
        return item in self.items or item in self.balls or item in self.key_items

    def count(self, item: int) -> int:
        """How many of a thing."""
        return self.items.get(item, 0) or self.balls.get(item, 0) or int(item in self.key_items)

    def healing(self, uses: ItemUses, wanted: int) -> tuple[int, int] | None:
        """The thing that heals the wanted hit points with the least left over, else the strongest: (item, points)."""
        owned = [(points, item) for item, points in uses.heal.items() if self.items.get(item)]
        if not owned:
            return None
        enough = [pair for pair in owned if pair[0] >= wanted]
        points, item = min(enough) if enough else max(owned)
        return item, points

    def cure(self, uses: ItemUses, status: int) -> int | None:
        """A thing that cures a status, the most special one first."""
        owned = [(bits.bit_count(), item) for item, bits in uses.cure.items() if bits & status and self.items.get(item)]
        return min(owned)[1] if owned else None

    def revival(self, uses: ItemUses) -> int | None:
        """A thing that wakes one who has fainted."""
        return min((item for item in uses.revive if self.items.get(item)), default=None)

    def best_ball(self, uses: ItemUses) -> int | None:
        """The cheapest ball that is there: strong ones are kept for last."""
        owned = [(uses.ball.get(item, 1.0), item) for item in self.balls]
        return min(owned)[1] if owned else None
