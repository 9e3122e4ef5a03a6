"""Record of a training: counters, running episodes, their journeys, and the rows of its tables."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pkmncli.api import EpisodeSummary, Source, Store
from pkmncli.errors import RunError
from pkmncli.plurals import counted
from pkmncli.training.recording.counters import TrainingStatistics
from pkmncli.training.recording.episodes import RunningEpisode
from pkmncli.training.recording.journeys import Journeys
from pkmncli.training.recording.rate_limit import RateLimit
from pkmncli.training.recording.recorder import StepRecorder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pkmncli.training.recording.journey import Journey
    from pkmncli.training.workers.pool import StepResult, WorkerPool

logger = logging.getLogger(__name__)


class TrainingRecord:
    """Record of the steps and episodes of a training.

    Args:
        pool: the environments.
        store: the tables.
        start: hash of the saved state in which every episode begins; empty for the game's own start.
        on_rows: called with rows of the table of decisions.
        on_metrics: called with metrics.
    """

    def __init__(
        self,
        pool: WorkerPool,
        store: Store,
        start: str,
        on_rows: Callable[[Mapping[str, Any]], None],
        on_metrics: Callable[[Mapping[str, float]], None],
    ) -> None:
        self._pool = pool
        self._store = store
        self._on_metrics = on_metrics
        self.statistics = TrainingStatistics(milestone_order=list(pool.milestone_names))
        self.recorder = StepRecorder(
            store, pool.num_envs, on_batch=on_rows, start=start, reward_names=pool.reward_names
        )
        self.journeys = Journeys(pool)
        self.episodes: list[RunningEpisode] = []
        self._lost_before = 0
        self._lines = RateLimit()
        self._unlogged = 0
        """Episodes that ended since the latest line of the log."""

    def add_steps(
        self,
        result: StepResult,
        models: Sequence[str] | None,
        latencies_s: Sequence[float] | None,
        values: NDArray[np.float32] | None,
    ) -> None:
        """Take in one step of every environment; other arguments as those of :meth:`StepRecorder.add_steps`."""
        statistics = self.statistics
        self.recorder.add_steps(statistics.steps, result.records, models, latencies_s, values)
        statistics.steps += self._pool.num_envs
        statistics.workers_lost = self._lost_before + self._pool.losses
        controls = result.controls
        for index, (episode, one) in enumerate(zip(self.episodes, result.values, strict=True)):
            episode.add(one, None if controls is None else controls[index])
            statistics.steps_by_source[one.source] += 1
        self.journeys.after_step(result.values, statistics.elapsed_s, statistics.steps)

    def end_episode(self, index: int, record: np.void) -> EpisodeSummary:
        """Take in the end of an environment's episode, with the record of its last step."""
        episode, statistics, pool = self.episodes[index], self.statistics, self._pool
        summary = episode.summarize(
            index,
            record,
            pool.milestones_of_ended(index),
            pool.milestone_frames_of_ended(index),
            success=pool.success_of_ended(index),
            metrics=pool.metrics_of_ended(index),
        )
        own = episode.steps_by_source[Source.RL] + episode.steps_by_source[Source.EXPLORE]
        statistics.add_episode(summary, pool.num_envs, learner_steps=own, began_further=bool(episode.start))
        self.journeys.end(index, episode, statistics.elapsed_s, statistics.steps)
        self.recorder.add_episode(episode, summary, last_step=statistics.steps, frames=int(record["frames"]))
        self._log_episode(summary)
        return summary

    def _log_episode(self, summary: EpisodeSummary) -> None:
        """Log an episode: each at level DEBUG, else no more than anybody can follow. The table has each."""
        if not (logger.isEnabledFor(logging.DEBUG) or self._lines.passes()):
            self._unlogged += 1
            return
        count, self._unlogged = self._unlogged, 0
        logger.info(
            "environment %d, episode %d: %d steps, reward %.2f, %s, reached %s%s",
            summary.environment,
            summary.episode,
            summary.steps,
            summary.total_reward,
            summary.outcome,
            ", ".join(summary.milestone_steps) or "nothing",
            f" ({counted(count, 'episode')} without a line before it)" if count else "",
        )

    def log_unlogged(self) -> None:
        """Log the number of episodes that ended since the latest line, if there are any."""
        if self._unlogged:
            logger.info("%s without a line at the end", counted(self._unlogged, "episode"))

    def keep_metrics(self, metrics: Mapping[str, float]) -> None:
        """Record metrics of this step, if there are any."""
        if metrics:
            self.recorder.add_metrics(self.statistics.steps, metrics)
            self._on_metrics(metrics)

    @property
    def size_bytes(self) -> int:
        """Size of the tables on disk."""
        return self._store.size_bytes()

    def advice_after(self, step: int) -> Sequence[Mapping[str, Any]]:
        """Return the rows of the table ``advice`` after a step; none if they can't be read, so it is asked again."""
        try:
            return self._store.read("advice", "global_step > ?", [step])
        except RunError as error:
            logger.warning("%s", error)
            return []

    def leading(self) -> Journey:
        """Return the running journey that has got furthest."""
        return self.journeys.leading(self.episodes)

    def note_journey(self) -> None:
        """Enter the furthest journey into the statistics, for the summary."""
        self.statistics.journey = self.journeys.furthest(self.episodes).as_dict()

    def resume(self, statistics: TrainingStatistics, episodes: Sequence[Mapping[str, Any]]) -> None:
        """Resume from counters and from the states of the running episodes."""
        self.statistics = statistics
        self.statistics.milestone_order = list(self._pool.milestone_names)
        self._lost_before = statistics.workers_lost
        self.episodes = [RunningEpisode() for _ in episodes]
        for episode, own in zip(self.episodes, episodes, strict=True):
            episode.load_state_dict(own)
