"""Catching what is needed: who would do, on which ground it lives at this hour, the balls for it, and the way there."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.grounds import Ground, Grounds, species_on
from pkmn_pyboy.pilot.memory import GRASS, PACE, Goal, PilotMemory
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.shopping import Shopping
from pkmn_pyboy.pilot.surroundings import Surroundings
from pkmn_pyboy.state.game_state import GameState

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment

FightOn = Callable[[int, str, str, str, GameState, PilotMemory, Surroundings], Goal | None]
Fights = Callable[[str, str, GameState, PilotMemory, Surroundings], Goal | None]
Earn = Callable[[GameState, PilotMemory, Surroundings], Goal | None]
OtherGrass = Callable[[Collection[int], str, GameState, PilotMemory, Surroundings], Goal | None]

_PASS_STEPS = 20
_MET_HERE = 1000
_MOST_WAYS = 12


class Hunting:
    """Chooses where to catch.

    Args:
        environment: the game.
        settings: whether it buys.
        grounds: who lives where, and how far that is.
        shopping: where balls are sold.
        fight_on: fights on a ground, or goes there.
        fights: fights in the nearest grass, where nothing is known.
        earn: fights a trainer near by for money.
        other_grass: the way to the nearest grass that is not on some maps.
    """

    def __init__(
        self,
        environment: PokemonEnvironment,
        settings: PilotSettings,
        grounds: Grounds,
        shopping: Shopping,
        fight_on: FightOn,
        fights: Fights,
        earn: Earn,
        other_grass: OtherGrass,
    ) -> None:
        self._environment = environment
        self._settings = settings
        self._grounds = grounds
        self._shopping = shopping
        self._fight_on = fight_on
        self._fights = fights
        self._earn = earn
        self._other_grass = other_grass

    def hunt(
        self,
        species: Collection[int],
        key: str,
        why: str,
        state: GameState,
        memory: PilotMemory,
        around: Surroundings,
        where: str = "",
    ) -> Goal | None:
        """A goal that leads to one of some species, any where there is none named; balls are bought first.

        Without balls or the money for them trainers near by are fought; None where there are none: nothing in the
        grass brings balls.

        Args:
            species: who would do; empty for any.
            key: names what is tried.
            why: as the decision says it.
            state: the game now.
            memory: keeps the ground.
            around: what can be reached here.
            where: the ground that a plan reckons with, by its name; empty for the best one.
        """
        memory.catch_wish = list(species) or [0]
        if not state.balls:
            return self._shopping.for_balls(state, memory, around) or self._earn(state, memory, around)
        if not species:
            return self._fights(key, why, state, memory, around)
        if self._environment.settings.knowledge == "seen":
            return self._hunt_unknown(key, why, state, memory, around)
        wish = ",".join(str(one) for one in sorted(species)[:_MOST_WAYS])
        fixed = where or memory.hunt.get(wish)
        known = (one for one in self._grounds.known(memory) if one.key == fixed)
        ground = next((one for one in known if not species_on(one, 1).keys().isdisjoint(species)), None)
        if ground is None:
            ground = self.ground(species, state, memory)
        memory.hunt = {wish: ground.key} if ground is not None else {}
        if ground is None:
            return None
        found = self._fight_on(ground.map_id, ground.on, key, why, state, memory, around)
        if found is None:
            memory.hunt = {}
        return found

    def _hunt_unknown(
        self, key: str, why: str, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> Goal | None:
        """Fights where nobody knows who lives: in one grass after another, as long as is worth it at this hour.

        Before that the planner lets another time of day come, where an errand does so: see :func:`barren_times`.
        """
        time, most = self._grounds.time_of_day(), self._settings.hunt_tries
        wish = ",".join(str(one) for one in sorted(memory.catch_wish)[:_MOST_WAYS])
        if memory.hunted_for != wish:
            memory.hunted_for, memory.hunted = wish, {}
        here = f"{state.map_id}/{time}"
        tried = (name.split("/") for name, tries in memory.hunted.items() if tries >= most)
        barren = {int(map_id) for map_id, at in tried if at == str(time)}
        if barren and (state.map_id in barren or around.nearest_ground(GRASS) is None):
            found = self._other_grass(barren, why, state, memory, around)
            if found is not None:
                return found
            memory.hunted.clear()
        found = self._fights(key, why, state, memory, around)
        if found is not None and found.kind == PACE:
            memory.count(memory.hunted, here)
        return found

    def note_battle(self, state: GameState, memory: PilotMemory) -> None:
        """Takes in who is met: where one who is wanted lives, the hunt goes on however long it takes."""
        foe = state.battle.opponent if state.battle is not None else None
        if memory.hunted and foe is not None and foe.species in memory.catch_wish:
            memory.hunted[f"{state.map_id}/{self._grounds.time_of_day()}"] = -_MET_HERE

    def ground(self, species: Collection[int], state: GameState, memory: PilotMemory) -> Ground | None:
        """Where one of some species is met in the fewest steps at the hour that it is, the way there counted."""
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
            way = self._grounds.way(map_id, state, memory)
            if way is not None and (best is None or steps + way.steps < best[0]):
                best = (steps + way.steps, ground)
        return best[1] if best is not None else None


def barren_times(memory: PilotMemory, species: Collection[int], most: int) -> frozenset[int]:
    """Times of day at which a hunt for some species was long enough to say that they are out at another one."""
    if memory.hunted_for != ",".join(str(one) for one in sorted(species)[:_MOST_WAYS]):
        return frozenset()
    return frozenset(int(name.split("/")[1]) for name, tries in memory.hunted.items() if tries >= most)
