"""Players by rules: their actions are allowed, rest on what a player sees, and follow advice."""

from __future__ import annotations

import json
import random
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from support.variants import long_after

from pkmn_balatro import actions as at
from pkmn_balatro.environment import BalatroEnvironment
from pkmn_balatro.pilot.players import GreedyPlayer, PlanningPlayer, Player
from pkmn_balatro.pilot.plays import UNKNOWN, best_play, combinations_of, known
from pkmn_balatro.pilot.random_pilot import RandomPlayer
from pkmn_balatro.pilot.settings import PlanningSettings
from pkmn_balatro.pilot.strength import Strength
from pkmn_balatro.settings import BalatroSettings
from pkmn_balatro.simulator import consumables as kinds
from pkmn_balatro.simulator.blinds import BELL, FISH, LEAF
from pkmn_balatro.simulator.cards import FACE_DOWN, FORCED
from pkmn_balatro.simulator.hands import FOUR_FINGERS, identify
from pkmn_balatro.simulator.run import HANDS, Category, Offer, Phase
from pkmncli.api import Advice
from tests.support.balatro import cards, joker

BENCHMARK = Path(__file__).parents[3] / "benchmarks/balatro_players.py"
QUICK = PlanningSettings(draws=2, hands=3)


def environment_with(words: str = "", *, phase: int = Phase.PLAY, jokers: tuple[str, ...] = ()) -> BalatroEnvironment:
    """Return an environment in which the first blind is played, with these cards in the hand."""
    environment = BalatroEnvironment(BalatroSettings(illegal_actions="raise"))
    environment.reset(seed=3)
    run = environment.game.run
    run.jokers = [joker(name) for name in jokers]
    environment.advance(at.SELECT_BLIND)
    if words:
        hand = cards(words)
        run.draw = [card for card in [*run.draw, *run.hand] if card not in hand]
        run.hand = hand
    run.phase = int(phase)
    return seen_again(environment)


def seen_again(environment: BalatroEnvironment) -> BalatroEnvironment:
    """Let the environment notice what was changed in its game."""
    environment.load_state(environment.save_state())
    return environment


def named(environment: BalatroEnvironment, player: Player, advice: Advice | None = None) -> str:
    decision = player.act(advice)
    assert environment.action_masks()[decision.action]
    return environment.actions.names[decision.action]


def positions(name: str) -> set[int]:
    return {int(place) for place in name.split("_")[1:]}


def planner(environment: BalatroEnvironment) -> PlanningPlayer:
    player = PlanningPlayer(environment, QUICK)
    player.reset(1)
    return player


@pytest.mark.parametrize("kind", long_after(1, [GreedyPlayer, PlanningPlayer]))
@pytest.mark.parametrize("seed", long_after(1, range(3)))
def test_every_action_is_allowed_also_after_steps_of_others(kind: type[Player], seed: int) -> None:
    environment = BalatroEnvironment(
        BalatroSettings(illegal_actions="raise", money=60, jokers=("Blueprint", "The Duo", "Juggler"), stake="gold")
    )
    environment.reset(seed=seed)
    player = planner(environment) if kind is PlanningPlayer else kind(environment)
    luck = np.random.default_rng(seed)
    for _step in range(120):
        action = player.act(None).action
        if luck.random() < 0.3:
            action = int(luck.choice(np.flatnonzero(environment.action_masks())))
        _, terminated, truncated = environment.advance(action)
        if terminated or truncated:
            assert environment.action_masks()[player.act(None).action]
            environment.reset(seed=seed + 50)


def test_a_player_that_resumes_from_its_memory_acts_the_same() -> None:
    first = environment_with()
    player = planner(first)
    for _step in range(4):
        first.advance(player.act(None).action)
    second = BalatroEnvironment(BalatroSettings())
    second.load_state(first.save_state())
    again = PlanningPlayer(second, QUICK)
    again.load_state(json.loads(json.dumps(player.save_state())))
    for _step in range(12):
        action = player.act(None).action
        assert again.act(None).action == action
        first.advance(action)
        second.advance(action)


@pytest.mark.long
def test_a_decision_changes_nothing_and_does_not_depend_on_those_before() -> None:
    environment = BalatroEnvironment(BalatroSettings(money=30))
    environment.reset(seed=12)
    player = planner(environment)
    for _step in range(50):
        fresh = PlanningPlayer(environment, QUICK)
        fresh.load_state(player.save_state())
        before = environment.save_state()
        decision = player.act(None)
        assert fresh.act(None) == decision
        assert environment.save_state() == before
        _, terminated, _ = environment.advance(decision.action)
        if terminated:
            environment.reset(seed=13)


@pytest.mark.parametrize("seed", range(4))
def test_a_decision_rests_on_neither_the_order_of_the_draw_pile_nor_hidden_cards(seed: int) -> None:
    environment = environment_with()
    run = environment.game.run
    run.blind, run.boss = 2, FISH
    run.hand[1] |= FACE_DOWN
    run.hand[4] |= FACE_DOWN
    before = planner(seen_again(environment)).act(None)
    run = environment.game.run
    luck = random.Random(seed)
    luck.shuffle(run.draw)
    for place in (1, 4):
        other = luck.randrange(len(run.draw))
        run.hand[place], run.draw[other] = run.draw[other] | FACE_DOWN, run.hand[place] & ~FACE_DOWN
    assert planner(seen_again(environment)).act(None) == before


