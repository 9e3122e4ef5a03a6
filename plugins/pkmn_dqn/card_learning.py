"""Learning on a graphics card without anyone waiting for it: neither the trainer's thread nor the one that learns.

The stand-in there of :class:`pkmncli.learners.learning_apart.LearningApart`. An update is launched, not waited for; its
metrics are read when the next window is launched, which by then is no wait. Weights to act with are copied beside the
updates, and only who acts waits for them.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pkmn_dqn.captured_updates import CapturedUpdate
from pkmn_dqn.device_replay import FIELDS, DeviceReplay, SentWindow
from pkmn_dqn.lane import Lane, Mark, finish_all, host_memory, wait_until
from pkmn_dqn.q_learning import Drawn, Learned, QLearning, require_finite_loss
from pkmn_dqn.settings import DQNSettings
from pkmncli.learners.learning_apart import flat_weights
from pkmncli.learners.weights import under

_LATEST = "latest"
_TIMED_UPDATES = 20


@dataclass(frozen=True, slots=True)
class SentDrawn(Drawn):
    """What a window's updates learn from, sent to the card."""

    window: SentWindow


class LearningOnCard:
    """A :class:`QLearning` on a card.

    Args:
        build: builds it.
        replay: the experience on the card.
        settings: with priorities, each :meth:`learn` waits for its steps' errors, which decide what is drawn next.
    """

    def __init__(self, build: Callable[[], QLearning], replay: DeviceReplay, settings: DQNSettings) -> None:
        self.here = build()
        self.learned = 0
        """Windows since it was built or loaded."""
        self._replay = replay
        self._batch_size = batch_size = settings.batch_size
        self._wants_errors = wants_errors = settings.priority_exponent > 0
        self._device = device = replay.rows.device
        self._lane, self._weights_lane = Lane(device), Lane(device)
        self._update = CapturedUpdate(self.here, replay.rows, replay.packed, batch_size, wants_errors, self._lane)
        self._updates = settings.gradient_steps
        self._results: list[Tensor] = []  # of two windows, (updates, metrics and errors)
        self._launched: list[Mark] = [None, None]
        self._latest: dict[str, float] = {}  # metrics of the latest window, where they were read early or loaded
        self._unread: tuple[int, int] | None = None  # place of results that nobody has read yet, and updates until then
        self._aside = [flat_weights(self.here.network) for _ in range(2)]
        self._aside_taken: list[Mark] = [None, None]
        self._acting: Tensor | None = None
        self._acting_copied: Mark = None
        finish_all(device)

    def send(self, drawn: Drawn) -> SentDrawn:
        """Sends what was drawn, steps without observations, to the card. For the trainer's thread."""
        window = self._replay.send(drawn.samples, drawn.demonstration_weight)  # type: ignore[arg-type]
        return SentDrawn(drawn.samples, drawn.demonstration_weight, drawn.metrics, window)

    def learn(self, drawn: SentDrawn) -> Learned:
        """Launches the updates of a window.

        Returns their own metrics and errors where errors are wanted; otherwise the metrics of the window before, and
        no errors. Raises TrainingError when a loss that is read is not a finite number.
        """
        place = self.learned % 2
        with self._lane.open():
            self._lane.wait_for(drawn.window.sent)
            for index in range(len(drawn.samples)):
                found = self._update.run(drawn.window.numbers[index])
                if not self._results:
                    shape = (self._updates, len(found))
                    self._results = [host_memory(shape, torch.float32, self._device) for _ in range(2)]
                self._results[place][index].copy_(found, non_blocking=True)
            self._lane.wait_for(self._aside_taken[place])
            flat_weights(self.here.network, self._aside[place])
            self._launched[place] = self._lane.mark()
        self.learned += 1
        always = {"updates": float(self.here.updates)} | dict(drawn.metrics)
        if self._wants_errors:
            metrics, td_errors = self._read(place, self.here.updates)
            return Learned(metrics | always, td_errors)
        latest = self._read_unread()
        self._unread = place, self.here.updates
        return Learned(latest | always, [])

    def take_weights(self, network: nn.Module, update: int) -> None:
        """Has a network, which :meth:`lay_out` was given before, get the weights of an update: see :meth:`settle`.

        It must be the latest that was launched, or the one before; -1 is what it began with.
        """
        assert self._acting is not None
        place = update % 2
        self._weights_lane.wait_for(self._launched[place])
        with self._weights_lane.open(), torch.no_grad():
            self._acting.copy_(self._aside[place], non_blocking=True)
        self._aside_taken[place] = self._acting_copied = self._weights_lane.mark()

    def settle(self) -> None:
        """Waits until the weights that were taken last have come."""
        wait_until(self._acting_copied)

    def lay_out(self, network: nn.Module) -> None:
        """Puts a network's weights one after the other in memory to which they are copied beside everything else."""
        weights = list(network.parameters())
        flat = flat_weights(network)
        if weights[0].device.type == "cpu":
            pinned = host_memory(tuple(flat.shape), flat.dtype, self._device)
            flat = pinned.copy_(flat)
        for mine, its in zip(weights, torch.split(flat, [one.numel() for one in weights]), strict=True):
            mine.data = its.view_as(mine)
        self._acting = flat
        finish_all(self._device)

    def state_dict(self) -> dict[str, Any]:
        """The learning's, and the metrics that the next :meth:`learn` returns. Not to be called while it learns."""
        self._lane.finish()
        self._latest = self._read_unread()
        return self.here.state_dict() | {f"{_LATEST}.{name}": one for name, one in self._latest.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`. Raises CheckpointError where that is of another network."""
        self._lane.finish()
        self.here.load_state_dict(state)
        self._update.recapture()
        self.learned = 0
        self._unread, self._latest = None, {name: float(one) for name, one in under(_LATEST, state).items()}
        for weights in self._aside:
            flat_weights(self.here.network, weights)
        finish_all(self._device)

    def close(self) -> None:
        """Waits until all is done."""
        self._lane.finish()

    def time_update(self) -> float:
        """Seconds that one update takes here and now: tried on a copy of the weights, with made-up steps."""
        self._lane.finish()
        lane, rows = Lane(self._device), torch.ones_like(self._replay.rows[:1])
        trial = CapturedUpdate(
            copy.deepcopy(self.here), rows, self._replay.packed, self._batch_size, self._wants_errors, lane
        )
        numbers = torch.zeros((len(FIELDS), self._batch_size), dtype=torch.int32, device=self._device)
        with lane.open():
            trial.run(numbers)  # the first one also captures
            lane.finish()
            began = time.perf_counter()
            for _ in range(_TIMED_UPDATES):
                trial.run(numbers)
            lane.finish()
        return (time.perf_counter() - began) / _TIMED_UPDATES

    def _read_unread(self) -> dict[str, float]:
        """The metrics of the latest window, or none, once."""
        found, self._latest = self._latest, {}
        if self._unread is not None:
            found = self._read(*self._unread)[0]
            self._unread = None
        return found

    def _read(self, place: int, updates: int) -> tuple[dict[str, float], Sequence[NDArray[np.float32]]]:
        wait_until(self._launched[place])
        found = self._results[place].numpy().copy()
        count = len(self._update.metric_names)
        for index, loss in enumerate(found[:, self._update.metric_names.index("loss")].tolist()):
            require_finite_loss(loss, updates - len(found) + index + 1)
        means = found[:, :count].mean(axis=0, dtype=np.float64).tolist()
        return dict(zip(self._update.metric_names, means, strict=True)), list(found[:, count:])
