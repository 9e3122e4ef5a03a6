"""Actions before a decision, in the columns ``previous_1`` (the latest) to ``previous_6`` of its row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pkmncli.api import NO_ACTION, REMEMBERED_ACTIONS

MOST_ACTION = 65_535
"""Highest number of an action."""


class PreviousActions:
    """Latest actions of a running episode, for decisions that are recorded one by one."""

    def __init__(self) -> None:
        self._latest = [NO_ACTION] * REMEMBERED_ACTIONS

    def add(self, action: int) -> None:
        """Take in the action of a decision."""
        self._latest = [action, *self._latest[:-1]]

    def columns(self) -> dict[str, int]:
        """Return the columns of the next decision."""
        return {f"previous_{back}": action for back, action in enumerate(self._latest, start=1)}


def earlier_actions(row: Mapping[str, Any]) -> list[int]:
    """Return the actions before the decision of a row, oldest first."""
    actions = [int(row[f"previous_{back}"]) for back in range(REMEMBERED_ACTIONS, 0, -1)]
    return [action for action in actions if action != NO_ACTION]
