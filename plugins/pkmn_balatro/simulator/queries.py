"""Questions to a game: which actions the rules allow now. They are cheap, and change nothing."""

from __future__ import annotations

from typing import Final

from pkmn_balatro.simulator import blinds, jokers, rounds, shop, uses, vouchers
from pkmn_balatro.simulator.cards import FORCED, NEGATIVE
from pkmn_balatro.simulator.consumables import has_consumable_room
from pkmn_balatro.simulator.jokers.create import empty_slots
from pkmn_balatro.simulator.run import Category, Offer, Phase, Run

BLIND, PLAY, SHOP, PACK, OVER = (phase.value for phase in Phase)
_JOKER, _CONSUMABLE = Category.JOKER.value, Category.CONSUMABLE.value

BOSS_REROLL_PRICE: Final = 10


class Queries:
    """Questions to a run; :class:`pkmn_balatro.simulator.game.Game` adds the actions."""

    __slots__ = ("run",)

    run: Run

    @property
    def over(self) -> bool:
        """True if the run has ended."""
        return self.run.phase == OVER

    def can_select_blind(self) -> bool:
        """Return True if the next blind may be begun."""
        return self.run.phase == BLIND

    def can_skip_blind(self) -> bool:
        """Return True if the next blind may be skipped for its tag."""
        return self.run.phase == BLIND and self.run.blind != blinds.BOSS

    def can_reroll_boss(self) -> bool:
        """Return True if the boss may be replaced for $10."""
        run = self.run
        if run.phase != BLIND or not run.vouchers or not self._can_pay(BOSS_REROLL_PRICE):
            return False
        return vouchers.RETCON in run.vouchers or (vouchers.DIRECTORS_CUT in run.vouchers and run.boss_rerolls == 0)

    def can_play(self) -> bool:
        """Return True if cards may be played."""
        return self.run.phase == PLAY

    def can_discard(self) -> bool:
        """Return True if cards may be discarded."""
        return self.run.phase == PLAY and self.run.discards_left > 0

    def forced_position(self) -> int:
        """Return the position of the card that must be part of a play or discard; -1 if there is none."""
        if blinds.active_boss(self.run) == blinds.BELL:
            for position, card in enumerate(self.run.hand):
                if card & FORCED:
                    return position
        return -1

    def can_buy(self, slot: int) -> bool:
        """Return True if the card at a place of the shop may be bought."""
        run = self.run
        if run.phase != SHOP or not 0 <= slot < len(run.shop):
            return False
        offer = run.shop[slot]
        return self._can_pay(offer.price) and self._has_place(offer)

    def can_buy_voucher(self, slot: int) -> bool:
        """Return True if the voucher at a place of the shop may be bought."""
        offers = self.run.shop_vouchers
        return self.run.phase == SHOP and 0 <= slot < len(offers) and self._can_pay(offers[slot].price)

    def can_open_pack(self, slot: int) -> bool:
        """Return True if the pack at a place of the shop may be bought and opened."""
        offers = self.run.shop_packs
        return self.run.phase == SHOP and 0 <= slot < len(offers) and self._can_pay(offers[slot].price)

    def can_reroll(self) -> bool:
        """Return True if other cards may be asked for in the shop."""
        return self.run.phase == SHOP and self._can_pay(shop.reroll_price(self.run))

    def can_leave_shop(self) -> bool:
        """Return True in the shop."""
        return self.run.phase == SHOP

    def can_pick(self, item: int) -> tuple[int, int] | None:
        """Return the fewest and the most target cards for an item of the open pack; None if it can't be taken."""
        run = self.run
        if run.phase != PACK or not 0 <= item < len(run.pack):
            return None
        offer = run.pack[item]
        if offer.sold:
            return None
        if offer.category == _CONSUMABLE:
            return uses.targets_needed(run, offer.item, False)
        return (0, 0) if self._has_place(offer) else None

    def can_skip_pack(self) -> bool:
        """Return True while a pack is open."""
        return self.run.phase == PACK

    def can_use(self, consumable: int) -> tuple[int, int] | None:
        """Return the fewest and the most target cards for the use of a consumable; None if it can't be used now."""
        run = self.run
        if run.phase == OVER or not 0 <= consumable < len(run.consumables):
            return None
        return uses.targets_needed(run, run.consumables[consumable] & 0xFF, True)

    def can_target(self, kind: int, position: int) -> bool:
        """Return True if a kind of consumable may be used on the card at a position of the hand."""
        return uses.can_target(self.run, kind, position)

    def can_sell_joker(self, place: int) -> bool:
        """Return True if a joker may be sold."""
        run = self.run
        return run.phase != OVER and 0 <= place < len(run.jokers) and not run.jokers[place].eternal

    def can_sell_consumable(self, place: int) -> bool:
        """Return True if a consumable may be sold."""
        return self.run.phase != OVER and 0 <= place < len(self.run.consumables)

    def reroll_price(self) -> int:
        """Return the price of the next reroll in the shop."""
        return shop.reroll_price(self.run)

    def target_of(self, blind: int) -> int:
        """Return the score that a blind of this ante needs: 0 small, 1 big, 2 boss."""
        return rounds.target_of(self.run, blind)

    def sell_value(self, place: int) -> int:
        """Return the dollars that a joker is sold for."""
        return jokers.sell_value(self.run, self.run.jokers[place])

    def _can_pay(self, price: int) -> bool:
        run = self.run
        return price <= 0 or run.money - price >= (-jokers.debt_allowed(run) if run.jokers else 0)

    def _has_place(self, offer: Offer) -> bool:
        if offer.category == _JOKER:
            return offer.edition == NEGATIVE or empty_slots(self.run) > 0
        return offer.category != _CONSUMABLE or has_consumable_room(self.run)
