"""Learning in a separate process, so that it does not compete with the trainer's thread.

Python runs one thread of a process at a time. An update has some hundred short parts, and waits for its turn between
any two of them, so during a training it takes up to twice as long as alone.

Learning begins in the calling thread, and moves to a process once it has taken as long as a process takes to start. The
result is the same in both places. A process that is killed or stopped loses nothing: its inputs since its last reported
state are kept, and learned again in the thread.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import pickle
import time
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Protocol, TypeVar

import psutil
import torch
from torch import Tensor, nn

from pkmncli.channel import LOOK_SECONDS, Channel, Connection
from pkmncli.child_processes import begin_child, main_module_left_out, portable, signals_held
from pkmncli.diagnostics import say
from pkmncli.errors import TrainingError

logger = logging.getLogger(__name__)

MOVES_AFTER_SECONDS = 4.0
"""Seconds of learning before a process is started: about the cost of a start."""

MOVES_AT_ONCE_FROM = 2_000
"""Minimum expected updates for which a process is started before the first one: they take several times as long."""

SECONDS_TO_ANSWER = 60.0
"""Seconds after which the log reports the waiting, or the process is given up if it was idle in that time."""

KEPT_BYTES = 64 * 2**20
KEPT_UPDATES = 500
"""Maximum inputs kept to be learned again. Beyond either limit the process is asked for its state."""

MOST_MOVES = 3
"""Maximum processes started for a learning, if they are lost."""

_IDLE_SECONDS = 0.05
"""Processor seconds between two warnings up to which a process counts as idle."""

_READY, _RESULT, _ERROR = "ready", "result", "error"
_SECONDS_TO_END = 5.0


class Learning(Protocol):
    """Learning step of a learner. All its inputs and results can be pickled."""

    @property
    def network(self) -> nn.Module:
        """Return the network whose weights act."""

    def learn(self, sampled: Any) -> Any:
        """Make one update, or several."""

    def state_dict(self) -> dict[str, Any]:
        """Return the whole state."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""


LearningT = TypeVar("LearningT", bound=Learning)


