"""Scores of hands and cards, of rules and of bosses, worked out by hand from the rules.

Each line says why, and gives chips and mult as sums and products.
"""

from __future__ import annotations

import pytest
from support.scoring_vectors import Vector, check_luck, check_score, v

from pkmn_balatro.simulator import decks, vouchers
from pkmn_balatro.simulator.run import HANDS

OX_PAIR = {"ox_hand": HANDS.index("Pair")}
OBSERVATORY = [vouchers.OBSERVATORY]

HANDS_ALONE = [
    v("high card: only the ace scores, (5+11) x 1", "AS KD 9C 7H 2S", 5 + 11, 1, hand="High Card"),
    v("a single two: (5+2) x 1", "2C", 5 + 2, 1, hand="High Card"),
    v("a jack is 10 chips", "JC", 5 + 10, 1, hand="High Card"),
    v("pair of kings: (10+10+10) x 2", "KS KH", 10 + 10 + 10, 2, hand="Pair"),
    v("pair of kings, the kickers don't score", "KS KH AD 3C 2S", 10 + 10 + 10, 2, hand="Pair"),
    v("pair of twos below an ace", "AS 2D 2C", 10 + 2 + 2, 2, hand="Pair"),
    v("two pair: tens and fives, the ace doesn't score", "10S 10H 5D 5C AS", 20 + 10 + 10 + 5 + 5, 2, hand="Two Pair"),
    v("two pair of four cards", "3S 3H 9D 9C", 20 + 3 + 3 + 9 + 9, 2, hand="Two Pair"),
    v("three sevens: (30+21) x 3", "7S 7H 7D", 30 + 7 * 3, 3, hand="Three of a Kind"),
    v("three aces with kickers", "AS AH AD 4C 9S", 30 + 11 * 3, 3, hand="Three of a Kind"),
    v("straight five to nine", "5S 6H 7D 8C 9S", 30 + 5 + 6 + 7 + 8 + 9, 4, hand="Straight"),
    v("the ace is low: ace to five", "AS 2H 3D 4C 5S", 30 + 11 + 2 + 3 + 4 + 5, 4, hand="Straight"),
    v("the ace is high: ten to ace", "10S JH QD KC AS", 30 + 10 * 4 + 11, 4, hand="Straight"),
    v("no straight around the ace: queen to three", "QS KH AD 2C 3S", 5 + 11, 1, hand="High Card"),
    v("four in a row are no straight", "5S 6H 7D 8C", 5 + 8, 1, hand="High Card"),
    v("flush: all five score", "AH 9H 7H 4H 2H", 35 + 11 + 9 + 7 + 4 + 2, 4, hand="Flush"),
    v("four of a suit are no flush", "AH 9H 7H 4H", 5 + 11, 1, hand="High Card"),
    v("full house: kings over twos", "KS KH KD 2C 2S", 40 + 10 * 3 + 2 * 2, 4, hand="Full House"),
    v("four nines, the kicker doesn't score", "9S 9H 9D 9C AS", 60 + 9 * 4, 7, hand="Four of a Kind"),
    v("straight flush four to eight", "4D 5D 6D 7D 8D", 100 + 4 + 5 + 6 + 7 + 8, 8, hand="Straight Flush"),
    v("royal flush is a straight flush", "10S JS QS KS AS", 100 + 10 * 4 + 11, 8, hand="Straight Flush"),
    v("low straight flush with the ace", "AC 2C 3C 4C 5C", 100 + 11 + 2 + 3 + 4 + 5, 8, hand="Straight Flush"),
    v("five sixes", "6S 6H 6D 6C 6S", 120 + 6 * 5, 12, hand="Five of a Kind"),
    v("flush house: tens over fours in hearts", "10H 10H 10H 4H 4H", 140 + 30 + 8, 14, hand="Flush House"),
    v("flush five of aces", "AS AS AS AS AS", 160 + 11 * 5, 16, hand="Flush Five"),
    v("four of a kind is worth more than a flush", "9H 9H 9H 9H 2H", 60 + 9 * 4, 7, hand="Four of a Kind"),
    v("flush with two pair is a flush", "9H 9H 4H 4H 2H", 35 + 9 + 9 + 4 + 4 + 2, 4, hand="Flush"),
]

