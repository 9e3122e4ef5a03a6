"""Contents of the bag pocket by pocket, with names, in the order in which the game shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pkmn_pyboy.profile.memory_map import item_pairs
from pkmn_pyboy.rules_gen2.slots import KEY_ITEM_SLOTS, MACHINES
from pkmn_pyboy.state.bag import LIST_END


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
    listed = data.split(LIST_END, 1)[0][:number]
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
