"""Grounds for fights with wild Pokemon, and their yield: experience, steps, HP and PP a fight."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pkmn_pyboy.pilot.battle.forecast import TrainerBook
from pkmn_pyboy.pilot.goals.context import GoalContext
from pkmn_pyboy.pilot.goals.goal_planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.memory import FLOOR, GRASS, WATER, PilotMemory
from pkmn_pyboy.rules_gen2.clock import DAY, time_of_day
from pkmn_pyboy.rules_gen2.combatant import Combatant
from pkmn_pyboy.rules_gen2.records import Slot
from pkmn_pyboy.state.game_state import GameState, PartyMember
from pkmn_pyboy.world.goals import RouteGoal, on_map
from pkmn_pyboy.world.records import Place
from pkmn_pyboy.world.tile_rules import WATER as WATER_TILE

NEVER = math.inf

_CAVES = frozenset({4, 7})
"""Kinds of maps where wild Pokemon appear on all floor."""
_RATE_OF = 256
_LOOKING = 1.3
"""Steps for each one that counts; some only turn the player."""
_SAFE_LOSS = 0.7
"""Maximum share of its HP that a fighter may lose in one fight."""
_FLIGHT_TURNS, _SWITCH_TURNS = 1.5, 1.0
_RARE = 0.1
_REST_MARGIN = 1.2
_LEAST_USED, _PP_USED = 0.2, 0.8
"""Minimum share of HP, and maximum share of PP, used up between two healers."""
_HEALING_STEPS = 15
_STAGES = 4
_TOO_STRONG_ABOVE, _MEAN_FIGHT_STEPS = 3, 25
_MOST_SEEN, _MOST_UNSEEN, _MOST_NEAR = 7, 3, 2
_NEAR_SHARE = 0.2
"""Share of the best ground's yield from which a nearer ground is considered."""
_KEPT_YIELDS = 2048
_MOST_ROUTES = 12


@dataclass(frozen=True, slots=True)
class Ground:
    """Part of a map where one encounter table holds."""

    map_id: int
    on: str
    """GRASS, FLOOR or WATER: where the player walks about."""
    rate: int
    """Chance of an encounter a step, out of 256."""
    slots: tuple[Slot, ...]

    @property
    def key(self) -> str:
        """Key of the ground among those that did not pay."""
        return f"{self.map_id}/{self.on}"

    @property
    def looking_steps(self) -> float:
        """Expected steps until an encounter."""
        return _LOOKING * _RATE_OF / max(self.rate, 1)


@dataclass(frozen=True, slots=True)
class Reached:
    """Distance of a map, and the place where it is entered."""

    steps: int
    entry: Place


Distances = dict[int, Reached | None]
"""Distances of maps from one place; None for a map without a route."""


@dataclass(frozen=True, slots=True)
class Yield:
    """Mean yield of an encounter."""

    experience: float
    steps: float
    hurt: float
    """HP lost by the fighter."""
    pp: float
    """PP used."""
    worst: float
    """Highest HP loss among fights that are not rare."""


