"""The latest steps of all environments, from one update to the next; screens stay packed.

Environments begin their next episode in the step that ended the last one. So the observation after a step is that of
the next row, unless the episode ended there: then its last observation is kept separately.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmncli.api import Transitions
from pkmncli.errors import CheckpointError
from pkmncli.learners.labels import NO_LABEL
from pkmncli.learners.observations import Columns
from pkmncli.learners.weights import under

_STEP_COLUMNS: dict[str, type[np.generic]] = {
    "actions": np.int64,  # actions taken
    "log_probs": np.float32,  # of the action, by the policy that chose it; 0 for actions of other sides
    "labels": np.int32,  # the action that the advised side demonstrates; -1 for none
    "own": np.bool_,  # the learner sampled this action itself
    "rewards": np.float32,
    "terminated": np.bool_,
    "ended": np.bool_,  # terminated, truncated, or the experience was interrupted
}

_OVER = "over"
"""Column of a learner with a memory: terminated or truncated, so that the memory was cleared after the step."""


class Rollout:
    """Up to ``n_steps`` steps of ``num_envs`` environments. Arrays are (n_steps, num_envs, ...).

    Actions are numbers, or arrays of that many ``dimensions``.
    """

    def __init__(
        self,
        columns: Mapping[str, tuple[tuple[int, ...], type[np.generic]]],
        n_steps: int,
        num_envs: int,
        memory_size: int = 0,
        dimensions: int = 0,
    ) -> None:
        self.filled = 0
        self.observations: dict[str, NDArray[Any]] = {
            name: np.zeros((n_steps, num_envs, *shape), dtype) for name, (shape, dtype) in columns.items()
        }
        self.steps: dict[str, NDArray[Any]] = {
            name: np.zeros((n_steps, num_envs), dtype) for name, dtype in _STEP_COLUMNS.items()
        }
        if dimensions:
            self.steps["actions"] = np.zeros((n_steps, num_envs, dimensions), np.float32)
        self.memory = np.zeros((num_envs, memory_size), np.float32)
        """(num_envs, memory_size): the learner's memory before the first step, by the network that acted."""
        if memory_size:
            self.steps[_OVER] = np.zeros((n_steps, num_envs), np.bool_)
        self._latest: dict[str, NDArray[Any]] = {}  # observations after the latest step
        self._cut_off: list[tuple[int, int]] = []  # step and environment at which an episode was truncated
        self._cut_off_at: dict[str, list[NDArray[Any]]] = {name: [] for name in columns}  # their last observations

    @property
    def full(self) -> bool:
        """True if there is no room for another step."""
        return self.filled == len(self.steps["ended"])

    def append(
        self,
        observations: Columns,
        transitions: Transitions,
        actions: NDArray[Any],
        next_observations: Columns,
        own: NDArray[np.bool_],
        log_probs: NDArray[np.float32],
        labels: NDArray[np.int64],
        memory: NDArray[np.float32] | None = None,
    ) -> None:
        """Keep one step of every environment.

        Args:
            observations: columns (num_envs, ...) that were acted on.
            transitions: the step itself; its observations and actions are not used.
            actions: (num_envs,) that were taken; continuous ones (num_envs, dimensions).
            next_observations: columns that followed; an episode's last observation if it ended.
            own: (num_envs,), True if the learner sampled the action itself.
            log_probs: (num_envs,), of the learner's own actions.
            labels: (num_envs,), actions that the advised side demonstrates; -1 for none.
            memory: (num_envs, memory_size), the learner's memory before the step; None without a memory.
        """
        self._note_breaks(observations)
        step = self.filled
        if memory is not None and not step:
            self.memory[:] = memory
        for name, array in observations.items():
            self.observations[name][step] = array
        self.steps["actions"][step] = actions
        self.steps["log_probs"][step] = np.where(own, log_probs, 0)
        self.steps["labels"][step] = labels
        self.steps["own"][step] = own
        self.steps["rewards"][step] = transitions.rewards
        self.steps["terminated"][step] = transitions.terminated
        self.steps["ended"][step] = transitions.terminated | transitions.truncated
        if _OVER in self.steps:
            self.steps[_OVER][step] = self.steps["ended"][step]
        self._latest = {name: array.copy() for name, array in next_observations.items()}
        for environment in np.flatnonzero(transitions.truncated & ~transitions.terminated).tolist():
            self._cut(step, environment)
        self.filled += 1

    def successors(self) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
        """Return the observations that followed steps and are not in the next row, except after terminated episodes.

        Returns:
            Places (k, 2), step and environment, and the columns (k, ...) that followed: the last observation of an
            episode truncated there, and the observation after the rollout for an episode that continues.
        """
        going_on = np.flatnonzero(~self.steps["ended"][self.filled - 1])
        places = [*self._cut_off, *((self.filled - 1, environment) for environment in going_on.tolist())]
        columns = {
            name: np.concatenate((_stack(self._cut_off_at[name], latest), latest[going_on]))
            for name, latest in self._latest.items()
        }
        return np.asarray(places, np.int64).reshape(-1, 2), columns

    def starts(self) -> NDArray[np.float32] | None:
        """Return (n_steps, num_envs), 1 if the memory was cleared before a step; None without a memory.

        Experience that was interrupted clears no memory. Before the first step, :attr:`memory` is cleared already.
        """
        if _OVER not in self.steps:
            return None
        starts = np.zeros(self.steps[_OVER].shape, np.float32)
        starts[1:] = self.steps[_OVER][:-1]
        return starts

    def state_dict(self) -> dict[str, Any]:
        """Return copies of the steps so far, as arrays by dotted name."""
        state: dict[str, Any] = {"filled": self.filled}
        if not self.filled:
            return state
        kept = {"observations": self.observations, "steps": self.steps}
        for kind, arrays in kept.items():
            state |= {f"{kind}.{name}": array[: self.filled].copy() for name, array in arrays.items()}
        state |= {f"latest.{name}": array.copy() for name, array in self._latest.items()}
        if self.memory.size:
            state["memory"] = self.memory.copy()
        state["cut_off"] = [list(place) for place in self._cut_off]
        if self._cut_off:
            state |= {f"cut_off_at.{name}": np.stack(arrays) for name, arrays in self._cut_off_at.items()}
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. Raise CheckpointError if it does not fit."""
        filled = int(state["filled"])
        kept = {"observations": self.observations, "steps": self.steps}
        for kind, arrays in kept.items():
            saved = under(kind, state)
            if kind == "steps" and saved:  # checkpoints of earlier versions have no labels
                saved.setdefault("labels", np.full((filled, self.steps["own"].shape[1]), NO_LABEL, np.int32))
            if filled and {name: array.shape for name, array in saved.items()} != {
                name: (filled, *array.shape[1:]) for name, array in arrays.items() if filled <= len(array)
            }:
                raise CheckpointError(
                    "The checkpoint's rollout does not fit this learner: resume with the run's own environment and "
                    "settings."
                )
            for name, array in saved.items():
                arrays[name][:filled] = array
        if "memory" in state:
            self.memory[:] = state["memory"]
        self._latest = {name: np.array(array) for name, array in under("latest", state).items()}
        self._cut_off = [(step, environment) for step, environment in state.get("cut_off", ())]
        saved = under("cut_off_at", state)
        self._cut_off_at = {name: list(saved.get(name, ())) for name in self.observations}
        self.filled = filled

    def _note_breaks(self, observations: Columns) -> None:
        """Truncate the episode at the latest step if its observation is not the expected one.

        This happens when an environment was rebuilt from an earlier state: the steps are not consecutive.
        """
        if not self.filled:
            return
        goes_on = ~self.steps["ended"][self.filled - 1]
        same = np.ones(len(goes_on), bool)
        for name, announced in self._latest.items():
            same &= (observations[name] == announced).reshape(len(same), -1).all(axis=1)
        for environment in np.flatnonzero(goes_on & ~same).tolist():
            self.steps["ended"][self.filled - 1, environment] = True
            self._cut(self.filled - 1, environment)

    def _cut(self, step: int, environment: int) -> None:
        self._cut_off.append((step, environment))
        for name, latest in self._latest.items():
            self._cut_off_at[name].append(latest[environment].copy())


def _stack(kept: list[NDArray[Any]], like: NDArray[Any]) -> NDArray[Any]:
    return np.stack(kept) if kept else np.empty((0, *like.shape[1:]), like.dtype)
