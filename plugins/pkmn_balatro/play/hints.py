"""Hints: the line that a pilot would write, with its reason, and the plays that score most."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pkmn_balatro import actions as at
from pkmn_balatro.actions import ActionList
from pkmn_balatro.environment import BalatroEnvironment
from pkmn_balatro.pilot.players import GreedyPlayer, PlanningPlayer
from pkmn_balatro.settings import BalatroSettings
from pkmn_balatro.simulator.run import HANDS, Phase, Run
from pkmn_balatro.taking import in_order
from pkmn_balatro.words import best_plays

PILOTS: Final = {"planning": PlanningPlayer, "greedy": GreedyPlayer}
"""Pilots that give hints."""

_BEST_PLAYS: Final = 3
_MOST_POSITIONS: Final = 12
_LINES: Final = {
    "select_blind": "select",
    "skip_blind": "skip",
    "skip_pack": "skip",
    "reroll_boss": "reroll",
    "reroll_shop": "reroll",
    "leave_shop": "next",
    "sort_by_rank": "sort rank",
    "sort_by_suit": "sort suit",
}


def pilot_hint(state: bytes, pilot: str) -> str:
    """Return the pilot's next line and its reason, such as ``play 1 2 (play for 60)``.

    Args:
        state: saved state of the environment; the run itself is not changed.
        pilot: one of :data:`PILOTS`.
    """
    environment = BalatroEnvironment(BalatroSettings(hand_positions=_MOST_POSITIONS))
    environment.load_state(state)
    player = PILOTS[pilot](environment)
    decision = player.act()
    line = line_of(environment.actions.names[decision.action])
    if at.PICK <= decision.action < at.SELL_JOKER:
        environment.advance(decision.action)
        if environment.pending is not None:
            choice = environment.actions.choices[player.act().action - environment.actions.choose]
            positions = in_order(
                environment.game, decision.action, [environment.visible_places[place] for place in choice]
            )
            line += f" on {' '.join(str(position + 1) for position in positions)}"
    return f"{line} ({decision.reason})"


def line_of(action: str) -> str:
    """Return the line that does an action without targets, such as ``buy voucher 1`` for ``buy_voucher_1``."""
    moved = re.fullmatch(r"joker_left_(\d+)", action)
    if moved:
        return f"move {moved[1]} {int(moved[1]) - 1}"
    return _LINES.get(action, action.replace("_", " "))


def play_hints(run: Run) -> Iterator[str]:
    """Return the plays that score most, one of each poker hand: another kicker is no other idea."""
    if run.phase != Phase.PLAY:
        return
    plays = ActionList(min(len(run.hand), _MOST_POSITIONS)).plays
    best: dict[int, tuple[int, tuple[int, ...]]] = {}
    for total, kind, positions in best_plays(run, plays):
        best.setdefault(kind, (total, positions))
    for kind, (total, positions) in list(best.items())[:_BEST_PLAYS]:
        places = " ".join(str(position + 1) for position in positions)
        yield f"play {places} ({HANDS[kind]}, at least {total:,})"
