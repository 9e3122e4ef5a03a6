"""Baselines of a step: the same frames without the environment's own work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pkmn_pyboy.emulation.buttons import BUTTONS
from pkmn_pyboy.emulation.emulator import Emulator


class Emulated(Protocol):
    """Environment on an emulator whose steps are presses of one length."""

    emulator: Emulator
    hold_frames: int
    action_frames: int


def baselines(environment: Emulated) -> dict[str, Callable[[int], None]]:
    """Return functions that take an action's number and emulate its frames on the environment's emulator.

    ``bare emulator`` makes one call for all frames and draws the last; ``frame by frame`` calls for each and draws it.
    Neither reads memory, and after either the environment must load a state before it can continue.
    """
    pyboy = environment.emulator.pyboy
    hold, frames = environment.hold_frames, environment.action_frames

    def bare(action: int) -> None:
        button = BUTTONS[action]
        if button is not None:
            pyboy.button(button, hold)
        pyboy.tick(frames, True)

    def frame_by_frame(action: int) -> None:
        button = BUTTONS[action]
        if button is not None:
            pyboy.button(button, hold)
        for _ in range(frames):
            pyboy.tick(1, True)

    return {"bare emulator": bare, "frame by frame": frame_by_frame}
