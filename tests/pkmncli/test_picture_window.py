"""A window for pictures on a virtual display: what is on the screen, and which keys it gives back."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import ImageGrab, features

from pkmncli.replay.window import PictureWindow

WIDTH, HEIGHT = 400, 300


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """Name of a display of 400 by 300 pixels that nobody sees."""
    pytest.importorskip("tkinter", reason="this Python has no tkinter")
    if (server := shutil.which("Xvfb")) is None or not features.check("xcb"):
        pytest.skip("Xvfb is not installed, or Pillow cannot read a display")
    ours, theirs = os.pipe()
    screen = ("-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-nolisten", "tcp")
    command = [server, "-displayfd", str(theirs), *screen]
    with subprocess.Popen(command, pass_fds=[theirs], stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        try:
            with os.fdopen(ours) as told:
                number = told.readline().strip()
            assert number, "it found no free display"
            yield f":{number}"
        finally:
            process.terminate()


@pytest.fixture
def shown_on(display: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DISPLAY", display)
    return display


def picture(height: int, width: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8)


def test_the_picture_is_on_the_display_pixel_by_pixel(shown_on: str) -> None:
    with PictureWindow("it", "use --terminal") as window:
        for seed_picture in (picture(90, 120), picture(90, 120)[::-1]):
            window.show(seed_picture, "it")
            window.read(0.0)
            seen = np.asarray(ImageGrab.grab(xdisplay=shown_on).convert("RGB"))
            assert seen.shape == (HEIGHT, WIDTH, 3)
            assert np.array_equal(seen[:90, :120], seed_picture)


def test_a_picture_larger_than_the_display_is_reduced_in_its_proportions(shown_on: str) -> None:
    with PictureWindow("it", "use --terminal") as window:
        window.show(np.full((600, 1200, 3), 255, np.uint8), "it")
        window.read(0.0)
        white = np.argwhere(np.asarray(ImageGrab.grab(xdisplay=shown_on).convert("L")) == 255)
        assert (white.max(axis=0) + 1).tolist() == [200, 400]


def test_typed_keys_are_given_back_and_a_closed_window_is_q(shown_on: str) -> None:
    with PictureWindow("it", "use --terminal") as window:
        window.show(picture(50, 50), "it")
        root = window._root  # noqa: SLF001 - typed keys need it
        root.focus_force()
        root.update()
        for key in ("space", "plus", "Shift_L"):
            root.event_generate(f"<KeyPress-{key}>")
        assert window.read(0.0) == " +"
        assert window.read(0.0) == "" and window.open
        root.event_generate("<KeyPress-Escape>")
        assert window.read(0.0) == "q" and not window.open


@pytest.mark.long
def test_an_agent_is_watched_in_a_window(
    shown_on: str, pkmn: Callable[..., Any], shared_run: Callable[..., Path]
) -> None:
    options = ("--window", "--episodes=1", "--max-steps-per-episode=5", "--speed=100", "--mode=rules")
    result = pkmn("watch", str(shared_run()), *options)
    assert result.code == 0, result.err
    assert result.out.splitlines()[-1].startswith("Episode 1: 5 steps, reward ")
