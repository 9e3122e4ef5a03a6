"""Blocks of a map that its script sets when the map is entered, by the event flags at that moment."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

Tile = tuple[int, int]


@dataclass(frozen=True, slots=True, order=True)
class Block:
    """Block of two by two tiles: its upper left tile, and its number in the map's tileset."""

    x: int
    y: int
    number: int


@dataclass(frozen=True)
class StoryBlocks:
    """Blocks that differ from a map's own.

    Args:
        map_id: the map.
        always: with none of the events set.
        by_event: with only that event set.
    """

    map_id: int
    always: tuple[Block, ...] = ()
    by_event: Mapping[int, tuple[Block, ...]] = field(default_factory=dict)

    @cached_property
    def events(self) -> frozenset[int]:
        """Event flags that make a difference."""
        return frozenset(self.by_event)

    @cached_property
    def _conditions(self) -> tuple[tuple[Block, bool, frozenset[int]], ...]:
        """Return each block, True if it is there without events, and the events that reverse this if any is set."""
        blocks = dict.fromkeys((*self.always, *(one for blocks in self.by_event.values() for one in blocks)))
        found = []
        for block in blocks:
            at_first = block in self.always
            events = frozenset(event for event, there in self.by_event.items() if (block in there) != at_first)
            found.append((block, at_first, events))
        return tuple(found)

    def now(self, flags: Collection[int]) -> dict[Tile, int]:
        """Return the number of each block that the script sets, by the block's upper left tile.

        Args:
            flags: event flags that are set.
        """
        return {
            (block.x, block.y): block.number
            for block, at_first, events in self._conditions
            if at_first == events.isdisjoint(flags)
        }
