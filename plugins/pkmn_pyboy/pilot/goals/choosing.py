"""Goals on the map: heal when weak, then serve the next milestone, then explore."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.goals.advice_goals import Wishes
from pkmn_pyboy.pilot.goals.context import GoalContext
from pkmn_pyboy.pilot.goals.exploring import Explorer
from pkmn_pyboy.pilot.goals.fighting import FightGoals
from pkmn_pyboy.pilot.goals.goal_planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.grounds import Grounds
from pkmn_pyboy.pilot.goals.healing import Healing
from pkmn_pyboy.pilot.goals.hunting import Hunting, barren_times
from pkmn_pyboy.pilot.goals.known_costs import KnownCosts
from pkmn_pyboy.pilot.goals.plans import BUY, CATCH, HEAL, MOST_PLANS, RIVAL, TRAIN
from pkmn_pyboy.pilot.goals.shopping import Shopping
from pkmn_pyboy.pilot.goals.tasks import TEACH, PlannedGoal
from pkmn_pyboy.pilot.goals.training import Training
from pkmn_pyboy.pilot.memory import TALK, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.screens import menu_tasks
from pkmn_pyboy.pilot.screens.menu_tasks import MenuTasks
from pkmn_pyboy.pilot.screens.radio import RadioTuner
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.walking.legs import PLANNED
from pkmn_pyboy.pilot.walking.routes import Roads
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.rules_gen2.slots import PARTY_SLOTS
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.records import Role

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

_CARE_BY_LOSS = 0.2
_STRENGTH = (TRAIN, CATCH, RIVAL, BUY)


class GoalChooser:
    """Chooser of goals on the map.

    Args:
        game: the running game.
        settings: limits and costs.
        roads: routes over maps.
        tasks: tasks in the menu.
    """

    def __init__(self, game: Game, settings: PilotSettings, roads: Roads, tasks: MenuTasks) -> None:
        self._context = context = GoalContext(game, settings, roads, tasks)
        self._game, self._settings = game, settings
        self.healing = Healing(context)
        self._explorer = Explorer(context, self.healing.is_weak)
        self.shopping = Shopping(context)
        self.radio = RadioTuner(game)
        self.planner = GoalOrientedPlanner(game, settings)
        grounds = Grounds(context, self.planner)
        self.costs = KnownCosts(context, grounds, self.healing, self.shopping)
        fights = FightGoals(context)
        self.hunting = Hunting(context, grounds, self.shopping, fights)
        self.training = Training(context, self.planner, self.costs, self.healing, self.shopping, self.hunting, fights)
        self._wishes = Wishes(context.objectives, self.healing, fights)

    def refuse_words(self) -> tuple[str, ...]:
        """Return the words of questions to answer no on the way to the current goal."""
        return self.planner.refuse_words()

    def note_battle(self, state: GameState, memory: PilotMemory) -> None:
        """Note the opponent."""
        self.hunting.note_battle(state, memory)

    def choose(self, state: GameState, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Return the goal to walk for now; None if there is nothing to do."""
        if memory.stall.heal_anyway and any(key.startswith("heal/") for key in memory.tries):
            memory.stall.heal_anyway = False
        goals = self._remember(memory)
        return (
            self._wishes.choose(state, memory, around)
            or self.healing.choose(state, memory, around, anyway=memory.stall.heal_anyway)
            or self._pick_up(memory, around)
            or self.shopping.choose(state, memory, around)
            or self.training.after_loss(state, memory, around)
            or self._planned(goals, state, memory, around)
            or self._explorer.choose(state, memory, around)
        )

    def _remember(self, memory: PilotMemory) -> tuple[PlannedGoal, ...]:
        """Give the planner this episode's memory. Return the current goals."""
        self.planner.barren_times = lambda species: barren_times(memory, species, self._settings.hunt_tries)
        readiness = self.planner.readiness
        readiness.costs = self.costs
        readiness.care = self._settings.care + _CARE_BY_LOSS * memory.strength.losses
        readiness.losses = memory.strength.losses
        readiness.load = lambda: memory.strength.plans
        self.costs.memory = memory
        goals = self.planner.goals(keep=True)
        wanted = self.planner.supplies(goals)
        if goals and goals[-1].kind == BUY:
            wanted |= dict(goals[-1].buys)
        memory.shop.supplies = dict(wanted)
        memory.hunt.wanted = [*self.planner.species_to_catch(goals), *self._met_on_the_way()]
        return goals

    def _met_on_the_way(self) -> tuple[int, ...]:
        """Return the species to catch when met, because a later field move needs one of them."""
        state = self._game.state
        room = PARTY_SLOTS - self._game.milestones.party_room
        if self._settings.catch == "none" or not state.balls or state.party.count >= room:
            return ()
        return self.planner.field_moves.learners_to_come()

    def _pick_up(self, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Return a goal to pick up the nearest item within the limit."""
        here = around.grid.map_id
        best: tuple[int, WalkGoal] | None = None
        for person in around.people:
            key = f"take/{here}/{person.number}"
            if person.role is not Role.ITEM or key in memory.tries:
                continue
            nearest = around.search.nearest(around.talk_ends(person.x, person.y))
            if nearest is not None and nearest[1] <= self._settings.pick_up_within:
                goal = WalkGoal(TALK, key, here, "pick up the item", PLANNED, person.x, person.y, person=person.number)
                if best is None or nearest[1] < best[0]:
                    best = (nearest[1], goal)
        return best[1] if best is not None else None

    # Towards the next milestone ---------------------------------------------------------------------------------

    def _planned(
        self, goals: tuple[PlannedGoal, ...], state: GameState, memory: PilotMemory, around: Surroundings
    ) -> WalkGoal | None:
        for _ in range(MOST_PLANS):
            if not goals or goals[-1].kind not in _STRENGTH:
                break
            found = self.training.follow(goals[-1], state, memory, around)
            if not goals[-1].foes and goals[-1].kind == BUY and found is None:
                # The balls for a catch can't be bought: continue without them.
                break
            if found is not None or not goals[-1].foes or self.healing.is_weak(state):
                return found
            # That plan can't be followed: make another without it.
            self.planner.readiness.give_up(goals[-1].foes)
            goals = self.planner.goals(keep=True)
        if not goals:
            return None
        goal = goals[-1]
        if goal.kind == TEACH:
            return self._context.task(menu_tasks.TEACH, goal.number, goal.member, goal.title, state, memory)
        if goal.kind == HEAL:
            found = self.healing.choose(state, memory, around, anyway=True)
            if found is not None:
                return found
        if goal.kind == HEAL or goal.kind in _STRENGTH:
            goal = goals[-2]
        first = self.training.lead_on(state, memory)
        if first is not None:
            return first
        if goal.target is None:
            return None
        why = f"goal {goal.key}"
        found = self._context.objectives.goal_for(goal.target, goal.tries_key, why, state, memory, around)
        return self.radio.first(goal.target, found, memory, self._settings.goal_tries)
