"""One worker process and the parent's end of the pipe to it."""

from __future__ import annotations

import atexit
import contextlib
import pickle
from multiprocessing import get_context
from typing import TYPE_CHECKING

from pkmncli.channel import LOOK_SECONDS, Channel
from pkmncli.child_processes import main_module_left_out, signals_held
from pkmncli.errors import PkmnError
from pkmncli.training.workers.process import CRASH, QUIT, USER_ERROR, run_worker
from pkmncli.training.workers.spec import WorkerSpec

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

SECONDS_TO_QUIT = 5.0
SECONDS_TO_MOVE = 60.0
"""How long nothing of a message may move that is under way to or from a worker."""


class WorkerLostError(Exception):
    """A worker died or stopped answering. ``details`` is its own traceback, where it could send one."""

    def __init__(self, index: int, details: str) -> None:
        self.index = index
        self.details = details.strip() or "it said nothing"
        self.reason = self.details.splitlines()[-1]
        super().__init__(f"worker {index} was lost: {self.reason}")
        if self.details != self.reason:
            self.add_note(self.details)


class WorkerLink:
    """One worker process and the channel to it."""

    def __init__(self, index: int, spec: WorkerSpec) -> None:
        context = get_context("spawn")
        self.index = index
        connection, theirs = context.Pipe()
        self.channel = Channel(connection, self._look)
        self._looks = 0
        self.process: BaseProcess = context.Process(
            target=run_worker, args=(theirs, index, spec), name=f"pkmn-worker-{index}", daemon=True
        )
        try:
            with signals_held(), main_module_left_out():
                self.process.start()
        except BaseException:
            connection.close()
            theirs.close()
            raise
        atexit.register(self.process.kill)  # multiprocessing itself would send a SIGTERM, which workers ignore
        theirs.close()

    def receive(self, timeout_s: float) -> bytes:
        """The next message. Raises WorkerLostError, or the user's error that stopped the worker."""
        try:
            self._looks = 0
            if not self.channel.wait(timeout_s):
                raise WorkerLostError(self.index, f"no answer for {timeout_s:.0f} s")
            message = self.channel.receive()
        except (EOFError, OSError):
            raise self._gone() from None
        if message[:1] == USER_ERROR:
            error: PkmnError = pickle.loads(message[1:])
            raise error
        if message[:1] == CRASH:
            raise WorkerLostError(self.index, message[1:].decode())
        return message

    def send(self, message: bytes) -> None:
        """Sends a message. Raises as :meth:`receive` does."""
        try:
            self._looks = 0
            self.channel.send(message)
        except OSError:
            # its last words may still be in the pipe; they say more than that it is gone
            self.receive(0)
            raise self._gone() from None

    def _look(self) -> None:
        self._looks += 1
        if self._looks * LOOK_SECONDS >= SECONDS_TO_MOVE:
            raise WorkerLostError(self.index, f"it stood still for {SECONDS_TO_MOVE:.0f} s in the midst of a message")

    def _gone(self) -> WorkerLostError:
        self.process.join(SECONDS_TO_QUIT)
        return WorkerLostError(self.index, f"its process ended with exit code {self.process.exitcode}")

    def ask_to_quit(self) -> None:
        """Tells the worker to end by itself, and does not wait for it."""
        with contextlib.suppress(OSError, WorkerLostError):  # it may be gone already
            self.channel.send(QUIT)

    def end(self, patience_s: float) -> None:
        """Waits a little for the worker to end by itself, then ends it."""
        self.process.join(patience_s)
        self.kill()

    def kill(self) -> None:
        """Ends the worker at once, even one that is stopped."""
        self.process.kill()
        self.process.join()
        atexit.unregister(self.process.kill)
        self.channel.close()
