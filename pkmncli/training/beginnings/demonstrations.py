"""Demonstrations: episodes of earlier runs, played again with a training's own settings and shown to its learner.

What was recorded of them is their start and their actions. Observations, rewards and what the pilot would do come of
playing them again, so they may have been recorded with other ones.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import Source, Transitions
from pkmncli.config import ResolvedSettings
from pkmncli.errors import ConfigurationError, RunError, TrainingError
from pkmncli.runs import Run, open_run
from pkmncli.training.assembly import open_store, tables_folder
from pkmncli.training.recording.recorded_episode import RecordedEpisode, with_start

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.api import Algorithm
    from pkmncli.plugins import Registry
    from pkmncli.training.workers.pool import WorkerPool
    from pkmncli.training.workers.step_result import StepResult

_BY_ADVISED = (Source.RULE, Source.LLM)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A recorded episode of a run. ``sources`` (steps,) uint8 says who acted, a :class:`pkmncli.api.Source` each."""

    run: Run
    episode: RecordedEpisode
    sources: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Shown:
    """Counts of what was shown. ``differing`` episodes were left where they differed from the recording."""

    steps: int
    episodes: int
    differing: int


def find_demonstrations(
    settings: ResolvedSettings, registry: Registry, pool: WorkerPool, learner: Algorithm
) -> list[Demonstration]:
    """Return episodes of the runs that the settings name, as many of the best as may be shown; the best ones last.

    Args:
        settings: the training's.
        registry: where plugins are looked up.
        pool: the training's environments, which have to be of the same game.
        learner: the training's; it keeps no more than its experience holds.

    Raises:
        ConfigurationError: the learner can't be shown anything, or a run is of another game or image.
        RunError: there is no such run, or it has no episode to show.
    """
    train = settings.train
    if not train.demonstrations:
        return []
    if not hasattr(learner, "observe_shown"):
        raise ConfigurationError(
            f"demonstrations: the learner {train.rl} keeps no experience: leave them out, or use one that does, such "
            "as --rl dqn"
        )
    found: list[_Found] = []
    for name in train.demonstrations:
        run = open_run(name, train.save_dir)
        _check_same_game(run, pool)
        found += _episodes_of(run, registry)
    most, chosen = min(train.demonstration_steps, learner.experience_steps), list[Demonstration]()
    for one in sorted(found, key=lambda one: one.worth, reverse=True):
        if len(one.episode.actions) <= most:
            sources = one.sources(registry)
            if len(sources) == len(one.episode.actions):  # else the run was ended before all of it was written
                chosen.append(Demonstration(one.run, with_start(one.episode, one.run), sources))
                most -= len(sources)
    if not chosen:
        raise ConfigurationError(
            f"demonstrations: the shortest episode takes {min(len(one.episode.actions) for one in found):,} steps, "
            f"and no more than {most:,} may be shown: raise demonstration_steps, or the learner's memory"
        )
    return chosen[::-1]  # since the learner forgets first what it was shown first


