"""Moves that a map allows from each tile, and their needs: a field move, a person out of the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from pkmn_pyboy.world.abilities import FIELD_MOVES, Abilities
from pkmn_pyboy.world.records import NO_FLAG, MapPerson, Role, WorldMap
from pkmn_pyboy.world.tile_rules import LAND, OPPOSITE, STEPS, WALL, WATER, TileRules

BLOCKED = -1
MISSING = 2000
"""Penalty for an obstacle that cannot be passed yet, in searches that allow obstacles."""
FIXED = 20_000
"""Penalty in such searches for an obstacle that nothing is known to open."""

PERSON, ITEM, WALKER, SIGHT = "person", "item", "walker", "sight"
_UP = 1
_PUSHED = {Role.BOULDER: "strength", Role.ROCK: "rock_smash"}


@dataclass(frozen=True, slots=True)
class Costs:
    """Extra costs of a step beyond 1, in steps."""

    grass: int = 0
    """A step into grass with wild Pokemon."""
    exit: int = 4
    """A step through a door or a staircase, which take time to act."""
    use_move: int = 8
    """Use of a field move: cut a tree, start to surf."""
    push: int = 30
    """A step past a boulder that must be pushed away first."""
    someone: int = 30
    """A step past a person who may be present."""
    walker: int = 2
    """A step over the tile of a person who walks."""
    take: int = 8
    """A step over an item, which is taken first."""
    sight: int = 0
    """A step into the sight of a trainer who may be unbeaten."""


@dataclass(frozen=True, slots=True)
class Need:
    """Need of a move. ``begins``: the field move must be started here (land to water), not continued."""

    kind: str
    cell: int
    begins: bool = True
    flag: int = NO_FLAG
    person: int = 0
    fixed: bool = False
    """True if nothing is known to open it."""
    who: MapPerson | None = None
    """Person with hours, if any."""

    def cost(self, abilities: Abilities, costs: Costs, *, relaxed: bool) -> int:
        """Return its cost in steps, BLOCKED if it cannot be met."""
        flags = abilities.flags
        gone = flags is not None and self.flag in flags
        if self.who is not None and abilities.hour is not None:
            if not self.who.stands_at(abilities.hour):
                return 0
            if self.flag == NO_FLAG and self.kind == PERSON:
                return FIXED if relaxed else BLOCKED
        if self.kind == SIGHT:
            return 0 if gone else costs.sight
        if self.flag != NO_FLAG and gone:
            return 0
        if self.kind == ITEM:
            return costs.take
        if self.kind == WALKER:
            return costs.walker
        if self.kind == PERSON:
            if self.fixed:
                return FIXED if relaxed else BLOCKED
            if flags is None or self.flag == NO_FLAG:
                return costs.someone
            return MISSING if relaxed else BLOCKED
        if self.kind in abilities.moves:
            return (costs.push if self.person else costs.use_move) if self.begins else 0
        if not relaxed:
            return BLOCKED
        return MISSING if self.begins else 0


Move = tuple[int, int, int, int]
"""Target cell (or its distance), direction to press, cost, number of its :attr:`MapMoves.needs`."""


class MapMoves:
    """All moves of a map, computed on first use, then kept.

    People of the map are needs of the moves onto their tiles. For a map whose people are known to be there, give a map
    without people, and block their cells in the search.

    Args:
        here: the map.
        rules: meaning of its tiles.
        openers: field moves by the tiles that they open.
        costs: extra costs.
    """

    def __init__(self, here: WorldMap, rules: TileRules, openers: Mapping[int, str], costs: Costs) -> None:
        self.map = here
        self.grid = grid = here.grid
        self.rules = rules
        self.costs = costs
        self.needs: list[tuple[Need, ...]] = [()]
        """Needs of moves, by number; number 0 is no need."""
        self.enter = frozenset(
            cell
            for cell in (grid.cell(warp.x, warp.y) for warp in here.warps if grid.inside(warp.x, warp.y))
            if grid.tiles[cell] in rules.warps
        )
        """Cells that move the player away when stepped on: reached, never passed."""
        self._openers = openers
        self._numbers: dict[tuple[Need, ...], int] = {(): 0}
        self._moves: list[tuple[Move, ...] | None] = [None] * len(grid.tiles)
        self._shared_moves: dict[tuple[Move, ...], tuple[Move, ...]] = {}
        self._people = self._needs_of_people(here.people)
        self._people_with_hours = [person for person in here.people if person.keeps_hours]
        if costs.sight:
            self._mark_sight(here.people)
        self._field_moves = sorted({openers[tile] for tile in set(grid.tiles) if tile in openers})
        self._flags = sorted({need.flag for needs in self._people.values() for need in needs if need.flag != NO_FLAG})
        self._plain = self._plain_cells()
        self._stops = frozenset(self._people)

    def stopped_by(self, cells: frozenset[int]) -> MapMoves:
        """Return the same moves with cells of people or boulders that stop sliding over ice."""
        if self.rules.ice not in self.grid.tiles:
            return self
        other = copy(self)
        other._stops, other._moves = cells.union(self._people), [None] * len(self._moves)
        return other

    def __getitem__(self, cell: int) -> tuple[Move, ...]:
        """Return the moves from a cell, each with its target cell."""
        return tuple((cell + away, direction, cost, need) for away, direction, cost, need in self.moves(cell))

    def moves(self, cell: int) -> tuple[Move, ...]:
        """Return the moves from a cell, each with the distance to its target cell: most cells share theirs."""
        moves = self._moves[cell]
        if moves is None:
            found = tuple((target - cell, direction, cost, need) for target, direction, cost, need in self._from(cell))
            moves = self._moves[cell] = self._shared_moves.setdefault(found, found)
        return moves

    def situation(self, abilities: Abilities, *, relaxed: bool) -> tuple[object, ...]:
        """Return all that makes a difference on this map: equal values allow the same moves at the same costs."""
        moves, flags = abilities.moves, abilities.flags
        pushes = tuple(kind in moves for kind in _PUSHED.values()) if self._people else ()
        known = None if flags is None else tuple(flag in flags for flag in self._flags)
        hour = abilities.hour
        there = None if hour is None else tuple(person.stands_at(hour) for person in self._people_with_hours)
        return (relaxed, known, pushes, there, *(move in moves for move in self._field_moves))

    def cost_of(self, number: int, abilities: Abilities, *, relaxed: bool) -> int:
        """Return the total cost of some needs, BLOCKED if one of them cannot be met."""
        total = 0
        for need in self.needs[number]:
            cost = need.cost(abilities, self.costs, relaxed=relaxed)
            if cost == BLOCKED:
                return BLOCKED
            total += cost
        return total

    def into(self, cell: int, direction: int, *, from_water: bool) -> int | None:
        """Return the number of the needs for stepping onto a cell, None if it is impossible."""
        needs = self._entering(cell, direction, from_water=from_water)
        return None if needs is None else self._number(needs)

    def begins_move(self, cell: int, direction: int) -> bool:
        """Return True if a step from a cell begins with a field move on the tile ahead."""
        ahead = cell + self.grid.deltas[direction]
        needs = self._entering(ahead, direction, from_water=self.is_water(cell))
        return needs is not None and any(need.kind in FIELD_MOVES and need.begins for need in needs)

    def free_between(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Return True if both directions between neighbouring tiles need nothing."""
        first, second = self.grid.cell(*one), self.grid.cell(*other)
        if first in self.enter or second in self.enter:
            return False  # it leads elsewhere
        return all(
            any(away == to - at and need == 0 for away, _, _, need in self.moves(at))
            for at, to in ((first, second), (second, first))
        )

    def is_water(self, cell: int) -> bool:
        """Return True if a cell is water."""
        return self.rules.kind[self.grid.tiles[cell]] == WATER

    def _number(self, needs: tuple[Need, ...]) -> int:
        number = self._numbers.get(needs)
        if number is None:
            number = self._numbers[needs] = len(self.needs)
            self.needs.append(needs)
        return number

    def _plain_cells(self) -> bytearray:
        """Return 1 for empty floor cells that can be stepped on from every side, 0 for all others."""
        grid, rules = self.grid, self.rules
        plain = bytearray(rules.plain)
        for value in rules.grass if self.costs.grass else ():
            plain[value] = 0
        cells = bytearray(grid.tiles.translate(plain))
        stride = grid.stride
        cells[:stride] = cells[-stride:] = bytes(stride)
        cells[::stride] = cells[stride - 1 :: stride] = bytes(grid.height + 2)
        for cell in self._people:
            cells[cell] = 0
        return cells

    def _from(self, cell: int) -> Iterator[Move]:
        tiles, rules, costs, plain = self.grid.tiles, self.rules, self.costs, self._plain
        here = tiles[cell]
        sides, jumps, from_water = rules.sides[here], rules.jumps[here], rules.kind[here] == WATER
        for direction, delta in enumerate(self.grid.deltas):
            target, cost = cell + delta, 1
            if sides >> direction & 1:
                continue
            if plain[target]:
                yield target, direction, 1, 0
                continue
            if jumps >> direction & 1 and rules.kind[tiles[target]] == WALL:
                target, cost = target + delta, 2
            needs = self._entering(target, direction, from_water=from_water)
            if needs is None:
                continue
            while tiles[target] == rules.ice and self._slides(target, direction):
                target += delta
                cost += 1
            if costs.grass and tiles[target] in rules.grass:
                cost += costs.grass
            yield target, direction, cost, self._number(needs) if needs else 0

    def _entering(self, cell: int, direction: int, *, from_water: bool) -> tuple[Need, ...] | None:
        grid, rules = self.grid, self.rules
        stride = grid.stride
        if not (stride < cell < len(grid.tiles) - stride and 0 < cell % stride < stride - 1):
            return None
        tile = grid.tiles[cell]
        if rules.sides[tile] >> OPPOSITE[direction] & 1:
            return None
        kind, opener = rules.kind[tile], self._openers.get(tile)
        needs: list[Need] = []
        if kind == WATER:
            needs.append(Need("surf", cell, begins=not from_water))
            if opener == "whirlpool" or (opener == "waterfall" and direction == _UP):
                needs.append(Need(opener, cell))
        elif kind == WALL:
            if opener is None:
                return None
            needs.append(Need(opener, cell))
        needs += self._people.get(cell, ())
        return tuple(needs)

    def _slides(self, cell: int, direction: int) -> bool:
        """Return True if the player slides on from a tile of ice to the next."""
        ahead = cell + self.grid.deltas[direction]
        return (
            cell not in self.enter
            and not {cell, ahead} & self._stops
            and self.rules.kind[self.grid.tiles[ahead]] == LAND
            and self._entering(ahead, direction, from_water=False) == ()
        )

    def _needs_of_people(self, people: Sequence[MapPerson]) -> dict[int, tuple[Need, ...]]:
        found: dict[int, tuple[Need, ...]] = {}
        for person in people:
            cell = self.grid.cell(person.x, person.y)
            who = person if person.keeps_hours else None
            fixed = False
            if person.role in _PUSHED:
                kind = _PUSHED[person.role]
            elif person.role is Role.ITEM:
                kind = ITEM
            elif person.walks:
                kind = WALKER
            else:
                kind, fixed = PERSON, person.flag == NO_FLAG and who is None
            need = Need(kind, cell, True, person.flag, person.number, fixed, who)
            found[cell] = (*found.get(cell, ()), need)
        return found

    def _mark_sight(self, people: Sequence[MapPerson]) -> None:
        """Mark the tiles that trainers see from their place."""
        grid, rules = self.grid, self.rules
        for person in people:
            if person.role is not Role.TRAINER or not person.sight:
                continue
            directions = range(len(STEPS)) if person.facing < 0 else (person.facing,)
            for direction in directions:
                cell = grid.cell(person.x, person.y)
                for _ in range(person.sight):
                    cell += grid.deltas[direction]
                    if not 0 <= cell < len(grid.tiles) or rules.kind[grid.tiles[cell]] == WALL:
                        break
                    need = Need(SIGHT, cell, True, person.beaten_flag, person.number)
                    self._people[cell] = (*self._people.get(cell, ()), need)