LEVELS = [
    v("high card level 2: (5+10) x (1+1)", "2C", 5 + 10 + 2, 2, levels={"High Card": 2}),
    v("pair level 3: 10+2x15, 2+2x1", "KS KH", 10 + 30 + 20, 2 + 2, levels={"Pair": 3}),
    v("two pair level 2: +20 and +1", "3S 3H 9D 9C", 20 + 20 + 24, 2 + 1, levels={"Two Pair": 2}),
    v("three of a kind level 2: +20 and +2", "7S 7H 7D", 30 + 20 + 21, 3 + 2, levels={"Three of a Kind": 2}),
    v("straight level 2: +30 and +3", "5S 6H 7D 8C 9S", 30 + 30 + 35, 4 + 3, levels={"Straight": 2}),
    v("flush level 4: 35+3x15, 4+3x2", "AH 9H 7H 4H 2H", 35 + 45 + 33, 4 + 6, levels={"Flush": 4}),
    v("full house level 2: +25 and +2", "KS KH KD 2C 2S", 40 + 25 + 34, 4 + 2, levels={"Full House": 2}),
    v("four of a kind level 2: +30 and +3", "9S 9H 9D 9C", 60 + 30 + 36, 7 + 3, levels={"Four of a Kind": 2}),
    v("straight flush level 2: +40 and +4", "4D 5D 6D 7D 8D", 100 + 40 + 30, 8 + 4, levels={"Straight Flush": 2}),
    v("five of a kind level 2: +35 and +3", "6S 6H 6D 6C 6S", 120 + 35 + 30, 12 + 3, levels={"Five of a Kind": 2}),
    v("flush house level 2: +40 and +4", "10H 10H 10H 4H 4H", 140 + 40 + 38, 14 + 4, levels={"Flush House": 2}),
    v("flush five level 2: +50 and +3", "AS AS AS AS AS", 160 + 50 + 55, 16 + 3, levels={"Flush Five": 2}),
    v("another hand's level doesn't count", "KS KH", 10 + 20, 2, levels={"Flush": 9}),
]

MODIFIERS = [
    v("bonus card: +30 chips", "KS+bonus KH", 10 + 10 + 30 + 10, 2),
    v("mult card: +4 mult", "KS+mult KH", 10 + 20, 2 + 4),
    v("glass card: x2 mult", "KS+glass KH", 10 + 20, 2 * 2),
    v("mult before glass: (2+4) x 2", "KS+mult KH+glass", 10 + 20, (2 + 4) * 2),
    v("glass before mult: 2 x 2 + 4", "KS+glass KH+mult", 10 + 20, 2 * 2 + 4),
    v("a kicker's modifier doesn't count", "KS KH 2D+mult", 10 + 20, 2),
    v("steel held: x1.5 mult", "KS KH", 10 + 20, 2 * 1.5, held="3D+steel"),
    v("two steel cards held: x2.25", "KS KH", 10 + 20, 2 * 1.5 * 1.5, held="3D+steel 4D+steel"),
    v("steel played does nothing", "KS+steel KH", 10 + 20, 2),
    v("stone: 50 chips, no rank, with a high card", "AS 3D+stone", 5 + 11 + 50, 1, hand="High Card"),
    v("stones alone are a high card", "3D+stone 3H+stone", 5 + 50 + 50, 1, hand="High Card"),
    v("a stone scores beside a pair", "KS KH 2D+stone", 10 + 20 + 50, 2, hand="Pair"),
    v("a stone heart is no part of a flush", "AH 9H 7H 4H 2H+stone", 5 + 11 + 50, 1, hand="High Card"),
    v("a gold card has no effect on the score", "KS+gold KH", 10 + 20, 2),
    v("lucky without luck: nothing", "KS+lucky KH", 10 + 20, 2),
    v("a wild card completes a flush", "AH 9H 7H 4H 2S+wild", 35 + 33, 4, hand="Flush"),
    v("five wild cards are a flush", "AH+wild 9S+wild 7C+wild 4D+wild 2S+wild", 35 + 33, 4, hand="Flush"),
    v("a debuffed wild card has only its printed suit", "AH 9H 7H 4H 2S+wild+debuffed", 5 + 11, 1, hand="High Card"),
    v("foil card: +50 chips", "KS+foil KH", 10 + 20 + 50, 2),
    v("holographic card: +10 mult", "KS+holographic KH", 10 + 20, 2 + 10),
    v("polychrome card: x1.5 mult", "KS+polychrome KH", 10 + 20, 2 * 1.5),
    v("glass and polychrome: 2 x 2 x 1.5", "KS+glass+polychrome KH", 10 + 20, 2 * 2 * 1.5),
    v("mult and holographic: 2 + 4 + 10", "KS+mult+holographic KH", 10 + 20, 2 + 4 + 10),
    v("red seal: the card scores twice", "KS+red_seal KH", 10 + 10 + 10 + 10, 2),
    v("red seal repeats the enhancement: 2 x 2 x 2", "KS+glass+red_seal KH", 10 + 30, 2 * 2 * 2),
    v("red seal repeats foil", "KS+foil+red_seal KH", 10 + 60 + 60 + 10, 2),
    v("red seal on held steel: 1.5 twice", "KS KH", 10 + 20, 2 * 1.5 * 1.5, held="3D+steel+red_seal"),
    v("gold seal: $3 and no score", "KS+gold_seal KH", 10 + 20, 2, money_made=3),
    v("gold seal of a kicker: nothing", "KS KH 2D+gold_seal", 10 + 20, 2),
    v("blue and purple seals: nothing now", "KS+blue_seal KH+purple_seal", 10 + 20, 2),
    v("extra chips of Hiker stay on the card", "KS+25 KH", 10 + 20 + 25, 2),
    v("extra chips of a stone", "KS KH 2C+stone+15", 10 + 20 + 50 + 15, 2),
    v("a debuffed card counts for the hand, not for chips", "KS+debuffed KH", 10 + 10, 2, hand="Pair"),
    v("a debuffed glass card doesn't multiply", "KS+glass+debuffed KH", 10 + 10, 2),
    v("debuffed steel held: nothing", "KS KH", 10 + 20, 2, held="3D+steel+debuffed"),
    v("a debuffed red seal: nothing", "KS+red_seal+debuffed KH", 10 + 10, 2),
]

