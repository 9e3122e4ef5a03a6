"""Journeys of a training: when each running episode reached its milestones, and which got furthest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pkmncli.training.recording.journey import Journey, Reached

if TYPE_CHECKING:
    from pkmncli.training.recording.episodes import RunningEpisode
    from pkmncli.training.workers.pool import WorkerPool
    from pkmncli.training.workers.spec import Standing


class Journeys:
    """The running episodes' journeys. Asks a worker only for a look.

    Args:
        pool: the environments.
    """

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool
        self._reached: list[list[Reached]] = [[] for _ in range(pool.num_envs)]
        self._ended: Journey | None = None
        """The furthest one that has ended."""

    def note(self, index: int, standing: Standing, elapsed_s: float, global_step: int) -> None:
        """Take in the standing of an episode that has reached milestones.

        Args:
            index: the environment.
            standing: after the step.
            elapsed_s: seconds that the training has taken.
            global_step: its steps over all environments.
        """
        known = {one.name for one in self._reached[index]}
        self._reached[index] += [
            Reached(name, step, frame, round(elapsed_s, 3), global_step)
            for name, step, frame in standing.reached(self._pool.milestone_names)
            if name not in known
        ]

    def end(self, index: int, episode: RunningEpisode, standing: Standing, elapsed_s: float, global_step: int) -> None:
        """Take in the end of an episode with this standing; other arguments as those of :meth:`note`."""
        self.note(index, standing, elapsed_s, global_step)
        reached = self._reached[index]
        # where another one got, it says nothing of the way there
        if standing.step and not episode.start:
            place = -len(reached), reached[-1].step if reached else 0
            if self._ended is None or place < self._ended.furthest_first:
                self._ended = self._journey(index, episode.number, standing, ended=True)
        self._reached[index] = []

    def leading(self, episodes: Sequence[RunningEpisode]) -> Journey:
        """Return the running journey that has got furthest. ``episodes`` are those that run."""
        index = min(range(len(episodes)), key=lambda one: (bool(episodes[one].start), -len(self._reached[one]), one))
        return self._journey(index, episodes[index].number, self._pool.standing(index))

    def furthest(self, episodes: Sequence[RunningEpisode]) -> Journey:
        """Return the journey of the whole training that has got furthest, ended or not."""
        running = self.leading(episodes)
        if self._ended is None or (not episodes[running.environment].start and _is_further(running, self._ended)):
            return running
        return self._ended

    def _journey(self, index: int, number: int, standing: Standing, *, ended: bool = False) -> Journey:
        reached = tuple(self._reached[index])
        since = standing.steps_since_progress
        if since is None and self._pool.milestone_names:
            since = standing.step - (reached[-1].step if reached else 0)
        titles: Mapping[str, str] = self._pool.names.get("milestone_titles", {})
        return Journey(
            environment=index,
            episode=number,
            steps=standing.step,
            frames=standing.frames,
            frames_per_second=self._pool.frames_per_second,
            milestones=reached,
            total=len(self._pool.milestone_names),
            progress=standing.progress,
            steps_since_progress=since,
            ended=ended,
            latest_title=titles.get(reached[-1].name, "") if reached else "",
        )

    def state_dict(self) -> dict[str, Any]:
        """Return plain values to resume from."""
        return {
            "reached": [[one._asdict() for one in reached] for reached in self._reached],
            "ended": None if self._ended is None else self._ended.as_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore from :meth:`state_dict`; from none, as of an earlier version, the next milestone notes all again."""
        if not state:
            return
        self._reached = [[Reached(**one) for one in reached] for reached in state["reached"]]
        self._ended = None if state["ended"] is None else Journey.from_dict(state["ended"])


def _is_further(running: Journey, ended: Journey) -> bool:
    return running.furthest_first < ended.furthest_first
