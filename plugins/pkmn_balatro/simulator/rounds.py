"""Rounds: dealing, the end of a blind with its payout, and the way to the next blind."""

from __future__ import annotations

from typing import Final

from pkmn_balatro.simulator import blinds, decks, jokers, pools, shop, stakes, tags, vouchers
from pkmn_balatro.simulator.cards import (
    BLUE_SEAL,
    DEBUFFED,
    FACE_DOWN,
    FORCED,
    GOLD,
    PLAYED,
    PURPLE_SEAL,
    RED_SEAL,
    ROUND_FLAGS,
    SEAL_SHIFT,
    STONE,
    enhancement_of,
    rank_of,
    seal_of,
    suit_of,
)
from pkmn_balatro.simulator.consumables import has_consumable_room
from pkmn_balatro.simulator.jokers import Event
from pkmn_balatro.simulator.run import Joker, Phase, Run

INTEREST_STEP: Final = 5
"""Dollars held for each dollar of interest."""
GOLD_MONEY: Final = 3
RENT: Final = 3
INVESTMENT: Final = 25
JUGGLE: Final = 3
SERPENT_CARDS: Final = 3
_SEAL: Final = 7 << SEAL_SHIFT
_PURPLE: Final = PURPLE_SEAL << SEAL_SHIFT
BONES_SHARE: Final = 4
"""Mr. Bones saves a run that has reached the score divided by this."""


class _Order(dict[int, int]):
    """Place of each card that was met in a sorted hand: a look into it is much faster than a function."""

    def __init__(self, by_suit: bool) -> None:
        super().__init__()
        self._by_suit = by_suit

    def __missing__(self, card: int) -> int:
        if len(self) > _MOST_KEPT:
            self.clear()
        rank, suit = rank_of(card), suit_of(card)
        place = suit * 13 + 12 - rank if self._by_suit else (12 - rank) * 4 + suit
        self[card] = 1000 if enhancement_of(card) == STONE else place
        return self[card]


_MOST_KEPT: Final = 10_000
_BY_RANK: Final = _Order(by_suit=False)
_BY_SUIT: Final = _Order(by_suit=True)


def sort_hand(run: Run) -> None:
    """Sort the hand as the player last asked: by rank, highest first, or by suit. Stone cards come last."""
    run.hand.sort(key=(_BY_SUIT if run.sort_by_suit else _BY_RANK).__getitem__)


def shuffle_deck(run: Run) -> None:
    """Shuffle the draw pile: by random keys, which is faster than ``random.shuffle``."""
    keys = run.random.random
    run.draw.sort(key=lambda _: keys())


def refresh_hand_size(run: Run) -> None:
    """Set the hand size from the run, its jokers and what holds in this round."""
    size = run.base_hand_size + run.round_hand_size
    if run.jokers:
        size += jokers.hand_size_bonus(run)
    run.hand_size = max(0, size)


def draw_cards(run: Run, *, first: bool = False, after_play: bool = False) -> None:
    """Draw up to the hand size and sort, with what the boss does to drawn cards.

    Args:
        run: The run.
        first: True for the first hand of the round.
        after_play: True if the cards replace played ones.
    """
    boss = blinds.active_boss(run)
    hand, draw = run.hand, run.draw
    count = run.hand_size - len(hand)
    if boss == blinds.SERPENT and not first:
        count = SERPENT_CARDS
    count = min(count, len(draw))
    if count > 0:
        if boss in blinds.HIDING:
            hand += [blinds.drawn(run, draw.pop(), boss, first, after_play) for _ in range(count)]
        else:
            hand += draw[-count:]
            del draw[-count:]
        sort_hand(run)
    if boss >= 0:
        if boss == blinds.BELL:
            blinds.force_a_card(run)
        elif boss == blinds.HEART and (first or after_play):
            blinds.disable_a_joker(run)
            refresh_hand_size(run)


def draw_next(run: Run, *, after_play: bool) -> None:
    """Draw after a play or a discard, if the round continues. Without a card to play the run is lost."""
    if run.phase == blinds.PLAY:
        refresh_hand_size(run)
        draw_cards(run, after_play=after_play)
        if not run.hand:
            lose(run)


