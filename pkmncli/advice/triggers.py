"""Events in an environment, derived from its step records: reasons to ask for advice, and lines for a prompt."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from pkmncli.api import PhaseRole

STUCK_STEPS = 60
"""Steps without a new state or a reward after which an environment counts as stuck, and again after as many more."""

KEPT_LINES = 12
KEPT_EARLIER = 12
"""Maximum number of different older events of an episode; the one that was last seen longest ago goes."""


class Event(StrEnum):
    """Reason to ask for advice."""

    EPISODE = "new episode"
    MAP = "new map"
    BATTLE = "battle begins"
    BATTLE_OVER = "battle ends"
    CHOICE = "a question"
    GOAL = "goal reached"
    STUCK = "stuck"
    INTERVAL = "interval"
    """Nothing happened, but the interval has passed."""


@dataclass(slots=True)
class EventWatcher:
    """Watcher of one environment.

    Args:
        phase_roles: the role of each phase of the environment.
        milestone_names: the environment's names of its milestones.
        map_names: the environment's names of its maps, by id.
    """

    phase_roles: Sequence[PhaseRole]
    milestone_names: Sequence[str]
    map_names: Mapping[int, str]
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_LINES))
    """Latest events for a prompt, oldest first."""
    earlier: dict[str, int] = field(default_factory=dict)
    """Numbers of the events that are no longer among the latest, by their line."""
    _map: int = -1
    _battle: int = 0
    _phase: int = 0
    _milestones: int = -1
    _still: int = 0
    _seen: set[int] = field(default_factory=set)

    def look(self, record: np.void) -> Event | None:
        """Take in the record of a step. Return its most important event, or None."""
        if record["terminated"] or record["truncated"]:
            self._begin()
            return Event.EPISODE
        events: list[Event] = []
        map_id, battle, phase = int(record["next_map"]), int(record["battle"]), int(record["next_phase"])
        milestones = int(record["milestones"])
        if self._milestones >= 0 and milestones > self._milestones:
            events.append(Event.GOAL)
            self._tell("a goal was reached")
        if self._map >= 0 and map_id != self._map:
            events.append(Event.MAP)
            self._tell(f"came to {self.map_names.get(map_id, f'map {map_id}')}")
        if battle and not self._battle:
            events.append(Event.BATTLE)
            self._tell("a battle began")
        elif self._battle and not battle:
            events.append(Event.BATTLE_OVER)
            self._tell("the battle ended")
        if phase != self._phase and self.phase_roles[phase] is PhaseRole.ANSWERING:
            events.append(Event.CHOICE)
            self._tell("was asked a question")
        self._map, self._battle, self._phase, self._milestones = map_id, battle, phase, milestones
        if self._is_stuck(record):
            events.append(Event.STUCK)
            self._tell(f"nothing new for {STUCK_STEPS} steps")
        return events[0] if events else None

    def _is_stuck(self, record: np.void) -> bool:
        state = int(record["coarse_hash"])
        if record["reward"] > 0 or state not in self._seen:
            self._seen.add(state)
            self._still = 0
            return False
        self._still += 1
        return self._still % STUCK_STEPS == 0

    def _begin(self) -> None:
        self.lines.clear()
        self.earlier.clear()
        self._seen.clear()
        self._map, self._battle, self._phase, self._milestones, self._still = -1, 0, 0, -1, 0

    def _tell(self, line: str) -> None:
        if len(self.lines) == KEPT_LINES:
            oldest = self.lines[0]
            self.earlier[oldest] = self.earlier.pop(oldest, 0) + 1
            if len(self.earlier) > KEPT_EARLIER:
                del self.earlier[next(iter(self.earlier))]
        self.lines.append(line)

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "lines": list(self.lines),
            "earlier": [[line, count] for line, count in self.earlier.items()],
            "numbers": [self._map, self._battle, self._phase, self._milestones, self._still],
            "seen": sorted(self._seen),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.lines = deque(state["lines"], maxlen=KEPT_LINES)
        self.earlier = {str(line): int(count) for line, count in state.get("earlier", ())}  # older ones have none
        self._map, self._battle, self._phase, self._milestones, self._still = (int(n) for n in state["numbers"])
        self._seen = {int(one) for one in state["seen"]}
