"""What to walk for: healing when weak, then the next milestone, then whatever is new nearby."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.milestones import Milestone, Target
from pkmn_pyboy.navigation.exits import UNKNOWN_MAP
from pkmn_pyboy.navigation.people import TRAINER
from pkmn_pyboy.navigation.world import World
from pkmn_pyboy.pilot.memory import EXIT, PACE, TALK, TILE, Goal, PilotMemory
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.surroundings import Surroundings
from pkmn_pyboy.state.game_state import Facing, GameState

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment

PLANNED = 0.6
EXPLORING = 0.3


class GoalChooser:
    """Chooses goals.

    Args:
        environment: the game.
        settings: what counts for how much.
    """

    def __init__(self, environment: PokemonEnvironment, settings: PilotSettings) -> None:
        self._environment = environment
        self._settings = settings
        self._names = environment.profile.names
        self.world = World()
        """The maps and how they hang together."""
        words = [word.lower() for word in settings.healer_maps]
        self._healer_maps = [
            map_id for map_id, name in self._names.maps.items() if any(word in name.lower() for word in words)
        ]

    def choose(self, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """The goal to walk for now; nothing where there is nothing to do."""
        self._learn_ways(state, memory, around)
        return (
            self._heal(state, memory, around)
            or self._train(state, memory, around)
            or self._milestone(state, memory, around)
            or self._explore(state, memory, around)
        )

    def is_weak(self, state: GameState) -> bool:
        """Whether the party should heal before it goes on."""
        party = state.party
        if not party.members:
            return False
        lead = party.members[0]
        return party.hp_share < self._settings.heal_below or lead.hp < self._settings.heal_lead_below * lead.max_hp

    def _learn_ways(self, state: GameState, memory: PilotMemory, around: Surroundings) -> None:
        known = self.world.neighbours(state.map_id)
        for way in around.exits:
            if way.destination not in (UNKNOWN_MAP, *known):
                memory.links.append([state.map_id, way.destination])
                self.world.learn(state.map_id, way.destination)

    # Healing ------------------------------------------------------------------------------------------------

    def _heal(self, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        if not self.is_weak(state):
            return None
        places = {healer[0] for healer in memory.healers} | set(self._healer_maps)
        options = []
        for map_id in places:
            distance = self.world.distances(map_id).get(state.map_id)
            if distance is not None and distance <= self._settings.heal_map_distance:
                options.append((distance, map_id))
        for distance, map_id in sorted(options):
            if memory.tries.get(f"heal/{map_id}", 0) >= self._settings.goal_tries:
                continue
            goal = (
                self._heal_here(memory, around) if distance == 0 else self._towards(map_id, memory, around, "to heal")
            )
            if goal is not None:
                return goal
        return None

    def _heal_here(self, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """Where someone healed the party before; else whoever stands behind a counter, in turn."""
        here = around.grid.map_id
        key = f"heal/{here}"
        for map_id, x, y, facing in memory.healers:
            if map_id == here and around.search.reaches(around.grid.cell(x, y)):
                return Goal(TILE, key, here, "heal", PLANNED, x, y, facing)
        behind = [
            person
            for person in around.people
            if around.behind_counter(person) and around.search.nearest(around.talk_ends(person.x, person.y)) is not None
        ]
        if not behind:
            return None
        person = behind[memory.tries.get(key, 0) % len(behind)]
        return Goal(TALK, key, here, "heal", PLANNED, person.x, person.y, person=person.number)

    # Training -----------------------------------------------------------------------------------------------

    def _train(self, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """After a lost battle it looks for fights where the way leads through grass, until it is stronger."""
        lead = state.party.lead
        if lead is None or lead.level >= memory.train_to or self.is_weak(state):
            return None
        key = f"train/{around.grid.map_id}"
        if memory.tries.get(key, 0) >= self._settings.goal_tries or around.nearest_grass() is None:
            return None
        return Goal(PACE, key, around.grid.map_id, f"train to level {memory.train_to}", PLANNED)

    # Milestones ---------------------------------------------------------------------------------------------

    def _milestone(self, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        milestone = self._environment.milestones.current()
        if milestone is None or milestone.target is None:
            return None
        if milestone.target.map_id == state.map_id:
            return self._target_here(milestone, milestone.target, memory, around)
        goal = self._towards(milestone.target.map_id, memory, around, f"goal {milestone.key}")
        if goal is not None and memory.tries.get(goal.key, 0) >= self._settings.goal_tries:
            return None
        return goal

    def _target_here(
        self, milestone: Milestone, target: Target, memory: PilotMemory, around: Surroundings
    ) -> Goal | None:
        if target.x is None or target.y is None or not around.grid.inside(target.x, target.y):
            return None
        key = f"milestone/{milestone.key}"
        why = f"goal {milestone.key}"
        tries = memory.tries.get(key, 0)
        map_id, x, y = target.map_id, target.x, target.y
        cell = around.grid.cell(x, y)
        if tries and target.facing is None and around.tile_value(x, y) in around.rules.grass:
            return Goal(PACE, key, map_id, f"{why}: look for a fight", PLANNED, x, y)
        if tries >= self._settings.goal_tries:
            return None
        for way in around.exits:
            if cell in way.ends and around.search.reaches(cell):
                return Goal(EXIT, key, map_id, why, PLANNED, exit=way.key)
        if around.search.reaches(cell):
            facing = Facing[target.facing.upper()] if target.facing is not None else -1
            return Goal(TILE, key, map_id, why, PLANNED, x, y, int(facing))
        if around.search.nearest(around.talk_ends(x, y)) is not None:
            person = next((one.number for one in around.people if (one.x, one.y) == (x, y)), 0)
            return Goal(TALK, key, map_id, why, PLANNED, x, y, person=person)
        return None

    def _towards(self, map_id: int, memory: PilotMemory, around: Surroundings, why: str) -> Goal | None:
        """The exit that leads nearer to a map; another one where none that does can be reached or they failed."""
        settings = self._settings
        distances = self.world.distances(map_id)
        here = around.grid.map_id
        best: tuple[bool, int, str] | None = None
        for way in around.exits:
            distance = distances.get(way.destination)
            nearest = around.search.nearest(way.ends) if distance is not None else None
            if distance is None or nearest is None:
                continue
            tries = memory.tries.get(f"exit/{here}/{way.key}", 0)
            away = distance >= distances.get(here, distance) or tries >= settings.goal_tries
            option = (away, nearest[1] + settings.map_cost * distance + settings.retry_cost * tries, way.key)
            if best is None or option < best:
                best = option
        if best is None:
            return None
        return Goal(EXIT, f"exit/{here}/{best[2]}", here, why, PLANNED, exit=best[2], away=best[0])

    # Exploring ----------------------------------------------------------------------------------------------

    def _explore(self, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        options = [
            *self._explore_exits(state, memory, around),
            *self._explore_people(state, memory, around),
            *self._explore_signs(memory, around),
        ]
        return min(options, key=lambda option: (option[0], option[1].key))[1] if options else None

    def _explore_exits(self, state: GameState, memory: PilotMemory, around: Surroundings) -> list[tuple[int, Goal]]:
        settings, here = self._settings, state.map_id
        milestone = self._environment.milestones.current()
        looks_here = milestone is not None and milestone.target is not None and milestone.target.map_id == here
        options = []
        for way in around.exits:
            nearest = around.search.nearest(way.ends)
            if nearest is None:
                continue
            key = f"exit/{here}/{way.key}"
            cost = nearest[1] + settings.retry_cost * memory.tries.get(key, 0)
            cost += settings.map_cost * memory.taken.get(f"{here}/{way.key}", 0)
            if way.destination == UNKNOWN_MAP or str(way.destination) in memory.visits:
                cost += settings.map_cost
            if looks_here:
                cost += 2 * settings.map_cost
            name = self._names.map_name(way.destination) if way.destination != UNKNOWN_MAP else "where it came from"
            options.append((cost, Goal(EXIT, key, here, f"explore: to {name}", EXPLORING, exit=way.key)))
        return options

    def _explore_people(self, state: GameState, memory: PilotMemory, around: Surroundings) -> list[tuple[int, Goal]]:
        settings, here = self._settings, around.grid.map_id
        weak = self.is_weak(state)
        options = []
        for person in around.people:
            nearest = around.search.nearest(around.talk_ends(person.x, person.y))
            if nearest is None or (weak and person.kind == TRAINER):
                continue
            key = f"talk/{here}/{person.number}"
            cost = nearest[1] + settings.talk_cost + settings.retry_cost * memory.tries.get(key, 0)
            goal = Goal(TALK, key, here, "explore: talk", EXPLORING, person.x, person.y, person=person.number)
            options.append((cost, goal))
        return options

    def _explore_signs(self, memory: PilotMemory, around: Surroundings) -> list[tuple[int, Goal]]:
        settings, here = self._settings, around.grid.map_id
        options = []
        for x, y in around.signs:
            nearest = around.search.nearest(around.talk_ends(x, y))
            if nearest is not None:
                key = f"sign/{here}/{x},{y}"
                cost = nearest[1] + settings.sign_cost + settings.retry_cost * memory.tries.get(key, 0)
                options.append((cost, Goal(TALK, key, here, "explore: read", EXPLORING, x, y)))
        return options
