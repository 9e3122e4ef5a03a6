"""Goals on the map: heal when weak, then serve the next milestone, then explore."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from pkmn_pyboy.navigation.people import ITEM
from pkmn_pyboy.pilot.goals.advice_goals import Wishes
from pkmn_pyboy.pilot.goals.exploring import Explorer
from pkmn_pyboy.pilot.goals.grounds import Grounds
from pkmn_pyboy.pilot.goals.healing import Healing
from pkmn_pyboy.pilot.goals.hunting import Hunting, barren_times
from pkmn_pyboy.pilot.goals.options import KnownCosts
from pkmn_pyboy.pilot.goals.planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.plans import BUY, CATCH, HEAL, RIVAL, TRAIN
from pkmn_pyboy.pilot.goals.shopping import Shopping
from pkmn_pyboy.pilot.goals.tasks import TEACH, PlannedGoal
from pkmn_pyboy.pilot.goals.training import Training
from pkmn_pyboy.pilot.memory import MENU, TALK, Goal, PilotMemory
from pkmn_pyboy.pilot.screens import menu_tasks
from pkmn_pyboy.pilot.screens.menu_tasks import MenuTasks
from pkmn_pyboy.pilot.screens.radio import RadioTuner
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.walking.legs import PLANNED, Objectives
from pkmn_pyboy.pilot.walking.routes import Roads
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.rules_gen2.slots import PARTY_SLOTS
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.cartridge import Cartridge

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

_CARE_BY_LOSS = 0.2
_STRENGTH = (TRAIN, CATCH, RIVAL, BUY)
_PLANS = 4
"""Maximum number of plans tried in turn while none of them can be followed."""


class GoalChooser:
    """Chooser of goals on the map.

    Args:
        game: the running game.
        settings: limits and costs.
        roads: routes over maps.
        tasks: tasks in the menu.
        cartridge: where species live, shops and prices.
    """

    def __init__(
        self,
        game: Game,
        settings: PilotSettings,
        roads: Roads,
        tasks: MenuTasks,
        cartridge: Cartridge,
    ) -> None:
        self._game = game
        self._settings = settings
        self._roads = roads
        self._tasks = tasks
        self._objectives = Objectives(game, settings, roads)
        self._healing = Healing(game, settings, self._objectives, roads, tasks)
        self._explorer = Explorer(game, settings, self._objectives, roads, self._healing.is_weak)
        self._shopping = Shopping(game, settings, cartridge, self._objectives, roads)
        self._radio = RadioTuner(game)
        self._planner = GoalOrientedPlanner(game, settings)
        readiness = self._planner.readiness
        grounds = Grounds(
            game, settings, cartridge, roads, readiness.growth, readiness.forecaster, self._planner.tables
        )
        self._costs = KnownCosts(game, settings, cartridge, grounds, roads, self._healing, self._shopping)
        self._training = Training(
            game, settings, self._objectives, roads, self._healing, self._planner, self._costs, self._job,
            self._hunt, self._shopping.for_plan,
        )  # fmt: skip
        self._hunting = Hunting(
            game, settings, grounds, self._shopping, self._training.fight_on, self._training.fights,
            self._training.earn, self._training.other_grass,
        )  # fmt: skip
        self._wishes = Wishes(self._objectives, self._healing, self._training.fights)

    def refuse_words(self) -> tuple[str, ...]:
        """Return the words of questions to answer no on the way to the current goal."""
        return self._planner.refuse_words()

    @property
    def planner(self) -> GoalOrientedPlanner:
        """Planner from milestones to what can be done now."""
        return self._planner

    @property
    def radio(self) -> RadioTuner:
        """Tuner of the radio, for its menu and its screen."""
        return self._radio

    @property
    def shopping(self) -> Shopping:
        """Shopping, for the lists at a clerk's counter."""
        return self._shopping

    def note_battle(self, state: GameState, memory: PilotMemory) -> None:
        """Note the opponent."""
        self._hunting.note_battle(state, memory)

    def choose(self, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """Return the goal to walk for now; None if there is nothing to do."""
        if memory.heal_anyway and any(key.startswith("heal/") for key in memory.tries):
            memory.heal_anyway = False
        goals = self._remember(memory)
        return (
            self._wishes.choose(state, memory, around)
            or self._healing.choose(state, memory, around, anyway=memory.heal_anyway)
            or self._pick_up(memory, around)
            or self._shopping.choose(state, memory, around)
            or self._training.after_loss(state, memory, around)
            or self._planned(goals, state, memory, around)
            or self._explorer.choose(state, memory, around)
        )

    def _remember(self, memory: PilotMemory) -> tuple[PlannedGoal, ...]:
        """Give the planner this episode's memory. Return the current goals."""
        self._planner.barren_times = lambda species: barren_times(memory, species, self._settings.hunt_tries)
        readiness = self._planner.readiness
        readiness.costs = self._costs
        readiness.care = self._settings.care + _CARE_BY_LOSS * memory.losses
        readiness.losses = memory.losses
        readiness.load = lambda: memory.training
        self._costs.memory = memory
        goals = self._planner.goals(keep=True)
        wanted = self._planner.supplies(goals)
        if goals and goals[-1].kind == BUY:
            wanted |= dict(goals[-1].buys)
        memory.supplies = [[item, count] for item, count in wanted.items()]
        memory.catch_wish = [*self._planner.species_to_catch(goals), *self._met_on_the_way()]
        return goals

    def _met_on_the_way(self) -> tuple[int, ...]:
        """Return the species to catch when met, because a later field move needs one of them."""
        state = self._game.state
        room = PARTY_SLOTS - self._game.milestones.party_room
        if self._settings.catch == "none" or not state.balls or state.party.count >= room:
            return ()
        return self._planner.field_moves.learners_to_come()

    def _pick_up(self, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """Return a goal to pick up the nearest item within the limit."""
        here = around.grid.map_id
        best: tuple[int, Goal] | None = None
        for person in around.people:
            key = f"take/{here}/{person.number}"
            if person.kind != ITEM or key in memory.tries:
                continue
            nearest = around.search.nearest(around.talk_ends(person.x, person.y))
            if nearest is not None and nearest[1] <= self._settings.pick_up_within:
                goal = Goal(TALK, key, here, "pick up the item", PLANNED, person.x, person.y, person=person.number)
                if best is None or nearest[1] < best[0]:
                    best = (nearest[1], goal)
        return best[1] if best is not None else None

    # Towards the next milestone ---------------------------------------------------------------------------------

    def _planned(
        self, goals: tuple[PlannedGoal, ...], state: GameState, memory: PilotMemory, around: Surroundings
    ) -> Goal | None:
        for _ in range(_PLANS):
            if not goals or goals[-1].kind not in _STRENGTH:
                break
            found = self._training.follow(goals[-1], state, memory, around)
            if not goals[-1].foes and goals[-1].kind == BUY and found is None:
                # The balls for a catch can't be bought: continue without them.
                break
            if found is not None or not goals[-1].foes or self._healing.is_weak(state):
                return found
            # That plan can't be followed: make another without it.
            self._planner.readiness.give_up(goals[-1].foes)
            goals = self._planner.goals(keep=True)
        if not goals:
            return None
        goal = goals[-1]
        if goal.kind == TEACH:
            return self._job(menu_tasks.TEACH, goal.number, goal.member, goal.title, state, memory)
        if goal.kind == HEAL:
            found = self._healing.choose(state, memory, around, anyway=True)
            if found is not None:
                return found
        if goal.kind == HEAL or goal.kind in _STRENGTH:
            goal = goals[-2]
        first = self._training.lead_on(state, memory)
        if first is not None:
            return first
        if goal.target is None:
            return None
        why = f"goal {goal.key}"
        found = self._objectives.goal_for(goal.target, goal.tries_key, why, state, memory, around)
        return self._radio.first(goal.target, found, memory, self._settings.goal_tries)

    def _hunt(
        self,
        species: Collection[int],
        key: str,
        why: str,
        state: GameState,
        memory: PilotMemory,
        around: Surroundings,
        where: str,
    ) -> Goal | None:
        return self._hunting.hunt(species, key, why, state, memory, around, where)

    def _job(self, kind: str, number: int, slot: int, title: str, state: GameState, memory: PilotMemory) -> Goal | None:
        key = f"task/{kind}/{number}/{slot}"
        if not self._tasks.possible or memory.tries.get(key, 0) >= self._settings.goal_tries:
            return None
        self._tasks.begin(kind, number, slot, state, memory)
        return Goal(MENU, key, state.map_id, title, PLANNED)
