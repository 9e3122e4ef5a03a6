"""The game: actions that the rules allow, each checked before anything changes."""

from __future__ import annotations

import difflib
import operator
import random
from collections.abc import Sequence
from typing import Final

from pkmn_balatro.simulator import (
    blinds,
    decks,
    jokers,
    opened_packs,
    pools,
    rounds,
    saves,
    shop,
    stakes,
    tag_effects,
    uses,
    vouchers,
)
from pkmn_balatro.simulator.cards import FACE_DOWN, FORCED, PLAYED
from pkmn_balatro.simulator.consumables import CONSUMABLES
from pkmn_balatro.simulator.jokers import Event
from pkmn_balatro.simulator.queries import BLIND, BOSS_REROLL_PRICE, OVER, PACK, PLAY, Queries
from pkmn_balatro.simulator.run import Category, IllegalActionError, Offer, Run
from pkmn_balatro.simulator.scored import Scored
from pkmn_balatro.simulator.scoring import commit, score_hand

_JOKER, _CONSUMABLE = Category.JOKER.value, Category.CONSUMABLE.value

MOST_PLAYED_CARDS: Final = 5


def _place_of(what: str, name: str, names: Sequence[str]) -> int:
    if name in names:
        return names.index(name)
    near = difflib.get_close_matches(name, names, 1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise ValueError(f"there is no {what} '{name}'.{hint} Known: {', '.join(names)}.")


class Game(Queries):
    """A run of the game. Actions raise :class:`IllegalActionError` and change nothing where the rules forbid them."""

    __slots__ = ("latest",)

    latest: Scored | None
    """Result of the latest play; None before the first, and after loading."""

    def __init__(
        self, seed: int = 0, *, deck: str = "red", stake: str = "white", win_ante: int = 8, endless: bool = False
    ) -> None:
        """Begin a run.

        Args:
            seed: 0 to 2**63 - 1; the same seed and actions give the same run.
            deck: Name of a deck, such as ``red``.
            stake: Name of a stake, such as ``white``.
            win_ante: Ante whose boss wins the run, 1 or more.
            endless: True to continue after the run is won.

        Raises:
            ValueError: There is no such deck or stake, or a number is out of range.
        """
        seed = operator.index(seed)
        if not 0 <= seed < 2**63:
            raise ValueError(f"the seed is {seed}; it must be between 0 and 2**63 - 1.")
        if win_ante < 1:
            raise ValueError(f"the ante that wins is {win_ante}; it must be 1 or more.")
        deck_kind = _place_of("deck", deck, decks.NAMES)
        stake_kind = _place_of("stake", stake, stakes.STAKES)
        run = self.run = Run(seed, deck_kind, stake_kind, win_ante, endless, random=random.Random(seed))
        self.latest = None
        run.bosses_met = [0] * len(blinds.BOSSES)
        run.discards_per_round -= stakes.RULES[run.stake].fewer_discards
        decks.apply_deck(run)
        rounds.refresh_hand_size(run)
        rounds.begin_ante(run)
        jokers.new_targets(run)

    # ---- blinds -----------------------------------------------------------------------------------------------------

    def select_blind(self) -> None:
        """Begin the next blind."""
        self._require(self.can_select_blind(), "no blind can be selected now")
        rounds.start_round(self.run)

    def skip_blind(self) -> None:
        """Skip the small or the big blind for its tag."""
        self._require(self.can_skip_blind(), "this blind can't be skipped")
        run = self.run
        run.skips += 1
        tag = run.offered_tags[run.blind]
        run.blind += 1
        jokers.notify(run, Event.SKIPPED_BLIND)
        tag_effects.gain_tag(run, tag)
        opened_packs.open_waiting_pack(run)

    def reroll_boss(self) -> None:
        """Replace the boss of this ante for $10."""
        self._require(self.can_reroll_boss(), "the boss can't be rerolled now")
        run = self.run
        run.money -= BOSS_REROLL_PRICE
        run.boss_rerolls += 1
        run.boss = blinds.choose_boss(run)

    # ---- cards ------------------------------------------------------------------------------------------------------

    def play(self, positions: Sequence[int]) -> Scored:
        """Play 1 to 5 cards of the hand and return what they scored."""
        self._require(self.can_play(), "no cards can be played now")
        chosen = self._chosen(positions)
        run = self.run
        hand = run.hand
        if run.blind == blinds.BOSS:
            if blinds.active_boss(run) == blinds.HOOK and len(hand) > len(chosen):
                chosen = rounds.hook_discards(run, chosen)
                hand = run.hand
            for place in chosen:
                hand[place] &= ~(FACE_DOWN | FORCED)
        scored = self.latest = score_hand(run, chosen, chance=run.random)
        run.hands_left -= 1
        run.hands_played += 1
        run.last_hand = scored.hand
        commit(run, scored)
        run.score += scored.total
        hand = run.hand
        places, gone = scored.positions, scored.destroyed
        left = [place for at, place in enumerate(places) if at not in gone] if gone else places
        run.discarded += [hand[place] | PLAYED for place in left]
        for place in reversed(places):
            del hand[place]
        rounds.after_hand(run)
        rounds.draw_next(run, after_play=True)
        return scored

    def discard(self, positions: Sequence[int]) -> None:
        """Discard 1 to 5 cards of the hand and draw others."""
        self._require(self.can_discard(), "no cards can be discarded now")
        chosen = self._chosen(positions)
        run = self.run
        if run.jokers:
            jokers.notify(run, Event.DISCARD_CHOSEN, [run.hand[place] for place in chosen])
        rounds.discard_cards(run, chosen)
        run.discards_left -= 1
        run.discards_used += 1
        rounds.draw_next(run, after_play=False)

    def _chosen(self, positions: Sequence[int]) -> list[int]:
        chosen = sorted(positions)
        count = len(chosen)
        if not 1 <= count <= MOST_PLAYED_CARDS:
            raise IllegalActionError(f"1 to 5 cards can be chosen, not {count}.")
        if len(set(chosen)) != count or chosen[0] < 0 or chosen[-1] >= len(self.run.hand):
            raise IllegalActionError(f"the hand has {len(self.run.hand)} cards; {chosen} can't be chosen.")
        if self.run.blind == blinds.BOSS:
            forced = self.forced_position()
            if forced >= 0 and forced not in chosen:
                raise IllegalActionError(f"the card at position {forced} must be chosen too.")
        return chosen

    # ---- the shop ---------------------------------------------------------------------------------------------------

    def buy(self, slot: int) -> None:
        """Buy a card of the shop."""
        self._require(self.can_buy(slot), f"card {slot} of the shop can't be bought")
        run = self.run
        offer = run.shop.pop(slot)
        run.money -= offer.price
        self._take(offer)

    def buy_voucher(self, slot: int) -> None:
        """Buy a voucher."""
        self._require(self.can_buy_voucher(slot), f"voucher {slot} of the shop can't be bought")
        run = self.run
        offer = run.shop_vouchers.pop(slot)
        run.money -= offer.price
        if offer.item == run.voucher:
            run.voucher = -1
        room = shop.cards_offered(run)
        vouchers.redeem(run, offer.item)
        rounds.refresh_hand_size(run)
        shop.fill_cards(run, shop.cards_offered(run) - room)
        shop.reprice(run)

    def open_pack(self, slot: int) -> None:
        """Buy a pack and open it."""
        self._require(self.can_open_pack(slot), f"pack {slot} of the shop can't be opened")
        run = self.run
        offer = run.shop_packs.pop(slot)
        run.money -= offer.price
        opened_packs.open_pack(run, offer.item, from_shop=True)

    def reroll(self) -> None:
        """Ask for other cards in the shop."""
        self._require(self.can_reroll(), "the shop can't be rerolled now")
        run = self.run
        run.money -= shop.reroll_price(run)
        if run.free_rerolls > 0:
            run.free_rerolls -= 1
        else:
            run.rerolls += 1
        run.shop = []
        shop.fill_cards(run, shop.cards_offered(run))
        jokers.notify(run, Event.REROLLED)

    def leave_shop(self) -> None:
        """Leave the shop for the next blind."""
        self._require(self.can_leave_shop(), "there is no shop to leave now")
        run = self.run
        jokers.notify(run, Event.SHOP_LEFT)
        run.phase = BLIND
        run.shop, run.shop_vouchers, run.shop_packs = [], [], []
        opened_packs.open_waiting_pack(run)

    # ---- packs ------------------------------------------------------------------------------------------------------

    def pick(self, item: int, targets: Sequence[int] = ()) -> None:
        """Take an item of the open pack; a consumable is used at once.

        Args:
            item: Place in the pack.
            targets: Positions in the hand, for a consumable that is used on cards.
        """
        needed = self.can_pick(item)
        if needed is None:
            raise IllegalActionError(f"item {item} of the pack can't be taken.")
        run = self.run
        offer = run.pack[item]
        if offer.category == _CONSUMABLE:
            chosen = self._targets(offer.item, needed, targets)
            offer.sold = True
            uses.use(run, offer.item, chosen)
        else:
            self._targets(0, needed, targets)
            offer.sold = True
            self._take(offer)
        run.picks_left -= 1
        if run.picks_left <= 0 or all(other.sold for other in run.pack):
            opened_packs.close_pack(run)

    def skip_pack(self) -> None:
        """Close the open pack without taking more."""
        self._require(self.can_skip_pack(), "no pack is open")
        run = self.run
        jokers.notify(run, Event.PACK_SKIPPED)
        opened_packs.close_pack(run)

    # ---- consumables and jokers -------------------------------------------------------------------------------------

    def use(self, consumable: int, targets: Sequence[int] = ()) -> None:
        """Use one of the player's consumables.

        Args:
            consumable: Its place.
            targets: Positions in the hand, for one that is used on cards.
        """
        needed = self.can_use(consumable)
        if needed is None:
            raise IllegalActionError(f"consumable {consumable} can't be used now.")
        run = self.run
        kind = run.consumables[consumable] & 0xFF
        chosen = self._targets(kind, needed, targets)
        del run.consumables[consumable]
        uses.use(run, kind, chosen)
        if run.phase == PLAY and not run.hand:
            rounds.draw_next(run, after_play=False)

    def _targets(self, kind: int, needed: tuple[int, int], targets: Sequence[int]) -> list[int]:
        chosen = list(targets)
        fewest, most = needed
        if not fewest <= len(chosen) <= most or len(set(chosen)) != len(chosen):
            wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
            raise IllegalActionError(f"{wanted} different cards are needed, not {chosen}.")
        if not all(uses.can_target(self.run, kind, position) for position in chosen):
            raise IllegalActionError(f"{CONSUMABLES[kind].name} can't be used on {chosen}.")
        return chosen

    def sell_joker(self, place: int) -> None:
        """Sell a joker."""
        self._require(self.can_sell_joker(place), f"joker {place} can't be sold")
        run = self.run
        joker = run.jokers[place]
        run.money += jokers.sell_value(run, joker)
        del run.jokers[place]
        jokers.notify(run, Event.SOLD, joker)
        if not joker.debuffed:
            uses.sold_joker_acts(run, joker)
        if blinds.active_boss(run) == blinds.LEAF:
            blinds.disable_boss(run)
        if run.debuffs:
            blinds.refresh_debuffs(run)  # without Smeared Joker or Pareidolia, other cards are debuffed
        rounds.refresh_hand_size(run)

    def sell_consumable(self, place: int) -> None:
        """Sell a consumable."""
        self._require(self.can_sell_consumable(place), f"consumable {place} can't be sold")
        run = self.run
        run.money += pools.consumable_sell_value(run, run.consumables.pop(place))
        jokers.notify(run, Event.SOLD, None)

    def move_joker(self, place: int, to: int) -> None:
        """Move a joker to another place."""
        run = self.run
        count = len(run.jokers)
        self._require(
            run.phase != OVER and 0 <= place < count and 0 <= to < count, f"joker {place} can't be moved to {to}"
        )
        run.jokers.insert(to, run.jokers.pop(place))

    def sort_hand(self, by_suit: bool) -> None:
        """Sort the hand by suit or by rank, now and after each draw."""
        self._require(self.run.phase in (PLAY, PACK), "there is no hand to sort")
        self.run.sort_by_suit = by_suit
        rounds.sort_hand(self.run)

    # ---- the whole --------------------------------------------------------------------------------------------------

    def save(self) -> bytes:
        """Return the run as bytes, from which :meth:`load` makes a game with the same future."""
        return saves.to_bytes(self.run)

    @classmethod
    def load(cls, data: bytes) -> Game:
        """Return the game that was saved.

        Raises:
            ValueError: The data are damaged or of another version.
        """
        game = cls.__new__(cls)
        game.run = saves.from_bytes(data)
        game.latest = None
        return game

    def copy(self) -> Game:
        """Return an independent game with the same future."""
        game = type(self).__new__(type(self))
        game.run = self.run.copy()
        game.latest = self.latest
        return game

    def _require(self, allowed: bool, reason: str) -> None:
        if not allowed:
            raise IllegalActionError(f"{reason}.")

    def _take(self, offer: Offer) -> None:
        run = self.run
        if offer.category == _JOKER:
            uses.add_joker(run, pools.joker_of(run, offer))
        elif offer.category == _CONSUMABLE:
            run.consumables.append(offer.item)
        else:
            run.draw.append(offer.item)
            jokers.notify(run, Event.CARD_ADDED, [offer.item])