def discard_cards(run: Run, positions: list[int]) -> None:
    """Move cards of the hand to the discard pile, with what purple seals and jokers do then.

    Args:
        run: The run.
        positions: Places in the hand, in ascending order.
    """
    hand = run.hand
    cards = [hand[place] & ~(FACE_DOWN | FORCED) for place in positions]
    for place in reversed(positions):
        del hand[place]
    for card in cards:
        if card & _SEAL == _PURPLE and not card & DEBUFFED and has_consumable_room(run):
            run.consumables.append(pools.draw_tarot(run))
    if run.jokers:
        jokers.notify(run, Event.DISCARDED, cards)
    run.discarded += cards


def hook_discards(run: Run, chosen: list[int]) -> list[int]:
    """Discard two random held cards, as The Hook does; return the places of the chosen cards afterwards."""
    held = [place for place in range(len(run.hand)) if place not in chosen]
    thrown = sorted(run.random.sample(held, min(2, len(held))))
    discard_cards(run, thrown)
    return [place - sum(other < place for other in thrown) for place in chosen]


def start_round(run: Run) -> None:
    """Begin the blind that was chosen: set its score, hands and discards, shuffle, and deal."""
    run.phase = Phase.PLAY.value
    run.boss_disabled = False
    run.score = 0
    run.played_now = [0] * len(run.played_now)
    run.discards_used = 0
    run.hands_left = max(1, run.hands_per_round + jokers.hands_bonus(run))
    run.discards_left = max(0, run.discards_per_round + jokers.discards_bonus(run))
    run.target = target_of(run, run.blind)
    run.round_hand_size = 0
    while tags.take(run, tags.JUGGLE):
        run.round_hand_size += JUGGLE
    if run.jokers and jokers.count(run, jokers.CHICOT):
        run.boss_disabled = True
    boss = blinds.active_boss(run)
    if boss == blinds.NEEDLE:
        run.counters["hands_withheld"] = run.hands_left - 1
        run.hands_left = 1
    elif boss == blinds.WATER:
        run.counters["discards_withheld"] = run.discards_left
        run.discards_left = 0
    elif boss == blinds.MANACLE:
        run.round_hand_size -= 1
    elif boss == blinds.ACORN:
        run.random.shuffle(run.jokers)
    elif boss == blinds.OX:
        run.counters["ox_hand"] = pools.most_played(run)
    refresh_hand_size(run)
    jokers.notify(run, Event.BLIND_SELECTED)
    refresh_hand_size(run)
    shuffle_deck(run)
    blinds.refresh_debuffs(run)
    draw_cards(run, first=True)
    if run.jokers:
        jokers.notify(run, Event.FIRST_HAND_DRAWN)
        if run.debuffs:
            blinds.refresh_debuffs(run)
    if not run.hand:
        run.phase = Phase.OVER.value


def target_of(run: Run, blind: int) -> int:
    """Return the score that a blind of this ante needs: 0 small, 1 big, 2 boss."""
    base = blinds.base_score(run.ante, stakes.RULES[run.stake].growth)
    if run.deck_kind == decks.PLASMA:
        base *= 2
    return (
        base if blind == blinds.SMALL else int(base * (1.5 if blind == blinds.BIG else blinds.BOSSES[run.boss].times))
    )


def reward_of(run: Run, blind: int) -> int:
    """Return the dollars for beating a blind of this ante."""
    if blind == blinds.BOSS and blinds.BOSSES[run.boss].showdown:
        return blinds.SHOWDOWN_REWARD
    if blind == blinds.SMALL and not stakes.RULES[run.stake].small_blind_pays:
        return 0
    return blinds.REWARDS[blind]


