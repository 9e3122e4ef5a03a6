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

from pkmn_pyboy.emulator import Emulator
from pkmn_pyboy.play.raw_terminal import RawTerminal
from pkmn_pyboy.play.state_files import StateFile, check_save_name, free_name, load_state_file
from pkmn_pyboy.play.terminal_game import KEYS_HELP, play_in_terminal
from pkmn_pyboy.play.window_game import WINDOW_KEYS_HELP, play_in_window
from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.rom import RomImage
from pkmn_pyboy.selection import select_game
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.starts import base_start
from pkmncli.errors import ConfigurationError, EmulatorError

_DISPLAY_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")


def play(
    *,
    rom: Annotated[
        Path | None, typer.Option(readable=False, help="Cartridge image. [default: the bundled game]")
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
    terminal: Annotated[bool, typer.Option("--terminal", help="Play in the terminal, also if there is a display.")] = (
        False
    ),
) -> None:
    """Play the game yourself, in a window, or in the terminal where there is no display.

    A saved state is what `pkmn train --init-state` and `pkmn play --state` begin from. Nothing else is written.
    """
    if state is not None and from_start:
        raise ConfigurationError("--state and --from-start both say where to begin: leave one out")
    profile, image = select_game(_settings(game, rom, force_rom))
    target = StateFile(check_save_name(save_state) if save_state else free_name(profile.name), profile.name, image.sha1)
    with _ended_by_signals():
        emulator = _emulator_at_beginning(profile, image, state, from_start)
        try:
            window = None if terminal else _open_window(emulator)
            if window is None:
                screen = RawTerminal()  # says what is missing before anything else is said
                _introduce(profile, state, from_start, target, KEYS_HELP, "The key s saves the state to")
                saved = play_in_terminal(screen, emulator, profile, target)
            else:
                _introduce(profile, state, from_start, target, WINDOW_KEYS_HELP, "When the game ends its state goes to")
                saved = play_in_window(window, target)
        finally:
            emulator.close()
    option = "" if profile.bundled_rom and rom is None else f" --rom {image.path}"
    typer.echo(
        f"Saved {target.path}. A training begins there with: pkmn train{option} --init-state {target.path}"
        if saved
        else "The game was not saved."
    )


def _settings(game: str | None, rom: Path | None, force_rom: bool) -> EnvironmentSettings:
    folder = Path(game).expanduser() if game is not None else None
    if folder is not None and (folder / "game.toml").is_file():
        return EnvironmentSettings(game_folder=folder, rom_path=rom, force_rom=force_rom)
    return EnvironmentSettings(game=game, rom_path=rom, force_rom=force_rom)


def _emulator_at_beginning(profile: GameProfile, image: RomImage, state: Path | None, from_start: bool) -> Emulator:
    emulator = Emulator(image)
    try:
        if state is not None:
            load_state_file(state, emulator, profile)
        elif from_start:
            emulator.load_state(base_start(emulator, profile), trusted=True)
    except BaseException:
        emulator.close()
        raise
    return emulator


def _open_window(emulator: Emulator) -> Emulator | None:
    """A window with the game as it stands, or None where there is no display."""
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in _DISPLAY_VARIABLES):
        return None
    try:
        window = Emulator(emulator.rom, headless=False, speed=1, keyboard=True)
    except EmulatorError:
        typer.echo("No window could be opened, so the game is played in the terminal.", err=True)
        return None
    window.load_state(emulator.save_state(), trusted=True)
    return window


def _introduce(
    profile: GameProfile, state: Path | None, from_start: bool, target: StateFile, keys: str, saving: str
) -> None:
    begins = f"from {state}" if state is not None else "where trainings begin" if from_start else "from power-on"
    typer.echo(
        f"{profile.title}, {begins}.\n{keys}\n{saving} {target.path}. Nothing else is written: what the game itself "
        "saves on its cartridge lasts in such a state only."
    )


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Lets a signal that would end the process at once end the game in order, so that the terminal is restored."""

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
