"""The steps of a training on their way to the store: held back until it is known what came of them.

A step is judged by what its episode brought within :data:`DECISION_HORIZON` steps, its own included. So the latest
steps wait; they leave in the order in which they were taken, whole steps of all environments, each once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import DECISION_HORIZON, NO_ACTION, REMEMBERED_ACTIONS, REWARD_PARTS, Coded
from pkmncli.training.workers.shared_memory import RECORD_DTYPE

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEFT_OUT = frozenset({"reward_parts", "consequence", "next_map", "next_phase", "pilot_action", "reason"})
_OTHER = "other"


class StepRows:
    """Collector of steps of ``num_envs`` environments, given out as columns once they are known.

    Args:
        num_envs: environments, each of which takes every step.
        capacity: rows to make room for; as many steps are held at least as are needed to know one.
        reward_names: what the record's reward parts are called.
    """

    def __init__(self, num_envs: int, capacity: int, reward_names: Sequence[str] = ()) -> None:
        self._num_envs = num_envs
        steps = max(capacity // num_envs, 2 * DECISION_HORIZON)
        self._steps = 0
        self._records: NDArray[Any] = np.zeros((steps, num_envs), RECORD_DTYPE)
        self._record_bytes = self._records.view(np.uint8)  # in one piece copied much faster than field by field
        self._global_steps = np.zeros(steps, np.int64)
        self._times = np.zeros(steps, np.float64)
        self._before = np.full((num_envs, REMEMBERED_ACTIONS), NO_ACTION, np.int32)
        """Actions before the first step that is held."""
        self._latencies = np.zeros((steps, num_envs), np.float32)
        self._models: list[Sequence[str]] = []
        self._values: NDArray[np.float32] | None = None
        names = list(reward_names)
        self._reward_names = names if len(names) <= REWARD_PARTS else [*names[: REWARD_PARTS - 1], _OTHER]
        self._no_models = [""] * num_envs

    @property
    def room(self) -> int:
        """Steps that can be added before some are taken."""
        return len(self._records) - self._steps

    def add(
        self,
        global_step: int,
        now: float,
        records: NDArray[Any],
        models: Sequence[str] | None = None,
        latencies_s: Sequence[float] | None = None,
        values: NDArray[np.float32] | None = None,
    ) -> None:
        """Take in steps of every environment at the time ``now``.

        The other arguments are those of :meth:`StepRecorder.add_steps`.
        """
        count = len(records)
        places = slice(self._steps, self._steps + count)
        flat = np.ascontiguousarray(records)
        self._record_bytes[places] = flat.view(np.uint8)
        self._global_steps[places] = range(global_step, global_step + count * self._num_envs, self._num_envs)
        self._times[places] = now
        self._latencies[places] = 0.0 if latencies_s is None else latencies_s
        self._models += [self._no_models if models is None else models] * count
        if values is not None:
            self._room_for_values(values.shape[1])[places] = values
        elif self._values is not None:
            self._values[places] = np.nan
        self._steps += count

    def take(self, *, all_of_them: bool = False) -> dict[str, Any] | None:
        """Return the steps whose outcome is known, as columns of the table of decisions; None if there are none.

        Args:
            all_of_them: also the steps that are not known yet: their return is NaN, their outcome what came so far.
        """
        held = self._records[: self._steps]
        returns, outcomes, known = judge(held["reward"], held["terminated"] | held["truncated"], held["consequence"])
        count = self._steps if all_of_them else int(np.logical_and.accumulate(known.all(axis=1)).sum())
        if not count:
            return None
        records = self._records[:count].ravel()
        columns: dict[str, Any] = {
            "global_step": (self._global_steps[:count, None] + 1 + np.arange(self._num_envs)).ravel(),
            "environment": np.tile(np.arange(self._num_envs, dtype=np.uint16), count),
            "time": np.repeat(self._times[:count], self._num_envs),
            "latency_s": self._latencies[:count].flatten(),
        }
        previous = self._previous(count)
        for place in range(REMEMBERED_ACTIONS):
            columns[f"previous_{place + 1}"] = previous[:count, :, place].flatten()
        columns |= {name: records[name].copy() for name in RECORD_DTYPE.names or () if name not in _LEFT_OUT}
        columns["reason"] = _coded(records["reason"].tolist(), lambda reason: reason.decode(errors="ignore"))
        columns["model"] = self._coded_models(count)
        columns["reward_parts"] = self._parts(records)
        columns["near_return"] = np.where(known, returns, np.nan)[:count].ravel().astype(np.float32)
        columns["outcome"] = outcomes[:count].ravel()
        columns |= compare(
            records["action"], None if self._values is None else self._values[:count].reshape(len(records), -1)
        )
        self._before = previous[count]
        self._drop(count)
        return columns

    def _previous(self, count: int) -> NDArray[np.int32]:
        """Return the actions before the first ``count`` steps, and before the next: (count + 1, num_envs, 6).

        Those of the same episode, the latest first; -1 for none.
        """
        previous = np.empty((count + 1, self._num_envs, REMEMBERED_ACTIONS), np.int32)
        previous[0] = self._before
        records = self._records[:count]
        ended = records["terminated"] | records["truncated"]
        latest = records["action"]
        for place in range(REMEMBERED_ACTIONS):
            previous[1:, :, place] = np.where(ended, NO_ACTION, latest)
            latest = previous[:count, :, place]
        return previous

    @property
    def previous(self) -> NDArray[np.int32]:
        """Actions before the next step, (num_envs, 6), the latest first; -1 for none."""
        previous: NDArray[np.int32] = self._previous(self._steps)[-1]
        return previous

    @previous.setter
    def previous(self, actions: NDArray[np.int32]) -> None:
        assert not self._steps
        self._before = actions

    def _coded_models(self, count: int) -> Coded:
        if all(step is self._no_models for step in self._models[:count]):
            return Coded(np.zeros(count * self._num_envs, np.uint32), [""])
        return _coded([model for step in self._models[:count] for model in step], str)

    def _parts(self, records: NDArray[Any]) -> Coded:
        """Return the parts of the rewards: one mapping of non-zero parts for each distinct set."""
        parts = records["reward_parts"]
        codes = np.zeros(len(records), np.uint32)
        paid = np.flatnonzero(parts.any(axis=1))
        known: dict[bytes, int] = {b"": 0}
        codes[paid] = [known.setdefault(parts[row].tobytes(), len(known)) for row in paid.tolist()]
        return Coded(codes, [self._named(content) for content in known])

    def _named(self, content: bytes) -> dict[str, float]:
        values = np.frombuffer(content, np.float32).tolist()
        return {name: value for name, value in zip(self._reward_names, values, strict=False) if value}

    def _drop(self, count: int) -> None:
        left = self._steps - count
        kept = (self._records, self._global_steps, self._times, self._latencies, self._values)
        for array in kept:
            if array is not None:
                array[:left] = array[count : self._steps].copy()
        del self._models[:count]
        self._steps = left

    def _room_for_values(self, num_actions: int) -> NDArray[np.float32]:
        if self._values is None:
            self._values = np.full((len(self._records), self._num_envs, num_actions), np.nan, np.float32)
        return self._values

    # Checkpoints ---------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the steps that wait, as plain values and arrays."""
        held = slice(0, self._steps)
        records = self._records[held]
        state: dict[str, Any] = {
            "times": self._times[held].tolist(),
            "latencies_s": self._latencies[held].tolist(),
            "models": [list(models) for models in self._models],
            "global_steps": self._global_steps[held].copy(),
            "previous": self._previous(self._steps)[:-1],
        }
        state |= {f"record.{name}": _plain(records[name].copy()) for name in RECORD_DTYPE.names or ()}
        if self._values is not None:
            state["values"] = self._values[held].copy()
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. A field of the record that it lacks is 0."""
        count = self._steps = len(state["times"])
        self._records[:count] = np.zeros((), RECORD_DTYPE)
        for name in RECORD_DTYPE.names or ():
            if f"record.{name}" in state:
                field = self._records[name]
                stored = np.ascontiguousarray(state[f"record.{name}"])
                field[:count] = stored.view(field.dtype)[..., 0] if field.dtype.kind == "S" else stored
        self._global_steps[:count] = state["global_steps"]
        if count:
            self._before = previous_from(state["previous"], (count, *self._before.shape))[0]
        self._times[:count] = state["times"]
        self._latencies[:count] = np.reshape(state["latencies_s"], (count, self._num_envs))
        self._models = [list(models) for models in state["models"]]
        self._values = None
        if "values" in state:
            self._room_for_values(state["values"].shape[2])[:count] = state["values"]

    @property
    def first_held(self) -> int | None:
        """The global step of the first row that waits; None if none does."""
        return int(self._global_steps[0]) + 1 if self._steps else None


def previous_from(stored: Any, shape: tuple[int, ...]) -> NDArray[np.int32]:
    """Return remembered actions of this shape, (..., 6), from a checkpoint: the latest first, -1 for none.

    Versions before 0.2 stored the six actions of an environment as one number: a decimal digit each, the action + 1,
    the latest last, 0 for none.
    """
    array = np.asarray(stored, np.int64)
    if array.shape != shape:
        array = array[..., None] // 10 ** np.arange(REMEMBERED_ACTIONS) % 10 - 1
    return array.astype(np.int32)


def judge(
    rewards: NDArray[Any], ends: NDArray[np.bool_], consequences: NDArray[np.uint8] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the returns and outcomes of steps over :data:`DECISION_HORIZON` steps, and whether these are final.

    Args:
        rewards: of consecutive steps, (steps,) or (steps, num_envs).
        ends: true where a step ended its episode.
        consequences: of the steps, as numbers; none without.

    Returns:
        Three arrays of that shape. What is not final yet counts what there is.
    """
    steps, shape = len(rewards), rewards.shape
    rewards = rewards.astype(np.float64)
    consequences = np.zeros(shape, np.uint8) if consequences is None else consequences
    returns, outcomes = np.zeros(shape), np.zeros(shape, np.uint8)
    goes_on = np.ones(shape, np.bool_)
    for ahead in range(min(DECISION_HORIZON, steps)):
        rows = slice(0, steps - ahead)
        counts = goes_on[rows]
        returns[rows] += np.where(counts, rewards[ahead:], 0.0)
        np.maximum(outcomes[rows], np.where(counts, consequences[ahead:], 0), out=outcomes[rows])
        goes_on[rows] &= ~ends[ahead:]
    final = ~goes_on
    final[: max(steps - DECISION_HORIZON + 1, 0)] = True
    return returns, outcomes, final


