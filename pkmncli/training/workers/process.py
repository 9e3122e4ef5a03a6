"""A worker process, and both ends of the pipe to it.

The worker has one environment or some, their pilots, and no Python thread beside the emulators. The parent sends a
message, the worker answers. A step of all its environments is a message of a few bytes, and so are several steps that
their pilots decide; everything else is a call by name.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import random
import struct
import sys
import traceback
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import PILOT_ACTS, FlatActions, Source
from pkmncli.channel import LOOK_SECONDS, Channel, Ends
from pkmncli.child_processes import begin_child, portable, start_forked
from pkmncli.declared import (
    action_names_of,
    frames_per_second_of,
    phase_roles_of,
    reward_names_of,
    situations_of,
    skills_of,
)
from pkmncli.diagnostics import one_line
from pkmncli.errors import ConfigurationError, PkmnError
from pkmncli.outgoing_text import guard_output, redact
from pkmncli.seeds import Purpose, derive_seed
from pkmncli.training.workers.flat_environment import flattened
from pkmncli.training.workers.frame_stack import stacked
from pkmncli.training.workers.shared_memory import NO_SLOT, FieldLayout, SharedBlock
from pkmncli.training.workers.spec import WorkerSpec
from pkmncli.training.workers.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pkmncli.training.workers.spec import StepNews

STEP = b"s"
PLAY = b"p"
CALL = b"c"
ATTACH = b"a"
QUIT = b"q"
DONE = b"."
RESULT = b"r"
USER_ERROR = b"u"
CRASH = b"e"

STEP_ENTRY = struct.Struct("<iBBf")
"""Part of a step's message for one environment: action or PILOT_ACTS, slot to write the next observation to, a Source,
a confidence. It follows the opcode once for each environment of the worker."""

PLAY_ENTRY = struct.Struct("<HH")
"""Rest of the message to let all pilots of the worker play: first row of the records, number of steps."""

_KILLED = frozenset([-9, -15, 255])
"""Exit codes of a worker that was killed (SIGKILL, SIGTERM), or whose fork server was, which would know."""
SECONDS_TO_QUIT = 5.0
SECONDS_TO_MOVE = 60.0
"""Maximum time in which no part of a message to or from a worker moves."""


class WorkerLostError(Exception):
    """A worker died or stopped answering. ``details`` is its own traceback, where it could send one.

    ``reason`` is one line: by default the last one of the details.
    """

    def __init__(self, index: int, details: str, reason: str = "") -> None:
        self.index = index
        self.details = details.strip() or "it said nothing"
        self.reason = reason or self.details.splitlines()[-1]
        super().__init__(f"worker {index} was lost: {self.reason}")
        if self.details != self.reason:
            self.add_note(self.details)


class WorkerLink:
    """A worker process and the channel to it."""

    def __init__(self, index: int, spec: WorkerSpec) -> None:
        self.index = index
        ends, theirs = Ends.pair()
        self.channel = Channel(ends, self._look)
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
            ends.close()
            theirs.close()
            raise
        atexit.register(self.process.kill)  # multiprocessing itself would send a SIGTERM, which workers ignore
        theirs.close()

    @property
    def process_id(self) -> int | None:
        """Process id of the worker."""
        return self.process.pid

    @property
    def was_killed(self) -> bool:
        """True if the process has been killed from outside."""
        return self.process.exitcode in _KILLED

    @staticmethod
    def ready(links: Sequence[WorkerLink], timeout_s: float) -> list[WorkerLink]:
        """Wait until one of the workers has answered or has ended. Return those; none after the timeout."""
        readers: dict[Any, WorkerLink] = {link.channel.ends.reader: link for link in links}
        return [readers[one] for one in wait(list(readers), timeout_s)]

    def attach(self, block: SharedBlock, timeout_s: float) -> None:
        """Give the worker, which has started, the shared memory."""
        assert self.process.pid is not None
        self.send(ATTACH + pickle.dumps((block.layout, block.dimensions)))
        self.receive(timeout_s)
        block.send(self.channel, self.process.pid)
        self.receive(timeout_s)
        self.channel.ends.connection.close()  # no other handle is sent, and a system allows few open files

    def receive(self, timeout_s: float) -> bytes:
        """Return the next message. Raises WorkerLostError, or the user's error that stopped the worker."""
        try:
            self._looks = 0
            if not self.channel.wait(timeout_s):
                raise WorkerLostError(self.index, f"no answer for {timeout_s:.0f} s")
            message = self.channel.receive()
        except (EOFError, OSError):
            raise self._gone() from None
        return checked(self.index, message)

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


def checked(index: int, message: bytes) -> bytes:
    """Return a worker's message, unless it is its last words.

    Raises:
        PkmnError: the user's error that stopped the worker.
        WorkerLostError: it has failed.
    """
    if message[:1] == USER_ERROR:
        error: PkmnError = pickle.loads(message[1:])
        raise error
    if message[:1] == CRASH:
        reason, _, details = message[1:].decode().partition("\n")
        raise WorkerLostError(index, details, reason)
    return message


