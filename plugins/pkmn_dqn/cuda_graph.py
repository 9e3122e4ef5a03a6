"""The updates of a window as one captured GPU graph, replayed for every window.

Launched one by one, the more than hundred small kernels of an update take the processor several milliseconds, while the
GPU mostly waits. A graph launches them together: from the data sent for the window to its metrics, the target network
and the weights to act with, without reading any number back.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pkmn_dqn.cuda_stream import SideStream, finish_all, host_memory
from pkmn_dqn.gpu_replay import FIELDS, FIRST_FLOAT, PLACES, PackedColumns
from pkmn_dqn.q_learning import Batch, QLearning

_WARM_UPS = 3  # runs before a graph is captured, so that libraries have chosen their kernels


class CapturedWindow:
    """The updates of a :class:`QLearning`, which must not be updated otherwise.

    Args:
        learning: the part that learns.
        rows: (slots, words) int64, the packed observations that batches are gathered from.
        packed: their layout.
        numbers: (places, updates, fields, n) int32 (see :data:`pkmn_dqn.gpu_replay.FIELDS`), the data that windows
            learn from; windows use the places in turn.
        weighted: batches have importance weights.

    On a CPU nothing is captured; the updates simply run.
    """

    def __init__(
        self, learning: QLearning, rows: Tensor, packed: PackedColumns, numbers: Tensor, weighted: bool
    ) -> None:
        self._device = device = rows.device
        self._learning = learning
        self._rows = rows
        self._packed = packed
        self._numbers = numbers
        self._weighted = weighted
        self._place = torch.zeros(1, dtype=torch.int64, device=device)
        self._next_place = 0  # place of the next window
        self._updates = torch.zeros((), dtype=torch.int64, device=device)
        self.metric_names = learning.METRICS
        """Names of the first numbers of results; the rest are the steps' errors."""
        updates, size = numbers.shape[1], numbers.shape[3]
        shape = (PLACES, updates, len(self.metric_names) + size)
        self._results = torch.zeros(shape, dtype=torch.float32, device=device)
        self.results = host_memory(shape, torch.float32, device)
        """(places, updates, metrics and errors) float32 in ordinary memory: results of the latest windows."""
        self.weights = learning.weights.repeat(PLACES, 1)
        """(places, weights) float32: the learned network's weights after each of these windows."""
        self._graph: torch.cuda.CUDAGraph | None = None
        self._begun = False
        finish_all(device)

    def run(self, place: int) -> None:
        """Learn from the data sent to a place."""
        if not self._begun:
            self._begun = True
            if self._device.type == "cuda":
                self._graph = self._captured()
            self._updates.fill_(self._learning.updates)
            self._next_place = -1
        if place != self._next_place:
            self._place.fill_(place)
        if self._graph is None:
            self._learn()
        else:
            self._graph.replay()
        self._next_place = (place + 1) % PLACES
        self._learning.updates += self._numbers.shape[1]

    def recapture(self) -> None:
        """Capture again at the next run, because the optimizer's state has moved in memory."""
        self._graph, self._begun = None, False

    def _captured(self) -> torch.cuda.CUDAGraph:
        graph, side = torch.cuda.CUDAGraph(), SideStream(self._device)
        # Sums in a fixed order and full precision, so that a resumed training is as exact as possible.
        with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
            with side.open(), self._learning.tried():
                for _ in range(_WARM_UPS):
                    self._learn()
            # Another thread may continue meanwhile, on other streams.
            with torch.cuda.graph(graph, stream=side.stream, capture_error_mode="thread_local"):
                self._learn()
        side.join()
        return graph

    def _learn(self) -> None:
        found = []
        for numbers in self._numbers.index_select(0, self._place)[0]:
            metrics, td_errors = self._learning.descend(self._batch(numbers))
            self._learning.follow_target(self._updates.add_(1))
            found.append(torch.cat((torch.stack([metrics[name] for name in self.metric_names]), td_errors)))
        self._results.index_copy_(0, self._place, torch.stack(found).unsqueeze(0))
        self.weights.index_copy_(0, self._place, self._learning.weights.unsqueeze(0))
        self.results.copy_(self._results, non_blocking=True)
        self._place.add_(1).remainder_(PLACES)

    def _batch(self, numbers: Tensor) -> Batch:
        integers, floats = numbers[:FIRST_FLOAT], numbers[FIRST_FLOAT:].view(torch.float32)
        fields = dict(zip(FIELDS, (*integers, *floats), strict=True))
        gathered = self._rows.index_select(0, numbers[:2].reshape(-1))
        both = self._packed.unpack(gathered.view(torch.uint8))
        size = numbers.shape[1]
        return Batch(
            {name: column[:size] for name, column in both.items()},
            fields["actions"].to(torch.int64),
            fields["returns"],
            fields["discounts"],
            {name: column[size:] for name, column in both.items()},
            fields["labels"].to(torch.int64),
            fields["demonstration_weight"][0],
            fields["weights"] if self._weighted else None,
            both,
        )
