"""Lessons: results of the same advice in the same situation before, for the prompt and for what is followed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from pkmncli.api import Action, Advice

LEAST_TRIES = 3
"""Tries after which a lesson is used."""

RETRY_EVERY = 8
"""Every n-th time, advice that has always failed is tried again, because the game may have changed."""

_TOLD = 3
"""Maximum number of lessons of a kind in a prompt."""


class Situation(NamedTuple):
    """Place of an advised action: map, phase, and in a battle the opponent and the kind, as in a step's record."""

    map_id: int
    phase: int
    opponent: int
    battle: int = 0

    @classmethod
    def of(cls, record: Any) -> Situation:
        """Return the situation that a step led to."""
        battle = int(record["battle"])
        return cls(int(record["next_map"]), int(record["next_phase"]), int(record["opponent"]) if battle else 0, battle)


@dataclass(slots=True)
class _Tally:
    """Tries of one piece of advice in a situation, and their results."""

    tries: int = 0
    wins: int = 0
    reward: float = 0.0
    held_back: int = 0
    """Times that it was not tried because it had always failed."""

    @property
    def loses(self) -> bool:
        return self.tries >= LEAST_TRIES and not self.wins


class Lessons:
    """Counts, by situation and piece of advice, of tries and of those followed by a reward.

    Everything is counted in the order of the training's steps, so that a resumed run has the same lessons.
    """

    def __init__(self) -> None:
        self._tallies: dict[Situation, dict[str, _Tally]] = {}

    def add(self, situation: Situation, deed: str, reward: float) -> None:
        """Add the result of advice: ``reward`` is the sum over its steps."""
        tally = self._tallies.setdefault(situation, {}).setdefault(deed, _Tally())
        tally.tries += 1
        tally.wins += reward > 0
        tally.reward += reward

    def holds_back(self, situation: Situation, deed: str) -> bool:
        """Return True if advice has always failed here; False every :data:`RETRY_EVERY`-th time, to try it again."""
        tally = self._tallies.get(situation, {}).get(deed)
        if tally is None or not tally.loses:
            return False
        tally.held_back += 1
        return tally.held_back % RETRY_EVERY != 0

    def lines(self, situation: Situation) -> list[str]:
        """Return the lessons about a situation in words: what never brought a reward, then what brought most."""
        known = [
            (deed, tally) for deed, tally in self._tallies.get(situation, {}).items() if tally.tries >= LEAST_TRIES
        ]
        failed = sorted((one for one in known if not one[1].wins), key=lambda one: (-one[1].tries, one[0]))
        worked = sorted((one for one in known if one[1].wins), key=lambda one: (-one[1].reward / one[1].tries, one[0]))
        return [f"{deed}: brought nothing here in {tally.tries} tries" for deed, tally in failed[:_TOLD]] + [
            f"{deed}: brought something here in {tally.wins} of {tally.tries} tries" for deed, tally in worked[:_TOLD]
        ]

    def state_dict(self) -> list[list[Any]]:
        """Return the state as plain values."""
        return [
            [*situation, deed, tally.tries, tally.wins, tally.reward, tally.held_back]
            for situation, deeds in self._tallies.items()
            for deed, tally in deeds.items()
        ]

    def load_state_dict(self, state: list[list[Any]]) -> None:
        """Resume from :meth:`state_dict`."""
        self._tallies = {}
        for row in state:
            # Checkpoints of earlier versions have no kinds of battles.
            parts = next(index for index, value in enumerate(row) if isinstance(value, str))
            deed, *numbers = row[parts:]
            self._tallies.setdefault(Situation(*row[:parts]), {})[deed] = _Tally(*numbers)


def deed_of(advice: Advice) -> str:
    """Return a key for advice in words, equal for the same advice."""
    if not advice.skill:
        return "press " + ", ".join(Action(press).name.lower() for press in advice.presses)
    arguments = advice.arguments
    tile = f"({arguments['x']}, {arguments['y']})" if "x" in arguments and "y" in arguments else ""
    return " ".join(part for part in (advice.skill.replace("_", " "), str(arguments.get("map", "")), tile) if part)
