"""Experience to sample from: a ring of segments in which each screen is kept once, packed.

Rows are environment steps, in order of time and, within a step of all environments, of environment: the row after
``row`` of the same environment is ``row + num_envs``. Its observation is the next observation of ``row``, unless an
episode ended there: then the last observation stands in the segment's table of final observations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmncli.api import Segment, Transitions
from pkmncli.errors import CheckpointError
from pkmncli.learners.observations import Columns

SEGMENT_STEPS = 4096

_TERMINATED = 1
_TRUNCATED = 2
_STEP_COLUMNS: dict[str, type[np.generic]] = {
    "actions": np.int32,
    "rewards": np.float32,
    "ends": np.uint8,  # bits: 1 the episode terminated, 2 it was truncated or the experience breaks off
    "sources": np.uint8,  # a pkmncli.api.Source
}
_FINAL = "final."
_FINAL_OFFSETS = "final_offsets"
_FIRST_ROW = "first_row"


@dataclass(frozen=True, slots=True)
class Sample:
    """Steps drawn for an update, n of them.

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


class _SegmentRows:
    """The observations of one segment: a row for each step, and those that ended an episode on the side."""

    def __init__(self, rows: dict[str, NDArray[Any]]) -> None:
        self.rows = rows
        self.final: dict[str, list[NDArray[Any]] | NDArray[Any]] = {name: [] for name in rows}
        self.final_index: dict[int, int] = {}
        self.sealed = False

    def add_final(self, offset: int, observations: Columns, environment: int) -> None:
        self.final_index[offset] = len(self.final_index)
        for name, kept in self.final.items():
            assert isinstance(kept, list)
            kept.append(observations[name][environment].copy())

    def final_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            name: kept if isinstance(kept, np.ndarray) else _stack(kept, self.rows[name])
            for name, kept in self.final.items()
        }

    def seal(self) -> None:
        final = self.final_arrays()
        for array in (*self.rows.values(), *final.values()):
            array.flags.writeable = False
        self.final = dict(final)
        self.sealed = True

    @property
    def nbytes(self) -> int:
        arrays = (*self.rows.values(), *(array for kept in self.final.values() for array in kept))
        return sum(array.nbytes for array in arrays)


