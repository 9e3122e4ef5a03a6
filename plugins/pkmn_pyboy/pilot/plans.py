"""Plans to be strong enough, what they are built on, and what that costs for whoever knows no ways."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from pkmn_pyboy.pilot.growth import Growth
from pkmn_pyboy.pilot.memory import GRASS
from pkmn_pyboy.state.game_state import PartyMember

TRAIN, CATCH, BUY, HEAL, RIVAL = "train", "catch", "buy", "heal", "rival"
"""Kinds of plans."""
NOTHING = "nothing"
"""Kind of a plan that says for a while that nothing was found which would make the party ready."""

Foes = tuple[tuple[int, int], ...]
Trainers = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, and for which trainers. It goes through JSON and back."""

    kind: str
    foes: tuple[tuple[int, int], ...]
    losses: int = 0
    """Losses that it was made after: another one makes a new plan."""
    party: int = 0
    """Party members that it was made for."""
    steps: float = 0.0
    """What it should cost."""
    until: int = 0
    """The step after which it has not worked, or is made anew where nobody has begun with it."""
    begun: bool = False
    """Whether it was followed yet: its time begins then."""
    dvs: tuple[int, ...] = ()
    """Of TRAIN: who, by what they were born with, as places and species change."""
    level: int = 0
    number: int = 0
    """Of TRAIN without foes: the level that is wanted in the end."""
    ground: int = -1
    """The map to train or to catch on, -1 for the nearest grass."""
    on: str = GRASS
    helped: bool = False
    """Whether a stronger one takes over in fights that the one who is trained would lose."""
    rest: float = 0.0
    """Share of hit points of whoever fights below which it rests first."""
    species: tuple[int, ...] = ()
    """Of CATCH: who would do."""
    buys: tuple[tuple[int, int], ...] = ()
    """Of BUY: things, and how many there should be."""
    person: int = 0
    """Of RIVAL: the trainer on the ground's map who is to be beaten for the experience, by number."""
    flag: int = -1
    """Of RIVAL: the event flag that is set then."""

    @property
    def where(self) -> str:
        """Name of its ground, empty without one."""
        return f"{self.ground}/{self.on}" if self.ground >= 0 else ""

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        found = asdict(self)
        found["foes"], found["buys"] = [list(one) for one in self.foes], [list(one) for one in self.buys]
        return found | {"dvs": list(self.dvs), "species": list(self.species)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Plan | None:
        """The plan that :meth:`to_json` gave; None for an empty one."""
        known = {one.name: values[one.name] for one in fields(cls) if one.name in values}
        if "kind" not in known:
            return None
        for name in ("foes", "buys"):
            known[name] = tuple((int(first), int(second)) for first, second in known.get(name, ()))
        return cls(**known | {name: tuple(known.get(name, ())) for name in ("dvs", "species")})


def name_of(foes: Trainers) -> str:
    """Return the name that a plan for some trainers is kept under."""
    return ",".join(f"{one}/{number}" for one, number in foes)


def kept(plans: dict[str, Any], foes: Trainers) -> Plan | None:
    """Return the plan for some trainers among those that are kept; None without one."""
    found = plans.get(name_of(foes))
    return Plan.from_json(found) if isinstance(found, dict) else None


def keep(plans: dict[str, Any], plan: Plan) -> None:
    """Keep a plan in place of the one before for the same trainers."""
    plans[name_of(plan.foes)] = plan.to_json()


def drop(plans: dict[str, Any], foes: Trainers) -> None:
    """Forget the plan for some trainers."""
    plans.pop(name_of(foes), None)


def drop_ground(plans: dict[str, Any], where: str) -> None:
    """Forget the plans that are done on a ground."""
    for name, values in list(plans.items()):
        plan = Plan.from_json(values) if isinstance(values, dict) else None
        if plan is None or plan.where == where:
            del plans[name]


@dataclass(frozen=True, slots=True)
class Recruit:
    """Someone who could be caught: on which ground, and what that should cost."""

    species: int
    level: int
    steps: float
    ground: int
    on: str


@dataclass(frozen=True, slots=True)
class Rival:
    """A trainer who was not beaten yet and stands where one can go."""

    trainer_class: int
    number: int
    map_id: int
    person: int
    flag: int
    steps: int
    """To where they stand."""


@dataclass(frozen=True, slots=True)
class Way:
    """What a training costs, and where it is done."""

    steps: float
    ground: int = -1
    on: str = GRASS
    helped: bool = False
    rest: float = 0.0


class Costs:
    """What options cost, for whoever knows no ways: the experience that is missing, nobody to catch, no shops."""

    def __init__(self, growth: Growth) -> None:
        self._growth = growth

    def training(self, member: PartyMember, level: int, helper: PartyMember | None) -> Way | None:
        """The cheapest training of a member to a level; None where no ground brings it."""
        del helper
        return Way(float(self._growth.missing(member, level)))

    def recruits(self) -> Sequence[Recruit]:
        """Who could be caught."""
        return ()

    def rivals(self, leave_out: Trainers) -> Sequence[Rival]:
        """Trainers who could be fought for the experience, the nearest first; not those that are left out."""
        del leave_out
        return ()

    def lives(self, species: Collection[int], time: int) -> bool | None:
        """Whether one of some species can be gone to and met at a time of day; None where ways are not known."""
        del species, time
        return None

    def give_up(self, plan: Plan, *, late: bool = True) -> None:
        """Leaves out for a while what a plan was built on: it did not work in its time, or could not be begun."""

    def beaten(self, flag: int) -> bool:
        """Whether a trainer was beaten."""
        del flag
        return False

    def for_sale(self, items: Collection[int]) -> bool:
        """Whether a clerk to whom there is a way has one of some items for the money that is there."""
        del items
        return False

    def heals(self, most: int) -> tuple[float, int, int, int] | None:
        """Steps to buy things that heal, item, hit points of each, and how many can be paid; None without a shop."""
        del most
        return None
