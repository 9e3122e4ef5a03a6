"""Running episodes: actions, hashes and rewards, until each ends and becomes a row of a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pkmncli.api import EpisodeSummary, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

OUTCOME_GOAL: Final = "goal"
OUTCOME_TIME_LIMIT: Final = "time-limit"

MEMORY_HASH_DTYPE = np.dtype([("step", "<u4"), ("hash", "<u8")])
"""Element of an episode's ``memory_hashes``."""


@dataclass
class RunningEpisode:
    """A running episode of an environment. ``first_step`` counts the steps of all environments before it."""

    number: int = 0
    seed: int = 0
    first_step: int = 0
    presses: bytearray = field(default_factory=bytearray)
    fine_hashes: list[int] = field(default_factory=list)
    memory_hashes: list[tuple[int, int]] = field(default_factory=list)
    total_reward: float = 0.0
    steps_by_source: list[int] = field(default_factory=lambda: [0] * len(Source))
    sources: bytearray = field(default_factory=bytearray)
    """Source of each step."""
    rewards: list[float] = field(default_factory=list)
    start: str = ""
    """Hash of the saved state that it began in; empty for the training's own start."""

    def add(self, record: np.void) -> None:
        """Take in one step."""
        self.presses.append(int(record["action"]))
        self.fine_hashes.append(int(record["fine_hash"]))
        if record["memory_hash"]:
            self.memory_hashes.append((int(record["step"]), int(record["memory_hash"])))
        reward = float(record["reward"])
        self.total_reward += reward
        self.rewards.append(reward)
        self.sources.append(int(record["source"]))
        self.steps_by_source[int(record["source"])] += 1

    @property
    def steps(self) -> int:
        """Steps taken so far."""
        return len(self.presses)

    def share(self, source: Source) -> float:
        """Share of the steps that ``source`` decided, 0..1."""
        return self.steps_by_source[source] / max(self.steps, 1)

    def decided(self) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """Return source and reward of each step, both of shape (steps,)."""
        return np.frombuffer(bytes(self.sources), np.uint8), np.asarray(self.rewards, np.float64)

    def summarize(
        self,
        environment: int,
        record: np.void,
        milestones: Mapping[str, int],
        milestone_frames: Mapping[str, int] | None = None,
    ) -> EpisodeSummary:
        """Return the summary of the episode, from its last step's record and its milestones."""
        terminated = bool(record["terminated"])
        return EpisodeSummary(
            environment=environment,
            episode=self.number,
            seed=self.seed,
            steps=self.steps,
            total_reward=self.total_reward,
            terminated=terminated,
            outcome=OUTCOME_GOAL if terminated else OUTCOME_TIME_LIMIT,
            llm_share=self.share(Source.LLM),
            milestone_steps=dict(milestones),
            first_step=self.first_step,
            milestone_frames=dict(milestone_frames or {}),
        )

    def proof(self) -> dict[str, bytes]:
        """Return what a replay needs and checks, as bytes: actions, fine hashes and memory hashes."""
        return {
            "presses": bytes(self.presses),
            "fine_hashes": np.asarray(self.fine_hashes, "<u8").tobytes(),
            "memory_hashes": np.asarray(self.memory_hashes, MEMORY_HASH_DTYPE).tobytes(),
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
            "presses": np.frombuffer(bytes(self.presses), np.uint8),
            "fine_hashes": np.asarray(self.fine_hashes, np.uint64),
            "sources": np.frombuffer(bytes(self.sources), np.uint8),
            "rewards": np.asarray(self.rewards, np.float64),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.number, self.seed, self.first_step = state["number"], state["seed"], state["first_step"]
        self.start, self.total_reward = state["start"], state["total_reward"]
        self.steps_by_source = list(state["steps_by_source"])
        self.memory_hashes = [(step, digest) for step, digest in state["memory_hashes"]]
        self.presses = bytearray(state["presses"].tobytes())
        self.fine_hashes = state["fine_hashes"].tolist()
        self.sources = bytearray(state["sources"].tobytes())
        self.rewards = state["rewards"].tolist()
