"""The state as plain numbers, for the records of steps."""

from __future__ import annotations

import hashlib
from functools import cache
from struct import Struct
from typing import TYPE_CHECKING, Final

from pkmn_balatro.simulator.cards import FACE_DOWN
from pkmn_balatro.simulator.run import Phase, Run
from pkmncli.api import Facts

if TYPE_CHECKING:
    from collections.abc import Callable

    from pkmn_balatro.environment import BalatroEnvironment
_PLAY: Final = Phase.PLAY.value
_PHASES: Final = len(Phase) + 1
"""Phases of the environment: those of the game, and the choice of targets."""


def facts_of(environment: BalatroEnvironment) -> Facts:
    """Return the state as plain numbers: the ante as map, blind and blinds beaten as place on it.

    While a blind is played, it is the battle, the boss is the opponent and the missing score its health.
    """
    run = environment.game.run
    phase, ante, blind = environment.phase, run.ante, run.blind
    playing = run.phase == _PLAY
    seen = _seen(environment, run, phase)
    digest = hashlib.blake2b(_packing(len(seen))(*seen), digest_size=8).digest()
    return Facts(  # in their order, since names take a quarter of the time
        ante if ante > 0 else 0,
        blind,
        run.rounds,
        phase,
        blind + 1 if playing else 0,
        run.boss + 1 if playing and blind == 2 else 0,
        0.0,
        environment.milestones,
        environment.steps,
        (ante * 3 + blind) * _PHASES + phase + 1000,
        int.from_bytes(digest, "little"),
        max(0.0, 1.0 - run.score / run.target) if playing and run.target else 0.0,
    )


@cache
def _packing(count: int) -> Callable[..., bytes]:
    """Return the function that packs so many whole numbers: looking for its format takes longer than packing."""
    return Struct(f"{count}q").pack


def _seen(environment: BalatroEnvironment, run: Run, phase: int) -> list[int]:
    """Return the state that a decision depends on as whole numbers."""
    score = run.score
    seen = [
        phase,
        run.ante,
        run.blind,
        run.boss,
        run.money,
        score if score < 2**62 else 2**62,
        run.hands_left,
        run.discards_left,
        len(run.draw),
        run.rerolls,
        run.picks_left,
        run.rounds,
        environment.free_actions,
    ]
    seen += [-1 if card & FACE_DOWN else card for card in run.hand]
    for joker in run.jokers:
        seen += (-2, joker.kind, joker.edition, joker.value)
    seen += run.consumables
    seen.append(-3)
    for offers in (run.shop, run.shop_vouchers, run.shop_packs, run.pack):
        if offers:
            seen += [-1 if offer.sold else offer.item for offer in offers]
    seen += run.levels
    return seen
