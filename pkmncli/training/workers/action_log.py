"""Log of a running episode: each action, its source, and the advice that was given between them.

A worker that replaces a lost one replays it. Actions alone don't show how long advice held: an action of the learner
may be the advised one.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping, MutableSequence, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import Advice
from pkmncli.errors import RunError

if TYPE_CHECKING:
    from numpy.typing import NDArray


Actions = MutableSequence[Any]
"""Actions of an episode: numbers, or the controls (dimensions,) float32 of continuous ones."""


def no_actions() -> Actions:
    """Return an empty list of actions, each of which takes two bytes."""
    return array("H")


def with_actions(actions: Actions, more: Sequence[Any]) -> Actions:
    """Return a list of actions with some more: numbers, or controls of continuous actions."""
    if not actions and more and isinstance(more[0], np.ndarray):
        actions = []
    actions.extend(more)
    return actions


def action_array(actions: Actions) -> NDArray[Any]:
    """Return actions as a copy: (steps,) uint16, or controls (steps, dimensions) float32."""
    return np.array(actions, "<f4" if isinstance(actions, list) and actions else "<u2")


def action_list(actions: NDArray[Any]) -> Actions:
    """Return the actions of :func:`action_array`."""
    return array("H", actions.tolist()) if actions.ndim == 1 else list(actions.astype(np.float32))


def action_bytes(actions: Actions) -> bytes:
    """Return actions as bytes, little-endian: two for each number, four for each control."""
    if isinstance(actions, array) and sys.byteorder == "little":
        return actions.tobytes()
    return action_array(actions).tobytes()


def actions_from(content: bytes, steps: int) -> Actions:
    """Return the actions of :func:`action_bytes`, or of an earlier version, which wrote one byte for each number.

    Args:
        content: the bytes.
        steps: number of actions.

    Raises:
        RunError: they are damaged.
    """
    if steps and len(content) % (4 * steps) == 0 and content:
        return action_list(np.frombuffer(content, "<f4").reshape(steps, -1))
    width = 1 if len(content) == steps else 2
    if len(content) != width * steps:
        raise RunError(f"the recorded actions of an episode are damaged: {len(content)} bytes for {steps} steps")
    return action_list(np.frombuffer(content, f"<u{width}"))


@dataclass(slots=True)
class ActionLog:
    """Running episode of one environment."""

    actions: Actions = field(default_factory=no_actions)
    """An action for each step."""
    sources: bytearray = field(default_factory=bytearray)
    """A Source for each action."""
    advice: list[tuple[int, Advice | None]] = field(default_factory=list)
    """Advice that was given, or None where it was withdrawn, each with the number of steps before it."""
    described: int = -1
    """Steps before the state was last told in words, which says what has changed since; -1 if it was not yet."""
    start: str = ""
    """Path of the saved state that it began in; empty for the environment's own start."""

    def add(self, actions: Sequence[Any], sources: bytes) -> None:
        """Take in steps: their actions, and a Source for each."""
        self.actions = with_actions(self.actions, actions)
        self.sources += sources

    def advise(self, advice: Advice | None) -> None:
        """Take in the advice that was given after the latest step."""
        self.advice.append((len(self.actions), advice))

    def describe(self) -> None:
        """Take in that the state after the latest step was described in words."""
        self.described = len(self.actions)

    def begin(self, start: str) -> None:
        """Begin an episode."""
        self.start, self.described = start, -1
        self.actions = no_actions()
        self.sources.clear()
        self.advice.clear()

    def state_dict(self) -> dict[str, Any]:
        """Return plain values to resume from."""
        return {
            "presses": action_bytes(self.actions).hex(),
            "sources": self.sources.hex(),
            "advice": [[steps, None if given is None else asdict(given)] for steps, given in self.advice],
            "described": self.described,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.advice = [
            (int(steps), None if values is None else Advice.from_values(values)) for steps, values in state["advice"]
        ]
        self.sources = bytearray.fromhex(state["sources"])
        self.actions = actions_from(bytes.fromhex(state["presses"]), len(self.sources))
        self.described = int(state["described"])
