"""Emulator of a Game Boy Color, on PyBoy: without files, threads or sound, pressed in whole actions.

No other module uses PyBoy.

A process in which an emulator runs should run no other Python thread: one busy thread makes a step a hundred times
slower, because the emulator hands over the interpreter at every frame.
"""

from __future__ import annotations

import importlib.metadata
import io
import os
import warnings
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pkmn_pyboy.emulation.foreign_files import foreign_state
from pkmn_pyboy.emulation.rom import RomImage
from pkmncli.errors import EmulatorError

if TYPE_CHECKING:
    from pyboy import PyBoy

with warnings.catch_warnings():
    # PyBoy announces on import where its window library comes from.
    warnings.simplefilter("ignore")
    import pyboy as _pyboy

PYBOY_VERSION = importlib.metadata.version("pyboy")
SCREEN_SHAPE = (144, 160)

_WORK_RAM_BANKS = 8
_CARTRIDGE_RAM, _CARTRIDGE_BANK = 0xA000, 0x2000


class Emulator:
    """A running cartridge.

    The image is given to PyBoy as bytes, so no save file beside it is ever read or written. The cartridge's clock,
    if it has one, is locked before the first frame: the same presses give the same memory at any time of day.

    Args:
        rom: the cartridge image.
        headless: without a window.
        speed: with a window, times real speed; 0 for no limit.
        keyboard: with a window, whether its keys press buttons, for a person who plays.
        cartridge_ram: what the cartridge's battery has kept; an empty one without it.

    Raises:
        EmulatorError: PyBoy does not take the image, or there is no display for a window.
    """

    def __init__(
        self,
        rom: RomImage,
        *,
        headless: bool = True,
        speed: int = 0,
        keyboard: bool = False,
        cartridge_ram: bytes | None = None,
    ) -> None:
        self.rom = rom
        self.headless = headless
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.pyboy: PyBoy = _pyboy.PyBoy(
                    io.BytesIO(rom.data),
                    window="null" if headless else "SDL2",
                    sound_emulated=False,
                    log_level=SILENCE,
                    # In a window, keys of whoever watches would be presses that no mask and no record knows of.
                    no_input=not keyboard,
                    ram_file=None if cartridge_ram is None else io.BytesIO(cartridge_ram),
                )
        except Exception as error:
            where = f"{rom.path} can't be started" if headless else f"no window could be opened for {rom.path}"
            what = "check the image" if headless else "is there a display? Leave the window out to run without one"
            raise EmulatorError(f"{where}: {_text(error)}; {what}") from error
        if not headless and not _window_can_be_seen():
            self.pyboy.stop(save=False)
            raise EmulatorError(
                "no window could be opened: there is no display (DISPLAY is not set?); leave --no-headless out"
            )
        if rom.header.has_clock:
            self.pyboy.rtc_lock_experimental(True)
        self.pyboy.set_emulation_speed(0 if headless else speed)
        self.memory = self.pyboy.memory
        self.screen: NDArray[np.uint8] = self.pyboy.screen.ndarray
        """(144, 160, 4) uint8, RGBA: a view of the picture that changes with every rendered frame."""
        self.colour = bool(rom.header.colour)
        self._button = self.pyboy.button
        self._tick = self.pyboy.tick
        self._closed = False

    def press(self, button: str | None, hold_frames: int, action_frames: int, render: bool = True) -> None:
        """Carry out an action: hold a button, then release it until the action's frames are over.

        Args:
            button: "a", "b", "start", "select", "up", "down", "left", "right"; None to wait.
            hold_frames: frames that it is held, less than ``action_frames``.
            action_frames: frames of the whole action.
            render: draw the last frame.
        """
        if button is not None:
            self._button(button, hold_frames)
        if self.headless:
            self._tick(action_frames, render, False)
        else:
            self.run(action_frames, render)

    def run(self, frames: int, render: bool = False) -> None:
        """Run frames without a press. A window shows each of them."""
        if self.headless:
            if frames:
                self._tick(frames, render, False)
            return
        for _ in range(frames):
            self._tick(1, True, False)
            if _window_closed():
                raise EmulatorError("The emulator's window was closed; start again, or leave the window out")

    def peek(self) -> NDArray[np.uint8]:
        """Return the picture one frame from now, (144, 160, 4) uint8, and leave the machine as it is; takes 20 ms."""
        state = self.save_state()
        self._tick(1, True, False)
        picture = self.screen.copy()
        self._load(state)
        return picture

    def hold(self, button: str) -> None:
        """Hold a button down from the next frame on, until :meth:`release`."""
        self.pyboy.button_press(button)

    def release(self, button: str) -> None:
        """Release a button at the next frame."""
        self.pyboy.button_release(button)

    def show_frame(self) -> bool:
        """Run one frame in a window with a keyboard, at the window's pace. Return True while the window is open."""
        return bool(self._tick(1, True, False))

    def read(self, bank: int, address: int, size: int) -> bytes:
        """Return ``size`` bytes from ``address``; banks of work RAM count only in colour mode."""
        memory = self.memory
        stop = address + size
        if bank < 0 or not self.colour:
            return bytes(memory[address:stop])
        # PyBoy reads no banked slice that ends exactly at the end of its bank.
        if stop & 0xFFF == 0:
            head = bytes(memory[bank, address : stop - 1]) if size > 1 else b""
            return head + bytes((memory[bank, stop - 1],))
        return bytes(memory[bank, address:stop])

    def bind(self, spans: Sequence[tuple[int, int, int]]) -> Callable[[], bytes]:
        """Return a function that reads the same (bank, address, size) spans repeatedly and returns their bytes joined.

        It reads each byte separately: looked up all at once, that takes half the time of slices.
        """
        keys: list[Any] = [
            place if bank < 0 or not self.colour else (bank, place)
            for bank, address, size in spans
            for place in range(address, address + size)
        ]
        memory = self.memory
        if len(keys) < 2:
            return lambda: bytes([memory[key] for key in keys])
        look_up = itemgetter(*keys)
        return lambda: bytes(look_up(memory))

    def read_rom(self, bank: int, address: int, size: int) -> bytes:
        """Return ``size`` bytes of the cartridge image; addresses from 0x4000 are in ``bank``."""
        offset = address if address < 0x4000 else bank * 0x4000 + address - 0x4000
        return self.rom.data[offset : offset + size]

    def work_ram(self) -> bytes:
        """All work RAM: the fixed bank 0, then banks 1 to 7 (only bank 1 without colour)."""
        banks = _WORK_RAM_BANKS if self.colour else 2
        parts = [self.read(0, 0xC000, 0x1000)]
        parts += [self.read(bank, 0xD000, 0x1000) for bank in range(1, banks)]
        return b"".join(parts)

    def save_state(self) -> bytes:
        """Return the state of the machine, about 211 KB. Equal states may differ in bytes, by a clock's host time."""
        buffer = io.BytesIO()
        self.pyboy.save_state(buffer)
        return buffer.getvalue()

    def load_state(self, state: bytes, *, trusted: bool = False) -> None:
        """Load a saved state, or leave the machine unchanged.

        Args:
            state: what :meth:`save_state` gave.
            trusted: the state is known to fit, so nothing is kept to go back to (saves 12 ms).

        Raises:
            EmulatorError: the state is cut off, of another PyBoy version, another mode, game or emulator.
        """
        if trusted:
            self._load(state)
            return
        before = self.save_state()
        try:
            self._load(state)
        except EmulatorError as error:
            self._load(before)
            known = foreign_state(state)
            if known is not None:
                raise EmulatorError(known) from error
            raise

    def _load(self, state: bytes) -> None:
        version = state[0] if state else 0
        current = current_state_version()
        if not state:
            raise EmulatorError("The saved state is empty: save it again")
        if version > current + FORMATS_TO_COME:
            raise EmulatorError("That is no saved state of PyBoy: name a file that PyBoy or pkmn play saved")
        if version != current:
            raise EmulatorError(
                f"The saved state is of PyBoy's format {version}, this is PyBoy {PYBOY_VERSION} with format {current}: "
                "save it again with this version"
            )
        stream = io.BytesIO(state)
        try:
            self.pyboy.load_state(stream)
        except Exception as error:
            text = _text(error)
            if "CGB-mode" in text:
                raise EmulatorError(
                    "The saved state is of the other colour mode, so of another game: use one made with this image"
                ) from error
            raise EmulatorError(
                f"The saved state does not fit {self.rom.header.title or 'this game'}; it is cut off, damaged or of "
                "another game: save it again"
            ) from error
        if stream.read(1):
            raise EmulatorError("The saved state is longer than one of this game: it is of another one, or damaged")

    def cartridge_ram(self) -> bytes:
        """Return the cartridge's RAM now; empty without RAM."""
        banks = -(-self.rom.header.ram_bytes // _CARTRIDGE_BANK)
        places = range(_CARTRIDGE_RAM, _CARTRIDGE_RAM + _CARTRIDGE_BANK)
        return bytes(self.memory[bank, place] for bank in range(banks) for place in places)

    def close_with_cartridge(self) -> bytes:
        """Stop the emulator. Return the RAM that the cartridge's battery keeps; empty without a battery."""
        kept, clock = io.BytesIO(), io.BytesIO()
        if not self._closed:
            self._closed = True
            self.pyboy.stop(save=True, ram_file=kept, rtc_file=clock)
        return kept.getvalue()

    def close(self) -> None:
        """Stop the emulator. Nothing is written."""
        if not self._closed:
            self._closed = True
            self.pyboy.stop(save=False)


def _window_can_be_seen() -> bool:
    """Return True if SDL found a display. Without one it takes a driver that shows nothing, only for users who ask."""
    import sdl2  # type: ignore[import-untyped]  # noqa: PLC0415 - only a window needs it

    return "SDL_VIDEODRIVER" in os.environ or sdl2.SDL_GetCurrentVideoDriver() not in (b"offscreen", b"dummy")


def _window_closed() -> bool:
    """Keep the window alive, since PyBoy reads no events without input. Return True if it was closed."""
    import sdl2  # noqa: PLC0415

    sdl2.SDL_PumpEvents()
    closed = bool(sdl2.SDL_HasEvent(sdl2.SDL_QUIT))
    sdl2.SDL_FlushEvents(sdl2.SDL_FIRSTEVENT, sdl2.SDL_LASTEVENT)
    return closed


SILENCE = 5
"""A log level above all of PyBoy's, among which INFO is the highest: "CRITICAL" lets it through."""

FORMATS_TO_COME = 20
"""Most that a format's number may exceed this PyBoy's and still be taken for a newer PyBoy's."""


def current_state_version() -> int:
    """Version of the saved states that this PyBoy writes."""
    from pyboy.utils import STATE_VERSION  # noqa: PLC0415

    return int(STATE_VERSION)


def _text(error: Any) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
