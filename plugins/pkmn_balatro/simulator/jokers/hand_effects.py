"""Effects of jokers on a hand as a whole: before its cards score, at the joker's own moment, and after the score."""

from __future__ import annotations

from typing import Final

from pkmn_balatro.simulator.cards import (
    ACE,
    CLUBS,
    DEBUFFED,
    DIAMONDS,
    GOLD,
    HEARTS,
    NO_ENHANCEMENT,
    RANK_MASK,
    SPADES,
    STEEL,
    STONE,
    WILD,
    enhancement_of,
    with_enhancement,
)
from pkmn_balatro.simulator.consumables import COMMON_SPECTRALS, TAROTS
from pkmn_balatro.simulator.decks import DECKS
from pkmn_balatro.simulator.hands import (
    ALL_SUITS,
    FOUR_FINGERS,
    PRINTED_SUITS,
    SHORTCUT,
    SMEARED,
    SPLASH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    TWO_PAIR,
)
from pkmn_balatro.simulator.jokers.create import (
    choose_consumable,
    empty_slots,
    sell_value,
    whole_deck,
)
from pkmn_balatro.simulator.jokers.hooks import OOPS, OPTIONS, PAREIDOLIA, Stage, during
from pkmn_balatro.simulator.jokers.kinds import JOKERS, UNCOMMON, kind_named
from pkmn_balatro.simulator.run import Joker
from pkmn_balatro.simulator.scored import Scored

for _name, _option in (
    ("Four Fingers", FOUR_FINGERS),
    ("Shortcut", SHORTCUT),
    ("Smeared Joker", SMEARED),
    ("Splash", SPLASH),
    ("Pareidolia", PAREIDOLIA),
    ("Oops! All 6s", OOPS),
):
    OPTIONS[kind_named(_name)] = _option


# Before the cards.


@during(Stage.BEFORE, "Space Joker")
def _space_joker(s: Scored, place: int) -> None:
    if s.happens(4):
        s.level += 1


@during(Stage.BEFORE, "Ride the Bus", own=True)
def _ride_the_bus(s: Scored, place: int) -> None:
    faces = any(s.is_face(s.cards[position]) for position in s.scoring)
    s.values[place] = 0 if faces else s.values[place] + 1


@during(Stage.BEFORE, "Runner", own=True)
def _runner(s: Scored, place: int) -> None:
    if s.contained >> STRAIGHT & 1:
        s.values[place] += 15


@during(Stage.BEFORE, "DNA")
def _dna(s: Scored, place: int) -> None:
    if len(s.cards) == 1 and not any(s.run.played_now):
        s.added.append(s.cards[0])
        s.held.append(s.cards[0])


@during(Stage.BEFORE, "Green Joker", own=True)
def _green_joker(s: Scored, place: int) -> None:
    s.values[place] += 1


@during(Stage.BEFORE, "To Do List")
def _to_do_list(s: Scored, place: int) -> None:
    if s.hand == s.values[place]:
        s.money += 4


@during(Stage.BEFORE, "Square Joker", own=True)
def _square_joker(s: Scored, place: int) -> None:
    if len(s.cards) == 4:
        s.values[place] += 4


@during(Stage.BEFORE, "Vampire", own=True)
def _vampire(s: Scored, place: int) -> None:
    for position in s.scoring:
        card = s.cards[position]
        if enhancement_of(card) and not card & DEBUFFED:
            s.values[place] += 1
            s.cards[position] = with_enhancement(card, NO_ENHANCEMENT)


@during(Stage.BEFORE, "Obelisk", own=True)
def _obelisk(s: Scored, place: int) -> None:
    played = s.run.played
    now = played[s.hand] + 1
    others = max(count for hand, count in enumerate(played) if hand != s.hand)
    s.values[place] = s.values[place] + 1 if others >= now else 0


@during(Stage.BEFORE, "Midas Mask", own=True)
def _midas_mask(s: Scored, place: int) -> None:
    for position in s.scoring:
        card = s.cards[position]
        if s.is_face(card):
            s.cards[position] = with_enhancement(card, GOLD)


@during(Stage.BEFORE, "Spare Trousers", own=True)
def _spare_trousers(s: Scored, place: int) -> None:
    if s.contained >> TWO_PAIR & 1:
        s.values[place] += 2


# The joker's own moment.


@during(Stage.JOKER, "Joker")
def _joker(s: Scored, place: int) -> None:
    s.mult += 4


