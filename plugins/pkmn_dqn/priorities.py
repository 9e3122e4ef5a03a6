"""Prioritised experience replay: which steps are drawn more often, and how much each of them then weighs.

Proportional prioritisation of Schaul et al. 2016, "Prioritized experience replay": a step of priority p is drawn in
proportion to p ** priority_exponent, and its loss is weighed by (N * P) ** -importance_exponent, where P is its
probability among N steps; weights are divided by the batch's greatest.

A step that nothing was learned from yet has the greatest priority that any step was ever given in this run, 1 before
the first. It never falls: a surprise early on gives new steps a large priority for good, which ends with their first
update. Unlike the greatest among the steps kept it is a single number, which a checkpoint holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmn_dqn.sum_tree import SumTree


class Priorities:
    """Priorities of the rows that may be drawn; no other row has any chance.

    Rows are numbered as in the replay buffer, which never has more than ``capacity`` of them: row r is in slot
    r % capacity of a sum tree.
    """

    def __init__(self, capacity: int, exponent: float) -> None:
        """Starts without rows.

        Args:
            capacity: most rows that may be drawn from at a time.
            exponent: of priorities, above 0: how far draws follow them.
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
        """From now on ``rows`` may be drawn: those gone lose their chance, new ones get the greatest priority."""
        known = self._rows
        if not known.start <= rows.start <= known.stop <= rows.stop:
            # The experience was lost, or nothing was drawn for longer than it lasts: no row that is known is left.
            self._tree.fill(np.zeros(self._tree.slots))
            known = range(rows.start, rows.start)
        gone, new = np.arange(known.start, rows.start), np.arange(known.stop, rows.stop)
        powers = np.zeros(len(gone) + len(new))
        powers[len(gone) :] = self.greatest**self._exponent
        self._tree.set(self._slots(np.concatenate((gone, new))), powers)  # a new row may take the slot of one gone
        self._rows = rows

    def draw(
        self, size: int, importance_exponent: float, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Draws rows (size,) and gives the importance weights (size,) of their losses, in 0..1.

        There must be rows to draw from.
        """
        slots = self._tree.sample(size, rng)
        start = self._rows.start
        rows = start + (slots - start) % self._tree.slots
        chances = self._tree[slots] / self._tree.total
        weights = (len(self._rows) * chances) ** -importance_exponent
        return rows, (weights / weights.max()).astype(np.float32)

    def note(self, rows: NDArray[np.int64], priorities: NDArray[np.float64]) -> None:
        """Puts down new priorities (n,), above 0, of rows (n,). They hold from :meth:`apply` on.

        May be called beside :meth:`follow` and :meth:`draw`, from another thread.
        """
        self._noted.append((rows, priorities))

    def apply(self) -> None:
        """Gives rows the priorities that were noted, in that order: of a row that comes twice, the last one holds.

        Rows that may no longer be drawn are passed over.
        """
        if not self._noted:
            return
        rows, priorities = self._all_noted()
        self._noted = []
        self.greatest = max(self.greatest, float(priorities.max()))
        kept = (rows >= self._rows.start) & (rows < self._rows.stop)
        self._tree.set(self._slots(rows[kept]), priorities[kept] ** self._exponent)

    def state_dict(self) -> dict[str, Any]:
        """Everything, as arrays and plain values. Not to be called beside :meth:`note`."""
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
        """Goes on from :meth:`state_dict`, as far as the capacity reaches.

        A checkpoint of a run that drew evenly has none: all its steps get the greatest priority.
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
