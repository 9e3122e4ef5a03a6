"""Worth of what does not show in the score of a hand: money, luck, vouchers, tags, tarots, spectral cards.

Worths are logarithms of the score, as those of :class:`pkmn_balatro.pilot.strength.Strength`: 0.1 is a tenth more.
"""

from __future__ import annotations

from typing import Final

from pkmn_balatro.simulator import consumables as kinds
from pkmn_balatro.simulator import tags, vouchers
from pkmn_balatro.simulator.jokers.kinds import kind_named

ROUND_DOLLARS: Final = {
    kind_named(name): dollars
    for name, dollars in (
        ("Golden Joker", 4.0),
        ("Rocket", 4.0),
        ("Cloud 9", 3.5),
        ("To the Moon", 3.0),
        ("Business Card", 2.5),
        ("Faceless Joker", 1.5),
        ("Mail-In Rebate", 3.0),
        ("Reserved Parking", 3.0),
        ("Satellite", 2.0),
        ("Rough Gem", 2.5),
        ("Golden Ticket", 1.0),
        ("To Do List", 1.5),
        ("Egg", 1.5),
        ("Gift Card", 2.5),
        ("Chaos the Clown", 2.0),
        ("Hallucination", 1.0),
        ("Cartomancer", 3.0),
        ("Riff-Raff", 1.0),
        ("Certificate", 1.5),
        ("8 Ball", 0.7),
        ("Matador", 0.5),
        ("Vagabond", 1.5),
        ("Trading Card", 1.0),
        ("Astronomer", 2.5),
        ("Perkeo", 5.0),
        ("Superposition", 0.5),
        ("Sixth Sense", 0.3),
        ("DNA", 1.0),
        ("Space Joker", 6.0),
        ("Burnt Joker", 5.0),
        ("Hiker", 2.0),
        ("Credit Card", 0.5),
    )
}
"""Dollars that a joker brings each round, or that its gift is worth."""

FLAT: Final = {
    kind_named(name): worth
    for name, worth in (
        ("Mr. Bones", 0.12),
        ("Luchador", 0.05),
        ("Chicot", 0.3),
        ("Oops! All 6s", 0.02),
        ("Diet Cola", 0.05),
        ("Invisible Joker", 0.15),
        ("Loyalty Card", 0.2),
        ("Constellation", 0.05),
        ("Campfire", 0.05),
        ("Ceremonial Dagger", -0.8),
        ("Madness", -0.8),
        ("Obelisk", -0.2),
        ("Blueprint", 0.15),
        ("Brainstorm", 0.15),
        ("Turtle Bean", -0.15),
        ("Midas Mask", 0.05),
        ("Vampire", 0.0),
        ("Marble Joker", 0.02),
        ("Ice Cream", -0.05),
        ("Popcorn", -0.1),
        ("Gros Michel", -0.05),
        ("Seltzer", -0.1),
    )
}
"""Other worth of a joker: luck of later, or a danger."""

VOUCHERS: Final = {
    vouchers.OVERSTOCK: 0.25,
    vouchers.OVERSTOCK_PLUS: 0.2,
    vouchers.CLEARANCE_SALE: 0.3,
    vouchers.LIQUIDATION: 0.3,
    vouchers.HONE: 0.15,
    vouchers.GLOW_UP: 0.15,
    vouchers.REROLL_SURPLUS: 0.25,
    vouchers.REROLL_GLUT: 0.25,
    vouchers.CRYSTAL_BALL: 0.05,
    vouchers.TELESCOPE: 0.15,
    vouchers.OBSERVATORY: 0.15,
    vouchers.GRABBER: 0.3,
    vouchers.NACHO_TONG: 0.25,
    vouchers.WASTEFUL: 0.15,
    vouchers.RECYCLOMANCY: 0.1,
    vouchers.TAROT_MERCHANT: 0.05,
    vouchers.PLANET_MERCHANT: 0.2,
    vouchers.PLANET_TYCOON: 0.25,
    vouchers.SEED_MONEY: 0.3,
    vouchers.MONEY_TREE: 0.2,
    vouchers.BLANK: 0.0,
    vouchers.ANTIMATTER: 0.5,
    vouchers.HIEROGLYPH: 0.4,
    vouchers.PETROGLYPH: 0.5,
    vouchers.PAINT_BRUSH: 0.3,
    vouchers.PALETTE: 0.3,
}
"""Worth of a voucher; others are not bought."""

SKIPS: Final = {tags.NEGATIVE: 0.6, tags.RARE: 0.2, tags.POLYCHROME: 0.3}
"""Worth of the tags for which a blind may be skipped."""

TAROTS: Final = {
    kinds.FOOL: 0.06,
    kinds.MAGICIAN: 0.06,
    kinds.HIGH_PRIESTESS: 0.14,
    kinds.EMPRESS: 0.07,
    kinds.EMPEROR: 0.1,
    kinds.HIEROPHANT: 0.05,
    kinds.LOVERS: 0.02,
    kinds.CHARIOT: 0.05,
    kinds.JUSTICE: 0.08,
    kinds.STRENGTH: 0.03,
    kinds.HANGED_MAN: 0.08,
    kinds.DEATH: 0.08,
    kinds.DEVIL: 0.04,
    kinds.TOWER: 0.0,
    kinds.JUDGEMENT: 0.2,
    kinds.WHEEL_OF_FORTUNE: 0.08,
    kinds.FAMILIAR: 0.03,
    kinds.GRIM: 0.05,
    kinds.INCANTATION: 0.02,
    kinds.TALISMAN: 0.05,
    kinds.AURA: 0.1,
    kinds.WRAITH: 0.25,
    kinds.SIGIL: 0.12,
    kinds.OUIJA: -0.1,
    kinds.ECTOPLASM: 0.08,
    kinds.IMMOLATE: 0.2,
    kinds.ANKH: -1.0,
    kinds.DEJA_VU: 0.1,
    kinds.HEX: -1.0,
    kinds.TRANCE: 0.06,
    kinds.MEDIUM: 0.05,
    kinds.CRYPTID: 0.12,
    kinds.SOUL: 1.0,
}
"""Worth of a tarot or spectral card, used well. Money and suits are reckoned, see :mod:`pkmn_balatro.pilot.buying`."""

PACKS: Final = (0.1, 0.0, 0.03, 0.0, 0.1)
"""Worth of a normal pack of each content; of celestial and buffoon packs it is reckoned."""
LARGE: Final = (1.0, 1.3, 2.0)
"""Factors for normal, jumbo and mega packs."""
SUITS: Final = {kinds.STAR: 3, kinds.MOON: 2, kinds.SUN: 1, kinds.WORLD: 0}
"""Suit that a tarot gives."""
