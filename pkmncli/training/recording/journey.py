"""Journey of an episode: its milestones with the time of each, and the environment's own numbers.

An episode of a long game can take a whole training, so its journey is shown while it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

FRAMES_A_SECOND = 59.7275
"""Frames a second of a Game Boy: 4,194,304 clocks a second, 70,224 a frame (Pan Docs, "Rendering")."""


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
    """Title of the latest milestone, if the environment has one."""

    @property
    def furthest_first(self) -> tuple[int, int]:
        """Sorts journeys: more milestones go before fewer, then the one that needed fewer steps for them."""
        return -len(self.milestones), self.milestones[-1].step if self.milestones else 0

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as the run's summary has them."""
        return {
            "environment": self.environment,
            "episode": self.episode,
            "ended": self.ended,
            "steps": self.steps,
            "frames": self.frames,
            "play_time": play_time(self.frames),
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
        )


def play_time(frames: int, *, seconds: bool = False) -> str:
    """Emulated frames as the game's own time, h:mm, or h:mm:ss."""
    exact = frames / FRAMES_A_SECOND
    total = round(exact) if seconds else int(exact)
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
    parts.append(f"{play_time(journey.frames, seconds=True)} played")
    if journey.environment:
        parts.append(f"in environment {journey.environment}")  # what else is told of a game is of the first one, 0
    since = journey.steps_since_progress
    if since:
        per_step = journey.frames / max(journey.steps, 1)
        steps = f"{since:,} step{'s' if since > 1 else ''}"
        parts.append(f"nothing new for {steps} ({play_time(round(since * per_step), seconds=True)})")
    return ", ".join(parts)
