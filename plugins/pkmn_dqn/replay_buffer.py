"""Experience to sample from: a ring in which each screen is kept once, packed.

Rows are environment steps, in order of time and, within a step of all environments, of environment: the row after
``row`` of the same environment is ``row + num_envs``. Its observation is the next observation of ``row``, unless an
episode ended there: then the last observation is kept separately, by segment. A segment is a range of rows, aligned
in the ring, that a checkpoint stores as a file: once it is full it never changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmn_dqn.final_observations import ColumnTypes, FinalObservations
from pkmncli.api import Segment, Transitions
from pkmncli.errors import CheckpointError, ConfigurationError
from pkmncli.learners.normalisation import scaled_rewards
from pkmncli.learners.observations import Columns

SEGMENT_STEPS = 4096

_IN_ORDER_FROM = 64
"""Batch size from which sorted rows are gathered faster: 2,048 in half the time; 32 gain nothing."""

_TERMINATED = 1
_TRUNCATED = 2
_STEP_COLUMNS: dict[str, type[np.generic]] = {
    "actions": np.int32,
    "rewards": np.float32,
    "ends": np.uint8,  # bits: 1 the episode terminated, 2 it was truncated or the experience was interrupted
    "sources": np.uint8,  # a pkmncli.api.Source
    "advised": np.int32,  # the action that the advised side would have taken, -1 if unknown
}
_UNKNOWN = -1
_FINAL = "final."
_FINAL_OFFSETS = "final_offsets"
_FIRST_ROW = "first_row"


@dataclass(frozen=True, slots=True)
class Sample:
    """Steps sampled for an update, n of them.

    ``returns`` float32 (n,) are the discounted rewards of up to n_step steps, fewer where the episode ends;
    ``discounts`` float32 (n,) weigh the value of ``next_observations``: 0 where the episode terminated.
    """

    rows: NDArray[np.int64]
    observations: Columns
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]
    discounts: NDArray[np.float32]
    next_observations: Columns
    sources: NDArray[np.uint8]
    advised: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Picked:
    """Steps sampled for an update, n of them, without their observations; otherwise as :class:`Sample`."""

    rows: NDArray[np.int64]
    next_rows: NDArray[np.int64]
    """(n,) rows of the observations that followed; for ``ended`` steps, the row that ended the episode."""
    ended: NDArray[np.bool_]
    """(n,) True if the episode ended in that row, so that a final observation followed."""
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]
    discounts: NDArray[np.float32]
    sources: NDArray[np.uint8]
    advised: NDArray[np.int64]


class ReplayBuffer:
    """The latest ``capacity`` steps of ``num_envs`` environments."""

    def __init__(
        self,
        columns: ColumnTypes,
        num_envs: int,
        capacity: int,
        segment_steps: int = SEGMENT_STEPS,
    ) -> None:
        """Make an empty buffer.

        Args:
            columns: shape and type of each column of an observation.
            num_envs: number of environments; every :meth:`append` takes a step of each.
            capacity: steps, over all environments, to sample from.
            segment_steps: approximate number of steps per segment; rounded to a multiple of ``num_envs``.
        """
        self.columns = dict(columns)
        self.num_envs = num_envs
        self.capacity = capacity
        self.segment_steps = num_envs * max(1, segment_steps // num_envs)
        # One more than are sampled from: when a segment begins, the one it overwrites is too old.
        slots = -(-capacity // self.segment_steps) + 1
        self._size = slots * self.segment_steps
        # Memory is used only as rows are written; until then the system has merely reserved it.
        try:
            self._steps = {name: np.zeros(self._size, dtype) for name, dtype in _STEP_COLUMNS.items()}
            self._rows = {name: np.zeros((self._size, *shape), dtype) for name, (shape, dtype) in columns.items()}
        except MemoryError:
            each = sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in columns.values())
            raise ConfigurationError(
                f"dqn.buffer_size = {capacity} takes {self._size * each / 2**30:.0f} GiB, more than there is: "
                "set it lower."
            ) from None
        self._finals: dict[int, FinalObservations] = {}  # by segment that has rows
        self._begun = 0
        self._first = 0
        self._end = 0
        self._expected: dict[str, NDArray[Any]] | None = None  # the expected next observations

    def __len__(self) -> int:
        return min(self._end - self._first, self.capacity)

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        arrays = (*self._steps.values(), *self._rows.values())
        written = min(self._begun * self.segment_steps, self._size)
        return sum(array[:written].nbytes for array in arrays) + sum(one.nbytes for one in self._finals.values())

    def append(self, observations: Columns, transitions: Transitions, next_observations: Columns) -> None:
        """Keep one step of every environment.

        Args:
            observations: columns (num_envs, ...) that were acted on.
            transitions: the step itself; its observations are not used.
            next_observations: columns that followed; an episode's last observation if it ended.
        """
        self._note_breaks(observations)
        start = self._end
        number, offset = divmod(start, self.segment_steps)
        if number not in self._finals:
            self._begin_segment(number)
        first = start % self._size
        slots = slice(first, first + self.num_envs)
        for name, rows in self._rows.items():
            rows[slots] = observations[name]
        ends = transitions.terminated * np.uint8(_TERMINATED) + transitions.truncated * np.uint8(_TRUNCATED)
        self._steps["actions"][slots] = transitions.actions
        self._steps["rewards"][slots] = transitions.rewards
        self._steps["ends"][slots] = ends
        self._steps["sources"][slots] = transitions.sources
        self._steps["advised"][slots] = _UNKNOWN if transitions.advised is None else transitions.advised
        if ends.any():
            for environment in np.flatnonzero(ends).tolist():
                self._finals[number].add(offset + environment, next_observations, environment)
        self._expected = {name: array.copy() for name, array in next_observations.items()}
        self._end = start + self.num_envs
        if offset == 0:
            self._drop()

    def sampleable(self, n_step: int) -> range:
        """Return the rows that may be sampled: all steps kept but the latest ``n_step`` of each environment."""
        oldest = self._oldest
        return range(oldest, max(oldest, self._end - n_step * self.num_envs))

    def sample(self, size: int, n_step: int, gamma: float, rng: np.random.Generator) -> Sample:
        """Sample steps uniformly with replacement. There must be :meth:`sampleable` ones."""
        return self.at(self.sample_rows(size, n_step, rng), n_step, gamma)

    def sample_rows(self, size: int, n_step: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Sample the rows (size,) of :meth:`sample`."""
        rows = self.sampleable(n_step)
        sampled = rng.integers(rows.start, rows.stop, size)
        if size > _IN_ORDER_FROM:
            sampled.sort()
        return sampled

    def at(self, rows: NDArray[np.int64], n_step: int, gamma: float, reward_factor: float | None = None) -> Sample:
        """Return the steps of given rows (n,) with their n-step returns. All rows of the returns must be kept.

        With a ``reward_factor``, rewards are multiplied by it and clipped.
        """
        picked = self.pick(rows, n_step, gamma, reward_factor)
        return Sample(
            rows=rows,
            observations=self._observations(rows),
            actions=picked.actions,
            returns=picked.returns,
            discounts=picked.discounts,
            next_observations=self._next_observations(picked.next_rows, picked.ended),
            sources=picked.sources,
            advised=picked.advised,
        )

    def pick(self, rows: NDArray[np.int64], n_step: int, gamma: float, reward_factor: float | None = None) -> Picked:
        """Return the same steps without their observations."""
        walk = rows[:, None] + self.num_envs * np.arange(n_step)
        ends = self._look_up("ends", walk)
        # A step counts if no earlier step of the return ended the episode.
        counts = np.ones(walk.shape, bool)
        np.cumprod(ends[:, :-1] == 0, axis=1, out=counts[:, 1:])
        rewards = self._look_up("rewards", walk)
        if reward_factor is not None:
            rewards = scaled_rewards(rewards, reward_factor)
        rewards = rewards.astype(np.float64)
        returns = (rewards * counts * gamma ** np.arange(n_step)).sum(axis=1)
        lengths = counts.sum(axis=1)
        last_rows = rows + self.num_envs * (lengths - 1)
        last_ends = ends[np.arange(len(rows)), lengths - 1]
        discounts = np.where(last_ends & _TERMINATED, 0.0, gamma**lengths)
        ended = last_ends != 0
        return Picked(
            rows=rows,
            next_rows=np.where(ended, last_rows, last_rows + self.num_envs),
            ended=ended,
            actions=self._look_up("actions", rows).astype(np.int64),
            returns=returns.astype(np.float32),
            discounts=discounts.astype(np.float32),
            sources=self._look_up("sources", rows),
            advised=self._look_up("advised", rows).astype(np.int64),
        )

    @property
    def slots(self) -> int:
        """Number of rows that memory is allocated for: row r is in slot r % slots."""
        return self._size

    @property
    def kept(self) -> range:
        """The rows that :meth:`segments` would return."""
        return range(self._first, self._end)

    def columns_of(self, rows: range) -> Columns:
        """Return a view of the observations of successive rows, which must not cross the end of the ring."""
        first = rows.start % self._size
        return {name: values[first : first + len(rows)] for name, values in self._rows.items()}

    def finals_of(self, rows: NDArray[np.int64]) -> Columns:
        """Return the final observations of episodes that ended in rows (m,)."""
        found = {name: np.empty((len(rows), *shape), dtype) for name, (shape, dtype) in self.columns.items()}
        self._put_finals(rows, np.arange(len(rows)), found)
        return found

    def segments(self) -> Iterator[Segment]:
        """Return the experience kept, oldest first. Arrays of a sealed segment are views, to be read at once."""
        for number, finals in sorted(self._finals.items()):
            start = number * self.segment_steps
            stop = min(self._end, start + self.segment_steps)
            # The latest step of each environment may still turn out to have ended its episode.
            sealed = start + self.segment_steps <= self._end - self.num_envs
            first = start % self._size
            arrays: dict[str, NDArray[Any]] = {_FIRST_ROW: np.array([start], np.int64)}
            for name, values in (*self._steps.items(), *self._rows.items()):
                rows = values[first : first + stop - start]
                arrays[name] = rows if sealed else rows.copy()
                arrays[name].flags.writeable = not sealed
            arrays[_FINAL_OFFSETS] = finals.offsets
            arrays |= {_FINAL + name: values for name, values in finals.arrays().items()}
            yield Segment(f"replay-{number:06d}", sealed, arrays)

    def load_segments(self, segments: Iterable[Segment]) -> None:
        """Replace the experience by segments of :meth:`segments`.

        Raises:
            CheckpointError: they are not consecutive, or are of another environment or number of environments.
        """
        self._finals.clear()
        first = end = None
        for segment in segments:
            start = int(segment.arrays[_FIRST_ROW][0]) if _FIRST_ROW in segment.arrays else -1
            rows = len(segment.arrays["ends"]) if "ends" in segment.arrays else 0
            if start % self.segment_steps or (end is not None and start != end) or not self._fits(segment, rows):
                raise CheckpointError(
                    f"Experience {segment.name} does not fit: it is damaged, or of another environment or number of "
                    "environments. Resume with the run's own settings."
                )
            self._load(segment, start, rows)
            first, end = (start if first is None else first), start + rows
        if first is not None and end is not None:
            self._first, self._end = first, end
            self._drop()
        else:
            self._first = self._end = -(-self._end // self.segment_steps) * self.segment_steps

    def state_dict(self) -> dict[str, Any]:
        """Return the state except the segments: the count of rows and the observations expected next."""
        expected = self._expected or {}
        return {"rows": self._end} | {f"expected.{name}": array.copy() for name, array in expected.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`; the segments may be loaded before or after, or be lost.

        If they are lost, row numbers continue from the next segment, so that no two segments of a run share a name.
        """
        expected = {name: np.array(state[key]) for name in self.columns if (key := f"expected.{name}") in state}
        self._expected = expected or None
        if self._end != state["rows"]:
            self._finals.clear()
            self._first = self._end = -(-int(state["rows"]) // self.segment_steps) * self.segment_steps

    @property
    def _oldest(self) -> int:
        return max(self._first, self._end - self.capacity)

    def _look_up(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self._steps[name][rows % self._size]

    def _begin_segment(self, number: int) -> None:
        self._finals[number] = FinalObservations(self.columns)
        self._begun += 1

    def _note_breaks(self, observations: Columns) -> None:
        """End the episode at the latest row if its observation is not the expected one.

        This happens when an environment was rebuilt from an earlier state: the steps are not consecutive.
        """
        if self._expected is None or self._end == self._first:
            return
        same = np.ones(self.num_envs, bool)
        for name, expected in self._expected.items():
            differs = observations[name] != expected
            if differs.any():
                same &= ~differs.reshape(self.num_envs, -1).any(axis=1)
        for environment in np.flatnonzero(~same).tolist():
            row = self._end - self.num_envs + environment
            slot = row % self._size
            if not self._steps["ends"][slot]:
                self._steps["ends"][slot] = _TRUNCATED
                number, offset = divmod(row, self.segment_steps)
                self._finals[number].add(offset, self._expected, environment)

    def _drop(self) -> None:
        """Drop segments without any row that may be sampled."""
        while (next_first := (self._first // self.segment_steps + 1) * self.segment_steps) <= self._end - self.capacity:
            del self._finals[self._first // self.segment_steps]
            self._first = next_first

    def _observations(self, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        slots = rows % self._size
        # "clip", since "raise" would copy twice; no index is out of range
        return {name: values.take(slots, axis=0, mode="clip") for name, values in self._rows.items()}

    def _next_observations(self, next_rows: NDArray[np.int64], ended: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
        gathered = self._observations(next_rows)  # the last observation of an ended episode replaces its row's
        self._put_finals(next_rows, np.flatnonzero(ended), gathered)
        return gathered

    def _put_finals(
        self, rows: NDArray[np.int64], indices: NDArray[np.int64], batch: Mapping[str, NDArray[Any]]
    ) -> None:
        for index in indices.tolist():
            number, offset = divmod(int(rows[index]), self.segment_steps)
            self._finals[number].put(offset, batch, index)

    def _fits(self, segment: Segment, rows: int) -> bool:
        arrays = segment.arrays
        finals = len(arrays[_FINAL_OFFSETS]) if _FINAL_OFFSETS in arrays else -1
        wanted: dict[str, tuple[tuple[int, ...], Any]] = {
            name: ((rows,), dtype) for name, dtype in _STEP_COLUMNS.items()
        }
        if "advised" not in arrays:
            del wanted["advised"]
        elif arrays["advised"].dtype == np.int16:  # as earlier versions wrote it
            wanted["advised"] = (rows,), np.int16
        for name, (shape, dtype) in self.columns.items():
            wanted[name] = ((rows, *shape), dtype)
            wanted[_FINAL + name] = ((finals, *shape), dtype)
        full = rows == self.segment_steps
        return (full or (not segment.sealed and 0 < rows < self.segment_steps and rows % self.num_envs == 0)) and all(
            name in arrays and arrays[name].shape == shape and arrays[name].dtype == dtype
            for name, (shape, dtype) in wanted.items()
        )

    def _load(self, segment: Segment, start: int, rows: int) -> None:
        arrays, number = segment.arrays, start // self.segment_steps
        self._begin_segment(number)
        finals = {name: arrays[_FINAL + name] for name in self.columns}
        self._finals[number] = FinalObservations.of(self.columns, arrays[_FINAL_OFFSETS], finals)
        first = start % self._size
        for name, values in (*self._steps.items(), *self._rows.items()):
            # Segments of earlier versions have no column of advised actions.
            values[first : first + rows] = arrays.get(name, _UNKNOWN)
