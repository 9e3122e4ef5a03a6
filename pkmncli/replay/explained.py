"""Captions for a recorded episode: the decision at each step, its source and reason, and the place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmncli.api import Source, default_action_names
from pkmncli.errors import RunError
from pkmncli.runs import Run
from pkmncli.training.display.status import DECIDED_BY

if TYPE_CHECKING:
    from pkmncli.api import Facts
    from pkmncli.replay.play_again import PlayedStep
    from pkmncli.training.recording.recorded_episode import RecordedEpisode

_MAPS_PER_GROUP = 256
_ACTIONS = default_action_names().names
"""Names of actions in runs of earlier versions."""

LINES = 4
"""Lines of a caption: progress; place; who chose which action; the reason."""


@dataclass(frozen=True, slots=True)
class Names:
    """Names of maps, phases and actions in a run's game; numbers if unknown."""

    maps: Mapping[int, str]
    phases: Sequence[str]
    actions: Sequence[str] = _ACTIONS

    @classmethod
    def of(cls, run_folder: Path) -> Names:
        """Return the names in a run folder."""
        try:
            content = Run(run_folder).read_names()
            maps = {int(number): str(name) for number, name in content["maps"].items()}
            actions = tuple(map(str, content.get("actions", ()))) or _ACTIONS
            return cls(maps, tuple(map(str, content["phases"])), actions)
        except (RunError, ValueError, KeyError, TypeError, AttributeError):
            return cls({}, ())  # without names only the caption is less readable

    def action(self, action: int) -> str:
        """Return the name of an action."""
        return self.actions[action] if action < len(self.actions) else f"action_{action}"

    def place(self, facts: Facts) -> str:
        """Return the place in words: ``Fern Trail (5, 7), battle``."""
        group, number = divmod(facts.map_id, _MAPS_PER_GROUP)
        name = self.maps.get(facts.map_id, f"map {group}.{number}" if group else f"map {number}")
        phase = self.phases[facts.phase] if facts.phase < len(self.phases) else ""
        return f"{name} ({facts.x}, {facts.y})" + (f", {phase}" if phase else "")


class Explanation:
    """Captions for the steps of an episode.

    Args:
        episode: the episode.
        decisions: its rows of the table of decisions; empty for evaluations, which record none.
        names: of the game.
        who: the deciding side in words, if there are no decisions.
    """

    def __init__(
        self, episode: RecordedEpisode, decisions: Sequence[Mapping[str, Any]], names: Names, who: str = ""
    ) -> None:
        self._steps = len(episode.actions)
        self._decisions = {int(row["step"]): row for row in decisions}
        self._names = names
        self._who = who
        self._milestones = sorted((step, name) for name, step in episode.milestones.items())

    def lines(self, step: PlayedStep, facts: Facts) -> tuple[str, str, str, str]:
        """Return progress; place; who chose which action; the reason. ``facts`` are those after the step."""
        reached = [name for at, name in self._milestones if at <= step.number]
        progress = f"step {step.number:,} of {self._steps:,}   reward {step.total_reward:,.1f}"
        if reached:
            progress += f"   {reached[-1]}"
        row = self._decisions.get(step.number)
        taken, reason = self._names.action(step.action), ""
        if row is not None:
            taken += f", by {DECIDED_BY[Source(row['source'])]}, confidence {row['confidence']:.2f}"
            reason = str(row["reason"])
        elif self._who:
            taken += f", by {self._who}"
        return progress, self._names.place(facts), taken, reason
