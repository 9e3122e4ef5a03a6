"""`pkmn play` in a window, one that SDL draws for nobody: keys of the window press, and the end saves the state."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import sdl2
from support.variants import long_after

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.rom import load_rom
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.environments.starts import base_start
from pkmn_pyboy.play.state_files import StateFile
from pkmn_pyboy.play.stop_signals import StopSignals
from pkmn_pyboy.play.window_game import play_in_window
from pkmn_pyboy.profile.model import GameProfile
from pkmncli import cli


@pytest.fixture(autouse=True)
def _window_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def push_key(key: int, down: bool) -> None:
    event = sdl2.SDL_Event()
    event.type = sdl2.SDL_KEYDOWN if down else sdl2.SDL_KEYUP
    event.key.keysym.sym = key
    sdl2.SDL_PushEvent(event)


def test_the_windows_keys_walk_and_its_end_saves(
    tmp_path: Path, quillwood: GameProfile, rom_path: Path, make: Callable[..., PokemonEnvironment]
) -> None:
    rom = load_rom(rom_path)
    target = StateFile(tmp_path / "walked.state", quillwood.name, rom.sha1)
    window = Emulator(rom, headless=False, speed=0, keyboard=True)
    window.load_state(base_start(window, quillwood))
    push_key(sdl2.SDLK_LEFT, True)
    play_in_window(window, target, StopSignals(), frame_limit=20)
    window.close()
    assert target.saved

    environment = make(start_state=target.path, seed_noops=(0, 0), seed_presses=0)
    environment.reset(seed=1)
    for _ in range(3):
        environment.step(8)
    place = environment.state.x, environment.state.y
    environment.reset(seed=1, options={"start_state": base_start(environment.emulator, quillwood)})
    start = environment.state.x, environment.state.y
    # Let go when the state was saved, the key takes the player no further than the step that it began.
    assert place == (start[0] - 1, start[1])


def test_closing_the_window_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    show_frame = Emulator.show_frame

    def escape_at_once(self: Emulator) -> bool:
        push_key(sdl2.SDLK_ESCAPE, False)
        return show_frame(self)

    monkeypatch.setattr(Emulator, "show_frame", escape_at_once)
    assert cli.run(["play", "--save-state", "end.state"]) == 0
    printed = capsys.readouterr().out
    assert "arrows: move, a: A, s: B" in printed
    assert "When the game ends its state goes to end.state" in printed
    assert "pkmn train --init-state end.state" in printed
    assert [path.name for path in tmp_path.iterdir()] == ["end.state"]


def test_a_display_that_is_not_there_falls_back_to_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SDL_VIDEODRIVER")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":987")
    monkeypatch.setattr("pkmn_pyboy.play.command.RawTerminal", object)
    monkeypatch.setattr("pkmn_pyboy.play.command.play_in_terminal", lambda *_: False)
    assert cli.run(["play"]) == 0
    told = capsys.readouterr()
    assert "No window could be opened" in told.err
    assert "z or a: A" in told.out


@pytest.mark.parametrize(
    ("number", "code"), long_after(1, [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
)
def test_a_signal_ends_the_game_in_the_window_and_saves_it(
    number: signal.Signals,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    show_frame, frames = Emulator.show_frame, iter(range(1000))

    def signalled(self: Emulator) -> bool:
        if next(frames) in (3, 4):
            os.kill(os.getpid(), number)
        return show_frame(self)

    monkeypatch.setattr(Emulator, "show_frame", signalled)
    assert cli.run(["play", "--save-state", "end.state"]) == code
    printed = capsys.readouterr()
    assert "pkmn train --init-state end.state" in printed.out
    assert "Traceback" not in printed.err
    assert (tmp_path / "end.state").stat().st_size > 100_000


@pytest.mark.parametrize("option", long_after(1, ["--save-state", "--cartridge"]))
def test_a_place_that_cannot_be_written_is_told_before_anybody_has_played(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(["play", option, "/proc/x.state"]) == 2
    assert f"{option}: nothing can be written in /proc" in capsys.readouterr().err
    assert cli.run(["play", option, "nowhere/x.state"]) == 2
    assert "there is no folder" in capsys.readouterr().err
