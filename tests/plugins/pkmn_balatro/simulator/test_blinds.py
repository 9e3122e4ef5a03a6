"""Blinds: the score to reach, the rewards, and the effect of each boss."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.balatro import beat, cards, hold, in_blind, joker

from pkmn_balatro.simulator.blinds import BOSSES, base_score, choose_boss
from pkmn_balatro.simulator.cards import DEBUFFED, FACE_DOWN, FORCED, PLAYED, STONE, WILD, make_card
from pkmn_balatro.simulator.game import Game
from pkmn_balatro.simulator.run import IllegalActionError, Phase

NUMBER = {kind.name: number for number, kind in enumerate(BOSSES)}


def against(name: str, **options: object) -> Game:
    """Return a game in which this boss has just begun, in ante 1: its score is 600 unless the boss changes it."""
    return in_blind(blind=2, boss=NUMBER[name], **options)  # type: ignore[arg-type]


def debuffed(game: Game) -> set[int]:
    run = game.run
    return {card & 0x3FF for card in run.draw + run.hand if card & DEBUFFED}


def face_down(game: Game) -> int:
    return sum(card & FACE_DOWN != 0 for card in game.run.hand)


def test_there_are_23_bosses_and_5_for_showdowns() -> None:
    assert len(BOSSES) == 28
    assert sum(kind.showdown for kind in BOSSES) == 5
    assert len({kind.name for kind in BOSSES}) == 28


@pytest.mark.parametrize(
    ("ante", "growth", "score"),
    [
        (0, 0, 100),
        (1, 0, 300),
        (2, 0, 800),
        (8, 0, 50_000),
        (2, 1, 900),
        (8, 1, 100_000),
        (2, 2, 1000),
        (8, 2, 200_000),
        (9, 0, 110_000),
        (10, 0, 560_000),
        (11, 0, 7_200_000),
        (12, 0, 300_000_000),
    ],
)
def test_base_scores_follow_the_table_and_then_the_formula(ante: int, growth: int, score: int) -> None:
    assert base_score(ante, growth) == score


def test_base_scores_stay_numbers_however_far_a_run_gets() -> None:
    assert base_score(200, 2) >= base_score(37, 2) > 10**100


@pytest.mark.parametrize(("blind", "score", "reward"), [(0, 2000, 3), (1, 3000, 4), (2, 4000, 5)])
def test_blinds_have_their_factor_and_reward(blind: int, score: int, reward: int) -> None:
    game = in_blind(blind, NUMBER["The Arm"], ante=3)
    assert game.run.target == score
    game.run.money = 0
    game.run.hands_left = 1
    beat(game)
    assert game.run.money == reward


def test_a_showdown_boss_pays_8_dollars() -> None:
    game = against("Violet Vessel", ante=8, win_ante=9)
    game.run.money, game.run.hands_left = 0, 1
    beat(game)
    assert game.run.money == 8


@pytest.mark.parametrize(("name", "suit"), [("The Club", 2), ("The Goad", 0), ("The Head", 1), ("The Window", 3)])
def test_suit_bosses_debuff_their_suit(name: str, suit: int) -> None:
    assert debuffed(against(name)) == {make_card(rank, suit) for rank in range(13)}


def test_a_suit_boss_debuffs_wild_cards_and_no_stones() -> None:
    game = Game(1)
    game.run.blind, game.run.boss = 2, NUMBER["The Head"]
    wild, stone = make_card(3, 0, WILD), make_card(3, 1, STONE)
    game.run.draw = [wild, stone, *cards("2S 3S 4S 5S 6S 7S")]
    game.select_blind()
    assert debuffed(game) == {wild}


def test_smeared_joker_and_pareidolia_widen_what_bosses_debuff() -> None:
    assert {card >> 4 & 3 for card in debuffed(against("The Club", jokers=["Smeared Joker"]))} == {0, 2}
    assert len(debuffed(against("The Plant", jokers=["Pareidolia"]))) == 52
    assert face_down(against("The Mark", jokers=["Pareidolia"])) == 8


@pytest.mark.parametrize(
    ("boss", "name", "before", "after"), [("The Club", "Smeared Joker", 26, 13), ("The Plant", "Pareidolia", 52, 12)]
)
def test_a_sold_joker_no_longer_widens_what_a_boss_debuffs(boss: str, name: str, before: int, after: int) -> None:
    game = against(boss, jokers=[name])
    assert len(debuffed(game)) == before
    game.sell_joker(0)
    assert len(debuffed(game)) == after


def test_cards_that_the_hook_discards_count_for_all_jokers_but_burnt_joker() -> None:
    game = against("The Hook", jokers=["Burnt Joker", "Ramen"])
    levels = game.run.levels[:]
    game.play([0])
    assert game.run.jokers[1].value == 2
    assert game.run.levels == levels
    game.discard([0])
    assert sum(game.run.levels) == sum(levels) + 1


def hook() -> None:
    game = against("The Hook")
    game.play([0])
    run = game.run
    assert len(run.discarded) == 3  # the played card and two others
    assert len(run.hand) == 8
    assert run.discards_left == 4


def manacle() -> None:
    game = against("The Manacle")
    assert len(game.run.hand) == 7
    beat(game)
    assert game.run.hand_size == 8


def pillar() -> None:
    game = in_blind(1)
    played = game.run.hand[0]
    beat(game)
    game.run.boss = NUMBER["The Pillar"]
    game.leave_shop()
    game.select_blind()
    assert debuffed(game) == {played & 0x3FF}
    beat(game)
    assert not any(card & PLAYED for card in game.run.draw)  # the next ante forgets


def psychic() -> None:
    game = against("The Psychic")
    assert game.play([0, 1, 2, 3]).total == 0
    assert game.play([0, 1, 2, 3, 4]).total > 0


def arm() -> None:
    game = against("The Arm")
    game.run.levels[1] = 3
    hold(game, "KS KH 2D 3D")
    assert game.play([0, 1]).total == (10 + 15 + 20) * (2 + 1)  # level 2
    assert game.run.levels[1] == 2


def fish() -> None:
    game = against("The Fish")
    assert face_down(game) == 0
    game.discard([0])
    assert face_down(game) == 0
    game.play([0, 1])
    assert face_down(game) == 2


def flint() -> None:
    game = against("The Flint")
    hold(game, "KS KH 2D 3D")
    assert game.play([0, 1]).total == (5 + 20) * 1


def house() -> None:
    game = against("The House")
    assert face_down(game) == 8
    game.discard([0, 1])
    assert face_down(game) == 6


def mark() -> None:
    game = against("The Mark")
    faces = [card for card in game.run.hand if 9 <= card & 15 <= 11]
    assert face_down(game) == len(faces)
    assert all(card & FACE_DOWN for card in faces)


def mouth() -> None:
    game = against("The Mouth")
    hold(game, "KS KH 9D 8D 7D 5C 4C 2C")
    assert game.play([0, 1]).total > 0
    hold(game, "QS JH 9D 8D 7D 5C 4C 2C")
    assert game.play([0]).total == 0
    hold(game, "QS QH 9D 8D 7D 5C 4C 2C")
    assert game.play([0, 1]).total > 0


def needle() -> None:
    game = against("The Needle")
    assert (game.run.hands_left, game.run.target) == (1, 300)


def wall() -> None:
    assert against("The Wall").run.target == 1200


def water() -> None:
    game = against("The Water")
    assert game.run.discards_left == 0
    with pytest.raises(IllegalActionError):
        game.discard([0])


def wheel() -> None:
    hidden = sum(face_down(against("The Wheel", seed=seed)) for seed in range(200))
    assert 150 < hidden < 320  # 1600 / 7 is 229


def eye() -> None:
    game = against("The Eye")
    for expected in (True, False):
        hold(game, "KS KH 9D 8D 7D 5C 4C 2C")
        assert (game.play([0, 1]).total > 0) is expected


def tooth() -> None:
    game = against("The Tooth")
    game.run.money = 10
    game.play([0, 1, 2])
    assert game.run.money == 7


def plant() -> None:
    assert {card & 15 for card in debuffed(against("The Plant"))} == {9, 10, 11}


def serpent() -> None:
    game = against("The Serpent")
    game.discard([0, 1, 2, 3, 4])
    assert len(game.run.hand) == 6
    game.play([0])
    assert len(game.run.hand) == 8
    game.play([0])
    assert len(game.run.hand) == 10


def ox() -> None:
    game = Game(1)
    game.run.blind, game.run.boss = 2, NUMBER["The Ox"]
    game.run.played[1] = 5
    game.select_blind()
    game.run.played[0] = 9  # the hand is meant that was played most when the blind began
    game.run.money = 30
    hold(game, "KS 9H 9D 4D")
    game.play([0])
    assert game.run.money == 30
    hold(game, "9H 9D 4D")
    game.play([0, 1])
    assert game.run.money == 0


def acorn() -> None:
    names = ["Joker", "Baron", "Banner", "Blue Joker", "Runner"]
    orders = {
        tuple(one.kind for one in against("Amber Acorn", jokers=names, seed=seed).run.jokers) for seed in range(9)
    }
    assert len(orders) > 3
    assert len({tuple(sorted(order)) for order in orders}) == 1


def leaf() -> None:
    game = against("Verdant Leaf", jokers=["Joker"])
    assert len(debuffed(game)) == 52
    game.sell_joker(0)
    assert not debuffed(game)


def vessel() -> None:
    assert against("Violet Vessel").run.target == 1800


def heart() -> None:
    game = against("Crimson Heart", jokers=["Joker", "Drunkard", "Golden Joker"])
    for _ in range(3):
        before = [one.debuffed for one in game.run.jokers]
        assert sum(before) == 1
        game.play([0])
        assert [one.debuffed for one in game.run.jokers] != before
    game.run.hands_left = 3
    beat(game)
    assert not any(one.debuffed for one in game.run.jokers)


def bell() -> None:
    game = against("Cerulean Bell")
    forced = game.forced_position()
    assert game.run.hand[forced] & FORCED
    free = [place for place in range(8) if place != forced]
    for act in (game.play, game.discard):
        with pytest.raises(IllegalActionError):
            act(free[:3])
    game.play([forced, free[0]])
    assert game.forced_position() >= 0


EFFECTS: dict[str, Callable[[], None]] = {
    "The Hook": hook,
    "The Manacle": manacle,
    "The Pillar": pillar,
    "The Psychic": psychic,
    "The Arm": arm,
    "The Fish": fish,
    "The Flint": flint,
    "The House": house,
    "The Mark": mark,
    "The Mouth": mouth,
    "The Needle": needle,
    "The Wall": wall,
    "The Water": water,
    "The Wheel": wheel,
    "The Eye": eye,
    "The Tooth": tooth,
    "The Plant": plant,
    "The Serpent": serpent,
    "The Ox": ox,
    "Amber Acorn": acorn,
    "Verdant Leaf": leaf,
    "Violet Vessel": vessel,
    "Crimson Heart": heart,
    "Cerulean Bell": bell,
}


@pytest.mark.parametrize("name", EFFECTS)
def test_a_boss_has_its_effect(name: str) -> None:
    EFFECTS[name]()


def test_every_boss_has_a_test() -> None:
    assert {*EFFECTS, "The Club", "The Goad", "The Head", "The Window"} == set(NUMBER)


@pytest.mark.parametrize(
    ("name", "restored"),
    [
        ("The Head", lambda run: not any(card & DEBUFFED for card in run.draw + run.hand)),
        ("The House", lambda run: not any(card & FACE_DOWN for card in run.hand)),
        ("The Water", lambda run: run.discards_left == 4),
        ("The Needle", lambda run: run.hands_left == 4),
        ("The Manacle", lambda run: run.hand_size == 8),
        ("The Wall", lambda run: run.target == 600),
        ("Violet Vessel", lambda run: run.target == 600),
        ("Cerulean Bell", lambda run: not any(card & FORCED for card in run.hand)),
    ],
)
def test_selling_luchador_takes_the_effect_of_the_boss(name: str, restored: Callable[[object], bool]) -> None:
    game = against(name, jokers=["Luchador"])
    assert not restored(game.run)
    game.sell_joker(0)
    assert restored(game.run)


def test_chicot_takes_the_effect_of_every_boss() -> None:
    game = against("The Needle", jokers=["Chicot"])
    assert game.run.hands_left == 4


def test_a_boss_has_no_effect_in_the_small_and_the_big_blind() -> None:
    for blind in (0, 1):
        game = in_blind(blind, NUMBER["The Needle"])
        assert game.run.hands_left == 4


def test_bosses_met_least_are_chosen_and_none_above_its_ante() -> None:
    game = Game(5)
    run = game.run
    run.bosses_met = [0] * 28
    drawn = [choose_boss(run) for _ in range(8)]
    assert sorted(drawn) == list(range(8))  # the eight bosses of ante 1, each once
    run.ante = 8
    assert sorted(choose_boss(run) for _ in range(5)) == list(range(23, 28))


def test_mr_bones_saves_a_run_that_reached_a_quarter() -> None:
    for score, phase in ((150, Phase.SHOP), (120, Phase.OVER)):
        game = against("The Arm", jokers=["Mr. Bones"])
        game.run.score, game.run.hands_left, game.run.money = score, 1, 0
        hold(game, "2S 4H")
        game.play([0])
        assert game.run.phase == phase
        assert game.run.money == 0  # no reward for a blind that wasn't beaten


def test_perished_jokers_keep_no_effect() -> None:
    game = in_blind(jokers=["Joker"])
    game.run.jokers[0].perishable = 1
    beat(game)
    assert game.run.jokers[0].debuffed
    game.leave_shop()
    game.select_blind()
    beat(game)
    assert game.run.jokers[0].debuffed


def test_rental_jokers_cost_3_dollars_a_round() -> None:
    game = in_blind()
    game.run.jokers = [joker("Joker", rental=True)]
    game.run.money, game.run.hands_left = 10, 1
    beat(game)
    assert game.run.money == 10 - 3 + 3 + 1  # rent, reward, interest of $7
