"""Numbers of slots of the party, a Pokemon and the bag, and the numbers of the bag's pockets."""

from __future__ import annotations

PARTY_SLOTS, MOVE_SLOTS = 6, 4
ITEM_SLOTS, BALL_SLOTS, KEY_ITEM_SLOTS = 20, 12, 25
MACHINES, HIDDEN_MACHINES = 50, 7
SPECIES_COUNT = 251
MONEY_MOST = 999_999

ITEM_POCKET, BALL_POCKET, KEY_ITEM_POCKET, MACHINE_POCKET = range(4)
"""Pockets, as memory stores the pocket on screen."""
POCKETS = 4
