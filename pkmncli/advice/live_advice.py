"""State of advice in one environment: the open question, the live advice, and what may be asked next."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pkmncli.advice.long_ago import EpisodeHistory
from pkmncli.advice.triggers import Event, EventWatcher
from pkmncli.advice.worth import Charge, Situation

KEPT_FAILURES = 5
"""Latest failures of an episode in a prompt."""


@dataclass(slots=True)
class OpenQuestion:
    """Question without an answer. A resumed run sends it again."""

    system: str
    prompt: str
    event: Event
    """Reason to ask."""
    asked_at: int
    """Step of the question, over all environments."""
    happened: frozenset[Event] = frozenset()
    """Events since the question."""
    sent: bool = False
    """True if this process has sent it."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "system": self.system,
            "prompt": self.prompt,
            "event": str(self.event),
            "asked_at": self.asked_at,
            "happened": sorted(self.happened),
        }

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> OpenQuestion:
        """Return the question that :meth:`state_dict` describes."""
        happened = frozenset(Event(name) for name in state["happened"])
        return cls(state["system"], state["prompt"], Event(state["event"]), int(state["asked_at"]), happened)


@dataclass(slots=True)
class LiveAdvice:
    """Advice that a pilot has, and its results so far."""

    goal: str
    skill: str
    """Empty for actions."""
    key: str
    """Equal for the same advice, as lessons name it."""
    model: str
    latency_s: float
    """Seconds from the question to the answer."""
    given_in: Situation | None
    """Situation in which it was given; None at the start of an episode."""
    fresh: bool = True
    """True until the pilot has acted with it: the next action may have been proposed before."""
    steps: int = 0
    """Steps for which it has been followed."""
    reward: float = 0.0
    """Reward that counts for it."""
    backers: tuple[str, ...] = ()
    """Models of an ensemble that gave it."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return asdict(self)

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> LiveAdvice:
        """Return the advice that :meth:`state_dict` describes."""
        given_in, backers = state["given_in"], tuple(state.get("backers", ()))  # older checkpoints have no backers
        return cls(**{**state, "given_in": None if given_in is None else Situation(*given_in), "backers": backers})


@dataclass(slots=True)
class AdvisedEnvironment:
    """State of advice in one environment."""

    watcher: EventWatcher
    event: Event | None = Event.EPISODE
    """Reason to ask now; None if there is none but the interval."""
    next_ask: int = 0
    """Step, over all environments, from which it is asked without a reason."""
    situation: Situation | None = None
    """Situation that the latest step led to; None at the start of an episode."""
    between: bool = False
    """True while the game changes from one state to another: an answer could only be about the past."""
    question: OpenQuestion | None = None
    live: LiveAdvice | None = None
    ended: LiveAdvice | None = None
    """Latest advice that has ended; the pilot's next action may still carry it out."""
    set_aside_steps: int = 0
    """Steps for which advice that was set aside still counts as present."""
    charge: Charge = field(default_factory=Charge)
    outcomes: Mapping[str, Any] = field(default_factory=dict)
    """Rewards of both sides in the latest episode that has ended; not part of the state."""
    failures: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_FAILURES))
    """Advice of this episode that brought nothing, for a prompt."""
    history: EpisodeHistory = field(default_factory=EpisodeHistory)

    def note_asked(self, step: int, interval: int) -> None:
        """Note a question at a step; the next one is due ``interval`` steps later, over all environments."""
        self.event = None
        self.next_ask = step + interval

    def note_event(self, event: Event) -> None:
        """Note an event as a reason to ask, and for the open question."""
        self.event = event
        if self.question is not None:
            self.question.happened |= {event}

    def begin_episode(self) -> None:
        """Forget the advice of the episode before."""
        self.failures.clear()
        self.withdraw()
        self.set_aside_steps, self.situation, self.between = 0, None, False
        self.outcomes, self.charge = self.charge.outcomes(), Charge()

    def give(self, advice: LiveAdvice) -> None:
        """Make advice the live one. The same advice continues the count of what has begun."""
        if self.live is not None and self.live.key == advice.key:
            advice = replace(advice, given_in=self.live.given_in, steps=self.live.steps, reward=self.live.reward)
        self.live, self.set_aside_steps = advice, 0

    def withdraw(self) -> None:
        """End the live advice, if there is any."""
        self.live, self.ended = None, self.live or self.ended

    @property
    def carried_out(self) -> LiveAdvice | None:
        """Advice that an action of the language model carries out; None before any was given."""
        return self.live or self.ended

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "watcher": self.watcher.state_dict(),
            "event": None if self.event is None else str(self.event),
            "next_ask": self.next_ask,
            "situation": self.situation,
            "between": self.between,
            "question": None if self.question is None else self.question.state_dict(),
            "live": None if self.live is None else self.live.state_dict(),
            "ended": None if self.ended is None else self.ended.state_dict(),
            "set_aside_steps": self.set_aside_steps,
            "charge": self.charge.state(),
            "failures": list(self.failures),
            "history": self.history.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.watcher.load_state_dict(state["watcher"])
        self.event = None if state["event"] is None else Event(state["event"])
        self.next_ask = int(state["next_ask"])
        self.situation = state["situation"] and Situation(*state["situation"])
        self.between = bool(state["between"])
        self.question = state["question"] and OpenQuestion.from_state_dict(state["question"])
        self.live = state["live"] and LiveAdvice.from_state_dict(state["live"])
        self.ended = state["ended"] and LiveAdvice.from_state_dict(state["ended"])
        self.set_aside_steps = int(state["set_aside_steps"])
        self.charge = Charge.from_state(state["charge"])
        self.failures = deque(state["failures"], maxlen=KEPT_FAILURES)
        if "history" in state:  # older checkpoints have none
            self.history = EpisodeHistory.from_state_dict(state["history"])
