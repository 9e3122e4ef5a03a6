"""Choices to buy, take, use and sell: the gain in strength against the worth of the dollars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Final

from pkmn_balatro import actions as at
from pkmn_balatro.pilot import worths
from pkmn_balatro.pilot.plays import worth
from pkmn_balatro.pilot.strength import Strength
from pkmn_balatro.simulator import consumables as kinds
from pkmn_balatro.simulator import jokers, packs, rounds, stakes
from pkmn_balatro.simulator.blinds import base_score
from pkmn_balatro.simulator.cards import NEGATIVE, NO_EDITION, enhancement_of
from pkmn_balatro.simulator.jokers.create import empty_slots, sell_value, whole_deck
from pkmn_balatro.simulator.pools import joker_of
from pkmn_balatro.simulator.run import Category, Joker, Offer, Phase, Run
from pkmn_balatro.simulator.shop import reroll_price
from pkmn_balatro.words import offer_name

if TYPE_CHECKING:
    from pkmn_balatro.environment import BalatroEnvironment

_JOKER, _CONSUMABLE, _CARD = Category.JOKER.value, Category.CONSUMABLE.value, Category.CARD.value
HORIZON: Final = 7
"""Rounds for which income counts."""
LEAST_GAIN: Final = 0.01
INTEREST_LOST: Final = 1.5
"""Dollars that a dollar of interest less in this round costs in all."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Worth of a dollar, as a logarithm of the score, and of offers without a look."""

    dollar: float = 0.018
    needy_dollar: float = 0.008
    rich_dollar: float = 0.026
    reroll: float = 0.06
    reroll_for_slots: float = 0.12
    buffoon: float = 0.15
    buffoon_for_slots: float = 0.35
    rich: int = 25
    """Dollars beyond which a dollar is worth less."""
    needy_gap: float = -0.2
    rich_gap: float = 0.8
    planet: float = 1.8
    """Factor on the gain by a level, which lasts, and helps to build on one hand."""
    churn: float = 0.08
    """Gain from which a joker is sold for another."""


