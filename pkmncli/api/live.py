"""View of a running training from another process of the same machine, and requests to it.

While it runs, a training keeps two files in its run folder: ``live.json`` says which process it is and how its screens
are laid out, and ``live.board`` is what trainer and viewers write to and read. The trainer fills it only while someone
looks, and reads the requests from it. Nobody waits for anybody: a viewer may stop reading, or die, at any moment, and
what it reads may be half of one step and half of the next.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api.decisions import STEP_RECORD

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer
    from numpy.typing import NDArray

LIVE_FILE = "live.json"
BOARD_FILE = "live.board"

MESSAGE_BYTES = 480
DOING_BYTES = 200
STANDING_BYTES = 8192
"""Room for how far an environment has got, as JSON."""

REQUESTS_DTYPE = np.dtype(
    [
        ("watched_until", "f8"),  # seconds since 1970 until which someone watches
        ("pictures_until", "f8"),  # the same for pictures
        ("picture_interval_s", "f8"),  # seconds between two pictures meanwhile
        ("pause", "u1"),  # 1 while the training is to pause
        ("stop", "u1"),  # 1 once it is to end
        ("saves", "u4"),  # checkpoints asked for so far
        ("starts", "u4"),  # start states asked for so far
        ("start_environment", "u4"),  # whose state that is to be
    ],
    align=True,
)
"""Fields that viewers write."""

STATE_DTYPE = np.dtype(
    [
        ("updated", "f8"),  # seconds since 1970; 0 before anyone looked
        ("steps", "u8"),  # over all environments
        ("episodes", "u8"),
        ("elapsed_s", "f8"),  # spent training, pauses left out
        ("fraction_done", "f8"),  # share of the budget that is used
        ("steps_per_second", "f8"),  # lately, viewers included; 0 before it is known, and in a pause
        ("paused", "u1"),
        ("answers", "u4"),  # requests that were answered so far
        ("message", f"S{MESSAGE_BYTES}"),  # the latest answer, in words
        ("doing", f"S{DOING_BYTES}"),  # activity instead of steps, such as an evaluation; empty if it takes steps
    ],
    align=True,
)
"""Fields that the trainer writes, beside a step record and a screen of each environment."""

_RECORD_DTYPE = np.dtype(list(STEP_RECORD), align=True)


class BoardPart:
    """An array in the file of a live board. It is never mapped: whoever cuts a mapped file off kills its readers.

    Args:
        descriptor: of the open file.
        dtype: of an element.
        shape: of the array.
        offset: where it begins, in bytes.
    """

    def __init__(self, descriptor: int, dtype: Any, shape: tuple[int, ...], offset: int) -> None:
        self._descriptor = descriptor
        self._dtype = np.dtype(dtype)
        self.shape = shape
        self._offset = offset
        self._nbytes = int(np.prod(shape, dtype=np.int64)) * self._dtype.itemsize

    def read(self) -> NDArray[Any]:
        """Return a copy of what the array holds now; zeros where the file was cut off."""
        try:
            data = _read_at(self._descriptor, self._nbytes, self._offset)
        except OSError:
            data = b""
        return np.frombuffer(bytearray(data.ljust(self._nbytes, b"\0")), self._dtype).reshape(self.shape)

    def write(self, values: NDArray[Any], index: int = 0) -> None:
        """Write values into the array, from an index of its first axis on. On a full disk it stays as it is."""
        content = np.ascontiguousarray(values, self._dtype)
        row = self._nbytes // max(self.shape[0], 1)
        with contextlib.suppress(OSError):
            _write_at(self._descriptor, content.tobytes(), self._offset + index * row)

    def set(self, **values: Any) -> None:
        """Write values into fields of the only element, and change no others."""
        for name, value in values.items():
            assert self._dtype.fields is not None
            dtype, start = self._dtype.fields[name][:2]
            with contextlib.suppress(OSError):
                _write_at(self._descriptor, np.asarray(value, dtype).tobytes(), self._offset + start)


class LiveBoard:
    """The file that a trainer and its viewers share.

    ``requests`` and ``state`` are arrays of one element, ``records`` (num_envs,) is of the latest step of each
    environment, ``standings`` (num_envs,) what :class:`LiveStanding` holds, and ``screens`` (num_envs, *screen_shape)
    uint8 what it shows, where there are screens.
    """

    def __init__(self, path: Path, num_envs: int, screen_shape: tuple[int, ...] | None) -> None:
        """Open the file, which must have :meth:`size` bytes. Raises OSError where there is none."""
        self._size = self.size(num_envs, screen_shape)
        flags = os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        self._descriptor = os.open(path, flags)
        weakref.finalize(self, os.close, self._descriptor)
        if os.fstat(self._descriptor).st_size < self._size:
            raise OSError(errno.EINVAL, f"{path} was cut off")
        starts = self._offsets(num_envs)
        self.requests = BoardPart(self._descriptor, REQUESTS_DTYPE, (1,), starts[0])
        self.state = BoardPart(self._descriptor, STATE_DTYPE, (1,), starts[1])
        self.records = BoardPart(self._descriptor, _RECORD_DTYPE, (num_envs,), starts[2])
        self.standings = BoardPart(self._descriptor, f"S{STANDING_BYTES}", (num_envs,), starts[3])
        self.screens: BoardPart | None = None
        if screen_shape is not None:
            self.screens = BoardPart(self._descriptor, np.uint8, (num_envs, *screen_shape), starts[4])

    def is_at(self, path: Path) -> bool:
        """Return whether the file of that name is the open one."""
        try:
            return os.path.samestat(path.stat(), os.fstat(self._descriptor))
        except OSError:
            return False

    def mend(self) -> None:
        """Restore the file's length, where somebody has cut it off."""
        with contextlib.suppress(OSError):
            if os.fstat(self._descriptor).st_size < self._size:
                os.ftruncate(self._descriptor, self._size)

    @staticmethod
    def _offsets(num_envs: int) -> tuple[int, ...]:
        sizes = (
            REQUESTS_DTYPE.itemsize,
            STATE_DTYPE.itemsize,
            _RECORD_DTYPE.itemsize * num_envs,
            STANDING_BYTES * num_envs,
        )
        offsets = [0]
        for size in sizes:
            offsets.append(-(-(offsets[-1] + size) // 64) * 64)
        return tuple(offsets)

    @classmethod
    def size(cls, num_envs: int, screen_shape: tuple[int, ...] | None) -> int:
        """Return the bytes of a board."""
        screen = 0 if screen_shape is None else int(np.prod(screen_shape))
        return cls._offsets(num_envs)[-1] + num_envs * screen


@dataclass(frozen=True, slots=True)
class LiveState:
    """Progress of a training. ``age_s`` is its age in seconds, or None before it was ever written."""

    steps: int
    episodes: int
    elapsed_s: float
    fraction_done: float
    steps_per_second: float
    """Lately, over all environments; 0 before that is known, and while it is paused."""
    paused: bool
    answers: int
    message: str
    age_s: float | None
    doing: str = ""
    """Present activity instead of steps, such as an evaluation of the learner; empty if it takes steps."""


@dataclass(frozen=True, slots=True)
class LiveStanding:
    """Progress of an environment's running episode."""

    milestones: tuple[tuple[str, int, int | None], ...] = ()
    """Name, step and emulated frame of each that was reached, in that order; of many the latest."""
    progress: Mapping[str, float] = field(default_factory=dict)
    """Values that the environment names itself, such as badges and level."""
    steps_since_progress: int | None = None
    """Steps since anything was new, where the environment says so."""

    def to_bytes(self) -> bytes:
        """Return the standing as the board holds it."""
        milestones = list(self.milestones)
        while True:
            content = [milestones, dict(self.progress), self.steps_since_progress]
            data = json.dumps(content, separators=(",", ":")).encode()
            if len(data) <= STANDING_BYTES:
                return data
            if not milestones:
                return b""
            del milestones[: len(milestones) // 2 + 1]

    @classmethod
    def from_bytes(cls, data: bytes) -> LiveStanding:
        """Return the standing that :meth:`to_bytes` wrote; empty where none is yet, or it is being written."""
        try:
            milestones, progress, since = json.loads(data)
            return cls(
                tuple(
                    (str(name), int(step), None if frame is None else int(frame)) for name, step, frame in milestones
                ),
                {str(name): float(value) for name, value in progress.items()},
                None if since is None else int(since),
            )
        except (ValueError, TypeError, AttributeError):
            return cls()


class LiveTraining:
    """Viewer's side of a training that runs in some process of this machine."""

    def __init__(self, board: LiveBoard, process_id: int, process_began: float, num_envs: int) -> None:
        self._board = board
        self.screen_shape = None if board.screens is None else board.screens.shape[1:]
        """Of one environment's screen: (height, width, 3) RGB, or (height, bytes) with two pixels in a byte."""
        self._process = (process_id, process_began)
        self.num_envs = num_envs
        self._interval = 0.0
        """Between two pictures, as this viewer set it last."""

    @classmethod
    def attach(cls, folder: Path) -> LiveTraining | None:
        """Return the training that runs in a run's folder; None where none does."""
        try:
            path = folder / LIVE_FILE
            content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}  # a pipe never ends
            num_envs, shape = int(content["num_envs"]), content["screen_shape"]
            process_id, began = int(content["process_id"]), float(content["process_began"])
            if not is_running(process_id, began):
                return None
            board = LiveBoard(folder / BOARD_FILE, num_envs, None if shape is None else tuple(map(int, shape)))
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None
        return cls(board, process_id, began, num_envs)

    @property
    def running(self) -> bool:
        """True while the process of the training exists."""
        return is_running(*self._process)

    def watch(self, seconds: float, pictures_per_second: float) -> None:
        """Ask the trainer to write its progress and pictures for so long. Call it again before that is over.

        Several viewers share the board, so the fastest of them sets the pace of the pictures: none makes it slower
        but the one that made it as fast as it is.
        """
        requests, now = self._board.requests.read()[0], time.time()
        if pictures_per_second > 0:
            interval, held = 1 / pictures_per_second, float(requests["picture_interval_s"])
            others_want_them = float(requests["pictures_until"]) > now and held != self._interval
            self._interval = min(interval, held) if others_want_them else interval
            until = max(float(requests["pictures_until"]), now + seconds)
            self._board.requests.set(picture_interval_s=self._interval, pictures_until=until)
        self._board.requests.set(watched_until=max(float(requests["watched_until"]), now + seconds))

    def state(self) -> LiveState:
        """Return the progress that the training wrote last."""
        row = self._board.state.read()[0]
        updated = float(row["updated"])
        return LiveState(
            int(row["steps"]),
            int(row["episodes"]),
            float(row["elapsed_s"]),
            float(row["fraction_done"]),
            float(row["steps_per_second"]),
            bool(row["paused"]),
            int(row["answers"]),
            bytes(row["message"]).decode(errors="ignore"),
            max(time.time() - updated, 0.0) if updated else None,
            bytes(row["doing"]).decode(errors="ignore"),
        )

    def records(self) -> NDArray[Any]:
        """Return the latest step record of each environment, (num_envs,)."""
        return self._board.records.read()

    def standings(self) -> list[LiveStanding]:
        """Return the progress of each environment's running episode; written about once a second."""
        return [LiveStanding.from_bytes(bytes(one)) for one in self._board.standings.read()]

    def screens(self) -> NDArray[np.uint8] | None:
        """Return the latest screens, (num_envs, ...): RGB, or rows of bytes with two pixels of 4 bits each.

        None where there is nothing to see.
        """
        screens = self._board.screens
        return None if screens is None else screens.read()

    def pause(self, paused: bool) -> None:
        """Ask the training to pause after its current step, or to resume."""
        self._board.requests.set(pause=int(paused))

    def stop(self) -> None:
        """Ask the training to save and end."""
        self._board.requests.set(stop=1)

    def save_checkpoint(self) -> None:
        """Ask for a checkpoint. The state's message will give its name."""
        self._board.requests.set(saves=self._asked("saves") + 1)

    def save_start(self, environment: int) -> None:
        """Ask to keep an environment's state as a start state. The state's message will say where it is."""
        self._board.requests.set(start_environment=environment, starts=self._asked("starts") + 1)

    def _asked(self, name: str) -> int:
        return int(self._board.requests.read()[0][name])


if sys.platform != "win32":
    _read_at, _write_at = os.pread, os.pwrite
else:
    _moving = threading.Lock()

    def _read_at(descriptor: int, count: int, offset: int) -> bytes:
        with _moving:
            os.lseek(descriptor, offset, os.SEEK_SET)
            return os.read(descriptor, count)

    def _write_at(descriptor: int, data: Buffer, offset: int) -> int:
        with _moving:
            os.lseek(descriptor, offset, os.SEEK_SET)
            return os.write(descriptor, data)


def process_began(process_id: int) -> float:
    """Return when a process began, in seconds since the machine did, where the system tells that.

    The clock's time, which is given elsewhere, moves with the clock where that is set.

    Raises:
        OSError, psutil.Error: there is no such process.
    """
    if sys.platform == "linux":
        fields = Path(f"/proc/{process_id}/stat").read_bytes().rpartition(b")")[2].split()
        return int(fields[19]) / os.sysconf("SC_CLK_TCK")
    import psutil  # noqa: PLC0415 - only who watches needs it

    return float(psutil.Process(process_id).create_time())


def is_running(process_id: int, began: float) -> bool:
    """Return whether a process exists and is still the one that began then: numbers are reused later."""
    import psutil  # noqa: PLC0415

    try:
        is_it = abs(process_began(process_id) - began) < 1.0
        return is_it and bool(psutil.Process(process_id).status() != psutil.STATUS_ZOMBIE)
    except (OSError, psutil.Error):
        return process_id == os.getpid()
