"""Worth of advice: the estimate from rewards, over a run, in a situation, and in an episode.

Each reward of the advised side counts once: for advice, for the rules, or for neither on the way back from advice. Over
a run the two sides are compared as in a conservative bandit (Y. Wu and others, «Conservative Bandits», 2016): the rules
are the baseline, and advice may cost a given share of what they alone would have earned in as many steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pkmncli.api import ActionNames, Advice, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

FREE_STEPS = 20
"""Steps of advice before it is judged."""

LEAST_RULE_STEPS = 30
"""Minimum steps of the rules to estimate their worth."""

TURNING_BACK = 4
MOST_AFTERMATH = 30
"""Maximum number of steps after advice that are still charged to it: its length plus some for turning back, because
the agent must undo what the advice did."""

LEAST_TRIES = 3
"""Tries after which the results of advice in a situation are used."""

HORIZON = 8
"""Steps of an episode over which the return and the outcome of a step are taken, its own included."""

LEAST_STEPS = 8
"""Minimum number of a side's steps in an episode to judge it."""

_SIDES = {"llm": Source.LLM, "rule": Source.RULE}


class Situation(NamedTuple):
    """Place of an advised action: map, phase, and in a battle the opponent and the kind, as in a step's record."""

    map_id: int
    phase: int
    opponent: int
    battle: int = 0

    @classmethod
    def of(cls, record: Any) -> Situation:
        """Return the situation that a step led to."""
        battle = int(record["battle"])
        return cls(int(record["next_map"]), int(record["next_phase"]), int(record["opponent"]) if battle else 0, battle)


def action_key(advice: Advice, names: ActionNames) -> str:
    """Return a key for advice in words, equal for the same advice."""
    if not advice.skill:
        return f"press {names.in_words(advice.presses)}"
    arguments = advice.arguments
    tile = f"({arguments['x']}, {arguments['y']})" if "x" in arguments and "y" in arguments else ""
    return " ".join(part for part in (advice.skill.replace("_", " "), str(arguments.get("map", "")), tile) if part)


@dataclass(slots=True)
class Charge:
    """Steps charged to the latest advice in one environment."""

    steps: int = 0
    """Steps that the live advice has cost."""
    aftermath: int = 0
    """Following steps that are still charged to the latest advice."""

    def pass_step(self) -> None:
        """Count down the aftermath after a step of any side."""
        self.aftermath = max(self.aftermath - 1, 0)

    def end(self) -> None:
        """End the live advice and begin its aftermath."""
        self.aftermath = min(self.steps + TURNING_BACK, MOST_AFTERMATH) if self.steps else 0
        self.steps = 0


@dataclass(slots=True)
class Results:
    """Results of one piece of advice in a situation."""

    tries: int = 0
    wins: int = 0
    """Tries during which something was earned."""
    reward: float = 0.0
    held_back: int = 0
    """Times that it was not tried because it had always failed."""

    @property
    def always_failed(self) -> bool:
        """True if enough tries have brought nothing."""
        return self.tries >= LEAST_TRIES and not self.wins


class AdviceWorth:
    """Rewards of advice and of the rules, counted in the order of a training's steps."""

    def __init__(self) -> None:
        self.advised_steps = 0
        self.advised_reward = 0.0
        self.rule_steps = 0
        self.rule_reward = 0.0
        self._results: dict[Situation, dict[str, Results]] = {}

    def count(self, charge: Charge, reward: float, *, advised: bool, live: bool, costs: bool) -> float:
        """Count a step of the advised side.

        Args:
            charge: of its environment.
            reward: of the step.
            advised: True if there was advice for it.
            live: True if the advice continues.
            costs: False if the rules would have taken the same step.

        Returns:
            The reward that counts for advice.
        """
        # The aftermath earns for neither side: the rules act, but where the advice has led.
        earned = reward if advised else 0.0
        if advised or charge.aftermath:
            self.advised_steps += costs
            self.advised_reward += earned
            charge.steps += advised and costs and live
        else:
            self.rule_steps += 1
            self.rule_reward += reward
        return earned

    def affords(self, share: float, ahead: int = 0) -> bool:
        """Return True if advice may continue for ``ahead`` more steps, assuming that they earn nothing.

        Args:
            share: maximum cost of advice, as a share of what the rules alone would have earned; no limit from 1 on.
            ahead: number of steps.
        """
        if share >= 1:
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
        allowed = share * (steps + self.rule_steps)
        # If neither has earned anything yet, steps are the only cost of advice.
        return -lead <= allowed * abs(worth) if worth else steps <= allowed

    def add_result(self, situation: Situation, key: str, reward: float) -> None:
        """Add the reward of all steps of a piece of advice that has ended."""
        results = self._results.setdefault(situation, {}).setdefault(key, Results())
        results.tries += 1
        results.wins += reward > 0
        results.reward += reward

    def results(self, situation: Situation | None) -> Mapping[str, Results]:
        """Return the results in a situation, by the key of the advice."""
        return {} if situation is None else self._results.get(situation, {})

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "advised": [self.advised_steps, self.advised_reward],
            "rules": [self.rule_steps, self.rule_reward],
            "results": [
                [*situation, key, one.tries, one.wins, one.reward, one.held_back]
                for situation, results in self._results.items()
                for key, one in results.items()
            ],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.advised_steps, self.advised_reward = int(state["advised"][0]), float(state["advised"][1])
        self.rule_steps, self.rule_reward = int(state["rules"][0]), float(state["rules"][1])
        self._results = {}
        for row in state["results"]:
            # Checkpoints of earlier versions have no kinds of battles.
            parts = next(index for index, value in enumerate(row) if isinstance(value, str))
            key, *numbers = row[parts:]
            self._results.setdefault(Situation(*row[:parts]), {})[key] = Results(*numbers)


def side_outcomes(sources: NDArray[np.uint8], rewards: NDArray[np.float64]) -> dict[str, Any]:
    """Return efficiency and success of the language model's steps and of the rules' steps in an episode.

    Args:
        sources: (steps,), the source of each step of the episode.
        rewards: (steps,), their rewards.

    Returns:
        ``llm_efficiency`` and ``rule_efficiency``, the mean reward that followed, per step; ``llm_success_rate`` and
        ``rule_success_rate``, the share of steps followed by a reward above 0. None for a side with too few steps.
    """
    sums = np.concatenate(([0.0], np.cumsum(rewards, dtype=np.float64)))
    begins = np.arange(len(rewards))
    with np.errstate(invalid="ignore"):  # infinite rewards are reported elsewhere
        followed = sums[np.minimum(begins + HORIZON, len(rewards))] - sums[begins]
    found: dict[str, Any] = {}
    for side, source in _SIDES.items():
        own = followed[sources == source]
        enough = len(own) >= LEAST_STEPS
        found[f"{side}_efficiency"] = float(own.mean()) / HORIZON if enough else None
        # Differences of sums are not exactly 0 if no reward followed.
        found[f"{side}_success_rate"] = float((own > 1e-9).mean()) if enough else None
    return found
