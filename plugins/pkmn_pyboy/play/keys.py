"""Keys of a terminal: the bytes that it sends, and buttons held for as long as a key seems to be down.

A terminal tells of presses and of their repetition, never of releases. So a press holds its button for a while, and a
key that repeats keeps it held.
"""

from __future__ import annotations

import re
from enum import StrEnum

from pkmn_pyboy.emulation.emulator import Emulator


class Key(StrEnum):
    """Meaning of a key: a button by PyBoy's name, or a command of the player."""

    A = "a"
    B = "b"
    START = "start"
    SELECT = "select"
    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"
    SAVE = "save"
    QUIT = "quit"
    ANSWER = "answer"
    """No key: the terminal's answer that it has shown what was sent."""


DIRECTIONS = (Key.UP, Key.DOWN, Key.LEFT, Key.RIGHT)

TAP_FRAMES = 5
"""Frames that A, B, start and select are held: more than between repeats of a key, fewer than between quick taps."""

_LETTERS = {
    **dict.fromkeys("za", Key.A),
    **dict.fromkeys("xb", Key.B),
    **dict.fromkeys("\r\n", Key.START),
    **dict.fromkeys("\x7f\x08\t", Key.SELECT),
    **dict(zip("kjhl", DIRECTIONS, strict=True)),
    "s": Key.SAVE,
    "q": Key.QUIT,
}
_FINAL = {**dict(zip("ABDC", DIRECTIONS, strict=True)), "n": Key.ANSWER}
_SEQUENCE = re.compile(r"\x1b[\[O][0-9;?]*([@-~])")
_BEGUN = re.compile(r"\x1b([\[O][0-9;?]*)?\Z")


class KeyDecoder:
    """Decoder of a terminal's bytes, which may be cut anywhere. Unknown sequences are skipped."""

    def __init__(self) -> None:
        self._rest = ""

    def feed(self, data: bytes) -> list[Key]:
        """Return the keys that these bytes complete, in order."""
        text, keys, at = self._rest + data.decode("latin-1"), [], 0
        while at < len(text):
            found = _SEQUENCE.match(text, at)
            if found is not None:
                key = _FINAL.get(found[1])
                at = found.end()
            elif _BEGUN.match(text, at):
                break
            else:
                key = _LETTERS.get(text[at].lower())
                at += 1
            if key is not None:
                keys.append(key)
        self._rest = text[at:]
        return keys


class Pad:
    """The buttons, held by keys without release.

    Args:
        emulator: whose buttons they are.
        hold_frames: how long a press of a direction holds it.
    """

    def __init__(self, emulator: Emulator, hold_frames: int) -> None:
        self._emulator = emulator
        self._hold_frames = hold_frames
        self._left: dict[Key, int] = {}

    def press(self, key: Key) -> None:
        """Press a key's button, or keep it held. Of the directions one is held at a time."""
        if key in DIRECTIONS:
            for other in DIRECTIONS:
                if other is not key and other in self._left:
                    self._release(other)
        if key not in self._left:
            self._emulator.hold(key.value)
        self._left[key] = self._hold_frames if key in DIRECTIONS else TAP_FRAMES

    def frame_passed(self) -> None:
        """Release what was held long enough."""
        for key in list(self._left):
            self._left[key] -= 1
            if not self._left[key]:
                self._release(key)

    def release_all(self) -> None:
        """Release every button at the next frame."""
        for key in list(self._left):
            self._release(key)

    def _release(self, key: Key) -> None:
        del self._left[key]
        self._emulator.release(key.value)
