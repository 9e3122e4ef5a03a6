"""The budget of advice: the number of steps that it may take while it earns less than the rules would have.

A conservative bandit (Y. Wu and others, «Conservative Bandits», 2016): a known way to play is the baseline, and another
way is tried only while the total reward of both stays within a given share of what the baseline alone would have earned
in as many steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FREE_STEPS = 20
"""Steps of advice before it is judged."""

LEAST_RULE_STEPS = 30
"""Steps of the rules needed before their worth is estimated."""

TURNING_BACK = 4
MOST_AFTERMATH = 30
"""Maximum number of steps after advice that are still charged to it: its length plus some for turning back, because
the agent must undo what the advice did."""


@dataclass(slots=True)
class Trail:
    """Steps charged to the latest advice in one environment."""

    lasted: int = 0
    """Steps that the live advice has cost."""
    aftermath: int = 0
    """Following steps that are still charged to the latest advice."""

    def pass_step(self) -> None:
        """Count down the aftermath after a step of any side."""
        self.aftermath = max(self.aftermath - 1, 0)

    def end(self) -> None:
        """End the live advice and begin its aftermath."""
        self.aftermath = min(self.lasted + TURNING_BACK, MOST_AFTERMATH) if self.lasted else 0
        self.lasted = 0


class Allowance:
    """Comparison of the rewards of steps with advice and of the rules' steps.

    Args:
        share: maximum cost of advice, as a share of what the rules alone would have earned; no limit from 1 on.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self.advised_steps = 0
        self.advised_reward = 0.0
        self.rule_steps = 0
        self.rule_reward = 0.0

    def count_advised(self, reward: float, *, costs: bool = True) -> None:
        """Count a step of advice, or of its aftermath; ``costs`` is False if the rules would have taken it too."""
        self.advised_steps += costs
        self.advised_reward += reward

    def count_rules(self, reward: float) -> None:
        """Count a step of the rules that is not charged to advice."""
        self.rule_steps += 1
        self.rule_reward += reward

    def count(self, trail: Trail, reward: float, *, advised: bool, live: bool, costs: bool) -> None:
        """Count a step of the advised side.

        Args:
            trail: of its environment.
            reward: of the step.
            advised: True if there was advice for it.
            live: True if the advice continues.
            costs: False if the rules would have taken the same step.
        """
        if advised:
            self.count_advised(reward, costs=costs)
            trail.lasted += costs and live
        elif trail.aftermath:
            # Rewards of the aftermath count for neither side: the rules act, but where the advice has led.
            self.count_advised(0.0, costs=costs)
        else:
            self.count_rules(reward)

    def allows(self, ahead: int = 0) -> bool:
        """Return True if advice may continue for ``ahead`` more steps, assuming that they earn nothing."""
        if self.share >= 1:
            return True
        steps = self.advised_steps + ahead - FREE_STEPS
        if steps <= 0:
            return True
        if self.rule_steps < LEAST_RULE_STEPS:
            return False
        worth = self.rule_reward / self.rule_steps
        lead = self.advised_reward - worth * steps
        if lead > 0:
            return True
        allowed = self.share * (steps + self.rule_steps)
        # If neither has earned anything yet, steps are the only cost of advice.
        return -lead <= allowed * abs(worth) if worth else steps <= allowed

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "advised": [self.advised_steps, self.advised_reward],
            "rules": [self.rule_steps, self.rule_reward],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.advised_steps, self.advised_reward = int(state["advised"][0]), float(state["advised"][1])
        self.rule_steps, self.rule_reward = int(state["rules"][0]), float(state["rules"][1])
