"""`pkmn play` in a terminal: a person plays, saves, quits; whatever ends it, the terminal is as it was."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from support.terminal_session import terminal_session
from support.variants import long_after

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.play.keys import Key
from pkmn_pyboy.play.raw_terminal import MOST_UNANSWERED, RawTerminal
from pkmncli.api import Action

PLACE = r"(\d+),(\d+) "
ANSWER, QUESTION = b"\x1b[0n", b"\x1b[5n"
WALKS = (
    ("\x1b[A", Action.UP, 0, -1),
    ("j", Action.DOWN, 0, 1),
    ("\x1b[D", Action.LEFT, -1, 0),
    ("l", Action.RIGHT, 1, 0),
)


def a_free_way(environment: PokemonEnvironment, x: int, y: int) -> tuple[str, int, int]:
    """A key that walks from the start, and the tile that it leads to."""
    for key, action, dx, dy in WALKS:
        environment.reset(seed=1)
        assert (environment.state.x, environment.state.y) == (x, y)
        environment.step(action)
        if (environment.state.x, environment.state.y) == (x + dx, y + dy):
            return key, x + dx, y + dy
    raise AssertionError("there is no way from the start")


@pytest.mark.long
def test_plays_from_power_on_saves_and_an_environment_starts_there(
    tmp_path: Path, make: Callable[..., PokemonEnvironment]
) -> None:
    with terminal_session(["play"], tmp_path) as session:
        session.wait_for("from power-on")
        session.wait_for(r"z or a: A.*q: quit")
        session.wait_for("Nothing else is written")
        session.wait_for("PRESS START")
        x, y = map(int, session.type_until("\r", PLACE).groups())
        key, x, y = a_free_way(make(seed_noops=(0, 0), seed_presses=0), x, y)
        session.type(key)
        session.wait_for(f"{x},{y} ")
        session.type("s")
        session.wait_for(r"saved quillwood\.state")
        session.type("q")
        assert session.end() == 0
        session.wait_for(r"pkmn train --init-state quillwood\.state")
        session.assert_restored()
    assert [path.name for path in tmp_path.iterdir()] == ["quillwood.state"]

    environment = make(start_state=tmp_path / "quillwood.state", seed_noops=(0, 0), seed_presses=0)
    environment.reset(seed=1)
    assert (environment.state.x, environment.state.y) == (x, y)
    assert environment.mask.sum() > 1

    with terminal_session(["play", "--state", "quillwood.state", "--save-state", "b.state"], tmp_path) as session:
        session.wait_for(f"{x},{y} ")
        session.type("q")
        assert session.end() == 0
        session.wait_for("not saved")
    assert not (tmp_path / "b.state").exists()


@pytest.mark.long
def test_the_default_name_takes_no_other_states_place(tmp_path: Path) -> None:
    (tmp_path / "quillwood.state").write_bytes(b"mine")
    with terminal_session(["play", "--from-start"], tmp_path) as session:
        session.wait_for(PLACE)
        session.type("s")
        session.wait_for("saved")
        session.type("q")
        assert session.end() == 0
    assert (tmp_path / "quillwood.state").read_bytes() == b"mine"
    assert (tmp_path / "quillwood-2.state").stat().st_size > 100_000


@pytest.mark.parametrize(
    ("number", "code"), long_after(1, [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
)
def test_a_signal_leaves_the_terminal_as_it_was(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with terminal_session(["play", "--from-start"], tmp_path) as session:
        session.wait_for(PLACE)
        if number is signal.SIGINT:
            session.type("\x03")
        else:
            session.signal(number)
        assert session.end() == code
        session.wait_for("The game was not saved")
        session.assert_restored()


@pytest.mark.long
def test_q_asks_once_where_something_would_be_lost(tmp_path: Path) -> None:
    with terminal_session(["play", "--from-start"], tmp_path) as session:
        session.wait_for(PLACE)
        session.type("z")
        session.type("q")
        session.wait_for("q again")
        session.type("q")
        assert session.end() == 0
        session.wait_for("not saved")


@pytest.mark.long
def test_the_page_fits_the_terminal_after_a_resize(tmp_path: Path) -> None:
    with terminal_session(["play", "--from-start"], tmp_path) as session:
        session.wait_for(PLACE)
        for columns, rows, drawn in ((160, 74, 160), (44, 12, 20), (3, 2, 3), (120, 40, 80)):
            session.type("")
            session.resize(columns, rows)
            session.wait_for(f"\n▀{{{drawn}}}[ \n]")
        session.type("q")
        assert session.end() == 0
        session.assert_restored()


def test_a_slow_terminal_is_sent_no_more_than_it_answers() -> None:
    master, slave = os.openpty()
    size = os.terminal_size((80, 24))
    try:
        with RawTerminal(slave, slave) as terminal:
            terminal.show(["first"], size)
            os.write(master, ANSWER)
            assert terminal.keys(5) == []
            for number in range(MOST_UNANSWERED):
                assert terminal.ready()
                terminal.show([f"page {number}"], size)
            assert not terminal.ready()
            os.write(master, b"z" + ANSWER)
            assert terminal.keys(5) == [Key.A]
            assert terminal.ready()
            terminal.show(["last"], size)
            os.write(master, ANSWER * MOST_UNANSWERED)
        shown = b""
        while select.select([master], [], [], 0)[0]:  # one read may return less than there is
            shown += os.read(master, 65536)
        assert shown.count(QUESTION) == MOST_UNANSWERED + 2
        # Its answers were taken in: the shell would take them for typing.
        assert not select.select([slave], [], [], 0)[0]
    finally:
        os.close(master)
        os.close(slave)


def page_of(master: int) -> bytes:
    """One whole page, which ends with a question to the terminal; a read may return less."""
    shown = b""
    while not shown.endswith(QUESTION):
        shown += os.read(master, 65536)
    return shown


def test_only_lines_that_changed_are_sent() -> None:
    master, slave = os.openpty()
    size = os.terminal_size((80, 24))
    try:
        with RawTerminal(slave, slave) as terminal:
            terminal.show(["above", "below"], size)
            page_of(master)
            terminal.show(["above", "other"], size)
            shown = page_of(master)
            assert b"other" in shown
            assert b"above" not in shown
            terminal.show(["above", "other"], os.terminal_size((90, 24)))
            assert b"above" in page_of(master)
    finally:
        os.close(master)
        os.close(slave)


@pytest.mark.long
def test_a_state_that_cannot_be_written_is_told_and_the_game_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with terminal_session(["play", "--from-start", "--save-state", "folder/a.state"], tmp_path) as session:
        session.wait_for(PLACE)
        folder.rmdir()
        session.type("s")
        session.wait_for(r"folder/a\.state can't")
        session.type("q")
        assert session.end() == 0
        session.wait_for("not saved")


@pytest.mark.long
def test_a_terminal_that_takes_no_output_holds_up_no_end(tmp_path: Path) -> None:
    with terminal_session(["play", "--from-start"], tmp_path, size=(160, 74)) as session:
        session.wait_for("q: quit")
        # Nobody reads any more, and a page in new colours is more than the terminal holds.
        session.type("\r")
        session.resize(158, 74)
        session.resize(160, 74)
        session.signal(signal.SIGTERM)
        assert session.process.wait(20) == 143
