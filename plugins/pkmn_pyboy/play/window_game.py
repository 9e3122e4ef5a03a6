"""The game in PyBoy's own window, with its keyboard and pace."""

from __future__ import annotations

from pkmn_pyboy.emulation.buttons import BUTTONS
from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.play.state_files import StateFile
from pkmn_pyboy.play.stop_signals import StopSignals

WINDOW_KEYS_HELP = (
    "Keys: arrows: move, a: A, s: B, Enter: start, Backspace: select, Space: full speed on and off, p: pause, "
    "F11: full screen, Escape: quit. A game controller works too."
)


def play_in_window(window: Emulator, target: StateFile, stop: StopSignals, frame_limit: int | None = None) -> None:
    """Play until the window is closed or a signal requests the end, then save the state. The window stays open.

    Args:
        window: an emulator with a window and a keyboard, where the game begins.
        target: where the state is saved.
        stop: notices signals, which must raise nothing while PyBoy runs.
        frame_limit: frames after which the game ends by itself.

    Raises:
        EmulatorError: the state can't be written.
    """
    frames = 0
    while frames != frame_limit and not stop.number and window.show_frame():
        frames += 1
    # A button that is down in a state would stay down for whoever starts from it.
    for button in filter(None, BUTTONS):
        window.release(button)
    window.show_frame()
    target.save(window)
