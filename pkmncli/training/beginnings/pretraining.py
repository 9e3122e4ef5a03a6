"""Pretraining: updates on what was shown, before the learner decides its first step."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import fmean
from typing import TYPE_CHECKING, Any

from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pkmncli.api import Algorithm

METRICS_OF = 100
"""Latest updates that the metrics of pretraining are means of."""

_TELL_SECONDS = 0.5


class Pretraining:
    """Updates by the learner's own loss, one after the other, made as soon as there is enough to learn from.

    That is at once after demonstrations of earlier runs. Without any, the advised side plays until then. Nothing of it
    depends on how fast the updates are, so a run that was ended part-way resumes to the same weights.

    Args:
        learner: what learns; it must keep experience.
        updates: how many; 0 for no pretraining.
    """

    def __init__(self, learner: Algorithm, updates: int = 0) -> None:
        if updates and not learner.experience_steps:
            raise ConfigurationError(
                f"pretrain_steps = {updates}: the learner {type(learner).__name__} keeps no experience that it could "
                "learn from so often: leave it out, or use one that does, such as --rl dqn"
            )
        self._learner = learner
        self._updates = updates
        self._latest: list[Mapping[str, float]] = []
        self.done = 0
        """Updates so far."""

    @property
    def pending(self) -> bool:
        """True while there are updates left, so that the learner may not decide yet."""
        return self.done < self._updates

    def learn(self, interrupted: Callable[[], bool], tell: Callable[[str], None]) -> None:
        """Make the updates that are left, if there is enough to learn from.

        Args:
            interrupted: whether to stop between two of them.
            tell: receives the progress, now and then.
        """
        told = 0.0
        while self.pending and not interrupted():
            sampled = self._learner.sample()
            if sampled is None:
                return
            self._latest = [*self._latest, self._learner.learn(sampled)][-METRICS_OF:]
            self._learner.publish()
            self.done += 1
            if time.monotonic() > told + _TELL_SECONDS:
                told = time.monotonic()
                tell(f"pretraining: {self.done:,} of {self._updates:,} updates")

    def take_metrics(self) -> dict[str, float] | None:
        """Return means of the metrics over the latest :data:`METRICS_OF` updates: once, when all are made."""
        if self.pending or not self._latest:
            return None
        latest, self._latest = self._latest, []
        # On a GPU the first updates have no metrics yet.
        return {name: fmean(one[name] for one in latest if name in one) for name in latest[-1]}

    def state_dict(self) -> dict[str, Any]:
        """Return the count of updates made, and the latest of their metrics that are not taken yet."""
        return {"done": self.done, "latest": [dict(one) for one in self._latest]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore from :meth:`state_dict`."""
        self.done = int(state["done"])
        self._latest = list(state["latest"])