@during(Stage.JOKER, "Half Joker")
def _half_joker(s: Scored, place: int) -> None:
    if len(s.cards) <= 3:
        s.mult += 20


_STENCIL: Final = kind_named("Joker Stencil")


@during(Stage.JOKER, "Joker Stencil")
def _joker_stencil(s: Scored, place: int) -> None:
    times = empty_slots(s.run) + sum(joker.kind == _STENCIL for joker in s.jokers)
    if times > 1:
        s.mult *= times


@during(Stage.JOKER, "Banner")
def _banner(s: Scored, place: int) -> None:
    s.chips += 30 * s.run.discards_left


@during(Stage.JOKER, "Mystic Summit")
def _mystic_summit(s: Scored, place: int) -> None:
    if s.run.discards_left == 0:
        s.mult += 15


@during(Stage.JOKER, "Loyalty Card")
def _loyalty_card(s: Scored, place: int) -> None:
    if s.values[place] % 6 == 5:
        s.mult *= 4


@during(Stage.JOKER, "Misprint")
def _misprint(s: Scored, place: int) -> None:
    if s.chance is not None:
        s.mult += s.chance.randrange(24)


@during(Stage.JOKER, "Steel Joker")
def _steel_joker(s: Scored, place: int) -> None:
    s.mult *= 1 + 0.2 * sum(enhancement_of(card) == STEEL for card in whole_deck(s.run))


@during(Stage.JOKER, "Abstract Joker")
def _abstract_joker(s: Scored, place: int) -> None:
    s.mult += 3 * len(s.jokers)


@during(Stage.JOKER, "Gros Michel")
def _gros_michel(s: Scored, place: int) -> None:
    s.mult += 15


@during(Stage.JOKER, "Supernova")
def _supernova(s: Scored, place: int) -> None:
    s.mult += s.run.played[s.hand] + 1


@during(Stage.JOKER, "Blackboard")
def _blackboard(s: Scored, place: int) -> None:
    smeared = s.suits[1] & 1 << DIAMONDS != 0
    for card in s.held:
        table = PRINTED_SUITS[smeared] if card & DEBUFFED else s.suits
        if not table[card >> 4 & 63] & (1 << SPADES | 1 << CLUBS):
            return
    s.mult *= 3


@during(Stage.JOKER, "Blue Joker")
def _blue_joker(s: Scored, place: int) -> None:
    s.chips += 2 * len(s.run.draw)


@during(Stage.JOKER, "Superposition")
def _superposition(s: Scored, place: int) -> None:
    if s.chance is None or not s.contained >> STRAIGHT & 1 or not s.has_room():
        return
    if any(s.cards[p] & RANK_MASK == ACE and enhancement_of(s.cards[p]) != STONE for p in s.scoring):
        choose_consumable(s.run, s.chance, TAROTS, s.created)


@during(Stage.JOKER, "Cavendish")
def _cavendish(s: Scored, place: int) -> None:
    s.mult *= 3


@during(Stage.JOKER, "Card Sharp")
def _card_sharp(s: Scored, place: int) -> None:
    if s.run.played_now[s.hand]:
        s.mult *= 3


@during(Stage.JOKER, "Séance")
def _seance(s: Scored, place: int) -> None:
    if s.chance is not None and s.contained >> STRAIGHT_FLUSH & 1 and s.has_room():
        choose_consumable(s.run, s.chance, COMMON_SPECTRALS, s.created)


@during(Stage.JOKER, "Vagabond")
def _vagabond(s: Scored, place: int) -> None:
    if s.chance is not None and s.run.money + s.money <= 4 and s.has_room():
        choose_consumable(s.run, s.chance, TAROTS, s.created)


@during(Stage.JOKER, "Erosion")
def _erosion(s: Scored, place: int) -> None:
    missing = DECKS[s.run.deck_kind].cards - sum(1 for _ in whole_deck(s.run))
    s.mult += 4 * max(missing, 0)


@during(Stage.JOKER, "Fortune Teller")
def _fortune_teller(s: Scored, place: int) -> None:
    s.mult += s.run.tarots_used


@during(Stage.JOKER, "Stone Joker")
def _stone_joker(s: Scored, place: int) -> None:
    s.chips += 25 * sum(enhancement_of(card) == STONE for card in whole_deck(s.run))


