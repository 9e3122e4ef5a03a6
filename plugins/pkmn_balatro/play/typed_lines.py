"""Typed lines as actions of a game. A line that can't be followed is explained in one line, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from pkmn_balatro.simulator.cards import card_name
from pkmn_balatro.simulator.consumables import CONSUMABLES, DEATH, consumable_name
from pkmn_balatro.simulator.game import MOST_PLAYED_CARDS, Game
from pkmn_balatro.simulator.jokers import JOKERS, debt_allowed
from pkmn_balatro.simulator.queries import BOSS_REROLL_PRICE
from pkmn_balatro.simulator.run import HANDS, Category, IllegalActionError, Phase, Run
from pkmn_balatro.simulator.scored import Scored
from pkmn_balatro.words import BLINDS, offer_words, span
from pkmncli.errors import did_you_mean


class MistakeError(ValueError):
    """Line that can't be followed, with one line of help. Nothing has changed."""


class Usage(NamedTuple):
    """An entry of the help."""

    examples: tuple[str, ...]
    meaning: str
    phases: tuple[Phase, ...]
    """Phases in which it is shown below the table."""


_HAND: Final = (Phase.PLAY, Phase.PACK)
_ANY: Final = (Phase.BLIND, Phase.PLAY, Phase.SHOP, Phase.PACK)

ACTIONS: Final = (
    Usage(("select", "next"), "begin the blind", (Phase.BLIND,)),
    Usage(("skip",), "skip the small or the big blind for its tag", (Phase.BLIND,)),
    Usage(("play 1 3 5",), "play 1 to 5 cards of the hand", (Phase.PLAY,)),
    Usage(("discard 2 4",), "discard 1 to 5 cards and draw others", (Phase.PLAY,)),
    Usage(("buy 2", "buy voucher 1", "buy pack 1"), "buy in the shop; a pack is opened at once", (Phase.SHOP,)),
    Usage(("reroll",), "other cards in the shop; before a blind another boss, with a voucher", (Phase.SHOP,)),
    Usage(("next",), "leave the shop", (Phase.SHOP,)),
    Usage(("pick 1", "pick 1 on 3 4"), "take an item of the open pack, if needed on cards", (Phase.PACK,)),
    Usage(("skip",), "close the pack", (Phase.PACK,)),
    Usage(("use 1", "use 1 on 3 4"), "use a consumable, if needed on cards", _ANY),
    Usage(("sell joker 1", "sell consumable 1"), "sell one", _ANY),
    Usage(("move 3 1",), "move the third joker to the first place", ()),
    Usage(("sort rank", "sort suit"), "sort the hand", _HAND),
)
"""Lines that play, and when they are shown."""

_ALIASES: Final = {
    "p": "play",
    "d": "discard",
    "u": "use",
    "b": "buy",
    "r": "reroll",
    "n": "next",
    "open": "pack",
    "leave": "next",
    "take": "pick",
    "begin": "select",
}
_FILLERS: Final = frozenset({"on", "to", "and", "the", "card", "cards", "shop", "item", "blind", "joker", "boss"})
"""Words that mean nothing, except after ``sell``."""


