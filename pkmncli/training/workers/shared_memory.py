"""The block of memory that a trainer and its workers share: observations and one step record per environment."""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import reduction
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from pkmncli.api import STEP_RECORD
from pkmncli.atomic_files import reason
from pkmncli.errors import TrainingError

if TYPE_CHECKING:
    import gymnasium
    from numpy.typing import NDArray

    from pkmncli.channel import Channel, Connection

RECORD_DTYPE = np.dtype(list(STEP_RECORD), align=True)

_ALIGNMENT = 64  # a cache line, so that two workers never write to the same one


def _aligned(nbytes: int) -> int:
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT


_STRIDE = _aligned(RECORD_DTYPE.itemsize)
"""Bytes from one environment's record to the next."""


BLOCK_STEPS = 32
"""Maximum number of steps that are taken for one message: see :meth:`WorkerPool.play`."""
_LATEST = 1
_ROWS = _LATEST + 2 * BLOCK_STEPS
"""Records of an environment: the latest step's, then those of two blocks, of which one is read and one written."""


_CODES = {"u1": "B", "u2": "H", "u4": "I", "u8": "Q", "i4": "i", "f4": "f", "b1": "?"}


def _packing(names: Iterable[str]) -> struct.Struct:
    """Return the format of a record with these of its fields. A record in numpy takes several times as long."""
    code, end = "=", 0
    fields = RECORD_DTYPE.fields
    assert fields is not None
    for name in names:
        dtype, offset = fields[name][:2]
        code += f"{offset - end}x" + _CODES.get(dtype.str[1:], f"{dtype.itemsize}s")
        end = offset + dtype.itemsize
    return struct.Struct(f"{code}{_STRIDE - end}x")


_WHOLE = _packing(RECORD_DTYPE.names or ())
_PARTS = list(RECORD_DTYPE.names or ()).index("reward_parts")


def block_rows(number: int) -> int:
    """Return the first row of records of the block with this number: two blocks take turns."""
    return _LATEST + number % 2 * BLOCK_STEPS


FRAME_SLOTS = 2
"""Observations alternate between two slots: the one acted on stays whole while its successor is written."""

TERMINAL_SLOT = FRAME_SLOTS
"""Slot of an episode's last observation, beside the first one of the next."""

NO_SLOT = 255
"""In place of a slot: nobody reads the observation of this step."""


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """An array of the observation: shape and dtype for a single environment."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    path: tuple[str, ...] = ()
    """Keys of the nested dictionaries that it is in, and its own; empty if its name is its only key."""

    @property
    def nbytes(self) -> int:
        """Bytes of one environment's array."""
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize


