"""Sums over many non-negative numbers, for sampling indices in proportion to them in logarithmic time.

A complete binary tree in one array: node 1 is the root, nodes 2k and 2k + 1 are the children of node k, and the last
half are the leaves. Every inner node is the float64 sum of its two children and is only ever computed from them, never
changed by a difference: the tree is a function of its leaves alone. So a tree filled from saved leaves equals the
original bit for bit, and rounding errors do not add up over millions of changes.
The use of such a tree for replay: Schaul et al. 2016, "Prioritized experience replay", appendix B.2.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class SumTree:
    """``slots`` numbers, all 0 at first, and their sums."""

    def __init__(self, slots: int) -> None:
        """Make a tree of at least one slot."""
        self.slots = slots
        self._depth = max(1, (slots - 1).bit_length())
        self._leaves = 1 << self._depth
        self.nodes = np.zeros(2 * self._leaves)
        """Numbers of the nodes, as above; :meth:`set` and :meth:`fill` change them."""

    @property
    def total(self) -> float:
        """The sum of all numbers, as the tree adds them up."""
        return float(self.nodes[1])

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        return self.nodes.nbytes

    @property
    def values(self) -> NDArray[np.float64]:
        """All numbers (slots,), as a view that must not be written."""
        view = self.nodes[self._leaves : self._leaves + self.slots]
        view.flags.writeable = False
        return view

    def __getitem__(self, slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the numbers (n,) of slots (n,)."""
        return self.nodes[self._leaves + slots]

    def set(self, slots: NDArray[np.int64], values: NDArray[np.float64] | float) -> None:
        """Change numbers. If a slot is given more than once, its last value counts.

        Args:
            slots: (n,) in 0..slots - 1.
            values: (n,) or one number for all; finite and not below 0.
        """
        if not len(slots):
            return
        nodes = self.nodes
        changed = slots + self._leaves
        nodes[changed] = values
        if len(slots) * self._depth > self._leaves:
            self._add_up()
            return
        for _ in range(self._depth):
            changed = changed >> 1  # a parent of two changed nodes occurs twice: it is computed twice, to the same sum
            left = changed << 1
            nodes[changed] = nodes[left] + nodes[left + 1]

    def fill(self, values: NDArray[np.float64]) -> None:
        """Replace all numbers by ``values`` (slots,), finite and not below 0."""
        self.nodes[self._leaves : self._leaves + self.slots] = values
        self._add_up()

    def find(self, targets: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the slots (n,) at which the running sum from the first slot first exceeds ``targets`` (n,).

        A slot whose number is 0 is never returned, whatever the rounding. Targets are in 0..total, which must be
        above 0.
        """
        nodes = self.nodes
        found = np.ones(len(targets), np.int64)
        rest = targets
        for _ in range(self._depth):
            found = found << 1
            left = nodes[found]
            # Rounding may leave a rest larger than the right side; an empty right side is never entered.
            right = (rest >= left) & (nodes[found + 1] > 0)
            rest = rest - left * right
            found += right
        return found - self._leaves

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Sample slots (size,), each in proportion to its number: one from each of ``size`` equal parts of the total.

        With such stratified sampling a slot comes as often on average as with independent sampling, with less
        variance. The total must be above 0.
        variance. The total must be above 0.
        """
        return self.find((np.arange(size) + rng.random(size)) * (self.total / size))

    def _add_up(self) -> None:
        """Recompute all sums, level by level."""
        first = self._leaves >> 1
        while first:
            children = self.nodes[2 * first : 4 * first]
            np.add(children[0::2], children[1::2], out=self.nodes[first : 2 * first])
            first >>= 1
