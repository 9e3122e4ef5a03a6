"""Action masks as arrays, by the :mod:`rules <pkmn_pyboy.state.mask_rules>`, with fast look-up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.state.mask_rules import MASK_RULES, MaskRule, allowed_actions
from pkmncli.api import Action

ACTION_COUNT = len(Action)


def mask_array(allowed: Iterable[Action]) -> NDArray[np.int8]:
    """Return (9,) int8, 1 = allowed."""
    mask = np.zeros(ACTION_COUNT, dtype=np.int8)
    mask[list(allowed)] = 1
    return mask


class MaskTable:
    """Table of masks by the values that they depend on, so that most steps only look one up.

    Args:
        rules: the active rules; if empty, everything is allowed.
    """

    def __init__(self, rules: Sequence[MaskRule] = MASK_RULES) -> None:
        self.rules = tuple(rules)
        self._masks: dict[tuple[object, ...], NDArray[np.int8]] = {}

    def mask(self, state: GameState) -> NDArray[np.int8]:
        """Return (9,) int8, 1 = allowed. The array is shared: copy it before changing it."""
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
            mask = self._masks[key] = mask_array(allowed_actions(state, self.rules))
            mask.setflags(write=False)
        return mask
