"""Readiness for the next fights, and the cheapest way to it: heal, buy, train a member or catch one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pkmn_pyboy.pilot.battle import forecast as strength
from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.pilot.goals import plans
from pkmn_pyboy.pilot.goals.growth import MOST_LEVEL, Growth
from pkmn_pyboy.pilot.goals.plans import (
    BUY,
    CATCH,
    HEAL,
    NOTHING,
    RIVAL,
    TRAIN,
    Foes,
    OptionCosts,
    Plan,
    Rival,
    Trainers,
    TrainingCost,
)
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.rules_gen2.combatant import AVERAGE_DVS, Combatant
from pkmn_pyboy.rules_gen2.slots import PARTY_SLOTS
from pkmn_pyboy.state.game_state import PartyMember

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

_ENOUGH_ABOVE = 6
"""Levels above the strongest foe that are enough, whatever the forecast says."""
_MORE_BY_LOSS = 3
_MOST_HEALS = 6
_LEVELS_AT_LEAST = (4, 1)
_HEAL_TURN_STEPS = 14.0
_SURE_SCORE = 1.3
"""Minimum score of a forecast to fight a trainer for experience."""
_SAME_MAP_STEPS, _ASKING_STEPS = 15, 15
_NOTHING_STEPS = 150
"""Steps until the next search after one that found nothing."""
_MUCH_REST = 0.1
"""Minimum gain in score for which to rest before a fight that should be lost."""


class Readiness:
    """Judge of whether the party is strong enough, and chooser of the plan if it is not.

    Args:
        game: the running game.
        settings: margins, and what plans may do.
        tables: moves, types and species of the image.
    """

    def __init__(self, game: Game, settings: PilotSettings, tables: BattleTables) -> None:
        self._game = game
        self._settings = settings
        self.tables = tables
        self.book = strength.TrainerBook(game.cartridge, tables)
        keep = [move.move for move in game.profile.field_moves.values()]
        self.growth = Growth(game.cartridge, tables, keep)
        self.forecaster = strength.Forecaster(tables)
        self.care = settings.care
        self.losses = 0
        self.costs: OptionCosts = OptionCosts(self.growth)
        self.load: Callable[[], dict[str, Any]] = dict
        """Returns the current plans by foes, as plain values to modify; the caller that follows them keeps them."""

    @property
    def enough(self) -> float:
        """Minimum score of a forecast to go and fight."""
        return 1.0 + self._settings.margin

    def plan_for(self, trainers: Trainers, *, keep: bool = False) -> Plan | None:
        """Return what to do before fighting some trainers in a row; None if the party is ready.

        A plan is kept until it is done, the party or the losses change, or its time is up. Each set of trainers has
        its own plan.

        Args:
            trainers: class and number of each.
            keep: whether to keep the plan; otherwise the memory does not change.
        """
        foes = self.foes(trainers)
        members = [member for member in self._game.state.party.members if not member.egg]
        if not foes or not members or self._game.knowledge == "seen":
            return None
        party = [self.growth.rested(member) for member in members]
        as_it_is = [self.tables.member(member) for member in members]
        heals = self.heals()
        names = tuple((int(one), int(number)) for one, number in trainers)
        standing = plans.kept(self.load(), names)
        if self._is_enough(party, foes, heals):
            if keep:
                plans.drop(self.load(), names)
            return None if self._is_enough(as_it_is, foes, heals) else Plan(HEAL, names)
        if standing is None or not self._stands(standing, members):
            late = standing is not None and self._game.steps > standing.until
            if keep and standing is not None and late and standing.begun:
                self.costs.give_up(standing)
            standing = self.cheapest(members, party, foes, heals, names)
            if keep:
                plans.keep(self.load(), standing)
        if standing.kind != NOTHING:
            return standing
        # Try the fight, but not with hurt members.
        rest = self._score(party, foes, heals) - self._score(as_it_is, foes, heals)
        return Plan(HEAL, names) if rest > _MUCH_REST else None

    def begin(self, foes: Trainers) -> Plan | None:
        """Return the kept plan for some trainers as being followed: its time counts from here on."""
        plan = plans.kept(self.load(), foes)
        if plan is not None and not plan.begun:
            plan = replace(plan, begun=True, until=self._game.steps + self.patience(plan.steps))
            plans.keep(self.load(), plan)
        return plan

    def give_up(self, foes: Trainers) -> None:
        """Drop the plan for some trainers that can't be followed; the next one is made without it."""
        plan = plans.kept(self.load(), foes)
        if plan is not None:
            self.costs.give_up(plan, late=False)
        plans.drop(self.load(), foes)

    def patience(self, steps: float) -> int:
        """Return the steps allowed for a plan with these expected steps."""
        return max(int(3 * steps), self._settings.forget_tries_steps)

    def is_sure(self, rival: Rival) -> bool:
        """Return whether the party after a healer beats a trainer easily."""
        others = self.foes(((rival.trainer_class, rival.number),))
        members = [member for member in self._game.state.party.members if not member.egg]
        party = [self.growth.rested(member) for member in members]
        return bool(others and party) and self._score(party, others, ()) >= _SURE_SCORE

    def place_of(self, plan: Plan) -> int:
        """Return the party slot of the member to train; -1 if it is not in the party."""
        members = self._game.state.party.members
        found = [slot for slot, one in enumerate(members) if not one.egg and one.dvs == plan.dvs]
        return max(found, key=lambda slot: members[slot].level, default=-1)

    def strongest(self) -> int:
        """Return the party slot of the member with the highest level."""
        members = self._game.state.party.members
        return max(range(len(members)), key=lambda slot: (not members[slot].egg, members[slot].level), default=0)

    def carrier(self) -> int:
        """Return the party slot of the member to give experience to, by its level and its last evolution."""
        members = self._game.state.party.members
        return max(
            range(len(members)),
            key=lambda slot: (not members[slot].egg, self._promise(members[slot]), -slot),
            default=0,
        )

    def _promise(self, member: PartyMember) -> float:
        return float(member.level * self.growth.grown_worth(member.species))

    def foes(self, trainers: Trainers) -> list[Combatant]:
        """Return the parties of the trainers, one after the other."""
        return [foe for trainer in trainers for foe in self.book.party(*trainer)]

    def heals(self) -> list[int]:
        """Return the HP that each healing item in the bag restores."""
        if not self._settings.use_items:
            return []
        bag = self._game.bag()
        uses = self._game.profile.item_uses.heal
        found = [points for item, points in uses.items() for _ in range(min(bag.items.get(item, 0), _MOST_HEALS))]
        return sorted(found)[-_MOST_HEALS:]

    # The cheapest plan -------------------------------------------------------------------------------------------

    def cheapest(
        self,
        members: Sequence[PartyMember],
        party: Sequence[Combatant],
        foes: Sequence[Combatant],
        heals: Sequence[int],
        names: Foes,
    ) -> Plan:
        """Return the cheapest plan that is enough, else one for some levels; NOTHING where none is found."""
        options: list[Plan] = []
        base = Plan(HEAL, names, self.losses, len(members))
        bought = self.costs.heals(_MOST_HEALS - len(heals)) if self._settings.shop != "never" else None
        stocks: list[tuple[float, list[int], tuple[tuple[int, int], ...]]] = [(0.0, list(heals), ())]
        if bought is not None and self._settings.use_items:
            steps, item, points, count = bought
            bag = self._game.bag()
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
        room = max(self._game.milestones.party_room, 1)
        if self._settings.catch != "none" and len(members) < PARTY_SLOTS - room:
            least = min((plan.steps for plan in options), default=float("inf"))
            options += self._catches(members, party, foes, stocks[-1][1], base, least)
        if not options:
            options = self._anything(members, party, foes, stocks, base)
        best = min(options, key=lambda plan: plan.steps)
        if best.buys and best.kind != BUY:
            best = replace(best, kind=BUY)
        patience = self.patience(best.steps) if best.kind != NOTHING else _NOTHING_STEPS
        return replace(best, until=self._game.steps + patience)

    def _anything(
        self,
        members: Sequence[PartyMember],
        party: Sequence[Combatant],
        foes: Sequence[Combatant],
        stocks: Sequence[tuple[float, list[int], tuple[tuple[int, int], ...]]],
        base: Plan,
    ) -> list[Plan]:
        """Return a plan if none is enough in time: levels from any ground, else healing items, else NOTHING."""
        slot = members.index(max(members, key=self._promise))
        most = max(member.level for member in members)
        for more in _LEVELS_AT_LEAST if most < self.cap(foes) else ():
            level = min(members[slot].level + more, MOST_LEVEL)
            training = self.costs.training(members[slot], level, None)
            if training is not None:
                return [self._at(replace(base, kind=TRAIN, dvs=members[slot].dvs, level=level), training)]
        cost, stock, buys = stocks[-1]
        if buys and self._score(party, foes, stock) > self._score(party, foes, stocks[0][1]):
            return [replace(base, kind=BUY, steps=cost, buys=buys)]
        return [replace(base, kind=NOTHING)]

    def _trainings(
        self,
        members: Sequence[PartyMember],
        party: Sequence[Combatant],
        foes: Sequence[Combatant],
        heals: Sequence[int],
        base: Plan,
    ) -> list[Plan]:
        """Return a plan to train each member alone to the level that is enough."""
        found = []
        strongest = max(members, key=lambda member: member.level)
        for slot, member in enumerate(members):
            level = self.level_for(slot, members, party, foes, heals)
            if level is None:
                continue
            helper = strongest if strongest is not member else None
            training = self.costs.training(member, level, helper)
            if training is not None:
                plan = self._at(replace(base, kind=TRAIN, dvs=member.dvs, level=level), training)
                share = self._share(base) if member is max(members, key=self._promise) else 1.0
                found.append(replace(plan, steps=plan.steps * share))
        return found

    def _share(self, base: Plan) -> float:
        """Return the share of the carrier's training that counts: later fights, if any, need the rest anyway."""
        tracker = self._game.milestones
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
        """Return a plan for trainers nearby, one after the other, if that is cheaper than ``least``."""
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
            slot = later.index(max(later, key=self._promise))
            turns = sum(foe.max_hp / max(self.forecaster.pair(party[slot], foe).best, 1.0) + 1 for foe in others)
            cost = (_SAME_MAP_STEPS if rival.map_id == at else rival.steps) + settings.turn_steps * turns
            spent += share * (cost + settings.fight_steps + _ASKING_STEPS)
            at, first = rival.map_id, first or rival
            gained = sum(self.growth.worth(one, level, trainer=True) for one, level in self.book.species(
                rival.trainer_class, rival.number))  # fmt: skip
            later[slot] = self.growth.after(later[slot], gained)
            if spent >= least:
                break
            party = [self.growth.rested(member) for member in later]
            for cost, stock, _ in stocks:
                steps = spent + cost
                if not self._is_enough(party, foes, stock):
                    level = self.level_for(slot, later, party, foes, stock)
                    training = self.costs.training(later[slot], level, None) if level is not None else None
                    steps += share * training.steps if training is not None else float("inf")
                if steps < least:
                    least = steps
                    best = replace(base, kind=RIVAL, steps=steps, ground=first.map_id, person=first.person,
                                   flag=first.flag, dvs=later[slot].dvs)  # fmt: skip
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
        """Return the plans to catch a Pokemon, including the training still needed then."""
        found: list[Plan] = []
        strongest = max(members, key=lambda member: member.level)
        for one in self.costs.recruits():
            if one.steps >= least:
                continue
            new = self.recruit(one.species, one.level)
            wider, all_members = [*party, self.growth.rested(new)], [*members, new]
            steps = one.steps
            if not self._is_enough(wider, foes, heals):
                costs = []
                for slot in (len(members), members.index(strongest)):
                    level = self.level_for(slot, all_members, wider, foes, heals)
                    helper = strongest if slot == len(members) else None
                    training = self.costs.training(all_members[slot], level, helper) if level is not None else None
                    if training is not None:
                        costs.append(training.steps)
                if not costs:
                    continue
                steps += min(costs)
            if steps < least:
                least = steps
                species = (one.species,)
                found.append(replace(base, kind=CATCH, steps=steps, species=species, ground=one.ground, on=one.on))
        return found

    def recruit(self, species: int, level: int) -> PartyMember:
        """Return a newly caught Pokemon with average DVs."""
        foe = self.book.foe(level, species)
        experience = self.growth.experience(species, level)
        return PartyMember(species, level, foe.max_hp, foe.max_hp, 0, 0, experience, foe.moves, foe.pp, egg=False,
                           stats=foe.stats, dvs=AVERAGE_DVS)  # fmt: skip

    def level_for(
        self,
        slot: int,
        members: Sequence[PartyMember],
        party: Sequence[Combatant],
        foes: Sequence[Combatant],
        heals: Sequence[int],
    ) -> int | None:
        """Return the lowest level of one member that makes the party enough; None if no level up to the cap does."""
        if members[slot].level >= self.cap(foes):
            return None

        def enough(level: int) -> bool:
            later = [self.growth.at(members[slot], level) if index == slot else one for index, one in enumerate(party)]
            return self._is_enough(later, foes, heals)

        low, high = members[slot].level, self.cap(foes)
        if not enough(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    def _stands(self, plan: Plan, members: Sequence[PartyMember]) -> bool:
        """Return whether a plan is still valid."""
        steps = self._game.steps
        if plan.losses != self.losses or plan.party != len(members) or steps > plan.until:
            return False
        if plan.kind == TRAIN:
            return any(one.dvs == plan.dvs and one.level < plan.level for one in members)
        if plan.kind == RIVAL:
            return not self.costs.beaten(plan.flag)
        if plan.kind == BUY:
            bag = self._game.bag()
            return any(bag.count(item) < count for item, count in plan.buys)
        return True

    def cap(self, foes: Sequence[Combatant]) -> int:
        """Return the highest level to train to against these opponents."""
        return min(max(foe.level for foe in foes) + _ENOUGH_ABOVE + _MORE_BY_LOSS * self.losses, MOST_LEVEL)

    def _is_enough(self, party: Sequence[Combatant], foes: Sequence[Combatant], heals: Sequence[int]) -> bool:
        return self._score(party, foes, heals) >= self.enough

    def _score(self, party: Sequence[Combatant], foes: Sequence[Combatant], heals: Sequence[int]) -> float:
        return self.forecaster.forecast(party, foes, self.care, heals).score

    @staticmethod
    def _at(plan: Plan, training: TrainingCost) -> Plan:
        return replace(
            plan,
            steps=training.steps,
            ground=training.ground,
            on=training.on,
            helped=training.helped,
            rest=training.rest,
        )
