"""`pkmn play --cartridge`: what the game itself saves lasts in the file, and nothing else is ever written over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.saved_games import RAM_BYTES, save_by_the_menu
from support.variants import long_after

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.profile.model import GameProfile
from pkmncli import cli

BANK = 0x2000
PLAYED = ["play", "--save-state", "a.state", "--cartridge"]
Play = Callable[[dict[int, int]], None]


@pytest.fixture(autouse=True)
def _window_for_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def saved(quillwood: GameProfile) -> bytes:
    return save_by_the_menu(quillwood, "right right down")[0]


@pytest.fixture
def in_play(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Bytes that a game writes in its cartridge, by place in a battery save, before it ends."""

    def prepare(written: dict[int, int]) -> None:
        def write_and_end(self: Emulator) -> bool:
            self.memory[0x0000] = 0x0A  # the cartridge's RAM is closed until it is asked for
            for place, value in written.items():
                self.memory[0x4000] = place // BANK
                self.memory[0xA000 + place % BANK] = value
            return False

        monkeypatch.setattr(Emulator, "show_frame", write_and_end)

    return prepare


def marks_of(profile: GameProfile) -> dict[int, int]:
    assert profile.continuing is not None
    return dict(profile.continuing.copies[0].marks)


@pytest.mark.long
def test_what_the_game_saves_lasts_in_a_new_file(
    in_play: Play, quillwood: GameProfile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = {0: 77, **marks_of(quillwood)}
    in_play(written)
    assert cli.run([*PLAYED, "mine.sav"]) == 0
    assert "What the game itself saved is in mine.sav" in capsys.readouterr().out
    kept = (tmp_path / "mine.sav").read_bytes()
    assert len(kept) == RAM_BYTES
    assert {place: kept[place] for place in written} == written

    in_play({1: 78})
    assert cli.run([*PLAYED, "mine.sav"]) == 0
    assert (tmp_path / "mine.sav").read_bytes()[:2] == bytes((77, 78))


@pytest.mark.long
def test_ram_that_the_game_only_works_in_is_no_save(in_play: Play, tmp_path: Path) -> None:
    in_play({0: 77})
    assert cli.run([*PLAYED, "mine.sav"]) == 0
    assert not (tmp_path / "mine.sav").exists()
    (tmp_path / "blank.sav").write_bytes(b"\xff" * RAM_BYTES)
    assert cli.run([*PLAYED, "blank.sav"]) == 0
    assert (tmp_path / "blank.sav").read_bytes() == b"\xff" * RAM_BYTES


@pytest.mark.parametrize("content", long_after(1, [b"\x5a\xa5" * 25_000, b"\x5a\xa5" * (RAM_BYTES // 2), b"short"]))
def test_a_file_that_is_no_battery_save_of_the_game_stays(
    content: bytes, in_play: Play, quillwood: GameProfile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    in_play(marks_of(quillwood))
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(content)
    assert cli.run([*PLAYED, "photo.jpg"]) == 3
    error = capsys.readouterr().err
    assert "--cartridge: photo.jpg" in error
    assert "quillwood.gbc" not in error
    assert photo.read_bytes() == content


def test_a_save_in_which_nothing_was_saved_is_not_written(
    in_play: Play, saved: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    in_play({})
    file = tmp_path / "mine.sav"
    file.write_bytes(saved + bytes(44))
    began = file.stat()
    assert cli.run([*PLAYED, "mine.sav"]) == 0
    assert "mine.sav is left as it was" in capsys.readouterr().out
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (began.st_mtime_ns, began.st_ino)
    assert file.read_bytes() == saved + bytes(44)


def test_an_emulators_clock_stays_behind_what_is_saved(in_play: Play, saved: bytes, tmp_path: Path) -> None:
    clock = bytes(range(44))
    file = tmp_path / "mine.sav"
    file.write_bytes(saved + clock)
    in_play({0: saved[0] ^ 1})
    assert cli.run([*PLAYED, "mine.sav"]) == 0
    assert file.read_bytes() == bytes((saved[0] ^ 1,)) + saved[1:] + clock
