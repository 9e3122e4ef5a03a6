"""The buttons that the nine actions press."""

from __future__ import annotations

BUTTONS: tuple[str | None, ...] = ("a", "b", "start", "select", "up", "down", "left", "right", None)
"""What each :class:`pkmncli.api.Action` presses, in PyBoy's words."""
