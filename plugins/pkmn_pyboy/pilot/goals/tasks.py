"""Planned goals: milestones, errands, and tasks such as to teach, to catch, to train and to buy."""

from __future__ import annotations

from dataclasses import dataclass

from pkmn_pyboy.pilot.goals.plans import BUY, CATCH, HEAL, RIVAL, TRAIN, Plan
from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.profile.model import Names

MILESTONE, ERRAND, TEACH = "milestone", "errand", "teach"
"""Kinds of goals, besides those of plans."""


@dataclass(frozen=True, slots=True)
class PlannedGoal:
    """Planned goal. ``parents`` are the keys of the goals that it serves, the milestone first.

    ``number`` is a machine slot for TEACH, a level for TRAIN; ``member`` the party slot of the Pokemon to teach or
    train; ``species`` the suitable species for CATCH.
    """

    kind: str
    key: str
    title: str
    hint: str = ""
    target: Target | None = None
    number: int = 0
    member: int = 0
    foes: tuple[tuple[int, int], ...] = ()
    """Trainers that it prepares for."""
    buys: tuple[tuple[int, int], ...] = ()
    """Items of BUY, with the number of each to have; to catch, one kind of them is enough."""
    parents: tuple[str, ...] = ()
    species: tuple[int, ...] = ()
    case: int = -1
    """Value of the byte that selected the target's case, -1 without cases."""

    @property
    def tries_key(self) -> str:
        """Key of its tries: another value of the byte counts as another goal."""
        return f"{self.kind}/{self.key}" if self.case < 0 else f"{self.kind}/{self.key}@{self.case}"

    @property
    def words(self) -> str:
        """Hint, or else the title."""
        return self.hint or self.title


def goal_of_plan(plan: Plan, names: Names, member: int) -> PlannedGoal:
    """Return the goal of a plan for the party's strength: TRAIN, RIVAL, CATCH, BUY or HEAL.

    Args:
        plan: the plan.
        names: names for the title.
        member: party slot of the plan's Pokemon.
    """
    if plan.kind == TRAIN:
        title = f"train to level {plan.level}"
        return PlannedGoal(TRAIN, "", title, number=plan.level, member=member, foes=plan.foes)
    if plan.kind == CATCH:
        called = names.species.get(plan.species[0], f"species {plan.species[0]}")
        return PlannedGoal(CATCH, "", f"catch {called} for the next fights", species=plan.species, foes=plan.foes)
    if plan.kind == RIVAL:
        target = Target(plan.ground, person=plan.person)
        return PlannedGoal(RIVAL, "", "fight a trainer on the way", target=target, member=member, foes=plan.foes)
    if plan.kind == BUY:
        called = ", ".join(names.items.get(item, f"item {item}") for item, _ in plan.buys)
        return PlannedGoal(BUY, "", f"buy {called}", foes=plan.foes, buys=plan.buys)
    return PlannedGoal(HEAL, "", "heal before the fight", foes=plan.foes)