def test_a_play_that_beats_the_blind_is_made_at_once() -> None:
    environment = environment_with("AS KS QS JS 10S 3H 4D 5C")
    assert positions(named(environment, planner(environment))) == {1, 2, 3, 4, 5}


def test_four_cards_of_a_suit_are_kept_and_others_discarded() -> None:
    environment = environment_with("KS QS 10H 9D 7S 6C 3C 2S")
    name = named(environment, PlanningPlayer(environment, PlanningSettings(draws=12)))
    assert name.startswith("discard")
    assert positions(name).isdisjoint({1, 2, 5, 8})


def test_in_the_last_hand_without_discards_the_best_hand_is_played() -> None:
    environment = environment_with("KS KH 9H 8C 6S 5S 3D 2C")
    environment.game.run.discards_left = 0
    environment.game.run.hands_left = 1
    name = named(seen_again(environment), planner(environment))
    assert name.startswith("play")
    assert {1, 2} <= positions(name)


def test_the_forced_card_of_the_boss_is_part_of_every_play() -> None:
    environment = environment_with("AS KH QD 9C 7S 5H 3D 2C")
    run = environment.game.run
    run.blind, run.boss = 2, BELL
    run.hand[7] |= FORCED
    for player in (planner(seen_again(environment)), GreedyPlayer(environment)):
        assert 8 in positions(named(environment, player))


def test_a_joker_is_sold_where_no_card_has_an_effect_until_then() -> None:
    environment = environment_with(jokers=("Joker", "Credit Card"))
    environment.game.run.blind, environment.game.run.boss = 2, LEAF
    assert named(seen_again(environment), planner(environment)) == "sell_joker_2"


def test_the_greedy_player_never_discards() -> None:
    environment = environment_with("KS 10S 9H 8C 7S 5S 3D 2C")
    assert named(environment, GreedyPlayer(environment)).startswith("play")


def test_the_random_player_takes_allowed_actions_that_rest_on_its_seed() -> None:
    def played(seed: int, saved_at: int = -1) -> list[int]:
        environment = BalatroEnvironment(BalatroSettings(illegal_actions="raise"))
        environment.reset(seed=1)
        player = RandomPlayer(environment)
        player.reset(seed)
        actions, ended = [], False
        while not ended:
            if len(actions) == saved_at:
                state = json.loads(json.dumps(player.save_state()))
                player = RandomPlayer(environment)
                player.load_state(state)
            actions.append(player.act(None).action)
            _, terminated, truncated = environment.advance(actions[-1])
            ended = terminated or truncated
        return actions

    assert played(1) == played(1, saved_at=2) != played(2)


@pytest.mark.parametrize(
    ("words", "options", "hand"),
    [
        ("AS KS QS JS 10S 3H 4D 5C", 0, "Straight Flush"),
        ("AS 2H 3D 4C 5S 9H KD KC", 0, "Straight"),
        ("9S 9H 9D 4C 4S AH KD QC", 0, "Full House"),
        ("9S 9H 9D 9C 4S AH KD QC", 0, "Four of a Kind"),
        ("AS 9S 7S 4S 2H KD JC 10C", FOUR_FINGERS, "Flush"),
        ("AS 9S 7S 4S 2H KD JC 10C", 0, "High Card"),
    ],
)
def test_the_best_poker_hand_is_among_the_combinations(words: str, options: int, hand: str) -> None:
    hand_cards = cards(words)
    found = [
        identify([hand_cards[place] for place in chosen], options)[0] for chosen in combinations_of(hand_cards, options)
    ]
    assert max(found) == HANDS.index(hand)


def test_unknown_cards_are_in_no_combination() -> None:
    hand = [UNKNOWN, UNKNOWN, *cards("AS KH QD")]
    assert not any({0, 1} & set(chosen) for chosen in combinations_of(hand))


def test_other_cards_are_added_to_a_play_so_that_more_are_drawn() -> None:
    environment = environment_with("KS KH 9H 8C 6S 5S 3D 2C")
    run = known(environment.game.run)
    total, play = best_play(run, range(8), 0)
    assert len(play) == 5
    assert total == (10 + 10 + 10) * 2


def test_strength_grows_with_jokers_and_levels() -> None:
    environment = environment_with(phase=Phase.SHOP)
    run = environment.game.run
    strength = Strength(run, 6)
    plain = strength.of([])
    assert strength.of([joker("Joker")]) > plain
    assert strength.of([joker("Joker"), joker("The Duo")]) > strength.of([joker("The Duo")])
    assert strength.of([], [3] * 12) > plain
    assert strength.of([joker("Credit Card")]) == plain