def layout_of(space: gymnasium.spaces.Dict) -> tuple[FieldLayout, ...]:
    """Return the layout of a dictionary observation space whose members are arrays; text is left out."""
    from pkmncli.api.spaces import array_members  # noqa: PLC0415 - brings gymnasium

    fields = []
    for path, member in array_members(space).items():
        name = ".".join(path)
        if member.shape is None or member.dtype is None:
            raise TypeError(f"observation {name!r} is no array; only Box, MultiBinary and the like can be shared")
        fields.append(FieldLayout(name, tuple(member.shape), np.dtype(member.dtype).str, path))
    return tuple(fields)


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

    A continuous action of that many ``dimensions`` is in it, too.

    The parent makes it, and sends its handle to each worker, to those that replace a lost one too. It vanishes with
    the last process that holds it, however that process ends.
    """

    def __init__(
        self, layout: tuple[FieldLayout, ...], num_envs: int, file: IO[bytes] | None = None, *, dimensions: int = 0
    ) -> None:
        self.layout = layout
        self.num_envs = num_envs
        self.dimensions = dimensions
        per_env = sum(_aligned(field.nbytes) for field in layout) * (FRAME_SLOTS + 1) + _STRIDE * _ROWS
        per_env += _aligned(4 * dimensions)
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
        self._views: dict[tuple[int, int], dict[str, Any]] = {}
        size = _STRIDE * _ROWS * num_envs
        whole = np.frombuffer(buffer, np.uint8, size, offset)
        self.records: NDArray[Any] = np.ndarray((num_envs,), RECORD_DTYPE, buffer=whole, strides=(_STRIDE * _ROWS,))
        """Records of the latest step."""
        self._record_rows = whole.reshape(num_envs, _ROWS, _STRIDE)[:, :, : RECORD_DTYPE.itemsize]
        self._record_bytes = memoryview(buffer)[offset : offset + size]
        offset += size
        stride = _aligned(4 * dimensions)
        whole = np.frombuffer(buffer, np.uint8, stride * num_envs, offset)
        self.controls: NDArray[np.float32] = np.ndarray(
            (num_envs, dimensions), np.float32, buffer=whole, strides=(stride, 4)
        )
        """Actions of the step that is being taken, in a continuous space; written by the parent."""

    def environment(self, slot: int, index: int) -> dict[str, Any]:
        """Return views of one environment's arrays in a slot, to be written to; nested as the space is."""
        if (slot, index) in self._views:
            return self._views[slot, index]
        views = self._views[slot, index] = {}
        for field in self.layout:
            *outer, key = field.path or (field.name,)
            place = views
            for one in outer:
                place = place.setdefault(one, {})
            place[key] = self.slots[slot][field.name][index, ...]
        return views

    def write_record(self, index: int, values: Sequence[Any], row: int = 0) -> None:
        """Write one environment's record: a value for each field, reward parts as bytes.

        Args:
            index: the environment.
            values: of the fields.
            row: 0 for the record of the latest step, or one of :func:`block_rows`.
        """
        try:
            _WHOLE.pack_into(self._record_bytes, _STRIDE * (_ROWS * index + row), *values)
        except (struct.error, OverflowError):  # such as a number that numpy rounds or takes as infinite
            record = self._record_rows[index, row].view(RECORD_DTYPE)
            record[0] = (*values[:_PARTS], np.frombuffer(values[_PARTS], np.float32), *values[_PARTS + 1 :])

    def make_latest(self, index: int, row: int) -> None:
        """Make a record of a block that of one environment's latest step."""
        self._record_rows[index, 0] = self._record_rows[index, row]

    def copy_records(self, first: int = 0, steps: int = 1) -> NDArray[Any]:
        """Return a copy of the records from a row on, (steps, num_envs). Field by field numpy takes long."""
        rows = self._record_rows[:, first : first + steps].swapaxes(0, 1)
        return np.ndarray((steps, self.num_envs), RECORD_DTYPE, bytearray(rows.tobytes()))

    def packed(self, slot: int, index: int) -> tuple[bytes, bytes]:
        """Return one environment's arrays in a slot, and its record, to be sent to another machine."""
        rows = self.slots[slot]
        arrays = b"".join(rows[field.name][index].tobytes() for field in self.layout)
        return arrays, self._record_rows[index, 0].tobytes()

    def unpack(self, slot: int, index: int, arrays: bytes, record: bytes) -> None:
        """Write what :meth:`packed` has returned in another block of this layout."""
        rows, offset = self.slots[slot], 0
        for field in self.layout:
            count = int(np.prod(field.shape, dtype=np.int64))
            rows[field.name][index] = np.frombuffer(arrays, field.dtype, count, offset).reshape(field.shape)
            offset += field.nbytes
        self._record_rows[index, 0] = np.frombuffer(record, np.uint8)

    def send(self, channel: Channel, process_id: int) -> None:
        """Send the block's handle to the process at the other end of a channel."""
        channel.send_handle(_handle_of(self._file.fileno()), process_id)

    @classmethod
    def receive(
        cls, connection: Connection, layout: tuple[FieldLayout, ...], num_envs: int, dimensions: int = 0
    ) -> SharedBlock:
        """Return the block whose handle comes next through the pipe. It cannot be sent on."""
        with _file_of(reduction.recv_handle(connection)) as file:
            return cls(layout, num_envs, file, dimensions=dimensions)

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
