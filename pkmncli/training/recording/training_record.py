"""Record of a training: counters, running episodes, their journeys, and the rows of its tables."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import EpisodeSummary, Source, Store
from pkmncli.errors import RunError
from pkmncli.plurals import counted
from pkmncli.training.recording.counters import TrainingStatistics
from pkmncli.training.recording.episodes import RunningEpisode
from pkmncli.training.recording.journeys import Journeys
from pkmncli.training.recording.rate_limit import RateLimit
from pkmncli.training.recording.recorder import StepRecorder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.training.recording.journey import Journey
    from pkmncli.training.workers.pool import WorkerPool
    from pkmncli.training.workers.spec import EpisodeEnd
    from pkmncli.training.workers.step_result import StepResult

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
        models: Sequence[str] | None = None,
        latencies_s: Sequence[float] | None = None,
        values: NDArray[np.float32] | None = None,
    ) -> None:
        """Record steps of every environment; other arguments as those of :meth:`StepRecorder.add_steps`.

        The counters are then those after the first of them; :meth:`ends` counts the rest.
        """
        statistics = self.statistics
        self.recorder.add_steps(statistics.steps, result.rows, models, latencies_s, values)
        statistics.workers_lost = self._lost_before + self._pool.losses
        for source, count in enumerate(np.bincount(result.rows["source"].ravel()).tolist()):
            statistics.steps_by_source[source] += count
        statistics.steps += self._pool.num_envs

    def ends(self, result: StepResult) -> Iterator[tuple[int, np.void, EpisodeEnd]]:
        """Add steps to their episodes, and yield the ends among them: environment, record of the last step, and data.

        At each, counters and episode are those after its step; at the end, those after all steps.
        """
        statistics, num_envs = self.statistics, self._pool.num_envs
        before, elapsed_s = statistics.steps - num_envs, statistics.elapsed_s
        firsts = [0] * num_envs
        for step, index, news in result.news:
            statistics.steps = before + (step + 1) * num_envs
            if news.standing is not None:
                self.journeys.note(index, news.standing, elapsed_s, statistics.steps)
            if news.end is not None:
                self.episodes[index].add(result.columns[index].part(firsts[index], step + 1))
                firsts[index] = step + 1
                yield index, result.rows[step, index], news.end
        for index, first in enumerate(firsts):
            self.episodes[index].add(result.columns[index].part(first, len(result.rows)))
        statistics.steps = before + len(result.rows) * num_envs

    def end_episode(self, index: int, record: np.void, end: EpisodeEnd) -> EpisodeSummary:
        """Take in the end of an environment's episode, with the record of its last step."""
        episode, statistics, names = self.episodes[index], self.statistics, self._pool.milestone_names
        summary = episode.summarize(
            index,
            record,
            end.milestones(names),
            end.milestone_frames(names),
            success=end.success,
            metrics=end.metrics,
        )
        own = episode.steps_by_source[Source.RL] + episode.steps_by_source[Source.EXPLORE]
        statistics.add_episode(summary, self._pool.num_envs, learner_steps=own, began_further=bool(episode.start))
        self.journeys.end(index, episode, end.standing, statistics.elapsed_s, statistics.steps)
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
