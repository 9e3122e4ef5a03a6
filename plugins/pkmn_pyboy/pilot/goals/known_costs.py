"""Cost in steps of the ways to grow stronger, by what the pilot knows: grounds, catches, shops."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pkmn_pyboy.pilot.goals.context import GoalContext
from pkmn_pyboy.pilot.goals.grounds import NEVER, Distances, Ground, Grounds, Reached, species_on
from pkmn_pyboy.pilot.goals.healing import Healing
from pkmn_pyboy.pilot.goals.plans import BUY, CATCH, RIVAL, OptionCosts, Plan, Recruit, Rival, Trainers, TrainingCost
from pkmn_pyboy.pilot.goals.shopping import Shopping
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.state.game_state import PartyMember
from pkmn_pyboy.world.goals import RouteGoal, talk_ends
from pkmn_pyboy.world.records import MapPerson, Place, Role

_LEAST_CHANCE = 10
_CATCH_STEPS = 60
_PASS_TURNS = 1.5
"""Turns to leave a Pokemon that is not wanted."""
_MOST_GROUNDS, _MOST_RECRUITS = 6, 8
_ASKING_STEPS = 40
_MOST_RIVALS = 6
_SHOPS = "shops"
"""Key of all shops among those that did not pay."""
_HUNTS = "hunts"
"""Key of catches for the next fights: a failure for lack of balls does not count against a ground."""


class KnownCosts(OptionCosts):
    """Costs by maps, distances and prices.

    Args:
        context: game, settings, routes and tasks.
        grounds: where to train and catch.
        healing: where healers are.
        shopping: where shops are.
    """

    def __init__(self, context: GoalContext, grounds: Grounds, healing: Healing, shopping: Shopping) -> None:
        self._game = context.game
        self._settings, self._roads, self._cartridge = context.settings, context.roads, context.game.cartridge
        self.grounds, self._healing, self._shopping = grounds, healing, shopping
        self.memory = PilotMemory()
        """Memory of the pilot."""
        self._people: tuple[tuple[int, MapPerson], ...] | None = None
        # Distances from the player's place at this step, dropped at the next one, so that neither what was seen since
        # nor a load in between matters.
        self._distances: Distances = {}
        self._distances_from: tuple[int, ...] = ()
        self._distances_of = self.memory
        self._near: dict[int, int] = {}
        self._likely_for: dict[object, list[Ground]] = {}

    def training(self, member: PartyMember, level: int, helper: PartyMember | None) -> TrainingCost | None:
        """Return the cheapest ground for a level; None if none reaches it in time."""
        memory, state = self.memory, self._game.state
        most = max(member.level, helper.level if helper is not None else 0)
        grounds, healers = self._likely(most), self._healing.healers(memory)
        found = self.grounds.best(
            grounds, member, level, helper, healers, state, memory, self._known_distances(), self._near
        )
        if found is None:
            return None
        steps, ground, helped = found
        rest = self.grounds.rest(ground, member, helper if helped else None)
        return TrainingCost(steps, ground.map_id, ground.on, helped, rest)

    def lives(self, species: Collection[int], time: int) -> bool:
        """Return whether a ground where one of the species appears at a time of day can be reached."""
        found = [
            one for one in self.grounds.known(self.memory, time) if not species_on(one, 1).keys().isdisjoint(species)
        ]
        state, maps = self._game.state, dict.fromkeys(one.map_id for one in found)
        return state.map_id in maps or (
            bool(maps) and self._roads.route(RouteGoal(maps), state, self.memory) is not None
        )

    def recruits(self) -> Sequence[Recruit]:
        """Return the species common enough on seen maps that are not in the party."""
        memory, state = self.memory, self._game.state
        if memory.strength.poor_grounds.get(_HUNTS, 0) > self._game.steps:
            return ()
        seen = {state.map_id, *(int(name) for name in memory.visits)}
        most = max((member.level for member in state.party.members), default=0)
        balls: float = 0.0
        if not state.balls:
            steps = self._shopping.steps_to_balls(state, memory)
            if steps is None:
                return ()
            balls = steps
        here = [ground for ground in self.grounds.known(memory) if ground.map_id in seen]
        here.sort(key=lambda ground: (abs(_level(ground) - most), ground.map_id))
        owned = {member.species for member in state.party.members}
        best: dict[int, Recruit] = {}
        for ground in here[:_MOST_GROUNDS]:
            walk = self._steps_to(ground.map_id)
            if walk is None:
                continue
            for species, (chance, level) in species_on(ground, _LEAST_CHANCE).items():
                one = self._settings.fight_steps + _PASS_TURNS * self._settings.turn_steps + ground.looking_steps
                cost = 2 * walk + one * 100 / chance + _CATCH_STEPS + balls
                known = best.get(species)
                if species not in owned and (known is None or cost < known.steps):
                    best[species] = Recruit(species, level, cost, ground.map_id, ground.on)
        return sorted(best.values(), key=lambda one: (one.steps, one.species))[:_MOST_RECRUITS]

    def rivals(self, leave_out: Trainers) -> Sequence[Rival]:
        """Return the nearest trainers who are not beaten yet and not part of any goal."""
        memory, state = self.memory, self._game.state
        world = self._cartridge.world
        flags = self._game.set_flags() or set()
        left = [
            (map_id, one)
            for map_id, one in self.trainers()
            if one.beaten_flag not in flags
            and one.flag not in flags
            and (one.trainer_class, one.trainer) not in leave_out
            and memory.tries.get(f"{RIVAL}/{map_id}/{one.number}", 0) < self._settings.goal_tries
        ]
        found: list[Rival] = []
        while left and len(found) < _MOST_RIVALS:
            ends: dict[int, dict[tuple[int, int], int]] = {}
            for map_id, one in left:
                there = world.map(map_id)
                if there is not None:
                    ends.setdefault(map_id, {}).update(talk_ends(there, world.rules, one.x, one.y))
            route = self._roads.route(RouteGoal(ends), state, memory)
            if route is None or route.cost > self._settings.train_steps:
                break
            goal = route.goal
            nearest = min(
                (one for one in left if one[0] == goal.map_id),
                key=lambda one: abs(one[1].x - goal.x) + abs(one[1].y - goal.y),
            )
            left.remove(nearest)
            map_id, one = nearest
            found.append(Rival(one.trainer_class, one.trainer, map_id, one.number, one.beaten_flag, route.cost))
        return found

    def give_up(self, plan: Plan, *, late: bool = True) -> None:
        """Exclude a plan's ground for a while; or its trainer, all shops, or catches if none could be tried."""
        memory, until = self.memory, self._game.steps + self._settings.poor_ground_steps
        if plan.kind == RIVAL:
            memory.tries[f"{RIVAL}/{plan.ground}/{plan.person}"] = self._settings.goal_tries
        elif plan.kind == BUY:
            memory.strength.poor_grounds[_SHOPS] = until
        elif plan.kind == CATCH and not late:
            memory.strength.poor_grounds[_HUNTS] = until
        elif plan.where:
            memory.strength.poor_grounds[plan.where] = until
        if plan.kind == CATCH:
            memory.hunt.grounds = {}

    def beaten(self, flag: int) -> bool:
        """Return whether an event flag is set."""
        return flag in (self._game.set_flags() or ())

    def trainers(self) -> Sequence[tuple[int, MapPerson]]:
        """Return all trainers on the image's maps with a flag for their defeat, except those of the story."""
        if self._people is None:
            world = self._cartridge.world
            story = {
                (foe.trainer_class, foe.number)
                for goal in (*self._game.profile.milestones, *self._game.profile.errands.values())
                for foe in goal.requires.foes
            }
            self._people = tuple(
                (map_id, one)
                for map_id in world.map_ids()
                for there in (world.map(map_id),)
                for one in (there.people if there is not None else ())
                if one.role is Role.TRAINER and one.trainer and one.beaten_flag >= 0
                and (one.trainer_class, one.trainer) not in story
            )  # fmt: skip
        return self._people

    def for_sale(self, items: Collection[int]) -> bool:
        """Return whether a reachable clerk sells one of the items at a price that the money allows."""
        return self._shopping.steps_to(items, self._game.state, self.memory) is not None

    def heals(self, most: int) -> tuple[float, int, int, int] | None:
        """Return the shop whose healing items restore most for the money."""
        if most <= 0 or self.memory.strength.poor_grounds.get(_SHOPS, 0) > self._game.steps:
            return None
        state = self._game.state
        hp = max((member.max_hp for member in state.party.members), default=1)
        found = self._shopping.nearest_heals(state, self.memory)
        if found is None:
            return None
        steps, goods = found
        best = max(goods, key=lambda one: (min(one[1], hp) * min(state.money // one[2], most), one[0]))
        item, points, price = best
        count = min(state.money // price, most)
        return (2 * steps + _ASKING_STEPS, item, points, count) if count else None

    def _steps_to(self, map_id: int) -> int | None:
        distances = self._known_distances()
        if map_id not in distances:
            distances[map_id] = self.grounds.distance(map_id, self._game.state, self.memory)
        reached = distances[map_id]
        return reached.steps if reached is not None else None

    def _likely(self, level: int) -> list[Ground]:
        """Return the promising grounds for a level, searched once."""
        distances = self._known_distances()
        key = (level, *sorted(self.memory.strength.poor_grounds.items()))
        if key not in self._likely_for:
            self._likely_for[key] = self.grounds.likely(self.memory, level, self._game.state, distances)
        return self._likely_for[key]

    def _known_distances(self) -> Distances:
        """Return the distances from the player's place, searched once."""
        state = self._game.state
        here = (state.map_id, state.x, state.y, self._game.steps)
        if here != self._distances_from or self.memory is not self._distances_of:
            self._distances_of = self.memory
            start = Place(state.map_id, state.x, state.y)
            self._distances, self._distances_from = {state.map_id: Reached(0, start)}, here
            self._near, self._likely_for = {}, {}
        return self._distances


def _level(ground: Ground) -> float:
    total = sum(slot.chance for slot in ground.slots)
    return sum(slot.chance * slot.level for slot in ground.slots) / total if total else NEVER
