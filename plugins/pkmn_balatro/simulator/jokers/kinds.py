"""Table of all jokers: name, cost, rarity, and the effect in a few words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

COMMON, UNCOMMON, RARE, LEGENDARY = range(4)
RARITIES: Final = ("common", "uncommon", "rare", "legendary")


@dataclass(frozen=True, slots=True)
class JokerKind:
    """A kind of joker."""

    name: str
    cost: int
    """Dollars in the shop, without an edition."""
    rarity: int
    """Place in :data:`RARITIES`."""
    words: str
    """Effect in a few words."""
    start: int = 0
    """First value of the number that grows or counts down."""


_C, _U, _R, _L = COMMON, UNCOMMON, RARE, LEGENDARY

JOKERS: Final = (
    JokerKind("Joker", 2, _C, "+4 mult"),
    JokerKind("Greedy Joker", 5, _C, "+3 mult for each scored diamond"),
    JokerKind("Lusty Joker", 5, _C, "+3 mult for each scored heart"),
    JokerKind("Wrathful Joker", 5, _C, "+3 mult for each scored spade"),
    JokerKind("Gluttonous Joker", 5, _C, "+3 mult for each scored club"),
    JokerKind("Jolly Joker", 3, _C, "+8 mult if the hand contains a pair"),
    JokerKind("Zany Joker", 4, _C, "+12 mult if the hand contains three of a kind"),
    JokerKind("Mad Joker", 4, _C, "+10 mult if the hand contains two pair"),
    JokerKind("Crazy Joker", 4, _C, "+12 mult if the hand contains a straight"),
    JokerKind("Droll Joker", 4, _C, "+10 mult if the hand contains a flush"),
    JokerKind("Sly Joker", 3, _C, "+50 chips if the hand contains a pair"),
    JokerKind("Wily Joker", 4, _C, "+100 chips if the hand contains three of a kind"),
    JokerKind("Clever Joker", 4, _C, "+80 chips if the hand contains two pair"),
    JokerKind("Devious Joker", 4, _C, "+100 chips if the hand contains a straight"),
    JokerKind("Crafty Joker", 4, _C, "+80 chips if the hand contains a flush"),
    JokerKind("Half Joker", 5, _C, "+20 mult if 3 cards or fewer are played"),
    JokerKind("Joker Stencil", 8, _U, "x1 mult for each empty joker slot and each Joker Stencil"),
    JokerKind("Four Fingers", 7, _U, "4 cards are enough for a straight or a flush"),
    JokerKind("Mime", 5, _U, "held cards act once more"),
    JokerKind("Credit Card", 1, _C, "up to $20 of debt"),
    JokerKind("Ceremonial Dagger", 6, _U, "each blind: destroys the joker to the right, twice its sell value as mult"),
    JokerKind("Banner", 5, _C, "+30 chips for each discard left"),
    JokerKind("Mystic Summit", 5, _C, "+15 mult with no discard left"),
    JokerKind("Marble Joker", 6, _U, "each blind: a stone card joins the deck"),
    JokerKind("Loyalty Card", 5, _U, "x4 mult every sixth hand"),
    JokerKind("8 Ball", 5, _C, "each scored 8: 1 in 4 to make a tarot"),
    JokerKind("Misprint", 4, _C, "+0 to 23 mult"),
    JokerKind("Dusk", 5, _U, "played cards score once more in the last hand"),
    JokerKind("Raised Fist", 5, _C, "twice the lowest held rank as mult"),
    JokerKind("Chaos the Clown", 4, _C, "one free reroll in each shop"),
    JokerKind("Fibonacci", 8, _U, "+8 mult for each scored ace, 2, 3, 5 or 8"),
    JokerKind("Steel Joker", 7, _U, "x0.2 mult more for each steel card owned"),
    JokerKind("Scary Face", 4, _C, "+30 chips for each scored face card"),
    JokerKind("Abstract Joker", 4, _C, "+3 mult for each joker"),
    JokerKind("Delayed Gratification", 4, _C, "$2 for each discard if none was used in the round"),
    JokerKind("Hack", 6, _U, "each played 2, 3, 4 or 5 scores once more"),
    JokerKind("Pareidolia", 5, _U, "every card is a face card"),
    JokerKind("Gros Michel", 5, _C, "+15 mult; each round 1 in 6 to be destroyed"),
    JokerKind("Even Steven", 4, _C, "+4 mult for each scored 10, 8, 6, 4 or 2"),
    JokerKind("Odd Todd", 4, _C, "+31 chips for each scored ace, 9, 7, 5 or 3"),
    JokerKind("Scholar", 4, _C, "+20 chips and +4 mult for each scored ace"),
    JokerKind("Business Card", 4, _C, "each scored face card: 1 in 2 for $2"),
    JokerKind("Supernova", 5, _C, "times that the hand was played in this run as mult"),
    JokerKind("Ride the Bus", 6, _C, "+1 mult for each hand in a row without a scoring face card"),
    JokerKind("Space Joker", 5, _U, "1 in 4 to raise the level of the played hand"),
    JokerKind("Egg", 4, _C, "+$3 sell value each round"),
    JokerKind("Burglar", 6, _U, "each blind: +3 hands, no discards"),
    JokerKind("Blackboard", 6, _U, "x3 mult if all held cards are spades or clubs"),
    JokerKind("Runner", 5, _C, "grows by 15 chips with each straight"),
    JokerKind("Ice Cream", 5, _C, "100 chips, 5 fewer after each hand", 100),
    JokerKind("DNA", 8, _R, "first hand of the round: a single card is copied into the deck and the hand"),
    JokerKind("Splash", 3, _C, "every played card scores"),
    JokerKind("Blue Joker", 5, _C, "+2 chips for each card in the draw pile"),
    JokerKind("Sixth Sense", 6, _U, "first hand of the round: a single 6 is destroyed for a spectral"),
    JokerKind("Constellation", 6, _U, "grows by x0.1 mult with each planet used"),
    JokerKind("Hiker", 5, _U, "each scored card gains 5 chips for good"),
    JokerKind("Faceless Joker", 4, _C, "$5 if 3 or more face cards are discarded together"),
    JokerKind("Green Joker", 4, _C, "+1 mult for each hand, -1 for each discard"),
    JokerKind("Superposition", 4, _C, "a tarot if the hand is a straight with an ace"),
    JokerKind("To Do List", 4, _C, "$4 if the hand is the one listed, another each round"),
    JokerKind("Cavendish", 4, _C, "x3 mult; each round 1 in 1000 to be destroyed"),
    JokerKind("Card Sharp", 6, _U, "x3 mult if the hand was played before in this round"),
    JokerKind("Red Card", 5, _C, "grows by 3 mult with each pack skipped"),
    JokerKind("Madness", 7, _U, "small and big blind: grows by x0.5 mult and destroys a random joker"),
    JokerKind("Square Joker", 4, _C, "grows by 4 chips with each play of exactly 4 cards"),
    JokerKind("Séance", 6, _U, "a spectral if the hand is a straight flush"),
    JokerKind("Riff-Raff", 6, _C, "each blind: 2 common jokers"),
    JokerKind("Vampire", 7, _U, "grows by x0.1 mult with each scoring enhanced card, and takes the enhancement"),
    JokerKind("Shortcut", 7, _U, "straights may leave out single ranks"),
    JokerKind("Hologram", 7, _U, "grows by x0.25 mult with each card that joins the deck"),
    JokerKind("Vagabond", 8, _R, "a tarot if a hand is played with $4 or less"),
    JokerKind("Baron", 8, _R, "x1.5 mult for each held king"),
    JokerKind("Cloud 9", 7, _U, "$1 each round for each 9 owned"),
    JokerKind("Rocket", 6, _U, "$1 each round, $2 more for each boss beaten", 1),
    JokerKind("Obelisk", 8, _R, "grows by x0.2 mult for each hand in a row that is not the most played one"),
    JokerKind("Midas Mask", 7, _U, "scoring face cards become gold cards"),
    JokerKind("Luchador", 5, _U, "sell it to disable the boss"),
    JokerKind("Photograph", 5, _C, "x2 mult for the first scoring face card"),
    JokerKind("Gift Card", 6, _U, "+$1 sell value for each joker each round"),
    JokerKind("Turtle Bean", 6, _U, "+5 hand size, 1 less each round", 5),
    JokerKind("Erosion", 6, _U, "+4 mult for each card that the deck has lost"),
    JokerKind("Reserved Parking", 6, _C, "each held face card: 1 in 2 for $1"),
    JokerKind("Mail-In Rebate", 4, _C, "$5 for each discarded card of a rank, another each round"),
    JokerKind("To the Moon", 5, _U, "$1 more interest for each $5"),
    JokerKind("Hallucination", 4, _C, "each opened pack: 1 in 2 for a tarot"),
    JokerKind("Fortune Teller", 6, _C, "+1 mult for each tarot used in this run"),
    JokerKind("Juggler", 4, _C, "+1 hand size"),
    JokerKind("Drunkard", 4, _C, "+1 discard each round"),
    JokerKind("Stone Joker", 6, _U, "+25 chips for each stone card owned"),
    JokerKind("Golden Joker", 6, _C, "$4 each round"),
    JokerKind("Lucky Cat", 6, _U, "grows by x0.25 mult each time a lucky card succeeds"),
    JokerKind("Baseball Card", 8, _R, "x1.5 mult for each uncommon joker"),
    JokerKind("Bull", 6, _U, "+2 chips for each $1"),
    JokerKind("Diet Cola", 6, _U, "sell it for a double tag"),
    JokerKind("Trading Card", 6, _U, "a single card in the first discard of the round is destroyed for $3"),
    JokerKind("Flash Card", 5, _U, "grows by 2 mult with each reroll"),
    JokerKind("Popcorn", 5, _C, "+20 mult, 4 less each round", 20),
    JokerKind("Spare Trousers", 6, _U, "grows by 2 mult with each hand that contains two pair"),
    JokerKind("Ancient Joker", 8, _R, "x1.5 mult for each scored card of a suit, another each round"),
    JokerKind("Ramen", 6, _U, "x2 mult, x0.01 less for each discarded card"),
    JokerKind("Walkie Talkie", 4, _C, "+10 chips and +4 mult for each scored 10 or 4"),
    JokerKind("Seltzer", 6, _U, "played cards score once more for 10 hands", 10),
    JokerKind("Castle", 6, _U, "grows by 3 chips with each discarded card of a suit, another each round"),
    JokerKind("Smiley Face", 4, _C, "+5 mult for each scored face card"),
    JokerKind("Campfire", 9, _R, "grows by x0.25 mult with each sale until a boss is beaten"),
    JokerKind("Golden Ticket", 5, _C, "$4 for each scored gold card"),
    JokerKind("Mr. Bones", 5, _U, "saves from a loss with a quarter of the score, and is destroyed"),
    JokerKind("Acrobat", 6, _U, "x3 mult in the last hand of the round"),
    JokerKind("Sock and Buskin", 6, _U, "played face cards score once more"),
    JokerKind("Swashbuckler", 4, _C, "sell value of all other jokers as mult"),
    JokerKind("Troubadour", 6, _U, "+2 hand size, -1 hand each round"),
    JokerKind("Certificate", 6, _U, "each round: a random card with a seal joins the hand"),
    JokerKind("Smeared Joker", 7, _U, "hearts and diamonds are one suit, spades and clubs too"),
    JokerKind("Throwback", 6, _U, "x0.25 mult more for each blind skipped in this run"),
    JokerKind("Hanging Chad", 4, _C, "the first scoring card scores twice more"),
    JokerKind("Rough Gem", 7, _U, "$1 for each scored diamond"),
    JokerKind("Bloodstone", 7, _U, "each scored heart: 1 in 2 for x1.5 mult"),
    JokerKind("Arrowhead", 7, _U, "+50 chips for each scored spade"),
    JokerKind("Onyx Agate", 7, _U, "+7 mult for each scored club"),
    JokerKind("Glass Joker", 6, _U, "grows by x0.75 mult with each glass card destroyed"),
    JokerKind("Showman", 5, _U, "cards that you have may be offered again"),
    JokerKind("Flower Pot", 6, _U, "x3 mult if the scoring cards have all four suits"),
    JokerKind("Blueprint", 10, _R, "copies the joker to the right"),
    JokerKind("Wee Joker", 8, _R, "grows by 8 chips with each scored 2"),
    JokerKind("Merry Andy", 7, _U, "+3 discards each round, -1 hand size"),
    JokerKind("Oops! All 6s", 4, _U, "doubles all chances"),
    JokerKind("The Idol", 6, _U, "x2 mult for each scored card of a rank and suit, others each round"),
    JokerKind("Seeing Double", 6, _U, "x2 mult if a club and a card of another suit score"),
    JokerKind("Matador", 7, _U, "$8 if the hand meets the effect of the boss"),
    JokerKind("Hit the Road", 8, _R, "grows by x0.5 mult with each jack discarded in the round"),
    JokerKind("The Duo", 8, _R, "x2 mult if the hand contains a pair"),
    JokerKind("The Trio", 8, _R, "x3 mult if the hand contains three of a kind"),
    JokerKind("The Family", 8, _R, "x4 mult if the hand contains four of a kind"),
    JokerKind("The Order", 8, _R, "x3 mult if the hand contains a straight"),
    JokerKind("The Tribe", 8, _R, "x2 mult if the hand contains a flush"),
    JokerKind("Stuntman", 7, _R, "+250 chips, -2 hand size"),
    JokerKind("Invisible Joker", 8, _R, "sell it after 2 rounds to double a random joker"),
    JokerKind("Brainstorm", 10, _R, "copies the leftmost joker"),
    JokerKind("Satellite", 6, _U, "$1 each round for each different planet used"),
    JokerKind("Shoot the Moon", 5, _C, "+13 mult for each held queen"),
    JokerKind("Driver's License", 7, _R, "x3 mult with 16 enhanced cards or more"),
    JokerKind("Cartomancer", 6, _U, "each blind: a tarot"),
    JokerKind("Astronomer", 8, _U, "planets and celestial packs are free"),
    JokerKind("Burnt Joker", 8, _R, "the first discard of the round raises the level of its hand"),
    JokerKind("Bootstraps", 7, _U, "+2 mult for each $5"),
    JokerKind("Canio", 20, _L, "grows by x1 mult with each face card destroyed"),
    JokerKind("Triboulet", 20, _L, "x2 mult for each scored king or queen"),
    JokerKind("Yorick", 20, _L, "grows by x1 mult with every 23 cards discarded"),
    JokerKind("Chicot", 20, _L, "disables every boss"),
    JokerKind("Perkeo", 20, _L, "leaving the shop: a negative copy of a random consumable"),
)
"""All jokers in the order of the game's collection. A kind is a place in this list."""

_PLACES: Final = {kind.name: place for place, kind in enumerate(JOKERS)}


def kind_named(name: str) -> int:
    """Return the kind of joker with this name.

    Raises:
        KeyError: If there is no such joker.
    """
    return _PLACES[name]
