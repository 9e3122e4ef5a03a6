"""Training: who, where, and until when. Grounds are those maps seen whose wild Pokemon are as strong as is safe."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pkmn_pyboy.milestones import Target
from pkmn_pyboy.pilot import menu_tasks
from pkmn_pyboy.pilot.catching import hunting_ground
from pkmn_pyboy.pilot.healing import Healing
from pkmn_pyboy.pilot.memory import PACE, Goal, PilotMemory
from pkmn_pyboy.pilot.objectives import PLANNED, Objectives
from pkmn_pyboy.pilot.roads import Roads, hour_of
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.surroundings import Surroundings
from pkmn_pyboy.planner import TRAIN, GoalOrientedPlanner, PlannedGoal
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.goals import on_map
from pkmn_pyboy.world.records import DAY, time_of_day

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment

Buy = Callable[[GameState, PilotMemory, Surroundings], Goal | None]
Job = Callable[[str, int, int, str, GameState, PilotMemory], Goal | None]

_PRICE_OF_A_BALL = 200
_PARTY_ENOUGH = 5
_LEAST_CHANCE = 10
_STEPS_A_LEVEL = 45.0
"""Steps of the way that one level more of the wild Pokemon is worth."""
_TOO_STRONG_COST = 3.0
_SAFE_BELOW = 1
_BETTER_BY = 1.5


class Training:
    """Chooses where to fight for experience.

    Args:
        environment: the game.
        settings: how often to try.
        cartridge: who lives where, and how strong.
        objectives: follows ways.
        roads: how far it is to grass.
        healing: whether the party is fit to fight.
        planner: how strong is strong enough.
        job: sets a job in the menu.
        buy: goes to a shop.
    """

    def __init__(
        self,
        environment: PokemonEnvironment,
        settings: PilotSettings,
        cartridge: Cartridge,
        objectives: Objectives,
        roads: Roads,
        healing: Healing,
        planner: GoalOrientedPlanner,
        job: Job,
        buy: Buy,
    ) -> None:
        self._settings = settings
        self._cartridge = cartridge
        self._objectives = objectives
        self._roads = roads
        self._healing = healing
        self._planner = planner
        self._job = job
        self._buy = buy
        rules = cartridge.world.rules
        self._grass_values = rules.grass
        self._has_grass: dict[int, bool] = {}
        self._environment = environment

    def train(self, goal: PlannedGoal, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """Fights for whoever is to be trained, who is put first; nothing while the party is weak."""
        if self._healing.is_weak(state):
            return None
        recruit = self._recruit(goal, state, memory, around)
        if recruit is not None:
            return recruit
        members = state.party.members
        if members and goal.member and members[goal.member].hp:
            job = self._job(menu_tasks.LEAD, 0, goal.member, "put first who is to train", state, memory)
            if job is not None:
                return job
        return self.fights("train", goal.title, state, memory, around)

    def _recruit(self, goal: PlannedGoal, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """A catch that would turn the battle, where training alone does not."""
        memory.catch_wish = []
        can_catch = state.balls > 0 or state.money >= _PRICE_OF_A_BALL
        if not goal.foes or self._settings.catch == "none" or not can_catch or state.party.count >= _PARTY_ENOUGH:
            return None
        seen = {state.map_id, *(int(name) for name in memory.visits)}
        living = {
            slot.species
            for map_id in seen
            for table in self._cartridge.wild_on(map_id)
            if not table.water and self._grass_on(map_id)
            for slot in table.at(self._time_of_day())
            if slot.chance >= _LEAST_CHANCE
        }
        wanted = self._planner.recruits_for(goal.foes, living - {one.species for one in state.party.members})
        if not wanted:
            return None
        memory.catch_wish = list(wanted)
        if not state.balls:
            return self._buy(state, memory, around)
        ground = hunting_ground(self._cartridge, wanted, state, self._roads, memory)
        key, why = "recruit", "catch one who turns the battle"
        if ground is None:
            return None
        if ground.map_id != state.map_id:
            return self._objectives.towards(ground, why, state, memory, around)
        if around.nearest_grass() is None or memory.tries.get(f"{key}/{state.map_id}", 0) >= self._settings.goal_tries:
            return None
        return Goal(PACE, f"{key}/{state.map_id}", state.map_id, why, PLANNED)

    def after_loss(self, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """After a lost battle, until whoever won it should fall; where that isn't known, for some levels."""
        lead = state.party.lead
        if lead is None or not memory.train_to or self._healing.is_weak(state):
            return None
        if memory.nemesis and self._environment.settings.knowledge != "seen":
            goal = self._planner.training_for(((memory.nemesis[0], memory.nemesis[1]),))
            if goal is None or goal.kind != TRAIN or goal.number > memory.train_to:
                memory.nemesis, memory.train_to = [], 0
                return None
            return self.train(goal, state, memory, around)
        if lead.level >= memory.train_to:
            memory.train_to = 0
            return None
        return self.fights("train", f"train to level {memory.train_to}", state, memory, around)

    def fights(self, key: str, why: str, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """Fights in the grass of the best ground, or the way to it; the nearest grass where none is known."""
        here = around.grid.map_id
        tries = memory.tries
        ground = self._ground(key, state, memory)
        grass_here = around.nearest_grass() is not None and tries.get(f"{key}/{here}", 0) < self._settings.goal_tries
        if ground is not None and ground != here:
            goal = self._objectives.towards(Target(ground), f"{why}: to better ground", state, memory, around)
            if goal is not None:
                return goal
        if grass_here:
            return Goal(PACE, f"{key}/{here}", here, why, PLANNED)
        route = self._roads.route(self._roads.of_kind("grass", memory), state, memory)
        if route is None or route.goal.map_id == here:
            return None
        return self._objectives.towards(Target(route.goal.map_id), f"{why}: to the grass", state, memory, around)

    def _ground(self, key: str, state: GameState, memory: PilotMemory) -> int | None:
        """The map seen where fights bring most, the way there counted."""
        lead = state.party.lead
        if lead is None or self._environment.settings.knowledge == "seen":
            return None
        here = state.map_id
        grounds = []
        for map_id in sorted({here, *(int(name) for name in memory.visits)}):
            if not self._grass_on(map_id) or memory.tries.get(f"{key}/{map_id}", 0) >= self._settings.goal_tries:
                continue
            levels = [
                slot.level
                for table in self._cartridge.wild_on(map_id)
                if not table.water
                for slot in table.at(self._time_of_day())
            ]
            if levels:
                too_strong = max(max(levels) - lead.level + _SAFE_BELOW, 0)
                grounds.append((sum(levels) / len(levels) - _TOO_STRONG_COST * too_strong, map_id))
        own = next((worth for worth, map_id in grounds if map_id == here), None)
        best: tuple[float, int] | None = None
        for worth, map_id in sorted(grounds, key=lambda ground: (-ground[0], ground[1])):
            # the way makes none better: from here on all are worth less than the best
            if (best is not None and worth <= best[0]) or (own is not None and worth < own + _BETTER_BY):
                break
            route = self._roads.route(on_map(map_id), state, memory) if map_id != here else None
            if route is not None and route.cost <= self._settings.train_steps:
                found = (worth - route.cost / _STEPS_A_LEVEL, map_id)
                best = found if best is None else max(best, found)
        if best is not None and (own is None or best[0] >= own + _BETTER_BY):
            return best[1]
        return here if own is not None else None

    def _time_of_day(self) -> int:
        """By the game's clock; by day where it has none."""
        hour = hour_of(self._environment)
        return DAY if hour is None else time_of_day(hour)

    def _grass_on(self, map_id: int) -> bool:
        found = self._has_grass.get(map_id)
        if found is None:
            there = self._cartridge.world.map(map_id)
            found = there is not None and any(value in self._grass_values for value in there.grid.tiles)
            self._has_grass[map_id] = found
        return found
