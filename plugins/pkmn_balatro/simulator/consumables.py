"""Consumables: planets, tarots and spectral cards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pkmn_balatro.simulator.run import HANDS, Run


@dataclass(frozen=True, slots=True)
class ConsumableKind:
    """A consumable."""

    name: str
    words: str
    """Effect in a few words."""
    cost: int = 3
    fewest: int = 0
    """Fewest cards of the hand that it is used on."""
    most: int = 0
    """Most cards of the hand that it is used on."""


_PLANET_NAMES: Final = (
    "Pluto",
    "Mercury",
    "Uranus",
    "Venus",
    "Saturn",
    "Jupiter",
    "Earth",
    "Mars",
    "Neptune",
    "Planet X",
    "Ceres",
    "Eris",
)


def _tarot(name: str, words: str, most: int = 0, fewest: int | None = None) -> ConsumableKind:
    return ConsumableKind(name, words, 3, min(most, 1) if fewest is None else fewest, most)


def _spectral(name: str, words: str, most: int = 0) -> ConsumableKind:
    return ConsumableKind(name, words, 4, most, most)


CONSUMABLES: Final = (
    *(ConsumableKind(planet, f"1 level for {hand}") for planet, hand in zip(_PLANET_NAMES, HANDS, strict=True)),
    _tarot("The Fool", "makes a copy of the tarot or planet used last"),
    _tarot("The Magician", "up to 2 cards become lucky", 2),
    _tarot("The High Priestess", "makes up to 2 planets"),
    _tarot("The Empress", "up to 2 cards become mult cards", 2),
    _tarot("The Emperor", "makes up to 2 tarots"),
    _tarot("The Hierophant", "up to 2 cards become bonus cards", 2),
    _tarot("The Lovers", "a card becomes wild", 1),
    _tarot("The Chariot", "a card becomes steel", 1),
    _tarot("Justice", "a card becomes glass", 1),
    _tarot("The Hermit", "doubles money, by $20 at most"),
    _tarot("The Wheel of Fortune", "1 in 4: an edition for a random joker"),
    _tarot("Strength", "up to 2 cards gain a rank", 2),
    _tarot("The Hanged Man", "destroys up to 2 cards", 2),
    _tarot("Death", "the first of 2 cards becomes the second", 2, 2),
    _tarot("Temperance", "the sell value of all jokers in dollars, $50 at most"),
    _tarot("The Devil", "a card becomes gold", 1),
    _tarot("The Tower", "a card becomes stone", 1),
    _tarot("The Star", "up to 3 cards become diamonds", 3),
    _tarot("The Moon", "up to 3 cards become clubs", 3),
    _tarot("The Sun", "up to 3 cards become hearts", 3),
    _tarot("Judgement", "makes a joker"),
    _tarot("The World", "up to 3 cards become spades", 3),
    _spectral("Familiar", "destroys a random held card, adds 3 improved face cards"),
    _spectral("Grim", "destroys a random held card, adds 2 improved aces"),
    _spectral("Incantation", "destroys a random held card, adds 4 improved number cards"),
    _spectral("Talisman", "a gold seal for a card", 1),
    _spectral("Aura", "foil, holographic or polychrome for a card without edition", 1),
    _spectral("Wraith", "makes a rare joker; money becomes $0"),
    _spectral("Sigil", "all held cards get one random suit"),
    _spectral("Ouija", "all held cards get one random rank; hand size -1"),
    _spectral("Ectoplasm", "a random joker becomes negative; hand size falls by 1, then by 2, and so on"),
    _spectral("Immolate", "destroys 5 random held cards, $20"),
    _spectral("Ankh", "copies a random joker, destroys the others"),
    _spectral("Deja Vu", "a red seal for a card", 1),
    _spectral("Hex", "a random joker becomes polychrome, the others are destroyed"),
    _spectral("Trance", "a blue seal for a card", 1),
    _spectral("Medium", "a purple seal for a card", 1),
    _spectral("Cryptid", "2 copies of a card", 1),
    _spectral("The Soul", "makes a legendary joker"),
    _spectral("Black Hole", "1 level for each hand"),
)
"""All consumables: planets in the order of the hands, then tarots, then spectral cards."""

PLANETS: Final = range(12)
TAROTS: Final = range(12, 34)
SPECTRALS: Final = range(34, 52)
COMMON_SPECTRALS: Final = SPECTRALS[:-2]
"""All but The Soul and Black Hole, which come by luck only."""
NEGATIVE: Final = 256
"""Added to the kind of a negative consumable, which takes no place."""

(
    FOOL,
    MAGICIAN,
    HIGH_PRIESTESS,
    EMPRESS,
    EMPEROR,
    HIEROPHANT,
    LOVERS,
    CHARIOT,
    JUSTICE,
    HERMIT,
    WHEEL_OF_FORTUNE,
    STRENGTH,
    HANGED_MAN,
    DEATH,
    TEMPERANCE,
    DEVIL,
    TOWER,
    STAR,
    MOON,
    SUN,
    JUDGEMENT,
    WORLD,
) = TAROTS
(
    FAMILIAR,
    GRIM,
    INCANTATION,
    TALISMAN,
    AURA,
    WRAITH,
    SIGIL,
    OUIJA,
    ECTOPLASM,
    IMMOLATE,
    ANKH,
    DEJA_VU,
    HEX,
    TRANCE,
    MEDIUM,
    CRYPTID,
    SOUL,
    BLACK_HOLE,
) = SPECTRALS


def consumable_name(consumable: int) -> str:
    """Return the name of a consumable that the player has, such as ``Mars`` or ``Mars (negative)``."""
    name = CONSUMABLES[consumable & 0xFF].name
    return f"{name} (negative)" if consumable & NEGATIVE else name


def has_consumable_room(run: Run, coming: int = 0) -> bool:
    """Return True if another consumable fits beside those that are coming; negative ones take no place."""
    return coming + sum(item < NEGATIVE for item in run.consumables) < run.consumable_slots


def is_planet(consumable: int) -> bool:
    """Return True if a consumable is a planet."""
    return consumable & 0xFF in PLANETS
