"""Which actions a situation allows: a press is forbidden where it can have no effect, or none that anyone wants.

``none`` is allowed everywhere, so that no mask is ever all zero. The rules, by phase:

========================  ==========================================================================================
free, moving              directions and A; START once there is a party (before, it opens a menu with nothing in it)
dialogue                  A, B
choice                    A, B, up and down; left and right where the list has columns
menu                      A, B, directions; START on full-screen pages, where it ends the naming of things
battle                    A, B; directions while a cursor shows (bag, a question) or a page hides the message box
                          (party, naming of a catch), and there START too
battle_menu               A, directions
battle_moves              A, B, up and down
transition                nothing: buttons are not read; all but SELECT before a game is loaded
cutscene                  A, B, in case it waits for one
========================  ==========================================================================================

SELECT is never allowed: outside of menus it uses a registered item, in them it reorders things.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from pkmn_pyboy.state.game_state import GameState, Phase
from pkmncli.api import Action

ACTION_COUNT = len(Action)

_DIRECTIONS = frozenset({Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT})
_ALWAYS = frozenset({Action.NONE})

BY_PHASE: Mapping[Phase, frozenset[Action]] = {
    Phase.FREE: _DIRECTIONS | {Action.A},
    Phase.MOVING: _DIRECTIONS | {Action.A},
    Phase.DIALOGUE: frozenset({Action.A, Action.B}),
    Phase.CHOICE: frozenset({Action.A, Action.B, Action.UP, Action.DOWN}),
    Phase.MENU: _DIRECTIONS | {Action.A, Action.B},
    Phase.BATTLE: frozenset({Action.A, Action.B}),
    Phase.BATTLE_MENU: _DIRECTIONS | {Action.A},
    Phase.BATTLE_MOVES: frozenset({Action.A, Action.B, Action.UP, Action.DOWN}),
    Phase.TRANSITION: frozenset(),
    Phase.CUTSCENE: frozenset({Action.A, Action.B}),
}
"""What each phase allows before the rules that look closer."""


def allowed_actions(state: GameState) -> frozenset[Action]:
    """The actions that a state allows, by all rules."""
    phase = state.phase
    allowed = BY_PHASE[phase] | _ALWAYS
    if start_is_useful(state):
        allowed |= {Action.START}
    if phase is Phase.CHOICE and state.menu.columns > 1:
        allowed |= {Action.LEFT, Action.RIGHT}
    if phase is Phase.BATTLE and (state.menu.cursor_shown or not state.message_box):
        allowed |= _DIRECTIONS
    if phase is Phase.TRANSITION and state.map_group == 0:
        allowed |= _DIRECTIONS | {Action.A, Action.B, Action.START}
    return allowed


def start_is_useful(state: GameState) -> bool:
    """START opens the menu once there is a party, and ends the naming of things."""
    if state.phase in (Phase.FREE, Phase.MOVING):
        return bool(state.party.members)
    if state.phase is Phase.BATTLE:
        return not state.message_box
    return state.phase is Phase.MENU and state.menu.full_screen


def mask_array(allowed: Iterable[Action]) -> NDArray[np.int8]:
    """(9,) int8, 1 = allowed."""
    mask = np.zeros(ACTION_COUNT, dtype=np.int8)
    mask[list(allowed)] = 1
    return mask


class MaskTable:
    """Masks of states, kept by what they depend on, so that most steps only look one up."""

    def __init__(self) -> None:
        self._masks: dict[tuple[object, ...], NDArray[np.int8]] = {}

    def mask(self, state: GameState) -> NDArray[np.int8]:
        """(9,) int8, 1 = allowed. The array is shared: copy it before changing it."""
        menu = state.menu
        key = (
            state.phase,
            bool(state.party.members),
            menu.full_screen,
            menu.columns > 1,
            menu.cursor_shown,
            state.message_box,
            state.map_group == 0,
        )
        mask = self._masks.get(key)
        if mask is None:
            mask = self._masks[key] = mask_array(allowed_actions(state))
            mask.setflags(write=False)
        return mask
