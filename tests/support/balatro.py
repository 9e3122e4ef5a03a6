"""Games of Balatro for tests: situations to begin with, and random play within the rules."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from pkmn_balatro.simulator import cards as deck
from pkmn_balatro.simulator.game import Game
from pkmn_balatro.simulator.jokers import JOKERS, kind_named, make_joker
from pkmn_balatro.simulator.run import Category, IllegalActionError, Joker, Phase, Run
from pkmn_balatro.simulator.scoring import commit, score_hand

Action = tuple[str, tuple[Any, ...]]

_SUITS = "SHCD"


def card(words: str) -> int:
    """Return the card that `KS`, `10H+glass+red seal` or `9C+debuffed` means."""
    name, *notes = words.split("+")
    made = deck.make_card(deck.RANKS.index(name[:-1]), _SUITS.index(name[-1]))
    for note in notes:
        if note == "debuffed":
            made |= deck.DEBUFFED
        elif note.endswith("seal"):
            made = deck.with_seal(made, deck.SEALS.index(note.removesuffix(" seal")))
        elif note in deck.EDITIONS:
            made = deck.with_edition(made, deck.EDITIONS.index(note))
        elif note.isdigit():
            made += int(note) << deck.EXTRA_SHIFT
        else:
            made = deck.with_enhancement(made, deck.ENHANCEMENTS.index(note))
    return made


def cards(words: str) -> list[int]:
    """Return the cards of words such as ``KS 10H+glass 2D``; `_` stands for a space within a word."""
    return [card(word.replace("_", " ")) for word in words.split()]


def in_blind(blind: int = 0, boss: int = 0, ante: int = 1, jokers: Sequence[str] = (), **options: Any) -> Game:
    """Return a game in which this blind has just begun."""
    game = Game(options.pop("seed", 1), **options)
    run = game.run
    run.ante, run.blind, run.boss = ante, blind, boss
    run.jokers = [joker(name) for name in jokers]
    game.select_blind()
    return game


def in_shop(money: int = 100, jokers: Sequence[str] = (), seed: int = 1, **options: Any) -> Game:
    """Return a game in the first shop."""
    game = Game(seed, **options)
    game.run.jokers = [joker(name) for name in jokers]
    game.select_blind()
    beat(game)
    game.run.money = money
    return game


def beat(game: Game) -> None:
    """Beat the blind that is played, with one card."""
    game.run.score = game.run.target
    forced = game.forced_position()
    game.play([max(0, forced)])


def joker(name: str, **values: Any) -> Joker:
    """Return a joker by its name."""
    return Joker(kind_named(name), **values)


def made_joker(run: Run, words: str) -> Joker:
    """Return a joker with its first value: `Baron`, `Green Joker=7`, `Joker@foil` or `Joker@debuffed`."""
    name, _, edition = words.partition("@")
    name, _, value = name.partition("=")
    made = make_joker(run, kind_named(name))
    if value:
        made.value = int(value)
    if edition == "debuffed":
        made.debuffed = True
    elif edition:
        made.edition = deck.EDITIONS.index(edition)
    return made


def run_with(names: str, hand: str = "KS KH 2D 3C 4D", **state: Any) -> Run:
    """Return a run in the middle of a round, with these jokers and this hand."""
    run = Run(3)
    run.random = random.Random(3)
    run.hand = cards(hand)
    run.hands_left, run.discards_left = 4, 3
    for name, value in state.items():
        assert hasattr(run, name), name
        setattr(run, name, value)
    run.jokers = [made_joker(run, words.strip()) for words in names.split(",")]
    return run


def joker_names(run: Run) -> list[str]:
    """Return the names of the jokers that the player has."""
    return [JOKERS[owned.kind].name for owned in run.jokers]


def play_hand(run: Run, *positions: int, seed: int | None = None) -> None:
    """Play a hand and keep what it changes."""
    commit(run, score_hand(run, positions, chance=run.random if seed is None else random.Random(seed)))


def hold(game: Game, words: str) -> None:
    """Let the hand be these plain cards."""
    game.run.hand = cards(words)


def every_action(game: Game) -> list[Action]:
    """Return one action of each kind and place, allowed or not, but for the choice of cards."""
    run = game.run
    places = range(-1, max(8, len(run.hand)) + 1)
    hand = len(run.hand)
    actions: list[Action] = [
        (name, ()) for name in ("select_blind", "skip_blind", "reroll_boss", "reroll", "leave_shop", "skip_pack")
    ]
    for name in ("buy", "buy_voucher", "open_pack", "sell_joker", "sell_consumable"):
        actions += [(name, (place,)) for place in places]
    for positions in ([], [0], [0, 0], [hand - 1], [hand], [-1], [0, 1], [0, 1, 2], list(range(5)), list(range(6))):
        actions += [("play", (positions,)), ("discard", (positions,))]
        actions += [("pick", (item, positions)) for item in range(-1, 6)]
        actions += [("use", (place, positions)) for place in range(-1, 4)]
    actions += [("move_joker", (place, to)) for place in (-1, 0, 1, 6) for to in (-1, 0, 1, 6)]
    return actions


def allowed_actions(game: Game, luck: random.Random) -> list[Action]:
    """Return the actions that the game's queries allow; of the choices of cards a random one each."""
    run = game.run
    actions: list[Action] = []
    if game.can_select_blind():
        actions.append(("select_blind", ()))
    if game.can_skip_blind():
        actions.append(("skip_blind", ()))
    if game.can_reroll_boss():
        actions.append(("reroll_boss", ()))
    if game.can_play():
        actions.append(("play", (_some_cards(game, luck),)))
    if game.can_discard():
        actions.append(("discard", (_some_cards(game, luck),)))
    if game.can_leave_shop():
        actions.append(("leave_shop", ()))
        if game.can_reroll():
            actions.append(("reroll", ()))
        actions += [("buy", (slot,)) for slot in range(len(run.shop)) if game.can_buy(slot)]
        actions += [("buy_voucher", (slot,)) for slot in range(len(run.shop_vouchers)) if game.can_buy_voucher(slot)]
        actions += [("open_pack", (slot,)) for slot in range(len(run.shop_packs)) if game.can_open_pack(slot)]
    if game.can_skip_pack():
        actions.append(("skip_pack", ()))
        for item, offer in enumerate(run.pack):
            needed = game.can_pick(item)
            if needed is not None:
                kind = offer.item if offer.category == Category.CONSUMABLE else 0
                actions.append(("pick", (item, _targets(game, kind, needed, luck))))
    for place, consumable in enumerate(run.consumables):
        needed = game.can_use(place)
        if needed is not None:
            actions.append(("use", (place, _targets(game, consumable & 0xFF, needed, luck))))
        if luck.random() < 0.1:
            actions.append(("sell_consumable", (place,)))
    if run.jokers and luck.random() < 0.1:
        actions += [("sell_joker", (place,)) for place in range(len(run.jokers)) if game.can_sell_joker(place)]
    return actions


def act(game: Game, action: Action) -> None:
    """Carry out an action."""
    getattr(game, action[0])(*action[1])


def is_refused(game: Game, action: Action) -> bool:
    """Try an action; return True if it is refused."""
    try:
        act(game, action)
    except IllegalActionError:
        return True
    return False


def play_at_random(game: Game, luck: random.Random, steps: int = 10_000) -> int:
    """Take random actions until the run is over, or for some steps; return how many."""
    for step in range(steps):
        if game.run.phase == Phase.OVER:
            return step
        act(game, luck.choice(allowed_actions(game, luck)))
    return steps


def _some_cards(game: Game, luck: random.Random) -> list[int]:
    hand = len(game.run.hand)
    chosen = luck.sample(range(hand), luck.randint(1, min(5, hand)))
    forced = game.forced_position()
    return chosen if forced < 0 or forced in chosen else [forced, *[place for place in chosen[1:] if place != forced]]


def _targets(game: Game, kind: int, needed: tuple[int, int], luck: random.Random) -> list[int]:
    fewest, most = needed
    if most == 0:
        return []
    able = [place for place in range(len(game.run.hand)) if game.can_target(kind, place)]
    return luck.sample(able, luck.randint(fewest, min(most, len(able))))
