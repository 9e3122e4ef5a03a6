"""Records of Pokemon, as bytes: in the party and in a battle."""

from __future__ import annotations

from pkmn_pyboy.rules_gen2.status import stages_of
from pkmn_pyboy.state.game_state import Battler, Party, PartyMember

MEMBER_BYTES = 48
BATTLER_BYTES = 32
STAGE_BYTES = 7
EGG = 0xFD
"""Value of an egg in the list of species; its record holds the species inside."""

_PP_BITS = 0x3F
"""Bits of a move's PP; the two bits above count how often its maximum was raised."""


def parse_party(species: bytes, records: bytes) -> Party:
    """Return the party from its list of species and its records of 48 bytes each."""
    members = []
    level_sum = hp_sum = max_hp_sum = 0
    for place, listed in enumerate(species):
        data = records[place * MEMBER_BYTES : (place + 1) * MEMBER_BYTES]
        member = PartyMember(
            species=data[0],
            level=data[0x1F],
            hp=int.from_bytes(data[0x22:0x24], "big"),
            max_hp=int.from_bytes(data[0x24:0x26], "big"),
            status=data[0x20],
            item=data[1],
            experience=int.from_bytes(data[8:11], "big"),
            moves=tuple(data[2:6]),
            pp=tuple(points & _PP_BITS for points in data[0x17:0x1B]),
            egg=listed == EGG,
            pp_ups=tuple(points >> 6 for points in data[0x17:0x1B]),
            stats=_stats(data[0x26:0x30]),
            happiness=data[0x1B],
            dvs=_nibbles(data[0x15:0x17]),
        )
        members.append(member)
        if not member.egg:
            level_sum += member.level
            hp_sum += member.hp
            max_hp_sum += member.max_hp
    return Party(tuple(members), level_sum, min(hp_sum / max_hp_sum, 1.0) if max_hp_sum else 0.0)


def parse_battler(data: bytes, stages: bytes = b"") -> Battler:
    """Return a Pokemon in battle from its record of 32 bytes and the seven bytes of its stages."""
    return Battler(
        species=data[0],
        level=data[0x0D],
        hp=int.from_bytes(data[0x10:0x12], "big"),
        max_hp=int.from_bytes(data[0x12:0x14], "big"),
        status=data[0x0E],
        types=(data[0x1E], data[0x1F]),
        moves=tuple(data[2:6]),
        pp=tuple(points & _PP_BITS for points in data[8:12]),
        item=data[1],
        stats=_stats(data[0x14:0x1E]),
        stages=stages_of(stages),
        dvs=_nibbles(data[6:8]),
        happiness=data[0x0C],
    )


def _nibbles(data: bytes) -> tuple[int, ...]:
    return tuple(part for byte in data for part in (byte >> 4, byte & 15))


def _stats(data: bytes) -> tuple[int, ...]:
    return tuple(data[place] << 8 | data[place + 1] for place in range(0, len(data), 2))
