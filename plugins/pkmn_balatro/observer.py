"""Writer of observations: fixed arrays of what a player sees. A face-down card is only seen to be there.

Rows of cards, and most other parts, are looked up as bytes that were made once: a step costs few operations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pkmn_balatro.actions import MOST_CONSUMABLES, MOST_JOKERS, PACK_SLOTS, VOUCHER_SLOTS
from pkmn_balatro.features import (
    card_features,
    counts,
    joker_features,
    kind_of,
    log,
    offer_features,
    one_hot,
)
from pkmn_balatro.observation import (
    BOSS_ROOM,
    CARD_FEATURES,
    DECK_ROOM,
    FIRST_CONSUMABLE,
    FIRST_JOKER,
    FIRST_PACK,
    FIRST_VOUCHER,
    JOKER_FEATURES,
    JOKER_ROOM,
    KIND_PLACES,
    MOST,
    NUMBERS,
    OFFER_FEATURES,
    OFFERS,
    PARTS,
    PLACE_FEATURES,
    SCALARS,
    STAKE_ROOM,
    TAG_ROOM,
    VOUCHER_ROOM,
)
from pkmn_balatro.simulator.cards import (
    ENHANCEMENTS,
    FACE_DOWN,
    RANKS,
    STONE,
    SUITS,
    enhancement_of,
    rank_of,
    suit_of,
)
from pkmn_balatro.simulator.consumables import NEGATIVE
from pkmn_balatro.simulator.hands import worth
from pkmn_balatro.simulator.jokers import sell_value
from pkmn_balatro.simulator.rounds import target_of
from pkmn_balatro.simulator.run import HANDS, Category, Offer, Phase, Run
from pkmn_balatro.simulator.shop import reroll_price

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _factors() -> NDArray[np.float32]:
    """Return the factor of each number."""
    factors = np.ones(NUMBERS, np.float32)
    factors[PARTS["scalars"]] = list(SCALARS.values())
    hands = len(HANDS)
    factors[PARTS["hands"]] = [0.2] * hands + [1.0] * hands + [0.1] * hands + [0.25] * hands
    factors[PARTS["deck"]] = [0.25] * len(RANKS) + [0.1] * (len(SUITS) + len(ENHANCEMENTS) - 1)
    return factors


_FACTORS: Final = _factors()

_DECK_FIELDS: Final = len(RANKS) + len(SUITS) + len(ENHANCEMENTS) - 1
_MOST_COUNTED: Final = 250
"""Cards of the draw pile that are counted; a byte holds the count of a kind."""


def _fields_of(code: int) -> int:
    """Return a card by its lowest ten bits as a whole number with a byte for each count of :data:`PARTS` ``deck``."""
    enhancement = enhancement_of(code)
    fields = 1 << 8 * (len(RANKS) + len(SUITS) + enhancement - 1) if enhancement else 0
    if enhancement != STONE and rank_of(code) < len(RANKS):
        fields += (1 << 8 * rank_of(code)) + (1 << 8 * (len(RANKS) + suit_of(code)))
    return fields


_FIELDS: Final = tuple(_fields_of(code) if enhancement_of(code) < len(ENHANCEMENTS) else 0 for code in range(1024))

_MOST_KEPT: Final = 50_000
"""Rows that are kept before all are made again."""
_EMPTY_CARD: Final = bytes(4 * CARD_FEATURES)
_EMPTY_JOKER: Final = bytes(4 * JOKER_FEATURES)
_EMPTY_OFFER: Final = bytes(4 * OFFER_FEATURES)
_EMPTY_PLACE: Final = bytes(4 * PLACE_FEATURES)
_NO_JOKERS: Final = _EMPTY_JOKER * MOST_JOKERS
_NO_OFFERS: Final = _EMPTY_OFFER * OFFERS
_NO_SHOP: Final = _EMPTY_PLACE * (VOUCHER_SLOTS + PACK_SLOTS)
_NO_SET: Final = bytes(4 * JOKER_ROOM)
_PACK_TIMES: Final = Struct(f"{2 * len(HANDS)}f").pack
_PACK_DECK: Final = Struct(f"{_DECK_FIELDS}f").pack
_PACK_SCALARS: Final = Struct(f"{len(SCALARS)}f").pack
_PACK_KINDS: Final = Struct(f"{KIND_PLACES}h").pack


class Observer:
    """Writer of observations. It keeps rows and parts that were made before.

    Args:
        hand_positions: places of the hand.
    """

    def __init__(self, hand_positions: int) -> None:
        self._blank_hand = [_EMPTY_CARD] * hand_positions
        self._cards: dict[int, bytes] = {}
        self._jokers: dict[tuple[Any, ...], bytes] = {}
        self._offers: dict[tuple[Any, ...], bytes] = {}
        self._situations: dict[tuple[int, ...], bytes] = {}
        self._targets: dict[tuple[int, ...], float] = {}
        self._sets: dict[tuple[int, ...], bytes] = {}
        self._owned: dict[tuple[int, ...], bytes] = {}
        self._tags: dict[tuple[int, ...], bytes] = {}
        self._levels_of: list[int] = []
        self._levels = b""
        self._pile: list[int] = []
        self._pile_fields = 0
        self._deck_of = -1
        self._deck = b""

    def write(
        self,
        out: Mapping[str, NDArray[Any]],
        run: Run,
        visible: Sequence[int],
        targets: tuple[int, int],
        free_actions: float,
    ) -> None:
        """Write all arrays but the mask.

        Args:
            out: arrays of the spaces' shapes.
            run: the run.
            visible: cards of the hand that can be chosen.
            targets: fewest and most cards of the choice that is open; zeros if none is.
            free_actions: share of the actions without effect on the game that are left.
        """
        phase = run.phase
        in_shop = phase == Phase.SHOP
        offers = run.pack if phase == Phase.PACK else run.shop if in_shop else ()
        if visible:
            kept = self._cards
            rows = [kept.get(card) or self.card(card) for card in visible]
            rows += self._blank_hand[len(rows) :]
            out["hand"][...] = np.frombuffer(b"".join(rows), np.float32).reshape(-1, CARD_FEATURES)
        else:
            out["hand"].fill(0)
        cards = out["offered_cards"]
        if offers and any(offer.category == Category.CARD for offer in offers):
            rows = [self.card(o.item) if o.category == Category.CARD and not o.sold else _EMPTY_CARD for o in offers]
            rows = (rows + [_EMPTY_CARD] * OFFERS)[:OFFERS]
            cards[...] = np.frombuffer(b"".join(rows), np.float32).reshape(-1, CARD_FEATURES)
        else:
            cards.fill(0)
        kinds = out["kinds"]
        if offers or in_shop or run.jokers or run.consumables:
            kinds[...] = np.frombuffer(self._kinds(run, offers, in_shop), np.int16)
        else:
            kinds.fill(0)
        parts = (
            self._scalars(run, targets, free_actions),
            self._situation(run),
            self._hand_levels(run),
            _PACK_TIMES(*run.played, *run.played_now),
            self._tags_of(run),
            self._vouchers_of(run),
            self._deck_left(run),
            self._joker_set(run) if run.jokers else _NO_SET,
            self._joker_rows(run) if run.jokers else _NO_JOKERS,
            self._offer_rows(run, offers) if offers else _NO_OFFERS,
            self._place_rows(run) if in_shop else _NO_SHOP,
        )
        numbers = out["numbers"]
        np.multiply(np.frombuffer(b"".join(parts), np.float32), _FACTORS, out=numbers)
        np.minimum(numbers, MOST, out=numbers)

    def card(self, card: int) -> bytes:
        """Return the numbers of a card as float32."""
        row = self._cards.get(card)
        if row is None:
            row = np.array(card_features(card), np.float32).tobytes()
            self._keep(self._cards, card, row)
        return row

    # Parts -----------------------------------------------------------------------------------------------------

    def _kinds(self, run: Run, offers: Sequence[Offer], in_shop: bool) -> bytes:
        found = [0] * KIND_PLACES
        for place, joker in enumerate(run.jokers[:MOST_JOKERS]):
            found[place] = FIRST_JOKER + joker.kind
        place = MOST_JOKERS
        for kind in run.consumables[:MOST_CONSUMABLES]:
            found[place] = FIRST_CONSUMABLE + kind % NEGATIVE
            place += 1
        place = MOST_JOKERS + MOST_CONSUMABLES
        for offer in offers[:OFFERS]:
            if not offer.sold:
                found[place] = kind_of(offer)
            place += 1
        if in_shop:
            place = MOST_JOKERS + MOST_CONSUMABLES + OFFERS
            for offer in run.shop_vouchers[:VOUCHER_SLOTS]:
                found[place] = 0 if offer.sold else FIRST_VOUCHER + offer.item
                place += 1
            place = MOST_JOKERS + MOST_CONSUMABLES + OFFERS + VOUCHER_SLOTS
            for offer in run.shop_packs[:PACK_SLOTS]:
                found[place] = 0 if offer.sold else FIRST_PACK + offer.item
                place += 1
        return _PACK_KINDS(*found)

    def _scalars(self, run: Run, targets: tuple[int, int], free_actions: float) -> bytes:
        money = run.money
        jokers = len(run.jokers)
        if run.phase == Phase.PLAY:
            target, score = run.target, run.score
            hands, discards = run.hands_left, run.discards_left
            amounts = (
                log(target),
                log(score) if score else 0.0,
                min(1.0, score / target) if target else 0.0,
                log(target - score) if score < target else 0.0,
            )
        else:
            hands, discards = run.hands_per_round, run.discards_per_round
            amounts = (self._next_target(run), 0.0, 0.0, 0.0)
        cards = len(run.draw)
        return _PACK_SCALARS(
            run.ante,
            run.win_ante,
            run.rounds,
            *amounts,
            hands,
            discards,
            run.hand_size,
            money if money > 0 else 0,
            -money if money < 0 else 0,
            0 if money < 5 else 5 if money > 25 else money // 5,
            max(run.joker_slots - jokers, 0),
            max(run.consumable_slots - len(run.consumables), 0),
            cards,
            cards + len(run.hand) + len(run.discarded),
            reroll_price(run) if run.phase == Phase.SHOP else 0,
            run.free_rerolls,
            run.picks_left,
            *targets,
            run.hands_played,
            run.skips,
            run.won,
            free_actions,
        )

    def _next_target(self, run: Run) -> float:
        key = (run.ante, run.blind, run.boss, run.deck_kind, run.stake)
        found = self._targets.get(key)
        if found is None:
            found = self._targets[key] = log(target_of(run, run.blind))
        return found

    def _situation(self, run: Run) -> bytes:
        active = run.phase == Phase.PLAY and run.blind == 2 and not run.boss_disabled
        key = (run.phase, run.blind, active, run.boss, run.deck_kind, run.stake)
        found = self._situations.get(key)
        if found is None:
            row = [
                *one_hot(run.phase, len(Phase)),
                *one_hot(run.blind, 3),
                float(active),
                *one_hot(run.boss, BOSS_ROOM),
                *one_hot(run.deck_kind, DECK_ROOM),
                *one_hot(run.stake, STAKE_ROOM),
            ]
            found = self._situations[key] = np.array(row, np.float32).tobytes()
        return found

    def _hand_levels(self, run: Run) -> bytes:
        if run.levels != self._levels_of:
            self._levels_of = run.levels[:]
            worths = [min(math.log10(max(math.prod(worth(*one)), 1)) / 2, MOST) for one in enumerate(run.levels)]
            self._levels = np.array([*run.levels, *worths], np.float32).tobytes()
        return self._levels

    def _tags_of(self, run: Run) -> bytes:
        offered = run.offered_tags[run.blind] if run.phase == Phase.BLIND and run.blind < 2 else -1
        key = (offered, *run.tags)
        found = self._tags.get(key)
        if found is None:
            found = np.array([*counts(run.tags, TAG_ROOM), *one_hot(offered, TAG_ROOM)], np.float32).tobytes()
            self._keep(self._tags, key, found)
        return found

    def _vouchers_of(self, run: Run) -> bytes:
        key = tuple(run.vouchers)
        found = self._owned.get(key)
        if found is None:
            found = np.array(counts(key, VOUCHER_ROOM), np.float32).tobytes()
            self._keep(self._owned, key, found)
        return found

    def _deck_left(self, run: Run) -> bytes:
        """Count the cards that may still be drawn, as a player knows: those of the pile and those face down."""
        draw = run.draw
        before = self._pile
        if draw != before:
            count = len(draw)
            fields = _FIELDS
            if count < len(before) <= _MOST_COUNTED and before[:count] == draw:  # some were drawn
                self._pile_fields -= sum([fields[card & 1023] for card in before[count:]])
            else:
                self._pile_fields = sum([fields[card & 1023] for card in draw[:_MOST_COUNTED]])
            self._pile = draw[:]
        found = self._pile_fields
        for card in run.hand:
            if card & FACE_DOWN:
                found += _FIELDS[card & 1023]
        if found != self._deck_of:
            self._deck_of = found
            self._deck = _PACK_DECK(*found.to_bytes(_DECK_FIELDS + 1, "little")[:_DECK_FIELDS])
        return self._deck

    def _joker_set(self, run: Run) -> bytes:
        key = tuple([joker.kind for joker in run.jokers])
        found = self._sets.get(key)
        if found is None:
            found = np.array(counts(key, JOKER_ROOM), np.float32).tobytes()
            self._keep(self._sets, key, found)
        return found

    def _joker_rows(self, run: Run) -> bytes:
        rows = []
        for joker in run.jokers[:MOST_JOKERS]:
            sell = sell_value(run, joker)
            key = (joker.edition, joker.value, sell, joker.debuffed, joker.eternal, joker.perishable, joker.rental)
            row = self._jokers.get(key)
            if row is None:
                row = np.array(joker_features(joker, sell), np.float32).tobytes()
                self._keep(self._jokers, key, row)
            rows.append(row)
        return b"".join(rows).ljust(len(_NO_JOKERS), b"\0")

    def _offer_rows(self, run: Run, offers: Sequence[Offer]) -> bytes:
        rows = []
        for offer in offers[:OFFERS]:
            if offer.sold:
                rows.append(_EMPTY_OFFER)
                continue
            affordable = offer.price <= run.money
            flags = (offer.edition, offer.eternal, offer.perishable, offer.rental)
            key = (offer.category, offer.price, affordable, *flags)
            row = self._offers.get(key)
            if row is None:
                row = np.array(offer_features(offer, affordable), np.float32).tobytes()
                self._keep(self._offers, key, row)
            rows.append(row)
        return b"".join(rows).ljust(len(_NO_OFFERS), b"\0")

    def _place_rows(self, run: Run) -> bytes:
        rows = []
        for offers, places in ((run.shop_vouchers, VOUCHER_SLOTS), (run.shop_packs, PACK_SLOTS)):
            for place in range(places):
                if place >= len(offers) or offers[place].sold:
                    rows.append(_EMPTY_PLACE)
                    continue
                price = offers[place].price
                key = (price, price <= run.money)
                row = self._offers.get(key)
                if row is None:
                    row = np.array([1.0, min(price, 80) / 10, float(price <= run.money)], np.float32).tobytes()
                    self._keep(self._offers, key, row)
                rows.append(row)
        return b"".join(rows)

    @staticmethod
    def _keep(kept: dict[Any, bytes], key: Any, row: bytes) -> None:
        if len(kept) > _MOST_KEPT:
            kept.clear()
        kept[key] = row
