"""Rules that hold for every hand and every set of jokers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import permutations

import pytest

from pkmn_balatro.simulator import cards, hands, jokers
from pkmn_balatro.simulator.run import HANDS, Phase, Run
from pkmn_balatro.simulator.scoring import commit, score_hand

LUCKY_JOKERS = {"8 Ball", "Misprint", "Space Joker", "Business Card", "Bloodstone", "Reserved Parking"}
"""Jokers of which a score depends on luck. (Business Card and Reserved Parking: by the money that Bull counts.)"""
CERTAIN = [number for number, kind in enumerate(jokers.JOKERS) if kind.name not in LUCKY_JOKERS]
SEEDS = range(400)


def any_card(luck: random.Random) -> int:
    return cards.make_card(
        luck.randrange(13),
        luck.randrange(4),
        luck.randrange(9) if luck.random() < 0.4 else 0,
        luck.randrange(4) if luck.random() < 0.2 else 0,
        luck.randrange(5) if luck.random() < 0.2 else 0,
        luck.choice([0, 0, 5, 20]),
    )


def plain_card(luck: random.Random) -> int:
    return cards.make_card(luck.randrange(13), luck.randrange(4))


def random_run(
    seed: int, card: Callable[[random.Random], int] = any_card, kinds: Sequence[int] = range(len(jokers.JOKERS))
) -> tuple[Run, list[int]]:
    """Return a run in the middle of a round, and 1 to 5 positions to play."""
    luck = random.Random(seed)
    run = Run(seed)
    run.phase = Phase.PLAY
    run.hand = [card(luck) for _ in range(luck.randint(5, 9))]
    run.draw = [card(luck) for _ in range(luck.randint(0, 20))]
    run.hands_left = luck.randint(1, 4)
    run.discards_left = luck.randint(0, 3)
    run.money = luck.randint(-20, 60)
    run.levels = [luck.randint(1, 9) for _ in HANDS]
    run.played_now = [luck.randint(0, 1) for _ in HANDS]
    run.played = [now + luck.randint(0, 11) for now in run.played_now]
    run.blind, run.boss = luck.randrange(3), luck.randrange(28)
    for kind in luck.choices(kinds, k=luck.randint(0, 6)):
        joker = jokers.make_joker(run, kind)
        joker.edition = luck.randrange(5) if luck.random() < 0.3 else 0
        run.jokers.append(joker)
    return run, luck.sample(range(len(run.hand)), luck.randint(1, 5))


def everything(run: Run) -> str:
    return repr(run) + repr(run.random.getstate())


def test_chips_and_mult_are_never_negative_and_the_score_is_their_product() -> None:
    for seed in SEEDS:
        run, positions = random_run(seed)
        scored = score_hand(run, positions, chance=random.Random(seed))
        assert scored.chips >= 0, seed
        assert scored.mult >= 0, seed
        assert scored.total == int(scored.chips * scored.mult), seed


def test_a_preview_changes_nothing() -> None:
    for seed in SEEDS:
        run, positions = random_run(seed)
        before = everything(run)
        score_hand(run, positions)
        assert everything(run) == before, seed


def test_scoring_with_luck_changes_nothing_before_it_is_kept() -> None:
    for seed in SEEDS:
        run, positions = random_run(seed)
        before = everything(run)
        score_hand(run, positions, chance=random.Random(seed))
        assert everything(run) == before, seed


def test_a_preview_is_never_above_what_luck_gives() -> None:
    for seed in SEEDS:
        run, positions = random_run(seed)
        assert score_hand(run, positions).total <= score_hand(run, positions, chance=random.Random(seed)).total, seed


def test_a_preview_is_the_score_where_nothing_is_random() -> None:
    for seed in SEEDS:
        run, positions = random_run(seed, plain_card, CERTAIN)
        preview = score_hand(run, positions)
        played = score_hand(run, positions, chance=random.Random(seed))
        assert (preview.total, preview.values, preview.money) == (played.total, played.values, played.money), seed
        times = run.played[preview.hand]
        commit(run, played)
        assert run.played[preview.hand] == times + 1
        assert run.levels[preview.hand] == preview.level


def test_the_order_in_which_positions_are_named_does_not_matter() -> None:
    for seed in SEEDS:
        run, positions = random_run(seed)
        assert score_hand(run, positions).total == score_hand(run, positions[::-1]).total, seed


def test_jokers_that_only_add_may_be_in_any_order() -> None:
    run = Run(0)
    run.hand = cards.standard_deck()[:8]
    run.discards_left = 2
    for names in permutations(["Joker", "Banner", "Jolly Joker", "Gros Michel", "Stuntman"]):
        run.jokers = [jokers.make_joker(run, jokers.kind_named(name)) for name in names]
        scored = score_hand(run, (0,))
        assert (scored.chips, scored.mult) == (5 + 2 + 250 + 60, 1 + 4 + 15), names


def test_a_factor_is_worth_more_behind_what_adds_than_before_it() -> None:
    for seed in SEEDS:
        run, positions = random_run(seed, plain_card, [jokers.kind_named("Joker"), jokers.kind_named("Abstract Joker")])
        run.blind = 0
        others, times = run.jokers, jokers.make_joker(run, jokers.kind_named("Cavendish"))
        for joker in others:
            joker.edition = 0
        run.jokers = [*others, times]
        behind = score_hand(run, positions).total
        run.jokers = [times, *others]
        assert (behind > score_hand(run, positions).total) == bool(others), seed


def slow_hand(played: list[int]) -> int:
    """Return the hand of plain cards, by the definitions and without tables."""
    ranks = sorted(cards.rank_of(card) for card in played)
    groups = sorted(Counter(ranks).values(), reverse=True)
    flush = len(played) == 5 and len({cards.suit_of(card) for card in played}) == 1
    straight = len(set(ranks)) == 5 and (ranks[4] - ranks[0] == 4 or ranks == [0, 1, 2, 3, cards.ACE])
    if groups[0] == 5:
        return hands.FLUSH_FIVE if flush else hands.FIVE
    if groups == [3, 2]:
        return hands.FLUSH_HOUSE if flush else hands.FULL_HOUSE
    if straight and flush:
        return hands.STRAIGHT_FLUSH
    if groups[0] == 4:
        return hands.FOUR
    if flush or straight:
        return hands.FLUSH if flush else hands.STRAIGHT
    if groups[0] == 3:
        return hands.THREE
    return {(2, 2): hands.TWO_PAIR, (2,): hands.PAIR}.get(tuple(size for size in groups if size > 1), hands.HIGH_CARD)


@pytest.mark.long
def test_all_random_hands_are_what_the_definitions_say() -> None:
    luck = random.Random(5)
    seen = set()
    for trial in range(20_000):
        suits, ranks = luck.choice([(1, 13), (4, 13), (2, 3), (1, 2), (4, 5), (4, 1), (1, 1), (1, 6)])
        played = [cards.make_card(luck.randrange(ranks), luck.randrange(suits)) for _ in range(luck.randint(1, 5))]
        hand, scoring, contained = hands.identify(played)
        assert hand == slow_hand(played), (trial, [cards.card_name(card) for card in played])
        assert hand in (hands.HIGH_CARD, hands.FLUSH_HOUSE, hands.FLUSH_FIVE) or contained >> hand & 1
        assert list(scoring) == sorted(set(scoring))
        seen.add(HANDS[hand])
    assert seen == set(HANDS)


def test_the_hand_does_not_depend_on_the_order_of_its_cards() -> None:
    luck = random.Random(9)
    for trial in range(2000):
        played = [any_card(luck) for _ in range(luck.randint(1, 5))]
        options = luck.randrange(16)
        hand, scoring, contained = hands.identify(played, options)
        backwards = hands.identify(played[::-1], options)
        assert (backwards[0], backwards[2]) == (hand, contained), trial
        if not options & hands.FOUR_FINGERS:  # with four fingers, two suits may each make the flush
            assert sorted(played[p] for p in scoring) == sorted(played[::-1][p] for p in backwards[1]), trial
        assert all(p in scoring for p, card in enumerate(played) if cards.enhancement_of(card) == cards.STONE), trial
