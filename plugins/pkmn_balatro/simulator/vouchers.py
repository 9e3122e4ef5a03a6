"""Vouchers: lasting changes of a run. Sixteen pairs; the second of a pair needs the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pkmn_balatro.simulator.run import Run


@dataclass(frozen=True, slots=True)
class VoucherKind:
    """A voucher."""

    name: str
    words: str
    """Effect in a few words."""


VOUCHERS: Final = (
    VoucherKind("Overstock", "the shop offers 1 more card"),
    VoucherKind("Overstock Plus", "the shop offers 1 more card"),
    VoucherKind("Clearance Sale", "everything in the shop is 25% cheaper"),
    VoucherKind("Liquidation", "everything in the shop is 50% cheaper"),
    VoucherKind("Hone", "foil, holographic and polychrome are twice as frequent"),
    VoucherKind("Glow Up", "foil, holographic and polychrome are four times as frequent"),
    VoucherKind("Reroll Surplus", "a reroll costs $2 less"),
    VoucherKind("Reroll Glut", "a reroll costs $2 less again"),
    VoucherKind("Crystal Ball", "1 more place for consumables"),
    VoucherKind("Omen Globe", "spectral cards may be in arcana packs"),
    VoucherKind("Telescope", "a celestial pack has the planet of your most played hand"),
    VoucherKind("Observatory", "each planet card held gives x1.5 mult for its hand"),
    VoucherKind("Grabber", "1 more hand each round"),
    VoucherKind("Nacho Tong", "1 more hand each round"),
    VoucherKind("Wasteful", "1 more discard each round"),
    VoucherKind("Recyclomancy", "1 more discard each round"),
    VoucherKind("Tarot Merchant", "tarots are more frequent in the shop"),
    VoucherKind("Tarot Tycoon", "tarots are much more frequent in the shop"),
    VoucherKind("Planet Merchant", "planets are more frequent in the shop"),
    VoucherKind("Planet Tycoon", "planets are much more frequent in the shop"),
    VoucherKind("Seed Money", "interest up to $10 a round"),
    VoucherKind("Money Tree", "interest up to $20 a round"),
    VoucherKind("Blank", "no effect"),
    VoucherKind("Antimatter", "1 more place for jokers"),
    VoucherKind("Magic Trick", "the shop offers playing cards"),
    VoucherKind("Illusion", "playing cards in the shop may be improved"),
    VoucherKind("Hieroglyph", "1 ante back, 1 hand fewer each round"),
    VoucherKind("Petroglyph", "1 ante back, 1 discard fewer each round"),
    VoucherKind("Director's Cut", "reroll the boss once an ante for $10"),
    VoucherKind("Retcon", "reroll the boss any number of times for $10"),
    VoucherKind("Paint Brush", "hand size +1"),
    VoucherKind("Palette", "hand size +1"),
)
"""All vouchers: a base at each even place, its upgrade after it."""

(
    OVERSTOCK,
    OVERSTOCK_PLUS,
    CLEARANCE_SALE,
    LIQUIDATION,
    HONE,
    GLOW_UP,
    REROLL_SURPLUS,
    REROLL_GLUT,
    CRYSTAL_BALL,
    OMEN_GLOBE,
    TELESCOPE,
    OBSERVATORY,
    GRABBER,
    NACHO_TONG,
    WASTEFUL,
    RECYCLOMANCY,
    TAROT_MERCHANT,
    TAROT_TYCOON,
    PLANET_MERCHANT,
    PLANET_TYCOON,
    SEED_MONEY,
    MONEY_TREE,
    BLANK,
    ANTIMATTER,
    MAGIC_TRICK,
    ILLUSION,
    HIEROGLYPH,
    PETROGLYPH,
    DIRECTORS_CUT,
    RETCON,
    PAINT_BRUSH,
    PALETTE,
) = range(32)


_BASES: Final = range(0, len(VOUCHERS), 2)


def redeem(run: Run, voucher: int) -> None:
    """Give the run a voucher, with those effects that are numbers of the run.

    The others are looked up where they matter: prices, odds and packs.
    """
    run.vouchers.append(voucher)
    if voucher == CLEARANCE_SALE:
        run.counters["discount"] = 25
    elif voucher == LIQUIDATION:
        run.counters["discount"] = 50
    elif voucher == CRYSTAL_BALL:
        run.consumable_slots += 1
    elif voucher in (GRABBER, NACHO_TONG):
        run.hands_per_round += 1
    elif voucher in (WASTEFUL, RECYCLOMANCY):
        run.discards_per_round += 1
    elif voucher == ANTIMATTER:
        run.joker_slots += 1
    elif voucher == HIEROGLYPH:
        run.ante -= 1
        run.hands_per_round -= 1
    elif voucher == PETROGLYPH:
        run.ante -= 1
        run.discards_per_round -= 1
    elif voucher in (PAINT_BRUSH, PALETTE):
        run.base_hand_size += 1


def available(run: Run, besides: tuple[int, ...] = ()) -> list[int]:
    """Return the vouchers that the shop may offer: not had, and the base is had for an upgrade.

    Args:
        run: The run.
        besides: Vouchers that are already offered.
    """
    had = run.vouchers
    if not had and not besides:
        return list(_BASES)
    return [
        voucher
        for voucher in range(len(VOUCHERS))
        if voucher not in had and voucher not in besides and (voucher % 2 == 0 or voucher - 1 in had)
    ]


def draw_voucher(run: Run, besides: tuple[int, ...] = ()) -> int:
    """Choose a random voucher that may be offered; Blank if there is none left."""
    choices = available(run, besides)
    return run.random.choice(choices) if choices else BLANK
