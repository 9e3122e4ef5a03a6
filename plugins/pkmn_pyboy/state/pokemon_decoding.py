"""Decoding of the records of Pokemon in the party and in a battle."""

from __future__ import annotations

from pkmn_pyboy.rules_gen2.status import stages_of
from pkmn_pyboy.rules_gen2.structs import BATTLER, EGG, PARTY_MEMBER, PP_BITS
from pkmn_pyboy.state.game_state import Battler, Party, PartyMember

_PP_MASK = (1 << PP_BITS) - 1


def parse_party(species: bytes, records: bytes) -> Party:
    """Return the party from its list of species and the records of its members."""
    members = []
    level_sum = hp_sum = max_hp_sum = 0
    for listed, record in zip(species, PARTY_MEMBER.iter_unpack(records), strict=True):
        number, item, moves, experience, dvs, pp, happiness, level, status, hp, max_hp, *stats = record
        member = PartyMember(
            species=number,
            level=level,
            hp=hp,
            max_hp=max_hp,
            status=status,
            item=item,
            experience=int.from_bytes(experience, "big"),
            moves=tuple(moves),
            pp=tuple(points & _PP_MASK for points in pp),
            egg=listed == EGG,
            pp_ups=tuple(points >> PP_BITS for points in pp),
            stats=tuple(stats),
            happiness=happiness,
            dvs=_nibbles(dvs),
        )
        members.append(member)
        if not member.egg:
            level_sum += level
            hp_sum += hp
            max_hp_sum += max_hp
    return Party(tuple(members), level_sum, min(hp_sum / max_hp_sum, 1.0) if max_hp_sum else 0.0)


def parse_battler(data: bytes, stages: bytes = b"") -> Battler:
    """Return a Pokemon in battle from its record and the bytes of its stages."""
    species, item, moves, dvs, pp, happiness, level, status, hp, max_hp, *stats, first, second = BATTLER.unpack(data)
    return Battler(
        species=species,
        level=level,
        hp=hp,
        max_hp=max_hp,
        status=status,
        types=(first, second),
        moves=tuple(moves),
        pp=tuple(points & _PP_MASK for points in pp),
        item=item,
        stats=tuple(stats),
        stages=stages_of(stages),
        dvs=_nibbles(dvs),
        happiness=happiness,
    )


def _nibbles(data: bytes) -> tuple[int, ...]:
    return tuple(part for byte in data for part in (byte >> 4, byte & 15))
