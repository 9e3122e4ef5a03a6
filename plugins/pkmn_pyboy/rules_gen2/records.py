"""Frozen records of a cartridge image's tables: species, moves, items, trainers, wild Pokemon."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class EvolutionKind(IntEnum):
    """Cause of an evolution, by the image's numbers."""

    LEVEL = 1
    ITEM = 2
    TRADE = 3
    HAPPINESS = 4
    STAT = 5


@dataclass(frozen=True, slots=True)
class Evolution:
    """Evolution of a species into another one."""

    kind: EvolutionKind
    parameter: int
    """Level, item, held item (255 for none) or time of day, by the kind."""
    species: int
    comparison: int = 0
    """Comparison for the kind STAT: 1 attack above defence, 2 below, 3 equal."""


@dataclass(frozen=True, slots=True)
class Species:
    """Species of Pokemon."""

    number: int
    name: str
    hp: int
    attack: int
    defense: int
    speed: int
    special_attack: int
    special_defense: int
    types: tuple[int, int]
    catch_rate: int
    base_experience: int
    items: tuple[int, int]
    growth: int
    machines: frozenset[int]
    """Slots of the machines (from 0) that teach it."""
    evolutions: tuple[Evolution, ...] = ()
    learns: tuple[tuple[int, int], ...] = ()
    """Level and move, in order."""


@dataclass(frozen=True, slots=True)
class MoveData:
    """Move data. ``accuracy`` and ``effect_chance`` are out of 255."""

    number: int
    name: str
    effect: int
    power: int
    type: int
    accuracy: int
    pp: int
    effect_chance: int


@dataclass(frozen=True, slots=True)
class Item:
    """Item data. ``pocket`` is 1 for items, 2 for key items, 3 for balls, 4 for machines."""

    number: int
    name: str
    price: int
    effect: int
    parameter: int
    pocket: int


@dataclass(frozen=True, slots=True)
class TrainerMember:
    """Pokemon of a trainer. If ``moves`` is empty, it has those that it learns up to its level."""

    level: int
    species: int
    item: int = 0
    moves: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Trainer:
    """Trainer and their party."""

    trainer_class: int
    number: int
    """Number in the class, from 1."""
    name: str
    party: tuple[TrainerMember, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """Entry of a wild table. ``chance`` is in percent of the encounters."""

    chance: int
    level: int
    species: int


@dataclass(frozen=True, slots=True)
class WildTable:
    """Wild Pokemon of a map, in the grass (or on all floor, in a cave) or on the water."""

    map_id: int
    water: bool
    rates: tuple[int, ...]
    """Chance of an encounter per step out of 256: by time of day, on the water one value for all."""
    slots: tuple[tuple[Slot, ...], ...]
    """Slots by time of day; on the water one list for all."""

    def at(self, time: int) -> tuple[Slot, ...]:
        """Return the slots at a time of day: 0 morning, 1 day, 2 night."""
        return self.slots[min(time, len(self.slots) - 1)]


@dataclass(frozen=True, slots=True)
class GrowthRate:
    """Experience curve: numerator / denominator n^3 + square n^2 + linear n - constant."""

    numerator: int
    denominator: int
    square: int
    linear: int
    constant: int

    def experience(self, level: int) -> int:
        """Return the total experience of a level."""
        cube = self.numerator * level**3 // self.denominator if self.denominator else 0
        return max(0, cube + self.square * level**2 + self.linear * level - self.constant)
