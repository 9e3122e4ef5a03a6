"""Schedules over a run: exploration, the weight of demonstrations, and the correction of prioritised sampling.

All count the learner's own steps and have lengths that checkpoints keep, so a run that is resumed with a larger budget
does not start to explore again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pkmn_dqn.settings import DQNSettings


class Schedules:
    """Scheduled values by the number of environment steps that the learner has seen."""

    def __init__(self, settings: DQNSettings, total_steps: int) -> None:
        """Fix the length of each schedule for a run of ``total_steps`` steps over all environments."""
        self._settings = settings
        self._beside_rules = False
        self._exploration_steps = max(1, round(settings.exploration_fraction * total_steps))
        self._demonstration_steps = round(settings.demonstration_fraction * total_steps)
        self._importance_steps = max(1, total_steps)

    def epsilon(self, steps: int) -> float:
        """Return the share of exploring actions after ``steps`` steps.

        It falls linearly, or with ``exponential`` by a constant factor per step, to the same final value. Once
        there are labels it is at most ``exploration_beside_rules``.
        """
        share = self._falling_share(steps)
        return min(share, self._settings.exploration_beside_rules) if self._beside_rules else share

    def note_labels(self) -> None:
        """Note that rules label steps with the action that they would take."""
        self._beside_rules = True

    def _falling_share(self, steps: int) -> float:
        initial, final = self._settings.exploration_initial, self._settings.exploration_final
        progress = min(1.0, steps / self._exploration_steps)
        if self._settings.exploration_schedule == "exponential":
            return float(initial * (final / initial) ** progress)
        return initial + progress * (final - initial)

    def demonstration_weight(self, steps: int) -> float:
        """Return the weight of demonstrations, which falls linearly."""
        initial = self._settings.demonstration_weight
        final = min(initial, self._settings.demonstration_final_weight)
        if steps >= self._demonstration_steps:
            return final
        return final + (initial - final) * (1 - steps / self._demonstration_steps)

    def importance_exponent(self, steps: int) -> float:
        """Return the exponent of the importance weights, which rises linearly to 1, a full correction."""
        initial = self._settings.importance_exponent
        return initial + min(1.0, steps / self._importance_steps) * (1.0 - initial)

    def state_dict(self) -> dict[str, Any]:
        """Return the lengths, in steps, and whether there are labels."""
        return {
            "exploration_steps": self._exploration_steps,
            "demonstration_steps": self._demonstration_steps,
            "importance_steps": self._importance_steps,
            "beside_rules": self._beside_rules,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._exploration_steps = int(state["exploration_steps"])
        self._beside_rules = bool(state.get("beside_rules", False))
        # Checkpoints of earlier versions have no length: demonstrations have their final weight.
        self._demonstration_steps = int(state.get("demonstration_steps", 0))
        self._importance_steps = int(state.get("importance_steps", self._importance_steps))