class Grounds:
    """Grounds of the image, with their distances and yields.

    Args:
        context: game, settings, routes and tasks.
        planner: forecasts of growth and damage, species and moves.
    """

    def __init__(self, context: GoalContext, planner: GoalOrientedPlanner) -> None:
        self._game = context.game
        self._settings, self._roads, self._cartridge = context.settings, context.roads, context.game.cartridge
        self._growth, self._forecaster = planner.readiness.growth, planner.readiness.forecaster
        self._tables = planner.tables
        self._book = TrainerBook(self._cartridge, self._tables)
        self._yields: dict[object, Yield] = {}
        self._has: dict[tuple[int, bool], bool] = {}

    # Which grounds exist ----------------------------------------------------------------------------------------

    def known(self, memory: PilotMemory, time: int | None = None) -> list[Ground]:
        """Return all usable grounds at the current hour, without those that did not pay lately.

        Args:
            memory: which grounds did not pay.
            time: another time of day.
        """
        time, steps = self.time_of_day() if time is None else time, self._game.steps
        surf = "surf" in self._game.usable_moves()
        found = []
        for table in self._cartridge.wild:
            on = WATER if table.water else self._land(table.map_id)
            if not on or (table.water and not (surf and self._holds(table.map_id, water=True))):
                continue
            rate = table.rates[min(time, len(table.rates) - 1)] if table.rates else 0
            ground = Ground(table.map_id, on, rate, table.at(time))
            if rate and ground.slots and memory.strength.poor_grounds.get(ground.key, 0) <= steps:
                found.append(ground)
        return found

    def time_of_day(self) -> int:
        """Return the time of day by the game's clock; DAY if it has none."""
        hour = self._game.hour()
        return DAY if hour is None else time_of_day(hour)

    def _land(self, map_id: int) -> str:
        there = self._cartridge.world.map(map_id)
        if there is None:
            return ""
        if there.kind in _CAVES:
            return FLOOR
        return GRASS if self._holds(map_id, water=False) else ""

    def _holds(self, map_id: int, *, water: bool) -> bool:
        """Return whether a map has a tile of grass, or of water."""
        found = self._has.get((map_id, water))
        if found is None:
            there, rules = self._cartridge.world.map(map_id), self._cartridge.world.rules
            values = {value for value in range(_RATE_OF) if rules.kind[value] == WATER_TILE} if water else rules.grass
            found = there is not None and any(value in values for value in there.grid.tiles)
            self._has[map_id, water] = found
        return found

    # Distances --------------------------------------------------------------------------------------------------

    def distance(self, map_id: int, state: GameState, memory: PilotMemory) -> Reached | None:
        """Return the steps to a map and where it is entered; None without a route."""
        if map_id == state.map_id:
            return Reached(0, Place(state.map_id, state.x, state.y))
        route = self._roads.route(on_map(map_id), state, memory)
        return Reached(route.cost, route.goal) if route is not None else None

    def healer_steps(self, start: Place, healers: RouteGoal) -> int:
        """Return the steps from a place to the nearest healer."""
        route = self._roads.route_from(start, healers) if healers.ends else None
        return route.cost if route is not None else self._settings.heal_steps

    # Yields -----------------------------------------------------------------------------------------------------

    def encounter(self, ground: Ground, own: Combatant, helper: Combatant | None = None) -> Yield:
        """Return an encounter's yield for the trained member; ``helper`` takes over fights that it would lose."""
        key = (ground, own, helper)
        found = self._yields.get(key)
        if found is None:
            if len(self._yields) >= _KEPT_YIELDS:
                self._yields.clear()
            found = self._yields[key] = self._encounter(ground, own, helper)
        return found

    def _encounter(self, ground: Ground, own: Combatant, helper: Combatant | None) -> Yield:
        settings, care = self._settings, self._settings.care
        total = sum(slot.chance for slot in ground.slots) or 1
        experience = steps = hurt = pp = worst = 0.0
        for slot in ground.slots:
            share = slot.chance / total
            foe = self._book.foe(slot.level, slot.species)
            turns, loss = self._exchange(own, foe)
            gain = float(self._growth.worth(slot.species, slot.level))
            if loss > _SAFE_LOSS * own.max_hp:
                gain, turns, loss = 0.0, _FLIGHT_TURNS, care * self._forecaster.pair(own, foe).threat * 0.5
                if helper is not None:
                    longer, cost = self._exchange(helper, foe)
                    cost += care * self._forecaster.pair(helper, foe).threat
                    if cost <= _SAFE_LOSS * helper.max_hp:
                        gain = float(self._growth.worth(slot.species, slot.level)) / 2
                        turns, loss = longer + _SWITCH_TURNS, cost
                        pp += share * longer
            else:
                pp += share * turns
            experience += share * gain
            steps += share * (settings.fight_steps + settings.turn_steps * turns)
            hurt += share * loss
            worst = max(worst, loss) if share >= _RARE else worst
        return Yield(experience, steps + ground.looking_steps, hurt, pp, worst)

    def _exchange(self, own: Combatant, foe: Combatant) -> tuple[float, float]:
        """Return the turns that a fight takes and the HP that it costs."""
        pair = self._forecaster.pair(own, foe)
        if not pair.hits:
            return _FLIGHT_TURNS, NEVER
        turns = math.ceil(foe.max_hp / pair.best)
        return float(turns), self._settings.care * pair.threat * (turns - int(pair.first))

    def steps_for(
        self, ground: Ground, member: PartyMember, level: int, helper: PartyMember | None, healer_steps: int
    ) -> float:
        """Return a member's steps to a level on a ground, including walks to a healer; NEVER if impossible."""
        total = 0.0
        at, stage = member.level, max((level - member.level) // _STAGES, 1)
        other = self._growth.rested(helper) if helper is not None else None
        while at < level:
            onward = min(at + stage, level)
            own = self._growth.at(member, at)
            start = member.experience if at == member.level else self._growth.experience(member.species, at)
            needed = max(self._growth.experience(member.species, onward) - start, 0)
            found = self.encounter(ground, own, other)
            if found.experience <= 0:
                return NEVER
            fights = needed / found.experience
            stands = max(own.max_hp, other.max_hp if other is not None else 0)
            moves = sum(max(left for left in (*one.pp, 0)) for one in (own, other) if one is not None)
            used = max(1 - self._rest(found, stands), _LEAST_USED)
            uses = max(fights * found.hurt / stands / used, fights * found.pp / max(moves, 1) / _PP_USED)
            total += fights * found.steps + uses * (2 * healer_steps + _HEALING_STEPS)
            at = onward
        return total

    def rest(self, ground: Ground, member: PartyMember, helper: PartyMember | None) -> float:
        """Return the share of HP below which the fighter should rest first."""
        other = self._growth.rested(helper) if helper is not None else None
        own = self._growth.rested(member)
        return self._rest(self.encounter(ground, own, other), max(own.max_hp, other.max_hp if other is not None else 0))

    def _rest(self, found: Yield, most: int) -> float:
        return min(max(_REST_MARGIN * found.worst / max(most, 1), self._settings.heal_lead_below), _SAFE_LOSS)

    def likely(self, memory: PilotMemory, level: int, state: GameState, distances: Distances) -> list[Ground]:
        """Return the few grounds likely to yield most at a level: seen ones, some unseen ones and some near ones.

        Args:
            memory: which maps were seen.
            level: the fighter's level.
            state: where the player is.
            distances: known distances from there; those of the near grounds are added.
        """
        seen = {self._game.state.map_id, *(int(name) for name in memory.visits)}
        found: dict[bool, list[tuple[float, str, Ground]]] = {True: [], False: []}
        for ground in self.known(memory):
            gain = sum(
                slot.chance * self._growth.worth(slot.species, slot.level)
                for slot in ground.slots
                if slot.level <= level + _TOO_STRONG_ABOVE
            )
            if gain:
                one = (gain / (ground.looking_steps + _MEAN_FIGHT_STEPS), ground.key, ground)
                found[ground.map_id in seen].append(one)
        best = [sorted(found[known], key=lambda one: (-one[0], one[1])) for known in (True, False)]
        first = [*best[0][:_MOST_SEEN], *best[1][:_MOST_UNSEEN]]
        least = _NEAR_SHARE * max((one[0] for one in first), default=0.0)
        left = [one[2] for one in (*best[0][_MOST_SEEN:], *best[1][_MOST_UNSEEN:]) if one[0] >= least]
        return [*(one[2] for one in first), *self._nearest(left, state, memory, distances)]

    def _nearest(
        self, grounds: Sequence[Ground], state: GameState, memory: PilotMemory, distances: Distances
    ) -> list[Ground]:
        """Return the few nearest grounds: the best one may be beyond the distance for training."""
        maps = dict.fromkeys(ground.map_id for ground in grounds)
        near: list[int] = [state.map_id] if state.map_id in maps else []
        maps.pop(state.map_id, None)
        while maps and len(near) < _MOST_NEAR:
            route = self._roads.route(RouteGoal(maps), state, memory)
            if route is None or route.cost > self._settings.train_steps:
                break
            there = route.goal.map_id
            distances[there] = Reached(route.cost, route.goal)
            near.append(there)
            maps = {map_id: None for map_id in maps if map_id != there}
        return [ground for ground in grounds if ground.map_id in near]

    def best(
        self,
        grounds: Collection[Ground],
        member: PartyMember,
        level: int,
        helper: PartyMember | None,
        healers: RouteGoal,
        state: GameState,
        memory: PilotMemory,
        distances: Distances,
        near: dict[int, int],
    ) -> tuple[float, Ground, bool] | None:
        """Return (steps, ground, whether the helper is needed) of the cheapest training to a level; None if impossible.

        Distances to grounds, and from there to a healer (``near``, by map), are looked up and added.
        """
        candidates = []
        for ground in grounds:
            for other in (None, helper) if helper is not None else (None,):
                least = self.steps_for(ground, member, level, other, 0)
                if least <= self._settings.train_most_steps:
                    candidates.append((least, ground.map_id, ground, other is not None))
        best: tuple[float, Ground, bool] | None = None
        for least, map_id, ground, helped in sorted(candidates, key=lambda one: one[:2]):
            if best is not None and least >= best[0]:
                break
            if map_id not in distances:
                if len(distances) >= _MOST_ROUTES:
                    continue
                distances[map_id] = self.distance(map_id, state, memory)
            reached = distances[map_id]
            if reached is None or reached.steps > self._settings.train_steps:
                continue
            if map_id not in near:
                near[map_id] = self.healer_steps(reached.entry, healers)
            steps = 2 * reached.steps + self.steps_for(ground, member, level, helper if helped else None, near[map_id])
            if steps <= self._settings.train_most_steps and (best is None or steps < best[0]):
                best = (steps, ground, helped)
        return best


def species_on(ground: Ground, least_chance: int) -> Mapping[int, tuple[int, int]]:
    """Return (chance in percent, level) of each species on a ground with at least that chance."""
    found: dict[int, tuple[int, int]] = {}
    for slot in ground.slots:
        chance, level = found.get(slot.species, (0, slot.level))
        found[slot.species] = (chance + slot.chance, level)
    return {species: one for species, one in found.items() if one[0] >= least_chance}
