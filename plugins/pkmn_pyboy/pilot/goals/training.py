"""Training: follows the plan that makes the party strong enough, on one ground until it is done."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.goals import plans
from pkmn_pyboy.pilot.goals.healing import Healing
from pkmn_pyboy.pilot.goals.options import KnownCosts
from pkmn_pyboy.pilot.goals.planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.plans import BUY, CATCH, RIVAL, TRAIN, Plan
from pkmn_pyboy.pilot.goals.readiness import Readiness
from pkmn_pyboy.pilot.goals.tasks import PlannedGoal
from pkmn_pyboy.pilot.memory import GRASS, PACE, Goal, PilotMemory
from pkmn_pyboy.pilot.screens import menu_tasks
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.walking.legs import PLANNED, Objectives
from pkmn_pyboy.pilot.walking.routes import Roads
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.goals import Goal as Ends

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

Job = Callable[[str, int, int, str, GameState, PilotMemory], Goal | None]
Hunt = Callable[[Collection[int], str, str, GameState, PilotMemory, Surroundings, str], Goal | None]
Buy = Callable[[Sequence[tuple[int, int]], GameState, PilotMemory, Surroundings], Goal | None]

_FIT, _MUCH_STRONGER = 0.6, 2
"""Share of the lead's HP needed to fight a trainer, and levels that justify another lead."""


_SOME_LEVELS = 4
_PLANS = 4
"""Maximum number of plans tried in turn while none of them can be followed."""
_WEAKER = 0.8
"""Minimum share of the lead's level for another member to lead on the way."""


