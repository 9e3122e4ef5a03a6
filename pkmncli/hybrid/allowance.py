"""The allowance of advice: how many steps it may take while it has not earned what the rules would have.

A conservative bandit (Y. Wu and others, «Conservative Bandits», 2016): a known way to play is the baseline, and another
one is tried only as far as what both have earned together stays within a given share of what the baseline alone would
have earned in as many steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FREE_STEPS = 16
"""Steps that advice has at first, and that the rules need before anything can be said about what theirs are worth."""

MOST_AFTERMATH = 30
"""Steps after advice, at most, that count as its own: who was led astray has to come back."""


class Allowance:
    """Compares what steps with advice earn with what the rules' earn.

    Args:
        share: what advice may cost, as a share of what the rules would have earned alone; 1 or more for all of it.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self.advised_steps = 0
        self.advised_reward = 0.0
        self.rule_steps = 0
        self.rule_reward = 0.0

    def count(self, *, advised: bool, reward: float) -> None:
        """Takes in a step of the advised side: one of advice or after it, or one of the rules."""
        if advised:
            self.advised_steps += 1
            self.advised_reward += reward
        else:
            self.rule_steps += 1
            self.rule_reward += reward

    def allows(self, ahead: int = 0) -> bool:
        """Whether advice may go on for ``ahead`` more steps, should they earn nothing."""
        if self.share >= 1:
            return True
        steps = self.advised_steps + ahead - FREE_STEPS
        if steps <= 0:
            return True
        if self.rule_steps < FREE_STEPS:
            return False
        worth = max(self.rule_reward, 0.0) / self.rule_steps
        return self.advised_reward >= worth * ((1 - self.share) * steps - self.share * self.rule_steps)

    def state_dict(self) -> dict[str, Any]:
        """Plain values that the next answers depend on."""
        return {
            "advised": [self.advised_steps, self.advised_reward],
            "rules": [self.rule_steps, self.rule_reward],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`."""
        self.advised_steps, self.advised_reward = int(state["advised"][0]), float(state["advised"][1])
        self.rule_steps, self.rule_reward = int(state["rules"][0]), float(state["rules"][1])
