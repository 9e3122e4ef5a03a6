"""Hunting for needed Pokemon: which species are suitable, where they live at this hour, balls, and the route there."""

from __future__ import annotations

from collections.abc import Collection

from pkmn_pyboy.pilot.goals.context import GoalContext
from pkmn_pyboy.pilot.goals.fighting import FightGoals
from pkmn_pyboy.pilot.goals.grounds import Ground, Grounds, species_on
from pkmn_pyboy.pilot.goals.shopping import Shopping
from pkmn_pyboy.pilot.memory import GRASS, PACE, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.state.game_state import GameState

_PASS_STEPS = 20
_MET_HERE = 1000
_MOST_WAYS = 12


class Hunting:
    """Chooser of the place to catch a species.

    Args:
        context: game, settings, routes and tasks.
        grounds: where species live, and how far away that is.
        shopping: where balls are sold.
        fights: goals to fight on a ground or to go there.
    """

    def __init__(self, context: GoalContext, grounds: Grounds, shopping: Shopping, fights: FightGoals) -> None:
        self._game, self._settings = context.game, context.settings
        self._grounds, self._shopping, self.fights = grounds, shopping, fights

    def hunt(
        self,
        species: Collection[int],
        key: str,
        why: str,
        state: GameState,
        memory: PilotMemory,
        around: Surroundings,
        where: str = "",
    ) -> WalkGoal | None:
        """Return a goal that leads to one of the species; balls are bought first.

        None without balls and money.

        Args:
            species: suitable species; empty for any.
            key: name of what is tried.
            why: reason to show with the decision.
            state: the current state.
            memory: keeps the ground.
            around: what can be reached here.
            where: key of the ground that a plan counts on; empty for the best one.
        """
        memory.hunt.wanted = list(species) or [0]
        if not state.balls:
            return self._shopping.for_balls(state, memory, around)
        if not species:
            return self.fights.in_grass(key, why, state, memory, around)
        if self._game.knowledge == "seen":
            return self._hunt_unknown(key, why, state, memory, around)
        wish = ",".join(str(one) for one in sorted(species)[:_MOST_WAYS])
        fixed = where or memory.hunt.grounds.get(wish)
        known = (one for one in self._grounds.known(memory) if one.key == fixed)
        ground = next((one for one in known if not species_on(one, 1).keys().isdisjoint(species)), None)
        if ground is None:
            ground = self.ground(species, state, memory)
        memory.hunt.grounds = {wish: ground.key} if ground is not None else {}
        if ground is None:
            return None
        found = self.fights.on_ground(ground.map_id, ground.on, key, why, state, memory, around)
        if found is None:
            memory.hunt.grounds = {}
        return found

    def _hunt_unknown(
        self, key: str, why: str, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> WalkGoal | None:
        """Fight where no species are known: in one patch of grass after another, for a limited time at this hour.

        After that the planner waits for another time of day if an errand can bring it: see :func:`barren_times`.
        """
        time, most = self._grounds.time_of_day(), self._settings.hunt_tries
        wish = ",".join(str(one) for one in sorted(memory.hunt.wanted)[:_MOST_WAYS])
        if memory.hunt.tried_for != wish:
            memory.hunt.tried_for, memory.hunt.tries = wish, {}
        here = f"{state.map_id}/{time}"
        tried = (name.split("/") for name, tries in memory.hunt.tries.items() if tries >= most)
        barren = {int(map_id) for map_id, at in tried if at == str(time)}
        if barren and (state.map_id in barren or around.nearest_ground(GRASS) is None):
            found = self.fights.in_other_grass(barren, why, state, memory, around)
            if found is not None:
                return found
            memory.hunt.tries.clear()
        found = self.fights.in_grass(key, why, state, memory, around)
        if found is not None and found.kind == PACE:
            memory.count(memory.hunt.tries, here)
        return found

    def note_battle(self, state: GameState, memory: PilotMemory) -> None:
        """Note the opponent: where a wanted species was met, the hunt continues without a limit."""
        foe = state.battle.opponent if state.battle is not None else None
        if memory.hunt.tries and foe is not None and foe.species in memory.hunt.wanted:
            memory.hunt.tries[f"{state.map_id}/{self._grounds.time_of_day()}"] = -_MET_HERE

    def ground(self, species: Collection[int], state: GameState, memory: PilotMemory) -> Ground | None:
        """Return the ground where one of the species is met in the fewest steps at this hour, including the route."""
        options = []
        for ground in self._grounds.known(memory):
            chance = sum(one[0] for number, one in species_on(ground, 1).items() if number in species)
            if chance:
                options.append(((ground.looking_steps + _PASS_STEPS) * 100 / chance, ground.map_id, ground))
        best: tuple[float, Ground] | None = None
        looked = 0
        seen = {state.map_id, *(int(name) for name in memory.visits)}
        for steps, map_id, ground in sorted(options, key=lambda one: (one[1] not in seen, *one[:2])):
            if (best is not None and steps >= best[0]) or looked >= _MOST_WAYS:
                continue
            looked += 1
            reached = self._grounds.distance(map_id, state, memory)
            if reached is not None and (best is None or steps + reached.steps < best[0]):
                best = (steps + reached.steps, ground)
        return best[1] if best is not None else None


def barren_times(memory: PilotMemory, species: Collection[int], most: int) -> frozenset[int]:
    """Return the times of day with a hunt so long that the species must appear at another time."""
    if memory.hunt.tried_for != ",".join(str(one) for one in sorted(species)[:_MOST_WAYS]):
        return frozenset()
    return frozenset(int(name.split("/")[1]) for name, tries in memory.hunt.tries.items() if tries >= most)
