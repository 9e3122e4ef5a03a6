"""Running episodes: actions, hashes and rewards, until each ends and becomes a row of a table."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pkmncli.api import EpisodeSummary, Outcome, Source
from pkmncli.training.workers.action_log import (
    Actions,
    action_array,
    action_bytes,
    action_list,
    no_actions,
    with_actions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pkmncli.training.workers.step_result import StepColumns

OUTCOME_GOAL: Final = "goal"
OUTCOME_ENDED: Final = "ended"
OUTCOME_TIME_LIMIT: Final = "time-limit"

MEMORY_HASH_DTYPE = np.dtype([("step", "<u4"), ("hash", "<u8")])
"""Element of an episode's ``memory_hashes``."""
_MEMORY_HASH = struct.Struct("<IQ")
"""The same, to write one: for a few of them numpy takes several times as long."""


@dataclass
class RunningEpisode:
    """A running episode of an environment. ``first_step`` counts the steps of all environments before it."""

    number: int = 0
    seed: int = 0
    first_step: int = 0
    actions: Actions = field(default_factory=no_actions)
    """Action of each step."""
    fine_hashes: list[int] = field(default_factory=list)
    memory_hashes: list[tuple[int, int]] = field(default_factory=list)
    total_reward: float = 0.0
    steps_by_source: list[int] = field(default_factory=lambda: [0] * len(Source))
    start: str = ""
    """Hash of the saved state that it began in; empty for the training's own start."""

    def add(self, steps: StepColumns) -> None:
        """Take in the steps that follow."""
        if any(steps.memory_hashes):
            hashed = enumerate(steps.memory_hashes, self.steps + 1)
            self.memory_hashes += [(step, digest) for step, digest in hashed if digest]
        self.actions = with_actions(self.actions, steps.actions)
        self.fine_hashes += steps.fine_hashes
        for reward in steps.rewards:
            self.total_reward += reward
        for source in steps.sources:
            self.steps_by_source[source] += 1

    @property
    def steps(self) -> int:
        """Steps taken so far."""
        return len(self.actions)

    def share(self, source: Source) -> float:
        """Share of the steps that ``source`` decided, 0..1."""
        return self.steps_by_source[source] / max(self.steps, 1)

    def summarize(
        self,
        environment: int,
        record: np.void,
        milestones: Mapping[str, int],
        milestone_frames: Mapping[str, int] | None = None,
        *,
        success: bool | None = None,
        metrics: Mapping[str, float] | None = None,
    ) -> EpisodeSummary:
        """Return the summary of the episode, from its last step's record and from what the environment reports."""
        terminated = bool(record["terminated"])
        return EpisodeSummary(
            environment=environment,
            episode=self.number,
            seed=self.seed,
            steps=self.steps,
            total_reward=self.total_reward,
            terminated=terminated,
            outcome=outcome_of(success, terminated=terminated),
            llm_share=self.share(Source.LLM),
            milestone_steps=dict(milestones),
            first_step=self.first_step,
            milestone_frames=dict(milestone_frames or {}),
            success=success,
            metrics=dict(metrics or {}),
        )

    def proof(self) -> dict[str, bytes]:
        """Return what a replay needs and checks, as bytes: actions, fine hashes and memory hashes."""
        return {
            "presses": action_bytes(self.actions),
            "fine_hashes": struct.pack(f"<{len(self.fine_hashes)}Q", *self.fine_hashes),
            "memory_hashes": b"".join([_MEMORY_HASH.pack(step, digest) for step, digest in self.memory_hashes]),
        }

    def state_dict(self) -> dict[str, Any]:
        """Return the episode for a checkpoint: plain values and arrays."""
        return {
            "number": self.number,
            "seed": self.seed,
            "first_step": self.first_step,
            "start": self.start,
            "total_reward": self.total_reward,
            "steps_by_source": self.steps_by_source,
            "memory_hashes": [list(pair) for pair in self.memory_hashes],
            "presses": action_array(self.actions),  # a copy: an array that shares its memory cannot grow
            "fine_hashes": np.asarray(self.fine_hashes, np.uint64),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.number, self.seed, self.first_step = state["number"], state["seed"], state["first_step"]
        self.start, self.total_reward = state["start"], state["total_reward"]
        self.steps_by_source = list(state["steps_by_source"])
        self.memory_hashes = [(step, digest) for step, digest in state["memory_hashes"]]
        self.actions = action_list(np.asarray(state["presses"]))
        self.fine_hashes = state["fine_hashes"].tolist()


def outcome_of(success: bool | None, *, terminated: bool) -> Outcome:
    """Return the outcome of an episode: a success, or how it ended."""
    if success:
        return OUTCOME_GOAL
    return OUTCOME_ENDED if terminated else OUTCOME_TIME_LIMIT
