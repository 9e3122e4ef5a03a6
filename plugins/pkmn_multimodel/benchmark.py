"""Benchmark of two policies in a repeated game of two actions: plain policy gradient, and one that models its opponent.

It is quick, needs no language model, and its optimum is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from pkmncli.api import runs as api_runs

COMPETE, COOPERATE = 0, 1
GAINS: Final = ((2.0, 3.0), (0.0, 4.0))
"""Own gain by own action and the opponent's: a stag hunt, so that the best action is the opponent's next one."""
ROUNDS: Final = 20
"""Rounds of an episode."""
LAST_SHARE: Final = 0.2
"""Share of a run's episodes, the last ones, whose mean reward is its score."""


class CoopCompeteEnv:
    """Repeated stag hunt against an opponent that keeps its action or chooses again.

    Args:
        coop_level: share of the mean gain of both in a reward; the rest is the own gain.
        difficulty: probability that the opponent chooses again, at random; else it repeats its action.
        seed: of the opponent.

    Raises:
        ValueError: a level is not from 0 to 1.
    """

    def __init__(self, coop_level: float = 0.5, difficulty: float = 0.5, seed: int = 0) -> None:
        for name, value in (("coop_level", coop_level), ("difficulty", difficulty)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be from 0 to 1: {value}")
        self.coop_level = coop_level
        self.difficulty = difficulty
        self._random = np.random.default_rng(seed)
        self._opponent = COMPETE

    def reset(self) -> int:
        """Begin an episode. Return the opponent's first action, which is seen before it is repeated or not."""
        self._opponent = int(self._random.integers(2))
        return self._opponent

    def step(self, action: int) -> tuple[float, int]:
        """Play a round. Return (reward, the opponent's action)."""
        if self._random.random() < self.difficulty:
            self._opponent = int(self._random.integers(2))
        return self.reward(action, self._opponent), self._opponent

    def reward(self, action: int, opponent: int) -> float:
        """Return the reward of a pair of actions."""
        own, other = GAINS[action][opponent], GAINS[opponent][action]
        return self.coop_level * (own + other) / 2 + (1 - self.coop_level) * own

    def expected(self, action: int, last: int) -> float:
        """Return the expected reward of an action after an action of the opponent."""
        stays = 1 - self.difficulty / 2
        return stays * self.reward(action, last) + (1 - stays) * self.reward(action, 1 - last)

    @property
    def best(self) -> float:
        """Expected reward of the best policy."""
        return sum(max(self.expected(action, last) for action in (0, 1)) for last in (0, 1)) / 2

    @property
    def chance(self) -> float:
        """Expected reward of random actions."""
        return sum(self.expected(action, last) for action in (0, 1) for last in (0, 1)) / 4


class SimplePG:
    """Policy gradient (REINFORCE, Williams 1992) over two actions, with the mean reward as baseline.

    Args:
        learning_rate: size of a step.
        seed: of the actions.
    """

    def __init__(self, learning_rate: float = 1.0, seed: int = 0) -> None:
        self.logit = 0.0
        """Logarithm of the odds of action 1."""
        self._learning_rate = learning_rate
        self._random = np.random.default_rng(seed)

    def act(self) -> tuple[int, float]:
        """Return (action, its probability)."""
        likely = _sigmoid(self.logit)
        action = int(self._random.random() < likely)
        return action, likely if action else 1 - likely

    def update(self, trajectories: Sequence[tuple[int, float, float]]) -> None:
        """Learn from steps: (action, its probability, reward)."""
        if not trajectories:
            return
        mean = sum(reward for *_, reward in trajectories) / len(trajectories)
        likely = _sigmoid(self.logit)
        gradient = sum((action - likely) * (reward - mean) for action, _, reward in trajectories)
        self.logit += self._learning_rate * gradient / len(trajectories)


class OurMethodPolicy:
    """Policy that depends on the opponent's last action, and learns from the rewards of both actions.

    The game's payoffs are known, so a step shows what the other action would have earned against the same opponent:
    the gradient has no noise of the own actions.

    Args:
        learning_rate: size of a step.
        seed: of the actions.
    """

    def __init__(self, learning_rate: float = 1.0, seed: int = 0) -> None:
        self.logits = [0.0, 0.0]
        """Logarithm of the odds of action 1 after each action of the opponent."""
        self._learning_rate = learning_rate
        self._random = np.random.default_rng(seed)
        self._last = COMPETE
        self._acted = False
        self._seen: list[tuple[int, int]] = []

    def act(self) -> tuple[int, float]:
        """Return (action, its probability)."""
        likely = _sigmoid(self.logits[self._last])
        action = int(self._random.random() < likely)
        self._acted = True
        return action, likely if action else 1 - likely

    def observe_opponent(self, opp_action: int) -> None:
        """Take in the opponent's action: in the round just played, or before the first one of an episode."""
        if self._acted:
            self._seen.append((self._last, opp_action))
        self._last, self._acted = opp_action, False

    def update(self, trajectories: Sequence[tuple[int, float, float]], env: CoopCompeteEnv) -> None:
        """Learn from the steps since the last update.

        Args:
            trajectories: (action, its probability, reward) of each.
            env: the game, for its payoffs.

        Raises:
            ValueError: the opponent's action was not observed in each of them.
        """
        if len(trajectories) != len(self._seen):
            raise ValueError(f"{len(trajectories)} steps, but the opponent was observed in {len(self._seen)}")
        gradients = [0.0, 0.0]
        for last, opponent in self._seen:
            likely = _sigmoid(self.logits[last])
            gradients[last] += likely * (1 - likely) * (env.reward(1, opponent) - env.reward(0, opponent))
        for last, gradient in enumerate(gradients):
            self.logits[last] += self._learning_rate * gradient / max(len(self._seen), 1)
        self._seen = []


def run_benchmark(
    runs: int = 10, episodes: int = 200, coop_level: float = 0.5, difficulty: float = 0.5
) -> dict[str, Any]:
    """Compare the two policies, with the same opponents for both.

    Args:
        runs: seeds.
        episodes: of each run.
        coop_level: share of the mean gain of both in a reward.
        difficulty: 0 for an opponent that repeats itself, 1 for a random one.

    Returns:
        ``simple_pg``, ``our_method`` and ``difference``, each with ``score`` (mean over the runs; 0 is chance, 1 the
        best policy), ``low`` and ``high`` of its bootstrap interval, and ``scores`` of the runs.

    Raises:
        ValueError: a number is out of its range.
    """
    if runs < 1 or episodes < 1:
        raise ValueError(f"runs and episodes must be 1 or more: {runs}, {episodes}")
    scores: dict[str, list[float]] = {"simple_pg": [], "our_method": []}
    for seed in range(runs):
        scores["simple_pg"].append(_score(SimplePG(seed=seed), CoopCompeteEnv(coop_level, difficulty, seed), episodes))
        scores["our_method"].append(
            _score(OurMethodPolicy(seed=seed), CoopCompeteEnv(coop_level, difficulty, seed), episodes)
        )
    differences = [ours - simple for simple, ours in zip(*scores.values(), strict=True)]
    return {
        "runs": runs,
        "episodes": episodes,
        "coop_level": coop_level,
        "difficulty": difficulty,
        **{name: _summary(values) for name, values in (scores | {"difference": differences}).items()},
    }


def _score(policy: SimplePG | OurMethodPolicy, env: CoopCompeteEnv, episodes: int) -> float:
    """Return what a policy reaches in the last episodes of a run, from 0 at chance to 1 at the optimum."""
    means = []
    for _ in range(episodes):
        first, steps = env.reset(), []
        if isinstance(policy, OurMethodPolicy):
            policy.observe_opponent(first)
        for _ in range(ROUNDS):
            action, likely = policy.act()
            reward, opponent = env.step(action)
            steps.append((action, likely, reward))
            if isinstance(policy, OurMethodPolicy):
                policy.observe_opponent(opponent)
        if isinstance(policy, OurMethodPolicy):
            policy.update(steps, env)
        else:
            policy.update(steps)
        means.append(sum(reward for *_, reward in steps) / ROUNDS)
    last = means[-max(int(episodes * LAST_SHARE), 1) :]
    room = env.best - env.chance
    return (sum(last) / len(last) - env.chance) / room if room > 1e-9 else 0.0


def _summary(values: Sequence[float]) -> dict[str, Any]:
    interval = api_runs.interval(values, "mean")
    return {"score": interval.value, "low": interval.low, "high": interval.high, "scores": list(values)}


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))
