"""The game as a whole: its course, seeds, illegal actions, saving and random play."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest
from support.balatro import (
    act,
    allowed_actions,
    beat,
    every_action,
    hold,
    in_blind,
    in_shop,
    is_refused,
    play_at_random,
)
from support.variants import long_after

from pkmn_balatro.simulator.blinds import BOSSES
from pkmn_balatro.simulator.cards import FACE_DOWN
from pkmn_balatro.simulator.decks import DECKS
from pkmn_balatro.simulator.game import Game
from pkmn_balatro.simulator.run import Category, IllegalActionError, Phase
from pkmn_balatro.simulator.stakes import STAKES

MANY_GAMES = 100_000


def strong_game(seed: int, level: int, **options: str) -> Game:
    """Return a game whose hands have this level, so that random play sees more of it than the first blind."""
    game = Game(seed, **options)
    game.run.levels = [level] * 12
    return game


def test_the_simulator_loads_nothing_but_itself() -> None:
    code = (
        "import sys; before = set(sys.modules); import pkmn_balatro.simulator.game; print(*(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    others = {name for name in loaded if name.startswith("pkmn") and not name.startswith("pkmn_balatro.simulator")}
    assert others <= {"pkmn_balatro", "pkmncli", "pkmncli.lazy_names"}  # of the package's own `__init__`
    assert not {"numpy", "gymnasium", "torch"} & set(loaded)


def test_a_run_begins_before_the_small_blind_of_ante_1() -> None:
    run = Game().run
    assert (run.phase, run.ante, run.blind, run.money) == (Phase.BLIND, 1, 0, 4)
    assert (run.hands_per_round, run.discards_per_round, run.hand_size) == (4, 4, 8)  # the red deck has one more
    assert len(run.draw) == 52


def test_a_blind_deals_a_sorted_hand_and_sets_its_score() -> None:
    game = Game(3)
    game.select_blind()
    run = game.run
    assert (run.phase, run.target, run.hands_left, run.discards_left) == (Phase.PLAY, 300, 4, 4)
    ranks = [card & 15 for card in run.hand]
    assert ranks == sorted(ranks, reverse=True)
    assert (len(run.hand), len(run.draw)) == (8, 44)


def test_playing_scores_and_draws_up_to_the_hand_size() -> None:
    game = in_blind()
    hold(game, "KS KH 9S 8S 7S 4D 3D 2D")
    scored = game.play([0, 1])
    assert scored.total == (10 + 10 + 10) * 2
    assert (game.run.score, game.run.hands_left, len(game.run.hand), len(game.run.discarded)) == (60, 3, 8, 2)


def test_discarding_costs_a_discard_and_draws() -> None:
    game = in_blind()
    before = game.run.hand[5:]
    game.discard([0, 1, 2, 3, 4])
    run = game.run
    assert (run.discards_left, run.discards_used, run.hands_left, len(run.hand)) == (3, 1, 4, 8)
    assert len(run.discarded) == 5
    assert set(before) <= set(run.hand)


def test_a_beaten_blind_pays_reward_hands_and_interest_and_opens_the_shop() -> None:
    game = in_blind()
    game.run.money = 27
    beat(game)
    run = game.run
    assert run.money == 27 + 3 + 3 + 5  # reward, three hands left, $1 for each $5 up to $5
    assert (run.phase, run.blind, len(run.draw)) == (Phase.SHOP, 1, 52)
    assert (len(run.shop), len(run.shop_vouchers), len(run.shop_packs)) == (2, 1, 2)


def test_the_suit_of_ancient_joker_is_another_after_each_round() -> None:
    for seed in range(20):
        game = in_blind(seed=seed)
        before = game.run.counters["ancient suit"]
        beat(game)
        assert game.run.counters["ancient suit"] != before


def test_a_run_is_lost_when_the_last_hand_does_not_reach_the_score() -> None:
    game = in_blind()
    for _ in range(4):
        hold(game, "2S 3H 7D")
        game.play([0])
    assert game.over
    assert not game.run.won


def test_beating_the_boss_of_the_last_ante_wins() -> None:
    game = in_blind(blind=2, boss=15, ante=3, win_ante=3)
    beat(game)
    assert game.over
    assert game.run.won


def test_an_endless_run_continues_after_it_is_won() -> None:
    game = in_blind(blind=2, boss=15, ante=3, win_ante=3, endless=True)
    beat(game)
    assert game.run.won
    assert (game.run.phase, game.run.ante) == (Phase.SHOP, 4)


def test_a_whole_run_visits_three_blinds_in_each_of_eight_antes() -> None:
    game = Game(11)
    visited = []
    while not game.over:
        game.select_blind()
        visited.append((game.run.ante, game.run.blind))
        beat(game)
        if not game.over:
            game.leave_shop()
    assert visited == [(ante, blind) for ante in range(1, 9) for blind in range(3)]
    assert game.run.won
    assert game.run.rounds == 24


def test_the_last_ante_has_a_showdown_boss() -> None:
    for seed in range(20):
        game = in_blind(blind=2, boss=15, ante=7, seed=seed)
        beat(game)
        assert BOSSES[game.run.boss].showdown


def test_skipping_gives_the_tag_and_the_boss_cannot_be_skipped() -> None:
    game = Game(2)
    game.run.offered_tags = [6, 18]
    game.skip_blind()
    game.skip_blind()
    assert (game.run.tags, game.run.blind, game.run.skips) == ([6, 18], 2, 2)
    with pytest.raises(IllegalActionError):
        game.skip_blind()


def test_the_same_seed_and_actions_give_the_same_run() -> None:
    first, second = Game(77), Game(77)
    assert play_at_random(first, random.Random(5)) == play_at_random(second, random.Random(5))
    assert first.save() == second.save()


def test_other_seeds_give_other_hands() -> None:
    hands = set()
    for seed in range(20):
        game = Game(seed)
        game.select_blind()
        hands.add(tuple(game.run.hand))
    assert len(hands) == 20


def test_sorting_lasts_until_it_is_asked_for_again() -> None:
    game = in_blind()
    game.sort_hand(True)
    suits = [card >> 4 & 3 for card in game.run.hand]
    assert suits == sorted(suits)
    game.discard([0])
    suits = [card >> 4 & 3 for card in game.run.hand]
    assert suits == sorted(suits)
    game.sort_hand(False)
    ranks = [card & 15 for card in game.run.hand]
    assert ranks == sorted(ranks, reverse=True)


def test_jokers_move_and_are_sold_for_half_their_price() -> None:
    game = in_shop(0, ["Joker", "Baron"])
    game.move_joker(1, 0)
    assert [one.kind for one in game.run.jokers] == [game.run.jokers[0].kind, 0]
    game.sell_joker(0)
    assert (game.run.money, len(game.run.jokers)) == (4, 1)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"deck": "rde"}, "there is no deck 'rde'. Did you mean 'red'?"),
        ({"stake": "purpel"}, "there is no stake 'purpel'. Did you mean 'purple'?"),
        ({"seed": -1}, "the seed is -1; it must be between 0 and 2**63 - 1."),
        ({"seed": 2**63}, f"the seed is {2**63}; it must be between 0 and 2**63 - 1."),
        ({"win_ante": 0}, "the ante that wins is 0; it must be 1 or more."),
    ],
)
def test_wrong_options_are_refused_in_one_line(options: dict[str, object], line: str) -> None:
    with pytest.raises(ValueError) as refused:
        Game(**options)  # type: ignore[arg-type]
    assert str(refused.value).startswith(line)
    assert "\n" not in str(refused.value)


def test_every_deck_and_stake_can_be_played() -> None:
    for number, kind in enumerate(DECKS):
        for stake in STAKES:
            game = Game(number, deck=kind.name, stake=stake)
            play_at_random(game, random.Random(number))
            assert game.over


@pytest.mark.parametrize("seed", range(20))
def test_a_loaded_run_has_the_same_future(seed: int) -> None:
    luck = random.Random(seed)
    game = strong_game(seed, 20, deck=DECKS[seed % 15].name, stake=STAKES[seed % 8])
    play_at_random(game, luck, luck.randrange(80))
    loaded = Game.load(game.save())
    copied = game.copy()
    assert loaded.save() == game.save() == copied.save()
    ends = set()
    for twin in (game, loaded, copied):
        play_at_random(twin, random.Random(seed + 1))
        ends.add(twin.save())
    assert len(ends) == 1


def test_a_copy_is_independent() -> None:
    game = in_shop(200)
    before = game.save()
    twin = game.copy()
    play_at_random(twin, random.Random(0), 30)
    assert game.save() == before


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda saved: b"", "the saved Balatro run is damaged."),
        (lambda saved: saved[:-9], "the saved Balatro run is damaged."),
        (lambda saved: b"[1, 2]", "the saved Balatro run is damaged."),
        (lambda saved: b"\xff\xfe", "the saved Balatro run is damaged."),
        (lambda saved: saved.replace(b'"version":1', b'"version":9'), "the saved Balatro run has version 9;"),
        (lambda saved: saved.replace(b'"ante":1', b'"ante":"1"'), "the saved Balatro run is damaged."),
        (lambda saved: saved.replace(b'"hand":[', b'"hand":[null,'), "the saved Balatro run is damaged."),
        (lambda saved: saved.replace(b'"phase":1', b'"phase":9'), "the saved Balatro run is damaged."),
        (lambda saved: saved.replace(b'"consumables":[', b'"consumables":[99'), "the saved Balatro run is damaged."),
        (lambda saved: saved.replace(b'"skips":0', b'"hops":0'), "the saved Balatro run is damaged."),
        (lambda saved: saved.replace(b'"random":"', b'"random":"A'), "the saved Balatro run is damaged."),
    ],
)
def test_a_damaged_save_is_refused_in_one_line(damage, line: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError) as refused:
        Game.load(damage(in_blind().save()))
    assert str(refused.value).startswith(line)
    assert "\n" not in str(refused.value)


def test_a_save_is_json_with_a_version() -> None:
    saved = in_shop().save()
    content = json.loads(saved)
    assert content["version"] == 1
    assert json.dumps(content, separators=(",", ":")).encode() == saved, (
        "hashes of earlier runs are those of these bytes"
    )


@pytest.mark.parametrize("seed", long_after(1, range(8)))
def test_a_refused_action_changes_nothing(seed: int) -> None:
    luck = random.Random(seed)
    game = strong_game(seed, 30, deck=DECKS[seed % 15].name)
    game.run.money = 40
    refused = 0
    for _ in range(12):
        if game.over:
            break
        before = game.save()
        twin = game.copy()
        for action in every_action(game):
            if is_refused(twin, action):
                refused += 1
                assert twin.save() == before, action
            else:
                twin = game.copy()
        play_at_random(game, luck, 4)
    assert refused > 100


def test_a_refusal_is_one_clear_line() -> None:
    game = in_blind()
    for action in every_action(game):
        twin = game.copy()
        try:
            act(twin, action)
        except IllegalActionError as refusal:
            assert str(refusal).endswith(".")
            assert "\n" not in str(refusal)


def check(game: Game) -> None:
    """Check what holds in every state."""
    run = game.run
    assert run.joker_slots >= len([one for one in run.jokers if one.edition != 4])
    assert run.ante <= run.win_ante or run.endless
    assert all(level >= 1 for level in run.levels)
    if run.phase == Phase.PLAY:
        assert run.hands_left > 0
        assert run.hand
        assert run.score < run.target or run.boss_disabled  # Luchador lowers what The Wall needs
    else:
        assert not run.discarded or run.phase == Phase.OVER
        assert not any(card & FACE_DOWN for card in run.draw) or run.phase == Phase.OVER
    if run.phase == Phase.PACK:
        assert run.pack
        assert run.picks_left > 0
        assert all(0 <= offer.category <= Category.PACK for offer in run.pack)


@pytest.mark.parametrize("part", long_after(1, range(6)))
def test_random_games_end_and_stay_within_the_rules(part: int) -> None:
    for seed in range(50 * part, 50 * part + 50):
        luck = random.Random(seed)
        level = (1, 10, 20, 40)[seed % 4]
        game = strong_game(seed, level, deck=DECKS[seed % 15].name, stake=STAKES[seed % 8])
        steps = 0
        while not game.over:
            actions = allowed_actions(game, luck)
            assert actions
            act(game, luck.choice(actions))
            check(game)
            steps += 1
            assert steps < 5000


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_many_random_games_end() -> None:
    longest = 0
    for seed in range(MANY_GAMES):
        game = strong_game(seed, 40 if seed % 20 == 0 else 1)
        longest = max(longest, play_at_random(game, random.Random(seed)))
        assert game.over
        assert not game.run.won or game.run.rounds > 0
    assert longest < 5000