RULES = [
    v("Four Fingers: straight of four", "5S 6H 7D 8C", 30 + 26, 4, "Four Fingers", hand="Straight"),
    v("Four Fingers: a fifth card beside the straight", "5S 6H 7D 8C KS", 30 + 26, 4, "Four Fingers", hand="Straight"),
    v("Four Fingers: flush of four", "AH 9H 7H 4H", 35 + 31, 4, "Four Fingers", hand="Flush"),
    v("Four Fingers: the fifth suit doesn't score", "AH 9H 7H 4H 2S", 35 + 31, 4, "Four Fingers", hand="Flush"),
    v("Four Fingers: straight flush, 2-3-4-5 and hearts 2 3 4 9", "2H 3H 4H 5S 9H", 123, 8, "Four Fingers"),
    v("Four Fingers: the pair in a straight scores too", "5S 6H 7D 8C 8S", 30 + 34, 4, "Four Fingers", hand="Straight"),
    v("Four Fingers: three in a row are too few", "5S 6H 7D", 5 + 7, 1, "Four Fingers", hand="High Card"),
    v("Shortcut: 2 4 6 8 10", "2S 4H 6D 8C 10S", 30 + 30, 4, "Shortcut", hand="Straight"),
    v("Shortcut: two missing in a row are too many", "2S 3H 6D 7C 8S", 5 + 8, 1, "Shortcut", hand="High Card"),
    v("Shortcut: 10 J Q K with a gap to 8", "8S 10H JD QC KS", 30 + 48, 4, "Shortcut", hand="Straight"),
    v("Shortcut: ace low with gaps", "AS 3H 4D 6C 7S", 30 + 31, 4, "Shortcut", hand="Straight"),
    v("Shortcut and Four Fingers: 2 4 6 8", "2S 4H 6D 8C", 30 + 20, 4, "Shortcut,Four Fingers", hand="Straight"),
    v("Smeared Joker: hearts and diamonds flush", "AH 9D 7H 4D 2H", 35 + 33, 4, "Smeared Joker", hand="Flush"),
    v("Smeared Joker: spades and hearts don't mix", "AH 9S 7H 4D 2H", 5 + 11, 1, "Smeared Joker", hand="High Card"),
    v("Smeared Joker: hearts count for Greedy Joker", "KH KS", 30, 2 + 3, "Smeared Joker,Greedy Joker"),
    v("Splash: kickers score", "KS KH AD 3C 2S", 10 + 20 + 16, 2, "Splash", hand="Pair"),
    v("Splash: a kicker's modifier counts", "KS KH 2D+mult", 10 + 22, 2 + 4, "Splash"),
    v("Splash: the kicker king ends Ride the Bus", "2S 2H KD", 10 + 14, 2, "Splash,Ride the Bus=7"),
    v("Pareidolia: twos are faces", "2S 2H", 10 + 4, 2 + 10, "Pareidolia,Smiley Face"),
    v("Pareidolia: stones too", "2S+stone", 5 + 50 + 30, 1, "Pareidolia,Scary Face"),
    v("a debuffed Four Fingers: no straight of four", "5S 6H 7D 8C", 5 + 8, 1, "Four Fingers@debuffed"),
    v("a debuffed Joker: nothing", "KS KH", 10 + 20, 2, "Joker@debuffed"),
]

