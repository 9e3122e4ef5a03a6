"""The mask of allowed actions, from the queries of a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pkmn_balatro import actions as at
from pkmn_balatro.actions import ActionList
from pkmn_balatro.simulator.blinds import BOSS
from pkmn_balatro.simulator.cards import FORCED
from pkmn_balatro.simulator.consumables import AURA
from pkmn_balatro.simulator.queries import BLIND, OVER, PLAY, SHOP
from pkmn_balatro.simulator.run import Run
from pkmn_balatro.simulator.uses import can_target

if TYPE_CHECKING:
    from pkmn_balatro.simulator.game import Game

MOST_FREE_ACTIONS: Final = 4
"""Maximum actions without effect on the game in turn: sorting, moving a joker, cancelling. So random play ends."""

_MOST_KEPT: Final = 10_000
"""Parts of masks that are kept before all are made again."""


class Masks:
    """Masks of a list of actions.

    Most of a mask depends on few numbers, such as how many cards there are. Those parts are made once.

    Args:
        actions: the list.
    """

    def __init__(self, actions: ActionList) -> None:
        self._play_bits = _bits(actions.plays)
        self._choice_bits = _bits(actions.choices)
        self._no_plays = bytes(len(actions.plays))
        self._no_choices = bytes(len(actions.choices))
        self._kept: dict[tuple[bool, int, int, int, int], bytes] = {}
        self._of_plays: dict[tuple[int, int, bool, bool], bytes] = {}
        """Whole masks of a blind that is played without jokers and consumables."""

    def choosing(
        self, run: Run, places: Sequence[int], consumable: int, targets: tuple[int, int], free_actions: int
    ) -> bytes:
        """Return the mask, one byte for each action, while targets are chosen.

        Args:
            run: the run.
            places: positions in the hand of the cards that can be chosen.
            consumable: kind of what they are targets of.
            targets: fewest and most targets.
            free_actions: actions without effect on the game that were taken in turn.
        """
        simple = bytearray(len(at.SIMPLE))
        simple[at.CANCEL] = free_actions < MOST_FREE_ACTIONS
        allowed = 0
        for number, place in enumerate(places):
            if can_target(run, consumable, place):
                allowed |= 1 << number
        chosen = self._subsets(False, allowed, 0, *targets)
        return b"".join((simple, self._no_plays, self._no_plays, chosen))

    def acting(self, game: Game, places: Sequence[int], free_actions: int) -> bytes:
        """Return the mask, one byte for each action, of a game in which no choice of targets is open.

        Args:
            game: the game.
            places: positions in the hand of the cards that can be chosen.
            free_actions: actions without effect on the game that were taken in turn.
        """
        run = game.run
        phase = run.phase
        if phase != PLAY:
            return self._acting(game, places, free_actions, 0)
        forced = 0
        if run.blind == BOSS:  # others force no card
            for number, place in enumerate(places):
                if run.hand[place] & FORCED:
                    forced |= 1 << number
        if run.jokers or run.consumables:
            return self._acting(game, places, free_actions, forced)
        key = len(places), forced, run.discards_left > 0, free_actions < MOST_FREE_ACTIONS
        found = self._of_plays.get(key)
        if found is None:
            found = self._of_plays[key] = self._acting(game, places, free_actions, forced)
        return found

    def _acting(self, game: Game, places: Sequence[int], free_actions: int, forced: int) -> bytes:
        run = game.run
        phase = run.phase
        simple = bytearray(len(at.SIMPLE))
        plays = discards = self._no_plays
        if phase == OVER:
            simple[at.CANCEL] = 1  # no step follows, but readers of masks need one action
            return b"".join((simple, plays, discards, self._no_choices))
        if phase == PLAY:
            plays = self._subsets(True, (1 << len(places)) - 1, forced, 1, at.MOST_PLAYED)
            if game.can_discard():
                discards = plays
        elif phase == SHOP:
            simple[at.LEAVE_SHOP] = 1
            simple[at.REROLL_SHOP] = game.can_reroll()
            for place in range(min(len(run.shop), at.SHOP_SLOTS)):
                simple[at.BUY + place] = game.can_buy(place)
            for place in range(min(len(run.shop_vouchers), at.VOUCHER_SLOTS)):
                simple[at.BUY_VOUCHER + place] = game.can_buy_voucher(place)
            for place in range(min(len(run.shop_packs), at.PACK_SLOTS)):
                simple[at.OPEN_PACK + place] = game.can_open_pack(place)
        elif phase == BLIND:
            simple[at.SELECT_BLIND] = 1
            simple[at.SKIP_BLIND] = game.can_skip_blind()
            simple[at.REROLL_BOSS] = game.can_reroll_boss()
        else:
            simple[at.SKIP_PACK] = 1
            for place in range(min(len(run.pack), at.PACK_ITEMS)):
                simple[at.PICK + place] = _possible(game.can_pick(place), run, run.pack[place].item, places)
        for place in range(min(len(run.consumables), at.MOST_CONSUMABLES)):
            simple[at.USE + place] = _possible(game.can_use(place), run, run.consumables[place], places)
            simple[at.SELL_CONSUMABLE + place] = game.can_sell_consumable(place)
        jokers = min(len(run.jokers), at.MOST_JOKERS)
        for place in range(jokers):
            simple[at.SELL_JOKER + place] = game.can_sell_joker(place)
        if free_actions < MOST_FREE_ACTIONS:
            if len(places) > 1:
                simple[at.SORT_BY_RANK] = simple[at.SORT_BY_SUIT] = 1
            for place in range(jokers - 1):
                simple[at.JOKER_LEFT + place] = 1
        return b"".join((simple, plays, discards, self._no_choices))

    def _subsets(self, of_plays: bool, allowed: int, forced: int, fewest: int, most: int) -> bytes:
        """Return which subsets have these sizes, only allowed positions and all forced ones, both given as bits."""
        key = (of_plays, allowed, forced, fewest, most)
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) > _MOST_KEPT:
                self._kept.clear()
            bits = self._play_bits if of_plays else self._choice_bits
            found = self._kept[key] = bytes(
                not chosen & ~allowed and not forced & ~chosen and fewest <= chosen.bit_count() <= most
                for chosen in bits
            )
        return found


def _bits(subsets: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sum(1 << position for position in subset) for subset in subsets)


def _possible(targets: tuple[int, int] | None, run: Run, consumable: int, places: Sequence[int]) -> bool:
    """Return True if something can be used that takes these numbers of targets among some cards."""
    if targets is None:
        return False
    fewest = targets[0]
    if not fewest:
        return True
    if consumable & 0xFF == AURA:
        return any(can_target(run, AURA, place) for place in places)
    return fewest <= len(places)
