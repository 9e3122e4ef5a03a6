"""Evaluation: seeded episodes of a fixed policy, without learning, with seeds that training never uses."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median_low, pstdev
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from pkmncli.api import PILOT_ACTS, Algorithm, EpisodeSummary, Source, Store
from pkmncli.atomic_files import write_errors_explained, write_json
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.arbiter import AgentMode, Arbiter
from pkmncli.hybrid.hand_over import HandOver
from pkmncli.seeds import Purpose, derive_seed, episode_number
from pkmncli.training.recording.episodes import RunningEpisode
from pkmncli.training.recording.recorder import Recorder

if TYPE_CHECKING:
    from pathlib import Path

    from pkmncli.runs import Run
    from pkmncli.training.workers.pool import WorkerPool

EVALUATIONS = "evaluations"
"""Folder of a run for what its evaluations found."""


PLAYED_BY = {
    "rl-only": "the learner alone",
    "adaptive": "learner and pilot together",
    "llm-only": "the pilot alone",
    "random": "random play",
}
"""Names of the players by mode of an evaluation, for people."""


class Choice(NamedTuple):
    """The next step of one environment: an action or PILOT_ACTS, who decided, and how sure that one is."""

    action: int
    source: int
    confidence: float


class Policy(Protocol):
    """Decisions for each environment by itself, so that results do not depend on the number of environments."""

    def decide(self, pool: WorkerPool, index: int, number: int) -> Choice:
        """Return the next action of environment ``index``, in the episode of that number."""
        ...


class AgentPolicy:
    """A trained learner acting greedily, with the advised side where the mode lets it.

    Args:
        learner: what plays.
        mode: which sides may decide.
        trust: weight of the advised side's confidence.
        hand_over: the training's evidence of the learner, by which it decides there; without it the learner's own
            confidence holds.
    """

    def __init__(self, learner: Algorithm, mode: AgentMode, trust: float, hand_over: HandOver | None = None) -> None:
        self._learner = learner
        self._arbiter = Arbiter(mode, 1, seed=0, trust=trust, trial_share=0.0)
        self._hand_over = hand_over
        self._idle: dict[int, int] = {}
        """By episode: steps since it earned anything."""

    def decide(self, pool: WorkerPool, index: int, number: int) -> Choice:
        """Return the learner's best action, or PILOT_ACTS."""
        actions, confidences, exploring = self._learner.act(pool.observation(index), explore=False)
        if self._hand_over is not None:
            earned = number in self._idle and pool.records()[index]["reward"] > 0
            self._idle[number] = 0 if earned else self._idle.get(number, -1) + 1
            step = int(pool.phases()[index]), float(confidences[0]), int(pool.pilot_actions()[index])
            confidences = np.array([self._hand_over.confidence(*step, self._idle[number])], np.float32)
        pilot = pool.pilot_confidences()[index : index + 1]
        chosen, sources = self._arbiter.choose(actions, confidences, exploring, pilot)
        return Choice(int(chosen[0]), int(sources[0]), float(confidences[0]))


class LearnerPolicy:
    """The learner alone: every press is its own.

    Args:
        learner: what plays.
        sampling_seed: of the draws, where presses are drawn by the learner's probabilities; None for the greedy action.

    Raises:
        ConfigurationError: presses are to be drawn, and the learner has no ``sample_actions``.
    """

    def __init__(self, learner: Algorithm, sampling_seed: int | None = None) -> None:
        self._learner = learner
        self._seed = sampling_seed
        self._random: dict[int, np.random.Generator] = {}
        self._sample = getattr(learner, "sample_actions", None)
        if sampling_seed is not None and self._sample is None:
            raise ConfigurationError(
                "--stochastic: this learner can't draw its presses (it has no sample_actions); leave it out"
            )

    def decide(self, pool: WorkerPool, index: int, number: int) -> Choice:
        """Return the learner's best action or a random one; an episode has the same ones in any environment."""
        observations = pool.observation(index)
        if self._seed is None or self._sample is None:
            actions, confidences, _exploring = self._learner.act(observations, explore=False)
        else:
            if number not in self._random:
                self._random[number] = np.random.default_rng(derive_seed(self._seed, Purpose.RANDOM_PLAY, number))
            actions, confidences = self._sample(observations, self._random[number])
        return Choice(int(actions[0]), Source.RL, float(confidences[0]))


class PilotPolicy:
    """The pilot alone, in workers that have one."""

    def decide(self, pool: WorkerPool, index: int, number: int) -> Choice:
        """«Let the pilot act»."""
        return Choice(PILOT_ACTS, Source.RULE, 0.0)


