"""Buttons of the nine actions, and their names."""

from __future__ import annotations

from pkmncli.api import Action, ActionNames

BUTTONS: tuple[str | None, ...] = ("a", "b", "start", "select", "up", "down", "left", "right", None)
"""PyBoy's button name of each :class:`pkmncli.api.Action`."""

ACTION_NAMES = ActionNames(
    tuple(action.name.lower() for action in Action),
    synonyms={"north": "up", "south": "down", "west": "left", "east": "right"},
    verbs={"wait": "none", "confirm": "a", "interact": "a", "talk": "a", "cancel": "b"},
    idle="none",
)
"""Names of the actions, and other words for them."""

FRAMES_PER_SECOND = 59.7275
"""Frames of a Game Boy: 4,194,304 clocks a second, 70,224 a frame (Pan Docs, "Rendering")."""
