"""Effects of jokers on single cards while a hand is scored: on played cards, their repetition, and on held cards."""

from __future__ import annotations

from pkmn_balatro.simulator.cards import (
    ACE,
    CHIPS,
    CLUBS,
    DIAMONDS,
    ENHANCEMENT_SHIFT,
    EXTRA_SHIFT,
    GOLD,
    HEARTS,
    KING,
    LUCKY,
    QUEEN,
    RANK_MASK,
    SPADES,
    STONE,
    TEN,
    enhancement_of,
)
from pkmn_balatro.simulator.consumables import TAROTS
from pkmn_balatro.simulator.jokers.create import choose_consumable
from pkmn_balatro.simulator.jokers.hooks import Stage, during
from pkmn_balatro.simulator.scored import Scored


def _suit_mult(name: str, suit: int, mult: int) -> None:
    @during(Stage.CARD, name)
    def add(s: Scored, place: int, card: int, position: int) -> None:
        if s.suits[card >> 4 & 63] >> suit & 1:
            s.mult += mult


def _rank_bonus(name: str, ranks: tuple[int, ...], chips: int, mult: int) -> None:
    bits = sum(1 << rank for rank in ranks)

    @during(Stage.CARD, name)
    def add(s: Scored, place: int, card: int, position: int) -> None:
        if bits >> (card & RANK_MASK) & 1 and card >> ENHANCEMENT_SHIFT & 0xF != STONE:
            s.chips += chips
            s.mult += mult


_suit_mult("Greedy Joker", DIAMONDS, 3)
_suit_mult("Lusty Joker", HEARTS, 3)
_suit_mult("Wrathful Joker", SPADES, 3)
_suit_mult("Gluttonous Joker", CLUBS, 3)
_suit_mult("Onyx Agate", CLUBS, 7)
_rank_bonus("Fibonacci", (ACE, 0, 1, 3, 6), 0, 8)
_rank_bonus("Even Steven", (0, 2, 4, 6, TEN), 0, 4)
_rank_bonus("Odd Todd", (ACE, 1, 3, 5, 7), 31, 0)
_rank_bonus("Scholar", (ACE,), 20, 4)
_rank_bonus("Walkie Talkie", (TEN, 2), 10, 4)


# Played cards again.


@during(Stage.REPEAT, "Dusk")
def _dusk(s: Scored, place: int, card: int, position: int) -> int:
    return int(s.run.hands_left <= 1)


@during(Stage.REPEAT, "Hack")
def _hack(s: Scored, place: int, card: int, position: int) -> int:
    return int(card & RANK_MASK <= 3 and card >> ENHANCEMENT_SHIFT & 0xF != STONE)


@during(Stage.REPEAT, "Seltzer")
def _seltzer(s: Scored, place: int, card: int, position: int) -> int:
    return 1


@during(Stage.REPEAT, "Sock and Buskin")
def _sock_and_buskin(s: Scored, place: int, card: int, position: int) -> int:
    return int(s.is_face(card))


@during(Stage.REPEAT, "Hanging Chad")
def _hanging_chad(s: Scored, place: int, card: int, position: int) -> int:
    return 2 if position == s.scoring[0] else 0


# Each scored card.


@during(Stage.CARD, "8 Ball")
def _eight_ball(s: Scored, place: int, card: int, position: int) -> None:
    if card & RANK_MASK != 6 or enhancement_of(card) == STONE or s.chance is None:
        return
    if s.has_room() and s.happens(4):
        choose_consumable(s.run, s.chance, TAROTS, s.created)


@during(Stage.CARD, "Scary Face")
def _scary_face(s: Scored, place: int, card: int, position: int) -> None:
    if s.is_face(card):
        s.chips += 30


@during(Stage.CARD, "Business Card")
def _business_card(s: Scored, place: int, card: int, position: int) -> None:
    if s.is_face(card) and s.happens(2):
        s.money += 2


@during(Stage.CARD, "Hiker")
def _hiker(s: Scored, place: int, card: int, position: int) -> None:
    s.cards[position] += 5 << EXTRA_SHIFT


