"""Consumables: what each planet, tarot and spectral card does, and when it may be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from support.balatro import cards, hold, in_blind, in_shop, joker

from pkmn_balatro.simulator.cards import (
    BONUS,
    CLUBS,
    DEBUFFED,
    DIAMONDS,
    GLASS,
    GOLD,
    HEARTS,
    LUCKY,
    MULT,
    NEGATIVE,
    POLYCHROME,
    SPADES,
    STEEL,
    STONE,
    WILD,
    card_name,
    edition_of,
    enhancement_of,
    rank_of,
    seal_of,
    suit_of,
    with_edition,
)
from pkmn_balatro.simulator.consumables import CONSUMABLES, PLANETS, SPECTRALS, TAROTS, consumable_name
from pkmn_balatro.simulator.game import Game
from pkmn_balatro.simulator.jokers import JOKERS
from pkmn_balatro.simulator.run import HANDS, IllegalActionError, Run

NUMBER = {kind.name: number for number, kind in enumerate(CONSUMABLES)}
HAND = "KS QH 10D 8C 6S 5H 4D 2C"


def use(name: str, *targets: int, **options: object) -> Run:
    """Return the run after the use of a consumable in a blind, with a hand that is known."""
    game = ready(name, **options)
    game.use(0, targets)
    assert NUMBER[name] not in game.run.consumables or name in ("The Fool", "The Emperor")
    return game.run


def ready(name: str, **options: object) -> Game:
    game = in_blind(**options)  # type: ignore[arg-type]
    hold(game, HAND)
    game.run.consumables = [NUMBER[name]]
    return game


def enhances(name: str, enhancement: int, most: int) -> None:
    run = use(name, *range(most))
    found = [enhancement_of(card) for card in run.hand]
    assert found == [enhancement] * most + [0] * (8 - most)
    with pytest.raises(IllegalActionError):
        use(name)
    with pytest.raises(IllegalActionError):
        use(name, *range(most + 1))


def recolours(name: str, suit: int) -> None:
    run = use(name, 0, 1, 2)
    assert [suit_of(card) for card in run.hand[:3]] == [suit] * 3
    assert [card_name(card)[:-1] for card in run.hand[:3]] == ["K", "Q", "10"]
    use(name, 4)


def seals(name: str, seal: int) -> None:
    run = use(name, 3)
    assert [seal_of(card) for card in run.hand] == [0, 0, 0, seal, 0, 0, 0, 0]


def fool() -> None:
    game = ready("The Fool")
    assert game.can_use(0) is None  # nothing was used before
    game.run.consumables = [NUMBER["Mars"], NUMBER["The Fool"]]
    game.use(0)
    game.use(0)
    assert game.run.consumables == [NUMBER["Mars"]]
    game.run.consumables.append(NUMBER["The Fool"])
    assert game.can_use(1) is None  # the Fool was used last


def high_priestess() -> None:
    made = use("The High Priestess").consumables
    assert len(made) == len(set(made)) == 2
    assert all(kind in PLANETS for kind in made)


def emperor() -> None:
    made = use("The Emperor").consumables
    assert len(made) == len(set(made)) == 2
    assert all(kind in TAROTS for kind in made)


def hermit() -> None:
    for money, after in ((7, 14), (50, 70), (-3, -3)):
        game = ready("The Hermit")
        game.run.money = money
        game.use(0)
        assert game.run.money == after


def wheel_of_fortune() -> None:
    editions = Counter(
        use("The Wheel of Fortune", seed=seed, jokers=["Joker"]).jokers[0].edition for seed in range(400)
    )
    assert 60 < 400 - editions[0] < 145
    assert editions[NEGATIVE] == 0
    assert editions[1] > editions[POLYCHROME] > 0
    game = ready("The Wheel of Fortune", jokers=["Joker"])
    game.run.jokers[0].edition = POLYCHROME
    assert game.can_use(0) is None


def strength() -> None:
    run = use("Strength", 0, 7)
    assert [card_name(run.hand[place]) for place in (0, 7)] == ["A♠", "3♣"]
    game = ready("Strength")
    hold(game, "AS 3D")
    game.use(0, [0])
    assert card_name(game.run.hand[0]) == "2♠"


def hanged_man() -> None:
    run = use("The Hanged Man", 0, 7)
    assert run.hand == cards("QH 10D 8C 6S 5H 4D")
    assert len(run.draw) + len(run.hand) + len(run.discarded) == 44 + 6


def death() -> None:
    run = use("Death", 2, 0)
    assert run.hand == cards("KS QH KS 8C 6S 5H 4D 2C")
    with pytest.raises(IllegalActionError):
        use("Death", 2)


def temperance() -> None:
    run = use("Temperance", jokers=["Baron", "Joker"])
    assert run.money == 4 + 4 + 1
    run = use("Temperance", jokers=["Baron"] * 5)
    assert run.money == 4 + 20
    game = ready("Temperance", jokers=["Baron"])
    game.run.jokers[0].more_sell = 90
    game.use(0)
    assert game.run.money == 4 + 50


def judgement() -> None:
    assert len(use("Judgement").jokers) == 1
    assert ready("Judgement", jokers=["Joker"] * 5).can_use(0) is None


def adds(name: str, ranks: set[int], count: int) -> None:
    run = use(name)
    assert len(run.hand) == 7 + count
    new = run.hand[7:]
    assert all(rank_of(card) in ranks for card in new)
    assert all(enhancement_of(card) not in (0, STONE) for card in new)
    assert set(run.hand[:7]) < set(cards(HAND))


def aura() -> None:
    assert edition_of(use("Aura", 1).hand[1]) in (1, 2, 3)
    game = ready("Aura")
    game.run.hand[1] = with_edition(game.run.hand[1], 1)
    assert not game.can_target(NUMBER["Aura"], 1)
    with pytest.raises(IllegalActionError):
        game.use(0, [1])


def wraith() -> None:
    run = use("Wraith")
    assert [JOKERS[one.kind].rarity for one in run.jokers] == [2]
    assert run.money == 0


def sigil() -> None:
    hand = use("Sigil").hand
    assert len({suit_of(card) for card in hand}) == 1
    assert [rank_of(card) for card in hand] == [rank_of(card) for card in cards(HAND)]


def ouija() -> None:
    run = use("Ouija")
    assert len({rank_of(card) for card in run.hand}) == 1
    assert [suit_of(card) for card in run.hand] == [suit_of(card) for card in cards(HAND)]
    assert (run.hand_size, run.base_hand_size) == (7, 7)


def ectoplasm() -> None:
    game = ready("Ectoplasm", jokers=["Joker", "Baron"])
    game.use(0)
    run = game.run
    assert sorted(one.edition for one in run.jokers) == [0, NEGATIVE]
    assert run.hand_size == 7
    run.consumables = [NUMBER["Ectoplasm"]]
    game.use(0)
    assert run.hand_size == 5  # 2 fewer the second time


def immolate() -> None:
    run = use("Immolate")
    assert (len(run.hand), run.money) == (3, 24)


def ankh() -> None:
    run = use("Ankh", jokers=["Joker", "Baron", "Banner"])
    assert len(run.jokers) == 2
    assert run.jokers[0].kind == run.jokers[1].kind
    assert run.jokers[0] is not run.jokers[1]
    game = ready("Ankh", jokers=["Joker", "Baron"])
    for one in game.run.jokers:
        one.eternal = True
    game.use(0)
    assert len(game.run.jokers) == 3  # eternal jokers stay


def hex_() -> None:
    run = use("Hex", jokers=["Joker", "Baron", "Banner"])
    assert [one.edition for one in run.jokers] == [POLYCHROME]


def cryptid() -> None:
    run = use("Cryptid", 1)
    assert Counter(run.hand)[cards("QH")[0]] == 3
    assert len(run.hand) == 10


def soul() -> None:
    assert [JOKERS[one.kind].rarity for one in use("The Soul").jokers] == [3]


def black_hole() -> None:
    assert use("Black Hole").levels == [2] * 12


def planet(number: int) -> None:
    run = use(CONSUMABLES[number].name)
    assert run.levels == [1 + (hand == number) for hand in range(12)]
    assert run.planets_used == [number]


EFFECTS: dict[str, Callable[[], None]] = {
    "The Fool": fool,
    "The Magician": lambda: enhances("The Magician", LUCKY, 2),
    "The High Priestess": high_priestess,
    "The Empress": lambda: enhances("The Empress", MULT, 2),
    "The Emperor": emperor,
    "The Hierophant": lambda: enhances("The Hierophant", BONUS, 2),
    "The Lovers": lambda: enhances("The Lovers", WILD, 1),
    "The Chariot": lambda: enhances("The Chariot", STEEL, 1),
    "Justice": lambda: enhances("Justice", GLASS, 1),
    "The Hermit": hermit,
    "The Wheel of Fortune": wheel_of_fortune,
    "Strength": strength,
    "The Hanged Man": hanged_man,
    "Death": death,
    "Temperance": temperance,
    "The Devil": lambda: enhances("The Devil", GOLD, 1),
    "The Tower": lambda: enhances("The Tower", STONE, 1),
    "The Star": lambda: recolours("The Star", DIAMONDS),
    "The Moon": lambda: recolours("The Moon", CLUBS),
    "The Sun": lambda: recolours("The Sun", HEARTS),
    "Judgement": judgement,
    "The World": lambda: recolours("The World", SPADES),
    "Familiar": lambda: adds("Familiar", {9, 10, 11}, 3),
    "Grim": lambda: adds("Grim", {12}, 2),
    "Incantation": lambda: adds("Incantation", set(range(9)), 4),
    "Talisman": lambda: seals("Talisman", 1),
    "Aura": aura,
    "Wraith": wraith,
    "Sigil": sigil,
    "Ouija": ouija,
    "Ectoplasm": ectoplasm,
    "Immolate": immolate,
    "Ankh": ankh,
    "Deja Vu": lambda: seals("Deja Vu", 2),
    "Hex": hex_,
    "Trance": lambda: seals("Trance", 3),
    "Medium": lambda: seals("Medium", 4),
    "Cryptid": cryptid,
    "The Soul": soul,
    "Black Hole": black_hole,
}


def test_there_are_12_planets_22_tarots_and_18_spectral_cards() -> None:
    assert (len(PLANETS), len(TAROTS), len(SPECTRALS)) == (12, 22, 18)
    assert len(CONSUMABLES) == len(NUMBER) == 52
    assert (CONSUMABLES[0].name, HANDS[0], CONSUMABLES[11].name, HANDS[11]) == (
        "Pluto",
        "High Card",
        "Eris",
        "Flush Five",
    )


@pytest.mark.parametrize("number", PLANETS)
def test_a_planet_raises_the_level_of_its_hand(number: int) -> None:
    planet(number)


@pytest.mark.parametrize("name", [CONSUMABLES[number].name for number in (*TAROTS, *SPECTRALS)])
def test_a_consumable_has_its_effect(name: str) -> None:
    EFFECTS[name]()


@pytest.mark.parametrize("name", ["Familiar", "Sigil", "The Lovers", "Immolate"])
def test_what_needs_cards_cannot_be_used_in_the_shop(name: str) -> None:
    game = in_shop()
    game.run.consumables = [NUMBER[name]]
    assert game.can_use(0) is None
    with pytest.raises(IllegalActionError):
        game.use(0, [0] if name == "The Lovers" else [])


@pytest.mark.parametrize("name", ["Wraith", "Judgement", "The Soul"])
def test_what_makes_a_joker_needs_a_place_for_it(name: str) -> None:
    assert ready(name, jokers=["Joker"] * 5).can_use(0) is None


@pytest.mark.parametrize("name", ["Hex", "Ectoplasm", "Ankh"])
def test_what_changes_a_joker_needs_one(name: str) -> None:
    assert ready(name).can_use(0) is None


def test_a_changed_suit_is_debuffed_or_freed_at_once() -> None:
    game = ready("The Sun", blind=2, boss=2)  # The Head debuffs hearts
    game.use(0, [0])
    assert game.run.hand[0] & DEBUFFED
    game.run.consumables = [NUMBER["The World"]]
    game.use(0, [0])
    assert not game.run.hand[0] & DEBUFFED


def test_a_negative_consumable_takes_no_place() -> None:
    game = in_shop()
    game.run.consumables = [NUMBER["Mars"] + 256, 1, 2]
    assert consumable_name(game.run.consumables[0]) == "Mars (negative)"
    game.use(0)
    assert game.run.levels[7] == 2
    assert game.run.consumables == [1, 2]


def test_consumables_are_sold_for_half_their_price() -> None:
    game = in_shop(0)
    game.run.consumables = [NUMBER["Mars"], NUMBER["Hex"]]
    game.sell_consumable(1)
    game.sell_consumable(0)
    assert game.run.money == 2 + 1


def test_tarots_used_are_counted_and_planets_only_once() -> None:
    game = in_shop()
    for name in ("The Hermit", "Mars", "Mars", "Black Hole"):
        game.run.consumables = [NUMBER[name]]
        game.use(0)
    assert (game.run.tarots_used, game.run.planets_used) == (1, [7])


def test_blue_seals_make_the_planet_of_the_last_hand_and_purple_ones_a_tarot() -> None:
    game = in_blind()
    hold(game, "KS KH 9D 8D 7D 5C 4C 2C")
    game.run.hand[7] |= 3 << 13
    game.run.hand[6] |= 4 << 13
    game.discard([6])
    game.run.score = game.run.target
    game.play([0, 1])
    made = game.run.consumables
    assert [made[0] in TAROTS, made[1]] == [True, 1]


def test_gold_cards_held_at_the_end_pay_3_dollars_each_time_they_act() -> None:
    for names, seal, paid in (((), 0, 3), (("Mime",), 0, 6), (("Mime",), 2, 9)):
        game = in_blind(jokers=names)
        hold(game, "KS KH 9D")
        game.run.hand[2] |= GOLD << 6 | seal << 13
        game.run.score, game.run.money, game.run.hands_left = game.run.target, 0, 1
        game.play([0, 1])
        assert game.run.money == paid + 3 + paid // 5


def test_an_invisible_joker_is_sold_for_a_copy_of_another() -> None:
    for rounds, count in ((1, 1), (2, 2)):
        game = in_shop()
        game.run.jokers = [joker("Invisible Joker", value=rounds), joker("Baron")]
        game.sell_joker(0)
        assert len(game.run.jokers) == count