def test_jokers_that_multiply_are_moved_behind_those_that_add() -> None:
    environment = environment_with(phase=Phase.SHOP, jokers=("Cavendish", "Gros Michel"))
    assert named(environment, planner(environment)) == "joker_left_2"


def test_a_strong_joker_is_bought_with_the_first_money() -> None:
    environment = environment_with(phase=Phase.SHOP)
    run = environment.game.run
    run.money, run.consumables = 10, []
    run.shop_packs, run.shop_vouchers = [], []
    run.shop = [Offer(Category.JOKER.value, joker("Credit Card").kind, 1), Offer(0, joker("Cavendish").kind, 6)]
    assert named(seen_again(environment), planner(environment)) == "buy_2"


def test_a_consumable_for_cards_takes_two_steps() -> None:
    environment = environment_with("AS KH QD 9C 7S 5H 3D 2C")
    environment.game.run.consumables = [kinds.DEATH]
    player = planner(seen_again(environment))
    assert named(environment, player) == "use_1"
    environment.advance(player.act(None).action)
    assert named(environment, player) == "choose_1_8"
    environment.advance(player.act(None).action)
    assert environment.pending is None
    assert sum(card == cards("AS")[0] for card in environment.game.run.hand) == 2


def test_advice_is_followed_and_then_over() -> None:
    environment = environment_with("AS KS 9S 5S 3S 3H 4D 5C")
    player = planner(environment)
    advice = Advice("a pair", skill="play_hand", arguments={"hand": "pair"}, confidence=0.6)
    decision = player.act(advice)
    assert (decision.advised, decision.advice_over, decision.confidence) == (True, True, 0.6)
    environment.advance(decision.action)
    assert environment.game.run.played[HANDS.index("Pair")] == 1


def test_advice_that_cannot_be_followed_is_over_and_the_rules_act() -> None:
    environment = environment_with("AS KS 9S 5S 3S 3H 4D 5C")
    player = planner(environment)
    rules = player.act(None)
    for advice in (
        Advice("full house", skill="play_hand", arguments={"hand": "full house"}),
        Advice("leave", presses=(at.LEAVE_SHOP,)),
        Advice("nothing"),
    ):
        decision = player.act(advice)
        assert decision == rules._replace(advice_over=True)
        player.act(None)


def test_advice_to_use_an_item_on_cards_lasts_two_steps() -> None:
    environment = environment_with("AS KH QD 9C 7S 5H 3D 2C")
    environment.game.run.consumables = [kinds.HANGED_MAN]
    player = planner(seen_again(environment))
    advice = Advice("thin the deck", skill="use_item", arguments={"item": "The Hanged Man", "cards": "7 8"})
    first = player.act(advice)
    assert (environment.actions.names[first.action], first.advice_over) == ("use_1", False)
    environment.advance(first.action)
    second = player.act(advice)
    assert (environment.actions.names[second.action], second.advice_over) == ("choose_7_8", True)


def test_advice_of_several_actions_is_taken_in_order() -> None:
    environment = environment_with("AS KH QD 9C 7S 5H 3D 2C")
    player = planner(environment)
    advice = Advice("sort", presses=(at.SORT_BY_SUIT, at.SORT_BY_RANK))
    first = player.act(advice)
    assert (first.action, first.advised, first.advice_over) == (at.SORT_BY_SUIT, True, False)
    environment.advance(first.action)
    second = player.act(advice)
    assert (second.action, second.advice_over) == (at.SORT_BY_RANK, True)


@pytest.mark.long
def test_the_planning_player_comes_further_than_the_greedy_one() -> None:
    reached = {}
    for kind in (GreedyPlayer, PlanningPlayer):
        beaten = 0.0
        for seed in (501, 502):
            environment = BalatroEnvironment(BalatroSettings(win_ante=2))
            environment.reset(seed=seed)
            player = planner(environment) if kind is PlanningPlayer else kind(environment)
            done = False
            while not done:
                _, terminated, truncated = environment.advance(player.act(None).action)
                done = terminated or truncated
            beaten += environment.metrics()["round"]
        reached[kind] = beaten
    assert reached[PlanningPlayer] > reached[GreedyPlayer]


def test_the_benchmark_compares_players_on_the_same_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "results.json"
    options = ["--players", "random", "greedy", "--seeds", "501-503", "--processes", "1", "--json", str(file)]
    monkeypatch.setattr(sys, "argv", [BENCHMARK.name, *options])
    runpy.run_path(str(BENCHMARK), run_name="__main__")
    results = json.loads(file.read_text())
    assert [(one["player"], one["seed"]) for one in results] == [
        (player, seed) for player in ("random", "greedy") for seed in (501, 502, 503)
    ]
    assert sum(one["blinds"] for one in results[3:]) > sum(one["blinds"] for one in results[:3])
    assert "| greedy | " in capsys.readouterr().out


@pytest.mark.parametrize("options", [["--seeds", "3-1"], ["--seeds", "x"], ["--players", "policy"]])
def test_the_benchmark_refuses_bad_options_in_one_line(
    options: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [BENCHMARK.name, *options])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(BENCHMARK), run_name="__main__")
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err.splitlines()[-1]
