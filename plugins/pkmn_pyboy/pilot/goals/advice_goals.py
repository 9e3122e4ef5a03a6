"""Goals for the skills in advice: a place, a person to talk to, a fight, a healer, a catch."""

from __future__ import annotations

from pkmn_pyboy.pilot.advice import ADVICE_PREFIX, CATCH, FIGHT, GO_TO, HEAL, TALK_TO
from pkmn_pyboy.pilot.goals.fighting import FightGoals
from pkmn_pyboy.pilot.goals.healing import Healing
from pkmn_pyboy.pilot.memory import TALK, TILE, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.walking.legs import Objectives
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.state.game_state import GameState


class Wishes:
    """Translator of a wish in the memory into goals.

    Args:
        objectives: routes and places.
        healing: how to heal.
        fights: goals to fight.
    """

    def __init__(self, objectives: Objectives, healing: Healing, fights: FightGoals) -> None:
        self._objectives = objectives
        self._healing = healing
        self._fights = fights

    def choose(self, state: GameState, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Return a goal for the wish; None if there is none, or it can't be done, which is noted in the memory."""
        wish = memory.advice.wish
        if wish is None:
            return None
        skill, map_id, x, y = wish.skill, wish.map_id, wish.x, wish.y
        key, why = f"{ADVICE_PREFIX}{skill}", f"{ADVICE_PREFIX}{skill}"
        goal: WalkGoal | None = None
        if skill == GO_TO:
            target = Target(map_id, x if x >= 0 else None, y if y >= 0 else None)
            goal = self._objectives.goal_for(target, key, f"{why} {x},{y}" if x >= 0 else why, state, memory, around)
            if goal is not None and goal.kind == TILE and (state.x, state.y) == (goal.x, goal.y):
                goal = None  # already there
        elif skill == TALK_TO:
            goal = self._talk(key, why, map_id, x, y, state, memory, around)
        elif skill == HEAL:
            goal = self._healing.choose(state, memory, around, anyway=True)
        elif skill in (FIGHT, CATCH):
            goal = self._fights.in_grass(key, why, state, memory, around)
        if goal is None:
            wish.failed = True
            return None
        if not goal.why.startswith(ADVICE_PREFIX):
            goal.why = f"{ADVICE_PREFIX}{goal.why}"
        goal.confidence = wish.confidence
        return goal

    def _talk(
        self,
        key: str,
        why: str,
        map_id: int,
        x: int,
        y: int,
        state: GameState,
        memory: PilotMemory,
        around: Surroundings,
    ) -> WalkGoal | None:
        """Return a goal to talk to the person on the tile, or the nearest person."""
        if map_id != state.map_id:
            return self._objectives.towards(Target(map_id), why, state, memory, around)
        options = []
        for person in around.people:
            nearest = around.search.nearest(around.talk_ends(person.x, person.y))
            if nearest is not None:
                away = abs(person.x - x) + abs(person.y - y) if x >= 0 and y >= 0 else 0
                options.append((away, nearest[1], person.number, person.x, person.y))
        if not options:
            return None
        _, _, number, column, row = min(options)
        return WalkGoal(TALK, key, map_id, why, 0.0, column, row, person=number)
