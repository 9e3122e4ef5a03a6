"""The cheapest way to be strong enough for the next fights: healing, buying, training someone, catching one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from pkmn_pyboy.pilot import strength
from pkmn_pyboy.pilot.bag import Bag
from pkmn_pyboy.pilot.damage import MIDDLING_DVS, BattleTables, Combatant
from pkmn_pyboy.pilot.growth import MOST_LEVEL, Growth
from pkmn_pyboy.pilot.memory import GRASS
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.state.game_state import PARTY_PLACES, PartyMember

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment

TRAIN, CATCH, BUY, HEAL, RIVAL = "train", "catch", "buy", "heal", "rival"
"""Kinds of plans."""

_ENOUGH_ABOVE = 6
"""Levels above the strongest foe with which it goes there, whatever the forecast says."""
_MORE_BY_LOSS = 3
_MOST_HEALS = 6
_LEVELS_AT_LEAST = (4, 1)
_HEAL_TURN_STEPS = 14.0
_SURE_SCORE = 1.3
"""Of the forecast with which a trainer is fought for the experience."""
_SAME_MAP_STEPS, _ASKING_STEPS = 15, 15

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
    """The step after which it has not worked."""
    dvs: tuple[int, ...] = ()
    """Of TRAIN: who, by what they were born with, as places and species change."""
    level: int = 0
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

    def give_up(self, plan: Plan) -> None:
        """Leaves out for a while what a plan was built on, as it did not work in its time."""

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


class Readiness:
    """Says whether the party is strong enough, and what to do where it is not.

    Args:
        environment: the game.
        settings: how much must be left, what may be done.
        tables: moves, types and species of the image.
    """

    def __init__(self, environment: PokemonEnvironment, settings: PilotSettings, tables: BattleTables) -> None:
        self._environment = environment
        self._settings = settings
        self._tables = tables
        self._book = strength.TrainerBook(environment.cartridge, tables)
        keep = [move.move for move in environment.profile.field_moves.values()]
        self.growth = Growth(environment.cartridge, tables, keep)
        self.forecaster = strength.Forecaster(tables)
        self.care = settings.care
        self.losses = 0
        self.costs: Costs = Costs(self.growth)
        self.load: Callable[[], dict[str, Any]] = dict
        """Gives the plan that stands, as plain values; whoever plays by it keeps it."""
        self.keep: Callable[[dict[str, Any]], None] = lambda _: None

    @property
    def enough(self) -> float:
        """The score of a forecast with which it goes to fight."""
        return 1.0 + self._settings.margin

    def plan_for(self, trainers: Trainers) -> Plan | None:
        """What to do before some trainers are fought one after the other; None when the party is ready.

        A plan that was made stands until it is done, until another one is out or lost, or until its time is up.
        """
        foes = self.foes(trainers)
        members = [member for member in self._environment.state.party.members if not member.egg]
        if not foes or not members or self._environment.settings.knowledge == "seen":
            return None
        party = [self.growth.rested(member) for member in members]
        heals = self.heals()
        names = tuple((int(one), int(number)) for one, number in trainers)
        standing = Plan.from_json(self.load())
        if standing is not None and standing.foes != names:
            standing = None
        if self._is_enough(party, foes, heals):
            if standing is not None:
                self.keep({})
            as_it_is = [self._tables.member(member) for member in members]
            return None if self._is_enough(as_it_is, foes, heals) else Plan(HEAL, names)
        if max(member.level for member in members) >= self._cap(foes):
            return None
        if standing is not None and self._stands(standing, members):
            return standing
        if standing is not None and self._environment.steps > standing.until:
            self.costs.give_up(standing)
        plan = self._cheapest(members, party, foes, heals, names)
        if plan is not None:
            self.keep(plan.to_json())
        return plan

    def place_of(self, plan: Plan) -> int:
        """Where in the party the one who is trained stands; -1 if they are not in it."""
        members = self._environment.state.party.members
        found = [place for place, one in enumerate(members) if not one.egg and one.dvs == plan.dvs]
        return max(found, key=lambda place: members[place].level, default=-1)

    def strongest(self) -> int:
        """Party place of the member of the highest level."""
        members = self._environment.state.party.members
        return max(range(len(members)), key=lambda place: (not members[place].egg, members[place].level), default=0)

    def carrier(self) -> int:
        """Party place of who is worth the experience: by level, and by what that one will have become."""
        members = self._environment.state.party.members
        return max(
            range(len(members)),
            key=lambda place: (not members[place].egg, self._promise(members[place]), -place),
            default=0,
        )

    def _promise(self, member: PartyMember) -> float:
        return float(member.level * self.growth.grown_worth(member.species))

    def foes(self, trainers: Trainers) -> list[Combatant]:
        """Their parties, one after the other."""
        return [foe for trainer in trainers for foe in self._book.party(*trainer)]

    def heals(self) -> list[int]:
        """Hit points of each thing in the bag that heals."""
        if not self._settings.use_items:
            return []
        bag = Bag.read(self._environment.emulator, self._environment.profile.memory)
        uses = self._environment.profile.item_uses.heal
        found = [points for item, points in uses.items() for _ in range(min(bag.items.get(item, 0), _MOST_HEALS))]
        return sorted(found)[-_MOST_HEALS:]

    # The cheapest ---------------------------------------------------------------------------------------------

    def _cheapest(
        self,
        members: Sequence[PartyMember],
        party: Sequence[Combatant],
        foes: Sequence[Combatant],
        heals: Sequence[int],
        names: tuple[tuple[int, int], ...],
    ) -> Plan | None:
        options: list[Plan] = []
        base = Plan(HEAL, names, self.losses, len(members))
        bought = self.costs.heals(_MOST_HEALS - len(heals)) if self._settings.shop != "never" else None
        stocks: list[tuple[float, list[int], tuple[tuple[int, int], ...]]] = [(0.0, list(heals), ())]
        if bought is not None and self._settings.use_items:
            steps, item, points, count = bought
            bag = Bag.read(self._environment.emulator, self._environment.profile.memory)
            for number in range(1, count + 1):
                stock = [*heals, *[points] * number]
                if number == count or self._is_enough(party, foes, stock):
                    cost = steps + _HEAL_TURN_STEPS * number
                    stocks.append((cost, stock, ((item, bag.count(item) + number),)))
                    break
        for cost, stock, buys in stocks:
            if buys and self._is_enough(party, foes, stock):
                options.append(replace(base, kind=BUY, steps=cost, buys=buys))
                continue
            for plan in self._trainings(members, party, foes, stock, base):
                options.append(replace(plan, steps=plan.steps + cost, buys=buys))
        least = min((plan.steps for plan in options), default=float("inf"))
        rival = self._rivals(members, foes, stocks, base, least)
        if rival is not None:
            options.append(rival)
        room = max(self._environment.milestones.party_room, 1)
        if self._settings.catch != "none" and len(members) < PARTY_PLACES - room:
            least = min((plan.steps for plan in options), default=float("inf"))
            options += self._catches(members, party, foes, stocks[-1][1], base, least)
        if not options:
            # Nothing is enough in time: what grounds bring at all, and where they bring nothing the fight is tried.
            place = members.index(max(members, key=self._promise))
            for more in _LEVELS_AT_LEAST:
                level = min(members[place].level + more, MOST_LEVEL)
                way = self.costs.training(members[place], level, None)
                if way is not None:
                    options = [self._at(replace(base, kind=TRAIN, dvs=members[place].dvs, level=level), way)]
                    break
            else:
                return None
        best = min(options, key=lambda plan: plan.steps)
        if best.buys and best.kind != BUY:
            best = replace(best, kind=BUY)
        patience = max(int(3 * best.steps), self._settings.forget_tries_steps)
        return replace(best, until=self._environment.steps + patience)

    def _trainings(
        self,
        members: Sequence[PartyMember],
        party: Sequence[Combatant],
        foes: Sequence[Combatant],
        heals: Sequence[int],
        base: Plan,
    ) -> list[Plan]:
        """Each member alone, to the level that is enough."""
        found = []
        strongest = max(members, key=lambda member: member.level)
        for place, member in enumerate(members):
            level = self._level_for(place, members, party, foes, heals)
            if level is None:
                continue
            helper = strongest if strongest is not member else None
            way = self.costs.training(member, level, helper)
            if way is not None:
                plan = self._at(replace(base, kind=TRAIN, dvs=member.dvs, level=level), way)
                share = self._share(base) if member is max(members, key=self._promise) else 1.0
                found.append(replace(plan, steps=plan.steps * share))
        return found

    def _share(self, base: Plan) -> float:
        """Share of the carrier's training that counts: later fights, if some come, would have asked for it anyway."""
        tracker = self._environment.milestones
        later = (
            (foe.trainer_class, foe.number) not in base.foes
            for goal, step in zip(tracker.milestones, tracker.steps, strict=True)
            for foe in (goal.requires.foes if step < 0 and not goal.optional else ())
        )
        return self._settings.carrier_share if any(later) else 1.0

    def _rivals(
        self,
        members: Sequence[PartyMember],
        foes: Sequence[Combatant],
        stocks: Sequence[tuple[float, list[int], tuple[tuple[int, int], ...]]],
        base: Plan,
        least: float,
    ) -> Plan | None:
        """Trainers near by, one after the other as long as that is cheaper than wild Pokemon alone."""
        settings = self._settings
        later, spent, at = list(members), 0.0, -1
        first: Rival | None = None
        best: Plan | None = None
        share = self._share(base)
        for rival in self.costs.rivals(base.foes):
            party = [self.growth.rested(member) for member in later]
            others = self.foes(((rival.trainer_class, rival.number),))
            if not others or self.forecaster.forecast(party, others, self.care).score < _SURE_SCORE:
                continue
            place = later.index(max(later, key=self._promise))
            turns = sum(foe.max_hp / max(self.forecaster.pair(party[place], foe).best, 1.0) + 1 for foe in others)
            cost = (_SAME_MAP_STEPS if rival.map_id == at else rival.steps) + settings.turn_steps * turns
            spent += share * (cost + settings.fight_steps + _ASKING_STEPS)
            at, first = rival.map_id, first or rival
            gained = sum(self.growth.worth(one, level, trainer=True) for one, level in self._book.species(
                rival.trainer_class, rival.number))  # fmt: skip
            later[place] = self.growth.after(later[place], gained)
            if spent >= least:
                break
            party = [self.growth.rested(member) for member in later]
            for cost, stock, _ in stocks:
                steps = spent + cost
                if not self._is_enough(party, foes, stock):
                    level = self._level_for(place, later, party, foes, stock)
                    way = self.costs.training(later[place], level, None) if level is not None else None
                    steps += share * way.steps if way is not None else float("inf")
                if steps < least:
                    least = steps
                    best = replace(base, kind=RIVAL, steps=steps, ground=first.map_id, person=first.person,
                                   flag=first.flag, dvs=later[place].dvs)  # fmt: skip
        return best

    def _catches(
        self,
        members: Sequence[PartyMember],
        party: Sequence[Combatant],
        foes: Sequence[Combatant],
        heals: Sequence[int],
        base: Plan,
        least: float,
    ) -> list[Plan]:
        """Someone who is caught, and what is still missing then."""
        found: list[Plan] = []
        strongest = max(members, key=lambda member: member.level)
        for one in self.costs.recruits():
            if one.steps >= least:
                continue
            new = self.recruit(one.species, one.level)
            wider, all_members = [*party, self.growth.rested(new)], [*members, new]
            steps = one.steps
            if not self._is_enough(wider, foes, heals):
                ways = []
                for place in (len(members), members.index(strongest)):
                    level = self._level_for(place, all_members, wider, foes, heals)
                    helper = strongest if place == len(members) else None
                    way = self.costs.training(all_members[place], level, helper) if level is not None else None
                    if way is not None:
                        ways.append(way.steps)
                if not ways:
                    continue
                steps += min(ways)
            if steps < least:
                least = steps
                species = (one.species,)
                found.append(replace(base, kind=CATCH, steps=steps, species=species, ground=one.ground, on=one.on))
        return found

    def recruit(self, species: int, level: int) -> PartyMember:
        """Someone with middling values, as just caught."""
        foe = self._book.foe(level, species)
        experience = self.growth.experience(species, level)
        return PartyMember(species, level, foe.max_hp, foe.max_hp, 0, 0, experience, foe.moves, foe.pp, egg=False,
                           stats=foe.stats, dvs=MIDDLING_DVS)  # fmt: skip

    def _level_for(
        self,
        place: int,
        members: Sequence[PartyMember],
        party: Sequence[Combatant],
        foes: Sequence[Combatant],
        heals: Sequence[int],
    ) -> int | None:
        """The lowest level of one member with which the party is enough; None where none is."""

        def enough(level: int) -> bool:
            later = [
                self.growth.at(members[place], level) if index == place else one for index, one in enumerate(party)
            ]
            return self._is_enough(later, foes, heals)

        low, high = members[place].level, min(max(self._cap(foes), members[place].level + 1), MOST_LEVEL)
        if not enough(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    def _stands(self, plan: Plan, members: Sequence[PartyMember]) -> bool:
        """Whether a plan is still to be followed."""
        steps = self._environment.steps
        if plan.losses != self.losses or plan.party != len(members) or steps > plan.until:
            return False
        if plan.kind == TRAIN:
            return any(one.dvs == plan.dvs and one.level < plan.level for one in members)
        if plan.kind == RIVAL:
            return not self.costs.beaten(plan.flag)
        if plan.kind == BUY:
            bag = Bag.read(self._environment.emulator, self._environment.profile.memory)
            return any(bag.count(item) < count for item, count in plan.buys)
        return True

    def _cap(self, foes: Sequence[Combatant]) -> int:
        return min(max(foe.level for foe in foes) + _ENOUGH_ABOVE + _MORE_BY_LOSS * self.losses, MOST_LEVEL)

    def _is_enough(self, party: Sequence[Combatant], foes: Sequence[Combatant], heals: Sequence[int]) -> bool:
        return self.forecaster.forecast(party, foes, self.care, heals).score >= self.enough

    @staticmethod
    def _at(plan: Plan, way: Way) -> Plan:
        return replace(plan, steps=way.steps, ground=way.ground, on=way.on, helped=way.helped, rest=way.rest)
