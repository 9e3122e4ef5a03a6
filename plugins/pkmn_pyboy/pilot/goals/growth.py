"""Growth of a Pokemon over levels: its species, stats, moves and the experience that it takes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pkmn_pyboy.pilot.battle.move_worth import to_forget
from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.rules_gen2.combatant import Combatant
from pkmn_pyboy.rules_gen2.records import EvolutionKind, GrowthRate, Species
from pkmn_pyboy.rules_gen2.slots import MOVE_SLOTS
from pkmn_pyboy.state.game_state import PartyMember
from pkmn_pyboy.world.cartridge import Cartridge

MOST_LEVEL = 100

_USUAL_RATES = {
    0: GrowthRate(1, 1, 0, 0, 0),
    3: GrowthRate(6, 5, -15, 100, 140),
    4: GrowthRate(4, 5, 0, 0, 0),
    5: GrowthRate(5, 4, 0, 0, 0),
}
"""Growth rates of the second generation by number, for an image without such a table."""
_MOST_EFFORT = 63
_UPS = 5
_SEVENTH = 7
_TRAINERS_SHARE = 1.5


class Growth:
    """Forecast of how Pokemon grow.

    Args:
        cartridge: base stats, evolutions, moves learnt by level, growth rates.
        tables: the tables used in battles.
        keep: moves that are never given up, such as field moves.
    """

    def __init__(self, cartridge: Cartridge, tables: BattleTables, keep: Collection[int] = ()) -> None:
        self._tables = tables
        self._keep = frozenset(keep)
        rates = cartridge.growth_rates
        self._rates = dict(enumerate(rates)) if rates else _USUAL_RATES
        self._worths: dict[int, int] = {}
        self._paths: dict[object, list[PartyMember]] = {}

    def experience(self, species: int, level: int) -> int:
        """Return the total experience of a level."""
        known = self._tables.species.get(species)
        rate = self._rates.get(known.growth if known is not None else 0, _USUAL_RATES[0])
        return rate.experience(level)

    def missing(self, member: PartyMember, level: int) -> int:
        """Return the experience that a member still needs for a level."""
        return max(self.experience(member.species, level) - member.experience, 0)

    def at(self, member: PartyMember, level: int) -> Combatant:
        """Return a member at a level, at least its own, with full HP and PP."""
        return self.rested(self.member_at(member, level))

    def member_at(self, member: PartyMember, level: int) -> PartyMember:
        """Return a member at a level, at least its own: evolved, with the moves learnt by then."""
        key = (member.species, member.level, member.stats, member.max_hp, member.moves, member.dvs)
        path = self._paths.get(key)
        if path is None:
            if len(self._paths) >= MOST_LEVEL:
                self._paths.clear()
            path = self._paths[key] = [member]
        while path[-1].level < min(level, MOST_LEVEL):
            path.append(self._next(path[-1], member))
        return path[max(min(level, MOST_LEVEL) - member.level, 0)]

    def after(self, member: PartyMember, experience: int) -> PartyMember:
        """Return a member with this much more experience."""
        total, level = member.experience + experience, member.level
        while level < MOST_LEVEL and self.experience(member.species, level + 1) <= total:
            level += 1
        return replace(self.member_at(member, level), experience=total)

    def worth(self, species: int, level: int, *, trainer: bool = False) -> int:
        """Return the experience for defeating a Pokemon."""
        known = self._tables.species.get(species)
        base = known.base_experience if known is not None else 0
        return int(base * level // _SEVENTH * (_TRAINERS_SHARE if trainer else 1.0))

    def grown_worth(self, species: int) -> int:
        """Return the sum of the base stats of a species' last evolution by level."""
        found = self._worths.get(species)
        if found is None:
            known, seen = self._tables.species.get(species), {species}
            while known is not None:
                after = [one.species for one in known.evolutions if one.kind == EvolutionKind.LEVEL]
                later = self._tables.species.get(after[0]) if after and after[0] not in seen else None
                if later is None:
                    break
                seen.add(later.number)
                known = later
            found = self._worths[species] = known.hp + sum(_bases(known)) if known is not None else 0
        return found

    def rested(self, member: PartyMember) -> Combatant:
        """Return a member as it is after a healer."""
        return replace(self._tables.member(member), hp=member.max_hp, status=0, pp=self._full_pp(member))

    def _full_pp(self, member: PartyMember) -> tuple[int, ...]:
        """Return the maximum PP of each move."""
        found = []
        for slot, number in enumerate(member.moves):
            move = self._tables.moves.get(number)
            ups = member.pp_ups[slot] if slot < len(member.pp_ups) else 0
            found.append(move.pp + move.pp // _UPS * ups if move is not None else int(number > 0))
        return tuple(found)

    def _next(self, member: PartyMember, first: PartyMember) -> PartyMember:
        """Return the member one level later."""
        level = member.level + 1
        grown = replace(member, level=level)
        grown = self._learn(grown)
        known = self._tables.species.get(grown.species)
        evolved = next(
            (
                one.species
                for one in (known.evolutions if known is not None else ())
                if one.kind == EvolutionKind.LEVEL and one.parameter <= level and one.species in self._tables.species
            ),
            0,
        )
        if evolved:
            grown = self._learn(replace(grown, species=evolved))
        known = self._tables.species.get(grown.species)
        return self._with_stats(grown, first, known) if known is not None else grown

    def _learn(self, member: PartyMember) -> PartyMember:
        known = self._tables.species.get(member.species)
        for level, new in known.learns if known is not None else ():
            if level != member.level or new in member.moves:
                continue
            slot: int | None = len(member.moves)
            if 0 in member.moves:
                slot = member.moves.index(0)
            elif len(member.moves) >= MOVE_SLOTS:
                slot = to_forget(self._tables, member, new, self._keep)
            if slot is not None:
                moves = [*member.moves]
                moves[slot : slot + 1] = [new]
                member = replace(member, moves=tuple(moves))
        return member

    def _with_stats(self, member: PartyMember, first: PartyMember, known: Species) -> PartyMember:
        """Return the member with the stats of its level, keeping what the first one had beyond its base stats."""
        before = self._tables.species.get(first.species)
        if before is None or not any(first.stats):
            share = member.level / max(first.level, 1)
            stats = tuple(int(value * share) for value in first.stats)
            return replace(member, stats=stats, max_hp=int(first.max_hp * share), hp=int(first.max_hp * share))
        attack, defence, speed, special = first.dvs
        bases, dvs = _bases(known), (attack, defence, speed, special, special)
        effort = [_effort(stat - 5, base + dv, first.level)
                  for stat, base, dv in zip(first.stats, _bases(before), dvs, strict=True)]  # fmt: skip
        level = member.level
        stats = tuple((2 * (base + dv) + more) * level // 100 + 5
                      for base, dv, more in zip(bases, dvs, effort, strict=True))  # fmt: skip
        dv = (attack & 1) << 3 | (defence & 1) << 2 | (speed & 1) << 1 | special & 1
        more = _effort(first.max_hp - first.level - 10, before.hp + dv, first.level)
        most = (2 * (known.hp + dv) + more) * level // 100 + level + 10
        return replace(member, stats=stats, hp=most, max_hp=most)


def _bases(species: Species) -> tuple[int, ...]:
    return species.attack, species.defense, species.speed, species.special_attack, species.special_defense


def _effort(grown: int, born: int, level: int) -> int:
    """Return what battles have added to a stat, by the stat formula."""
    return min(max(grown * 100 // max(level, 1) - 2 * born, 0), _MOST_EFFORT)
