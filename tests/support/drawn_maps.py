"""Maps drawn in letters, with their moves by the tiles of a profile, and searches over them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.knowledge import openers_of
from pkmn_pyboy.world.map_moves import Costs, MapMoves
from pkmn_pyboy.world.map_search import MapSearch
from pkmn_pyboy.world.records import NOWHERE, Warp, WorldMap
from pkmn_pyboy.world.tile_rules import MapGrid, TileRules

TILES = {
    ".": 0x00,
    "#": 0x07,
    "%": 0x18,
    "~": 0x29,
    "v": 0xA3,
    ">": 0xA0,
    "|": 0xB0,
    "i": 0x23,
    "D": 0x71,
    "m": 0x70,
    "t": 0x12,
    "W": 0x33,
    "o": 0x60,
}
"""Collision values of Crystal."""

_WARPS = "Dmo"


def draw(*rows: str) -> WorldMap:
    """Return a map of some rows with walls around it, and a warp on each door, mat and hole."""
    width = len(rows[0])
    framed = ["#" * (width + 2), *(f"#{row}#" for row in rows), "#" * (width + 2)]
    grid = MapGrid(1, width, len(rows), bytes(TILES[letter] for row in framed for letter in row))
    places = [(x, y) for y, row in enumerate(rows) for x, letter in enumerate(row) if letter in _WARPS]
    warps = tuple(Warp(number, x, y, NOWHERE, 0) for number, (x, y) in enumerate(places, 1))
    return WorldMap(1, "drawn", 0, 0, 0, grid, warps)


@dataclass(frozen=True)
class Walks:
    """Moves and searches over drawn maps by the tiles of a profile."""

    profile: GameProfile

    def steps(self, here: WorldMap, *, grass: int = 0) -> MapMoves:
        """Return the moves of a map."""
        rules = TileRules.of(self.profile.collision)
        return MapMoves(here, rules, openers_of(self.profile, rules), Costs(grass=grass))

    def search(
        self,
        here: WorldMap,
        x: int,
        y: int,
        *moves: str,
        grass: int = 0,
        blocked: Collection[int] = (),
        pushable: Collection[int] = (),
    ) -> MapSearch:
        """Return a search from a tile with some field moves."""
        steps = self.steps(here, grass=grass).stopped_by(frozenset({*blocked, *pushable}))
        start = {here.grid.cell(x, y): 0}
        return MapSearch(steps, start, Abilities.of(moves), blocked=blocked, pushable=pushable, sort_ties=True)