def compare(actions: NDArray[np.int32], values: NDArray[np.float32] | None) -> dict[str, NDArray[Any]]:
    """Return the learner's values of the chosen action, and of the best other one.

    Args:
        actions: the actions taken, (rows,).
        values: of every action, (rows, num_actions), not finite where it is forbidden or unknown; nothing without.

    Returns:
        Columns ``alternative``, -1 where there is none, ``value`` and ``alternative_value``, NaN where unknown.
    """
    rows = len(actions)
    if values is None or values.shape[1] < 1:
        unknown = np.full(rows, np.nan, np.float32)
        return {"alternative": np.full(rows, -1, np.int32), "value": unknown, "alternative_value": unknown.copy()}
    every, chosen = np.arange(rows), actions.astype(np.int64)
    ranked = np.where(np.isfinite(values), values, np.float32(-np.inf))
    own = ranked[every, chosen]
    ranked[every, chosen] = -np.inf
    best = ranked.argmax(axis=1)
    others = ranked[every, best]
    there_is = np.isfinite(others)
    return {
        "alternative": np.where(there_is, best, -1).astype(np.int32),
        "value": np.where(np.isfinite(own), own, np.float32(np.nan)),
        "alternative_value": np.where(there_is, others, np.float32(np.nan)),
    }


def _coded(items: Sequence[Any], shown: Any) -> Coded:
    """Few texts recur many times, so each is dealt with once."""
    known = {item: number for number, item in enumerate(dict.fromkeys(items))}
    codes = np.fromiter(map(known.__getitem__, items), np.uint32, len(items))
    return Coded(codes, [shown(item) for item in known])


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as a file of tensors can hold it: texts as bytes, in one more dimension."""
    return array.view(np.uint8).reshape(*array.shape, array.dtype.itemsize) if array.dtype.kind == "S" else array