@during(Stage.JOKER, "Bull")
def _bull(s: Scored, place: int) -> None:
    s.chips += 2 * max(0, s.run.money + s.money)


@during(Stage.JOKER, "Ramen")
def _ramen(s: Scored, place: int) -> None:
    s.mult *= 2 - 0.01 * s.values[place]


@during(Stage.JOKER, "Acrobat")
def _acrobat(s: Scored, place: int) -> None:
    if s.run.hands_left <= 1:
        s.mult *= 3


@during(Stage.JOKER, "Swashbuckler")
def _swashbuckler(s: Scored, place: int) -> None:
    s.mult += sum(sell_value(s.run, joker) for other, joker in enumerate(s.jokers) if other != place)


@during(Stage.JOKER, "Throwback")
def _throwback(s: Scored, place: int) -> None:
    s.mult *= 1 + 0.25 * s.run.skips


@during(Stage.JOKER, "Flower Pot")
def _flower_pot(s: Scored, place: int) -> None:
    missing = ALL_SUITS
    wilds = 0
    smeared = s.suits[1] & 1 << DIAMONDS != 0
    for position in s.scoring:
        card = s.cards[position]
        if enhancement_of(card) == WILD:
            wilds += not card & DEBUFFED
            continue
        for suit in (HEARTS, DIAMONDS, SPADES, CLUBS):
            if PRINTED_SUITS[smeared][card >> 4 & 63] & missing & 1 << suit:
                missing &= ~(1 << suit)
                break
    if missing.bit_count() <= wilds:
        s.mult *= 3


@during(Stage.JOKER, "Seeing Double")
def _seeing_double(s: Scored, place: int) -> None:
    seen = wilds = 0
    for position in s.scoring:
        card = s.cards[position]
        if card & DEBUFFED:
            continue
        if enhancement_of(card) == WILD:
            wilds += 1
        else:
            seen |= s.suits[card >> 4 & 63]
    club = seen >> CLUBS & 1
    other = int(seen & ~(1 << CLUBS) != 0)
    if club + other + wilds >= 2:
        s.mult *= 2


@during(Stage.JOKER, "Matador")
def _matador(s: Scored, place: int) -> None:
    if s.triggered:
        s.money += 8


@during(Stage.BLOCKED, "Matador")
def _matador_blocked(s: Scored, place: int) -> None:
    s.money += 8


@during(Stage.JOKER, "Stuntman")
def _stuntman(s: Scored, place: int) -> None:
    s.chips += 250


@during(Stage.JOKER, "Driver's License")
def _drivers_license(s: Scored, place: int) -> None:
    if sum(enhancement_of(card) != NO_ENHANCEMENT for card in whole_deck(s.run)) >= 16:
        s.mult *= 3


@during(Stage.JOKER, "Bootstraps")
def _bootstraps(s: Scored, place: int) -> None:
    s.mult += 2 * max(0, (s.run.money + s.money) // 5)


@during(Stage.JOKER, "Yorick")
def _yorick(s: Scored, place: int) -> None:
    s.mult *= 1 + s.values[place] // 23


@during(Stage.OTHER, "Baseball Card")
def _baseball_card(s: Scored, place: int, joker: Joker) -> None:
    if JOKERS[joker.kind].rarity == UNCOMMON:
        s.mult *= 1.5


# After the score.


@during(Stage.AFTER, "Loyalty Card", own=True)
def _loyalty_card_counts(s: Scored, place: int) -> None:
    s.values[place] += 1


@during(Stage.AFTER, "Ice Cream", own=True)
def _ice_cream_melts(s: Scored, place: int) -> None:
    s.values[place] -= 5
    if s.values[place] <= 0:
        s.gone.append(place)


@during(Stage.AFTER, "Seltzer", own=True)
def _seltzer_goes(s: Scored, place: int) -> None:
    s.values[place] -= 1
    if s.values[place] <= 0:
        s.gone.append(place)


@during(Stage.AFTER, "Sixth Sense", own=True)
def _sixth_sense(s: Scored, place: int) -> None:
    if s.blocked or len(s.cards) != 1 or s.destroyed or any(s.run.played_now):
        return
    if s.cards[0] & RANK_MASK == 4 and enhancement_of(s.cards[0]) != STONE:
        s.destroyed = (0,)
        if s.chance is not None and s.has_room():
            choose_consumable(s.run, s.chance, COMMON_SPECTRALS, s.created)
