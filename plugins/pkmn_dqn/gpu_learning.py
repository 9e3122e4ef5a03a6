"""Learning on a GPU without waiting for it.

It takes the place of :class:`pkmncli.learners.learning_process.LearningApart` there. The updates of a window are
launched without waiting. Their metrics are read some windows later, when they are certainly complete; after a fixed
number of windows, so that a resumed training reports the same. Only acting waits: for the weights that it acts with.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pkmn_dqn.cuda_graph import CapturedWindow
from pkmn_dqn.cuda_stream import Mark, SideStream, finish_all, host_memory, mark, wait_until
from pkmn_dqn.gpu_replay import PLACES, GpuReplay
from pkmn_dqn.q_learning import Learned, QLearning, SampledBatch, require_finite_loss
from pkmn_dqn.settings import DQNSettings
from pkmncli.learners.flat_adam import lay_out
from pkmncli.learners.weights import under

READ_AFTER = 4
"""Number of windows after which a window's metrics are read."""

_UNREAD = "unread"
_TIMED_WINDOWS = 20


@dataclass(frozen=True, slots=True)
class _Launched:
    """A window whose updates were launched."""

    place: int
    ended: Mark
    updates: int
    """Number of updates until its end."""


@dataclass(frozen=True, slots=True)
class SentBatch(SampledBatch):
    """Steps that a window's updates learn from, sent to the GPU."""

    place: int = 0
    """Place of the data on the GPU."""


class GpuLearning:
    """A :class:`QLearning` on a GPU.

    Args:
        build: returns a new one.
        replay: the experience on the GPU.
        settings: with priorities, each :meth:`learn` waits for its steps' errors, which decide the next sample.
    """

    def __init__(self, build: Callable[[], QLearning], replay: GpuReplay, settings: DQNSettings) -> None:
        self.here = build()
        self.learned = 0
        """Number of windows since it was built or loaded."""
        self._build = build
        self._replay = replay
        self._wants_errors = settings.priority_exponent > 0
        self._device = replay.rows.device
        self._weights_stream = SideStream(self._device)
        self._window = CapturedWindow(self.here, replay.rows, replay.packed, replay.numbers, self._wants_errors)
        self._launched: deque[_Launched] = deque(maxlen=PLACES)
        self._unread: deque[_Launched | Mapping[str, float]] = deque()  # numbers if they were read early
        self._first_weights = self.here.weights.clone()
        self._acting: Tensor | None = None
        self._wanted: _Launched | None = None  # the window whose weights are to act
        self._wants_first = False  # the initial weights are to act
        finish_all(self._device)

    def send(self, sampled: SampledBatch) -> SentBatch:
        """Send sampled steps, without observations, to the GPU. For the trainer's thread."""
        place = self._replay.send(sampled.samples, sampled.demonstration_weight)  # type: ignore[arg-type]
        return SentBatch(sampled.samples, sampled.demonstration_weight, sampled.metrics, sampled.scale, place)

    def learn(self, sampled: SentBatch) -> Learned:
        """Launch the updates of a window.

        Return their own metrics and errors if errors are needed; otherwise the metrics of the window
        :data:`READ_AFTER` windows before, and no errors. Raise TrainingError if a loss that is read is not finite.
        """
        if self._wanted is not None and self._wanted.place == sampled.place:
            self.settle()
        self.here.follow(sampled.scale)
        self._window.run(sampled.place)
        launched = _Launched(sampled.place, mark(self._device), self.here.updates)
        self._launched.append(launched)
        self.learned += 1
        always = {"updates": float(self.here.updates)} | dict(sampled.metrics)
        if self._wants_errors:
            metrics, td_errors = self._read(launched)
            return Learned(dict(metrics) | always, td_errors)
        self._unread.append(launched)
        metrics = self._metrics(self._unread.popleft()) if len(self._unread) > READ_AFTER else {}
        return Learned(dict(metrics) | always, [])

    def copy_weights_to(self, acting: Tensor, update: int) -> None:
        """Make the network of :meth:`lay_out` act with the weights of a window; see :meth:`settle`.

        It must be the latest window that was launched, or the one before; -1 for the initial weights.
        """
        self._wants_first = update < 0
        self._wanted = None if self._wants_first else self._launched[update - self.learned]

    def settle(self) -> None:
        """Copy the weights that were taken last to the acting network, and wait for the copy."""
        if self._acting is None or (self._wanted is None and not self._wants_first):
            return
        wanted = self._wanted
        weights = self._first_weights if wanted is None else self._window.weights[wanted.place]
        # In parallel with the updates that were launched since.
        with self._weights_stream.open(None if wanted is None else wanted.ended), torch.no_grad():
            self._acting.copy_(weights, non_blocking=True)
        self._weights_stream.finish()
        self._wanted, self._wants_first = None, False

    def lay_out(self, network: nn.Module) -> Tensor:
        """Move a network's weights into one block of memory that the GPU copies to: (weights,)."""
        memory = None
        if next(network.parameters()).device.type == "cpu":
            memory = host_memory(tuple(self._first_weights.shape), torch.float32, self._device)
        self._acting = lay_out(network, memory)
        return self._acting

    def state_dict(self) -> dict[str, Any]:
        """Return the learner's state and the metrics not read yet. Must not be called while it learns."""
        finish_all(self._device)
        unread = [self._metrics(one) for one in self._unread]
        self._unread = deque(unread)
        names = self._window.metric_names if unread else ()
        return self.here.state_dict() | {f"{_UNREAD}.{name}": np.array([one[name] for one in unread]) for name in names}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. Raise CheckpointError if that is of another network."""
        finish_all(self._device)
        self.here.load_state_dict(state)
        self._window.recapture()
        unread = {name: np.asarray(values).reshape(-1).tolist() for name, values in under(_UNREAD, state).items()}
        self._unread = deque(dict(zip(unread, one, strict=True)) for one in zip(*unread.values(), strict=True))
        self._launched.clear()
        self.learned, self._wanted, self._wants_first = 0, None, False
        self._first_weights.copy_(self.here.weights)
        finish_all(self._device)

    def close(self) -> None:
        """Wait until all work is done."""
        finish_all(self._device)

    def time_window(self) -> float:
        """Return the seconds of a window's updates on this machine, on a copy of the weights and synthetic steps."""
        finish_all(self._device)
        trial = self._build()
        trial.load_state_dict(self.here.state_dict())
        rows, numbers = torch.ones_like(self._replay.rows[:1]), torch.zeros_like(self._replay.numbers)
        window = CapturedWindow(trial, rows, self._replay.packed, numbers, self._wants_errors)
        window.run(0)  # the first run also captures
        finish_all(self._device)
        began = time.perf_counter()
        for _ in range(_TIMED_WINDOWS):
            window.run(0)
        finish_all(self._device)
        return (time.perf_counter() - began) / _TIMED_WINDOWS

    def _metrics(self, window: _Launched | Mapping[str, float]) -> Mapping[str, float]:
        return self._read(window)[0] if isinstance(window, _Launched) else window

    def _read(self, window: _Launched) -> tuple[Mapping[str, float], Sequence[NDArray[np.float32]]]:
        wait_until(window.ended)
        found, names = self._window.results[window.place].numpy().copy(), self._window.metric_names
        for before, loss in enumerate(found[::-1, names.index("loss")].tolist()):
            require_finite_loss(loss, window.updates - before)
        means = found[:, : len(names)].mean(axis=0, dtype=np.float64).tolist()
        return dict(zip(names, means, strict=True)), list(found[:, len(names) :])