def run_worker(ends: Ends, index: int, spec: WorkerSpec, variables: Mapping[str, str]) -> None:
    """Run a worker process: build its environments, then answer until told to quit.

    It ends by itself when the parent is gone, however that ended.

    Args:
        ends: of the pipes to the parent.
        index: the worker's number.
        spec: how to build the environments.
        variables: the parent's environment variables; a fork server has those that it started with.
    """
    os.environ.clear()
    os.environ.update(variables)
    begin_child()
    guard_output()
    workers: list[Worker] = []
    try:
        description = build(index, spec, workers)
        channel = Channel(ends)
        channel.send(RESULT + pickle.dumps(description))
        _answer(channel, workers)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    except BaseException as error:  # a library's own way to leave is none here
        _last_words(ends, last_words(error))
    finally:
        for worker in workers:
            worker.environment.close()
        if sys.stdout is not None:
            sys.stdout.flush()


def build(index: int, spec: WorkerSpec, workers: list[Worker]) -> dict[str, Any]:
    """Build the environments of a worker process, and their pilots. Return the description of an environment.

    Args:
        index: the worker's number.
        spec: how to build the environments.
        workers: what is built is added to it, also if a later one fails.
    """
    # for environments of third parties with the generators of the process: all forks would sample the same
    seed = derive_seed(spec.seed, spec.purpose, spec.groups[index].start)
    np.random.seed(seed)
    random.seed(seed)
    for number in spec.groups[index]:
        environment = spec.environment_of(number).build()
        with contextlib.ExitStack() as unless_built:
            unless_built.callback(environment.close)
            if spec.purpose is not Purpose.TRAINING and hasattr(environment, "for_evaluation"):
                environment.for_evaluation()
            pilot = None if spec.pilot is None else spec.pilot.build(environment)
            workers.append(Worker(number, spec, stacked(flattened(environment), spec.stack), pilot))
            unless_built.pop_all()
    environment = workers[0].environment  # all are alike, as are the pilots, of which this is the last
    flat = FlatActions.of(environment.action_space)
    if flat.dimensions and pilot is not None and spec.pilot_shows:
        raise ConfigurationError(
            f"only a learner can choose the continuous actions {environment.action_space}: leave out --llm and "
            "--pilot, or use --mode rl-only"
        )
    return {
        "observation_space": environment.observation_space,
        "action_space": environment.action_space,
        "phase_names": list(environment.phase_names),
        "phase_roles": phase_roles_of(environment),
        "situations": situations_of(environment),
        "action_names": action_names_of(environment, flat.count),
        "frames_per_second": frames_per_second_of(environment),
        "skills": skills_of(pilot),
        "milestone_names": list(environment.milestone_names),
        "goal": getattr(environment, "goal_name", None),
        "names": dict(environment.names),
        "max_steps_per_episode": spec.step_limit or environment.max_steps_per_episode,
        "reward_names": reward_names_of(environment),
        "metric_names": [str(name) for name in getattr(environment, "metric_names", ())],
        "identity": dict(getattr(environment, "identity", {})),
    }


def last_words(error: BaseException) -> bytes:
    """Return the message of an error that ends a worker."""
    if isinstance(error, PkmnError):
        return USER_ERROR + pickle.dumps(portable(error))
    details = "".join(traceback.format_exception(error))
    return CRASH + redact(f"{one_line(error)}\n{details}").encode(errors="backslashreplace")


def _last_words(ends: Ends, message: bytes) -> None:
    with contextlib.suppress(OSError):  # nobody may be left to hear it
        ends.writer.send_bytes(message)


def _answer(channel: Channel, workers: Sequence[Worker]) -> None:
    while (message := channel.receive())[:1] != QUIT:
        if message[:1] == ATTACH:
            layout: tuple[FieldLayout, ...]
            layout, dimensions = pickle.loads(message[1:])
            channel.send(DONE)  # only then the handle comes, which may not be mixed with other messages
            block = SharedBlock.receive(channel.ends.connection, layout, workers[0].spec.num_envs, dimensions)
            for worker in workers:
                worker.attach(block)
            channel.send(DONE)
        else:
            channel.send(answer(message, workers))


def answer(message: bytes, workers: Sequence[Worker]) -> bytes:
    """Carry out a message, a step or a call, in the environments of a worker process. Return the answer."""
    if message[:1] == STEP:
        entries = zip(workers, STEP_ENTRY.iter_unpack(message[1:]), strict=True)
        return _step_answer([(0, worker, worker.step(*entry)) for worker, entry in entries], workers)
    if message[:1] == PLAY:
        row, count = PLAY_ENTRY.unpack(message[1:])
        each = [
            (step, worker, worker.step(PILOT_ACTS, NO_SLOT, Source.RULE, 0.0, row + step))
            for step in range(count)
            for worker in workers
        ]
        for worker in workers:
            worker.make_latest(row + count - 1)
        return _step_answer(each, workers)
    name, calls = pickle.loads(message[1:])
    return RESULT + pickle.dumps([getattr(workers[place], name)(*arguments) for place, arguments in calls])


def _step_answer(each: Iterable[tuple[int, Worker, StepNews | None]], workers: Sequence[Worker]) -> bytes:
    """Return the answer to steps: number of the step, place of the worker, and the news, where there are some."""
    first = workers[0].index
    news = [(step, worker.index - first, one.plain()) for step, worker, one in each if one is not None]
    return DONE + pickle.dumps(news) if news else DONE