class Training:
    """Chooser of fights for experience.

    Args:
        game: the running game.
        settings: limits of tries.
        objectives: follows routes.
        roads: distances to grass.
        healing: whether the party is fit to fight.
        planner: judges how strong is strong enough.
        costs: known grounds.
        job: sets a task in the menu.
        hunt: returns a goal to catch one of some species.
        buy: returns a goal to buy items, at any distance.
    """

    def __init__(
        self,
        game: Game,
        settings: PilotSettings,
        objectives: Objectives,
        roads: Roads,
        healing: Healing,
        planner: GoalOrientedPlanner,
        costs: KnownCosts,
        job: Job,
        hunt: Hunt,
        buy: Buy,
    ) -> None:
        self._game = game
        self._settings = settings
        self._objectives = objectives
        self._roads = roads
        self._healing = healing
        self._planner = planner
        self._costs = costs
        self._job = job
        self._hunt = hunt
        self._buy = buy

    @property
    def _readiness(self) -> Readiness:
        return self._planner.readiness

    def train(self, goal: PlannedGoal, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """Return a goal to fight for the member to train, who is put first; None while the party is weak."""
        if self._healing.is_weak(state):
            return None
        plan = self._plan(goal, state, memory)
        if plan is None and self._game.knowledge != "seen":
            return None
        if plan is not None and self._needs_rest(plan, state):
            found = self._healing.choose(state, memory, around, anyway=True)
            if found is not None:
                return found
        members = state.party.members
        if members and goal.member and members[goal.member].hp:
            job = self._job(menu_tasks.LEAD, 0, goal.member, "put the member to train first", state, memory)
            if job is not None:
                return job
        if plan is None or plan.ground < 0:
            return self.fights("train", goal.title, state, memory, around)
        return self.fight_on(plan.ground, plan.on, "train", goal.title, state, memory, around)

    def lead_on(self, state: GameState, memory: PilotMemory) -> Goal | None:
        """Put the member worth the experience first for fights on the way, unless it is too weak for them."""
        members = state.party.members
        if len(members) < 2 or self._game.knowledge == "seen":
            return None
        slot = self._readiness.carrier()
        fit = members[slot].hp >= _FIT * members[slot].max_hp
        if not slot or not fit or members[slot].level < _WEAKER * members[0].level:
            return None
        return self._job(menu_tasks.LEAD, 0, slot, "put the most valuable member first", state, memory)

    def _needs_rest(self, plan: Plan, state: GameState) -> bool:
        """Return whether one more fight on the ground could be lost."""
        members = state.party.members
        slot = self._readiness.strongest() if plan.helped else 0
        return slot < len(members) and members[slot].hp < plan.rest * members[slot].max_hp

    def _plan(self, goal: PlannedGoal, state: GameState, memory: PilotMemory) -> Plan | None:
        """Return the current plan, or make one for a level that is wanted for its own sake.

        A ground that did not reach that level in its time is given up. None if no ground yields anything.
        """
        plan = plans.kept(memory.training, goal.foes)
        members, steps = state.party.members, self._game.steps
        if goal.foes or self._game.knowledge == "seen" or not members:
            return plan
        member = members[goal.member]
        if plan is not None and plan.kind == TRAIN and plan.number == goal.number and member.level < plan.level:
            if plan.until >= steps:
                return plan
            self._costs.give_up(plan)
        plans.drop(memory.training, ())
        for level in (goal.number, member.level + _SOME_LEVELS, member.level + 1):
            training = self._costs.training(member, min(level, goal.number), None)
            if training is not None:
                break
        else:
            return None
        plan = Plan(TRAIN, (), steps=training.steps, until=steps + self._readiness.patience(training.steps), begun=True,
                    dvs=member.dvs, level=min(level, goal.number), number=goal.number, ground=training.ground,
                    on=training.on, rest=training.rest)  # fmt: skip
        plans.keep(memory.training, plan)
        return plan

    def after_loss(self, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """Train after a lost battle until its winner should lose; if that is unknown, for some levels."""
        lead = state.party.lead
        if lead is None or not memory.train_to or self._healing.is_weak(state):
            return None
        if memory.nemesis and self._game.knowledge != "seen":
            nemesis = (memory.nemesis[0], memory.nemesis[1])
            for _ in range(_PLANS):
                goal = self._planner.training_for((nemesis,), keep=True)
                if goal is None or goal.kind not in (TRAIN, CATCH, RIVAL, BUY):
                    break
                found = self.follow(goal, state, memory, around)
                if found is not None:
                    return found
                self._readiness.give_up(goal.foes)
            memory.nemesis, memory.train_to = [], 0
            plans.drop(memory.training, (nemesis,))
            return None
        if lead.level >= memory.train_to:
            memory.train_to = 0
            return None
        return self.fights("train", f"train to level {memory.train_to}", state, memory, around)

    def follow(self, goal: PlannedGoal, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """Return a goal for the party's strength; None if nothing can be done for it."""
        plan = self._readiness.begin(goal.foes) if goal.foes else None
        if goal.kind == TRAIN:
            return self.train(goal, state, memory, around)
        if goal.kind == CATCH:
            where = plan.where if plan is not None else ""
            return self._hunt(goal.species, goal.key or "recruit", goal.title, state, memory, around, where)
        if goal.kind == BUY:
            return self._buy(goal.buys, state, memory, around)
        if goal.kind == RIVAL and goal.target is not None:
            return self._fight_rival(goal, goal.target, state, memory, around)
        return None

    def _fight_rival(
        self, goal: PlannedGoal, target: Target, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> Goal | None:
        """Talk to a trainer, with the strongest member first; rest before, and give up if the route is blocked."""
        lead = state.party.lead
        if self._healing.is_weak(state) or (lead is not None and lead.hp < _FIT * lead.max_hp):
            found = self._healing.choose(state, memory, around, anyway=True)
            if found is not None:
                return found
        members = state.party.members
        if goal.member and members[goal.member].level > members[0].level + _MUCH_STRONGER:
            job = self._job(menu_tasks.LEAD, 0, goal.member, "put the strongest member first", state, memory)
            if job is not None:
                return job
        key = f"{RIVAL}/{target.map_id}/{target.person}"
        found = self._objectives.goal_for(target, key, goal.title, state, memory, around)
        if found is None:
            memory.tries[key] = self._settings.goal_tries
            plans.drop(memory.training, goal.foes)
        return found

    def earn(self, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """Fight a trainer nearby for money, if one can be beaten easily."""
        if self._game.knowledge == "seen":
            return None
        for rival in self._costs.rivals(()):
            if self._readiness.is_sure(rival):
                target, member = Target(rival.map_id, person=rival.person), self._readiness.strongest()
                goal = PlannedGoal(RIVAL, "", "fight a trainer for money", target=target, member=member)
                found = self._fight_rival(goal, target, state, memory, around)
                if found is not None:
                    return found
        return None

    def fight_on(
        self, ground: int, on: str, key: str, why: str, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> Goal | None:
        """Fight on one ground, or go there. An unusable ground is excluded for a while."""
        here = state.map_id
        if ground != here:
            goal = self._objectives.towards(Target(ground), f"{why}: to the ground", state, memory, around)
        else:
            name = f"{key}/{here}/{on}"
            tried = memory.tries.get(name, 0) >= self._settings.goal_tries
            there = not tried and around.nearest_ground(on) is not None
            goal = Goal(PACE, name, here, why, PLANNED, on=on) if there else None
        if goal is None:
            memory.poor_grounds[f"{ground}/{on}"] = self._game.steps + self._settings.poor_ground_steps
            plans.drop_ground(memory.training, f"{ground}/{on}")
        return goal

    def fights(self, key: str, why: str, state: GameState, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """Fight in this map's grass, or go to the nearest grass."""
        here = around.grid.map_id
        name = f"{key}/{here}"
        if around.nearest_ground(GRASS) is not None and memory.tries.get(name, 0) < self._settings.goal_tries:
            return Goal(PACE, name, here, why, PLANNED)
        route = self._roads.route(self._roads.of_kind("grass", memory), state, memory)
        if route is None or route.goal.map_id == here:
            return None
        return self._objectives.towards(Target(route.goal.map_id), f"{why}: to the grass", state, memory, around)

    def other_grass(
        self, barren: Collection[int], why: str, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> Goal | None:
        """Return a goal on the route to the nearest known grass outside some maps; None if there is none."""
        grass = self._roads.of_kind("grass", memory).ends
        left = {map_id: ends for map_id, ends in grass.items() if map_id not in barren}
        route = self._roads.route(Ends(left), state, memory) if left else None
        if route is None or route.goal.map_id == state.map_id:
            return None
        return self._objectives.towards(Target(route.goal.map_id), f"{why}: to other grass", state, memory, around)
