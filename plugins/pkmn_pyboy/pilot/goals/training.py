"""Training: follows the plan that makes the party strong enough, on one ground until it is done."""

from __future__ import annotations

from pkmn_pyboy.pilot.goals import plans
from pkmn_pyboy.pilot.goals.context import GoalContext
from pkmn_pyboy.pilot.goals.fighting import FightGoals
from pkmn_pyboy.pilot.goals.goal_planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.healing import Healing
from pkmn_pyboy.pilot.goals.hunting import Hunting
from pkmn_pyboy.pilot.goals.known_costs import KnownCosts
from pkmn_pyboy.pilot.goals.plans import BUY, CATCH, RIVAL, TRAIN, Plan
from pkmn_pyboy.pilot.goals.readiness import Readiness
from pkmn_pyboy.pilot.goals.shopping import Shopping
from pkmn_pyboy.pilot.goals.tasks import PlannedGoal
from pkmn_pyboy.pilot.memory import PilotMemory, WalkGoal
from pkmn_pyboy.pilot.screens import menu_tasks
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.state.game_state import GameState

_FIT, _MUCH_STRONGER = 0.6, 2
"""Share of the lead's HP needed to fight a trainer, and levels that justify another lead."""
_SOME_LEVELS = 4
_WEAKER = 0.8
"""Minimum share of the lead's level for another member to lead on the way."""


class Training:
    """Chooser of fights for experience.

    Args:
        context: game, settings, routes and tasks.
        planner: judges how strong is strong enough.
        costs: known grounds.
        healing: whether the party is fit to fight.
        shopping: where items are sold.
        hunting: where species live.
        fights: goals to fight on a ground or to go there.
    """

    def __init__(
        self,
        context: GoalContext,
        planner: GoalOrientedPlanner,
        costs: KnownCosts,
        healing: Healing,
        shopping: Shopping,
        hunting: Hunting,
        fights: FightGoals,
    ) -> None:
        self._context, self._game, self._settings = context, context.game, context.settings
        self._planner, self._costs = planner, costs
        self._healing, self._shopping, self._hunting, self._fights = healing, shopping, hunting, fights

    @property
    def _readiness(self) -> Readiness:
        return self._planner.readiness

    def train(self, goal: PlannedGoal, state: GameState, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
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
            job = self._context.task(menu_tasks.LEAD, 0, goal.member, "put the member to train first", state, memory)
            if job is not None:
                return job
        if plan is None or plan.ground < 0:
            return self._fights.in_grass("train", goal.title, state, memory, around)
        return self._fights.on_ground(plan.ground, plan.on, "train", goal.title, state, memory, around)

    def lead_on(self, state: GameState, memory: PilotMemory) -> WalkGoal | None:
        """Put the member worth the experience first for fights on the way, unless it is too weak for them."""
        members = state.party.members
        if len(members) < 2 or self._game.knowledge == "seen":
            return None
        slot = self._readiness.carrier()
        fit = members[slot].hp >= _FIT * members[slot].max_hp
        if not slot or not fit or members[slot].level < _WEAKER * members[0].level:
            return None
        return self._context.task(menu_tasks.LEAD, 0, slot, "put the most valuable member first", state, memory)

    def _needs_rest(self, plan: Plan, state: GameState) -> bool:
        """Return whether one more fight on the ground could be lost."""
        members = state.party.members
        slot = self._readiness.strongest() if plan.helped else 0
        return slot < len(members) and members[slot].hp < plan.rest * members[slot].max_hp

    def _plan(self, goal: PlannedGoal, state: GameState, memory: PilotMemory) -> Plan | None:
        """Return the current plan, or make one for a level that is wanted for its own sake.

        A ground that did not reach that level in its time is given up. None if no ground yields anything.
        """
        plan = plans.kept(memory.strength.plans, goal.foes)
        members, steps = state.party.members, self._game.steps
        if goal.foes or self._game.knowledge == "seen" or not members:
            return plan
        member = members[goal.member]
        if plan is not None and plan.kind == TRAIN and plan.number == goal.number and member.level < plan.level:
            if plan.until >= steps:
                return plan
            self._costs.give_up(plan)
        plans.drop(memory.strength.plans, ())
        for level in (goal.number, member.level + _SOME_LEVELS, member.level + 1):
            training = self._costs.training(member, min(level, goal.number), None)
            if training is not None:
                break
        else:
            return None
        plan = Plan(TRAIN, (), steps=training.steps, until=steps + self._readiness.patience(training.steps), begun=True,
                    dvs=member.dvs, level=min(level, goal.number), number=goal.number, ground=training.ground,
                    on=training.on, rest=training.rest)  # fmt: skip
        plans.keep(memory.strength.plans, plan)
        return plan

    def after_loss(self, state: GameState, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Train after a lost battle until its winner should lose; if that is unknown, for some levels."""
        lead = state.party.lead
        if lead is None or not memory.strength.train_to or self._healing.is_weak(state):
            return None
        nemesis = memory.strength.nemesis
        if nemesis is not None and self._game.knowledge != "seen":
            for _ in range(plans.MOST_PLANS):
                goal = self._planner.training_for((nemesis,), keep=True)
                if goal is None or goal.kind not in (TRAIN, CATCH, RIVAL, BUY):
                    break
                found = self.follow(goal, state, memory, around)
                if found is not None:
                    return found
                self._readiness.give_up(goal.foes)
            memory.strength.nemesis, memory.strength.train_to = None, 0
            plans.drop(memory.strength.plans, (nemesis,))
            return None
        if lead.level >= memory.strength.train_to:
            memory.strength.train_to = 0
            return None
        return self._fights.in_grass("train", f"train to level {memory.strength.train_to}", state, memory, around)

    def follow(self, goal: PlannedGoal, state: GameState, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Return a goal for the party's strength; None if nothing can be done for it."""
        plan = self._readiness.begin(goal.foes) if goal.foes else None
        if goal.kind == TRAIN:
            return self.train(goal, state, memory, around)
        if goal.kind == CATCH:
            where = plan.where if plan is not None else ""
            key = goal.key or "recruit"
            found = self._hunting.hunt(goal.species, key, goal.title, state, memory, around, where)
            # Wild Pokemon bring no money for balls, so trainers nearby are fought instead.
            return found or (None if state.balls else self.earn(state, memory, around))
        if goal.kind == BUY:
            return self._shopping.for_plan(goal.buys, state, memory, around)
        if goal.kind == RIVAL and goal.target is not None:
            return self._fight_rival(goal, goal.target, state, memory, around)
        return None

    def _fight_rival(
        self, goal: PlannedGoal, target: Target, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> WalkGoal | None:
        """Talk to a trainer, with the strongest member first; rest before, and give up if the route is blocked."""
        lead = state.party.lead
        if self._healing.is_weak(state) or (lead is not None and lead.hp < _FIT * lead.max_hp):
            found = self._healing.choose(state, memory, around, anyway=True)
            if found is not None:
                return found
        members = state.party.members
        if goal.member and members[goal.member].level > members[0].level + _MUCH_STRONGER:
            job = self._context.task(menu_tasks.LEAD, 0, goal.member, "put the strongest member first", state, memory)
            if job is not None:
                return job
        key = f"{RIVAL}/{target.map_id}/{target.person}"
        found = self._context.objectives.goal_for(target, key, goal.title, state, memory, around)
        if found is None:
            memory.tries[key] = self._settings.goal_tries
            plans.drop(memory.strength.plans, goal.foes)
        return found

    def earn(self, state: GameState, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
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
