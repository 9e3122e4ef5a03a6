"""Recording of decisions, episodes and metrics for analysis, in batches for the store."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pkmncli.api import REMEMBERED_ACTIONS, Coded, EpisodeSummary, Store
from pkmncli.training.recording.decision_rows import StepRows, previous_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from pkmncli.training.recording.episodes import RunningEpisode

BATCH_ROWS = 4096
FLUSH_SECONDS = 5.0
EPISODE_FLUSH_SECONDS = 1.0
"""An episode's end puts all on disk; where episodes are short, no more often than this."""


class HeldBack(Protocol):
    """Collector of decisions that leave in their order, once it is known what came of them."""

    @property
    def first_held(self) -> int | None:
        """The global step of the first decision that waits; None if none does."""

    def take(self, *, all_of_them: bool = False) -> Mapping[str, Any] | None:
        """Return decisions as columns, also those that are not known yet if asked for; None if there are none."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state, with the decisions that wait."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""


class Recorder:
    """Collector of rows that does not touch the store at every step.

    Args:
        store: the tables.
        decisions: holds back decisions until it is known what came of them; None if there are none.
        on_batch: called with rows of the table of decisions.
        start: hash of the saved state in which every episode begins.
    """

    def __init__(
        self,
        store: Store,
        decisions: HeldBack | None = None,
        *,
        on_batch: Callable[[Mapping[str, Any]], None] = lambda batch: None,
        start: str = "",
    ) -> None:
        self._store = store
        self._start = start
        self._on_batch = on_batch
        self._decisions = decisions
        self._waiting: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
        """Columns of rows for the store, by table: it checks every batch, which costs more than a row."""
        self._last_flush = time.monotonic()
        self._episode_ended = False
        self._writer: ThreadPoolExecutor | None = None
        self._writing: Future[None] | None = None

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
            "milestones": _json(summary.milestone_steps),
            "metrics": _json(summary.metrics),
            "frames": frames,
            "purpose": purpose,
            "checkpoint": checkpoint,
            **episode.proof(),
        }
        columns = self._waiting["episodes"]
        for name, value in row.items():
            columns[name].append(value)
        self._episode_ended = True

    def add_metrics(self, global_step: int, metrics: Mapping[str, float]) -> None:
        """Take in metrics by name."""
        columns, count = self._waiting["metrics"], len(metrics)
        columns["global_step"] += [global_step] * count
        columns["time"] += [time.time()] * count
        columns["name"] += metrics
        columns["value"] += metrics.values()

    def add_advice(self, row: Mapping[str, Any]) -> None:
        """Take in the result of a question to the language model: a row of the table ``advice`` without its time."""
        self._settle()
        self._store.append("advice", {name: [value] for name, value in {"time": time.time(), **row}.items()})

    def begin_flush(self) -> None:
        """Flush while the training runs, which waits only where it has something new to hand over.

        An error of the writing is raised then. What is on disk survives whatever happens to the process.
        """
        self._collect()
        if self._writer is None:
            self._writer = ThreadPoolExecutor(1, "recorder")
        self._writing = self._writer.submit(self._store.flush)

    @property
    def flush_is_due(self) -> bool:
        """True if a few seconds have passed since the last flush, or one after the end of an episode."""
        waited = time.monotonic() - self._last_flush
        return waited >= (EPISODE_FLUSH_SECONDS if self._episode_ended else FLUSH_SECONDS)

    def flush(self) -> None:
        """Write everything to disk except the decisions that are held back."""
        self._collect()
        self._store.flush()

    def finish(self) -> None:
        """Write everything to disk. Decisions that were held back have no return: their outcome is not known.

        They are in a separate file, so that a resumed run sets aside that one and no part of another.
        """
        self.flush()
        self.hand_over(all_of_them=True)
        self._store.flush()

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
        self.hand_over()
        for table in sorted(self._waiting):
            self._store.append(table, self._waiting.pop(table))  # keeps them even if it cannot write
        self._last_flush = time.monotonic()
        self._episode_ended = False

    def hand_over(self, *, all_of_them: bool = False) -> None:
        """Hand decisions to the store: those that are known, or all of them."""
        self._settle()
        columns = None if self._decisions is None else self._decisions.take(all_of_them=all_of_them)
        if columns is not None:
            self._store.append("decisions", columns)
            self._on_batch({name: _array(column) for name, column in columns.items()})

    def supersede(self, step: int) -> int:
        """Set aside what was recorded after the checkpoint at ``step``. Return the number of rows.

        Decisions that the checkpoint holds back may have been recorded after it, without their outcome.
        """
        # Held ones first, so that a file which has rows of both kinds is split once.
        first_held = None if self._decisions is None else self._decisions.first_held
        held = 0 if first_held is None else self._store.supersede(first_held - 1, ("decisions",))
        return held + self._store.supersede(step)

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the decisions. Call :meth:`flush` before."""
        return {} if self._decisions is None else self._decisions.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        if self._decisions is not None:
            self._decisions.load_state_dict(state)


class StepRecorder(Recorder):
    """Recorder of a training, whose environments step together.

    A decision's row holds its step record, the count of steps over all environments, the environment, the time, the
    six actions before it, what the learner thought of it, and what came of it; see :mod:`.decision_rows`.

    Args:
        store: the tables.
        num_envs: environments.
        on_batch, start: as those of :class:`Recorder`.
        reward_names: names of the record's reward parts.
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
        self._rows = StepRows(num_envs, BATCH_ROWS, reward_names)
        super().__init__(store, self._rows, on_batch=on_batch, start=start)
        self._num_envs = num_envs

    def add_steps(
        self,
        global_step: int,
        records: NDArray[Any],
        models: Sequence[str] | None = None,
        latencies_s: Sequence[float] | None = None,
        values: NDArray[np.float32] | None = None,
    ) -> None:
        """Take in steps of every environment.

        Args:
            global_step: the count before them.
            records: of the steps, shape (steps, num_envs).
            models: for each environment the language model whose advice was carried out, or an empty text.
            latencies_s: for each how many seconds its answer took, 0 for none.
            values: what the learner thought of each action, (num_envs, num_actions), not finite where unknown.
        """
        now, done = time.time(), 0
        while done < len(records):
            if not self._rows.room:
                self.hand_over()
            part = records[done : done + self._rows.room]
            self._rows.add(global_step + done * self._num_envs, now, part, models, latencies_s, values)
            done += len(part)

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the rows to come, and the decisions that are held back. Call :meth:`flush` before."""
        return {"previous": self._rows.previous.tolist(), "held": super().state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. A checkpoint of an earlier version holds no decisions back."""
        stored = state["previous"] if "previous" in state else state["codes"]
        self._rows.previous = previous_from(stored, (self._num_envs, REMEMBERED_ACTIONS))
        if "held" in state:
            super().load_state_dict(state["held"])


def _json(values: Mapping[str, float]) -> str:
    return json.dumps(dict(values)) if values else "{}"


def _array(column: Any) -> NDArray[Any]:
    if isinstance(column, Coded):
        return column.decoded()
    return np.asarray(column, object if isinstance(column[0], str) else None)
