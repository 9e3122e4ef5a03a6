"""The picture of the table: of one size in every phase, it shows what changes and hides what is face down."""

from __future__ import annotations

from collections.abc import Callable

import gymnasium
import numpy as np
import pytest
from support.balatro import cards, hold, in_blind, in_shop
from support.variants import long_after

import pkmn_balatro.registration  # noqa: F401 - registers the environment
from pkmn_balatro.environment import BalatroEnvironment
from pkmn_balatro.picture import HEIGHT, WIDTH, draw_table
from pkmn_balatro.settings import BalatroSettings
from pkmn_balatro.simulator.blinds import ACORN, HOUSE
from pkmn_balatro.simulator.cards import DEBUFFED, FACE_DOWN, make_card
from pkmn_balatro.simulator.consumables import CONSUMABLES, MAGICIAN
from pkmn_balatro.simulator.game import Game
from pkmn_balatro.simulator.jokers import JOKERS
from pkmn_balatro.simulator.opened_packs import open_pack
from pkmn_balatro.simulator.packs import PACKS
from pkmn_balatro.simulator.run import Category, Joker, Offer

SIZE = (HEIGHT, WIDTH, 3)


def opened(pack: int) -> Game:
    game = in_shop()
    open_pack(game.run, pack, from_shop=True)
    return game


def lost() -> Game:
    game = in_blind()
    game.run.hands_left = 1
    game.play([0])
    return game


@pytest.mark.parametrize(
    "make",
    long_after(
        1,
        [
            lambda: Game(1),
            in_blind,
            lambda: in_blind(2, HOUSE, ante=2),
            in_shop,
            lost,
            lambda: opened(2),
            lambda: opened(8),
        ],
    ),
    ids=["blind", "play", "boss", "shop", "over", "arcana", "standard"],
)
def test_each_phase_has_a_picture_of_the_same_size(make: Callable[[], Game]) -> None:
    picture = draw_table(make())
    assert picture.shape == SIZE and picture.dtype == np.uint8
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20
    assert np.array_equal(picture, draw_table(make()))


def test_cards_and_jokers_that_are_turned_over_look_alike() -> None:
    pictures = []
    for words in ("KS QH 2D", "3C 3D 4D"):
        game = in_blind(2, HOUSE, ante=2)
        hold(game, words)
        game.run.hand = [card | FACE_DOWN for card in game.run.hand]
        pictures.append(draw_table(game))
    assert np.array_equal(*pictures)
    hidden = [draw_table(in_blind(2, ACORN, ante=8, jokers=[name])) for name in ("Banner", "Blackboard")]
    assert np.array_equal(*hidden)
    assert not np.array_equal(*[draw_table(in_blind(jokers=[name])) for name in ("Banner", "Blackboard")])


def test_what_a_card_is_can_be_seen() -> None:
    plain = cards("KS")[0]
    kinds = [plain, plain | DEBUFFED, *(make_card(11, 0, enhancement) for enhancement in range(1, 9))]
    kinds += [make_card(11, 0, 0, 1), make_card(11, 0, 0, 0, 2), make_card(11, 1), make_card(10, 0)]
    seen = set()
    for card in kinds:
        game = in_blind()
        game.run.hand = [card]
        seen.add(draw_table(game).tobytes())
    assert len(seen) == len(kinds)


def test_all_jokers_items_and_packs_can_be_drawn() -> None:
    game = in_shop()
    for kind in range(len(JOKERS)):
        game.run.jokers = [Joker(kind, kind % 5, kind)] * (1 + kind % 9)
        game.run.consumables = [kind % len(CONSUMABLES)] * (kind % 5)
        game.run.shop = [Offer(Category.JOKER, kind, 5), Offer(Category.CARD, make_card(kind % 13, 0), 1)]
        game.run.shop_packs = [Offer(Category.PACK, kind % len(PACKS), 4)]
        assert draw_table(game).shape == SIZE


def test_a_large_hand_and_large_numbers_have_room() -> None:
    game = in_blind()
    game.run.hand = game.run.hand * 4
    game.run.score, game.run.target, game.run.money = 10**30, 10**14, 12345
    assert draw_table(game).shape == SIZE


def test_viewers_see_what_targets_are_chosen_for() -> None:
    environment = BalatroEnvironment(BalatroSettings())
    environment.reset(seed=1)
    environment.game.select_blind()
    environment.game.run.consumables = [MAGICIAN]
    environment.load_state(environment.save_state())
    before = environment.view()
    environment.advance(environment.actions.names.index("use_1"))
    assert environment.pending is not None
    assert not np.array_equal(before, environment.view())
    assert environment.render() is None


def test_gymnasium_renders_pictures_and_text() -> None:
    picture = gymnasium.make("pkmn/Balatro-v0", render_mode="rgb_array")
    picture.reset(seed=1)
    assert np.asarray(picture.render()).shape == SIZE
    text = gymnasium.make("pkmn/Balatro-v0", render_mode="ansi")
    text.reset(seed=1)
    assert "Small blind" in str(text.render())
