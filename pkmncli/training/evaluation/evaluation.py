"""Evaluation: seeded episodes of a fixed policy, without learning, with seeds that training never uses."""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from statistics import fmean, median_low, pstdev
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np

from pkmncli.api import PILOT_ACTS, Algorithm, EpisodeSummary, SamplingAlgorithm, Source
from pkmncli.atomic_files import write_errors_explained, write_json
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.agent_learner import AgentLearner
from pkmncli.hybrid.arbiter import AgentMode, Arbiter
from pkmncli.hybrid.build import controls_of
from pkmncli.hybrid.hand_over import HandOver
from pkmncli.seeds import Purpose, derive_seed, episode_number
from pkmncli.training.assembly import open_store
from pkmncli.training.evaluation.kept_evaluations import EVALUATIONS, RESULT_FILE
from pkmncli.training.recording.episodes import RunningEpisode
from pkmncli.training.recording.recorder import Recorder
from pkmncli.training.workers.step_result import StepColumns

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from pkmncli.plugins import Registry
    from pkmncli.runs import Run
    from pkmncli.training.workers.pool import WorkerPool

PLAYED_BY = {
    "rl-only": "the learner alone",
    "adaptive": "learner and pilot together",
    "llm-only": "the pilot alone",
    "random": "random play",
}
"""Names of the players by mode of an evaluation, for people."""

SUCCESS = "success"
"""Goal of an environment that says which episodes are successes, and has no milestone for it."""


class Choice(NamedTuple):
    """The next step of one environment: an action or PILOT_ACTS, who decided, and how sure that one is.

    ``controls`` (dimensions,) are the action of a continuous space.
    """

    action: int
    source: int
    confidence: float
    controls: NDArray[np.float32] | None = None


class Policy(Protocol):
    """Decisions for each environment by itself, so that results do not depend on the number of environments."""

    def decide(self, pool: WorkerPool, index: int, number: int) -> Choice:
        """Return the next action of environment ``index``, in the episode of that number."""
        ...


def evaluation_of(learner: Algorithm) -> AbstractContextManager[None]:
    """Return the context in which a learner plays an evaluation: the agent of a script is as before afterwards."""
    return learner.evaluation() if isinstance(learner, AgentLearner) else contextlib.nullcontext()


def side_by_side(learner: Algorithm, most: int) -> int:
    """Return the number of episodes that a learner plays at once: an agent of a script one, another ``most``."""
    return 1 if isinstance(learner, AgentLearner) else most


