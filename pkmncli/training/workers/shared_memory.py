"""The block of memory that a trainer and its workers share: observations and one step record per environment."""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing import reduction
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from pkmncli.api import STEP_RECORD
from pkmncli.atomic_files import reason
from pkmncli.errors import TrainingError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    import gymnasium
    from numpy.typing import NDArray

    from pkmncli.channel import Channel

RECORD_DTYPE = np.dtype(list(STEP_RECORD), align=True)

_ALIGNMENT = 64  # a cache line, so that two workers never write to the same one

FRAME_SLOTS = 2
"""Observations alternate between two slots: the one acted on stays whole while its successor is written."""

TERMINAL_SLOT = FRAME_SLOTS
"""Slot of an episode's last observation, beside the first one of the next."""


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """An array of the observation: shape and dtype for a single environment."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def nbytes(self) -> int:
        """Bytes of one environment's array."""
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize


def layout_of(space: gymnasium.spaces.Dict) -> tuple[FieldLayout, ...]:
    """Return the layout of a dictionary observation space whose members are arrays."""
    fields = []
    for name, member in space.spaces.items():
        if member.shape is None or member.dtype is None:
            raise TypeError(f"observation {name!r} is no array; only Box, MultiBinary and the like can be shared")
        fields.append(FieldLayout(name, tuple(member.shape), np.dtype(member.dtype).str))
    return tuple(fields)


def _aligned(nbytes: int) -> int:
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT


def _nameless_file(nbytes: int) -> IO[bytes]:
    """Return a file without a name, fully allocated: a hole that can't be filled kills the process that writes there.

    Raises:
        TrainingError: there is no room for it.
    """
    file: IO[bytes] | None = None
    try:
        if hasattr(os, "memfd_create"):  # memory that belongs to no file system, which may be full or read-only
            with contextlib.suppress(OSError):
                file = os.fdopen(os.memfd_create("pkmn"), "r+b")
        if file is None:
            file = cast(IO[bytes], tempfile.TemporaryFile())  # noqa: SIM115
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, nbytes)
        else:
            file.write(bytes(nbytes))
            file.flush()
    except OSError as error:
        if file is not None:
            file.close()
        raise TrainingError(
            f"no room for the observations of all environments, {nbytes:,} bytes: {reason(error)}; use fewer --envs"
        ) from None
    return file


class SharedBlock:
    """Observations and records of ``num_envs`` environments in a nameless file that several processes map.

    The parent makes it, and sends its handle to each worker, to those that replace a lost one too. It vanishes with
    the last process that holds it, however that process ends.
    """

    def __init__(self, layout: tuple[FieldLayout, ...], num_envs: int, file: IO[bytes] | None = None) -> None:
        self.layout = layout
        self.num_envs = num_envs
        per_env = sum(_aligned(field.nbytes) for field in layout) * (FRAME_SLOTS + 1) + _aligned(RECORD_DTYPE.itemsize)
        if file is None:
            file = _nameless_file(per_env * num_envs)
        self._file = file
        buffer = mmap.mmap(file.fileno(), per_env * num_envs)
        offset = 0
        slots: list[dict[str, NDArray[Any]]] = []
        for _slot in range(FRAME_SLOTS + 1):
            arrays = {}
            for field in layout:
                stride = _aligned(field.nbytes)
                whole: NDArray[np.uint8] = np.frombuffer(buffer, np.uint8, stride * num_envs, offset)
                rows = whole.reshape(num_envs, stride)[:, : field.nbytes]
                arrays[field.name] = rows.view(field.dtype).reshape(num_envs, *field.shape)
                if not np.shares_memory(arrays[field.name], whole):
                    raise TypeError(f"observation {field.name!r} cannot be laid out in shared memory")
                offset += stride * num_envs
            slots.append(arrays)
        self.slots: tuple[Mapping[str, NDArray[Any]], ...] = tuple(slots)
        stride = _aligned(RECORD_DTYPE.itemsize)
        whole = np.frombuffer(buffer, np.uint8, stride * num_envs, offset)
        self.records: NDArray[Any] = np.ndarray((num_envs,), RECORD_DTYPE, buffer=whole, strides=(stride,))

    def environment(self, slot: int, index: int) -> dict[str, NDArray[Any]]:
        """Return views of one environment's arrays in a slot, to be written to."""
        return {name: array[index] for name, array in self.slots[slot].items()}

    def send(self, channel: Channel, process_id: int) -> None:
        """Send the block's handle to the process at the other end of a channel."""
        channel.send_handle(_handle_of(self._file.fileno()), process_id)

    @classmethod
    def receive(cls, connection: Connection, layout: tuple[FieldLayout, ...], num_envs: int) -> SharedBlock:
        """Return the block whose handle comes next through the pipe. It cannot be sent on."""
        with _file_of(reduction.recv_handle(connection)) as file:
            return cls(layout, num_envs, file)

    def close(self) -> None:
        """Release the handle: the block cannot be sent any more. Its arrays stay as long as they are used."""
        self._file.close()


if sys.platform == "win32":
    import msvcrt

    def _handle_of(descriptor: int) -> int:
        return msvcrt.get_osfhandle(descriptor)

    def _file_of(handle: int) -> IO[bytes]:
        return os.fdopen(msvcrt.open_osfhandle(handle, os.O_RDWR), "r+b")

else:

    def _handle_of(descriptor: int) -> int:
        return descriptor

    def _file_of(handle: int) -> IO[bytes]:
        return os.fdopen(handle, "r+b")
