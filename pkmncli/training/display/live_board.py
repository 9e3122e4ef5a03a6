"""The training's side of its live board: shows its progress while viewers look, and carries out their requests.

Without viewers it costs one look at the clock for each step. See :mod:`pkmncli.api.live` for the viewers' side.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api.live import (
    BOARD_FILE,
    LIVE_FILE,
    MESSAGE_BYTES,
    REQUESTS_DTYPE,
    STATE_DTYPE,
    LiveBoard,
    LiveStanding,
    process_began,
)
from pkmncli.atomic_files import write_errors_explained, write_json
from pkmncli.errors import PkmnError
from pkmncli.outgoing_text import redact
from pkmncli.training.display.callbacks import Callback, Training
from pkmncli.training.recording.recorded_episode import keep_state, state_file

if TYPE_CHECKING:
    from types import TracebackType

    from pkmncli.training.command_scene import CommandScene
    from pkmncli.training.workers.pool import WorkerPool

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 0.04
"""Minimum time between two updates of the board: 25 times a second."""

SECONDS_BETWEEN_STANDINGS = 1.0
"""Minimum time between two updates of the episodes' progress: every worker is asked for it."""

MOST_FAULTS = 8
"""Maximum number of distinct picture errors to log."""

SCREEN = "screen"
"""Part of an observation that is shown where an environment draws no picture for people."""


