"""Parent's side of the workers: processes with one environment each, or with some, each with its own emulator.

Emulators never share a process with another Python thread: beside a busy thread, a step takes a hundred times as long.
"""

from __future__ import annotations

import contextlib
import pickle
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import PILOT_ACTS, FlatActions, Source
from pkmncli.api.live import LiveBoard
from pkmncli.atomic_files import reason
from pkmncli.errors import TrainingError
from pkmncli.training.workers.action_log import ActionLog
from pkmncli.training.workers.process import STEP_ENTRY, WorkerLostError
from pkmncli.training.workers.replacement import Calls, WorkerProcesses
from pkmncli.training.workers.shared_memory import (
    BLOCK_STEPS,
    FRAME_SLOTS,
    NO_SLOT,
    TERMINAL_SLOT,
    SharedBlock,
    block_rows,
    layout_of,
)
from pkmncli.training.workers.spec import EpisodeEnd, Standing, StepNews, WorkerSpec, WorkerState
from pkmncli.training.workers.step_result import StepColumns, StepResult
from pkmncli.training.workers.worker import show_picture

if TYPE_CHECKING:
    import gymnasium
    from numpy.typing import NDArray

    from pkmncli.api import ActionNames, Advice, Context, PhaseRole, Skill

_BLOCK_SECONDS = 0.1
"""Maximum time of a block of steps, as far as the latest one tells: Ctrl-C waits for
its end, and at most for the next one's."""
_BLOCKS = 4
"""Minimum number of blocks, if there are enough steps: while one is recorded, the next is played."""


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
        self.on_report = on_report or (lambda environment, episode, report: None)
        self._workers = WorkerProcesses(spec, timeout_s, self._way_back, on_loss or (lambda loss: None))
        self._closing = contextlib.ExitStack()
        self._slots = [0] * spec.num_envs
        self._unobserved = False
        """True if the latest step of all environments wrote no observation."""
        self._pace = 1
        """Steps of each environment that a block may have."""
        self._ended = [EpisodeEnd(Standing(0, 0, (), (), {}, None), {})] * spec.num_envs
        self._logs = [ActionLog() for _ in range(spec.num_envs)]
        self._next_starts = [""] * spec.num_envs
        self._episodes = [0] * spec.num_envs
        try:
            description = self._workers.start()
            self.observation_space: gymnasium.spaces.Dict = description["observation_space"]
            self.action_space: gymnasium.spaces.Discrete | gymnasium.spaces.Box = description["action_space"]
            self.phase_names: list[str] = description["phase_names"]
            self.situations: list[str] = description["situations"]
            """The kind of situation that each phase is."""
            self.phase_roles: list[PhaseRole] = description["phase_roles"]
            self.action_names: ActionNames = description["action_names"]
            self.frames_per_second: float = description["frames_per_second"]
            """Frames of the game that are one second of play."""
            self.skills: tuple[Skill, ...] = description["skills"]
            """Skills of the pilot that advice can ask for."""
            self.milestone_names: list[str] = description["milestone_names"]
            self.goal: str | None = description["goal"]
            """The milestone that ends an episode, where the environment says so."""
            self.names: dict[str, Any] = description["names"]
            self.reward_names: list[str] = description["reward_names"]
            self.metric_names: list[str] = description["metric_names"]
            """The environment's own metrics of an episode, as far as it names them."""
            self.identity: dict[str, Any] = description["identity"]
            self.max_steps_per_episode: int = description["max_steps_per_episode"]
            self.flat_actions = FlatActions.of(self.action_space)
            block = SharedBlock(
                layout_of(self.observation_space), spec.num_envs, dimensions=self.flat_actions.dimensions
            )
            self._block = self._closing.enter_context(contextlib.closing(block))
            self._workers.share(block)
        except BaseException:
            self.close()
            raise

    def _place(self, index: int) -> tuple[int, int]:
        """Return the worker of an environment, and its place there."""
        return divmod(index, self.spec.envs_per_worker)

    def _way_back(self, worker: int) -> list[Calls]:
        """Return the calls that play the running episodes of a worker's environments again, to the same states."""
        group = self._workers.groups[worker]
        return [
            (
                "replay",
                [
                    (self._episodes[index], self._logs[index], self._slots[index], _state(self._logs[index].start))
                    for index in group
                ],
            ),
            ("begin_next_at", [(_state(self._next_starts[index]),) for index in group]),
        ]

    @property
    def losses(self) -> int:
        """Workers that were lost and replaced."""
        return self._workers.losses

    def process_id(self, index: int) -> int:
        """Return the process id of an environment's worker: another one after a loss."""
        return self._workers.process_id(self._place(index)[0])

    # Steps of all at once ------------------------------------------------------------------------------------

    def observations(self) -> Mapping[str, NDArray[Any]]:
        """Return the current observations: views of shape (num_envs, ...), valid until the step after the next.

        If the latest step wrote none, the workers are asked for them.
        """
        self._write_missing()
        return self._block.slots[self._slots[0]]

    def _write_missing(self) -> None:
        """Let the workers write the observations that the latest step left out."""
        if self._unobserved:
            self._unobserved = False
            self.call_all("show", [(slot,) for slot in self._slots])

    def records(self) -> NDArray[Any]:
        """Return the records of the latest step: a view of shape (num_envs,), overwritten by the next."""
        return self._block.records

    def controls(self) -> NDArray[np.float32] | None:
        """Return the actions of the latest step in a continuous space, (num_envs, dimensions); None in another."""
        return self._block.controls.copy() if self._block.dimensions else None

    def _set_controls(self, index: int | slice, controls: NDArray[np.float32] | None) -> None:
        """Write the actions of the next step of a continuous space, clipped to its bounds; the middle without any."""
        if self._block.dimensions:
            low, high = self.flat_actions.low, self.flat_actions.high
            self._block.controls[index] = (
                self.flat_actions.action(0) if controls is None else np.clip(controls, low, high)
            )

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
        self._logs = [ActionLog() for _ in range(self.num_envs)]
        self._slots, self._unobserved = [0] * self.num_envs, False
        self.call_all("reset", [(episode, 0)] * self.num_envs)

    def reset_one(self, index: int, episode: int) -> None:
        """Begin an episode of one environment by its number. Not to be mixed with steps of all at once."""
        self._episodes[index] = episode
        self._logs[index] = ActionLog()
        self.call(index, "reset", episode, self._slots[index])

    def step(
        self,
        actions: NDArray[np.int64],
        sources: NDArray[np.uint8],
        confidences: NDArray[np.float32],
        meanwhile: Callable[[], None] = lambda: None,
        controls: NDArray[np.float32] | None = None,
        *,
        observed: bool = True,
    ) -> StepResult:
        """Take one step of every environment. Do not mix it with steps of single environments.

        Args:
            actions: (num_envs,), PILOT_ACTS where the pilot decides.
            sources: (num_envs,), who decided, where it was not the pilot.
            confidences: (num_envs,), how sure that one was.
            meanwhile: called while they step.
            controls: (num_envs, dimensions), the actions of a continuous space.
            observed: False if nobody reads the observations of the result: then they are those of an earlier step.
        """
        self._set_controls(slice(None), controls)
        before = self._slots[0]
        slot = (before + 1) % FRAME_SLOTS if observed else NO_SLOT
        each = zip(actions.tolist(), sources.tolist(), confidences.tolist(), strict=True)
        entries = [STEP_ENTRY.pack(action, slot, source, confidence) for action, source, confidence in each]
        for worker, group in enumerate(self._workers.groups):
            self._workers.send_step(worker, entries[group.start : group.stop])
        meanwhile()
        news = self._receive_steps(range(len(self._workers.groups)))
        if observed:
            self._slots = [slot] * self.num_envs
        return self._result(before, self._block.copy_records(), news, observed=observed)

    def play(self, count: int, enough: Callable[[], bool] = lambda: False) -> Iterator[StepResult]:
        """Let the pilots take steps of every environment, and yield the results of several at once.

        The next steps are taken while the caller deals with a result: between two of them nothing may be asked of the
        environments. No observation is written.

        Args:
            count: steps of each environment.
            enough: asked before further steps begin; they are left out where it returns True.
        """
        if self.spec.ray:  # records travel with each answer
            pilots = np.full(self.num_envs, PILOT_ACTS), np.full(self.num_envs, Source.RULE, np.uint8)
            for number in range(count):
                if number and enough():
                    return
                yield self.step(*pilots, np.zeros(self.num_envs, np.float32), observed=False)
            return
        most = min(-(-count // _BLOCKS), BLOCK_STEPS)
        workers = range(len(self._workers.groups))
        number, steps = 0, min(self._pace, most)
        began = time.perf_counter()
        for worker in workers:
            self._workers.send_play(worker, block_rows(0), steps)
        while steps:
            further: int | None = None  # steps of the next block, once a worker has answered
            waiting, news = set(workers), []
            while waiting:
                for worker in self._workers.ready(waiting):
                    waiting.discard(worker)
                    news += self._receive_steps([worker])
                    if further is None:
                        further = 0 if count == steps or enough() else min(self._pace, count - steps, most)
                        next_began = time.perf_counter()
                    if further:  # at once, since another worker may take longer
                        self._workers.send_play(worker, block_rows(number + 1), further)
            spent = time.perf_counter() - began
            self._pace = max(min(int(steps * _BLOCK_SECONDS / spent), 2 * steps), 1)
            rows = self._block.copy_records(block_rows(number), steps)
            yield self._result(self._slots[0], rows, sorted(news, key=_order), observed=False)
            count, number, steps, began = count - steps, number + 1, further or 0, next_began

    def _result(
        self, before: int, rows: NDArray[Any], news: Sequence[tuple[int, int, StepNews]], *, observed: bool
    ) -> StepResult:
        """Return the result of steps that were acted on in the slot ``before``."""
        self._unobserved = not observed
        columns, controls = StepColumns.of_each(rows), self.controls()
        if controls is not None:
            columns = [one._replace(actions=[own]) for one, own in zip(columns, controls, strict=True)]
        self._take_in(news, dict(enumerate(columns)))
        slots = self._block.slots
        return StepResult(slots[before], rows, columns, news, slots[self._slots[0]], slots[TERMINAL_SLOT], controls)

    # Steps of one at a time ------------------------------------------------------------------------------------

    def observation(self, index: int) -> Mapping[str, NDArray[Any]]:
        """Return the current observation of one environment: views of shape (1, ...)."""
        self._write_missing()
        return {name: array[index : index + 1] for name, array in self._block.slots[self._slots[index]].items()}

    def begin_step(
        self, index: int, action: int, source: int, confidence: float, controls: NDArray[np.float32] | None = None
    ) -> None:
        """Tell one environment, which has a worker to itself, to step, and do not wait for it.

        Arguments as those of :meth:`step`; controls are (dimensions,).
        """
        self._set_controls(index, controls)
        slot = (self._slots[index] + 1) % FRAME_SLOTS
        self._workers.send_step(index, [STEP_ENTRY.pack(action, slot, source, confidence)])

    def finish_step(self, index: int) -> np.void:
        """Wait for the step that :meth:`begin_step` began. Returns a copy of its record."""
        news = self._receive_steps([index])
        self._slots[index] ^= 1
        record: np.void = self._block.records[index].copy()
        steps = StepColumns.of(record)
        controls = self.controls()
        self._take_in(news, {index: steps if controls is None else steps._replace(actions=[controls[index]])})
        return record

    def _receive_steps(self, workers: Iterable[int]) -> list[tuple[int, int, StepNews]]:
        """Wait until all environments of these workers have stepped. Return the news by step and environment."""
        found = []
        for worker in workers:
            answer = self._workers.receive(worker)
            if answer:
                first = self._workers.groups[worker].start
                found += [(step, first + place, StepNews.of(news)) for step, place, news in pickle.loads(answer)]
        return sorted(found, key=_order)

    def _take_in(self, news: Sequence[tuple[int, int, StepNews]], columns: Mapping[int, StepColumns]) -> None:
        """Take in steps of environments."""
        begins = dict.fromkeys(columns, 0)
        for step, index, one in news:
            for report in one.reports:
                self.on_report(index, self._episodes[index], report)
            if one.end is not None:
                self._ended[index] = one.end
                self._logs[index].begin(self._next_starts[index])
                self._episodes[index] += 1
                begins[index] = step + 1
        for index, first in begins.items():
            steps = columns[index]
            self._logs[index].add(steps.actions[first:], steps.sources[first:])

    def ready(self, indices: Collection[int]) -> list[int]:
        """Wait until at least one of these environments has finished its step. Returns those that have."""
        return self._workers.ready(indices)

    # Calls -------------------------------------------------------------------------------------------------------

    def call(self, index: int, name: str, *arguments: Any) -> Any:
        """Call a method of one environment's worker."""
        worker, place = self._place(index)
        self._workers.send_calls(worker, name, [arguments], place)
        return pickle.loads(self._workers.receive(worker))[0]

    def call_all(self, name: str, arguments: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a method for every environment, in all workers at the same time."""
        each = arguments if arguments is not None else [()] * self.num_envs
        for worker, group in enumerate(self._workers.groups):
            self._workers.send_calls(worker, name, each[group.start : group.stop])
        return [
            answer
            for worker in range(len(self._workers.groups))
            for answer in pickle.loads(self._workers.receive(worker))
        ]

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
        """Begin one environment's next episodes in the saved state of a file; an empty path for its own start.

        Raises:
            TrainingError: the file can't be read.
        """
        if path != self._next_starts[index]:
            state = _state(path)
            self._next_starts[index] = path
            self.call(index, "begin_next_at", state)

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

    def latest_end(self, index: int) -> EpisodeEnd:
        """Return the data at the end of an environment's latest complete episode."""
        return self._ended[index]

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
        if self.spec.ray:  # the file may be on another machine
            pictures, screens = self.call_all("view"), LiveBoard(path, self.num_envs, shape).screens
            assert screens is not None
            faults = [show_picture(screens, index, picture, shape) for index, picture in enumerate(pictures)]
        else:
            faults = self.call_all("view_onto", [(str(path), self.num_envs, shape)] * self.num_envs)
        return [fault for fault in faults if fault]

    def picture(self, index: int) -> bytes:
        """Return the screen of one environment as a PNG file."""
        png: bytes = self.call(index, "picture")
        return png

    def save(self) -> list[WorkerState]:
        """Return the state of every worker."""
        return self.call_all("save")

    def load(self, states: Sequence[WorkerState], logs: Sequence[Mapping[str, Any]]) -> None:
        """Resume from saved states; ``logs`` are the states of :meth:`logs`."""
        self._slots, self._unobserved = [0] * self.num_envs, False
        self.call_all("load", [(state, 0) for state in states])
        self._episodes = [state.episode for state in states]
        self._logs = [ActionLog() for _ in logs]
        for log, state in zip(self._logs, logs, strict=True):
            log.load_state_dict(state)

    def logs(self) -> Sequence[ActionLog]:
        """Return the logs of the running episodes."""
        return self._logs

    def close(self, *, at_once: bool = False) -> None:
        """End all workers, in good order unless ``at_once``. May be called twice."""
        self._workers.close(at_once=at_once)
        self._closing.close()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        self.close(at_once=kind is KeyboardInterrupt)  # one that is stuck would take seconds


def _order(news: tuple[int, int, StepNews]) -> tuple[int, int]:
    """Return the step and the environment of a piece of news."""
    return news[:2]


def _state(path: str) -> bytes | None:
    """Return the saved state in a file; None without a path. Raise TrainingError if it can't be read."""
    try:
        return Path(path).read_bytes() if path else None
    except OSError as error:
        raise TrainingError(f"the start state {path} can't be read: {reason(error)}") from None
