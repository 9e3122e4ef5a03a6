"""Log of a running episode: each action, its source, and the advice that was given between them.

A worker that replaces a lost one replays it. Actions alone don't show how long advice held: an action of the learner
may be the advised one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from pkmncli.api import Advice


@dataclass(slots=True)
class PressLog:
    """Running episode of one environment."""

    presses: bytearray = field(default_factory=bytearray)
    """An action for each step."""
    sources: bytearray = field(default_factory=bytearray)
    """A Source for each press."""
    advice: list[tuple[int, Advice | None]] = field(default_factory=list)
    """Advice that was given, or None where it was withdrawn, each with the number of steps before it."""
    described: int = -1
    """Steps before the state was last told in words, which says what has changed since; -1 if it was not yet."""
    start: str = ""
    """Path of the saved state that it began in; empty for the environment's own start."""

    def add(self, record: np.void) -> None:
        """Take in a step."""
        self.presses.append(int(record["action"]))
        self.sources.append(int(record["source"]))

    def advise(self, advice: Advice | None) -> None:
        """Take in the advice that was given after the latest step."""
        self.advice.append((len(self.presses), advice))

    def describe(self) -> None:
        """Take in that the state after the latest step was described in words."""
        self.described = len(self.presses)

    def begin(self, start: str) -> None:
        """Begin an episode."""
        self.start, self.described = start, -1
        self.presses.clear()
        self.sources.clear()
        self.advice.clear()

    def state_dict(self) -> dict[str, Any]:
        """Return plain values to resume from."""
        return {
            "presses": self.presses.hex(),
            "sources": self.sources.hex(),
            "advice": [[steps, None if given is None else asdict(given)] for steps, given in self.advice],
            "described": self.described,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.advice = [
            (int(steps), None if values is None else Advice.from_values(values)) for steps, values in state["advice"]
        ]
        self.presses, self.sources = bytearray.fromhex(state["presses"]), bytearray.fromhex(state["sources"])
        self.described = int(state["described"])