class Buyer:
    """Player of blind, shop and pack phases at one moment of a run.

    Args:
        environment: the environment, which is only read.
        hands: typical hands for the strength of a build.
        prices: what dollars and unseen offers are worth.
        memory: of :class:`pkmn_balatro.pilot.strength.Strength`.
    """

    def __init__(
        self,
        environment: BalatroEnvironment,
        hands: int,
        prices: Prices,
        memory: dict[tuple[object, ...], float] | None = None,
    ) -> None:
        self._environment = environment
        self._game = environment.game
        self._run = run = environment.game.run
        self.strength = Strength(run, hands, memory=memory)
        self._prices = prices
        growth = stakes.RULES[run.stake].growth
        self.gap = self.strength.of(run.jokers, ahead=0.5) - log(2 * base_score(run.ante + 1, growth))
        """Strength of the build beyond what a boss of the next ante asks for, as a logarithm."""
        self.dollar = self._dollar()
        self.now = self._build(run.jokers)

    def _dollar(self) -> float:
        prices = self._prices
        money = self._run.money
        least = 1.0 if money < prices.rich else 0.75 if money < 1.6 * prices.rich else 0.5
        if self.gap < prices.needy_gap:
            return prices.needy_dollar * least
        return least * (prices.dollar if self.gap < prices.rich_gap else prices.rich_dollar)

    # Worths --------------------------------------------------------------------------------------------------------

    def _build(self, owned: Sequence[Joker], levels: Sequence[int] | None = None) -> float:
        return self.strength.of(owned, levels) + sum([self._beside(joker) for joker in owned])

    def _beside(self, joker: Joker) -> float:
        """Return the worth of a joker beside the scores."""
        run = self._run
        left = min(HORIZON, 0.5 * max(0, (run.win_ante - run.ante) * 3 + 2 - run.blind))
        if self.gap < 0:
            left *= 0.5
        dollars = worths.ROUND_DOLLARS.get(joker.kind, 0.0) - 3.0 * joker.rental
        return dollars * left * self._prices.dollar + worths.FLAT.get(joker.kind, 0.0)

    def cost(self, price: int) -> float:
        """Return what dollars are worth that are spent now, with the interest that they bring."""
        run = self._run
        before, after = (min(5, max(0, money) // 5) for money in (run.money, run.money - price))
        return self.dollar * (price + INTEREST_LOST * (before - after))

    def joker_gain(self, joker: Joker) -> tuple[float, int]:
        """Return the gain by a joker, and the place of the joker to be sold for it, -1 for none."""
        run = self._run
        owned = run.jokers
        if joker.edition == NEGATIVE or empty_slots(run) > 0:
            gain = self._build([*owned, joker]) - self.now
            return gain, -1
        best = (0.0, -1)
        for place, other in enumerate(owned):
            if other.eternal or other.edition == NEGATIVE or place >= at.MOST_JOKERS:
                continue
            rest = [*owned[:place], *owned[place + 1 :], joker]
            gain = self._build(rest) - self.now + self.dollar * sell_value(run, other)
            best = max(best, (gain, place))
        return best

    def planet_gain(self, hand: int) -> float:
        """Return the gain by a level of a hand."""
        levels = list(self._run.levels)
        levels[hand] += 1
        return self._prices.planet * (self._build(self._run.jokers, levels) - self.now)

    def consumable_gain(self, kind: int, own: bool = False) -> float:
        """Return the gain by the use of a consumable."""
        run = self._run
        kind &= 0xFF
        if kind in kinds.PLANETS:
            return self.planet_gain(kind)
        if kind == kinds.BLACK_HOLE:
            return self._build(run.jokers, [level + 1 for level in run.levels]) - self.now
        if kind == kinds.HERMIT:
            return self._prices.dollar * max(0, min(run.money, 20))
        if kind == kinds.TEMPERANCE:
            return self._prices.dollar * min(50, sum(sell_value(run, joker) for joker in run.jokers))
        if kind in worths.SUITS:
            return 0.08 if worths.SUITS[kind] == self.main_suit() else 0.0
        gain = worths.TAROTS.get(kind, 0.0)
        if kind in (kinds.JUDGEMENT, kinds.WRAITH, kinds.SOUL) and empty_slots(run) <= 0:
            return -1.0
        if kind == kinds.WRAITH:
            gain -= self._prices.dollar * max(0, run.money)
        if kind in (kinds.HEX, kinds.ANKH) and len(run.jokers) == 1:
            gain = 0.3
        if kind in (kinds.WHEEL_OF_FORTUNE, kinds.ECTOPLASM):
            plain = sum(joker.edition == NO_EDITION for joker in run.jokers)
            gain = gain if plain else -1.0
        if kind in (kinds.HIGH_PRIESTESS, kinds.EMPEROR, kinds.FOOL) and not own and not kinds.has_consumable_room(run):
            return -1.0
        return gain

    def main_suit(self) -> int:
        """Return the suit of most cards of the deck."""
        counts = [0, 0, 0, 0]
        for card in whole_deck(self._run):
            counts[card >> 4 & 3] += 1
        return counts.index(max(counts))

    def offer_gain(self, offer: Offer) -> tuple[float, int]:
        """Return the gain by an offered item, and the place of the joker to be sold for it, -1 for none."""
        run = self._run
        if offer.category == _JOKER:
            return self.joker_gain(self._joker(offer))
        if offer.category == _CONSUMABLE:
            return self.consumable_gain(offer.item), -1
        if offer.category == _CARD:
            card = offer.item
            return 0.0012 * (worth(card) - 12) + 0.02 * (run.phase == Phase.PACK), -1
        if offer.category == Category.VOUCHER:
            gain = worths.VOUCHERS.get(offer.item, -1.0)
            left = (run.win_ante - run.ante + 1) / run.win_ante
            return gain * min(1.0, 0.3 + left), -1
        return self._pack_gain(offer.item), -1

    def _joker(self, offer: Offer) -> Joker:
        state = self._run.random.getstate()
        joker = joker_of(self._run, offer)
        self._run.random.setstate(state)
        return joker

    def _pack_gain(self, pack: int) -> float:
        kind = packs.PACKS[pack]
        size = pack % 3
        if kind.content == packs.CELESTIAL:
            gains = sorted((self.planet_gain(hand) for hand in range(9)), reverse=True)
            return self._expected_best(gains, kind.items, kind.picks)
        if kind.content == packs.BUFFOON:
            prices = self._prices
            slots = empty_slots(self._run)
            return (prices.buffoon_for_slots if slots > 0 else prices.buffoon) * worths.LARGE[size]
        return worths.PACKS[kind.content] * worths.LARGE[size]

    @staticmethod
    def _expected_best(gains: Sequence[float], items: int, picks: int) -> float:
        """Return the expected best of some items among all, without replacement; nearly twice that for two picks."""
        total, left = 0.0, 1.0
        for place, gain in enumerate(gains):
            chance = min(1.0, items / (len(gains) - place))
            total += left * chance * max(gain, 0.0)
            left *= 1 - chance
        return total * (1.6 if picks > 1 else 1.0)

    # Decisions -----------------------------------------------------------------------------------------------------

    def shop(self) -> tuple[int, str]:
        """Return the action in a shop and its reason."""
        choices = [*self._using(), *self._offers()]
        best = max(choices, default=(0.0, at.LEAVE_SHOP, ""))
        if best[0] > LEAST_GAIN:
            return best[1], best[2]
        if self._rerolls():
            return at.REROLL_SHOP, "look for something better"
        moved = self.order()
        if moved is not None:
            return moved, "order the jokers"
        return at.LEAVE_SHOP, "nothing here is worth its price"

    def _offers(self) -> Iterator[tuple[float, int, str]]:
        run, game = self._run, self._game
        for place, offer in enumerate(run.shop[: at.SHOP_SLOTS]):
            gain, sold = self.offer_gain(offer)
            money = 0 if sold < 0 else sell_value(run, run.jokers[sold])
            if offer.price > run.money + money:
                continue
            net = gain - self.cost(offer.price)
            if offer.category == _JOKER and sold >= 0:
                if net > self._prices.churn:
                    yield net, at.SELL_JOKER + sold, f"sell {_name(run.jokers[sold])} for {_name(offer)}"
            elif game.can_buy(place):
                yield net, at.BUY + place, "buy what adds most"
            elif offer.category == _CONSUMABLE and net > LEAST_GAIN * 3:
                worst = self._worst_consumable()
                if worst is not None and net > worst[0] + LEAST_GAIN:
                    yield net, at.SELL_CONSUMABLE + worst[1], "make room for a better consumable"
        for place, offer in enumerate(run.shop_vouchers[: at.VOUCHER_SLOTS]):
            if game.can_buy_voucher(place):
                yield self.offer_gain(offer)[0] - self.cost(offer.price), at.BUY_VOUCHER + place, "buy the voucher"
        for place, offer in enumerate(run.shop_packs[: at.PACK_SLOTS]):
            if game.can_open_pack(place):
                yield self.offer_gain(offer)[0] - self.cost(offer.price), at.OPEN_PACK + place, "open the pack"

    def _worst_consumable(self) -> tuple[float, int] | None:
        owned = self._run.consumables[: at.MOST_CONSUMABLES]
        return min(((self.consumable_gain(kind, True), place) for place, kind in enumerate(owned)), default=None)

    def _rerolls(self) -> bool:
        run = self._run
        if not self._game.can_reroll():
            return False
        price = reroll_price(run)
        slots = empty_slots(run) > 0
        hope = self._prices.reroll_for_slots if slots else self._prices.reroll
        if run.money - price < 4:
            hope = 0.0  # nothing could be bought
        return price == 0 or hope > self.cost(price)

    def _using(self) -> Iterator[tuple[float, int, str]]:
        """Return the consumables that can be used without targets, with their gain."""
        run, mask = self._run, self._environment.action_masks()
        for place, kind in enumerate(run.consumables[: at.MOST_CONSUMABLES]):
            if not mask[at.USE + place] or kinds.CONSUMABLES[kind & 0xFF].most:
                continue
            gain = self.consumable_gain(kind, True)
            if kind & 0xFF == kinds.HERMIT and run.money < 12 and run.ante < 3:
                continue
            if gain > 0:
                yield gain + 1.0, at.USE + place, f"use {kinds.CONSUMABLES[kind & 0xFF].name}"

    def before_blind(self) -> tuple[int, str]:
        """Return the action before a blind and its reason."""
        for _gain, action, reason in self._using():
            return action, reason
        run = self._run
        if run.blind < 2:
            tag = run.offered_tags[run.blind]
            if self._game.can_skip_blind() and self.gap > 0.0 and worths.SKIPS.get(tag, 0.0) > self._blind_worth():
                return at.SKIP_BLIND, "the tag is worth more than the blind"
        moved = self.order()
        if moved is not None:
            return moved, "order the jokers"
        return at.SELECT_BLIND, "play the blind"

    def _blind_worth(self) -> float:
        run = self._run
        dollars = rounds.reward_of(run, run.blind) + 2 + rounds.interest(run)
        return self.dollar * dollars + 0.25

    def pack(self) -> tuple[int, str]:
        """Return the action while a pack is open and its reason."""
        run, mask = self._run, self._environment.action_masks()
        best = (LEAST_GAIN, at.SKIP_PACK, "nothing is of use")
        for place, offer in enumerate(run.pack[: at.PACK_ITEMS]):
            if offer.sold:
                continue
            gain, sold = self.offer_gain(offer)
            if offer.category == _JOKER and sold >= 0 and gain > self._prices.churn:
                best = max(best, (gain, at.SELL_JOKER + sold, f"sell {_name(run.jokers[sold])} for {_name(offer)}"))
            elif mask[at.PICK + place]:
                best = max(best, (gain, at.PICK + place, f"take {_name(offer)}"))
        return best[1], best[2]

    def weakest(self) -> list[int]:
        """Return the places of the jokers, those that add least first."""
        owned = self._run.jokers
        return sorted(range(len(owned)), key=lambda place: -self._build([*owned[:place], *owned[place + 1 :]]))

    def order(self) -> int | None:
        """Return the move of a joker to the left that adds most to the score; None if none does."""
        run = self._run
        owned = run.jokers
        if len(owned) < 2:
            return None
        mask = self._environment.action_masks()
        best, found = self.strength.of(owned) + 1e-6, None
        for place in range(1, min(len(owned), at.MOST_JOKERS)):
            if not mask[at.JOKER_LEFT + place - 1]:
                continue
            moved = [*owned[: place - 1], owned[place], owned[place - 1], *owned[place + 1 :]]
            value = self.strength.of(moved)
            if value > best:
                best, found = value, at.JOKER_LEFT + place - 1
        return found


def targets(run: Run, kind: int, places: Sequence[int], fewest: int, most: int) -> tuple[int, ...]:
    """Return the targets of a consumable as positions among the places of the hand that can be chosen.

    Args:
        run: the run.
        kind: the consumable.
        places: positions in the hand of the cards that can be chosen.
        fewest: fewest targets.
        most: most targets.
    """
    cards = [run.hand[place] for place in places]
    high = sorted(range(len(cards)), key=lambda place: -worth(cards[place]))
    plain = [place for place in high if not enhancement_of(cards[place])] or high
    if kind == kinds.HANGED_MAN:
        chosen = high[::-1][:most]
    elif kind == kinds.DEATH:
        chosen = [high[-1], high[0]]
    elif kind in worths.SUITS:
        others = [place for place in high if cards[place] >> 4 & 3 != worths.SUITS[kind]]
        chosen = (others or high)[:most]
    elif kind in (kinds.CHARIOT, kinds.DEVIL):
        chosen = plain[len(plain) // 2 :][:most]
    elif kind == kinds.TOWER:
        chosen = plain[-1:]
    elif kind == kinds.STRENGTH:
        chosen = [place for place in high if cards[place] & 0xF != 12][:most] or high[:most]
    elif kind == kinds.AURA:
        chosen = [place for place in high if not cards[place] >> 10 & 7][:1]
    elif kind in (kinds.MAGICIAN, kinds.EMPRESS, kinds.HIEROPHANT, kinds.JUSTICE, kinds.LOVERS):
        chosen = plain[:most]
    else:
        chosen = high[:most]
    for place in high:
        if len(chosen) >= fewest:
            break
        if place not in chosen:
            chosen.append(place)
    return tuple(sorted(chosen[:most]))


def _name(item: Joker | Offer) -> str:
    if isinstance(item, Joker):
        return jokers.JOKERS[item.kind].name
    return offer_name(item) or "the card"
