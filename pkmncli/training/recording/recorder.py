"""Recording of decisions, episodes and metrics for analysis, in batches for the store."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import Coded, EpisodeSummary, Store
from pkmncli.training.recording.decision_rows import StepRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from pkmncli.training.recording.episodes import RunningEpisode

BATCH_ROWS = 4096
FLUSH_SECONDS = 5.0
EPISODE_FLUSH_SECONDS = 1.0
"""An episode's end puts all on disk; where episodes are short, no more often than this."""

REMEMBERED_ACTIONS = 6
_CODE_LIMIT = 10**REMEMBERED_ACTIONS


class Recorder:
    """Collector of rows that does not touch the store at every step.

    A decision's row holds its step record, the count of steps over all environments, the environment, the time, the
    six actions before it as one number (a decimal digit each, action + 1, the latest last, 0 for none), what the
    learner thought of it, and what came of it. Until that is known it is held back; see :mod:`.step_rows`.
    """

    def __init__(
        self,
        store: Store,
        num_envs: int,
        *,
        on_batch: Callable[[Mapping[str, Any]], None] = lambda batch: None,
        start: str = "",
        reward_names: Sequence[str] = (),
    ) -> None:
        self._store = store
        self._start = start
        self._on_batch = on_batch
        self._rows = StepRows(num_envs, BATCH_ROWS, reward_names)
        self._codes = np.zeros(num_envs, np.uint32)
        self._metrics: dict[str, list[Any]] = defaultdict(list)
        self._last_flush = time.monotonic()
        self._episode_ended = False
        self._writer: ThreadPoolExecutor | None = None
        self._writing: Future[None] | None = None
        self.seconds = 0.0
        """Time that the training spent on recording, waits for what is being written included."""

    def add_steps(
        self,
        global_step: int,
        records: NDArray[Any],
        models: Sequence[str] | None = None,
        latencies_s: Sequence[float] | None = None,
        values: NDArray[np.float32] | None = None,
    ) -> None:
        """Take in one step of every environment.

        Args:
            global_step: the count before it.
            records: of the step, shape (num_envs,).
            models: for each environment the language model whose advice was carried out, or an empty text.
            latencies_s: for each how many seconds its answer took, 0 for none.
            values: what the learner thought of each action, (num_envs, num_actions), not finite where unknown.
        """
        began = time.perf_counter()
        if self._rows.full:
            self._hand_over()
        self._rows.add(global_step, time.time(), records, self._codes, models, latencies_s, values)
        self._codes = (self._codes * 10 + records["action"].astype(np.uint32) + 1) % _CODE_LIMIT
        self._codes[records["terminated"] | records["truncated"]] = 0
        self.seconds += time.perf_counter() - began

    def add_episode(
        self,
        episode: RunningEpisode,
        summary: EpisodeSummary,
        *,
        last_step: int,
        frames: int,
        purpose: str = "train",
        checkpoint: str = "",
    ) -> None:
        """Take in an episode that ended.

        Args:
            episode: with what a replay needs.
            summary: how it ended.
            last_step: steps of all environments when it ended.
            frames: emulated frames that it took.
            purpose: ``train`` or ``eval``.
            checkpoint: the one that played it, in an evaluation.
        """
        row: dict[str, Any] = {
            "environment": summary.environment,
            "episode": summary.episode,
            "first_step": summary.first_step,
            "last_step": last_step,
            "seed": summary.seed,
            "start": episode.start or self._start,
            "steps": summary.steps,
            "total_reward": summary.total_reward,
            "terminated": summary.terminated,
            "truncated": not summary.terminated,
            "outcome": summary.outcome,
            "llm_share": summary.llm_share,
            "milestones": json.dumps(dict(summary.milestone_steps)),
            "frames": frames,
            "purpose": purpose,
            "checkpoint": checkpoint,
            **episode.proof(),
        }
        began = time.perf_counter()
        self._settle()
        self._store.append("episodes", {name: [value] for name, value in row.items()})
        self._episode_ended = True
        self.seconds += time.perf_counter() - began

    def add_metrics(self, global_step: int, metrics: Mapping[str, float]) -> None:
        """Take in metrics by name."""
        now = time.time()
        for name, value in metrics.items():
            for column, entry in zip(
                ("global_step", "time", "name", "value"), (global_step, now, name, value), strict=True
            ):
                self._metrics[column].append(entry)

    def add_advice(self, row: Mapping[str, Any]) -> None:
        """Take in the result of a question to the language model: a row of the table ``advice`` without its time."""
        began = time.perf_counter()
        self._settle()
        self._store.append("advice", {name: [value] for name, value in {"time": time.time(), **row}.items()})
        self.seconds += time.perf_counter() - began

    def flush_if_due(self) -> None:
        """Flush when a few seconds have passed or an episode has ended, while the training runs.

        What is on disk survives whatever happens to the process. Writing takes other cores and the disk, and the
        training waits for it only where it has something new to hand over. An error is raised then.
        """
        waited = time.monotonic() - self._last_flush
        if waited < (EPISODE_FLUSH_SECONDS if self._episode_ended else FLUSH_SECONDS):
            return
        began = time.perf_counter()
        self._collect()
        if self._writer is None:
            self._writer = ThreadPoolExecutor(1, "recorder")
        self._writing = self._writer.submit(self._store.flush)
        self.seconds += time.perf_counter() - began

    def flush(self) -> None:
        """Write everything to disk except the decisions that are held back."""
        began = time.perf_counter()
        self._collect()
        self._store.flush()
        self.seconds += time.perf_counter() - began

    def finish(self) -> None:
        """Write everything to disk. Decisions that were held back have no return: their outcome is not known.

        They are in a separate file, so that a resumed run sets aside that one and no part of another.
        """
        self.flush()
        began = time.perf_counter()
        self._hand_over(all_of_them=True)
        self._store.flush()
        self.seconds += time.perf_counter() - began

    def close(self) -> None:
        """Wait until nothing is written any more. The caller may use the store again."""
        if self._writer is not None:
            self._writer.shutdown()
        self._writer = self._writing = None

    def _settle(self) -> None:
        """Wait for the current writing: the store is used by one thread at a time."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def _collect(self) -> None:
        self._settle()
        self._hand_over()
        if self._metrics:
            self._store.append("metrics", self._metrics)
            self._metrics = defaultdict(list)
        self._last_flush = time.monotonic()
        self._episode_ended = False

    def _hand_over(self, *, all_of_them: bool = False) -> None:
        self._settle()
        columns = self._rows.take(all_of_them=all_of_them)
        if columns is not None:
            self._store.append("decisions", columns)
            self._on_batch({name: _array(column) for name, column in columns.items()})

    @property
    def first_held(self) -> int | None:
        """The global step of the first decision that is held back; None if none is."""
        return self._rows.first_held

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the rows to come, and the decisions that are held back. Call :meth:`flush` before."""
        return {"codes": self._codes.tolist(), "held": self._rows.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. A checkpoint of an earlier version holds no decisions back."""
        self._codes = np.asarray(state["codes"], np.uint32)
        if "held" in state:
            self._rows.load_state_dict(state["held"])


def _array(column: Any) -> NDArray[Any]:
    array: NDArray[Any] = column.decoded() if isinstance(column, Coded) else column
    return array
