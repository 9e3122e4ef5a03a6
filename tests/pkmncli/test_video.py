"""Videos are complete files or none, and a terminal gets a picture that fits."""

from __future__ import annotations

import re
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from pkmncli.errors import ConfigurationError, RunError
from pkmncli.video import TerminalScreen, enlarge, half_blocks, open_video

# imageio_ffmpeg leaves the pipes to its program for the garbage collector to close
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def screens(count: int) -> list[np.ndarray]:
    """Return a white bar that moves over blue."""
    made = []
    for number in range(count):
        screen = np.zeros((144, 160, 3), np.uint8)
        screen[:, :, 2] = 200
        screen[:, number * 10 : number * 10 + 10] = 255
        made.append(screen)
    return made


def test_mp4_holds_every_screen_enlarged(tmp_path: Path) -> None:
    path = tmp_path / "films" / "game.mp4"
    with open_video(path, 10) as writer:
        for screen in screens(12):
            writer.add(screen)
    reader = imageio_ffmpeg.read_frames(str(path))
    assert next(reader)["size"] == (640, 576)
    frames = np.stack([np.frombuffer(frame, np.uint8).reshape(576, 640, 3) for frame in reader])
    assert len(frames) == 12
    assert frames[3, 200, 35 * 4].min() > 200  # inside the bar
    assert frames[3, 200, 100 * 4, 0] < 60  # outside it
    assert [file.name for file in path.parent.iterdir()] == ["game.mp4"]


@pytest.mark.parametrize(("columns", "enlarged"), [(160, 640), (320, 1280), (480, 960), (900, 900), (2000, 2000)])
def test_large_screens_are_enlarged_less(columns: int, enlarged: int) -> None:
    assert enlarge(np.zeros((10, columns, 3), np.uint8)).shape == (10 * enlarged // columns, enlarged, 3)


def test_gif_shows_a_still_screen_longer_instead_of_twice(tmp_path: Path) -> None:
    path = tmp_path / "game.gif"
    first, second = screens(2)
    with open_video(path, 10) as writer:
        for screen in (first, first, first, second):
            writer.add(screen)
    with Image.open(path) as image:
        assert image.n_frames == 2
        assert image.info["duration"] == 300


@pytest.mark.parametrize("name", ["game.mp4", "new/folder/game.gif"])
def test_a_failed_film_leaves_no_file_and_no_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), open_video(tmp_path / name, 10) as writer:
        writer.add(screens(1)[0])
        raise RuntimeError("the emulator went away")
    assert list(tmp_path.iterdir()) == []


def test_other_names_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"\.mp4 or \.gif"), open_video(tmp_path / "game.avi", 10):
        pass
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(RunError, match="could not be written"),
        open_video(tmp_path / "file" / "game.gif", 10) as writer,
    ):
        writer.add(screens(1)[0])


def test_text_takes_the_place_of_a_screen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    monkeypatch.setenv("LINES", "5")
    with TerminalScreen() as screen:
        screen.show_text("first\nsecond\n\nthird\nfourth", "step 1")
        screen.show_text("short\nan escape\x1b[2J", "step 2")
    pages = capsys.readouterr().out.split("\x1b[H")[1:]
    assert pages[0] == "... 2 more l\nthird       \nfourth      \n\x1b[0mstep 1      "
    assert pages[1].startswith("short       \nan escape\\x1\n            \n\x1b[0mstep 2      ")


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (160, 72), (40, 12), (200, 80)])
def test_half_blocks_fit_the_terminal(columns: int, rows: int) -> None:
    lines = half_blocks(screens(1)[0], columns, rows).split("\n")
    visible = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert len(visible) <= rows
    assert max(len(line) for line in visible) <= columns
    assert {len(line) for line in visible} == {len(visible[0])}
    assert visible[0].strip("▀") == ""
