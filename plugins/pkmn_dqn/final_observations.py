"""The last observations of the episodes in one segment, which no row of experience holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmncli.learners.observations import Columns

ColumnTypes = Mapping[str, tuple[tuple[int, ...], type[np.generic]]]
"""Shape and type of each column of an observation."""


class FinalObservations:
    """The observations that followed those rows of a segment at which an episode ended."""

    def __init__(self, columns: ColumnTypes) -> None:
        self._columns = columns
        self._kept: dict[str, list[NDArray[Any]]] = {name: [] for name in columns}
        self._place: dict[int, int] = {}

    @classmethod
    def of(cls, columns: ColumnTypes, offsets: NDArray[np.int32], arrays: Columns) -> FinalObservations:
        """Return the observations from :attr:`offsets` and :meth:`arrays`."""
        found = cls(columns)
        found._place = {int(offset): place for place, offset in enumerate(offsets)}
        found._kept = {name: [one.copy() for one in arrays[name]] for name in columns}
        return found

    def add(self, offset: int, observations: Columns, environment: int) -> None:
        """Keep the observation that followed the row at ``offset`` of the segment."""
        self._place[offset] = len(self._place)
        for name, kept in self._kept.items():
            kept.append(observations[name][environment].copy())

    def put(self, offset: int, batch: Mapping[str, NDArray[Any]], index: int) -> None:
        """Put the observation that followed the row at ``offset`` into a batch of columns."""
        place = self._place[offset]
        for name, column in batch.items():
            column[index] = self._kept[name][place]

    @property
    def offsets(self) -> NDArray[np.int32]:
        """Offsets of the rows, in the order of :meth:`arrays`."""
        return np.fromiter(self._place, np.int32, len(self._place))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the observations by column, (k, ...)."""
        return {
            name: np.stack(kept) if kept else np.empty((0, *self._columns[name][0]), self._columns[name][1])
            for name, kept in self._kept.items()
        }

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        return sum(array.nbytes for kept in self._kept.values() for array in kept)
