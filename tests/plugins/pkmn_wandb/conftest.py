"""Fixtures: small trainings."""

from __future__ import annotations

from support.commands import no_last_resort, own_cache, pkmn, small_training

__all__ = ["no_last_resort", "own_cache", "pkmn", "small_training"]