class LearningApart(Generic[LearningT]):
    """Wrapper of a :class:`Learning` that may move to a separate process.

    The weights of each update are copied to one of two places, in turn. So the weights of one update can be taken
    during the next one, whatever its progress.

    Args:
        build: builds the learning, the same each time; also in the process, so it must be picklable to move.
    """

    def __init__(self, build: Callable[[], LearningT]) -> None:
        self.here = build()
        """Learning in this process; outdated after a move."""
        self.learned = 0
        """Number of updates since it was built or loaded."""
        self._build = build
        self._seconds = 0.0
        self._aside = [flat_weights(self.here.network) for _ in range(2)]
        self.can_move = self.moved = False
        self._moves = 0
        self.process: LearningProcess | None = None
        self._told = b""
        """Last reported state of the process, pickled."""
        self._given: list[bytes] = []
        """Inputs of the process since then, each pickled."""
        self._given_bytes = 0

    def may_move(self, updates: float = 0) -> None:
        """Allow the move to a process. Call this before it learns.

        Args:
            updates: minimum expected updates; from :data:`MOVES_AT_ONCE_FROM` on the process is started at once.
        """
        try:
            for weights in self._aside:
                weights.share_memory_()  # type: ignore[no-untyped-call]
        except (OSError, RuntimeError) as error:  # there is no shared memory
            logger.warning("learning stays in the trainer's process: %s", error)
            return
        self.can_move = True
        if updates >= MOVES_AT_ONCE_FROM:
            self._start()

    def learn(self, sampled: Any) -> Any:
        """Learn. Return the learning's result, or raise its error.

        Raises:
            TrainingError: it was closed.
        """
        if self.process is not None and not self.moved:
            self._move(self.process)
        result = self._learn_here(sampled) if self.process is None or not self.moved else self._learn_apart(sampled)
        self.learned += 1
        return result

    def _learn_here(self, sampled: Any) -> Any:
        began = time.perf_counter()
        torch.get_num_threads()  # sets it in a new thread, which has the system's number until then: sums would differ
        result = self.here.learn(sampled)
        flat_weights(self.here.network, self._aside[self.learned % len(self._aside)])
        self._seconds += time.perf_counter() - began
        if self.can_move and self.process is None and self._seconds > MOVES_AFTER_SECONDS:
            self._start()
        return result

    def _learn_apart(self, sampled: Any) -> Any:
        assert self.process is not None
        given = pickle.dumps(sampled, pickle.HIGHEST_PROTOCOL)
        try:
            result = self.process.call("learn", given, self.learned % len(self._aside))
        except LearningLostError as loss:
            self._come_back(loss)
            return self._learn_here(sampled)
        self._given.append(given)
        self._given_bytes += len(given)
        if self._given_bytes > KEPT_BYTES or len(self._given) > KEPT_UPDATES:
            with contextlib.suppress(LearningLostError):  # the next update will get the error, too
                self._tell_state(self.process)
        return result

    def _tell_state(self, process: LearningProcess) -> Any:
        """Ask the process for its state, keep it and return it."""
        state = process.call("state_dict")
        self._keep(state)
        return state

    def _keep(self, state: Any) -> None:
        self._told, self._given, self._given_bytes = pickle.dumps(state, pickle.HIGHEST_PROTOCOL), [], 0

    def _come_back(self, loss: LearningLostError) -> None:
        """Continue in this process, exactly where the lost process was.

        Raises:
            TrainingError: the process was ended on purpose.
        """
        assert self.process is not None
        if not self.process.end.alive:
            raise TrainingError(f"The process that learns {loss}: resume from the last checkpoint with --resume.")
        text = f"the process that learns {loss}: what it learned is learned again here, and nothing is lost"
        logger.warning(text)
        say(text)
        self.process.end()
        self.process, self.moved, self._seconds = None, False, 0.0
        self.here.load_state_dict(pickle.loads(self._told))
        for given in self._given:
            self.here.learn(pickle.loads(given))
        self._told, self._given = b"", []

    def copy_weights_to(self, acting: Tensor, update: int) -> None:
        """Copy the weights of an update, by its number from 0, to those of an acting network, (weights,).

        It must be the latest ended update, or the one before; -1 is the initial state. Another one may be running.
        """
        acting.copy_(self._aside[update % len(self._aside)])

    def state_dict(self) -> dict[str, Any]:
        """Return the learning's state. Do not call it while it learns.

        Raises:
            TrainingError: it was closed.
        """
        if self.process is not None and self.moved:
            try:
                state: dict[str, Any] = self._tell_state(self.process)
            except LearningLostError as loss:
                self._come_back(loss)
            else:
                return state
        return self.here.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`, in this process. Raise CheckpointError if it is of another network."""
        if self.moved:
            self.close()
            self.process, self.moved = None, False
        self.here.load_state_dict(state)
        self.learned = 0
        for weights in self._aside:
            flat_weights(self.here.network, weights)

    def trial(self) -> LearningT:
        """Return a copy for trials."""
        copied = self._build()
        copied.load_state_dict(self.here.state_dict())
        return copied

    def close(self) -> None:
        """End the process, if there is one, and discard what it learned."""
        if self.process is not None:
            self.process.end()

    def _start(self) -> None:
        """Start the process, again if it is lost, up to the limit."""
        self._moves += 1
        self.can_move = self._moves < MOST_MOVES
        self.process = LearningProcess.start(self._build, self._aside)

    def _move(self, process: LearningProcess) -> None:
        """Move to the process if it has started by now; never move if that failed."""
        try:
            if process.ready():
                state = self.here.state_dict()
                process.call("load_state_dict", state)
                self._keep(state)
                self.moved = True
        except Exception as error:  # after any error, everything that was learned is still here
            logger.warning("learning stays in the trainer's process: %s", error)
            process.end()
            self.process = None


class LearningLostError(Exception):
    """Process that has ended, or is stuck. Its text continues "The process that learns"."""


class _NotStartedError(Exception):
    """Process that could not build the learning, or ended before it was ready."""


class LearningProcess:
    """Learning process, and the parent's end of the pipe to it."""

    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self.process = process
        self.connection = connection
        self._watch = _Watch(process)
        self._channel = Channel(connection, self._watch.look)
        self.end = weakref.finalize(self, _end, process, connection)

    @classmethod
    def start(cls, build: Callable[[], Learning], aside: Sequence[Tensor]) -> LearningProcess | None:
        """Start it without waiting; None if it cannot be started, or its parts cannot be sent to it.

        Args:
            build: builds the learning.
            aside: shared memory for the weights of each update, used in turn.
        """
        context = torch.multiprocessing.get_context("spawn")
        with contextlib.ExitStack() as unless_started:
            try:
                connection, theirs = map(unless_started.enter_context, context.Pipe())
                arguments = (theirs, build, aside, torch.get_num_threads())
                process = context.Process(target=_run, args=arguments, name="pkmn-learning", daemon=True)
                with signals_held(), main_module_left_out():
                    process.start()
            # No memory; an encoder of the main script, or made in a function; a process that may start none.
            except (OSError, pickle.PicklingError, AttributeError, TypeError, AssertionError) as error:
                logger.warning("learning stays in the trainer's process: %s", error)
                return None
            unless_started.pop_all()
        theirs.close()
        atexit.register(process.kill)  # multiprocessing would send a SIGTERM, which the process ignores
        return cls(process, connection)

    def ready(self) -> bool:
        """Return whether it has started. After True, do not call it again. Raise _NotStartedError if it failed."""
        try:
            if not self.connection.poll():
                return False
            told: str = pickle.loads(self._channel.receive())
            if told != _READY:
                raise _NotStartedError(told)
            return True
        except (EOFError, OSError):
            raise _NotStartedError(self._end_of_it()) from None

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method of the process. Raise its error, with the place of the error as a note.

        An interruption ends the process: its later answer could be taken for another call's.

        Raises:
            LearningLostError: it has ended, or was idle for a minute.
        """
        try:
            self._watch.begin()
            self._channel.send(pickle.dumps((name, arguments), pickle.HIGHEST_PROTOCOL))
            kind, value, where = pickle.loads(self._channel.receive())
        except (EOFError, OSError):
            raise LearningLostError(self._end_of_it()) from None
        except LearningLostError:
            raise
        except BaseException:
            self.end()
            raise
        if kind == _ERROR:
            value.add_note(where)
            raise value
        return value

    def _end_of_it(self) -> str:
        self.process.join(_SECONDS_TO_END)
        return f"ended with exit code {self.process.exitcode}"


class _Watch:
    """Watch that distinguishes a stuck process from a slow one, such as an update of long rollouts."""

    def __init__(self, process: BaseProcess) -> None:
        self.process = process
        self.begin()

    def begin(self) -> None:
        """Begin a call."""
        self._looks = 0
        self._used: float | None = None

    def look(self) -> None:
        """Give the process up if it was idle for a minute. Count looks, not time: all may be paused by Ctrl-Z."""
        if self._used is None:
            self._used = self._seconds_used()
        self._looks += 1
        if self._looks * LOOK_SECONDS < SECONDS_TO_ANSWER:
            return
        before, self._looks, self._used = self._used, 0, self._seconds_used()
        if self._used - before < _IDLE_SECONDS:
            self.process.kill()
            raise LearningLostError(f"stood still for {SECONDS_TO_ANSWER:.0f} s")
        logger.warning("the process that learns has not answered for %.0f s", SECONDS_TO_ANSWER)

    def _seconds_used(self) -> float:
        """Return its processor time in seconds."""
        try:
            times = psutil.Process(self.process.pid).cpu_times()
        except psutil.Error:  # it is gone, as the pipe will show
            return 0.0
        return float(times.user + times.system)


def _end(process: BaseProcess, connection: Connection) -> None:
    process.kill()  # it has nothing that is not elsewhere
    process.join()
    connection.close()  # only now, since another thread may be waiting for an answer
    atexit.unregister(process.kill)


def _run(connection: Connection, build: Callable[[], Learning], aside: Sequence[Tensor], threads: int) -> None:
    """Run the process: answer calls until the parent is gone."""
    begin_child()
    torch.set_num_threads(threads)
    try:
        learning = build()
    except Exception as error:
        connection.send(f"{type(error).__name__}: {error}")
        return

    def learn(given: bytes, place: int) -> Any:
        result = learning.learn(pickle.loads(given))
        flat_weights(learning.network, aside[place])
        return result

    methods: dict[str, Callable[..., Any]] = {
        "learn": learn,
        "state_dict": learning.state_dict,
        "load_state_dict": learning.load_state_dict,
    }
    channel = Channel(connection)
    with contextlib.suppress(EOFError, OSError):
        connection.send(_READY)
        while True:
            name, arguments = pickle.loads(channel.receive())
            answer: tuple[str, Any, str]
            try:
                answer = (_RESULT, methods[name](*arguments), "")
            except Exception as error:
                answer = (_ERROR, portable(error), traceback.format_exc())
            channel.send(pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))


@torch.no_grad()
def flat_weights(network: nn.Module, out: Tensor | None = None) -> Tensor:
    """Return all weights of a network in sequence: (weights,) float32."""
    return torch.cat([weights.detach().reshape(-1) for weights in network.parameters()], out=out)
