"""Evaluation: seeded episodes of a fixed policy, without learning, on starts that training never saw."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pkmncli.api import Algorithm, EpisodeSummary, Source
from pkmncli.hybrid.arbiter import AgentMode, Arbiter
from pkmncli.training.episodes import RunningEpisode
from pkmncli.training.seeds import Purpose, derive_seed, episode_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.training.workers import WorkerPool


class Policy(Protocol):
    """Decides the next step of every environment."""

    def decide(
        self, pool: WorkerPool, numbers: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.float32]]:
        """Actions, sources and confidences, each of shape (num_envs,).

        Args:
            pool: the environments.
            numbers: number of the episode that each of them is in.
        """
        ...


class AgentPolicy:
    """A trained learner acting greedily, with the advised side where the mode lets it."""

    def __init__(self, learner: Algorithm, mode: AgentMode, num_envs: int, trust: float) -> None:
        self._learner = learner
        self._arbiter = Arbiter(mode, num_envs, seed=0, trust=trust, trial_share=0.0)

    def decide(
        self, pool: WorkerPool, numbers: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.float32]]:
        """The learner's best action, or «let the pilot act»."""
        actions, confidences, exploring = self._learner.act(pool.observations(), explore=False)
        actions, sources = self._arbiter.choose(actions, confidences, exploring, pool.pilot_confidences())
        return actions, sources, confidences


class RandomPolicy:
    """Any action that the mask allows, with equal chances: what every learner has to beat."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random: dict[int, np.random.Generator] = {}

    def decide(
        self, pool: WorkerPool, numbers: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.float32]]:
        """One allowed action for each environment; an episode draws the same ones in any environment."""
        actions = []
        for number, mask in zip(numbers, pool.observations()["action_mask"], strict=True):
            if number not in self._random:
                self._random[number] = np.random.default_rng(derive_seed(self._seed, Purpose.RANDOM_PLAY, number))
            actions.append(self._random[number].choice(np.flatnonzero(mask)))
        count = len(actions)
        return np.asarray(actions), np.full(count, Source.EXPLORE, np.uint8), np.zeros(count, np.float32)


@dataclass(frozen=True, slots=True)
class EvaluatedEpisode:
    """An episode with what a replay needs."""

    summary: EpisodeSummary
    episode: RunningEpisode
    frames: int


def evaluate(
    pool: WorkerPool,
    policy: Policy,
    episodes: int,
    *,
    seed: int,
    on_episode: Callable[[int], None] = lambda done: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> list[EvaluatedEpisode]:
    """Plays ``episodes`` episodes, the same ones however many environments there are.

    The pool's workers draw their seeds for evaluation. Returns the episodes in the order of their numbers; fewer than
    asked for only when interrupted.
    """
    num_envs = pool.num_envs
    pool.reset()
    done: dict[int, EvaluatedEpisode] = {}

    def begin(environment: int, number: int) -> RunningEpisode:
        seed_of_episode = derive_seed(seed, Purpose.EVALUATION, episode_number(environment, number, num_envs))
        return RunningEpisode(number, seed_of_episode, 0)

    running = [begin(index, 0) for index in range(num_envs)]
    while len(done) < episodes and not interrupted():
        numbers = [episode_number(index, episode.number, num_envs) for index, episode in enumerate(running)]
        result = pool.step(*policy.decide(pool, numbers))
        for index, record in enumerate(result.records):
            running[index].add(record)
        for index in np.flatnonzero(result.ended).tolist():
            episode, record = running[index], result.records[index]
            number = numbers[index]
            running[index] = begin(index, episode.number + 1)
            if number < episodes:
                summary = episode.summarize(index, record, pool.milestones_of_ended(index))
                done[number] = EvaluatedEpisode(summary, episode, int(record["frames"]))
                on_episode(len(done))
    return [done[number] for number in sorted(done)]


def wilson_interval(successes: int, trials: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's interval for a share, at 95% by default.

    E. B. Wilson, «Probable inference, the law of succession, and statistical inference», 1927.
    """
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    spread = z * z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / trials + spread / (4 * trials)) / (1 + spread)
    return max(centre - half, 0.0), min(centre + half, 1.0)


def report(episodes: list[EvaluatedEpisode], milestone_names: list[str]) -> dict[str, Any]:
    """What an evaluation found: mean, deviation, length, and for each milestone the share of episodes with it."""
    rewards = [one.summary.total_reward for one in episodes]
    milestones: dict[str, Mapping[str, Any]] = {}
    for name in milestone_names:
        steps = sorted(one.summary.milestone_steps[name] for one in episodes if name in one.summary.milestone_steps)
        low, high = wilson_interval(len(steps), len(episodes))
        milestones[name] = {
            "episodes": len(steps),
            "share": len(steps) / len(episodes),
            "low": low,
            "high": high,
            "median_step": steps[len(steps) // 2] if steps else None,
        }
    return {
        "episodes": len(episodes),
        "avg_reward": fmean(rewards),
        "std_reward": pstdev(rewards),
        "avg_length": fmean(one.summary.steps for one in episodes),
        "avg_llm_usage": fmean(one.summary.llm_share for one in episodes),
        "goal_share": fmean(one.summary.terminated for one in episodes),
        "milestones": milestones,
    }
