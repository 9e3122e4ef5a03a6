"""Workers that are actors of Ray, on this machine or others.

They get the messages of a worker process. Memory is not shared with other machines, so the observations and records
travel with the answers, and this side writes them where a worker process would have written them.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api.ray_cluster import begin_actor, ray_cluster, room_for, start_pauses
from pkmncli.errors import ConfigurationError
from pkmncli.training.workers.process import (
    RESULT,
    STEP,
    WorkerLostError,
    answer,
    build,
    checked,
    last_words,
)
from pkmncli.training.workers.shared_memory import TERMINAL_SLOT, FieldLayout, SharedBlock

if TYPE_CHECKING:
    from pkmncli.training.workers.spec import WorkerSpec
    from pkmncli.training.workers.worker import Worker

Row = tuple[int, int, bytes, bytes]
"""Place of an environment in its worker, a slot, and its arrays and its record there."""


class Actor:
    """Process of Ray with the environments of a worker.

    Args:
        path: ``sys.path`` of the trainer.
        index: the worker's number.
        spec: how to build the environments.
    """

    def __init__(self, path: list[str], index: int, spec: WorkerSpec) -> None:
        begin_actor(path)
        self._index, self._spec = index, spec
        self._workers: list[Worker] = []
        self._block: SharedBlock | None = None

    def start(self) -> tuple[int, bytes]:
        """Build the environments. Return the process id, and the message with the description or the last words."""
        try:
            return os.getpid(), RESULT + pickle.dumps(build(self._index, self._spec, self._workers))
        except BaseException as error:  # as in a worker process
            return os.getpid(), last_words(error)

    def attach(self, layout: tuple[FieldLayout, ...], dimensions: int) -> None:
        """Make the memory that the environments write to."""
        self._block = SharedBlock(layout, len(self._workers), dimensions=dimensions)
        for place, worker in enumerate(self._workers):
            worker.attach(self._block, place)

    def answer(self, message: bytes, controls: bytes) -> tuple[bytes, list[Row]]:
        """Carry out a message. Return the answer, and what the environments show now.

        Args:
            message: a step or a call.
            controls: actions of a continuous space, (environments, dimensions) float32.
        """
        block = self._block
        assert block is not None
        if controls:
            block.controls[:] = np.frombuffer(controls, np.float32).reshape(block.controls.shape)
        try:
            answered = answer(message, self._workers)
        except BaseException as error:
            return last_words(error), []
        rows: list[Row] = []
        for place, worker in enumerate(self._workers):
            record = block.records[place]
            if message[:1] == STEP and (record["terminated"] or record["truncated"]):
                rows.append((place, TERMINAL_SLOT, *block.packed(TERMINAL_SLOT, place)))
            rows.append((place, worker.slot, *block.packed(worker.slot, place)))
        return answered, rows

    def close(self) -> None:
        """Close the environments."""
        for worker in self._workers:
            worker.environment.close()


class RayLink:
    """Trainer's side of an actor: what :class:`pkmncli.training.workers.process.WorkerLink` is to a process.

    Args:
        index: the worker's number.
        spec: how to build the environments.
        ray: the module, connected.
        clock: returns the time in seconds.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        index: int,
        spec: WorkerSpec,
        ray: ModuleType,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.index = index
        self.was_killed = False
        """True if the actor's process has ended from outside."""
        self.process_id: int | None = None
        """Process id of the actor on its machine; None until it has started."""
        self._ray, self._clock, self._sleep = ray, clock, sleep
        self._group = spec.groups[index]
        self._block: SharedBlock | None = None
        kind = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(Actor)
        self._new_actor: Callable[[], Any] = lambda: kind.remote(sys.path, index, spec)
        self._start()

    def _start(self) -> None:
        self._actor = self._new_actor()
        self._answer = self._actor.start.remote()

    @staticmethod
    def ready(links: Sequence[RayLink], timeout_s: float) -> list[RayLink]:
        """Wait until one of the workers has answered or has ended. Return those; none after the timeout."""
        answers = {link.waits_for: link for link in links}
        ray = links[0].ray
        done, _ = ray.wait(list(answers), num_returns=1, timeout=timeout_s)
        if done:  # others may be ready, too
            done, _ = ray.wait(list(answers), num_returns=len(answers), timeout=0)
        return [answers[one] for one in done]

    @property
    def ray(self) -> ModuleType:
        """Module of Ray."""
        return self._ray

    @property
    def waits_for(self) -> Any:
        """Reference to the answer to the latest message."""
        return self._answer

    def attach(self, block: SharedBlock, timeout_s: float) -> None:
        """Have the actor make its own memory. From now on, what it shows is written to ``block``."""
        self._block = block
        self._result(self._actor.attach.remote(block.layout, block.dimensions), timeout_s)

    def send(self, message: bytes) -> None:
        """Send a message."""
        controls = b""
        if self._block is not None and self._block.dimensions and message[:1] == STEP:
            controls = self._block.controls[self._group.start : self._group.stop].tobytes()
        self._answer = self._actor.answer.remote(message, controls)

    def receive(self, timeout_s: float) -> bytes:
        """Return the answer to the latest message. Raises WorkerLostError, or the user's error of the worker."""
        if self.process_id is None:
            self.process_id, message = self._started(timeout_s)
            return checked(self.index, message)
        message, rows = self._result(self._answer, timeout_s)
        checked(self.index, message)
        assert self._block is not None
        for place, slot, arrays, record in rows:
            self._block.unpack(slot, self._group.start + place, arrays, record)
        return bytes(message)

    def _started(self, timeout_s: float) -> tuple[int, bytes]:
        """Return the first answer of the actor. One that ended before it is started again, after growing pauses."""
        pauses: Iterator[float] | None = None
        while True:
            try:
                found: tuple[int, bytes] = self._result(self._answer, timeout_s)
            except WorkerLostError:
                pauses = pauses or start_pauses(self._clock)
                pause = next(pauses, None) if self.was_killed else None
                self.was_killed = False
                if pause is None:
                    raise
            else:
                return found
            self._sleep(pause)
            self._start()

    def _result(self, reference: Any, timeout_s: float) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference, timeout=timeout_s)
        except errors.GetTimeoutError:
            where = "" if self.process_id else ": the Ray cluster may have too few free resources"
            raise WorkerLostError(self.index, f"no answer for {timeout_s:.0f} s{where}") from None
        except errors.RayTaskError as error:
            raise WorkerLostError(self.index, str(error)) from None
        except errors.RayError as error:
            self.was_killed = True
            details = str(error).strip()
            raise WorkerLostError(self.index, details, f"its actor ended: {details.partition(chr(10))[0]}") from None

    def ask_to_quit(self) -> None:
        """Tell the actor to close its environments, and do not wait for it."""
        with contextlib.suppress(Exception):  # the cluster may be gone
            self._answer = self._actor.close.remote()

    def end(self, patience_s: float) -> None:
        """Wait so many seconds for the actor to close its environments, then end it."""
        with contextlib.suppress(Exception):
            self._ray.wait([self._answer], timeout=patience_s)
        self.kill()

    def kill(self) -> None:
        """End the actor at once."""
        with contextlib.suppress(Exception):
            self._ray.kill(self._actor)


@contextlib.contextmanager
def ray_links(spec: WorkerSpec) -> Iterator[Callable[[int], RayLink]]:
    """Connect to Ray. Yield what starts an actor, by the worker's number.

    Raises:
        PluginError: Ray is not installed.
        ConfigurationError: no cluster answers, or it has no room for the workers.
    """
    count = len(spec.groups)
    with ray_cluster(spec.ray_address, count) as ray:
        room = room_for(ray, count, 0, "workers = ray")
        if room < count:
            raise ConfigurationError(
                f"workers = ray: the Ray cluster has too few resources: room for {room} actors, and {count} are "
                "needed; use fewer --envs, or more --envs-per-worker"
            )
        yield lambda worker: RayLink(worker, spec, ray)
