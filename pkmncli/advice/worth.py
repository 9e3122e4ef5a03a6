"""Worth of advice: the estimate from rewards, over a run, in an episode, and in a situation.

Each reward of the advised side counts once: for advice, for the rules, or for neither on the way back from advice.
Strategies compare the two sides by the figures of episodes. Over a run they are compared as in a conservative bandit
(Y. Wu and others, «Conservative Bandits», 2016): the rules are the baseline, and advice may cost a given share of what
they alone would have earned in as many steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, NamedTuple

from pkmncli.api import ActionNames, Advice

FREE_STEPS = 20
"""Steps of advice before it is judged."""

LEAST_RULE_STEPS = 30
"""Minimum steps of the rules to estimate their worth."""

TURNING_BACK = 4
MOST_AFTERMATH = 30
"""Maximum number of steps after advice that are still charged to it: its length plus some for turning back, because
the agent must undo what the advice did."""

LEAST_TRIES = 3
"""Tries after which prompts have the results of advice in a situation."""

LEAST_STEPS = 8
"""Minimum number of a side's steps in an episode to judge it."""


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
class SideTally:
    """Steps and rewards that count for a side."""

    steps: int = 0
    reward: float = 0.0
    successes: int = 0
    """Steps with a reward above 0."""

    def add(self, reward: float, *, step: bool = True) -> None:
        """Add a reward; ``step`` is False if its step does not count."""
        self.steps += step
        self.reward += reward
        self.successes += step and reward > 0


@dataclass(slots=True)
class Charge:
    """Steps charged to the latest advice in one environment, and what both sides have earned in its episode."""

    steps: int = 0
    """Steps that the live advice has cost."""
    aftermath: int = 0
    """Following steps that are still charged to the latest advice."""
    advised: SideTally = field(default_factory=SideTally)
    rules: SideTally = field(default_factory=SideTally)

    def outcomes(self) -> dict[str, Any]:
        """Return efficiency and success of advice and of the rules in the episode.

        Returns:
            ``llm_efficiency`` and ``rule_efficiency``, the reward per step; ``llm_success_rate`` and
            ``rule_success_rate``, the share of steps with a reward above 0. None for a side with too few steps.
        """
        found: dict[str, Any] = {}
        for name, side in (("llm", self.advised), ("rule", self.rules)):
            enough = side.steps >= LEAST_STEPS
            found[f"{name}_efficiency"] = side.reward / side.steps if enough else None
            found[f"{name}_success_rate"] = side.successes / side.steps if enough else None
        return found

    def state(self) -> list[float]:
        """Return the state as plain values."""
        return [self.steps, self.aftermath, *astuple(self.advised), *astuple(self.rules)]

    @classmethod
    def from_state(cls, state: Sequence[Any]) -> Charge:
        """Return the charge that :meth:`state` describes. Earlier versions have the first two values only."""
        return cls(state[0], state[1], SideTally(*state[2:5]), SideTally(*state[5:8]))

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


class AdviceWorth:
    """Rewards of advice and of the rules, counted in the order of a training's steps."""

    def __init__(self) -> None:
        self.advised, self.rules = SideTally(), SideTally()
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
            charge.steps += advised and costs and live
            for tally in (self.advised, charge.advised):
                tally.add(earned, step=costs)
        else:
            for tally in (self.rules, charge.rules):
                tally.add(reward)
        return earned

    def affords(self, share: float, ahead: int = 0) -> bool:
        """Return True if advice may continue for ``ahead`` more steps, assuming that they earn nothing.

        Args:
            share: maximum cost of advice, as a share of what the rules alone would have earned; no limit from 1 on.
            ahead: number of steps.
        """
        if share >= 1:
            return True
        steps = self.advised.steps + ahead - FREE_STEPS
        if steps <= 0:
            return True
        if self.rules.steps < LEAST_RULE_STEPS:
            return False
        worth = self.rules.reward / self.rules.steps
        lead = self.advised.reward - worth * steps
        if lead > 0:
            return True
        allowed = share * (steps + self.rules.steps)
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
            "advised": list(astuple(self.advised)),
            "rules": list(astuple(self.rules)),
            "results": [
                [*situation, key, one.tries, one.wins, one.reward]
                for situation, results in self._results.items()
                for key, one in results.items()
            ],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        # Checkpoints of earlier versions have no successes.
        self.advised, self.rules = SideTally(*state["advised"]), SideTally(*state["rules"])
        self._results = {}
        for row in state["results"]:
            # Checkpoints of earlier versions have no kinds of battles, or a fourth number.
            parts = next(index for index, value in enumerate(row) if isinstance(value, str))
            key, *numbers = row[parts:]
            self._results.setdefault(Situation(*row[:parts]), {})[key] = Results(*numbers[:3])
