"""Fixtures: a small model."""

from __future__ import annotations

from support.small_model import smollm2

__all__ = ["smollm2"]
