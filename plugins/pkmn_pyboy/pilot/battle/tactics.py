"""Battle tactics without buttons: a move, a switch, an item, a ball, or running."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.pilot.notes import BattlePlan
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.profile.model import ItemUses
from pkmn_pyboy.rules_gen2.combatant import Combatant
from pkmn_pyboy.rules_gen2.move_effects import LOWERS, RAISES, RAISES_TWICE, Effect, max_hits, turn_share
from pkmn_pyboy.rules_gen2.records import MoveData
from pkmn_pyboy.rules_gen2.slots import PARTY_SLOTS
from pkmn_pyboy.rules_gen2.status import StatusCondition, screens_of, status_condition
from pkmn_pyboy.rules_gen2.types import GRASS, POISON, SPECIAL_TYPES_FROM
from pkmn_pyboy.state.bag import Bag
from pkmn_pyboy.state.game_state import TRAINER_BATTLE, Battle, Party

WILD, TRAINER = 1, TRAINER_BATTLE
MOVE, SWITCH, ITEM, BALL, RUN = "move", "switch", "item", "ball", "run"
"""Kinds of plans."""

_NEVER = 99.0
_UNSURE_TURNS = 1.25
"""Turns counted for a move whose expected hit defeats the foe but whose minimum does not."""
_FIRST = 0.5
"""Value of striking first, in turns."""
_SWITCHES_A_BATTLE = 2
_BETTER = 2.0
_HOPELESS_TURNS = 3.0
_STATUS_TURNS = 2.5
_STAGE_TURNS = 3.0
_STAGE_USES = 2
_LASTING_TURNS = 3
_WEAK_SHARE = 0.35
_EASY_RATE = 120
_LEAST_ACCURACY = 0.55
_ON_OPPONENT = frozenset(
    {Effect.SLEEP, Effect.POISON, Effect.TOXIC, Effect.PARALYZE, Effect.CONFUSE, Effect.LEECH_SEED}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Situation:
    """Battle at the moment of a choice."""

    battle: Battle
    party: Party
    slot: int
    """Party slot of the member that is out."""
    bag: Bag
    switches: int = 0
    """Switches made by choice in this battle."""
    used: Mapping[int, int] | None = None
    """Count of uses of each move on this opponent in this battle, by number."""
    failed: Sequence[str] = ()
    """Kinds of plans that failed in this battle."""
    foe_conditions: Sequence[str] = ()
    """Volatile conditions of the opponent, in words."""
    wanted: bool = False
    """True if the opponent is to be caught."""
    may_run: bool = True
    training: bool = False


class Tactician:
    """Chooser of tactics in a battle.

    Args:
        tables: moves, types and species of the image.
        settings: when to run, whether to use items.
        uses: uses of items.
    """

    def __init__(self, tables: BattleTables, settings: PilotSettings, uses: ItemUses) -> None:
        self._tables = tables
        self._settings = settings
        self._uses = uses

    def plan(self, situation: Situation) -> BattlePlan:
        """Return the best plan now."""
        battle = situation.battle
        sides = self._tables.sides(battle)
        if sides is None:
            return BattlePlan(MOVE, self._first_usable(battle), why="fight")
        own, foe = sides
        threat = self._tables.threat(foe, own)
        if situation.wanted and battle.kind == WILD:
            plan = self._catch(situation, own, foe, threat)
            if plan is not None:
                return plan
        ranked = self.ranked(own, foe)
        best = self._tables.damage(own, own.moves[ranked[0]], foe) if ranked else 0.0
        kill = foe.hp / best if best > 0 else _NEVER
        fall = own.hp / threat if threat > 0 else _NEVER
        leave = (self._relieve, self._run) if situation.training else (self._run, self._relieve)
        return (
            leave[0](situation, own, foe, kill, fall)
            or leave[1](situation, own, foe, kill, fall)
            or self._switch(situation, foe, kill, fall)
            or self._item(situation, own, threat, kill)
            or self._status(situation, own, foe, kill, fall, threat)
            or BattlePlan(MOVE, ranked[0] if ranked else 0, why="fight")
        )

    def ranked(self, own: Combatant, foe: Combatant) -> list[int]:
        """Return the slots of own moves with PP left, by expected turns to win.

        A move that makes its user faint comes after all others that do something.
        """
        usable = [slot for slot, number in enumerate(own.moves) if number and own.pp[slot]]

        def worth(slot: int) -> tuple[float, float, int, int]:
            number = own.moves[slot]
            move = self._tables.moves.get(number)
            hit = self._tables.damage(own, number, foe)
            if move is None or hit <= 0:
                return (_NEVER, 0.0, 0, slot)
            if move.effect == Effect.SELF_DESTRUCT:
                return (_NEVER - 1, -hit, 0, slot)
            ends = self._tables.min_damage(own, number, foe) >= foe.hp
            if ends:
                turns = 1 / (self._tables.accuracy(move, own, foe) * turn_share(move.effect, own.weather))
                turns -= _FIRST if move.effect == Effect.PRIORITY else 0.0
            else:
                turns = max(foe.hp / hit, _UNSURE_TURNS)
            return (turns, -min(hit, 2.0 * foe.hp), -own.pp[slot] if ends else 0, slot)

        return sorted(usable, key=worth)

    def best_member(self, party: Party, foe: Combatant | None, leave_out: int = -1) -> int | None:
        """Return the slot of the best member against an opponent; None if no other member can fight."""
        best: tuple[float, int] | None = None
        for slot, member in enumerate(party.members):
            if slot == leave_out or member.egg or member.hp == 0:
                continue
            score = float(member.level) if foe is None else self._standing(self._tables.member(member), foe)
            if best is None or score > best[0]:
                best = (score, slot)
        return best[1] if best is not None else None

    def _standing(self, own: Combatant, foe: Combatant) -> float:
        """Return the turns that one survives over the turns that it needs; higher is better."""
        best = self._best_hit(own, foe)
        threat = max(self._tables.threat(foe, own), 0.5)
        return min(own.hp / threat, 8.0) * max(best, 0.1) / max(foe.hp, 1)

    @staticmethod
    def _first_usable(battle: Battle) -> int:
        own = battle.own
        if own is None:
            return 0
        return next((slot for slot, move in enumerate(own.moves) if move and own.pp[slot]), 0)

    # Alternatives to the best hit -------------------------------------------------------------------------------

    def _run(self, situation: Situation, own: Combatant, foe: Combatant, kill: float, fall: float) -> BattlePlan | None:
        if situation.battle.kind != WILD or not situation.may_run or RUN in situation.failed:
            return None
        weak = own.hp < self._settings.run_below * own.max_hp
        if weak and not (kill <= 1.0 and foe.level < own.level):
            return BattlePlan(RUN, why="run: weak")
        if kill >= _NEVER or _loses(own, foe, kill, fall):
            return BattlePlan(RUN, why="run: too strong")
        return None

    def _relieve(
        self, situation: Situation, own: Combatant, foe: Combatant, kill: float, fall: float
    ) -> BattlePlan | None:
        """Switch in the wild for a member that would lose: both gain experience."""
        if situation.battle.kind != WILD or SWITCH in situation.failed or situation.switches >= _SWITCHES_A_BATTLE:
            return None
        if not situation.training and situation.may_run and own.stats[2] >= foe.stats[2]:
            return None  # escape is certain
        if kill < _NEVER and not _loses(own, foe, kill, fall) and own.hp >= self._settings.run_below * own.max_hp:
            return None
        slot = self.best_member(situation.party, foe, situation.slot)
        if slot is None:
            return None
        other = self._tables.member(situation.party.members[slot])
        threat, hit = self._tables.threat(foe, other), self._best_hit(other, foe)
        # The new member takes a hit before its first move.
        left = other.hp - threat
        if hit <= 0 or left <= 0 or _loses(replace(other, hp=int(left)), foe, foe.hp / hit, left / max(threat, 0.5)):
            return None
        return BattlePlan(SWITCH, slot, why="switch: a member that can win")

    def _best_hit(self, own: Combatant, foe: Combatant) -> float:
        return max((self._tables.damage(own, move, foe) for move, left in zip(own.moves, own.pp, strict=True) if left),
                   default=0.0)  # fmt: skip

    def _switch(self, situation: Situation, foe: Combatant, kill: float, fall: float) -> BattlePlan | None:
        if SWITCH in situation.failed or situation.switches >= _SWITCHES_A_BATTLE or situation.battle.kind == WILD:
            return None
        stands = min(fall, 8.0) / max(kill, 0.1)
        if stands >= 1.0 or (kill < _HOPELESS_TURNS and fall > 1.0):
            return None
        members = situation.party.members
        slot = self.best_member(situation.party, foe, situation.slot)
        if slot is None:
            return None
        other = self._tables.member(members[slot])
        threat = self._tables.threat(foe, other)
        # The new member takes a hit before its first move.
        left = (other.hp - threat) / max(threat, 0.5)
        hit = self._best_hit(other, foe)
        if left <= 0 or hit <= 0:
            return None
        if min(left, 8.0) / max(foe.hp / hit, 0.1) >= max(_BETTER * stands, 1.0):
            return BattlePlan(SWITCH, slot, why="switch: a better member")
        return None

    def _item(self, situation: Situation, own: Combatant, threat: float, kill: float) -> BattlePlan | None:
        if not self._settings.use_items or ITEM in situation.failed or situation.battle.kind != TRAINER:
            return None
        bag, slot = situation.bag, situation.slot
        if kill > 1.0 and own.hp <= 1.2 * threat and own.hp < 0.6 * own.max_hp:
            found = bag.healing(self._uses, own.max_hp - own.hp)
            if found is not None and min(found[1], own.max_hp - own.hp) > 1.2 * threat:
                return BattlePlan(ITEM, found[0], slot, "use: HP")
        if status_condition(own.status) in (StatusCondition.ASLEEP, StatusCondition.FROZEN) and kill > 1.5:
            item = bag.cure(self._uses, own.status)
            if item is not None:
                return BattlePlan(ITEM, item, slot, "use: a cure")
        return None

    def _status(
        self, situation: Situation, own: Combatant, foe: Combatant, kill: float, fall: float, threat: float
    ) -> BattlePlan | None:
        """Return a move without damage if it pays: the fight is long, and there is time for it."""
        used = situation.used or {}
        best: tuple[float, int, str] | None = None
        for slot, number in enumerate(own.moves):
            move = self._tables.moves.get(number)
            if move is None or move.power or not own.pp[slot]:
                continue
            chance = self._tables.accuracy(move, own, foe)
            if chance < _LEAST_ACCURACY or not self.can_affect(move, foe, situation.foe_conditions):
                continue
            gain = self._gain(move, chance, own, kill, fall, threat, used.get(number, 0))
            if gain > 0 and (best is None or gain > best[0]):
                best = (gain, slot, "heal itself" if move.effect == Effect.HEAL else "hinder or strengthen")
        return BattlePlan(MOVE, best[1], why=best[2]) if best is not None else None

    def can_affect(self, move: MoveData, foe: Combatant, conditions: Sequence[str] = ()) -> bool:
        """Return whether a non-damaging move can affect an opponent; False if it has the condition or is immune."""
        effect = move.effect
        if effect not in _ON_OPPONENT and effect not in LOWERS:
            return True
        if "behind a substitute" in conditions:
            return False
        if effect in LOWERS:
            return "misted" not in conditions
        if effect == Effect.LEECH_SEED:
            return GRASS not in foe.types and "seeded" not in conditions
        if effect == Effect.CONFUSE:
            return "confused" not in conditions and "safeguard" not in screens_of(foe.screens)
        if foe.status or "safeguard" in screens_of(foe.screens):
            return False
        if effect == Effect.SLEEP:
            return True
        if effect in (Effect.POISON, Effect.TOXIC) and POISON in foe.types:
            return False
        return self._tables.factor(move.type, foe.types) > 0.0

    def _gain(
        self,
        move: MoveData,
        chance: float,
        own: Combatant,
        kill: float,
        fall: float,
        threat: float,
        used: int,
    ) -> float:
        effect = move.effect
        if effect == Effect.HEAL:
            missing = own.max_hp - own.hp
            return 2.0 if missing > own.max_hp / 2 and threat < own.max_hp / 2 and kill > 1.0 else 0.0
        if kill >= _STATUS_TURNS and fall > 1.0:
            if effect == Effect.SLEEP:
                return chance * min(kill, 3.0) if used < _LASTING_TURNS else 0.0
            if effect == Effect.PARALYZE:
                return 0.5 * chance * min(kill, 4.0) / 2 if used < _LASTING_TURNS else 0.0
            if effect in (Effect.POISON, Effect.TOXIC, Effect.LEECH_SEED):
                return chance * kill / 8 if kill >= 4.0 and used < 2 else 0.0
        if used >= _STAGE_USES or kill < _STAGE_TURNS or fall < _STAGE_TURNS:
            return 0.0
        physical = any(
            one.power and one.type < SPECIAL_TYPES_FROM
            for one in (self._tables.moves.get(number) for number in own.moves if number)
            if one is not None
        )
        if effect in (RAISES[0], RAISES_TWICE[0], LOWERS[1]) and physical:
            return kill / 6
        return 0.0

    # Catching -----------------------------------------------------------------------------------------------

    def _catch(self, situation: Situation, own: Combatant, foe: Combatant, threat: float) -> BattlePlan | None:
        ball = situation.bag.best_ball(self._uses)
        if ball is None or situation.party.count >= PARTY_SLOTS or BALL in situation.failed:
            return None
        if own.hp <= threat and own.hp < own.max_hp:
            return BattlePlan(BALL, ball, why="throw a ball: last chance")
        species = situation.battle.opponent.species if situation.battle.opponent is not None else 0
        known = self._tables.species.get(species)
        rate = known.catch_rate if known is not None else _EASY_RATE
        share = foe.hp / max(foe.max_hp, 1)
        if share <= _WEAK_SHARE or (rate > _EASY_RATE and share < 0.7):
            return BattlePlan(BALL, ball, why="throw a ball")
        if foe.status == 0:
            for slot, number in enumerate(own.moves):
                move = self._tables.moves.get(number)
                if move is None or not own.pp[slot] or self._tables.accuracy(move, own, foe) < _LEAST_ACCURACY:
                    continue
                if not self.can_affect(move, foe, situation.foe_conditions):
                    continue
                if move.effect == Effect.SLEEP and (situation.used or {}).get(number, 0) < _LASTING_TURNS:
                    return BattlePlan(MOVE, slot, why="weaken: put it to sleep")
        gentle = self.gentle(own, foe)
        return (
            BattlePlan(MOVE, gentle, why="weaken") if gentle is not None else BattlePlan(BALL, ball, why="throw a ball")
        )

    def gentle(self, own: Combatant, foe: Combatant) -> int | None:
        """Return the slot of the strongest move that cannot defeat the opponent, preferring one that is safe twice.

        None if there is none.
        """
        most = {}
        for slot, number in enumerate(own.moves):
            move = self._tables.moves.get(number)
            if move is not None and own.pp[slot] and move.effect != Effect.SELF_DESTRUCT:
                most[slot] = max_hits(move.effect) * self._tables.max_damage(own, number, foe)
        for times in (2, 1):
            fits = [slot for slot, damage in most.items() if 0 < times * damage < foe.hp]
            if fits:
                return max(fits, key=lambda slot: self._tables.damage(own, own.moves[slot], foe))
        return None


def _loses(own: Combatant, foe: Combatant, kill: float, fall: float) -> bool:
    """Return whether one should faint before the opponent, considering who strikes first."""
    hits = math.ceil(kill) - int(own.stats[2] >= foe.stats[2])
    return hits >= fall