class TypedGame:
    """A game that is played by typed lines, whose places count from 1.

    Args:
        game: the game; assign another one to :attr:`game` to continue with it.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.verbs: dict[str, Callable[[list[str]], list[str]]] = {
            "play": self._play,
            "discard": self._discard,
            "select": self._select,
            "skip": self._skip,
            "next": self._next,
            "reroll": self._reroll,
            "buy": self._buy,
            "voucher": lambda words: self._buy(["voucher", *(word for word in words if word != "voucher")]),
            "pack": lambda words: self._buy(["pack", *(word for word in words if word != "pack")]),
            "pick": self._pick,
            "use": self._use,
            "sell": self._sell,
            "move": self._move,
            "sort": self._sort,
        }
        """Lines' first words, each with what follows it."""

    def take(self, line: str) -> list[str]:
        """Follow a line that plays, and return what happened, in lines.

        Raises:
            MistakeError: the line can't be followed. Nothing has changed.
        """
        first, *words = line.lower().replace(",", " ").split()
        verb = self.verbs[verb_of(first, self.verbs)]
        run = self.game.run
        rounds, money, blind, won = run.rounds, run.money, BLINDS[run.blind], run.won
        try:
            told = verb(words)
        except IllegalActionError as error:  # the checks here are to find it first, with better words
            raise MistakeError(str(error)) from None
        if run.rounds > rounds:
            told.append(f"The {blind} is beaten: ${run.money}, ${money} before.")
        if run.won and not won:
            told.append(f"The run is won at ante {run.win_ante}.")
        elif run.phase == Phase.OVER:
            told.append(f"The run is lost at ante {run.ante}, {blind}: {run.score:,} of {run.target:,}.")
        return told

    # Blinds ----------------------------------------------------------------------------------------------------

    def _select(self, words: list[str]) -> list[str]:
        _numbers(words, 0, 0, "select")
        self._in(Phase.BLIND, "a blind is selected before it is played")
        self.game.select_blind()
        return []

    def _skip(self, words: list[str]) -> list[str]:
        _numbers(words, 0, 0, "skip")
        if self.game.run.phase == Phase.PACK:
            self.game.skip_pack()
            return ["The pack is closed."]
        self._in(Phase.BLIND, "a blind is skipped before it is played, and a pack when it is open")
        if not self.game.can_skip_blind():
            raise MistakeError("the boss blind can't be skipped; 'select' begins it")
        self.game.skip_blind()
        return ["The blind is skipped for its tag."]

    def _next(self, words: list[str]) -> list[str]:
        _numbers(words, 0, 0, "next")
        if self.game.run.phase == Phase.SHOP:
            self.game.leave_shop()
            return []
        if self.game.run.phase == Phase.PACK:
            raise MistakeError("a pack is open: 'pick 1' takes an item, 'skip' closes it")
        return self._select([])

    def _reroll(self, words: list[str]) -> list[str]:
        _numbers(words, 0, 0, "reroll")
        game = self.game
        if game.run.phase == Phase.BLIND:
            if not game.can_reroll_boss():
                raise MistakeError(
                    f"the boss is rerolled with the voucher Director's Cut, once an ante, or Retcon, for "
                    f"${BOSS_REROLL_PRICE}"
                )
            game.reroll_boss()
            return ["There is another boss."]
        self._in(Phase.SHOP, "the shop is rerolled while it is open")
        if not game.can_reroll():
            self._too_dear("a reroll", game.reroll_price())
        game.reroll()
        return []

    # Cards -----------------------------------------------------------------------------------------------------

    def _play(self, words: list[str]) -> list[str]:
        self._in(Phase.PLAY, "cards are played in a blind")
        return _told(self.game.play(self._chosen(words, "play 1 3 5")))

    def _discard(self, words: list[str]) -> list[str]:
        self._in(Phase.PLAY, "cards are discarded in a blind")
        if not self.game.can_discard():
            raise MistakeError("there are no discards left in this round")
        self.game.discard(self._chosen(words, "discard 2 4"))
        return []

    def _chosen(self, words: list[str], example: str) -> list[int]:
        game = self.game
        positions = self._positions(_numbers(words, 1, MOST_PLAYED_CARDS, example))
        forced = game.forced_position()
        if forced >= 0 and forced not in positions:
            raise MistakeError(f"the boss wants card {forced + 1} to be among them")
        return positions

    def _positions(self, places: Sequence[int]) -> list[int]:
        count = len(self.game.run.hand)
        for place in places:
            if place > count:
                raise MistakeError(f"there is no card {place}: the hand has {count}")
        if len(set(places)) < len(places):
            raise MistakeError("a card is named twice")
        return [place - 1 for place in places]

    def _sort(self, words: list[str]) -> list[str]:
        if words not in (["rank"], ["suit"]):
            raise MistakeError("write 'sort rank' or 'sort suit'")
        if self.game.run.phase not in _HAND:
            raise MistakeError("there is no hand to sort now")
        self.game.sort_hand(by_suit=words == ["suit"])
        return []

    # The shop and packs ----------------------------------------------------------------------------------------

    def _buy(self, words: list[str]) -> list[str]:
        kind = words[0] if words and words[0] in ("voucher", "pack") else ""
        place = _numbers(words[1:] if kind else words, 1, 1, f"buy {kind} 1".replace("  ", " "))[0] - 1
        self._in(Phase.SHOP, "things are bought in the shop")
        game, run = self.game, self.game.run
        offers = {"voucher": run.shop_vouchers, "pack": run.shop_packs, "": run.shop}[kind]
        if place >= len(offers):
            what = kind or "card"
            raise MistakeError(
                f"there is no {what} {place + 1}: the shop has {len(offers)}" if offers else f"the shop has no {what}"
            )
        offer = offers[place]
        what = offer_words(offer).partition(":")[0]
        can, take = {
            "voucher": (game.can_buy_voucher, game.buy_voucher),
            "pack": (game.can_open_pack, game.open_pack),
            "": (game.can_buy, game.buy),
        }[kind]
        if not can(place):
            if offer.price > self._means():
                self._too_dear(what, offer.price)
            self._no_place(offer.category)
        take(place)
        return [f"Bought {what} for ${offer.price}."]

    def _pick(self, words: list[str]) -> list[str]:
        place, *targets = _numbers(words, 1, 6, "pick 1 on 3 4")
        self._in(Phase.PACK, "items are picked from an open pack")
        game, run = self.game, self.game.run
        if place > len(run.pack) or run.pack[place - 1].sold:
            raise MistakeError(f"there is no item {place} in the pack")
        offer = run.pack[place - 1]
        needed = game.can_pick(place - 1)
        if needed is None:
            if offer.category != Category.CONSUMABLE:
                self._no_place(offer.category)
            raise MistakeError(f"{CONSUMABLES[offer.item].name} can't be used now: {CONSUMABLES[offer.item].words}")
        name = offer_words(offer).partition(":")[0]
        chosen = self._targets(offer.item if offer.category == Category.CONSUMABLE else -1, name, needed, targets)
        game.pick(place - 1, chosen)
        return [f"Took {name}."]

    def _use(self, words: list[str]) -> list[str]:
        place, *targets = _numbers(words, 1, 6, "use 1 on 3 4")
        run = self.game.run
        if place > len(run.consumables):
            raise MistakeError(_none_there("consumable", place, len(run.consumables)))
        kind = run.consumables[place - 1]
        name = consumable_name(kind)
        needed = self.game.can_use(place - 1)
        if needed is None:
            raise MistakeError(f"{name} can't be used now: {CONSUMABLES[kind & 0xFF].words}")
        self.game.use(place - 1, self._targets(kind & 0xFF, name, needed, targets))
        return [f"Used {name}."]

    def _targets(self, kind: int, name: str, needed: tuple[int, int], places: Sequence[int]) -> list[int]:
        fewest, most = needed
        if not fewest <= len(places) <= most:
            if not most:
                raise MistakeError(f"{name} is used on no cards: leave them out")
            order = "; the first becomes the second" if kind == DEATH else ""
            count = span(fewest, most)
            raise MistakeError(f"{name} is used on {count} card{'s' * (most > 1)}, such as 'on 1 2'{order}")
        positions = self._positions(places)
        for position in positions:
            if not self.game.can_target(kind, position):
                card = card_name(self.game.run.hand[position])
                raise MistakeError(f"{name} can't be used on card {position + 1}, {card}")
        return positions

    # Jokers and consumables ------------------------------------------------------------------------------------

    def _sell(self, words: list[str]) -> list[str]:
        kind = next((name for name in ("joker", "consumable") if words and len(words[0]) > 2 and
                     name.startswith(words[0])), "")  # fmt: skip
        if not kind:
            raise MistakeError("write 'sell joker 1' or 'sell consumable 1'")
        place = _numbers(words[1:], 1, 1, f"sell {kind} 1")[0]
        run, money = self.game.run, self.game.run.money
        if place > len(run.jokers if kind == "joker" else run.consumables):
            raise MistakeError(_none_there(kind, place, len(run.jokers if kind == "joker" else run.consumables)))
        if kind == "joker":
            name = JOKERS[run.jokers[place - 1].kind].name
            if not self.game.can_sell_joker(place - 1):
                raise MistakeError(f"{name} is eternal: it can't be sold")
            self.game.sell_joker(place - 1)
        else:
            name = consumable_name(run.consumables[place - 1])
            self.game.sell_consumable(place - 1)
        return [f"Sold {name} for ${run.money - money}."]

    def _move(self, words: list[str]) -> list[str]:
        places = _numbers(words, 2, 2, "move 3 1")
        count = len(self.game.run.jokers)
        for place in places:
            if place > count:
                raise MistakeError(_none_there("joker", place, count))
        self.game.move_joker(places[0] - 1, places[1] - 1)
        return []

    # Reasons ---------------------------------------------------------------------------------------------------

    def _in(self, phase: Phase, rule: str) -> None:
        """Raise MistakeError in another phase."""
        if self.game.run.phase != phase:
            raise MistakeError(f"{rule}. Now: {', '.join(lines_now(self.game.run)) or 'the run has ended'}")

    def _means(self) -> int:
        run = self.game.run
        return max(0, run.money + debt_allowed(run))

    def _too_dear(self, what: str, price: int) -> None:
        raise MistakeError(f"{what} costs ${price}, and you have ${self.game.run.money}")

    def _no_place(self, category: int) -> None:
        run = self.game.run
        what, most = ("joker", run.joker_slots) if category == Category.JOKER else ("consumable", run.consumable_slots)
        raise MistakeError(f"all {most} places for {what}s are taken: 'sell {what} 1' makes room")


