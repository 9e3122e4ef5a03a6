"""A curriculum over start states: episodes begin at milestones that were reached before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pkmncli.config.starts_settings import StartsSettings


class StartsCurriculum:
    """The state in which each milestone was first reached, by hash, and the random choice of start states.

    Args:
        settings: the shares of the kinds of starts.
    """

    def __init__(self, settings: StartsSettings) -> None:
        self._settings = settings
        self._reached: dict[int, str] = {}

    def has(self, milestone: int) -> bool:
        """Return True if there is a start state for a milestone, by its place in the game's order."""
        return milestone in self._reached

    def add(self, milestone: int, state: str) -> None:
        """Keep the state in which a milestone was reached, unless it has one already."""
        self._reached.setdefault(milestone, state)

    def sample(self, seed: int) -> str:
        """Return the hash of the state in which an episode begins, chosen at random; empty for the game's start."""
        random = np.random.default_rng(seed)
        kind, which = random.random(), random.random()
        if not self._reached or kind >= self._settings.furthest + self._settings.reached:
            return ""
        places = sorted(self._reached)
        if kind < self._settings.furthest:
            return self._reached[places[-1]]
        return self._reached[places[int(which * len(places))]]

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {"reached": [[place, self._reached[place]] for place in sorted(self._reached)]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._reached = {int(place): str(digest) for place, digest in state["reached"]}