class LiveBoardServer(Callback):
    """Serves viewers in other processes. While entered, the run folder holds the board.

    Args:
        folder: the run's folder.
        pool: the environments, or what a run without any shows.
    """

    def __init__(self, folder: Path, pool: WorkerPool | CommandScene) -> None:
        self._folder = folder
        self._pool = pool
        self._board: LiveBoard | None = None
        self._training: Training | None = None
        self._state = np.zeros(1, STATE_DTYPE)
        self._requests: Any = np.zeros(1, REQUESTS_DTYPE)[0]
        self._next_read = 0.0
        self._next_look = self._next_picture = self._next_standing = 0.0
        self._from_observations = False
        self._saves = self._starts = 0
        self._faults: set[str] = set()
        """Picture errors that were logged already."""

    def __enter__(self) -> LiveBoardServer:
        shape = self._picture_shape()
        path = self._folder / BOARD_FILE
        with write_errors_explained(path):
            path.unlink(missing_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(bytes(LiveBoard.size(self._pool.num_envs, shape)))
            self._board = LiveBoard(path, self._pool.num_envs, shape)
        description = {
            "process_id": os.getpid(),
            "process_began": process_began(os.getpid()),
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

    def on_start(self, training: Training) -> None:
        """Keep the training, whose progress :meth:`on_activity` shows."""
        self._training = training

    def on_activity(self, doing: str) -> None:
        """Show what the training does instead of steps, and all the rest as of its latest step."""
        training, state = self._training, self._state
        if training is None or self._board is None:
            return
        if state["doing"][0] and state["steps"][0] == training.statistics.steps:  # only this has changed
            state["doing"] = doing.encode()
            self._board.state.write(state)
        else:
            self._next_standing = 0.0
            self._show(training, paused=False, doing=doing)

    def on_new_folder(self) -> None:
        """Put the board into the folder that was made again."""
        if self._board is not None:
            self.__enter__()

    @property
    def want_stop(self) -> bool:
        """True if a viewer asked for the end of the training."""
        return bool(self._asked()["stop"])

    @property
    def follows_each_step(self) -> bool:  # type: ignore[override]
        """True while a viewer looks."""
        return bool(self._asked()["watched_until"] >= time.time())

    @property
    def _want_pause(self) -> bool:
        return bool(self._asked()["pause"])

    def _asked(self, *, now: bool = False) -> Any:
        """Return the requests, at most one update of the board old, or those of this moment."""
        if self._board is not None and (now or time.monotonic() >= self._next_read):
            self._next_read = time.monotonic() + SECONDS_BETWEEN_LOOKS
            self._requests = self._board.requests.read()[0]
        return self._requests

    def before_step(self, training: Training) -> None:
        """Fill the board and carry out requests, when that is due. This changes no decision of the training."""
        if time.monotonic() < self._next_look:
            return
        self._show(training, paused=False)
        self._carry_out_requests(training)
        if not self._want_pause:
            return
        logger.info("a viewer paused the training at step %d", training.statistics.steps)
        began = time.monotonic()
        with training.paused():
            while self._want_pause and not training.interrupted():
                self._show(training, paused=True)
                self._carry_out_requests(training)
                time.sleep(SECONDS_BETWEEN_LOOKS)
        logger.info("the pause ended after %.0f s", time.monotonic() - began)

    def _show(self, training: Training, *, paused: bool, doing: str = "") -> None:
        """Show the training if someone watches, or if this changes what it does: nothing follows for a while then."""
        self._next_look = time.monotonic() + SECONDS_BETWEEN_LOOKS
        board = self._board
        if board is None:
            return
        board.mend()
        requests = self._asked(now=True)
        if float(requests["watched_until"]) < time.time() and doing.encode() == bytes(self._state["doing"][0]):
            return
        board.records.write(self._pool.records())
        self._show_pictures(board, requests)
        self._show_standings(board)
        state, statistics = self._state, training.statistics
        state["steps"] = statistics.steps
        state["episodes"] = statistics.episodes
        state["elapsed_s"] = statistics.elapsed_s
        state["fraction_done"] = training.fraction_done
        state["steps_per_second"] = 0.0 if paused else training.steps_per_second
        state["paused"] = paused
        state["doing"] = doing.encode()
        state["updated"] = time.time()
        board.state.write(state)

    def _picture_shape(self) -> tuple[int, ...] | None:
        """Return the shape of a picture for people, or else of the screen in an observation."""
        picture = self._pool.view(0)
        if isinstance(picture, str):
            self._tell_fault(picture)
        elif picture is not None:
            return picture.shape
        self._from_observations = True
        space = self._pool.observation_space.spaces.get(SCREEN)
        return None if space is None or space.shape is None else tuple(space.shape)

    def _show_pictures(self, board: LiveBoard, requests: Any) -> None:
        interval, now = float(requests["picture_interval_s"]), time.monotonic()
        wanted = float(requests["pictures_until"]) >= time.time()
        if board.screens is None or not wanted or now < self._next_picture:
            return
        self._next_picture = now + interval
        if self._from_observations:
            board.screens.write(self._pool.observations()[SCREEN])
            return
        for fault in self._pool.views_onto(self._folder / BOARD_FILE, board.screens.shape[1:]):
            self._tell_fault(fault)

    def _show_standings(self, board: LiveBoard) -> None:
        now = time.monotonic()
        if now < self._next_standing:
            return
        self._next_standing = now + SECONDS_BETWEEN_STANDINGS
        for index, standing in enumerate(self._pool.standings()):
            reached = standing.reached(self._pool.milestone_names)
            shown = LiveStanding(tuple(reached), standing.progress, standing.steps_since_progress)
            board.standings.write(np.array([shown.to_bytes()]), index)

    def _tell_fault(self, fault: str) -> None:
        if fault and fault not in self._faults and len(self._faults) < MOST_FAULTS:
            self._faults.add(fault)
            logger.warning("viewers get no picture: %s", fault)

    def _carry_out_requests(self, training: Training) -> None:
        if self._board is None:
            return
        asked = self._asked()
        saves, self._saves = self._saves, int(asked["saves"])
        if self._saves not in {0, saves}:  # 0 again where the file was cut off
            self._answer(self._saved(training))
        starts, self._starts = self._starts, int(asked["starts"])
        if self._starts not in {0, starts}:
            self._answer(self._keep_start(min(int(asked["start_environment"]), self._pool.num_envs - 1)))

    @staticmethod
    def _saved(training: Training) -> str:
        """Write a checkpoint. Returns the result in words: an error must not end the training."""
        try:
            later = training.save_checkpoint()
        except (PkmnError, OSError) as error:
            logger.warning("a viewer asked for a checkpoint, which could not be saved: %s", error)
            return f"The checkpoint could not be saved: {redact(str(error))}"
        return later or f"Checkpoint of step {training.statistics.steps:,} saved."

    def _keep_start(self, index: int) -> str:
        """Keep the state of an environment as a start state. Returns the result in words."""
        try:
            state = self._pool.start_state(index)
            if state is None:
                return f"Environment {index} is where no episode can begin, as in a door. Try again a moment later."
            folder = self._folder / "starts"
            path = shlex.quote(str(state_file(folder, keep_state(folder, state)).absolute()))
        except (PkmnError, OSError) as error:
            logger.warning("a viewer asked for a start state, which could not be saved: %s", error)
            return f"The state of environment {index} could not be saved: {redact(str(error))}"
        return f"State of environment {index} saved. Begin there: pkmn train --init-state {path}"

    def _answer(self, text: str) -> None:
        """Show viewers the result of a request."""
        assert self._board is not None
        self._state["message"] = text.encode()[:MESSAGE_BYTES]
        self._state["answers"] += 1
        self._board.state.write(self._state)
