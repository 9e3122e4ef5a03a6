"""Reward for screens that are new in the episode, distinguished by the brightness of coarse squares.

Counting visits of a state's coarse key goes back to Tang et al. 2017, "#Exploration", and coarse grey pictures as
keys to Ecoffet et al. 2021, "First return, then explore". Here a key pays once an episode, less the more were seen,
so that neither walking back and forth nor an endlessly flickering picture keeps paying.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmn_pyboy.gameboy.settings import NoveltySettings

_SAMPLED = 4
"""Stride of the sampled pixels, both ways: a ninth of the time, and the squares keep their means."""


class ScreenNovelty:
    """Counter of the screens of an episode."""

    def __init__(self, settings: NoveltySettings | None = None) -> None:
        self.settings = settings = settings or NoveltySettings()
        self._side = settings.cell_pixels // _SAMPLED
        # The sum of each square's samples (0 to 255 each) becomes a shade from 0 to levels - 1.
        self._divisor = 256 * self._side * self._side
        self._seen: set[int] = set()

    def key(self, rgba: NDArray[np.uint8]) -> int:
        """Return a 64-bit key, equal for screens that count as the same.

        Args:
            rgba: (144, 160, 4) uint8.
        """
        samples = rgba[::_SAMPLED, ::_SAMPLED, 1]
        rows, columns, side = samples.shape[0] // self._side, samples.shape[1] // self._side, self._side
        sums = samples.reshape(rows, side, columns, side).sum(axis=(1, 3), dtype=np.uint32)
        shades = (sums * self.settings.levels // self._divisor).astype(np.uint8)
        return int.from_bytes(hashlib.blake2b(shades.tobytes(), digest_size=8).digest(), "little")

    def reset(self, key: int) -> None:
        """Start an episode on a screen, which counts as known."""
        self._seen = {key}

    def score(self, key: int) -> float:
        """Return the reward for reaching a screen."""
        if key in self._seen:
            return 0.0
        settings = self.settings
        decay = 0.5 ** ((len(self._seen) - 1) / settings.half_life_screens) if settings.half_life_screens else 1.0
        self._seen.add(key)
        return float(settings.new_screen * decay)

    @property
    def count(self) -> int:
        """Number of screens seen in the episode."""
        return len(self._seen)

    def save_state(self) -> dict[str, Any]:
        """Return the screens seen so far."""
        return {"seen": sorted(self._seen)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`save_state` returned."""
        self._seen = {int(key) for key in state["seen"]}
