"""`pkmn play`: a person plays the game, and can save states for training to start from."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import typer

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.rom import RomImage
from pkmn_pyboy.environments.starts import base_start
from pkmn_pyboy.play.cartridge_file import CartridgeFile
from pkmn_pyboy.play.raw_terminal import RawTerminal
from pkmn_pyboy.play.state_files import StateFile, check_save_name, free_name, load_state_file
from pkmn_pyboy.play.stop_signals import StopSignals
from pkmn_pyboy.play.terminal_game import KEYS_HELP, play_in_terminal
from pkmn_pyboy.play.window_game import WINDOW_KEYS_HELP, play_in_window
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.profile.selection import select_game
from pkmn_pyboy.settings import EnvironmentSettings
from pkmncli.errors import ConfigurationError, EmulatorError

_SAVED_BY_KEY = "The key s saves the state to"
_SAVED_AT_END = "When the game ends its state goes to"
_DISPLAY_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")


def play(
    *,
    rom: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            envvar="PKMN_ROM_PATH",
            show_envvar=False,
            help="Cartridge image. [default: the bundled game]",
        ),
    ] = None,
    game: Annotated[
        str | None, typer.Option(help="Game profile, by name or by its folder. [default: told by the image]")
    ] = None,
    force_rom: Annotated[
        bool, typer.Option("--force-rom", help="Go on with an image that the game profile does not know.")
    ] = False,
    state: Annotated[
        Path | None, typer.Option(readable=False, metavar="FILE", help="Go on from a saved state.")
    ] = None,
    from_start: Annotated[
        bool, typer.Option("--from-start", help="Begin where episodes of a training begin, not at power-on.")
    ] = False,
    save_state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the state is saved: in the terminal by the key s, in a window when the game ends. "
            "[default: GAME.state, or the next free name]",
        ),
    ] = None,
    cartridge: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Keep what the game itself saves in this file, as a cartridge's battery does."
        ),
    ] = None,
    terminal: Annotated[bool, typer.Option("--terminal", help="Play in the terminal, also if there is a display.")] = (
        False
    ),
) -> None:
    """Play the game yourself, in a window, or in the terminal where there is no display.

    A saved state is what `pkmn train --init-state` and `pkmn play --state` begin from. Nothing else is written.
    """
    if state is not None and from_start:
        raise ConfigurationError("--state and --from-start both say where to begin: leave one out")
    profile, image = select_game(EnvironmentSettings.of_command(game, rom, force_rom))
    path = check_save_name(save_state) if save_state else free_name(profile.name)
    target = StateFile(path, profile.name, image.sha1, profile=profile)
    battery = CartridgeFile(cartridge, profile, image) if cartridge else None
    with _ended_by_signals():
        emulator = _emulator_at_beginning(profile, image, state, from_start, battery)
        try:
            window = None if terminal else _open_window(emulator, battery)
            screen = RawTerminal() if window is None else None  # says what is missing before anything else is said
            keys, saving = (KEYS_HELP, _SAVED_BY_KEY) if screen is not None else (WINDOW_KEYS_HELP, _SAVED_AT_END)
            _introduce(profile, state, from_start, target, battery, keys, saving)
            try:
                if window is not None:
                    _play_window(window, target, battery)
                elif screen is not None:
                    _play_terminal(screen, emulator, profile, target, battery)
            finally:
                option = "" if profile.bundled_rom and rom is None else f" --rom {image.path}"
                typer.echo(
                    f"Saved {target.path}. A training begins there with: pkmn train{option} --init-state {target.path}"
                    if target.saved
                    else "The game was not saved."
                )
                if battery is not None:
                    typer.echo(
                        f"What the game itself saved is in {battery.path}."
                        if battery.written
                        else f"The game itself saved nothing: {battery.path} is left as it was."
                    )
        finally:
            emulator.close()


def _play_terminal(
    screen: RawTerminal, emulator: Emulator, profile: GameProfile, target: StateFile, battery: CartridgeFile | None
) -> None:
    try:
        play_in_terminal(screen, emulator, profile, target)
    finally:
        _end(emulator, battery)


def _play_window(window: Emulator, target: StateFile, battery: CartridgeFile | None) -> None:
    with StopSignals() as stop:
        try:
            play_in_window(window, target, stop)
            _end(window, battery)
        finally:
            window.close()
    if stop.number:
        raise SystemExit(128 + stop.number)


def _end(emulator: Emulator, battery: CartridgeFile | None) -> None:
    if battery is not None:
        battery.end(emulator)


def _emulator_at_beginning(
    profile: GameProfile, image: RomImage, state: Path | None, from_start: bool, battery: CartridgeFile | None
) -> Emulator:
    emulator = Emulator(image, cartridge_ram=battery.ram if battery is not None else None)
    try:
        if state is not None:
            load_state_file(state, emulator, profile)
        elif from_start:
            emulator.load_state(base_start(emulator, profile), trusted=True)
        if battery is not None:
            battery.begin(emulator)
    except BaseException:
        emulator.close()
        raise
    return emulator


def _open_window(emulator: Emulator, battery: CartridgeFile | None) -> Emulator | None:
    """Return a window with the game in its present state; None without a display."""
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in _DISPLAY_VARIABLES):
        return None
    try:
        kept = battery.ram if battery is not None else None
        window = Emulator(emulator.rom, headless=False, speed=1, keyboard=True, cartridge_ram=kept)
    except EmulatorError:
        typer.echo("No window could be opened, so the game is played in the terminal.", err=True)
        return None
    window.load_state(emulator.save_state(), trusted=True)
    return window


def _introduce(
    profile: GameProfile,
    state: Path | None,
    from_start: bool,
    target: StateFile,
    battery: CartridgeFile | None,
    keys: str,
    saving: str,
) -> None:
    begins = f"from {state}" if state is not None else "where trainings begin" if from_start else "from power-on"
    lasts = (
        "Nothing else is written: what the game itself saves on its cartridge lasts in such a state only."
        if battery is None
        else f"What the game itself saves goes to {battery.path} when it ends."
    )
    typer.echo(f"{profile.title}, {begins}.\n{keys}\n{saving} {target.path}. {lasts}")


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let a signal that would end the process end the game in order, so that the terminal is restored."""

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
