"""Data of a game in the user's own cartridge image, each part read on first use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rules_gen2.damage import DamageRules
from pkmn_pyboy.rules_gen2.records import GrowthRate, Item, MoveData, Species, Trainer, WildTable
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.creature_tables import (
    read_growth_rates,
    read_items,
    read_machines,
    read_moves,
    read_species,
    read_type_factors,
)
from pkmn_pyboy.world.encounter_tables import read_shops, read_trainers, read_wild
from pkmn_pyboy.world.image import Image


class Cartridge:
    """Tables of an image, and its world. A table that is unknown to the profile or invalid is empty.

    Args:
        rom: the image.
        profile: addresses of its tables.
    """

    def __init__(self, rom: bytes, profile: GameProfile) -> None:
        self._rom = rom
        self._profile = profile
        self._image = Image(rom, profile.memory.rom_tables)

    @cached_property
    def world(self) -> CartridgeWorld:
        """All maps."""
        return CartridgeWorld(self._rom, self._profile)

    @cached_property
    def species(self) -> Mapping[int, Species]:
        """Species by number, with evolutions and the moves that they learn by level."""
        return read_species(self._image, self._profile.names)

    @cached_property
    def moves(self) -> Mapping[int, MoveData]:
        """Moves by number."""
        return read_moves(self._image, self._profile.names)

    @cached_property
    def items(self) -> Mapping[int, Item]:
        """Items by number."""
        return read_items(self._image, self._profile.names)

    @cached_property
    def machines(self) -> tuple[int, ...]:
        """Move of each machine, by slot from 0; 0 for an empty slot."""
        return read_machines(self._image)

    @cached_property
    def type_factors(self) -> Mapping[tuple[int, int], float]:
        """Effectiveness by attacking and defending type, where it is not 1."""
        return read_type_factors(self._image)

    @property
    def damage_rules(self) -> DamageRules | None:
        """Damage formula on its moves and types; None if the image does not tell their effectiveness."""
        return DamageRules(self.moves, self.type_factors) if self.type_factors else None

    @cached_property
    def growth_rates(self) -> tuple[GrowthRate, ...]:
        """Growth rates by number."""
        return read_growth_rates(self._image, dict(self.species))

    @cached_property
    def trainers(self) -> Mapping[tuple[int, int], Trainer]:
        """Trainers by class and number in it."""
        return read_trainers(self._image, self._profile.names, self._profile.charmap)

    @cached_property
    def wild(self) -> tuple[WildTable, ...]:
        """Wild tables of all maps."""
        return read_wild(self._image, set(self.world.map_ids()))

    @cached_property
    def _wild_on(self) -> dict[int, tuple[WildTable, ...]]:
        found: dict[int, tuple[WildTable, ...]] = {}
        for table in self.wild:
            found[table.map_id] = (*found.get(table.map_id, ()), table)
        return found

    def wild_on(self, map_id: int) -> tuple[WildTable, ...]:
        """Return the wild tables of a map: in the grass, on the water, both or none."""
        return self._wild_on.get(map_id, ())

    @cached_property
    def shops(self) -> tuple[tuple[int, ...], ...]:
        """Items that each shop sells, by shop number."""
        return read_shops(self._image)
