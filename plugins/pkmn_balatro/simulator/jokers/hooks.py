"""Registry of what each joker does at each moment of the game."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, Final, TypeVar

from pkmn_balatro.simulator.jokers.kinds import JOKERS, kind_named
from pkmn_balatro.simulator.run import Joker, Run


class Stage(IntEnum):
    """Moment within the scoring of a hand, in this order."""

    BEFORE = 0
    """Before the cards: ``hook(scored, place)``."""
    REPEAT = 1
    """Times that a played card scores again: ``hook(scored, place, card, position) -> int``."""
    CARD = 2
    """For each time that a card scores: ``hook(scored, place, card, position)``."""
    HELD_REPEAT = 3
    """Times that held cards act again: ``hook(scored, place) -> int``."""
    HELD = 4
    """For each time that a held card acts: ``hook(scored, place, card, position)``."""
    JOKER = 5
    """The joker's own moment: ``hook(scored, place)``."""
    OTHER = 6
    """For each joker, after its moment: ``hook(scored, place, joker)``."""
    AFTER = 7
    """After the score: ``hook(scored, place)``."""
    BLOCKED = 8
    """If the boss blocks the hand, instead of all before :data:`AFTER`: ``hook(scored, place)``."""


class Event(IntEnum):
    """Moment of the game outside of scoring. The list says what :func:`notify` gets beside the run."""

    BLIND_SELECTED = 0
    """A blind begins; hands and discards are counted out, no card is drawn yet."""
    FIRST_HAND_DRAWN = 1
    """The first cards of the round are in the hand."""
    DISCARDED = 2
    """``cards``: the list of discarded cards, before the discard is counted. A hook that destroys a card takes it out
    of the list."""
    ROUND_ENDED = 3
    """A blind is beaten, before the payout."""
    BOSS_BEATEN = 4
    """A boss is beaten; comes before :data:`ROUND_ENDED`."""
    SHOP_LEFT = 5
    SKIPPED_BLIND = 6
    REROLLED = 7
    SOLD = 8
    """``joker``: the sold joker, which is out of the run already, or None for a consumable."""
    CONSUMABLE_USED = 9
    """``item``: the kind of consumable."""
    CARD_ADDED = 10
    """``cards``: the cards that joined the deck."""
    CARD_DESTROYED = 11
    """``cards``: the destroyed cards as they were."""
    PACK_OPENED = 12
    PACK_SKIPPED = 13
    DISCARD_CHOSEN = 14
    """``cards``: the cards that the player is about to discard, before :data:`DISCARDED`; not those of The Hook."""


Hook = Callable[..., Any]
_HookT = TypeVar("_HookT", bound=Hook)

STAGE_HOOKS: Final[list[tuple[tuple[int, Hook, bool], ...]]] = [() for _ in JOKERS]
"""By kind: the stage, the hook, and True if a copying joker has no use of it."""
EVENT_HOOKS: Final[list[dict[int, tuple[Hook, bool]]]] = [{} for _ in Event]
OPTIONS: Final = [0] * len(JOKERS)
"""By kind: option of :mod:`pkmn_balatro.simulator.hands` or below that holds while the joker is there."""

PAREIDOLIA: Final = 16
"""Option: every card is a face card."""
OOPS: Final = 32
"""Option: chances are doubled, once for each such joker."""

BLUEPRINT: Final = kind_named("Blueprint")
BRAINSTORM: Final = kind_named("Brainstorm")


def during(stage: Stage, *names: str, own: bool = False) -> Callable[[_HookT], _HookT]:
    """Register a hook of scoring for the jokers named; ``own`` if Blueprint and Brainstorm don't copy it."""

    def register(hook: _HookT) -> _HookT:
        for name in names:
            STAGE_HOOKS[kind_named(name)] += ((int(stage), hook, own),)
        return hook

    return register


def on(event: Event, *names: str, own: bool = False) -> Callable[[_HookT], _HookT]:
    """Register ``hook(run, joker, data)`` for the jokers named; ``own`` as in :func:`during`."""

    def register(hook: _HookT) -> _HookT:
        for name in names:
            EVENT_HOOKS[event][kind_named(name)] = hook, own
        return hook

    return register


def source(jokers: list[Joker], place: int) -> int:
    """Return the place of the joker whose effect the one at ``place`` has: its own, or the copied one's; -1 if none."""
    for _ in range(len(jokers) + 1):
        if not 0 <= place < len(jokers) or jokers[place].debuffed:
            return -1
        kind = jokers[place].kind
        if kind == BLUEPRINT:
            place += 1
        elif kind == BRAINSTORM:
            place = 0
        else:
            return place
    return -1


def notify(run: Run, event: Event, data: Any = None) -> None:
    """Let the jokers act on an event, from left to right.

    Args:
        run: The run, which the jokers change.
        event: The event.
        data: What the event's description names.
    """
    hooks = EVENT_HOOKS[event]
    if not run.jokers or not hooks:
        return
    jokers = list(run.jokers)
    for place, joker in enumerate(jokers):
        kind = joker.kind
        actor = joker
        if kind in (BLUEPRINT, BRAINSTORM):
            copied = source(jokers, place)
            if copied < 0:
                continue
            actor = jokers[copied]
            kind = actor.kind
        entry = hooks.get(kind)
        if entry is None or joker.debuffed or (entry[1] and actor is not joker):
            continue
        if any(other is joker for other in run.jokers):  # not destroyed by a joker further left
            entry[0](run, actor, data)
