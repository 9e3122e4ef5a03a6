"""Journey of an episode: its milestones with the time of each, and the environment's own numbers.

An episode of a long game can take a whole training, so its journey is shown while it runs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pkmncli.api import DEFAULT_FRAMES_PER_SECOND


class Reached(NamedTuple):
    """A milestone that an episode has reached: at which step and emulated frame of it, and when of the training."""

    name: str
    step: int
    frame: int | None
    elapsed_s: float
    """Seconds that the training had taken."""
    global_step: int
    """Steps that it had taken, over all environments."""


@dataclass(frozen=True, slots=True)
class Journey:
    """Milestones and progress of an episode."""

    environment: int
    episode: int
    steps: int
    frames: int
    milestones: tuple[Reached, ...]
    """In the order in which they were reached."""
    total: int
    """Milestones that the game has."""
    progress: Mapping[str, float] = field(default_factory=dict)
    """Numbers that the environment names itself, such as badges and level."""
    steps_since_progress: int | None = None
    """Steps since anything was new: as the environment says it, else since the latest milestone, if there are any."""
    ended: bool = False
    latest_title: str = ""
    """Title of the latest milestone, if the environment declares one."""
    frames_per_second: float = DEFAULT_FRAMES_PER_SECOND
    """Frames of the game that are one second of play."""

    @property
    def furthest_first(self) -> tuple[int, int]:
        """Sorts journeys: more milestones go before fewer, then the one that needed fewer steps for them."""
        return -len(self.milestones), self.milestones[-1].step if self.milestones else 0

    @property
    def play_s(self) -> float:
        """Seconds of play."""
        return self.frames / self.frames_per_second

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as the run's summary has them."""
        return {
            "environment": self.environment,
            "episode": self.episode,
            "ended": self.ended,
            "steps": self.steps,
            "frames": self.frames,
            "frames_per_second": self.frames_per_second,
            "play_time": play_time(self.play_s),
            "latest_milestone": self.milestones[-1].name if self.milestones else None,
            "latest_title": self.latest_title,
            "milestones": [one._asdict() for one in self.milestones],
            "total_milestones": self.total,
            "progress": dict(self.progress),
            "steps_since_progress": self.steps_since_progress,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Journey:
        """Return the journey that :meth:`as_dict` describes."""
        return cls(
            environment=content["environment"],
            episode=content["episode"],
            steps=content["steps"],
            frames=content["frames"],
            milestones=tuple(Reached(**one) for one in content["milestones"]),
            total=content["total_milestones"],
            progress=dict(content["progress"]),
            steps_since_progress=content["steps_since_progress"],
            ended=content["ended"],
            latest_title=content["latest_title"],
            frames_per_second=content.get("frames_per_second", DEFAULT_FRAMES_PER_SECOND),
        )


def play_time(play_s: float, *, seconds: bool = False) -> str:
    """Return seconds of play as h:mm, or h:mm:ss."""
    total = round(play_s) if seconds else int(play_s)
    return f"{total // 3600}:{total // 60 % 60:02}" + (f":{total % 60:02}" if seconds else "")


def in_words(journey: Journey, *, short: bool = False) -> str:
    """Return the journey in a line for people; a short one leaves out the title of the latest milestone."""
    parts = []
    if journey.total:
        reached = f"{len(journey.milestones)} of {journey.total} milestones"
        if journey.milestones:
            title = f" ({journey.latest_title})" if journey.latest_title and not short else ""
            reached += f", latest {journey.milestones[-1].name}{title}"
        parts.append(reached)
    parts += [f"{name} {value:,g}" for name, value in journey.progress.items()]
    parts.append(f"step {journey.steps:,}")
    parts.append(f"{play_time(journey.play_s, seconds=True)} played")
    if journey.environment:
        parts.append(f"in environment {journey.environment}")  # everything else shown of a game is of the first one, 0
    since = journey.steps_since_progress
    if since:
        per_step = journey.play_s / max(journey.steps, 1)
        steps = f"{since:,} step{'s' if since > 1 else ''}"
        parts.append(f"nothing new for {steps} ({play_time(since * per_step, seconds=True)})")
    return ", ".join(parts)


def milestones_ahead(order: Sequence[str], reached: Collection[str], goal: str | None) -> list[str]:
    """Return the milestones after the last one that was reached, up to the goal, in the game's order."""
    of_training = order[: order.index(goal) + 1] if goal is not None and goal in order else order
    last = max((place for place, name in enumerate(of_training) if name in reached), default=-1)
    return list(of_training[last + 1 :])
