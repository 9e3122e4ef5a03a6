"""Plans to become strong enough, the options that they choose from, and costs without knowledge of maps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from pkmn_pyboy.pilot.goals.growth import Growth
from pkmn_pyboy.pilot.memory import GRASS
from pkmn_pyboy.state.game_state import PartyMember

TRAIN, CATCH, BUY, HEAL, RIVAL = "train", "catch", "buy", "heal", "rival"
"""Kinds of plans."""
NOTHING = "nothing"
"""Kind of a plan that records, for a while, that no way to become ready was found."""

MOST_PLANS = 4
"""Maximum number of plans tried in turn while none of them can be followed."""

Foes = tuple[tuple[int, int], ...]
Trainers = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan for some trainers; convertible to JSON and back."""

    kind: str
    foes: tuple[tuple[int, int], ...] = ()
    losses: int = 0
    """Lost battles when it was made: another loss makes a new plan."""
    party: int = 0
    """Number of party members when it was made."""
    steps: float = 0.0
    """Expected cost in steps."""
    until: int = 0
    """Step after which it has failed, or is planned again if not begun."""
    begun: bool = False
    """True once it is followed; its time counts from then."""
    dvs: tuple[int, ...] = ()
    """For TRAIN: the member's DVs, which identify it, since slots and species change."""
    level: int = 0
    number: int = 0
    """For TRAIN without foes: the final level wanted."""
    ground: int = -1
    """Map to train or catch on, -1 for the nearest grass."""
    on: str = GRASS
    helped: bool = False
    """True if a stronger member takes over fights that the trained one would lose."""
    rest: float = 0.0
    """Share of the fighter's HP below which it rests first."""
    species: tuple[int, ...] = ()
    """For CATCH: the suitable species."""
    buys: tuple[tuple[int, int], ...] = ()
    """For BUY: items, and the count to have of each."""
    person: int = 0
    """For RIVAL: number of the trainer on the ground's map to beat for experience."""
    flag: int = -1
    """For RIVAL: event flag that the victory sets."""

    @property
    def where(self) -> str:
        """Key of its ground, empty without one."""
        return f"{self.ground}/{self.on}" if self.ground >= 0 else ""

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        values: dict[str, Any] = _PLAIN.dump_python(self, mode="json")
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Plan | None:
        """Return the plan that :meth:`to_json` stored; None if empty."""
        return _PLAIN.validate_python(values) if "kind" in values else None


_PLAIN = TypeAdapter(Plan)


def name_of(foes: Trainers) -> str:
    """Return the key of a plan for some trainers."""
    return ",".join(f"{one}/{number}" for one, number in foes)


def kept(plans: dict[str, Any], foes: Trainers) -> Plan | None:
    """Return the kept plan for some trainers; None without one."""
    found = plans.get(name_of(foes))
    return Plan.from_json(found) if isinstance(found, dict) else None


def keep(plans: dict[str, Any], plan: Plan) -> None:
    """Keep a plan, replacing the one for the same trainers."""
    plans[name_of(plan.foes)] = plan.to_json()


def drop(plans: dict[str, Any], foes: Trainers) -> None:
    """Forget the plan for some trainers."""
    plans.pop(name_of(foes), None)


def drop_ground(plans: dict[str, Any], where: str) -> None:
    """Forget the plans for a ground."""
    for name, values in list(plans.items()):
        plan = Plan.from_json(values) if isinstance(values, dict) else None
        if plan is None or plan.where == where:
            del plans[name]


@dataclass(frozen=True, slots=True)
class Recruit:
    """Pokemon that could be caught: its ground, and the expected cost."""

    species: int
    level: int
    steps: float
    ground: int
    on: str


@dataclass(frozen=True, slots=True)
class Rival:
    """Trainer within reach who is not beaten yet."""

    trainer_class: int
    number: int
    map_id: int
    person: int
    flag: int
    steps: int
    """Steps to the trainer."""


@dataclass(frozen=True, slots=True)
class TrainingCost:
    """Cost and place of a training."""

    steps: float
    ground: int = -1
    on: str = GRASS
    helped: bool = False
    rest: float = 0.0


class OptionCosts:
    """Costs of options without knowledge of maps: missing experience only, no recruits, no shops."""

    def __init__(self, growth: Growth) -> None:
        self._growth = growth

    def training(self, member: PartyMember, level: int, helper: PartyMember | None) -> TrainingCost | None:
        """Return the cheapest training of a member to a level; None if no ground reaches it."""
        del helper
        return TrainingCost(float(self._growth.missing(member, level)))

    def recruits(self) -> Sequence[Recruit]:
        """Return the Pokemon that could be caught."""
        return ()

    def rivals(self, leave_out: Trainers) -> Sequence[Rival]:
        """Return the trainers who could be fought for experience, nearest first, without those in ``leave_out``."""
        del leave_out
        return ()

    def lives(self, species: Collection[int], time: int) -> bool | None:
        """Return whether one of the species can be reached at a time of day; None if maps are unknown."""
        del species, time
        return None

    def give_up(self, plan: Plan, *, late: bool = True) -> None:
        """Exclude for a while what a plan relied on: it failed in its time, or could not begin."""

    def beaten(self, flag: int) -> bool:
        """Return whether a trainer was beaten."""
        del flag
        return False

    def for_sale(self, items: Collection[int]) -> bool:
        """Return whether a reachable clerk sells one of the items at a price that the money allows."""
        del items
        return False

    def heals(self, most: int) -> tuple[float, int, int, int] | None:
        """Return steps to buy healing items, item, HP of each, and how many are affordable; None without a shop."""
        del most
        return None
