"""Buttons that the nine actions press."""

from __future__ import annotations

BUTTONS: tuple[str | None, ...] = ("a", "b", "start", "select", "up", "down", "left", "right", None)
"""PyBoy's button name of each :class:`pkmncli.api.Action`."""
