"""One update as a single piece of work for a graphics card: a captured graph, replayed for every batch.

Launched one by one, the hundred and more small kernels of an update take the processor several milliseconds, which the
card mostly waits for. In a graph they are launched together: the update reads a batch from where it always stands, and
leaves its metrics and errors where they always stand.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pkmn_dqn.device_replay import FIELDS, FIRST_FLOAT, PackedColumns
from pkmn_dqn.lane import Lane
from pkmn_dqn.q_learning import Batch, QLearning

_WARM_UPS = 3  # before a graph is captured, so that libraries have chosen their kernels


class CapturedUpdate:
    """The update of a :class:`QLearning`, which is not to be updated otherwise.

    Args:
        learning: learns.
        rows: (slots, words) int64, the packed observations that batches are gathered from.
        packed: how they are packed.
        batch_size: steps in a batch.
        weighted: batches have importance weights.
        lane: on which it runs. On a CPU, nothing is captured and the update simply runs.
    """

    def __init__(
        self, learning: QLearning, rows: Tensor, packed: PackedColumns, batch_size: int, weighted: bool, lane: Lane
    ) -> None:
        self._learning = learning
        self._rows = rows
        self._packed = packed
        self._weighted = weighted
        self._lane = lane
        self._numbers = torch.zeros((len(FIELDS), batch_size), dtype=torch.int32, device=rows.device)
        self._graph: torch.cuda.CUDAGraph | None = None
        self.metric_names: tuple[str, ...] = ()
        """Of the first numbers of results; the rest are the steps' errors."""
        self._results = torch.empty(0)

    def run(self, numbers: Tensor) -> Tensor:
        """Learns from a batch, (fields, n) int32 as :data:`FIELDS` says. The lane must be open.

        Returns the results, to be read before the next run.
        """
        self._numbers.copy_(numbers)
        if self._lane.stream is None:
            self._update()
        else:
            if self._graph is None:
                self._graph = self._captured(self._lane.stream)
            self._graph.replay()
        self._learning.count_update()
        return self._results

    def recapture(self) -> None:
        """Captures anew at the next run: weights or optimizer state have moved in memory."""
        self._graph = None

    def _captured(self, stream: torch.cuda.Stream) -> torch.cuda.CUDAGraph:
        # Sums in the same order each time, in full precision, so that a resumed training is as exact as can be.
        with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
            with self._learning.tried():
                for _ in range(_WARM_UPS):
                    self._update()
            self._learning.forget_gradients()
            graph = torch.cuda.CUDAGraph()
            # The trainer's thread goes on meanwhile, on other streams.
            with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                self._update()
        return graph

    def _update(self) -> None:
        metrics, td_errors = self._learning.descend(self._batch())
        self.metric_names = tuple(metrics)
        self._results = torch.cat((torch.stack(list(metrics.values())), td_errors))

    def _batch(self) -> Batch:
        integers, floats = self._numbers[:FIRST_FLOAT], self._numbers[FIRST_FLOAT:].view(torch.float32)
        numbers = dict(zip(FIELDS, (*integers, *floats), strict=True))
        gathered = self._rows.index_select(0, self._numbers[:2].reshape(-1))
        both = self._packed.unpack(gathered.view(torch.uint8))
        size = self._numbers.shape[1]
        return Batch(
            {name: column[:size] for name, column in both.items()},
            numbers["actions"].to(torch.int64),
            numbers["returns"],
            numbers["discounts"],
            {name: column[size:] for name, column in both.items()},
            numbers["labels"].to(torch.int64),
            numbers["demonstration_weight"][0],
            numbers["weights"] if self._weighted else None,
            both,
        )
