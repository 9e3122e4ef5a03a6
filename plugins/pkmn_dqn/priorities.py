"""Prioritised experience replay: the probability of each step to be sampled, and the weight of its loss.

Proportional prioritisation of Schaul et al. 2016, "Prioritized experience replay": a step of priority p is sampled in
proportion to p ** priority_exponent, and its loss is weighted by (N * P) ** -importance_exponent, where P is its
probability among N steps; weights are divided by the largest of the batch.

A step that was never learned from has the largest priority that any step had in this run so far, 1 before the first.
That maximum never falls: a large early error gives all new steps a large priority, each until its first update. Unlike
the maximum over the steps kept, it is a single number, which a checkpoint holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmn_dqn.sum_tree import SumTree


class Priorities:
    """Priorities of the rows that may be sampled; other rows have probability 0.

    Rows are numbered as in the replay buffer, which never has more than ``capacity`` of them: row r is in slot
    r % capacity of a sum tree.
    """

    def __init__(self, capacity: int, exponent: float) -> None:
        """Make a set without rows.

        Args:
            capacity: maximum number of rows to sample from.
            exponent: of priorities, above 0: how strongly sampling follows them.
        """
        self._exponent = exponent
        self._tree = SumTree(capacity)
        self._rows = range(0)
        self._noted: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        self.greatest = 1.0

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        return self._tree.nbytes

    def follow(self, rows: range) -> None:
        """Make ``rows`` the ones to sample: removed rows lose their probability, new ones get the largest priority."""
        known = self._rows
        if not known.start <= rows.start <= known.stop <= rows.stop:
            # The experience was lost, or not sampled for longer than it lasts: none of the known rows is left.
            self._tree.fill(np.zeros(self._tree.slots))
            known = range(rows.start, rows.start)
        gone, new = np.arange(known.start, rows.start), np.arange(known.stop, rows.stop)
        powers = np.zeros(len(gone) + len(new))
        powers[len(gone) :] = self.greatest**self._exponent
        self._tree.set(self._slots(np.concatenate((gone, new))), powers)  # a new row may reuse a removed row's slot
        self._rows = rows

    def sample(
        self, size: int, importance_exponent: float, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Sample rows (size,); return them with the importance weights (size,) of their losses, in 0..1.

        There must be rows to sample.
        """
        slots = self._tree.sample(size, rng)
        start = self._rows.start
        rows = start + (slots - start) % self._tree.slots
        chances = self._tree[slots] / self._tree.total
        weights = (len(self._rows) * chances) ** -importance_exponent
        return rows, (weights / weights.max()).astype(np.float32)

    def note(self, rows: NDArray[np.int64], priorities: NDArray[np.float64]) -> None:
        """Note new priorities (n,), above 0, of rows (n,). They take effect with :meth:`apply`.

        May be called in another thread than :meth:`follow` and :meth:`sample`.
        """
        self._noted.append((rows, priorities))

    def apply(self) -> None:
        """Give rows their noted priorities, in order: if a row was noted twice, the last priority counts.

        Rows that may no longer be sampled are skipped.
        """
        if not self._noted:
            return
        rows, priorities = self._all_noted()
        self._noted = []
        self.greatest = max(self.greatest, float(priorities.max()))
        kept = (rows >= self._rows.start) & (rows < self._rows.stop)
        self._tree.set(self._slots(rows[kept]), priorities[kept] ** self._exponent)

    def state_dict(self) -> dict[str, Any]:
        """Return the state as arrays and plain values. Must not be called during :meth:`note`."""
        state: dict[str, Any] = {
            "powers": self._tree.values.copy(),
            "first": self._rows.start,
            "end": self._rows.stop,
            "greatest": self.greatest,
        }
        if self._noted:
            state["noted.rows"], state["noted.priorities"] = self._all_noted()
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`, up to the capacity.

        A checkpoint of a run with uniform sampling has no priorities: all its steps get the largest priority.
        """
        self._tree.fill(np.zeros(self._tree.slots))
        self._rows, self.greatest, self._noted = range(0), 1.0, []
        if "powers" not in state:
            return
        first, end = int(state["first"]), int(state["end"])
        self._rows = range(max(first, end - self._tree.slots), end)
        self.greatest = float(state["greatest"])
        rows, powers = np.arange(self._rows.start, end), np.asarray(state["powers"], np.float64)
        self._tree.set(self._slots(rows), powers[rows % len(powers)])
        if "noted.rows" in state:
            self._noted.append((np.array(state["noted.rows"]), np.array(state["noted.priorities"])))

    def _all_noted(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        rows, priorities = zip(*self._noted, strict=True)
        return np.concatenate(rows), np.concatenate(priorities)

    def _slots(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return rows % self._tree.slots
