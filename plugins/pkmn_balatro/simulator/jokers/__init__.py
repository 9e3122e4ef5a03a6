"""Jokers: the table of kinds, and what each one does.

The game calls :func:`notify` at each :class:`Event` and asks for the numbers of :mod:`.passive`. The scoring of hands
runs the hooks of :class:`.hooks.Stage` by itself. What needs the game itself is the game's to do: Astronomer, Chaos the
Clown, Chicot, Credit Card, Diet Cola, Invisible Joker, Luchador, Mr. Bones, Showman, To the Moon.
"""

from pkmn_balatro.simulator.jokers import card_effects as _card_effects
from pkmn_balatro.simulator.jokers import families as _families
from pkmn_balatro.simulator.jokers import hand_effects as _hand_effects
from pkmn_balatro.simulator.jokers import run_effects as _run_effects
from pkmn_balatro.simulator.jokers.create import cost, make_joker, new_targets, pool, sell_value
from pkmn_balatro.simulator.jokers.hooks import Event, notify
from pkmn_balatro.simulator.jokers.kinds import (
    COMMON,
    JOKERS,
    LEGENDARY,
    RARE,
    UNCOMMON,
    kind_named,
)
from pkmn_balatro.simulator.jokers.passive import (
    ASTRONOMER,
    CHAOS_THE_CLOWN,
    CHICOT,
    DIET_COLA,
    INVISIBLE_JOKER,
    INVISIBLE_ROUNDS,
    LUCHADOR,
    MR_BONES,
    copy_of,
    count,
    debt_allowed,
    discards_bonus,
    hand_size_bonus,
    hands_bonus,
    happens,
    held_repeats,
    interest_times,
)

__all__ = [
    "ASTRONOMER",
    "CHAOS_THE_CLOWN",
    "CHICOT",
    "COMMON",
    "DIET_COLA",
    "INVISIBLE_JOKER",
    "INVISIBLE_ROUNDS",
    "JOKERS",
    "LEGENDARY",
    "LUCHADOR",
    "MR_BONES",
    "RARE",
    "UNCOMMON",
    "Event",
    "copy_of",
    "cost",
    "count",
    "debt_allowed",
    "discards_bonus",
    "hand_size_bonus",
    "hands_bonus",
    "happens",
    "held_repeats",
    "interest_times",
    "kind_named",
    "make_joker",
    "new_targets",
    "notify",
    "pool",
    "sell_value",
]

del _card_effects, _families, _hand_effects, _run_effects