def verb_of(word: str, verbs: Sequence[str] | dict[str, Callable[[list[str]], list[str]]]) -> str:
    """Return the verb that a word means: itself, another name, or the beginning of only one.

    Raises:
        MistakeError: there is none.
    """
    word = _ALIASES.get(word, word)
    if word in verbs:
        return word
    begun = [verb for verb in verbs if verb.startswith(word)]
    if len(begun) == 1:
        return begun[0]
    if word and begun:
        raise MistakeError(f"'{word}' may be {' or '.join(begun)}")
    near = did_you_mean(word, list(verbs), "'help' lists what can be written")
    raise MistakeError(f"'{word}' is not understood; {near}")


def lines_now(run: Run) -> list[str]:
    """Return the lines that play now, an example of each."""
    shown = []
    for usage in ACTIONS:
        if run.phase in usage.phases:
            first = usage.examples[0]
            if first == "skip" and run.phase == Phase.BLIND and run.blind == 2:
                continue
            if first == "use 1" and not run.consumables:
                continue
            if first == "sell joker 1" and not run.jokers:
                continue
            if first == "sort rank" and not run.hand:
                continue
            shown.append(first)
    return shown


def _told(scored: Scored) -> list[str]:
    name = HANDS[scored.hand]
    if scored.blocked:
        return [f"{name}: the boss lets it score nothing."]
    told = [f"{name}, level {scored.level}: {scored.chips:,.0f} chips x {scored.mult:,.4g} = {scored.total:,}."]
    if scored.money:
        told.append(f"It brings ${scored.money}." if scored.money > 0 else f"It costs ${-scored.money}.")
    if scored.destroyed:
        told.append(f"Destroyed: {', '.join(card_name(scored.cards[place]) for place in scored.destroyed)}.")
    return told


def _none_there(what: str, place: int, count: int) -> str:
    return f"there is no {what} {place}: you have {count or 'none'}"


def _numbers(words: Sequence[str], fewest: int, most: int, example: str) -> list[int]:
    """Return the numbers among words, each at least 1. Raise MistakeError for other words, and for too many or few."""
    found = []
    for word in words:
        if word in _FILLERS:
            continue
        if not word.isdecimal() or len(word) > 3 or not int(word):
            raise MistakeError(f"'{word}' is not understood; write for example '{example}'")
        found.append(int(word))
    if not fewest <= len(found) <= most:
        if not most:
            raise MistakeError(f"'{example}' takes no numbers")
        raise MistakeError(f"{span(fewest, most)} number{'s' * (most > 1)} needed; write for example '{example}'")
    return found