class ReplayBuffer:
    """The latest ``capacity`` steps of ``num_envs`` environments."""

    def __init__(
        self,
        columns: Mapping[str, tuple[tuple[int, ...], type[np.generic]]],
        num_envs: int,
        capacity: int,
        segment_steps: int = SEGMENT_STEPS,
    ) -> None:
        """Makes an empty buffer.

        Args:
            columns: shape and type of each column of an observation.
            num_envs: environments that every :meth:`append` brings a step of.
            capacity: steps, over all environments, to sample from.
            segment_steps: about how many steps a segment holds; made a multiple of ``num_envs``.
        """
        self.columns = dict(columns)
        self.num_envs = num_envs
        self.capacity = capacity
        self.segment_steps = num_envs * max(1, segment_steps // num_envs)
        slots = -(-capacity // self.segment_steps) + 2  # one being filled, one being given up
        # Single numbers stand side by side over all segments, so that walking n steps is one look-up.
        self._steps = {name: np.zeros(slots * self.segment_steps, dtype) for name, dtype in _STEP_COLUMNS.items()}
        self._segments: dict[int, _SegmentRows] = {}
        self._first = 0
        self._end = 0
        self._expected: dict[str, NDArray[Any]] | None = None  # what should be the next observations

    def __len__(self) -> int:
        return min(self._end - self._first, self.capacity)

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        return sum(array.nbytes for array in self._steps.values()) + sum(s.nbytes for s in self._segments.values())

    def append(self, observations: Columns, transitions: Transitions, next_observations: Columns) -> None:
        """Keeps one step of every environment.

        Args:
            observations: columns (num_envs, ...) of what was acted on.
            transitions: the step itself; of its observations nothing is used.
            next_observations: columns of what followed; an episode's last observation where it ended.
        """
        self._note_breaks(observations)
        start = self._end
        number, offset = divmod(start, self.segment_steps)
        segment = self._segments.get(number)
        if segment is None:
            segment = self._segments[number] = _SegmentRows(self._empty_rows())
        for name, rows in segment.rows.items():
            rows[offset : offset + self.num_envs] = observations[name]
        ends = transitions.terminated * np.uint8(_TERMINATED) + transitions.truncated * np.uint8(_TRUNCATED)
        slots = np.arange(start, start + self.num_envs) % len(self._steps["ends"])
        self._steps["actions"][slots] = transitions.actions
        self._steps["rewards"][slots] = transitions.rewards
        self._steps["ends"][slots] = ends
        self._steps["sources"][slots] = transitions.sources
        for environment in np.flatnonzero(ends).tolist():
            segment.add_final(offset + environment, next_observations, environment)
        self._expected = {name: array.copy() for name, array in next_observations.items()}
        self._end = start + self.num_envs
        self._seal_and_drop()

    def sampleable(self, n_step: int) -> int:
        """How many steps :meth:`sample` chooses from: all but the latest ``n_step`` of each environment."""
        return max(0, self._end - n_step * self.num_envs - self._oldest)

    def sample(self, size: int, n_step: int, gamma: float, rng: np.random.Generator) -> Sample:
        """Draws steps, each equally likely and with replacement. There must be :meth:`sampleable` ones."""
        return self.at(rng.integers(self._oldest, self._oldest + self.sampleable(n_step), size), n_step, gamma)

    def at(self, rows: NDArray[np.int64], n_step: int, gamma: float) -> Sample:
        """The steps of given rows (n,) with their n-step returns. All rows walked over must be in the buffer."""
        walk = rows[:, None] + self.num_envs * np.arange(n_step)
        ends = self._look_up("ends", walk)
        # A step counts if no earlier one of the walk ended the episode.
        counts = np.ones(walk.shape, bool)
        np.cumprod(ends[:, :-1] == 0, axis=1, out=counts[:, 1:])
        rewards = self._look_up("rewards", walk).astype(np.float64)
        returns = (rewards * counts * gamma ** np.arange(n_step)).sum(axis=1)
        lengths = counts.sum(axis=1)
        last_rows = rows + self.num_envs * (lengths - 1)
        last_ends = ends[np.arange(len(rows)), lengths - 1]
        discounts = np.where(last_ends & _TERMINATED, 0.0, gamma**lengths)
        return Sample(
            rows=rows,
            observations=self._observations(rows),
            actions=self._look_up("actions", rows).astype(np.int64),
            returns=returns.astype(np.float32),
            discounts=discounts.astype(np.float32),
            next_observations=self._next_observations(last_rows, last_ends != 0),
            sources=self._look_up("sources", rows),
        )

    def segments(self) -> Iterator[Segment]:
        """What is kept, oldest first. Arrays of a sealed segment are the buffer's own, read-only."""
        for number in sorted(self._segments):
            segment = self._segments[number]
            start = number * self.segment_steps
            rows = min(self._end - start, self.segment_steps)
            slots = np.arange(start, start + rows) % len(self._steps["ends"])
            arrays: dict[str, NDArray[Any]] = {_FIRST_ROW: np.array([start], np.int64)}
            arrays |= {name: values[slots] for name, values in self._steps.items()}
            arrays[_FINAL_OFFSETS] = np.fromiter(segment.final_index, np.int32, len(segment.final_index))
            arrays |= {_FINAL + name: values for name, values in segment.final_arrays().items()}
            for name, values in segment.rows.items():
                arrays[name] = values if segment.sealed else values[:rows].copy()
            yield Segment(f"replay-{number:06d}", segment.sealed, arrays)

    def load_segments(self, segments: Iterable[Segment]) -> None:
        """Replaces what is kept by segments that :meth:`segments` gave; those sealed are not copied.

        Raises:
            CheckpointError: they do not follow one another, or are of another environment or number of environments.
        """
        self._segments.clear()
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
            self._seal_and_drop()
        else:
            self._first = self._end = -(-self._end // self.segment_steps) * self.segment_steps

    def state_dict(self) -> dict[str, Any]:
        """All that is not in the segments: the count of rows and the observations expected next."""
        expected = self._expected or {}
        return {"rows": self._end} | {f"expected.{name}": array.copy() for name, array in expected.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`; the segments may be loaded before or after, or be lost.

        Where they are lost, row numbers go on from the next segment, so that no two segments of a run share a name.
        """
        expected = {name: np.array(state[key]) for name in self.columns if (key := f"expected.{name}") in state}
        self._expected = expected or None
        if self._end != state["rows"]:
            self._segments.clear()
            self._first = self._end = -(-int(state["rows"]) // self.segment_steps) * self.segment_steps

    @property
    def _oldest(self) -> int:
        return max(self._first, self._end - self.capacity)

    def _empty_rows(self) -> dict[str, NDArray[Any]]:
        return {name: np.zeros((self.segment_steps, *shape), dtype) for name, (shape, dtype) in self.columns.items()}

    def _look_up(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        values = self._steps[name]
        return values[rows % len(values)]

    def _note_breaks(self, observations: Columns) -> None:
        """Ends the episode at the latest row where its observation is not the one that was announced.

        So it is when an environment was rebuilt from an earlier state: what follows does not belong together.
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
            slot = row % len(self._steps["ends"])
            if not self._steps["ends"][slot]:
                self._steps["ends"][slot] = _TRUNCATED
                number, offset = divmod(row, self.segment_steps)
                self._segments[number].add_final(offset, self._expected, environment)

    def _seal_and_drop(self) -> None:
        # The latest step of each environment may still be found to have ended its episode.
        settled = self._end - self.num_envs
        for number in sorted(self._segments):
            segment = self._segments[number]
            if (number + 1) * self.segment_steps <= self._end - self.capacity:
                del self._segments[number]
                self._first = (number + 1) * self.segment_steps
            elif not segment.sealed and (number + 1) * self.segment_steps <= settled:
                segment.seal()

    def _observations(self, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        places = [divmod(row, self.segment_steps) for row in rows.tolist()]
        return self._gather([(self._segments[number].rows, offset) for number, offset in places])

    def _next_observations(self, last_rows: NDArray[np.int64], ended: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
        places: list[tuple[Mapping[str, Any], int]] = []
        for row, is_final in zip(last_rows.tolist(), ended.tolist(), strict=True):
            number, offset = divmod(row if is_final else row + self.num_envs, self.segment_steps)
            segment = self._segments[number]
            places.append((segment.final, segment.final_index[offset]) if is_final else (segment.rows, offset))
        return self._gather(places)

    def _gather(self, places: list[tuple[Mapping[str, Any], int]]) -> dict[str, NDArray[Any]]:
        gathered = {}
        for name, (shape, dtype) in self.columns.items():
            batch = gathered[name] = np.empty((len(places), *shape), dtype)
            for index, (arrays, offset) in enumerate(places):
                batch[index] = arrays[name][offset]
        return gathered

    def _fits(self, segment: Segment, rows: int) -> bool:
        arrays = segment.arrays
        finals = len(arrays[_FINAL_OFFSETS]) if _FINAL_OFFSETS in arrays else -1
        wanted: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {
            name: ((rows,), dtype) for name, dtype in _STEP_COLUMNS.items()
        }
        for name, (shape, dtype) in self.columns.items():
            wanted[name] = ((rows, *shape), dtype)
            wanted[_FINAL + name] = ((finals, *shape), dtype)
        full = rows == self.segment_steps
        return (full or (not segment.sealed and 0 < rows < self.segment_steps and rows % self.num_envs == 0)) and all(
            name in arrays and arrays[name].shape == shape and arrays[name].dtype == dtype
            for name, (shape, dtype) in wanted.items()
        )

    def _load(self, segment: Segment, start: int, rows: int) -> None:
        arrays = segment.arrays
        if segment.sealed:
            kept = _SegmentRows({name: arrays[name].view() for name in self.columns})
            kept.final = {name: arrays[_FINAL + name].view() for name in self.columns}
        else:
            kept = _SegmentRows(self._empty_rows())
            for name, values in kept.rows.items():
                values[:rows] = arrays[name]
            kept.final = {name: [final.copy() for final in arrays[_FINAL + name]] for name in self.columns}
        kept.final_index = {int(offset): index for index, offset in enumerate(arrays[_FINAL_OFFSETS])}
        if segment.sealed:
            kept.seal()
        self._segments[start // self.segment_steps] = kept
        slots = np.arange(start, start + rows) % len(self._steps["ends"])
        for name, values in self._steps.items():
            values[slots] = arrays[name]


def _stack(kept: list[NDArray[Any]], rows: NDArray[Any]) -> NDArray[Any]:
    return np.stack(kept) if kept else np.empty((0, *rows.shape[1:]), rows.dtype)
