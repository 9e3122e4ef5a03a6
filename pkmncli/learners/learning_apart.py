"""Learning in a process of its own, so that the trainer's thread does not wait for its turns.

Python runs one of a process's threads at a time, and an update consists of some hundred short pieces, between any two
of which it has to wait for its turn: beside a training that plays, it takes twice as long as alone.

It begins in the thread that asks for it, and moves to a process once it has taken as long as that takes to start. What
is learned is the same wherever it happens.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import pickle
import time
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn

from pkmncli.child_processes import ignore_signals, main_module_left_out, signals_held
from pkmncli.errors import TrainingError

logger = logging.getLogger(__name__)

MOVES_AFTER_SECONDS = 4.0
"""Learning time before a process is started: about what starting one costs."""

_READY, _RESULT, _ERROR = "ready", "result", "error"
_SECONDS_TO_END = 5.0


class Learning(Protocol):
    """What learns. All that is handed to it and all that it gives can be pickled."""

    @property
    def network(self) -> nn.Module:
        """Whose weights are to act."""

    def learn(self, drawn: Any) -> Any:
        """One update, or several."""

    def state_dict(self) -> dict[str, Any]:
        """All that decides what comes next."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`."""


LearningT = TypeVar("LearningT", bound=Learning)


class LearningApart(Generic[LearningT]):
    """A :class:`Learning` that moves to a process of its own when that pays.

    What an update has changed is copied aside, by turns to two places. So the weights of one update can be taken while
    the next one is under way, and it doesn't matter how far that is.

    Args:
        build: builds it, the same each time; in the process too, so it must be picklable to move.
        moves: off to stay where it is.
    """

    def __init__(self, build: Callable[[], LearningT], *, moves: bool) -> None:
        self.here = build()
        """The learning as it was before it moved, if it did."""
        self._build = build
        self._moves = self._may_move = moves
        self._seconds = 0.0
        self._learned = 0
        self._untaken: deque[int] = deque()  # places of the updates whose weights were not taken yet
        self._aside = [_flat(self.here.network) for _ in range(2)]
        if moves:
            for weights in self._aside:
                weights.share_memory_()  # type: ignore[no-untyped-call]
        self._process: _LearningProcess | None = None
        self._moved = False

    def learn(self, drawn: Any) -> Any:
        """Learns, and gives what the learning gives, or raises what it raises.

        Raises:
            TrainingError: the process ended by itself.
        """
        if self._process is not None and not self._moved:
            self._move(self._process)
        if self._process is not None and self._moved:
            result = self._process.call("learn", drawn)
        else:
            began = time.perf_counter()
            result = self.here.learn(drawn)
            _flat(self.here.network, self._aside[self._learned % len(self._aside)])
            self._seconds += time.perf_counter() - began
            if self._may_move and self._seconds > MOVES_AFTER_SECONDS:
                self._may_move = False  # it is tried once
                self._process = _LearningProcess.start(self._build, self._aside)
        self._untaken.append(self._learned % len(self._aside))
        self._learned += 1
        return result

    def take_weights(self, network: nn.Module) -> None:
        """Gives a network of the same kind the weights of the oldest update that they were not taken of yet.

        That update must have ended; the next one may be under way. Without one, nothing happens.
        """
        if not self._untaken:
            return
        weights = list(network.parameters())
        pieces = torch.split(self._aside[self._untaken.popleft()], [one.numel() for one in weights])
        with torch.no_grad():  # into the memory that they have, which others look at
            for mine, its in zip(weights, pieces, strict=True):
                mine.copy_(its.view_as(mine))

    def state_dict(self) -> dict[str, Any]:
        """The learning's, and whether an update's weights were not taken yet. Not to be called while it learns."""
        if self._process is not None and self._moved:
            state: dict[str, Any] = self._process.call("state_dict")
        else:
            state = self.here.state_dict()
        return state | {"untaken": len(self._untaken)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`. Raises CheckpointError where that is of another network."""
        self.here.load_state_dict({name: value for name, value in state.items() if name != "untaken"})
        for weights in self._aside:
            _flat(self.here.network, weights)
        self._learned = min(int(state.get("untaken", 1)), 1)  # the first place holds what is to be taken
        self._untaken = deque(range(self._learned))
        if self._process is not None and self._moved:
            self._hand_over(self._process)

    def trial(self) -> LearningT:
        """A copy to try something on."""
        return copy.deepcopy(self.here)

    def close(self) -> None:
        """Ends the process, if there is one: what was learned there goes on here. Not to be called while it learns."""
        process, self._process = self._process, None
        if process is None:
            return
        if self._moved:
            self._moved = False
            with contextlib.suppress(TrainingError):  # it is gone, and that was told when it was missed
                self.here.load_state_dict(process.call("state_dict"))
            self._seconds, self._may_move = 0.0, self._moves
        process.end()

    def _move(self, process: _LearningProcess) -> None:
        """Moves to the process if it has started by now; stays for good if that failed."""
        try:
            if process.ready():
                self._hand_over(process)
                self._moved = True
        except TrainingError as error:
            logger.warning("learning stays in the trainer's process: %s", error)
            process.end()
            self._process = None

    def _hand_over(self, process: _LearningProcess) -> None:
        process.call("load_state_dict", self.here.state_dict())
        process.call("count_from", self._learned)


class _LearningProcess:
    """The process, and the parent's end of the pipe to it."""

    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self._process = process
        self._connection = connection
        self.end = weakref.finalize(self, _end, process, connection)

    @classmethod
    def start(cls, build: Callable[[], Learning], aside: Sequence[Tensor]) -> _LearningProcess | None:
        """Starts it and doesn't wait; nothing where what it learns with cannot be handed over.

        Args:
            build: builds the learning.
            aside: memory that both see, where the weights of each update are copied to, by turns.
        """
        try:
            pickle.dumps(build)
        except (pickle.PicklingError, AttributeError, TypeError) as error:  # an encoder made inside a function, say
            logger.info("learning stays in the trainer's process: %s", error)
            return None
        context = torch.multiprocessing.get_context("spawn")
        connection, theirs = context.Pipe()
        process = context.Process(
            target=_run, args=(theirs, build, aside, torch.get_num_threads()), name="pkmn-learning", daemon=True
        )
        try:
            with signals_held(), main_module_left_out():
                process.start()
        except OSError as error:  # the system has no room for one more
            connection.close()
            logger.warning("learning stays in the trainer's process: %s", error)
            return None
        finally:
            theirs.close()
        return cls(process, connection)

    def ready(self) -> bool:
        """Whether it has started by now. Asks for its first words, so once it is, don't ask again."""
        try:
            return self._connection.poll() and self._connection.recv() == _READY
        except (EOFError, OSError):
            raise self._gone() from None

    def call(self, name: str, *arguments: Any) -> Any:
        """Calls a method of the learning there. Raises what it raises, with where it happened as a note."""
        try:
            self._connection.send_bytes(pickle.dumps((name, arguments), pickle.HIGHEST_PROTOCOL))
            kind, value, where = pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            raise self._gone() from None
        if kind == _ERROR:
            value.add_note(where)
            raise value
        return value

    def _gone(self) -> TrainingError:
        self._process.join(_SECONDS_TO_END)
        return TrainingError(
            f"The process that learns ended with exit code {self._process.exitcode}, for want of memory perhaps: "
            "go on from the last checkpoint with --resume."
        )


def _end(process: BaseProcess, connection: Connection) -> None:
    connection.close()
    process.kill()  # it holds nothing that is not elsewhere
    process.join()


def _run(connection: Connection, build: Callable[[], Learning], aside: Sequence[Tensor], threads: int) -> None:
    """The process: answers calls until the parent is gone."""
    ignore_signals()
    torch.set_num_threads(threads)
    counted = _CountedLearning(build(), aside)
    try:
        connection.send(_READY)
        while True:
            name, arguments = pickle.loads(connection.recv_bytes())
            answer: tuple[str, Any, str]
            try:
                answer = (_RESULT, getattr(counted, name)(*arguments), "")
            except Exception as error:
                answer = (_ERROR, _portable(error), traceback.format_exc())
            connection.send_bytes(pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))
    except (EOFError, OSError):
        pass


class _CountedLearning:
    """The learning in the process, and the count that says where weights are copied to."""

    def __init__(self, learning: Learning, aside: Sequence[Tensor]) -> None:
        self._learning = learning
        self._aside = aside
        self._learned = 0
        self.state_dict = learning.state_dict
        self.load_state_dict = learning.load_state_dict

    def count_from(self, learned: int) -> None:
        """So many updates were made before it moved here."""
        self._learned = learned

    def learn(self, drawn: Any) -> Any:
        """Learns, and copies the weights aside."""
        result = self._learning.learn(drawn)
        _flat(self._learning.network, self._aside[self._learned % len(self._aside)])
        self._learned += 1
        return result


@torch.no_grad()
def _flat(network: nn.Module, out: Tensor | None = None) -> Tensor:
    """All weights of a network, one after the other."""
    return torch.cat([weights.detach().reshape(-1) for weights in network.parameters()], out=out)


def _portable(error: Exception) -> Exception:
    """The error, or what it says where it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever a third party's error raises then
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