@during(Stage.CARD, "Photograph")
def _photograph(s: Scored, place: int, card: int, position: int) -> None:
    if s.is_face(card) and not any(s.is_face(s.cards[other]) for other in s.scoring if other < position):
        s.mult *= 2


@during(Stage.CARD, "Ancient Joker")
def _ancient_joker(s: Scored, place: int, card: int, position: int) -> None:
    if s.suits[card >> 4 & 63] >> s.run.counters.get("ancient suit", SPADES) & 1:
        s.mult *= 1.5


@during(Stage.CARD, "Smiley Face")
def _smiley_face(s: Scored, place: int, card: int, position: int) -> None:
    if s.is_face(card):
        s.mult += 5


@during(Stage.CARD, "Golden Ticket")
def _golden_ticket(s: Scored, place: int, card: int, position: int) -> None:
    if enhancement_of(card) == GOLD:
        s.money += 4


@during(Stage.CARD, "Lucky Cat", own=True)
def _lucky_cat(s: Scored, place: int, card: int, position: int) -> None:
    if s.lucky and enhancement_of(card) == LUCKY:
        s.values[place] += 1


@during(Stage.CARD, "Rough Gem")
def _rough_gem(s: Scored, place: int, card: int, position: int) -> None:
    if s.suits[card >> 4 & 63] >> DIAMONDS & 1:
        s.money += 1


@during(Stage.CARD, "Bloodstone")
def _bloodstone(s: Scored, place: int, card: int, position: int) -> None:
    if s.suits[card >> 4 & 63] >> HEARTS & 1 and s.happens(2):
        s.mult *= 1.5


@during(Stage.CARD, "Arrowhead")
def _arrowhead(s: Scored, place: int, card: int, position: int) -> None:
    if s.suits[card >> 4 & 63] >> SPADES & 1:
        s.chips += 50


@during(Stage.CARD, "Wee Joker", own=True)
def _wee_joker(s: Scored, place: int, card: int, position: int) -> None:
    if card & RANK_MASK == 0 and enhancement_of(card) != STONE:
        s.values[place] += 8


@during(Stage.CARD, "The Idol")
def _the_idol(s: Scored, place: int, card: int, position: int) -> None:
    counters = s.run.counters
    suit = counters.get("idol suit", SPADES)
    if card & RANK_MASK == counters.get("idol rank", ACE) and s.suits[card >> 4 & 63] >> suit & 1:
        s.mult *= 2


@during(Stage.CARD, "Triboulet")
def _triboulet(s: Scored, place: int, card: int, position: int) -> None:
    if QUEEN <= card & RANK_MASK <= KING and enhancement_of(card) != STONE:
        s.mult *= 2


# Held cards.


@during(Stage.HELD_REPEAT, "Mime")
def _mime(s: Scored, place: int) -> int:
    return 1


@during(Stage.HELD, "Raised Fist")
def _raised_fist(s: Scored, place: int, card: int, position: int) -> None:
    lowest = -1
    for other, held in enumerate(s.held):
        if enhancement_of(held) != STONE and (lowest < 0 or held & RANK_MASK <= s.held[lowest] & RANK_MASK):
            lowest = other
    if position == lowest:
        s.mult += 2 * CHIPS[card & RANK_MASK]


@during(Stage.HELD, "Baron")
def _baron(s: Scored, place: int, card: int, position: int) -> None:
    if card & RANK_MASK == KING and enhancement_of(card) != STONE:
        s.mult *= 1.5


@during(Stage.HELD, "Reserved Parking")
def _reserved_parking(s: Scored, place: int, card: int, position: int) -> None:
    if s.is_face(card) and s.happens(2):
        s.money += 1


@during(Stage.HELD, "Shoot the Moon")
def _shoot_the_moon(s: Scored, place: int, card: int, position: int) -> None:
    if card & RANK_MASK == QUEEN and enhancement_of(card) != STONE:
        s.mult += 13
