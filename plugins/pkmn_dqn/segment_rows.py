"""The observations of one segment of experience: a row for each step, and those that ended an episode on the side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmncli.learners.observations import Columns

ColumnTypes = Mapping[str, tuple[tuple[int, ...], type[np.generic]]]
"""Shape and type of each column of an observation."""

IN_ORDER_FROM = 64
"""Larger batches are gathered faster when their rows are in order: 2,048 in half the time, 32 in no less."""


class SegmentRows:
    """Observations by column; the last ones of episodes have an index of their own. Read-only once sealed."""

    def __init__(self, rows: dict[str, NDArray[Any]]) -> None:
        self.rows = rows
        self.final: dict[str, list[NDArray[Any]] | NDArray[Any]] = {name: [] for name in rows}
        self.final_index: dict[int, int] = {}
        self.sealed = False

    @classmethod
    def empty(cls, columns: ColumnTypes, steps: int) -> SegmentRows:
        """One for ``steps`` rows."""
        return cls({name: np.zeros((steps, *shape), dtype) for name, (shape, dtype) in columns.items()})

    def add_final(self, offset: int, observations: Columns, environment: int) -> None:
        """Keeps what followed the step in row ``offset``, where an episode ended."""
        self.final_index[offset] = len(self.final_index)
        for name, kept in self.final.items():
            assert isinstance(kept, list)
            kept.append(observations[name][environment].copy())

    def final_arrays(self) -> dict[str, NDArray[Any]]:
        """The last observations of episodes, by column, in the order of their index."""
        return {
            name: kept if isinstance(kept, np.ndarray) else _stack(kept, self.rows[name])
            for name, kept in self.final.items()
        }

    def seal(self) -> None:
        """From now on nothing in it changes."""
        final = self.final_arrays()
        for array in (*self.rows.values(), *final.values()):
            array.flags.writeable = False
        self.final = dict(final)
        self.sealed = True

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        arrays = (*self.rows.values(), *(array for kept in self.final.values() for array in kept))
        return sum(array.nbytes for array in arrays)


def gather(
    segments: Mapping[int, SegmentRows], numbers: NDArray[np.int64], offsets: NDArray[np.int64], columns: ColumnTypes
) -> dict[str, NDArray[Any]]:
    """Copies rows (n,), one after the other, from the segments of given numbers (n,) at given offsets (n,).

    Of more than :data:`IN_ORDER_FROM` rows, those that follow one another and are of one segment are copied at once.
    """
    gathered = {name: np.empty((len(numbers), *shape), dtype) for name, (shape, dtype) in columns.items()}
    if len(numbers) <= IN_ORDER_FROM:
        places = [
            (segments[number].rows, offset) for number, offset in zip(numbers.tolist(), offsets.tolist(), strict=True)
        ]
        for name, batch in gathered.items():
            for index, (rows, offset) in enumerate(places):
                batch[index] = rows[name][offset]
        return gathered
    starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    for start, end in zip(starts, [*starts[1:], len(numbers)], strict=True):
        rows = segments[int(numbers[start])].rows
        for name, batch in gathered.items():  # "clip", since "raise" would copy twice; there is nothing to clip
            rows[name].take(offsets[start:end], axis=0, out=batch[start:end], mode="clip")
    return gathered


def _stack(kept: list[NDArray[Any]], rows: NDArray[Any]) -> NDArray[Any]:
    return np.stack(kept) if kept else np.empty((0, *rows.shape[1:]), rows.dtype)