class EpisodeActor:
    """Greedy or sampled actions of a learner; one with a memory remembers each episode by itself.

    Args:
        learner: what plays.
    """

    def __init__(self, learner: Algorithm) -> None:
        self._learner = learner
        self._controls = controls_of(learner)
        self._act_from_memory = getattr(learner, "act_from_memory", None)
        self._memories: dict[int, Any] = {}

    def act(
        self, observations: Mapping[str, NDArray[Any]], number: int, random: np.random.Generator | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Return action, confidence, and that it is no exploration, (1,) each.

        Args:
            observations: arrays (1, ...) of the next step of the episode.
            number: of the episode.
            random: samples the action, by a :class:`pkmncli.api.SamplingAlgorithm`; None for the greedy one.
        """
        if self._act_from_memory is not None:
            memory = self._memories.get(number)
            actions, confidences, self._memories[number] = self._act_from_memory(observations, memory, random)
        elif random is None:
            actions, confidences, _ = self._learner.act(observations, explore=False)
        else:
            actions, confidences = cast(SamplingAlgorithm, self._learner).sample_actions(observations, random)
        return actions, confidences, np.zeros(len(actions), bool)

    def controls(self, pool: WorkerPool) -> NDArray[np.float32] | None:
        """Return the controls (dimensions,) of the latest action; None if actions are numbers."""
        return self._controls()[0] if pool.flat_actions.dimensions else None


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
        self._actor = EpisodeActor(learner)
        self._arbiter = Arbiter(mode, 1, seed=0, trust=trust, trial_share=0.0)
        self._hand_over = hand_over
        self._idle: dict[int, int] = {}
        """By episode: steps since it earned anything."""

    def decide(self, pool: WorkerPool, index: int, number: int) -> Choice:
        """Return the learner's best action, or PILOT_ACTS."""
        actions, confidences, exploring = self._actor.act(pool.observation(index), number)
        if self._hand_over is not None:
            earned = number in self._idle and pool.records()[index]["reward"] > 0
            self._idle[number] = 0 if earned else self._idle.get(number, -1) + 1
            step = int(pool.phases()[index]), float(confidences[0]), int(pool.pilot_actions()[index])
            confidences = np.array([self._hand_over.confidence(*step, self._idle[number])], np.float32)
        pilot = pool.pilot_confidences()[index : index + 1]
        chosen, sources = self._arbiter.choose(actions, confidences, exploring, pilot)
        return Choice(int(chosen[0]), int(sources[0]), float(confidences[0]), self._actor.controls(pool))


class LearnerPolicy:
    """The learner alone: it chooses every action.

    Args:
        learner: what plays.
        sampling_seed: seed of actions sampled by the learner's probabilities; None for the greedy action.

    Raises:
        ConfigurationError: actions are to be sampled, and the learner has no ``sample_actions``.
    """

    def __init__(self, learner: Algorithm, sampling_seed: int | None = None) -> None:
        self._actor = EpisodeActor(learner)
        self._seed = sampling_seed
        self._random: dict[int, np.random.Generator] = {}
        if sampling_seed is not None and not hasattr(learner, "sample_actions"):
            raise ConfigurationError(
                "--stochastic: this learner can't sample its actions (it has no sample_actions); leave it out"
            )

    def decide(self, pool: WorkerPool, index: int, number: int) -> Choice:
        """Return the learner's best action or a random one; an episode has the same ones in any environment."""
        if self._seed is not None and number not in self._random:
            self._random[number] = np.random.default_rng(derive_seed(self._seed, Purpose.RANDOM_PLAY, number))
        actions, confidences, _ = self._actor.act(pool.observation(index), number, self._random.get(number))
        return Choice(int(actions[0]), Source.RL, float(confidences[0]), self._actor.controls(pool))


class PilotPolicy:
    """The pilot alone, in workers that have one."""

    def decide(self, pool: WorkerPool, index: int, number: int) -> Choice:
        """Return the choice that lets the pilot act."""
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
        flat = pool.flat_actions
        if flat.dimensions:
            controls = self._random[number].uniform(flat.low, flat.high).astype(np.float32)
            return Choice(0, Source.EXPLORE, 0.0, controls)
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
    on_step: Callable[[int, float], None] = lambda done, share: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> list[EvaluatedEpisode]:
    """Play ``episodes`` episodes, the same ones for any number of environments.

    The pool is built for evaluation, which has separate seeds. Return the episodes in the order of their numbers; fewer
    than asked for only when interrupted. ``on_step`` takes the number of ended episodes, and the share of everything
    that was played, 0..1, after each step.
    """
    num_envs = pool.num_envs
    pool.reset()
    done: dict[int, EvaluatedEpisode] = {}
    running: dict[int, RunningEpisode] = {}
    running_steps, most_steps = 0, pool.max_steps_per_episode

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
            running_steps += 1
            steps, controls = StepColumns.of(record), pool.controls()
            episode.add(steps if controls is None else steps._replace(actions=[controls[index]]))
            if record["terminated"] or record["truncated"]:
                end = pool.latest_end(index)
                milestones = end.milestones(pool.milestone_names)
                summary = episode.summarize(index, record, milestones, success=end.success, metrics=end.metrics)
                overall = episode_number(index, episode.number, num_envs)
                done[overall] = EvaluatedEpisode(summary, episode, int(record["frames"]))
                running_steps -= summary.steps
                begin(index, episode.number + 1)
            elif interrupted():
                del running[index]
            else:
                step(index)
            on_step(len(done), (len(done) + running_steps / most_steps) / episodes)
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
        Mean and deviation of the reward, mean length, means of the environment's own metrics; the count and share of
        successes with Wilson's interval and the median step, None where nothing says which episodes are successes; and
        the same for each milestone. ``goal`` is ``"success"`` where the environment names no milestone for it.
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
    known = any(one.success is not None for one in episodes)
    to_goal = [one.steps for one in episodes if one.success]
    low, high = wilson_interval(len(to_goal), len(episodes))
    metrics = {name: [one.metrics[name] for one in episodes if name in one.metrics] for name in _metric_names(episodes)}
    return {
        "episodes": len(episodes),
        "avg_reward": fmean(rewards),
        "std_reward": pstdev(rewards),
        "avg_length": fmean(one.steps for one in episodes),
        "avg_llm_usage": fmean(one.llm_share for one in episodes),
        "metrics": {name: fmean(values) for name, values in metrics.items()},
        "goal": (goal or SUCCESS) if known else None,
        "reached": len(to_goal) if known else None,
        "goal_share": len(to_goal) / len(episodes) if known else None,
        "goal_low": low if known else None,
        "goal_high": high if known else None,
        "goal_steps": median_low(to_goal) if to_goal else None,
        "milestones": milestones,
    }


def _metric_names(episodes: Sequence[EpisodeSummary]) -> list[str]:
    return list(dict.fromkeys(name for one in episodes for name in one.metrics))


def keep_evaluation(
    run: Run, registry: Registry, result: Mapping[str, Any], played: Sequence[EvaluatedEpisode]
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
        write_json(folder / RESULT_FILE, result)
    store = open_store(registry, folder)
    recorder = Recorder(store)
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
