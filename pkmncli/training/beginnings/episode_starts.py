"""Start states of a training's episodes: keeps the states of milestones on disk, and sends each worker its next start.

A worker begins its next episode by itself, so it gets the start while the episode before is played.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.config import ResolvedSettings
from pkmncli.seeds import Purpose, derive_seed, episode_number
from pkmncli.training.beginnings.starts_curriculum import StartsCurriculum
from pkmncli.training.recording.recorded_episode import keep_state, state_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.training.workers.pool import WorkerPool

_UNKNOWN = -1


class EpisodeStarts:
    """Applies a curriculum over start states.

    Args:
        pool: the environments.
        curriculum: samples the starts.
        folder: where the states are kept, named by their hash; shared by all environments.
        seed_of: returns the seed with which an environment's episode samples its start, by their numbers.
    """

    def __init__(
        self,
        pool: WorkerPool,
        curriculum: StartsCurriculum,
        folder: Path,
        seed_of: Callable[[int, int], int],
    ) -> None:
        self._pool = pool
        self._curriculum = curriculum
        self._folder = folder
        self._seed_of = seed_of
        self._next = [""] * pool.num_envs
        self._counts = np.full(pool.num_envs, _UNKNOWN, np.int64)
        """Milestones of each running episode after its latest step."""
        self._waiting: list[dict[int, int]] = [{} for _ in range(pool.num_envs)]
        """Milestones that an episode has reached first in the run, with the step, whose state is not kept yet."""

    @classmethod
    def of(cls, settings: ResolvedSettings, pool: WorkerPool, folder: Path) -> EpisodeStarts | None:
        """Return the starts of a training with these settings; None if all its episodes begin at the same."""
        if not settings.starts.enabled:
            return None

        def seed_of(environment: int, episode: int) -> int:
            number = episode_number(environment, episode, pool.num_envs)
            return derive_seed(settings.train.seed, Purpose.STARTS, number)

        return cls(pool, StartsCurriculum(settings.starts), folder, seed_of)

    def begin(self, index: int, number: int) -> str:
        """Take in that an environment's episode begins. Returns the hash of its start; empty for the game's own."""
        start = self._next[index]
        self._next[index] = self._curriculum.sample(self._seed_of(index, number + 1))
        self._tell(index)
        return start

    def after_step(self, records: NDArray[Any]) -> None:
        """Keep the state of an environment that has reached a milestone for the first time in the run.

        Where an episode could not begin in that very state, a later one is tried, ever more seldom.
        """
        ended = records["terminated"] | records["truncated"]
        for index in np.flatnonzero((records["milestones"] != self._counts) & ~ended).tolist():
            step = int(records[index]["step"])
            for place, reached in enumerate(self._pool.call(index, "milestones")):
                if reached == step:
                    self._waiting[index][place] = step
        for index, waiting in enumerate(self._waiting):
            if ended[index]:
                waiting.clear()
            elif waiting:
                self._try_to_keep(index, int(records[index]["step"]))
        self._counts = np.where(ended, _UNKNOWN, records["milestones"].astype(np.int64))

    def _try_to_keep(self, index: int, step: int) -> None:
        waiting = self._waiting[index]
        for place in [place for place in waiting if self._curriculum.has(place)]:
            del waiting[place]  # another environment was quicker
        if not any(_is_power_of_two(step - reached + 1) for reached in waiting.values()):
            return
        state = self._pool.start_state(index)
        if state is not None:
            digest = keep_state(self._folder, state)
            for place in waiting:
                self._curriculum.add(place, digest)
            waiting.clear()

    def _tell(self, index: int) -> None:
        self._pool.begin_next_at(index, self._path(self._next[index]))

    def _path(self, digest: str) -> str:
        return str(state_file(self._folder, digest)) if digest else ""

    def state_dict(self) -> dict[str, Any]:
        """Return plain values to resume from."""
        return {
            "curriculum": self._curriculum.state_dict(),
            "next": self._next,
            "counts": self._counts.tolist(),
            "waiting": [[list(pair) for pair in waiting.items()] for waiting in self._waiting],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. Call :meth:`resume` when the workers have their states."""
        self._curriculum.load_state_dict(state["curriculum"])
        self._next = list(state["next"])
        self._counts = np.asarray(state["counts"], np.int64)
        self._waiting = [{int(place): int(step) for place, step in waiting} for waiting in state["waiting"]]

    def resume(self, running: Sequence[str]) -> None:
        """Tell the workers their next starts.

        Args:
            running: hash of the start of each episode that is running.
        """
        for index, (log, digest) in enumerate(zip(self._pool.logs(), running, strict=True)):
            log.start = self._path(digest)
            self._tell(index)


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0
