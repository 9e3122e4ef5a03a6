"""Counters of a training: episodes, returns, milestones, sources of actions; and the summary."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from statistics import fmean
from typing import Any

from pkmncli.api import EpisodeSummary, Source
from pkmncli.training.loop_options import Progress

RECENT_EPISODES = 10
"""Episodes that a «recent» average is taken over."""


@dataclass
class TrainingStatistics:
    """Counters of a run, carried on when it is resumed."""

    steps: int = 0
    episodes: int = 0
    updates: int = 0
    best_reward: float | None = None
    total_episode_steps: int = 0
    total_llm_share: float = 0.0
    elapsed_s: float = 0.0
    workers_lost: int = 0
    steps_by_source: list[int] = field(default_factory=lambda: [0] * len(Source))
    recent_rewards: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT_EPISODES))
    recent_successes: deque[bool] = field(default_factory=lambda: deque(maxlen=RECENT_EPISODES))
    """True for each recent episode that was a success, False for one that was not."""
    recent_metrics: dict[str, list[float]] = field(default_factory=dict)
    """The environment's own metrics of the recent episodes, by name."""
    recent_learner_steps: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=RECENT_EPISODES))
    """For each recent episode the learner's steps, exploration included, and all steps."""
    curriculum_stage: int = 1
    curriculum_advancements: int = 0
    strategy_switches: int = 0
    evaluated_at: int = -1
    """Steps after which the learner was last evaluated, -1 for never."""
    evaluation: dict[str, Any] | None = None
    """Result of the latest evaluation."""
    best_evaluation: float | None = None
    """Mean return of the best evaluation."""
    alone: list[dict[str, Any]] = field(default_factory=list)
    """Results of each measurement of the learner alone: step, reward, goal_share, steps, episodes."""
    milestone_episodes: dict[str, int] = field(default_factory=dict)
    milestone_first_step: dict[str, int] = field(default_factory=dict)
    milestone_splits: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    """Step and emulated frame of the episode that reached a milestone soonest; no frame where none is counted."""
    milestone_order: list[str] = field(default_factory=list)
    """The game's milestones in their order, where known. They are reached in any order over several episodes."""

    pretrain_updates: int = 0
    """Updates before the learner decided its first step."""
    demonstration_steps: int = 0
    """Steps of earlier runs that the learner was shown."""
    started_from: str = ""
    """Origin of the learner's first weights in words; empty for random ones."""

    journey: dict[str, Any] | None = None
    """The episode that has got furthest, running or ended, as of the latest checkpoint."""

    def add_episode(
        self, summary: EpisodeSummary, num_envs: int, *, learner_steps: int = 0, began_further: bool = False
    ) -> None:
        """Count an episode that ended.

        Args:
            summary: how it ended.
            num_envs: environments that step together, which dates its milestones.
            learner_steps: how many of its steps the learner decided.
            began_further: whether it began where another one got, so that its milestones tell nothing of the way there.
        """
        self.episodes += 1
        self.total_episode_steps += summary.steps
        self.total_llm_share += summary.llm_share
        self.recent_rewards.append(summary.total_reward)
        if summary.success is not None:
            self.recent_successes.append(summary.success)
        for metric, value in summary.metrics.items():
            self.recent_metrics[metric] = [*self.recent_metrics.get(metric, ()), value][-RECENT_EPISODES:]
        self.recent_learner_steps.append((learner_steps, summary.steps))
        if self.best_reward is None or summary.total_reward > self.best_reward:
            self.best_reward = summary.total_reward
        for name, step in summary.milestone_steps.items() if not began_further else ():
            reached = summary.first_step + step * num_envs
            self.milestone_episodes[name] = self.milestone_episodes.get(name, 0) + 1
            self.milestone_first_step[name] = min(reached, self.milestone_first_step.get(name, reached))
            if name not in self.milestone_splits or step < self.milestone_splits[name][0]:
                self.milestone_splits[name] = (step, summary.milestone_frames.get(name))

    def add_evaluation(self, found: Mapping[str, Any]) -> bool:
        """Take in the result of an evaluation after this step. Returns whether it is the best so far."""
        self.evaluated_at = self.steps
        self.evaluation = dict(found)
        score = float(found["avg_reward"])
        if self.best_evaluation is not None and score <= self.best_evaluation:
            return False
        self.best_evaluation = score
        return True

    def add_alone(
        self, rewards: Sequence[float], steps: Sequence[int], successes: Sequence[bool | None]
    ) -> dict[str, float]:
        """Take in the results of episodes of the learner alone. Return their means, by name.

        ``goal_share`` is among them if it is known which episodes are successes.
        """
        found = {"reward": fmean(rewards), "steps": fmean(steps), "episodes": float(len(rewards))}
        if any(success is not None for success in successes):  # one that was broken off is none
            found["goal_share"] = fmean(bool(success) for success in successes)
        self.alone.append({"step": self.steps, **found})
        return found

    @property
    def progress(self) -> Progress:
        """Steps and episodes so far."""
        return Progress(self.steps, self.episodes)

    @property
    def milestones_reached(self) -> list[str]:
        """The milestones that an episode has reached, in the game's order."""
        place = {name: index for index, name in enumerate(self.milestone_order)}
        return sorted(self.milestone_episodes, key=lambda name: place.get(name, len(place)))

    @property
    def average_reward(self) -> float | None:
        """Mean return of the recent episodes; nothing before the first has ended."""
        return fmean(self.recent_rewards) if self.recent_rewards else None

    @property
    def success_rate(self) -> float | None:
        """Share of the recent episodes that were a success; None if none of them says so."""
        return fmean(self.recent_successes) if self.recent_successes else None

    @property
    def recent_learner_share(self) -> float | None:
        """Share of the steps of the recent episodes that the learner decided; nothing before the first has ended."""
        total = sum(steps for _, steps in self.recent_learner_steps)
        return sum(own for own, _ in self.recent_learner_steps) / total if total else None

    @property
    def metrics(self) -> dict[str, float]:
        """Means of the environment's own metrics over the recent episodes, by name."""
        return {name: fmean(values) for name, values in self.recent_metrics.items() if values}

    def performance(self, episode: EpisodeSummary) -> dict[str, Any]:
        """Return the performance metrics after an episode that was just counted."""
        return {
            "episode_reward": episode.total_reward,
            "average_reward": self.average_reward,
            "llm_usage_rate": episode.llm_share,
            "episode_length": episode.steps,
            "strategy_switches": self.strategy_switches,
            "curriculum_stage": self.curriculum_stage,
            "success_rate": self.success_rate,
        }

    def source_shares(self) -> dict[str, float]:
        """Share of all steps that each source decided, 0..1."""
        total = max(sum(self.steps_by_source), 1)
        return {source.name.lower(): self.steps_by_source[source] / total for source in Source}

    def summary(self) -> dict[str, Any]:
        """Return the training's summary: the content of ``summary.json``."""
        episodes = max(self.episodes, 1)
        return {
            "total_episodes": self.episodes,
            "total_steps": self.steps,
            "best_reward": self.best_reward,
            "final_avg_reward": self.average_reward,
            "avg_episode_length": self.total_episode_steps / episodes,
            "avg_llm_usage": self.total_llm_share / episodes,
            "curriculum_stage_reached": self.curriculum_stage,
            "curriculum_advancements": self.curriculum_advancements,
            "strategy_switches": self.strategy_switches,
            "success_rate": self.success_rate,
            "metrics": self.metrics,
            "final_evaluation": self.evaluation,
            "alone": self.alone,
            "episodes_per_hour": round(3600 * self.episodes / self.elapsed_s, 1) if self.elapsed_s else None,
            "updates": self.updates,
            "pretrain_updates": self.pretrain_updates,
            "demonstration_steps": self.demonstration_steps,
            "started_from": self.started_from,
            "elapsed_s": round(self.elapsed_s, 1),
            "steps_per_second": round(self.steps / self.elapsed_s, 1) if self.elapsed_s else None,
            "source_shares": self.source_shares(),
            "recent_learner_share": self.recent_learner_share,
            "milestones": {
                name: {
                    "episodes": self.milestone_episodes[name],
                    "first_step": self.milestone_first_step[name],
                    **dict(
                        zip(("best_step", "best_frame"), self.milestone_splits.get(name, (None, None)), strict=True)
                    ),
                }
                for name in self.milestones_reached
            },
            "journey": self.journey,
            "workers_lost": self.workers_lost,
        }

    def state_dict(self) -> dict[str, Any]:
        """Return plain values for a checkpoint."""
        state = asdict(self)
        state["recent_rewards"] = list(self.recent_rewards)
        state["recent_successes"] = list(self.recent_successes)
        state["recent_learner_steps"] = [list(pair) for pair in self.recent_learner_steps]
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. Counters that it lacks stay; unknown ones are those of another version."""
        loaded = {one.name: state[one.name] for one in fields(self) if one.name in state}
        for name in ("recent_rewards", "recent_successes"):
            loaded[name] = deque(loaded.get(name, ()), maxlen=RECENT_EPISODES)
        pairs = ((own, steps) for own, steps in loaded.get("recent_learner_steps", ()))
        loaded["recent_learner_steps"] = deque(pairs, maxlen=RECENT_EPISODES)
        splits = loaded.get("milestone_splits", {})
        loaded["milestone_splits"] = {name: (step, frame) for name, (step, frame) in splits.items()}
        for name, value in loaded.items():
            setattr(self, name, value)
