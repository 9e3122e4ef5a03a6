"""Parent's side of the workers: one process per environment, each with its own emulator.

Emulators never share a process with another Python thread: beside a busy thread, a step takes a hundred times as long.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import pickle
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pkmncli.errors import TrainingError
from pkmncli.training.workers.press_log import PressLog
from pkmncli.training.workers.process import (
    ATTACH,
    CALL,
    SECONDS_TO_QUIT,
    STEP,
    STEP_MESSAGE,
    WorkerLink,
    WorkerLostError,
)
from pkmncli.training.workers.shared_memory import FRAME_SLOTS, RECORD_DTYPE, TERMINAL_SLOT, SharedBlock, layout_of
from pkmncli.training.workers.spec import EpisodeEnd, Standing, StepNews, WorkerSpec, WorkerState

if TYPE_CHECKING:
    from pathlib import Path

    import gymnasium
    from numpy.typing import NDArray

    from pkmncli.api import ActionNames, Advice, Context, PhaseRole, Skill

logger = logging.getLogger(__name__)

_Answer = TypeVar("_Answer")

SECONDS_TO_START = 120.0
_RESTARTS = 3
"""Workers that replace one that was killed, before the training ends: memory that is short kills the next one, too."""
_KILLED = frozenset([-9, -15, 255])
"""Exit codes of a worker that was killed (SIGKILL, SIGTERM), or whose fork server was, which would know."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """Result of a step of every environment in shared memory. Views: valid until the step after the next.

    ``observations`` is what was acted on, ``next_observations`` what followed (of an ended episode: its last), and
    ``records`` a copy of the step records, shape (num_envs,).
    """

    observations: Mapping[str, NDArray[Any]]
    next_observations: Mapping[str, NDArray[Any]]
    records: NDArray[Any]

    @property
    def ended(self) -> NDArray[np.bool_]:
        """True for environments whose episode ended with this step, shape (num_envs,)."""
        ended: NDArray[np.bool_] = self.records["terminated"] | self.records["truncated"]
        return ended


class WorkerPool:
    """All the environments of a run. Every call here is made by the same thread.

    Args:
        spec: how to build the environments.
        timeout_s: how long a worker may take to answer before it counts as hung.
        on_loss: told of a worker that was lost and replaced.
        on_report: given what a pilot reports, with the environment and the number of its episode.
    """

    def __init__(
        self,
        spec: WorkerSpec,
        *,
        timeout_s: float = 60.0,
        on_loss: Callable[[WorkerLostError], None] | None = None,
        on_report: Callable[[int, int, Mapping[str, Any]], None] | None = None,
    ) -> None:
        self.spec = spec
        self.num_envs = spec.num_envs
        self._timeout_s = timeout_s
        self._on_loss = on_loss or (lambda loss: None)
        self.on_report = on_report or (lambda environment, episode, report: None)
        self._links: list[WorkerLink] = []
        self._closing = contextlib.ExitStack()
        self._slots = [0] * spec.num_envs
        self._messages = [b""] * spec.num_envs
        self._descriptions: dict[int, dict[str, Any]] = {}
        self._lost: dict[int, WorkerLostError] = {}
        self._ended = [EpisodeEnd(Standing(0, 0, (), (), {}, None), {})] * spec.num_envs
        self.losses = 0
        """Workers that were lost and replaced."""
        self._logs = [PressLog() for _ in range(spec.num_envs)]
        self._next_starts = [""] * spec.num_envs
        self._episodes = [0] * spec.num_envs
        try:
            for index in range(spec.num_envs):
                self._links.append(WorkerLink(index, spec))
            descriptions = [
                self._begin(index, functools.partial(self._description, index), "could not be started")
                for index in range(spec.num_envs)
            ]
            self.observation_space: gymnasium.spaces.Dict = descriptions[0]["observation_space"]
            self.action_space: gymnasium.spaces.Discrete = descriptions[0]["action_space"]
            self.phase_names: list[str] = descriptions[0]["phase_names"]
            self.situations: list[str] = descriptions[0]["situations"]
            """The kind of situation that each phase is."""
            self.phase_roles: list[PhaseRole] = descriptions[0]["phase_roles"]
            self.action_names: ActionNames = descriptions[0]["action_names"]
            self.frames_per_second: float = descriptions[0]["frames_per_second"]
            """Frames of the game that are one second of play."""
            self.skills: tuple[Skill, ...] = descriptions[0]["skills"]
            """Skills of the pilot that advice can ask for."""
            self.milestone_names: list[str] = descriptions[0]["milestone_names"]
            self.goal: str | None = descriptions[0]["goal"]
            """The milestone that ends an episode, where the environment says so."""
            self.names: dict[str, Any] = descriptions[0]["names"]
            self.reward_names: list[str] = descriptions[0]["reward_names"]
            self.identity: dict[str, Any] = descriptions[0]["identity"]
            self.max_steps_per_episode: int = descriptions[0]["max_steps_per_episode"]
            block = SharedBlock(layout_of(self.observation_space), spec.num_envs)
            self._block = self._closing.enter_context(contextlib.closing(block))
            for index in range(spec.num_envs):
                self._begin(index, functools.partial(self._attach, index), "could not be started")
        except BaseException:
            self.close()
            raise

    def _begin(self, index: int, begin: Callable[[], _Answer], failure: str) -> _Answer:
        """Return what ``begin`` returns. A worker that is killed meanwhile is replaced, :data:`_RESTARTS` times.

        Raises:
            TrainingError: the worker was killed more often, or was lost otherwise.
        """
        restarts = 0
        while True:
            try:
                return begin()
            except WorkerLostError as loss:
                if self._links[index].process.exitcode not in _KILLED or restarts == _RESTARTS:
                    raise TrainingError(f"environment {index} {failure}: {loss.reason}") from loss
                logger.warning("environment %d is started again: %s", index, loss.reason)
                self._replace(index)
                restarts += 1

    def _description(self, index: int) -> dict[str, Any]:
        """Return the description that a worker sends of its environment when it has started."""
        if index not in self._descriptions:
            self._descriptions[index] = pickle.loads(self._links[index].receive(SECONDS_TO_START)[1:])
        return self._descriptions[index]

    def _replace(self, index: int) -> None:
        """Start another worker in the place of one that is lost."""
        self._links[index].kill()
        self._descriptions.pop(index, None)
        self._links[index] = WorkerLink(index, self.spec)

    def _attach(self, index: int) -> None:
        """Give a worker that has started the shared memory."""
        self._description(index)
        link = self._links[index]
        link.send(ATTACH + pickle.dumps(self._block.layout))
        link.receive(self._timeout_s)
        assert link.process.pid is not None
        self._block.send(link.channel, link.process.pid)
        link.receive(self._timeout_s)

    # Steps of all at once ------------------------------------------------------------------------------------

    def observations(self) -> Mapping[str, NDArray[Any]]:
        """Return the current observations: views of shape (num_envs, ...), valid until the step after the next."""
        return self._block.slots[self._slots[0]]

    def records(self) -> NDArray[Any]:
        """Return the records of the latest step: a view of shape (num_envs,), overwritten by the next."""
        return self._block.records

    def pilot_confidences(self) -> NDArray[np.float32]:
        """Return the confidence of each environment's pilot in its next action, shape (num_envs,)."""
        confidences: NDArray[np.float32] = self._block.records["pilot_confidence"].copy()
        return confidences

    def pilot_actions(self) -> NDArray[np.int64]:
        """Return the next action of each environment's pilot, shape (num_envs,); -1 if it has none."""
        return np.asarray(self._block.records["pilot_action"], np.int64)

    def phases(self) -> NDArray[np.int64]:
        """Return the phase of each environment in which its next step is decided, shape (num_envs,)."""
        return np.asarray(self._block.records["next_phase"], np.int64)

    def reset(self, episode: int = 0) -> None:
        """Begin the first episode of every environment, or another one by its number."""
        self._episodes = [episode] * self.num_envs
        self._logs = [PressLog() for _ in range(self.num_envs)]
        self._slots = [0] * self.num_envs
        self.call_all("reset", [(episode, 0)] * self.num_envs)

    def reset_one(self, index: int, episode: int) -> None:
        """Begin an episode of one environment by its number. Not to be mixed with steps of all at once."""
        self._episodes[index] = episode
        self._logs[index] = PressLog()
        self.call(index, "reset", episode, self._slots[index])

    def step(
        self,
        actions: NDArray[np.int64],
        sources: NDArray[np.uint8],
        confidences: NDArray[np.float32],
        meanwhile: Callable[[], None] = lambda: None,
    ) -> StepResult:
        """Take one step of every environment. Do not mix it with steps of single environments.

        Args:
            actions: (num_envs,), PILOT_ACTS where the pilot decides.
            sources: (num_envs,), who decided, where it was not the pilot.
            confidences: (num_envs,), how sure that one was.
            meanwhile: called while they step.
        """
        before = self._slots[0]
        for index, (action, source, confidence) in enumerate(
            zip(actions.tolist(), sources.tolist(), confidences.tolist(), strict=True)
        ):
            self.begin_step(index, action, source, confidence)
        meanwhile()
        records = np.empty(self.num_envs, RECORD_DTYPE)
        for index in range(self.num_envs):
            records[index] = self.finish_step(index)
        after: Mapping[str, NDArray[Any]] = self._block.slots[self._slots[0]]
        ended = np.flatnonzero(records["terminated"] | records["truncated"])
        if ended.size:
            terminal = self._block.slots[TERMINAL_SLOT]
            after = {name: array.copy() for name, array in after.items()}
            for name, array in after.items():
                array[ended] = terminal[name][ended]
        return StepResult(self._block.slots[before], after, records)

    # Steps of one at a time ------------------------------------------------------------------------------------

    def observation(self, index: int) -> Mapping[str, NDArray[Any]]:
        """Return the current observation of one environment: views of shape (1, ...)."""
        return {name: array[index : index + 1] for name, array in self._block.slots[self._slots[index]].items()}

    def begin_step(self, index: int, action: int, source: int, confidence: float) -> None:
        """Tell one environment to step, and do not wait for it. Arguments as those of :meth:`step`."""
        slot = (self._slots[index] + 1) % FRAME_SLOTS
        self._messages[index] = STEP_MESSAGE.pack(STEP, action, slot, source, confidence)
        try:
            self._links[index].send(self._messages[index])
        except WorkerLostError as loss:
            self._lost[index] = loss

    def finish_step(self, index: int) -> np.void:
        """Wait for the step that :meth:`begin_step` began. Returns a copy of its record."""
        link = self._links[index]
        try:
            if index in self._lost:
                raise self._lost.pop(index)
            answer = link.receive(self._timeout_s)
        except WorkerLostError as loss:
            answer = self._ask_new_worker(index, loss, self._messages[index], self._timeout_s)
        self._slots[index] ^= 1
        record: np.void = self._block.records[index].copy()
        news: StepNews | None = pickle.loads(answer[1:]) if len(answer) > 1 else None
        for report in news.reports if news is not None else ():
            self.on_report(index, self._episodes[index], report)
        if news is not None and news.end is not None:
            self._ended[index] = news.end
            self._logs[index].begin(self._next_starts[index])
            self._episodes[index] += 1
        else:
            self._logs[index].add(record)
        return record

    def ready(self, indices: Collection[int]) -> list[int]:
        """Wait until at least one of these environments has finished its step. Returns those that have."""
        lost = [index for index in indices if index in self._lost]
        if lost:
            return lost
        links: dict[Any, int] = {self._links[index].channel.connection: index for index in indices}
        done = [links[one] for one in wait(list(links), self._timeout_s)]
        return sorted(done) or list(indices)  # where none answers in time, finish_step says so

    # Calls -------------------------------------------------------------------------------------------------------

    def _ask_new_worker(self, index: int, loss: WorkerLostError, message: bytes, timeout_s: float) -> bytes:
        """Start a lost worker again, replay its episode, which leads to the same state, and ask it again."""
        self.losses += 1
        self._on_loss(loss)
        self._replace(index)

        def play_again() -> bytes:
            self._attach(index)
            link = self._links[index]
            link.send(_call_message("replay", self._episodes[index], self._logs[index], self._slots[index]))
            link.receive(self._call_timeout_s)
            link.send(_call_message("begin_next_at", self._next_starts[index]))
            link.receive(self._call_timeout_s)
            link.send(message)
            return link.receive(timeout_s)

        return self._begin(index, play_again, "failed twice at the same step")

    @property
    def _call_timeout_s(self) -> float:
        return max(self._timeout_s, SECONDS_TO_START)

    def call(self, index: int, name: str, *arguments: Any) -> Any:
        """Call a method of one worker."""
        message = _call_message(name, *arguments)
        try:
            self._links[index].send(message)
            answer = self._links[index].receive(self._call_timeout_s)
        except WorkerLostError as loss:
            answer = self._ask_new_worker(index, loss, message, self._call_timeout_s)
        return pickle.loads(answer[1:])

    def call_all(self, name: str, arguments: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a method of every worker, all at the same time."""
        each = arguments if arguments is not None else [()] * self.num_envs
        messages = [_call_message(name, *own) for own in each]
        lost: dict[int, WorkerLostError] = {}
        for index, message in enumerate(messages):
            try:
                self._links[index].send(message)
            except WorkerLostError as loss:
                lost[index] = loss
        answers = []
        for index, message in enumerate(messages):
            try:
                if index in lost:
                    raise lost[index]
                answer = self._links[index].receive(self._call_timeout_s)
            except WorkerLostError as loss:
                answer = self._ask_new_worker(index, loss, message, self._call_timeout_s)
            answers.append(pickle.loads(answer[1:]))
        return answers

    def context(self, index: int) -> Context:
        """Return the state of one environment in words."""
        context: Context = self.call(index, "context")
        self._logs[index].describe()
        return context

    def advise(self, index: int, advice: Advice | None) -> None:
        """Give one environment's pilot new advice, or withdraw the old."""
        self.call(index, "advise", advice, self._slots[index])
        self._logs[index].advise(advice)

    def begin_next_at(self, index: int, path: str) -> None:
        """Begin one environment's next episodes in the saved state of a file; an empty path for its own start."""
        if path != self._next_starts[index]:
            self._next_starts[index] = path
            self.call(index, "begin_next_at", path)

    def begin_recorded(self, index: int, seed: int, start: bytes | None) -> None:
        """Begin an episode in one environment as an earlier run recorded it, by its seed and saved start state.

        A worker that is lost meanwhile can't get back there, which :attr:`losses` tells; :meth:`reset` ends it all.
        """
        self.call(index, "begin_recorded", seed, start, self._slots[index])
        self._logs[index].begin("")

    def start_state(self, index: int) -> bytes | None:
        """Return the state of one environment if episodes can begin in it with all its milestones; else None."""
        state: bytes | None = self.call(index, "start_state", self._slots[index])
        return state

    def standing(self, index: int) -> Standing:
        """Return the standing of one environment's running episode."""
        standing: Standing = self.call(index, "standing")
        return standing

    def standings(self) -> list[Standing]:
        """Return the standing of each environment's running episode."""
        return self.call_all("standing")

    def standing_of_ended(self, index: int) -> Standing:
        """Return the standing at the end of an environment's latest complete episode."""
        return self._ended[index].standing

    def status(self, index: int) -> str:
        """Return the state of one environment's game in a line for people; empty if it has none."""
        line: str = self.call(index, "status")
        return line

    def view(self, index: int) -> NDArray[np.uint8] | str | None:
        """Return the picture of one environment for people, (height, width, 3); None if it has none.

        A text says why where it fails to draw one.
        """
        picture: NDArray[np.uint8] | str | None = self.call(index, "view")
        return picture

    def views_onto(self, path: Path, shape: tuple[int, ...]) -> list[str]:
        """Have each environment put that picture, of this shape, on the live board in a file. Return what failed."""
        faults: list[str] = self.call_all("view_onto", [(str(path), self.num_envs, shape)] * self.num_envs)
        return [fault for fault in faults if fault]

    def picture(self, index: int) -> bytes:
        """Return the screen of one environment as a PNG file."""
        png: bytes = self.call(index, "picture")
        return png

    def milestones_of_ended(self, index: int) -> dict[str, int]:
        """For the episode of an environment that ended last: the step at which each milestone was reached."""
        steps = zip(self.milestone_names, self._ended[index].standing.milestone_steps, strict=True)
        return {name: step for name, step in steps if step >= 0}

    def milestone_frames_of_ended(self, index: int) -> dict[str, int]:
        """Return the same in emulated frames, where they are known."""
        frames = zip(self.milestone_names, self._ended[index].standing.milestone_frames, strict=False)
        return {name: frame for name, frame in frames if frame >= 0}

    def rewards_of_ended(self, index: int) -> dict[str, float]:
        """For the episode of an environment that ended last: what each part of its reward earned, where it is known."""
        return self._ended[index].reward_totals

    def save(self) -> list[WorkerState]:
        """Return the state of every worker."""
        return self.call_all("save")

    def load(self, states: Sequence[WorkerState], logs: Sequence[Mapping[str, Any]]) -> None:
        """Resume from saved states; ``logs`` are the states of :meth:`logs`."""
        self._slots = [0] * self.num_envs
        self.call_all("load", [(state, 0) for state in states])
        self._episodes = [state.episode for state in states]
        self._logs = [PressLog() for _ in logs]
        for log, state in zip(self._logs, logs, strict=True):
            log.load_state_dict(state)

    def logs(self) -> Sequence[PressLog]:
        """Return the logs of the running episodes."""
        return self._logs

    def close(self, *, at_once: bool = False) -> None:
        """End all workers, in good order unless ``at_once``. May be called twice."""
        if not at_once:
            for link in self._links:
                link.ask_to_quit()
        for link in self._links:
            link.end(0 if at_once else SECONDS_TO_QUIT)
        self._links = []
        self._closing.close()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        self.close(at_once=kind is KeyboardInterrupt)  # one that is stuck would take seconds


def _call_message(name: str, *arguments: Any) -> bytes:
    return CALL + pickle.dumps((name, arguments))
