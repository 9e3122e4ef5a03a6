"""Scoring of a played hand, with all that jokers, card modifiers and bosses do to it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from pkmn_balatro.simulator import blinds, decks, vouchers
from pkmn_balatro.simulator.cards import (
    BONUS,
    CHIPS,
    DEBUFFED,
    FOIL,
    GLASS,
    GOLD_SEAL,
    HOLOGRAPHIC,
    LUCKY,
    MULT,
    POLYCHROME,
    RED_SEAL,
    STEEL,
    STONE,
)
from pkmn_balatro.simulator.hands import SMEARED, SUITS_OF, identify, worth
from pkmn_balatro.simulator.jokers.hooks import (
    BLUEPRINT,
    BRAINSTORM,
    OOPS,
    OPTIONS,
    PAREIDOLIA,
    STAGE_HOOKS,
    Event,
    Hook,
    Stage,
    notify,
    source,
)
from pkmn_balatro.simulator.run import Run
from pkmn_balatro.simulator.scored import Scored

_MODIFIED: Final = 0xF << 6 | 7 << 10 | 7 << 13
_RED: Final = RED_SEAL << 13
_SEAL: Final = 7 << 13
_STEEL: Final = STEEL << 6
_GLASS: Final = GLASS << 6
_ENHANCEMENT: Final = 0xF << 6
_BEFORE, _REPEAT, _CARD, _HELD_REPEAT, _HELD, _JOKER, _OTHER, _AFTER, _BLOCKED = (stage.value for stage in Stage)


def _nothing(s: Scored, place: int) -> None:
    """Do nothing."""


_NOTHING: Final[tuple[Hook, int]] = (_nothing, -1)


def score_hand(run: Run, positions: Sequence[int], *, chance: random.Random | None = None) -> Scored:
    """Return what a play of 1 to 5 cards scores and changes. The run stays as it is; :func:`commit` keeps the changes.

    Args:
        run: The run just before the play: ``hands_left`` and the counts of hands played don't include it yet.
        positions: Places in ``run.hand``, in any order; the cards are played from left to right.
        chance: Source of luck, which advances. None gives a preview: chances that are not certain fail, so that
            ``total`` is the least that the hand scores; consumables are not made.
    """
    s = Scored()
    s.run = run
    places = s.positions = tuple(sorted(positions))
    hand = run.hand
    cards = s.cards = [hand[place] for place in places]
    s.chance = chance
    s.created = []
    s.added = []
    s.gone = []
    s.destroyed = ()
    s.money = 0
    s.lucky = s.blocked = s.triggered = False
    options, stages = _gather(s)

    s.hand, s.scoring, s.contained = identify(cards, options)
    s.level = run.levels[s.hand]
    boss = blinds.active_boss(run)
    if boss >= 0:
        _boss_acts(s, boss)
        if s.blocked:
            s.chips = s.mult = s.total = 0
            s.held = []
            for hook, place in (*stages[_BLOCKED], *stages[_AFTER]):
                hook(s, place)
            return s
    held = s.held = hand[:]
    for place in reversed(places):
        del held[place]

    for hook, place in stages[_BEFORE]:
        hook(s, place)
    s.chips, s.mult = worth(s.hand, s.level)
    if boss == blinds.FLINT:
        s.chips = max(int(s.chips * 0.5 + 0.5), 0)
        s.mult = max(int(s.mult * 0.5 + 0.5), 1)

    _score_cards(s, stages[_REPEAT], stages[_CARD])
    _let_held_cards_act(s, stages[_HELD_REPEAT], stages[_HELD])
    if s.jokers:
        _let_jokers_act(s, stages[_JOKER], stages[_OTHER])
    if run.consumables and vouchers.OBSERVATORY in run.vouchers:
        s.mult *= 1.5 ** sum(item & 255 == s.hand for item in run.consumables)
    if run.deck_kind == decks.PLASMA:
        s.chips = s.mult = (s.chips + s.mult) // 2
    product = s.chips * s.mult
    s.total = int(product) if product < 1e300 else 10**300
    if chance is not None:
        _break_glass(s)
    for hook, place in stages[_AFTER]:
        hook(s, place)
    return s


_Hooks = Sequence[tuple[Hook, int]]
_NO_HOOKS: Final[Sequence[_Hooks]] = ((),) * len(Stage)


def _gather(s: Scored) -> tuple[int, Sequence[_Hooks]]:
    """Return the options that jokers bring, and by stage the hooks, each with the place of the joker that it is of.

    In the list of :data:`Stage.JOKER` each joker has its entry: the place is -1 if it does nothing then.
    """
    jokers = s.jokers = s.run.jokers
    if not jokers:
        s.values = []
        s.doublings = 0
        s.faces = False
        s.suits = SUITS_OF[False]
        return 0, _NO_HOOKS
    stages: list[list[tuple[Hook, int]]] = [[], [], [], [], [], [], [], [], []]
    own_moments = stages[_JOKER]
    options = doublings = 0
    values: list[int] = []
    for place, joker in enumerate(jokers):
        values.append(joker.value)
        own_moments.append(_NOTHING)
        if joker.debuffed:
            continue
        kind = joker.kind
        acting = place
        if kind in (BLUEPRINT, BRAINSTORM):
            acting = source(jokers, place)
            if acting < 0:
                continue
            kind = jokers[acting].kind
        elif OPTIONS[kind]:
            options |= OPTIONS[kind]
            if OPTIONS[kind] == OOPS:
                doublings += 1
        for stage, hook, own in STAGE_HOOKS[kind]:
            if stage == _JOKER:
                own_moments[place] = hook, acting
            elif acting == place or not own:
                stages[stage].append((hook, acting))
    s.values = values
    s.doublings = doublings
    s.faces = options & PAREIDOLIA != 0
    s.suits = SUITS_OF[options & SMEARED != 0]
    return options, stages


def _score_cards(s: Scored, repeats: _Hooks, hooks: _Hooks) -> None:
    """Score the cards of the hand from left to right, each as often as seals and jokers say."""
    cards = s.cards
    for position in s.scoring:
        card = cards[position]
        if card & DEBUFFED:
            s.triggered = True
            continue
        times = 2 if card & _SEAL == _RED else 1
        for hook, place in repeats:
            times += hook(s, place, card, position)
        while times:
            times -= 1
            card = cards[position]
            if card & _MODIFIED or card >> 20:
                _score_card(s, card)
            else:
                s.chips += CHIPS[card & 15]
            for hook, place in hooks:
                hook(s, place, card, position)


def _let_held_cards_act(s: Scored, repeats: _Hooks, hooks: _Hooks) -> None:
    """Let steel cards and jokers act on the cards that stay in the hand."""
    more_times = 0
    for hook, place in repeats:
        more_times += hook(s, place)
    for position, card in enumerate(s.held):
        steel = card & _ENHANCEMENT == _STEEL
        if (not steel and not hooks) or card & DEBUFFED:
            continue
        for _ in range((2 if card & _SEAL == _RED else 1) + more_times):
            if steel:
                s.mult *= 1.5
            for hook, place in hooks:
                hook(s, place, card, position)


def _let_jokers_act(s: Scored, moments: _Hooks, others: _Hooks) -> None:
    """Let the jokers act from left to right: edition, own effect, what others add to it, polychrome."""
    for joker, (moment, acting) in zip(s.jokers, moments, strict=True):
        edition = 0 if joker.debuffed else joker.edition
        if edition == FOIL:
            s.chips += 50
        elif edition == HOLOGRAPHIC:
            s.mult += 10
        if acting >= 0:
            moment(s, acting)
        for hook, place in others:
            hook(s, place, joker)
        if edition == POLYCHROME:
            s.mult *= 1.5


def _boss_acts(s: Scored, boss: int) -> None:
    """Let the boss block the hand, lower its level, or take money."""
    run = s.run
    hand = s.hand
    if boss == blinds.TOOTH:
        s.money -= len(s.cards)
        s.triggered = True
    elif boss == blinds.PSYCHIC:
        s.blocked = len(s.cards) < 5
    elif boss == blinds.EYE:
        s.blocked = run.played_now[hand] > 0
    elif boss == blinds.MOUTH:
        s.blocked = run.played_now[hand] == 0 and any(run.played_now)
    elif boss == blinds.ARM:
        s.triggered = s.level > 1
        s.level = max(1, s.level - 1)
    elif boss == blinds.OX:
        if hand == run.counters.get("ox_hand", -1):
            s.money -= run.money
            s.triggered = True
    elif boss in (blinds.HOOK, blinds.FLINT):
        s.triggered = True


def _score_card(s: Scored, card: int) -> None:
    """Add what a card with a modifier is worth: chips, mult, times mult, money, edition."""
    enhancement = card >> 6 & 0xF
    chips = card >> 20
    s.lucky = False
    if enhancement == STONE:
        s.chips += 50 + chips
    else:
        s.chips += CHIPS[card & 15] + chips
        if enhancement == BONUS:
            s.chips += 30
        elif enhancement == MULT:
            s.mult += 4
        elif enhancement == GLASS:
            s.mult *= 2
        elif enhancement == LUCKY:
            if s.happens(5):
                s.mult += 20
                s.lucky = True
            if s.happens(15):
                s.money += 20
                s.lucky = True
    if card & _SEAL == GOLD_SEAL << 13:
        s.money += 3
    edition = card >> 10 & 7
    if edition == FOIL:
        s.chips += 50
    elif edition == HOLOGRAPHIC:
        s.mult += 10
    elif edition == POLYCHROME:
        s.mult *= 1.5


def _break_glass(s: Scored) -> None:
    for position in s.scoring:
        card = s.cards[position]
        if card & _ENHANCEMENT == _GLASS and not card & DEBUFFED and position not in s.destroyed and s.happens(4):
            s.destroyed += (position,)


def commit(run: Run, scored: Scored) -> None:
    """Keep what a scored hand changes: counts, level, money, cards, jokers, consumables.

    The played cards stay in ``run.hand`` (their places are ``scored.positions``; cards that join the hand are behind
    them) for the game to take away; those at ``scored.destroyed`` don't go to the discard pile. The score itself and
    ``hands_left`` are the game's to change too.
    """
    hand = scored.hand
    run.played[hand] += 1
    run.played_now[hand] += 1
    run.levels[hand] = scored.level
    run.money += scored.money
    for place, card in zip(scored.positions, scored.cards, strict=True):
        run.hand[place] = card
    if run.jokers:
        for joker, value in zip(run.jokers, scored.values, strict=True):
            joker.value = value
    if scored.gone:
        run.jokers = [joker for place, joker in enumerate(run.jokers) if place not in scored.gone]
    run.consumables += scored.created
    if scored.added:
        run.hand += scored.added
        notify(run, Event.CARD_ADDED, scored.added)
    if scored.destroyed:
        notify(run, Event.CARD_DESTROYED, [scored.cards[place] for place in scored.destroyed])