ORDER = [
    v("x after +: (2+4) x 3", "KS KH", 30, (2 + 4) * 3, "Joker,Cavendish"),
    v("x before +: 2 x 3 + 4", "KS KH", 30, 2 * 3 + 4, "Cavendish,Joker"),
    v("foil joker: +50 chips", "KS KH", 30 + 50, 2 + 4, "Joker@foil"),
    v("holographic joker: +10 before its effect: (2+10) x 3", "KS KH", 30, 36, "Cavendish@holographic"),
    v("polychrome joker: x1.5 after its effect: (2+4) x 1.5", "KS KH", 30, 9, "Joker@polychrome"),
    v("polychrome and negative next to each other", "KS KH", 30, (2 + 4) * 1.5 + 4, "Joker@polychrome,Joker@negative"),
    v("Blueprint copies the right one", "KS KH", 30, 2 + 4 + 4, "Blueprint,Joker"),
    v("Blueprint at the right end: nothing", "KS KH", 30, 2 + 4, "Joker,Blueprint"),
    v("Brainstorm copies the leftmost", "KS KH", 30, 2 + 4 + 4, "Joker,Brainstorm"),
    v("Brainstorm leftmost copies nothing", "KS KH", 30, 2 + 4, "Brainstorm,Joker"),
    v("Blueprint copies Brainstorm's copy: 4 three times", "KS KH", 30, 2 + 12, "Joker,Blueprint,Brainstorm"),
    v("Blueprint and Brainstorm around each other: nothing", "KS KH", 30, 2, "Blueprint,Brainstorm"),
    v("two Blueprints in a row: 4 three times", "KS KH", 30, 2 + 12, "Blueprint,Blueprint,Joker"),
    v("Blueprint of a debuffed joker: nothing", "KS KH", 30, 2, "Blueprint,Joker@debuffed"),
    v("Brainstorm acts in its own place: (2 x 3 + 4) x 3", "KS KH", 30, (2 * 3 + 4) * 3, "Cavendish,Joker,Brainstorm"),
    v("Blueprint copies Hack: three times", "5S 5H", 10 + 30, 2, "Blueprint,Hack"),
    v("Blueprint copies Baron", "2S 2H", 14, 2 * 1.5**2, "Blueprint,Baron", "KD"),
    v("Blueprint copies Mime: held steel three times", "KS KH", 30, 2 * 1.5**3, "Blueprint,Mime", "3D+steel"),
    v("Blueprint doesn't copy Splash", "KS KH 2D", 30 + 2, 2, "Blueprint,Splash"),
    v("Blueprint of Green Joker: 7 + 7, grown once", "KS KH", 30, 2 + 14, "Blueprint,Green Joker=6"),
    v("Blueprint's own edition stays", "KS KH", 30 + 50, 2 + 8, "Blueprint@foil,Joker"),
    v("Blueprint of Swashbuckler: both by the original's view", "KS KH", 30, 2 + 5 + 5, "Blueprint,Swashbuckler"),
    v("Blueprint of Baseball Card: Acrobat x1.5 twice", "KS KH", 30, 2 * 1.5**2, "Blueprint,Baseball Card,Acrobat"),
    v("card jokers act in order for each card: (2+3) x 2 + 3", "KH KH", 30, (2 + 3) * 2 + 3, "Lusty Joker,Photograph"),
    v(
        "held steel before Supernova: 1 x 1.5 + 2",
        "7H+bonus",
        42,
        3.5,
        "Supernova",
        "3S+steel",
        played={"High Card": 1},
    ),
    v("a debuffed seven makes the pair: 10 + 7 + 50 + 50", "8S 7S 7H+debuffed 5S 2S", 117, 2, "Blueprint,Sly Joker"),
    v("copies in a row: 4 for each of five", "KS KH", 30, 2 + 20, "Joker,Blueprint,Brainstorm,Blueprint,Brainstorm"),
    v("chips don't depend on order", "KS KH", 30 + 50 + 250, 2, "Stuntman,Sly Joker"),
]