class RandomPolicy:
    """Any action that the mask allows, with equal chances: what every learner has to beat."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random: dict[int, np.random.Generator] = {}

    def decide(self, pool: WorkerPool, index: int, number: int) -> Choice:
        """Return a random allowed action; an episode has the same ones in any environment."""
        if number not in self._random:
            self._random[number] = np.random.default_rng(derive_seed(self._seed, Purpose.RANDOM_PLAY, number))
        allowed = np.flatnonzero(pool.observation(index)["action_mask"][0])
        return Choice(int(self._random[number].choice(allowed)), Source.EXPLORE, 0.0)


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
    """Play ``episodes`` episodes, the same ones for any number of environments.

    The pool's workers draw their seeds for evaluation. Returns the episodes in the order of their numbers; fewer than
    asked for only when interrupted.
    """
    num_envs = pool.num_envs
    pool.reset()
    done: dict[int, EvaluatedEpisode] = {}
    running: dict[int, RunningEpisode] = {}

    def begin(index: int, number: int) -> None:
        """Begin an environment's next episode, if it is one of the requested ones."""
        overall = episode_number(index, number, num_envs)
        running.pop(index, None)
        if overall < episodes:
            running[index] = RunningEpisode(number, derive_seed(seed, Purpose.EVALUATION, overall), 0)
            step(index)

    def step(index: int) -> None:
        pool.begin_step(index, *policy.decide(pool, index, episode_number(index, running[index].number, num_envs)))

    for index in range(num_envs):
        begin(index, 0)
    while running:
        for index in pool.ready(running):
            record, episode = pool.finish_step(index), running[index]
            episode.add(record)
            if record["terminated"] or record["truncated"]:
                summary = episode.summarize(index, record, pool.milestones_of_ended(index))
                overall = episode_number(index, episode.number, num_envs)
                done[overall] = EvaluatedEpisode(summary, episode, int(record["frames"]))
                on_episode(len(done))
                begin(index, episode.number + 1)
            elif interrupted():
                del running[index]
            else:
                step(index)
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


def report(
    episodes: Sequence[EpisodeSummary], milestone_names: Sequence[str], goal: str | None = None
) -> dict[str, Any]:
    """Return the results of an evaluation as plain values.

    Args:
        episodes: those that were played, one or more.
        milestone_names: all of the game.
        goal: the milestone that ends an episode; None where the game has none.

    Returns:
        Mean and deviation of the reward, mean length, the count and share of episodes that reached the goal with
        Wilson's interval and the median step of it, and the same for each milestone.
    """
    rewards = [one.total_reward for one in episodes]
    milestones: dict[str, Mapping[str, Any]] = {}
    for name in milestone_names:
        steps = sorted(one.milestone_steps[name] for one in episodes if name in one.milestone_steps)
        low, high = wilson_interval(len(steps), len(episodes))
        milestones[name] = {
            "episodes": len(steps),
            "share": len(steps) / len(episodes),
            "low": low,
            "high": high,
            "median_step": steps[len(steps) // 2] if steps else None,
        }
    to_goal = [one.steps for one in episodes if one.terminated]
    low, high = wilson_interval(len(to_goal), len(episodes))
    return {
        "episodes": len(episodes),
        "avg_reward": fmean(rewards),
        "std_reward": pstdev(rewards),
        "avg_length": fmean(one.steps for one in episodes),
        "avg_llm_usage": fmean(one.llm_share for one in episodes),
        "goal": goal,
        "reached": len(to_goal),
        "goal_share": len(to_goal) / len(episodes),
        "goal_low": low,
        "goal_high": high,
        "goal_steps": median_low(to_goal) if to_goal else None,
        "milestones": milestones,
    }


def keep_evaluation(
    run: Run, open_store: Callable[[Path], Store], result: Mapping[str, Any], played: list[EvaluatedEpisode]
) -> Path:
    """Write a result and its episodes, so that they can be replayed, into a new folder of the run.

    Raises:
        RunError: it cannot be written.
    """
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{result['checkpoint']}-{result['mode']}"
    with write_errors_explained(run.folder / EVALUATIONS):
        folder = next(
            folder
            for number in itertools.count(1)
            if not (folder := run.folder / EVALUATIONS / (stem if number == 1 else f"{stem}-{number}")).exists()
        )
        folder.mkdir(parents=True)
        write_json(folder / "result.json", result)
    store = open_store(folder)
    recorder = Recorder(store, 1)
    for one in played:
        recorder.add_episode(
            one.episode,
            one.summary,
            last_step=one.summary.steps,
            frames=one.frames,
            purpose="eval",
            checkpoint=result["checkpoint"],
        )
    recorder.flush()
    store.close()
    return folder
