"""In place of a learner, for a training in which the advised side plays alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import Segment, Transitions

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NoLearner:
    """Learns nothing, and is never sure of anything."""

    update_interval = 1_000_000_000
    experience_steps = 0

    def act(
        self, observations: Mapping[str, NDArray[Any]], explore: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Return the first allowed action of each environment, with confidence 0."""
        masks = observations["action_mask"]
        count = len(masks)
        return masks.argmax(axis=1).astype(np.int64), np.zeros(count, np.float32), np.zeros(count, np.bool_)

    def observe(self, transitions: Transitions) -> None:
        """Do nothing."""

    def sample(self) -> object | None:
        """Return None: there is nothing to learn from."""
        return None

    def learn(self, sampled: object) -> dict[str, float]:
        """Learn nothing. Return no metrics."""
        return {}

    def time_learning(self) -> float:
        """Return 0: no time is spent on learning."""
        return 0.0

    def publish(self) -> None:
        """Do nothing: no weights have changed."""

    def state_dict(self) -> dict[str, Any]:
        """Return an empty state."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Do nothing: nothing was kept."""

    def segments(self) -> Iterable[Segment]:
        """No experience."""
        return ()

    def load_segments(self, segments: Iterable[Segment]) -> None:
        """No experience."""
