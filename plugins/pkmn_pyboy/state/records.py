"""Records of Pokemon, as bytes: in the party and in a battle."""

from __future__ import annotations

import struct

from pkmn_pyboy.state.game_state import Battler, Party, PartyMember

MEMBER_BYTES = 48
BATTLER_BYTES = 32
EGG = 0xFD
"""What the list of species says of an egg; its record holds the species inside."""

_STATS = struct.Struct(">5H")
_MEMBER_STATS, _BATTLER_STATS = 0x26, 0x14


def parse_party(species: bytes, records: bytes) -> Party:
    """The party from its list of species and its records of 48 bytes each."""
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
            pp=tuple(points & 0x3F for points in data[0x17:0x1B]),
            egg=listed == EGG,
            stats=_STATS.unpack_from(data, _MEMBER_STATS),
        )
        members.append(member)
        if not member.egg:
            level_sum += member.level
            hp_sum += member.hp
            max_hp_sum += member.max_hp
    return Party(tuple(members), level_sum, min(hp_sum / max_hp_sum, 1.0) if max_hp_sum else 0.0)


def parse_battler(data: bytes) -> Battler:
    """A Pokemon in battle from its record of 32 bytes."""
    return Battler(
        species=data[0],
        level=data[0x0D],
        hp=int.from_bytes(data[0x10:0x12], "big"),
        max_hp=int.from_bytes(data[0x12:0x14], "big"),
        status=data[0x0E],
        types=(data[0x1E], data[0x1F]),
        moves=tuple(data[2:6]),
        pp=tuple(points & 0x3F for points in data[8:12]),
        stats=_STATS.unpack_from(data, _BATTLER_STATS),
    )
