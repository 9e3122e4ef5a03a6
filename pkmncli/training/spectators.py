"""The trainer's side of its live board: shows where it stands while someone looks, and reads what was asked of it.

With nobody there it costs a look at the clock for each step. See :mod:`pkmncli.api.live` for the viewers' side.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from pkmncli.api.live import BOARD_FILE, LIVE_FILE, MESSAGE_BYTES, LiveBoard
from pkmncli.atomic_files import write_errors_explained, write_json

if TYPE_CHECKING:
    from types import TracebackType

    from pkmncli.training.statistics import TrainingStatistics
    from pkmncli.training.workers import WorkerPool

SECONDS_BETWEEN_LOOKS = 0.04
"""How often the board is filled and requests are read, at most: 25 times a second."""

SCREEN = "screen"
"""The part of an observation that people can look at, where an environment draws nothing for them."""


class Request(Enum):
    """What a viewer may ask for, beside a pause."""

    CHECKPOINT = "a checkpoint"
    START = "a start state"


class Spectators:
    """Those who watch a training. While entered, its run folder holds the board.

    Args:
        folder: the run's folder.
        pool: the environments.
    """

    def __init__(self, folder: Path, pool: WorkerPool) -> None:
        self._folder = folder
        self._pool = pool
        self._board: LiveBoard | None = None
        self._next_look = self._next_picture = 0.0
        self._from_observations = False
        self._saves = self._starts = 0

    def __enter__(self) -> Spectators:
        shape = self._picture_shape()
        path = self._folder / BOARD_FILE
        with write_errors_explained(path):
            path.unlink(missing_ok=True)
            # whole and zeroed: a hole in the file could not be filled on a full disk, which kills a process that tries
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(bytes(LiveBoard.size(self._pool.num_envs, shape)))
            self._board = LiveBoard(path, self._pool.num_envs, shape)
        description = {
            "process_id": os.getpid(),
            "process_began": psutil.Process().create_time(),
            "num_envs": self._pool.num_envs,
            "screen_shape": shape,
        }
        write_json(self._folder / LIVE_FILE, description, durable=False)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._board = None
        for name in (LIVE_FILE, BOARD_FILE):
            with contextlib.suppress(OSError):  # some systems keep a file that a viewer has mapped
                (self._folder / name).unlink(missing_ok=True)

    @property
    def want_stop(self) -> bool:
        """Whether someone asked for the end of the training."""
        return self._board is not None and bool(self._board.requests["stop"][0])

    @property
    def want_pause(self) -> bool:
        """Whether someone wants the training to stand still."""
        return self._board is not None and bool(self._board.requests["pause"][0])

    @property
    def due(self) -> bool:
        """Whether it is time to look at the board again."""
        return time.monotonic() >= self._next_look

    def show(self, statistics: TrainingStatistics, fraction_done: float, *, paused: bool = False) -> None:
        """Fills the board, if someone looks at it."""
        self._next_look = time.monotonic() + SECONDS_BETWEEN_LOOKS
        board = self._board
        if board is None or float(board.requests["watched_until"][0]) < time.time():
            return
        board.records[:] = self._pool.records()
        self._show_pictures(board)
        state = board.state
        state["steps"] = statistics.steps
        state["episodes"] = statistics.episodes
        state["elapsed_s"] = statistics.elapsed_s
        state["fraction_done"] = fraction_done
        state["paused"] = paused
        state["updated"] = time.time()

    def _picture_shape(self) -> tuple[int, ...] | None:
        """Of one environment's picture: what it draws for people, or else the screen that it observes."""
        for picture in self._pool.views()[:1]:
            if picture is not None:
                return picture.shape
        self._from_observations = True
        space = self._pool.observation_space.spaces.get(SCREEN)
        return None if space is None or space.shape is None else tuple(space.shape)

    def _show_pictures(self, board: LiveBoard) -> None:
        interval, now = float(board.requests["picture_interval_s"][0]), time.monotonic()
        if board.screens is None or not interval or now < self._next_picture:
            return
        self._next_picture = now + interval
        if self._from_observations:
            board.screens[:] = self._pool.observations()[SCREEN]
            return
        for place, picture in enumerate(self._pool.views()):
            if picture is not None:
                board.screens[place] = picture

    def requests(self) -> list[tuple[Request, int]]:
        """What was asked for since the last call, and of which environment."""
        board = self._board
        if board is None:
            return []
        found = []
        asked = board.requests[0]
        if int(asked["saves"]) != self._saves:
            self._saves = int(asked["saves"])
            found.append((Request.CHECKPOINT, 0))
        if int(asked["starts"]) != self._starts:
            self._starts = int(asked["starts"])
            found.append((Request.START, min(int(asked["start_environment"]), self._pool.num_envs - 1)))
        return found

    def answer(self, text: str) -> None:
        """Tells those who look what became of a request."""
        if self._board is not None:
            self._board.state["message"] = text.encode()[:MESSAGE_BYTES]
            self._board.state["answers"] += 1


def wait_while(condition: Callable[[], Any], tick: Callable[[], None]) -> float:
    """Waits as long as ``condition`` holds, calling ``tick`` each time it looks. Returns the seconds that took."""
    began = time.perf_counter()
    while condition():
        tick()
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return time.perf_counter() - began
