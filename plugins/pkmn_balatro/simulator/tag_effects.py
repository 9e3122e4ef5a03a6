"""Gaining tags, and the effects of those that act at once."""

from __future__ import annotations

from typing import Final

from pkmn_balatro.simulator import blinds, jokers, tags, uses
from pkmn_balatro.simulator.jokers.create import empty_slots, known_hands
from pkmn_balatro.simulator.run import Run

ECONOMY_MOST: Final = 40
SPEED_MONEY: Final = 5
ORBITAL_LEVELS: Final = 3
TOP_UP_JOKERS: Final = 2


def gain_tag(run: Run, tag: int) -> None:
    """Give the run a tag, with a copy for each Double Tag that waits. It acts now or waits for its moment."""
    copies = 1
    if tag != tags.DOUBLE:
        while tags.take(run, tags.DOUBLE):
            copies += 1
    for _ in range(copies):
        if not _act_at_once(run, tag):
            run.tags.append(tag)


def _act_at_once(run: Run, tag: int) -> bool:
    """Carry out a tag that acts when it is gained; return False for a tag that waits."""
    if tag == tags.BOSS:
        run.boss = blinds.choose_boss(run)
    elif tag == tags.HANDY:
        run.money += run.hands_played
    elif tag == tags.GARBAGE:
        run.money += run.unused_discards
    elif tag == tags.SPEED:
        run.money += SPEED_MONEY * run.skips
    elif tag == tags.ECONOMY:
        run.money += max(0, min(run.money, ECONOMY_MOST))
    elif tag == tags.ORBITAL:
        run.levels[run.random.choice(known_hands(run))] += ORBITAL_LEVELS
    elif tag == tags.TOP_UP:
        for _ in range(min(TOP_UP_JOKERS, empty_slots(run))):
            uses.add_random_joker(run, jokers.COMMON)
    else:
        return False
    return True
