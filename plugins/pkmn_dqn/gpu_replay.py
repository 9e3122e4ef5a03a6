"""Experience on the GPU that learns from it; the replay buffer in ordinary memory stays the master copy.

The sampled rows and the random numbers used are the same as without a GPU: rows are sampled and returns summed in
ordinary memory. Only the observations, nearly all of the bytes, are gathered on the GPU: each step is sent there once,
when it is new, and an update needs about a kilobyte.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pkmn_dqn.cuda_stream import Mark, finish_all, host_memory, mark, wait_until
from pkmn_dqn.final_observations import ColumnTypes
from pkmn_dqn.replay_buffer import Picked, ReplayBuffer
from pkmn_dqn.settings import DQNSettings
from pkmncli.errors import ConfigurationError
from pkmncli.learners.labels import labels_of
from pkmncli.learners.observations import Columns

FIELDS = ("rows", "next_rows", "actions", "labels", "returns", "discounts", "weights", "demonstration_weight")
"""4-byte numbers sent per step of an update; the last four are float32."""
FIRST_FLOAT = FIELDS.index("returns")

PLACES = 8
"""Number of windows whose data and results are kept on the GPU."""

_ALIGNMENT = 16  # bytes
_STAGES = 4  # concurrent copies
_CHUNK = 1024  # rows per copy


class PackedColumns:
    """Layout of an observation's columns, one after the other in a row of bytes, so that one gather reads all."""

    def __init__(self, columns: ColumnTypes) -> None:
        self._columns = dict(columns)
        self._places: dict[str, slice] = {}
        end = 0
        for name, (shape, dtype) in self._columns.items():
            size = math.prod(shape) * np.dtype(dtype).itemsize
            self._places[name] = slice(end, end + size)
            end += -(-size // _ALIGNMENT) * _ALIGNMENT
        self.row_bytes = end

    def pack(self, columns: Columns, out: NDArray[np.uint8]) -> None:
        """Write observations, arrays (n, ...), into rows (n, row_bytes)."""
        for name, place in self._places.items():
            column = np.ascontiguousarray(columns[name])
            out[:, place] = column.reshape(len(column), -1).view(np.uint8)

    def unpack(self, rows: Tensor) -> dict[str, Tensor]:
        """Return the columns (n, ...) of rows (n, row_bytes) uint8: the same memory."""
        found = {}
        for name, (shape, dtype) in self._columns.items():
            kind = torch.from_numpy(np.empty(0, dtype)).dtype
            column = rows[:, self._places[name]].view(kind)
            found[name] = column.view(len(rows), *shape)
        return found


class GpuReplay:
    """The observations of a replay buffer on a device.

    Only the trainer's thread may call it. Data sent arrives before work that is given to the GPU later.
    """

    def __init__(self, replay: ReplayBuffer, settings: DQNSettings, device: torch.device) -> None:
        """Allocate the memory; it is empty at first.

        Args:
            replay: the master copy.
            settings: steps and updates of a window, and which steps are demonstrations.
            device: the device that learns.

        Raises:
            ConfigurationError: the device has not enough memory.
        """
        self._replay = replay
        self.packed = PackedColumns(replay.columns)
        self._demonstrations = settings.demonstrations
        self._batch_size, self._updates = batch_size, updates = settings.batch_size, settings.gradient_steps
        self._finals = PLACES * updates * batch_size  # rows for the final observations of windows in flight
        words = self.packed.row_bytes // 8
        try:
            self.rows = torch.zeros((replay.slots + self._finals, words), dtype=torch.int64, device=device)
        except torch.OutOfMemoryError:
            size = (replay.slots + self._finals) * self.packed.row_bytes / 2**30
            raise ConfigurationError(
                f"dqn.buffer_size = {replay.capacity} takes {size:.0f} GiB, more than {device} has left: set it lower, "
                "or device = cpu."
            ) from None
        """(rows of the ring, then some for final observations, words) int64: packed observations."""
        self._device = device
        self._row_stage = _Stage((_CHUNK, words), torch.int64, device)
        self._final_stage = _Stage((batch_size, words), torch.int64, device)
        self._number_stage = _Stage((updates, len(FIELDS), batch_size), torch.int32, device)
        shape = (PLACES, updates, len(FIELDS), batch_size)
        self.numbers = torch.zeros(shape, dtype=torch.int32, device=device)
        """(places, updates, fields, n) int32: the data that windows learn from; see :data:`FIELDS`."""
        self._windows = 0
        self._end = 0
        finish_all(device)

    def forget(self) -> None:
        """Send all steps again at the next window, because the buffer was loaded."""
        self._end = 0

    def send(self, samples: Sequence[tuple[Picked, NDArray[np.float32] | None]], demonstration_weight: float) -> int:
        """Send new steps and the data for a window's updates. Return the window's place in :attr:`numbers`."""
        self._follow()
        place = self._windows % PLACES
        self._windows += 1
        staged, stage = self._number_stage.next()
        floats = staged.view(np.float32)
        for index, (picked, weights) in enumerate(samples):
            first_final = self._replay.slots + (place * self._updates + index) * self._batch_size
            next_slots = picked.next_rows % self._replay.slots
            ended = np.flatnonzero(picked.ended)
            if len(ended):
                next_slots[ended] = first_final + np.arange(len(ended))
                self._send_finals(picked.next_rows[ended], first_final)
            labels = labels_of(picked.actions, picked.sources, picked.advised, self._demonstrations)
            integers = picked.rows % self._replay.slots, next_slots, picked.actions, labels
            for field, values in enumerate(integers):
                staged[index, field] = values
            numbers = picked.returns, picked.discounts, 1.0 if weights is None else weights, demonstration_weight
            for field, value in enumerate(numbers, FIRST_FLOAT):
                floats[index, field] = value
        stage.send(self.numbers[place])
        return place

    def _follow(self) -> None:
        """Send the steps that the device does not have yet."""
        kept = self._replay.kept
        start = self._end if kept.start <= self._end <= kept.stop else kept.start
        while start < kept.stop:
            slot = start % self._replay.slots
            rows = range(start, min(start + _CHUNK, kept.stop, start + self._replay.slots - slot))
            self._send_rows(self._replay.columns_of(rows), len(rows), slot, self._row_stage)
            start = rows.stop
        self._end = kept.stop

    def _send_finals(self, rows: NDArray[np.int64], first_slot: int) -> None:
        self._send_rows(self._replay.finals_of(rows), len(rows), first_slot, self._final_stage)

    def _send_rows(self, columns: Columns, count: int, slot: int, stages: _Stage) -> None:
        staged, stage = stages.next()
        self.packed.pack(columns, staged[:count].view(np.uint8))
        stage.send(self.rows[slot : slot + count], count)


class _Place:
    """Pinned memory, and an event for the end of the copy from it."""

    def __init__(self, memory: Tensor, device: torch.device) -> None:
        self.memory = memory
        self._device = device
        self.array: NDArray[Any] = memory.numpy()
        self.sent: Mark = None

    def send(self, target: Tensor, count: int | None = None) -> None:
        """Copy the memory, or its first rows, to the device."""
        target.copy_(self.memory if count is None else self.memory[:count], non_blocking=True)
        self.sent = mark(self._device)


class _Stage:
    """Places of pinned memory used in turn, so that the next copy is prepared during the last one."""

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> None:
        self._places = [_Place(host_memory(shape, dtype, device), device) for _ in range(_STAGES)]
        self._turn = 0

    def next(self) -> tuple[NDArray[Any], _Place]:
        """Wait until the next place is free; return it as an array to write to, and the place itself."""
        place = self._places[self._turn % len(self._places)]
        self._turn += 1
        wait_until(place.sent)
        return place.array, place
