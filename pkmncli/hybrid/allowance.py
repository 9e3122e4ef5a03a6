"""The allowance of advice: how many steps it may take while it has not earned what the rules would have.

A conservative bandit (Y. Wu and others, «Conservative Bandits», 2016): a known way to play is the baseline, and another
one is tried only as far as what both have earned together stays within a given share of what the baseline alone would
have earned in as many steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FREE_STEPS = 20
"""Steps that advice has before it is judged."""

LEAST_RULE_STEPS = 30
"""Steps that the rules need before anything can be said about what theirs are worth."""

TURNING_BACK = 4
MOST_AFTERMATH = 30
"""Who was led astray has to come back: as many steps after advice as it lasted, and some for turning round, count as
its own, and no more than these."""


@dataclass(slots=True)
class Trail:
    """What one environment's latest advice has to answer for."""

    lasted: int = 0
    """Steps that the live advice has cost."""
    aftermath: int = 0
    """Steps for which what follows still counts as the doing of the latest advice."""

    def pass_step(self) -> None:
        """A step was taken, whoever pressed."""
        self.aftermath = max(self.aftermath - 1, 0)

    def end(self) -> None:
        """The live advice is over; who was led astray comes back now."""
        self.aftermath = min(self.lasted + TURNING_BACK, MOST_AFTERMATH) if self.lasted else 0
        self.lasted = 0


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

    def count_advised(self, reward: float, *, costs: bool = True) -> None:
        """Takes in a step of advice, or after it; one that the rules would have taken too ``costs`` it nothing."""
        self.advised_steps += costs
        self.advised_reward += reward

    def count_rules(self, reward: float) -> None:
        """Takes in a step of the rules that no advice has to do with."""
        self.rule_steps += 1
        self.rule_reward += reward

    def count(self, trail: Trail, reward: float, *, advised: bool, live: bool, costs: bool) -> None:
        """Takes in a step of the advised side.

        Args:
            trail: of its environment.
            reward: of the step.
            advised: whether there was advice for it.
            live: whether there still is.
            costs: whether the rules would not have taken it anyway.
        """
        if advised:
            self.count_advised(reward, costs=costs)
            trail.lasted += costs and live
        elif trail.aftermath:
            # Whatever is earned meanwhile is nobody's: the rules' doing, where the advice has led.
            self.count_advised(0.0, costs=costs)
        else:
            self.count_rules(reward)

    def allows(self, ahead: int = 0) -> bool:
        """Whether advice may go on for ``ahead`` more steps, should they earn nothing."""
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
        # Where neither has earned anything yet, steps are all that advice can cost.
        return -lead <= allowed * abs(worth) if worth else steps <= allowed

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