def show(
    demonstrations: Sequence[Demonstration],
    pool: WorkerPool,
    learner: Any,
    on_steps: Callable[[int], None] = lambda steps: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Shown:
    """Replay demonstrations, one in each environment at a time, and have the learner take in every step.

    An environment that is free when all others are still at it plays one of them again, from the front. Leaves the
    environments in the midst of it: they are to be reset.

    Args:
        demonstrations: at least one.
        pool: the environments.
        learner: has ``observe_shown``.
        on_steps: told how many of the recorded steps are done.
        interrupted: whether to stop.

    Raises:
        KeyboardInterrupt: it was interrupted.
        RunError: none of a run's episodes plays here as it was recorded.
        TrainingError: an environment was lost.
    """
    losses, total, finished, differing = pool.losses, 0, set[int](), set[int]()
    numbers = itertools.cycle(range(len(demonstrations)))
    playing = [_Playing.begin(pool, index, next(numbers), demonstrations) for index in range(pool.num_envs)]
    while len(finished) < len(demonstrations):
        if interrupted():
            raise KeyboardInterrupt
        advised = pool.pilot_actions()
        actions = np.array([one.action for one in playing], np.int64)
        sources = np.array([one.source for one in playing], np.uint8)
        result = pool.step(actions, sources, np.zeros(pool.num_envs, np.float32))
        if pool.losses != losses:
            raise TrainingError("an environment was lost while it played a demonstration: begin the training anew")
        for one, record in zip(playing, result.records, strict=True):
            one.take(record)
        over = np.array([one.over for one in playing])
        learner.observe_shown(_transitions(result, over, advised))
        total += pool.num_envs
        for index in np.flatnonzero(over).tolist():
            one = playing[index]
            finished.add(one.number)
            if one.differs:
                differing.add(one.number)
                _check_one_is_left(demonstrations, one, differing)
            on_steps(sum(len(demonstrations[number].episode.actions) for number in finished))
            playing[index] = _Playing.begin(pool, index, next(numbers), demonstrations)
    return Shown(total, len(demonstrations), len(differing))


@dataclass(frozen=True, slots=True)
class _Found:
    """Episode of a run that may be chosen. ``tables`` is where the run's decisions are."""

    run: Run
    tables: Path
    episode: RecordedEpisode

    @property
    def worth(self) -> tuple[int, int]:
        """Key that episodes are chosen by, the greatest first: milestones, then how few steps they took."""
        return len(self.episode.milestones), -len(self.episode.actions)

    def sources(self, registry: Registry) -> NDArray[np.uint8]:
        """Return the source of each step, as far as it was written."""
        with contextlib.closing(open_store(registry, self.tables)) as store:
            key = [self.episode.environment, self.episode.episode]
            rows = store.read("decisions", "environment = ? AND episode = ?", key)
        return np.asarray([row["source"] for row in rows], np.uint8)


class _Playing:
    """A demonstration that an environment plays."""

    def __init__(self, number: int, demonstration: Demonstration) -> None:
        self.number = number
        self.step = 0
        self.differs = self.ended = False
        self._one = demonstration

    @classmethod
    def begin(cls, pool: WorkerPool, index: int, number: int, demonstrations: Sequence[Demonstration]) -> _Playing:
        one = demonstrations[number]
        pool.begin_recorded(index, one.episode.seed, one.episode.start_state)
        return cls(number, one)

    @property
    def action(self) -> int:
        return int(self._one.episode.actions[self.step])

    @property
    def source(self) -> int:
        return int(self._one.sources[self.step])

    def take(self, record: np.void) -> None:
        self.differs = int(record["fine_hash"]) != int(self._one.episode.fine_hashes[self.step])
        self.ended = bool(record["terminated"] or record["truncated"])
        self.step += 1

    @property
    def over(self) -> bool:
        """True once it is done in any way: this training's episodes may end sooner or later than the recorded."""
        return self.differs or self.ended or self.step == len(self._one.episode.actions)


def _transitions(result: StepResult, over: NDArray[np.bool_], advised: NDArray[np.int64]) -> Transitions:
    """Return a step of every environment; an episode that is over without having ended here counts as cut off.

    Where nobody says what the advised side would do, its own actions say it.
    """
    records: NDArray[Any] = result.records
    actions = records["action"].astype(np.int64)
    shown = np.isin(records["source"], _BY_ADVISED)
    return Transitions(
        observations=result.observations,
        actions=actions,
        rewards=records["reward"].astype(np.float32),
        terminated=records["terminated"].copy(),
        truncated=records["truncated"] | (over & ~records["terminated"]),
        next_observations=result.next_observations,
        sources=records["source"].copy(),
        advised=np.where((advised < 0) & shown, actions, advised),
    )


def _check_one_is_left(demonstrations: Sequence[Demonstration], latest: _Playing, differing: set[int]) -> None:
    run = demonstrations[latest.number].run
    if all(number in differing for number, one in enumerate(demonstrations) if one.run == run):
        raise RunError(
            f"demonstrations: no episode of {run.name} plays here as it was recorded, the latest until step "
            f"{latest.step:,}: it is of another image, game profile, start or version of PyBoy; leave it out"
        )


def _check_same_game(run: Run, pool: WorkerPool) -> None:
    names = run.read_names()
    try:
        theirs = {"game": names["game"], **names.get("identity", {})}
    except (KeyError, TypeError):
        raise RunError(f"{run.names_file} is damaged") from None
    for name, own in {"game": pool.names["game"], **pool.identity}.items():
        if theirs.get(name, own) != own:  # a run of an earlier version does not say everything
            raise ConfigurationError(
                f"demonstrations: {run.name} was recorded with {name} = {theirs[name]}, and this training has {own}: "
                "leave it out"
            )


def _episodes_of(run: Run, registry: Registry) -> list[_Found]:
    """Return the finished training episodes of a run. Raises RunError if there is none."""
    folder = tables_folder(ResolvedSettings.from_run(run.folder, registry), run)
    with contextlib.closing(open_store(registry, folder)) as store:
        rows = [row for row in store.read("episodes") if row["purpose"] == "train" and row["steps"]]
    if not rows:
        raise RunError(f"demonstrations: {run.name} has no finished episode to show; name another run")
    return [_Found(run, folder, RecordedEpisode.from_row(row)) for row in rows]
