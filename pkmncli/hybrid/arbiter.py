"""The arbiter: for each environment and step, the learner's action or the pilot's."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import PILOT_ACTS, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray


class AgentMode(StrEnum):
    """Sides that may decide."""

    LLM_ONLY = "llm-only"
    """The advised side alone: the pilot, following advice if there is some."""
    RL_ONLY = "rl-only"
    ADAPTIVE = "adaptive"


class Arbiter:
    """Chooser between the learner and the advised side, by their confidences.

    In the adaptive mode the learner acts if its confidence exceeds ``trust`` times the pilot's. A learner that never
    acts could never prove itself, so it is given a share of segments to try, whatever its confidence.

    Args:
        mode: the sides that may decide.
        num_envs: number of environments.
        seed: of the random choice of trial segments.
        trust: weight of the advised side's confidence against the learner's, 0..1.
        trial_share: share of segments that the learner tries, 0..1.
        segment_steps: length of a segment, in steps of one environment.
    """

    def __init__(
        self,
        mode: AgentMode,
        num_envs: int,
        seed: int,
        *,
        trust: float = 0.9,
        trial_share: float = 0.1,
        segment_steps: int = 20,
    ) -> None:
        self.mode = mode
        self.trust = trust
        self._trial_share = trial_share
        self._segment_steps = segment_steps
        self._random = np.random.default_rng(seed)
        self._steps_left = np.zeros(num_envs, np.int64)
        self._trial = np.zeros(num_envs, np.bool_)

    def choose(
        self,
        actions: NDArray[np.int64],
        confidences: NDArray[np.float32],
        exploring: NDArray[np.bool_],
        pilot_confidences: NDArray[np.float32],
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return actions to take, PILOT_ACTS if the pilot decides, and their sources; all of shape (num_envs,).

        A confidence of the pilot below 0 means that it has no action.
        """
        if self.mode is AgentMode.LLM_ONLY:
            return np.full_like(actions, PILOT_ACTS), np.full(len(actions), Source.RULE, np.uint8)
        sources = np.where(exploring, Source.EXPLORE, Source.RL).astype(np.uint8)
        if self.mode is AgentMode.RL_ONLY:
            return actions, sources
        self._begin_segments()
        learner_acts = self._trial | (pilot_confidences < 0) | (confidences > self.trust * pilot_confidences)
        return (
            np.where(learner_acts, actions, PILOT_ACTS),
            np.where(learner_acts, sources, np.uint8(Source.RULE)),
        )

    def _begin_segments(self) -> None:
        self._steps_left -= 1
        starting = self._steps_left < 0
        if starting.any():
            count = int(starting.sum())
            self._trial[starting] = self._random.random(count) < self._trial_share
            self._steps_left[starting] = self._segment_steps - 1

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "random": self._random.bit_generator.state,
            "steps_left": self._steps_left.tolist(),
            "trial": self._trial.tolist(),
            "trust": self.trust,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._random.bit_generator.state = state["random"]
        self._steps_left = np.asarray(state["steps_left"], np.int64)
        self._trial = np.asarray(state["trial"], np.bool_)
        self.trust = state["trust"]