def interest(run: Run) -> int:
    """Return the interest that the money held now brings at the end of a round."""
    if run.deck_kind == decks.GREEN:
        return 0
    most = 5
    if run.vouchers:
        most = 20 if vouchers.MONEY_TREE in run.vouchers else 10 if vouchers.SEED_MONEY in run.vouchers else 5
    return max(0, min(most, run.money // INTEREST_STEP)) * jokers.interest_times(run)


def after_hand(run: Run) -> None:
    """Continue after a play: the blind is beaten, the run is lost, or neither."""
    if run.score >= run.target:
        end_round(run)
    elif run.hands_left <= 0:
        lose(run)


def lose(run: Run) -> None:
    """End the run, unless a joker saves it."""
    if run.score * BONES_SHARE >= run.target:
        for joker in run.jokers:
            if joker.kind == jokers.MR_BONES and not joker.debuffed:
                run.jokers = [other for other in run.jokers if other is not joker]
                end_round(run, saved=True)
                return
    run.phase = Phase.OVER.value


def end_round(run: Run, *, saved: bool = False) -> None:
    """Pay out, put the cards back, and open the shop; or end the run if it is won.

    Args:
        run: The run.
        saved: True if a joker saved the run: the blind has no reward then.
    """
    blind = run.blind
    boss_beaten = blind == blinds.BOSS
    reward = 0 if saved else reward_of(run, blind)
    run.rounds += 1
    run.unused_discards += run.discards_left
    _held_cards_act(run)
    run.money -= RENT * sum(joker.rental for joker in run.jokers)
    if run.deck_kind == decks.GREEN:
        payout = reward + 2 * run.hands_left + run.discards_left
    else:
        payout = reward + run.hands_left + interest(run)
    if boss_beaten:
        while tags.take(run, tags.INVESTMENT):
            payout += INVESTMENT
        jokers.notify(run, Event.BOSS_BEATEN)
    jokers.notify(run, Event.ROUND_ENDED)
    jokers.new_targets(run)
    run.money += payout
    _collect_cards(run, boss_beaten)
    blinds.release_jokers(run)
    for joker in run.jokers:
        if joker.perishable > 0:
            _perish(joker)
    if boss_beaten:
        if run.ante >= run.win_ante:
            run.won = True
            if not run.endless:
                run.phase = Phase.OVER.value
                return
        if run.deck_kind == decks.ANAGLYPH:
            run.tags.append(tags.DOUBLE)
        run.ante += 1
        run.blind = blinds.SMALL
        begin_ante(run)
    else:
        run.blind += 1
    run.phase = Phase.SHOP.value
    run.round_hand_size = 0
    refresh_hand_size(run)
    shop.open_shop(run)


def begin_ante(run: Run) -> None:
    """Choose the boss, the voucher and the tags of an ante."""
    run.boss = blinds.choose_boss(run)
    run.voucher = vouchers.draw_voucher(run)
    run.offered_tags = [tags.draw_tag(run), tags.draw_tag(run)]
    run.boss_rerolls = 0


def _perish(joker: Joker) -> None:
    joker.perishable -= 1
    if joker.perishable == 0:
        joker.perishable = -1
        joker.debuffed = True


def _held_cards_act(run: Run) -> None:
    """Pay for gold cards that are held and make planets of blue seals."""
    more = -1
    for card in run.hand:
        if card & DEBUFFED:
            continue
        gold = enhancement_of(card) == GOLD
        blue = seal_of(card) == BLUE_SEAL
        if gold or blue:
            if more < 0:
                more = jokers.held_repeats(run)
            times = 1 + more + (seal_of(card) == RED_SEAL)
            if gold:
                run.money += GOLD_MONEY * times
            if blue:
                for _ in range(times):
                    pools.add_consumable(run, run.last_hand)


def _collect_cards(run: Run, ante_ended: bool) -> None:
    """Put all cards back into the draw pile and take away the flags that end."""
    run.draw += run.hand
    run.draw += run.discarded
    run.hand = []
    run.discarded = []
    keep = ~(ROUND_FLAGS | PLAYED) if ante_ended else ~ROUND_FLAGS
    run.draw = [card & keep for card in run.draw]
    run.debuffs = False


def deal_for_pack(run: Run) -> None:
    """Deal a hand while a pack is open whose items are used on cards."""
    shuffle_deck(run)
    draw_cards(run)


def return_hand(run: Run) -> None:
    """Put the hand back into the draw pile after a pack."""
    run.draw += [card & ~ROUND_FLAGS for card in run.hand]
    run.hand = []
