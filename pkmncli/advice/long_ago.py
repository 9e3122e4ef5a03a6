"""Summary of what happened long ago in an environment, from its step records alone: no model is asked for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pkmncli.plurals import counted


@dataclass(frozen=True, slots=True)
class EndedEpisode:
    """Result of an episode."""

    episode: int
    steps: int
    reward: float
    milestones: int
    """Milestones that were reached."""
    map_id: int
    """Map of the last step."""
    terminated: bool

    def in_words(self, milestones: int, maps: Mapping[int, str]) -> str:
        """Return the result in words.

        Args:
            milestones: number of milestones of the environment.
            maps: names of the maps, by id.
        """
        reached = f"{self.milestones} of {counted(milestones, 'milestone')}, " if milestones else ""
        place = f" in {maps[self.map_id]}" if self.map_id in maps else ""
        end = "ended" if self.terminated else "ran out of steps"
        steps = counted(self.steps, "step")
        return f"episode {self.episode + 1}, {reached}reward {self.reward:.1f} in {steps}, {end}{place}"


@dataclass(slots=True)
class EpisodeHistory:
    """Episodes that have ended in an environment: their number and averages, the best and the latest one."""

    count: int = 0
    steps: int = 0
    """Steps of all ended episodes."""
    reward: float = 0.0
    """Reward of all ended episodes."""
    best: EndedEpisode | None = None
    """Episode with the most milestones, and of these with the highest reward."""
    latest: EndedEpisode | None = None
    running_reward: float = 0.0

    def add(self, record: np.void) -> None:
        """Add the record of a step."""
        self.running_reward += float(record["reward"])
        if not (record["terminated"] or record["truncated"]):
            return
        ended = EndedEpisode(
            int(record["episode"]),
            int(record["step"]),
            self.running_reward,
            int(record["milestones"]),
            int(record["map_id"]),
            bool(record["terminated"]),
        )
        self.count += 1
        self.steps += ended.steps
        self.reward += ended.reward
        self.running_reward = 0.0
        self.latest = ended
        if self.best is None or (ended.milestones, ended.reward) > (self.best.milestones, self.best.reward):
            self.best = ended

    def lines(self, earlier: Sequence[tuple[str, int]], milestones: int, maps: Mapping[int, str]) -> list[str]:
        """Return the summary for a prompt, at most four lines; empty if nothing is long ago.

        Args:
            earlier: older events of the running episode, with their numbers.
            milestones: number of milestones of the environment.
            maps: names of the maps, by id.
        """
        lines = []
        if self.best is not None and self.latest is not None:
            average = f"{self.reward / self.count:.1f} in {counted(round(self.steps / self.count), 'step')}"
            lines.append(f"{counted(self.count, 'episode')} before this one, on average reward {average}")
            lines.append(f"the best: {self.best.in_words(milestones, maps)}")
            if self.latest != self.best:
                lines.append(f"the latest: {self.latest.in_words(milestones, maps)}")
        if earlier:
            happened = ", ".join(text if count == 1 else f"{text} ({count} times)" for text, count in earlier)
            lines.append(f"earlier in this episode: {happened}")
        return lines

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return asdict(self)

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> EpisodeHistory:
        """Return the history that :meth:`state_dict` describes."""
        episodes = {name: state[name] and EndedEpisode(**state[name]) for name in ("best", "latest")}
        return cls(**{**state, **episodes})
