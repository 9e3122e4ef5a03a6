"""What a training leaves behind for analysis: decisions, episodes and metrics, handed to the store in batches."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import EpisodeSummary, Store
from pkmncli.training.shared_block import RECORD_DTYPE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from pkmncli.training.episodes import RunningEpisode

BATCH_ROWS = 4096
FLUSH_SECONDS = 5.0

REMEMBERED_ACTIONS = 6
_CODE_LIMIT = 10**REMEMBERED_ACTIONS

_LEFT_OUT = ("pilot_confidence", "advice_steps_left", "next_map", "next_phase")


class Recorder:
    """Collects rows without touching the store at every step.

    A decision's row holds its step record, the count of steps over all environments, the environment, the time, and
    the six actions before it as one number: a decimal digit each, action + 1, the latest last, 0 for none.
    """

    def __init__(
        self,
        store: Store,
        num_envs: int,
        *,
        on_batch: Callable[[Mapping[str, Any]], None] = lambda batch: None,
        start: str = "",
    ) -> None:
        self._store = store
        self._start = start
        self._on_batch = on_batch
        self._num_envs = num_envs
        self._environments = np.arange(num_envs, dtype=np.uint16)
        capacity = max(BATCH_ROWS, num_envs)
        self._records: NDArray[Any] = np.zeros(capacity, RECORD_DTYPE)
        self._global_steps = np.zeros(capacity, np.int64)
        self._environment_column = np.zeros(capacity, np.uint16)
        self._times = np.zeros(capacity, np.float64)
        self._previous = np.zeros(capacity, np.uint32)
        self._models = np.full(capacity, "", object)
        self._rows = 0
        self._codes = np.zeros(num_envs, np.uint32)
        self._metrics: dict[str, list[Any]] = defaultdict(list)
        self._last_flush = time.monotonic()
        self.seconds = 0.0
        """Time spent on recording."""

    def add_steps(self, global_step: int, records: NDArray[Any], models: Sequence[str] | None = None) -> None:
        """Takes in one step of every environment.

        Args:
            global_step: the count before it.
            records: of the step, shape (num_envs,).
            models: for each environment the language model whose advice was carried out, or an empty text.
        """
        began = time.perf_counter()
        count = self._num_envs
        if self._rows + count > len(self._records):
            self._hand_over()
        rows = slice(self._rows, self._rows + count)
        self._records[rows] = records
        self._global_steps[rows] = global_step + 1 + self._environments
        self._environment_column[rows] = self._environments
        self._times[rows] = time.time()
        self._previous[rows] = self._codes
        if models is not None:
            self._models[rows] = models
        self._rows += count
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
        """Takes in an episode that ended.

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
        self._store.append("episodes", {name: [value] for name, value in row.items()})

    def add_metrics(self, global_step: int, metrics: Mapping[str, float]) -> None:
        """Takes in measured values, by name."""
        now = time.time()
        for name, value in metrics.items():
            for column, entry in zip(
                ("global_step", "time", "name", "value"), (global_step, now, name, value), strict=True
            ):
                self._metrics[column].append(entry)

    def add_advice(self, row: Mapping[str, Any]) -> None:
        """Takes in what became of a question to the language model: a row of the table ``advice``, but its time."""
        self._store.append("advice", {name: [value] for name, value in {"time": time.time(), **row}.items()})

    def flush_if_due(self) -> None:
        """Flushes when a few seconds have passed. What is on disk survives whatever happens to the process."""
        if time.monotonic() - self._last_flush >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Puts everything on disk."""
        began = time.perf_counter()
        self._hand_over()
        if self._metrics:
            self._store.append("metrics", self._metrics)
            self._metrics = defaultdict(list)
        self._store.flush()
        self._last_flush = time.monotonic()
        self.seconds += time.perf_counter() - began

    def _hand_over(self) -> None:
        if not self._rows:
            return
        records = self._records[: self._rows]
        columns: dict[str, Any] = {
            "global_step": self._global_steps[: self._rows].copy(),
            "environment": self._environment_column[: self._rows].copy(),
            "time": self._times[: self._rows].copy(),
            "previous_actions": self._previous[: self._rows].copy(),
        }
        for name in RECORD_DTYPE.names or ():
            if name not in _LEFT_OUT:
                columns[name] = np.ascontiguousarray(records[name])
        columns["reason"] = _decode(columns["reason"])
        columns["model"] = self._models[: self._rows].copy()
        self._rows = 0
        self._store.append("decisions", columns)
        self._on_batch(columns)

    def state_dict(self) -> dict[str, Any]:
        """Plain values that the next rows depend on. Call :meth:`flush` before."""
        return {"codes": self._codes.tolist()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`."""
        self._codes = np.asarray(state["codes"], np.uint32)


def _decode(reasons: NDArray[np.bytes_]) -> NDArray[np.object_]:
    """Few reasons recur many times, so each is decoded once."""
    unique, inverse = np.unique(reasons, return_inverse=True)
    decoded = np.array([reason.decode(errors="ignore") for reason in unique.tolist()], object)
    texts: NDArray[np.object_] = decoded[inverse]
    return texts
