"""Worker processes of a pool. A worker that is lost is replaced, and led back to where it was."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pkmncli.errors import TrainingError
from pkmncli.training.workers.process import (
    CALL,
    PLAY,
    PLAY_ENTRY,
    SECONDS_TO_QUIT,
    STEP,
    WorkerLink,
    WorkerLostError,
)
from pkmncli.training.workers.ray_workers import ray_links

if TYPE_CHECKING:
    from pkmncli.training.workers.ray_workers import RayLink
    from pkmncli.training.workers.shared_memory import SharedBlock
    from pkmncli.training.workers.spec import WorkerSpec

logger = logging.getLogger(__name__)

_Answer = TypeVar("_Answer")
Calls = tuple[str, Sequence[tuple[Any, ...]]]
"""Name of a method, and its arguments for each environment of a worker."""

SECONDS_TO_START = 120.0
"""Maximum time in which an environment starts; more where many workers start at once."""
_STARTING_PER_CORE = 8
"""Workers for each core that start in that time."""
_RESTARTS = 3
"""Workers that replace one that was killed, before the training ends: memory that is short kills the next one, too."""


class WorkerProcesses:
    """Worker processes, each with its group of environments, and the messages to them.

    Args:
        spec: how to build the environments.
        timeout_s: how long a worker may take for a step of one of its environments before it counts as hung.
        way_back: returns the calls that lead a new worker to where the lost one was.
        on_loss: called with the loss of a worker that is replaced.
    """

    def __init__(
        self,
        spec: WorkerSpec,
        timeout_s: float,
        way_back: Callable[[int], Sequence[Calls]],
        on_loss: Callable[[WorkerLostError], None],
    ) -> None:
        self._spec = spec
        self._timeout_s = timeout_s
        self._call_timeout_s = max(timeout_s, SECONDS_TO_START)
        self._way_back = way_back
        self._on_loss = on_loss
        self.groups = spec.groups
        """Environments of each worker."""
        self.losses = 0
        """Workers that were lost and replaced."""
        self._closing = contextlib.ExitStack()
        self._new_link: Callable[[int], WorkerLink | RayLink] = lambda worker: WorkerLink(worker, spec)
        self._links: list[WorkerLink | RayLink] = []
        self._descriptions: dict[int, dict[str, Any]] = {}
        self._block: SharedBlock | None = None
        self._asked = [(b"", 0.0)] * len(self.groups)
        """Latest message to each worker, and the seconds that it may take for each environment."""
        self._lost: list[WorkerLostError | None] = [None] * len(self.groups)
        """Loss of each worker that could not be sent its latest message."""

    # Start and end -----------------------------------------------------------------------------------------------

    def start(self) -> dict[str, Any]:
        """Start all workers. Return the description of an environment.

        Raises:
            TrainingError: a worker could not be started.
            ConfigurationError: no Ray cluster answers, or it has no room for the workers.
        """
        if self._spec.ray:
            self._new_link = self._closing.enter_context(ray_links(self._spec))
        for worker in range(len(self.groups)):
            self._links.append(self._new_link(worker))
        descriptions = [
            self._begin(worker, self._description, "could not be started") for worker in range(len(self.groups))
        ]
        return descriptions[0]

    def share(self, block: SharedBlock) -> None:
        """Give all workers the shared memory.

        Raises:
            TrainingError: a worker could not be started.
        """
        self._block = block
        for worker in range(len(self.groups)):
            self._begin(worker, self._attach, "could not be started")

    def process_id(self, worker: int) -> int:
        """Return the process id of a worker: another one after a loss."""
        process_id = self._links[worker].process_id
        assert process_id is not None
        return process_id

    def close(self, *, at_once: bool = False) -> None:
        """End all workers, in good order unless ``at_once``. May be called twice."""
        if not at_once:
            for link in self._links:
                link.ask_to_quit()
        for link in self._links:
            link.end(0 if at_once else SECONDS_TO_QUIT)
        self._links = []
        self._closing.close()

    # Messages ----------------------------------------------------------------------------------------------------

    def send_step(self, worker: int, entries: Sequence[bytes]) -> None:
        """Tell all environments of a worker to step, by their STEP_ENTRYs. Call :meth:`receive` next."""
        self._send(worker, b"".join((STEP, *entries)), self._timeout_s)

    def send_play(self, worker: int, row: int, steps: int) -> None:
        """Let the pilots of a worker take steps, with records from a row of the block on. Call :meth:`receive` next."""
        self._send(worker, PLAY + PLAY_ENTRY.pack(row, steps), self._timeout_s * steps)

    def send_calls(self, worker: int, name: str, arguments: Sequence[tuple[Any, ...]], first: int = 0) -> None:
        """Call a method for the environments of a worker, from place ``first`` on. Call :meth:`receive` next."""
        self._send(worker, _call_message(name, arguments, first), self._call_timeout_s)

    def _send(self, worker: int, message: bytes, timeout_s: float) -> None:
        self._asked[worker], self._lost[worker] = (message, timeout_s), None
        try:
            self._links[worker].send(message)
        except WorkerLostError as loss:
            self._lost[worker] = loss

    def receive(self, worker: int) -> bytes:
        """Return the answer to the latest message, without its opcode. A lost worker is replaced, and asked again.

        Raises:
            TrainingError: it was lost again.
        """
        loss = self._lost[worker]
        if loss is None:
            try:
                return self._answer(worker)
            except WorkerLostError as error:
                loss = error
        self.losses += 1
        self._on_loss(loss)
        self._replace(worker)
        return self._begin(worker, self._ask_again, "failed twice at the same step")

    def ready(self, workers: Collection[int]) -> list[int]:
        """Wait until at least one of these workers has answered, or is lost. Return those that have."""
        lost = [worker for worker in workers if self._lost[worker] is not None]
        if lost:
            return lost
        links: dict[Any, int] = {self._links[worker]: worker for worker in workers}
        done = [links[one] for one in self._links[0].ready(list(links), self._timeout_s)]
        return sorted(done) or list(workers)  # where none answers in time, receiving says so

    # Replacement -------------------------------------------------------------------------------------------------

    def _begin(self, worker: int, begin: Callable[[int], _Answer], failure: str) -> _Answer:
        """Return what ``begin`` returns. A worker that is killed meanwhile is replaced, :data:`_RESTARTS` times.

        Raises:
            TrainingError: the worker was killed more often, or was lost otherwise.
        """
        restarts = 0
        group = self.groups[worker]
        named = f"environment {group[0]}" if len(group) == 1 else f"environments {group[0]} to {group[-1]}"
        while True:
            try:
                return begin(worker)
            except WorkerLostError as loss:
                if not self._links[worker].was_killed or restarts == _RESTARTS:
                    raise TrainingError(f"{named} {failure}: {loss.reason}") from loss
                logger.warning("%s: started again: %s", named, loss.reason)
                self._replace(worker)
                restarts += 1

    def _replace(self, worker: int) -> None:
        self._links[worker].kill()
        self._descriptions.pop(worker, None)
        self._links[worker] = self._new_link(worker)

    def _description(self, worker: int) -> dict[str, Any]:
        """Return the description that a worker sends of its environments when it has started."""
        if worker not in self._descriptions:
            crowd = max(len(self.groups) / (_STARTING_PER_CORE * (os.cpu_count() or 1)), 1.0)
            message = self._links[worker].receive(SECONDS_TO_START * len(self.groups[worker]) * crowd)
            self._descriptions[worker] = pickle.loads(message[1:])
        return self._descriptions[worker]

    def _attach(self, worker: int) -> None:
        """Give a worker that has started the shared memory."""
        assert self._block is not None
        self._description(worker)
        self._links[worker].attach(self._block, self._timeout_s)

    def _ask_again(self, worker: int) -> bytes:
        """Lead a new worker to where the lost one was, and send it the latest message. Return the answer."""
        self._attach(worker)
        link = self._links[worker]
        for name, arguments in self._way_back(worker):
            link.send(_call_message(name, arguments))
            link.receive(self._call_timeout_s * len(self.groups[worker]))
        link.send(self._asked[worker][0])
        return self._answer(worker)

    def _answer(self, worker: int) -> bytes:
        return self._links[worker].receive(self._asked[worker][1] * len(self.groups[worker]))[1:]


def _call_message(name: str, arguments: Sequence[tuple[Any, ...]], first: int = 0) -> bytes:
    return CALL + pickle.dumps((name, list(enumerate(arguments, first))))
