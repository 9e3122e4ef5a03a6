"""Decisions that are taken one at a time, held back until it is known what came of them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from pkmncli.training.recording.decision_rows import judge


class SingleDecisions:
    """Collector of decisions of any number of environments, in the order in which they were taken.

    Their ``near_return`` is that of the rows of a training. Decisions leave in their order, so they also wait for those
    of other environments, but not for more than ``capacity`` later ones.

    Args:
        capacity: decisions after which some should be taken.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._rows: list[dict[str, Any]] = []
        self._new = 0
        """Decisions since some were taken last."""
        self._episodes: dict[int, int] = defaultdict(int)
        """Ended episodes of each environment."""
        self._steps: dict[int, int] = defaultdict(int)
        """Decisions of each environment's running episode."""

    @property
    def full(self) -> bool:
        """True if some should be taken before another one comes."""
        return self._new >= self._capacity

    @property
    def first_held(self) -> int | None:
        """The global step of the first decision that waits; None if none does."""
        return int(self._rows[0]["global_step"]) if self._rows else None

    def add(self, environment: int, row: Mapping[str, Any]) -> dict[str, Any]:
        """Take in a decision. Return its row, with episode and step."""
        self._steps[environment] += 1
        full = {
            **row,
            "environment": environment,
            "episode": self._episodes[environment],
            "step": self._steps[environment],
            "time": time.time(),
        }
        self._rows.append(full)
        self._new += 1
        return full

    def end_episode(self, environment: int) -> int:
        """Note that an environment's episode has ended. Return the number of that episode, from 0."""
        self._steps[environment] = 0
        self._episodes[environment] += 1
        return self._episodes[environment] - 1

    def take(self, *, all_of_them: bool = False) -> dict[str, list[Any]] | None:
        """Return decisions whose return is known as columns, in their order; None if there are none.

        Args:
            all_of_them: also those that are not known yet; their return is NaN.
        """
        returns, known = self._judge()
        self._new = 0
        leading = int(np.logical_and.accumulate(known).sum())
        count = len(known) if all_of_them else max(leading, len(known) - self._capacity)
        taken, self._rows = self._rows[:count], self._rows[count:]
        if not taken:
            return None
        columns = {name: [row[name] for row in taken] for name in taken[0]}
        return {**columns, "near_return": np.where(known, returns, np.nan)[:count].tolist()}

    def _judge(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the near return of each decision that waits, and whether it is known, (decisions,) each."""
        rows = self._rows
        returns, known = np.zeros(len(rows)), np.zeros(len(rows), np.bool_)
        places: dict[int, list[int]] = defaultdict(list)
        for place, row in enumerate(rows):
            places[row["environment"]].append(place)
        for environment, own in places.items():
            episodes = np.array([*(rows[place]["episode"] for place in own), self._episodes[environment]])
            ends = [rows[place]["terminated"] or rows[place]["truncated"] for place in own]
            rewards = np.array([rows[place]["reward"] for place in own])
            returns[own], _, known[own] = judge(rewards, np.diff(episodes).astype(np.bool_) | ends)
        return returns, known

    def state_dict(self) -> dict[str, Any]:
        """Return the counters, and the decisions that wait, as plain values."""
        rows = [
            {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}
            for row in self._rows
        ]
        return {"episodes": list(self._episodes.items()), "steps": list(self._steps.items()), "held": {"rows": rows}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. A checkpoint of an earlier version holds no decisions back."""
        self._episodes.update(dict(state["episodes"]))
        self._steps.update(dict(state["steps"]))
        self._rows = [dict(row) for row in state.get("held", {}).get("rows", ())]
