"""One environment as the advice desk sees it: what is asked, what is live, and what it came to."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pkmncli.advice.allowance import Trail
from pkmncli.advice.lessons import Situation
from pkmncli.advice.triggers import Event, EventWatcher

KEPT_FAILURES = 5


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that is under way, as a run that goes on asks it again."""

    system: str
    prompt: str
    event: Event


@dataclass(slots=True)
class AdvisedEnvironment:
    """One environment's place: what is due and what is live."""

    watcher: EventWatcher
    next_ask: int = 0
    asked_at: int = -1
    """Step of the latest question, over all environments."""
    asked: OpenQuestion | None = None
    """The latest question, while it is open."""
    passed: frozenset[Event] = frozenset()
    """What has happened since it was asked."""
    situation: Situation | None = None
    """That the latest step led to; None at the start of an episode."""
    between: bool = False
    """Whether the game is on its way from one state to another: an answer could only be about what is over."""
    event: Event | None = Event.EPISODE
    live: bool = False
    """Whether its pilot has advice."""
    fresh: bool = False
    """Whether it has had it for no step yet."""
    set_aside: int = 0
    """Steps for which advice that was set aside still counts as there."""
    trail: Trail = field(default_factory=Trail)
    """What the latest advice has to answer for."""
    goal: str = ""
    skill: str = ""
    """Of the live advice; empty for presses."""
    model: str = ""
    latency_s: float = 0.0
    """From the question to the answer that is live."""
    deed: str = ""
    """What the live advice would have done, as lessons name it."""
    given_in: Situation | None = None
    steps: int = 0
    """Steps for which the live advice has been followed."""
    reward: float = 0.0
    """Of the advised side's steps while it was live, those included on which the rules read on for it."""
    failures: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_FAILURES))

    def state_dict(self) -> dict[str, Any]:
        """Plain values to go on from."""
        return {
            "watcher": self.watcher.state_dict(),
            "next_ask": self.next_ask,
            "asked_at": self.asked_at,
            "asked": None if self.asked is None else asdict(self.asked),
            "passed": sorted(self.passed),
            "situation": self.situation,
            "between": self.between,
            "event": None if self.event is None else str(self.event),
            "live": self.live,
            "fresh": self.fresh,
            "set_aside": self.set_aside,
            "after": [self.trail.lasted, self.trail.aftermath],
            "texts": [self.goal, self.skill, self.model, self.deed],
            "given_in": self.given_in,
            "latency_s": self.latency_s,
            "steps": self.steps,
            "reward": self.reward,
            "failures": list(self.failures),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`."""
        self.watcher.load_state_dict(state["watcher"])
        self.next_ask, self.asked_at = int(state["next_ask"]), int(state["asked_at"])
        asked = state["asked"]
        self.asked = asked and OpenQuestion(asked["system"], asked["prompt"], Event(asked["event"]))
        self.passed = frozenset(Event(one) for one in state["passed"])
        self.situation = state["situation"] and Situation(*state["situation"])
        self.between = bool(state["between"])
        self.event = None if state["event"] is None else Event(state["event"])
        self.live, self.fresh, self.set_aside = bool(state["live"]), bool(state["fresh"]), int(state["set_aside"])
        self.trail = Trail(*map(int, state["after"]))
        self.goal, self.skill, self.model, self.deed = state["texts"]
        self.given_in = state["given_in"] and Situation(*state["given_in"])
        self.latency_s = float(state.get("latency_s", 0.0))  # a checkpoint of an earlier version has none
        self.steps, self.reward = int(state["steps"]), float(state["reward"])
        self.failures = deque(state["failures"], maxlen=KEPT_FAILURES)
