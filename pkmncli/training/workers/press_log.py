"""What an episode consists of so far: each press, who decided it, and the advice that was given between them.

A worker that takes a lost one's place plays it again. Presses alone don't say how long advice held: a press of the
learner's may be the very one that was advised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from pkmncli.api import Advice


@dataclass(slots=True)
class PressLog:
    """One environment's running episode."""

    presses: bytearray = field(default_factory=bytearray)
    """One action a step."""
    sources: bytearray = field(default_factory=bytearray)
    """A Source for each press."""
    advice: list[tuple[int, Advice | None]] = field(default_factory=list)
    """What was given, or withdrawn, each with the number of steps before it."""
    described: int = -1
    """Steps before the state was last told in words, which says what has changed since; -1 if it was not yet."""
    start: str = ""
    """Path of the saved state that it began in; empty for the environment's own start."""

    def add(self, record: np.void) -> None:
        """Takes in a step."""
        self.presses.append(int(record["action"]))
        self.sources.append(int(record["source"]))

    def advise(self, advice: Advice | None) -> None:
        """Takes in what was given after the latest step."""
        self.advice.append((len(self.presses), advice))

    def describe(self) -> None:
        """Takes in that the state after the latest step was told in words."""
        self.described = len(self.presses)

    def begin(self, start: str) -> None:
        """Begins an episode."""
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
