"""Layouts of the records of Pokemon in memory. Numbers of several bytes are stored with the high byte first."""

from __future__ import annotations

from struct import Struct

PARTY_MEMBER = Struct(">BB4s 2x 3s 10x 2s4sB 3x BB x HH5H")
"""Member of a party: species, item, moves, experience, DVs, PP, happiness, level, status, HP, maximum HP, stats."""

BATTLER = Struct(">BB4s2s4sBBB x HH5HBB")
"""Pokemon in a battle: species, item, moves, DVs, PP, happiness, level, status, HP, maximum HP, stats, types."""

STAGES = 7
"""Bytes of a battler's stages, one each."""

EGG = 0xFD
"""Value of an egg in the list of species; its record holds the species inside."""

PP_BITS = 6
"""Bits of a move's PP; the bits above count how often its maximum was raised."""
