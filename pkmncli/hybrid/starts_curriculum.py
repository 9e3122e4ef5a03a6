"""A curriculum over starts: what was reached once becomes a place to begin, «go on from where it got»."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pkmncli.config.starts_settings import StartsSettings


class StartsCurriculum:
    """Keeps the state in which each milestone was first reached, by hash, and draws where an episode begins.

    Args:
        settings: the shares of the kinds of starts.
    """

    def __init__(self, settings: StartsSettings) -> None:
        self._settings = settings
        self._reached: dict[int, str] = {}

    def has(self, milestone: int) -> bool:
        """Whether there is a start for a milestone, by its place in the game's order."""
        return milestone in self._reached

    def add(self, milestone: int, state: str) -> None:
        """A milestone was reached in a state; the first one stays."""
        self._reached.setdefault(milestone, state)

    def draw(self, seed: int) -> str:
        """The hash of the state that an episode begins in; empty for the game's start."""
        random = np.random.default_rng(seed)
        kind, which = random.random(), random.random()
        if not self._reached or kind >= self._settings.furthest + self._settings.reached:
            return ""
        places = sorted(self._reached)
        if kind < self._settings.furthest:
            return self._reached[places[-1]]
        return self._reached[places[int(which * len(places))]]

    def state_dict(self) -> dict[str, Any]:
        """Plain values to go on from."""
        return {"reached": [[place, self._reached[place]] for place in sorted(self._reached)]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`."""
        self._reached = {int(place): str(digest) for place, digest in state["reached"]}