BOSSES = [
    v("The Flint halves base 10 x 2 to 5 x 1", "KS KH", 5 + 20, 1, boss="Flint"),
    v("The Flint rounds up: 35 to 18, 4 to 2", "AH 9H 7H 4H 2H", 18 + 33, 2, boss="Flint"),
    v("The Flint keeps mult at 1 or more", "AS", 3 + 11, 1, boss="Flint"),
    v("The Flint comes before jokers", "KS KH", 5 + 20, 1 + 4, "Joker", boss="Flint"),
    v("The Arm: level 3 becomes 2", "KS KH", 10 + 15 + 20, 3, boss="Arm", levels={"Pair": 3}),
    v("The Arm: level 1 stays", "KS KH", 10 + 20, 2, boss="Arm"),
    v("The Psychic: two cards score nothing", "KS KH", 0, 0, "Joker", boss="Psychic"),
    v("The Psychic: five cards do", "KS KH 2D 3C 4D", 10 + 20, 2, boss="Psychic"),
    v("The Eye: the first pair scores", "KS KH", 30, 2, boss="Eye"),
    v("The Eye: the second pair doesn't", "KS KH", 0, 0, boss="Eye", played_now={"Pair": 1}),
    v("The Mouth: a pair after a flush doesn't score", "KS KH", 0, 0, boss="Mouth", played_now={"Flush": 1}),
    v("The Mouth: a pair after a pair does", "KS KH", 30, 2, boss="Mouth", played_now={"Pair": 1}),
    v("The Tooth: $1 for each card", "KS KH", 30, 2, boss="Tooth", money_made=-2),
    v("The Tooth is paid before Bull: $4 - $2", "KS KH", 30 + 4, 2, "Bull", boss="Tooth", money_made=-2),
    v("The Ox: the hand that it means takes all money", "KS KH", 30, 2, boss="Ox", counters=OX_PAIR, money_made=-4),
    v("The Ox: another hand", "KS 2H", 15, 1, boss="Ox", counters=OX_PAIR),
    v("The Ox: Bull has nothing left", "KS KH", 30, 2, "Bull", boss="Ox", counters=OX_PAIR, money_made=-4),
    v("Matador: The Flint, $8", "KS KH", 25, 1, "Matador", boss="Flint", money_made=8),
    v("Matador: The Eye blocks, $8", "KS KH", 0, 0, "Matador", boss="Eye", played_now={"Pair": 1}, money_made=8),
    v("Matador: a debuffed card, $8", "KS+debuffed KH", 20, 2, "Matador", boss="Eye", money_made=8),
    v("Matador: nothing met", "KS KH", 30, 2, "Matador", boss="Eye"),
    v("a disabled boss: full score", "KS KH", 30, 2, boss="Flint", boss_disabled=True),
    v("Observatory: Mercury held, x1.5 on a pair", "KS KH", 30, 3, vouchers=OBSERVATORY, consumables=[1]),
    v("Observatory: two, one negative", "KS KH", 30, 4.5, vouchers=OBSERVATORY, consumables=[1, 257, 5]),
    v("a planet without Observatory", "KS KH", 30, 2, consumables=[1]),
    v(
        "Observatory comes after jokers: (2+4) x 1.5",
        "KS KH",
        30,
        9,
        "Joker",
        vouchers=OBSERVATORY,
        consumables=[1],
    ),
    v("Plasma deck: (30 + 2) / 2 for both", "KS KH", 16, 16, deck_kind=decks.PLASMA),
]

VECTORS = [*HANDS_ALONE, *LEVELS, *MODIFIERS, *RULES, *ORDER, *BOSSES]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector.why for vector in VECTORS])
def test_a_hand_scores_what_the_rules_say(vector: Vector) -> None:
    check_score(vector)


@pytest.mark.parametrize("vector", VECTORS, ids=[vector.why for vector in VECTORS])
def test_luck_never_scores_less_than_the_preview(vector: Vector) -> None:
    check_luck(vector)
