"""A worker process, and both ends of the pipe to it.

The worker has one environment and its pilot, and no Python thread beside the emulator. The parent sends a message, the
worker answers. A step is a message of a few bytes; everything else is a call by name.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import struct
import sys
import traceback
from multiprocessing import Pipe
from typing import TYPE_CHECKING

import numpy as np

from pkmncli.channel import LOOK_SECONDS, Channel
from pkmncli.child_processes import begin_child, portable, start_forked
from pkmncli.declared import (
    action_names_of,
    frames_per_second_of,
    phase_roles_of,
    reward_names_of,
    situations_of,
    skills_of,
)
from pkmncli.errors import PkmnError
from pkmncli.outgoing_text import guard_output, redact
from pkmncli.training.workers.shared_memory import FieldLayout, SharedBlock
from pkmncli.training.workers.spec import WorkerSpec
from pkmncli.training.workers.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping
    from multiprocessing.connection import Connection

    from pkmncli.api import Environment

STEP = b"s"
CALL = b"c"
ATTACH = b"a"
QUIT = b"q"
DONE = b"."
RESULT = b"r"
USER_ERROR = b"u"
CRASH = b"e"

STEP_MESSAGE = struct.Struct("<cbBBf")
"""Opcode, action or PILOT_ACTS, slot to write the next observation to, a Source, a confidence."""

SECONDS_TO_QUIT = 5.0
SECONDS_TO_MOVE = 60.0
"""Maximum time in which no part of a message to or from a worker moves."""


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
    """A worker process and the channel to it."""

    def __init__(self, index: int, spec: WorkerSpec) -> None:
        self.index = index
        connection, theirs = Pipe()
        self.channel = Channel(connection, self._look)
        self._looks = 0
        parts = [part for part in (spec.environment, spec.pilot) if part is not None]
        try:
            self.process = start_forked(
                run_worker,
                (theirs, index, spec, dict(os.environ)),
                name=f"pkmn-worker-{index}",
                preload=[__name__, *(part.target.partition(":")[0] for part in parts)],
            )
        except BaseException:
            connection.close()
            theirs.close()
            raise
        atexit.register(self.process.kill)  # multiprocessing itself would send a SIGTERM, which workers ignore
        theirs.close()

    def receive(self, timeout_s: float) -> bytes:
        """Return the next message. Raises WorkerLostError, or the user's error that stopped the worker."""
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
        """Send a message. Raises as :meth:`receive` does."""
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
        """Tell the worker to end by itself, and do not wait for it."""
        with contextlib.suppress(OSError, WorkerLostError):  # it may be gone already
            self.channel.send(QUIT)

    def end(self, patience_s: float) -> None:
        """Wait so many seconds for the worker to end by itself, then end it."""
        self.process.join(patience_s)
        self.kill()

    def kill(self) -> None:
        """End the worker at once, even one that is stopped."""
        self.process.kill()
        self.process.join()
        atexit.unregister(self.process.kill)
        self.channel.close()


def run_worker(connection: Connection, index: int, spec: WorkerSpec, variables: Mapping[str, str]) -> None:
    """Run a worker process: build the environment, then answer until told to quit.

    It ends by itself when the parent is gone, however that ended.

    Args:
        connection: the pipe to the parent.
        index: the environment's number.
        spec: how to build it.
        variables: the parent's environment variables; a fork server has those that it started with.
    """
    os.environ.clear()
    os.environ.update(variables)
    begin_child()
    guard_output()
    np.random.seed()  # for environments of third parties: all forks would draw the same numbers
    environment: Environment | None = None
    try:
        environment = spec.environment_of(index).build()
        pilot = None if spec.pilot is None else spec.pilot.build(environment)
        worker = Worker(index, spec, environment, pilot)
        description = {
            "observation_space": environment.observation_space,
            "action_space": environment.action_space,
            "phase_names": list(environment.phase_names),
            "phase_roles": phase_roles_of(environment),
            "situations": situations_of(environment),
            "action_names": action_names_of(environment, int(environment.action_space.n)),
            "frames_per_second": frames_per_second_of(environment),
            "skills": skills_of(pilot),
            "milestone_names": list(environment.milestone_names),
            "goal": getattr(environment, "goal_name", None),
            "names": dict(environment.names),
            "max_steps_per_episode": environment.max_steps_per_episode,
            "reward_names": reward_names_of(environment),
            "identity": dict(getattr(environment, "identity", {})),
        }
        channel = Channel(connection)
        channel.send(RESULT + pickle.dumps(description))
        _answer(channel, worker)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    except PkmnError as error:
        _last_words(connection, USER_ERROR + pickle.dumps(portable(error)))
    except BaseException:  # a library's own way to leave is none here
        _last_words(connection, CRASH + redact(traceback.format_exc()).encode(errors="backslashreplace"))
    finally:
        if environment is not None:
            environment.close()
        if sys.stdout is not None:
            sys.stdout.flush()


def _last_words(connection: Connection, message: bytes) -> None:
    with contextlib.suppress(OSError):  # nobody may be left to hear it
        connection.send_bytes(message)


def _answer(channel: Channel, worker: Worker) -> None:
    while True:
        message = channel.receive()
        opcode = message[:1]
        if opcode == STEP:
            _opcode, action, slot, source, confidence = STEP_MESSAGE.unpack(message)
            news = worker.step(action, slot, source, confidence)
            channel.send(DONE if news is None else DONE + pickle.dumps(news))
        elif opcode == ATTACH:
            layout: tuple[FieldLayout, ...] = pickle.loads(message[1:])
            channel.send(DONE)  # only then the handle comes, which may not be mixed with other messages
            worker.block = SharedBlock.receive(channel.connection, layout, worker.spec.num_envs)
            channel.send(DONE)
        elif opcode == CALL:
            name, arguments = pickle.loads(message[1:])
            channel.send(RESULT + pickle.dumps(getattr(worker, name)(*arguments)))
        else:
            return
