"""`pkmn play --env balatro`: tables and lines through a pipe and in a terminal, saved runs, hints."""

from __future__ import annotations

import io
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.balatro import cards, hold, in_blind, in_shop
from support.variants import long_after

from pkmn_balatro.environment import BalatroEnvironment
from pkmn_balatro.play.hints import line_of, pilot_hint
from pkmn_balatro.play.table import SIGNS_AS_LETTERS, text_of
from pkmn_balatro.play.typed_lines import TypedGame
from pkmn_balatro.settings import BalatroSettings
from pkmn_balatro.simulator.blinds import ACORN, HOUSE
from pkmn_balatro.simulator.cards import FACE_DOWN, FORCED
from pkmn_balatro.simulator.consumables import DEATH
from pkmn_balatro.simulator.game import Game
from pkmn_balatro.simulator.run import Phase
from pkmncli import cli

Play = Callable[..., tuple[int, str, str]]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Play:
    """Return a function that plays lines, and returns exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def play_lines(*lines: str, options: tuple[str, ...] = ("--seed", "7")) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        code = cli.run(["play", "--env", "balatro", *options])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return play_lines


def test_lines_through_a_pipe_play_and_are_shown(play: Play) -> None:
    code, out, err = play("select", "play 1 2", "nonsense", "quit", "play 3")
    assert (code, err) == (0, "")
    assert "seed 7" in out and "> play 1 2" in out and "3 hands, 4 discards left" in out
    assert "'nonsense' is not understood" in out
    assert "> play 3" not in out
    assert out.endswith("The run was not saved.\n")


def test_the_seed_is_that_of_an_episode(play: Play) -> None:
    environment = BalatroEnvironment(BalatroSettings())
    environment.reset(seed=11)
    environment.game.select_blind()
    assert text_of(environment.game) in "\n".join(
        line.rstrip() for line in play("select", options=("--seed", "11"))[1].splitlines()
    )


def test_input_that_is_no_game_is_one_line(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = play("\0" * 5000)
    assert (code, err) == (2, "a line has 1,000 letters or more: that is no game\n")
    assert "'?[2J' is not understood" in play("\x1b[2J")[1].replace("2j", "2J")
    monkeypatch.setattr("sys.stdin", None)
    assert cli.run(["play", "--env", "balatro"]) == 2


def test_without_signs_the_table_has_letters() -> None:
    game = in_blind(2, HOUSE, ante=2)
    hold(game, "KS QH")
    text = text_of(game).translate(SIGNS_AS_LETTERS)
    assert text.isascii() and "|Ks |" in text and "+-1-+" in text


def test_the_end_of_the_input_ends_the_game(play: Play) -> None:
    code, out, _ = play("select")
    assert code == 0 and out.endswith("play 1 3 5 · discard 2 4 · sort rank · help\nThe run was not saved.\n")
    assert play()[0] == 0


def test_a_saved_run_continues_and_begins_an_episode(play: Play, tmp_path: Path) -> None:
    code, out, _ = play("select", "play 1 2", "save My Run.state", "play 1", "load My Run.state", "quit")
    assert code == 0 and "Saved My Run.state." in out and "Continued from My Run.state." in out
    code, again, _ = play("quit", options=("--state", "My Run.state"))
    assert code == 0 and "3 hands, 4 discards left" in again
    environment = BalatroEnvironment(BalatroSettings(start_state=tmp_path / "My Run.state"))
    environment.reset(seed=1)
    assert (environment.game.run.phase, environment.game.run.hands_left) == (Phase.PLAY, 3)


def test_a_save_is_never_written_over_another_file(play: Play, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    _, out, _ = play("save notes.txt", "save", "save nowhere/a.state", "save a.state", "save a.state")
    assert "notes.txt is no saved run and is not overwritten" in out
    assert "name a file, such as 'save mine.run'" in out
    assert "nowhere/a.state can't be written" in out
    assert out.count("Saved a.state.") >= 2
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.state", "notes.txt"]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--deck", "rde"), 2, "--deck: there is no deck 'rde'; did you mean"),
        (("--stake", "silver"), 2, "--stake: there is no stake 'silver'"),
        (("--win-ante", "0"), 2, "--win-ante"),
        (("--pilot", "rules"), 2, "--pilot: there is no pilot 'rules'; choose from planning, greedy"),
        (("--pilot", "random", "--hints"), 2, "--pilot: there is no pilot 'random'; choose from planning, greedy"),
        (("--seed", "-1"), 2, "--seed"),
        (("--state", "none.state"), 3, "none.state can't be read"),
        (("--state", "text.state"), 3, "text.state: the state is none of balatro"),
        (("--state", "text.state", "--seed", "1"), 2, "leave one out"),
    ],
)
def test_a_wrong_option_is_told_in_one_line(
    play: Play, tmp_path: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    (tmp_path / "text.state").write_text("no run")
    found, out, err = play("select", options=options)
    assert (found, out) == (code, "")
    assert words in err and "Traceback" not in err


def test_hints_are_the_pilots_line_and_the_best_play_of_each_hand(play: Play) -> None:
    _, out, _ = play("select", "hint greedy", "hint nobody", options=("--seed", "7"))
    hints = [line for line in out.splitlines() if line.startswith("hint: ")]
    assert hints[0].startswith("hint: greedy: play 1 2 3 4 ") and hints[0].endswith("(play for 120)")
    assert hints[1] == "hint: play 1 2 3 4 (Two Pair, at least 120)"
    assert len({line.partition("(")[2].partition(",")[0] for line in hints[1:]}) == 3
    assert "there is no pilot 'nobody': 'hint planning or greedy'" in out
    _, out, _ = play("select", options=("--seed", "7", "--hints", "--pilot", "greedy"))
    assert out.count("hint: greedy: ") == 2


@pytest.mark.parametrize("pilot", long_after(1, ["planning", "greedy"]))
def test_a_run_can_be_played_by_the_lines_of_hints(pilot: str) -> None:
    environment = BalatroEnvironment(BalatroSettings())
    environment.reset(seed=5)
    game = environment.game
    typed, phases = TypedGame(game), set()
    for _ in range(40):
        if game.run.phase == Phase.OVER:
            break
        phases.add(game.run.phase)
        if game.run.phase == Phase.PLAY and game.run.hands_left == 1:
            game.run.score = game.run.target - 1  # so that later phases are seen
        line, _, reason = pilot_hint(environment.save_state(), pilot).partition(" (")
        assert reason.endswith(")")
        typed.take(line)
    assert {Phase.BLIND, Phase.PLAY, Phase.SHOP} <= phases


def test_a_hint_names_the_targets_in_their_order() -> None:
    environment = BalatroEnvironment(BalatroSettings())
    environment.reset(seed=5)
    game = environment.game
    game.select_blind()
    hold(game, "KS KH 9D 4D 3C 2D")
    game.run.consumables = [DEATH]
    line = pilot_hint(environment.save_state(), "planning").partition(" (")[0]
    first, second = (int(word) - 1 for word in line.removeprefix("use 1 on ").split())
    assert game.run.hand[first] & 0xF <= game.run.hand[second] & 0xF
    kept = game.run.hand[second]
    TypedGame(game).take(line)
    assert game.run.hand.count(kept) == 2


def test_moves_of_jokers_are_lines() -> None:
    assert line_of("joker_left_3") == "move 3 2"
    assert line_of("buy_voucher_1") == "buy voucher 1"


def test_the_deck_the_hands_and_the_help_are_shown(play: Play) -> None:
    _, out, _ = play("select", "deck", "hands", "help", "new 3", "new x")
    assert "44 cards" in out and "Straight Flush" in out and "sell joker 1, sell consumable 1" in out
    assert "seed 3" in out and "a seed is a number" in out


def test_cards_and_jokers_that_are_turned_over_stay_hidden() -> None:
    game = in_blind(2, HOUSE, ante=2)
    hold(game, "KS QH")
    game.run.hand = [card | FACE_DOWN for card in game.run.hand]
    text = text_of(game)
    assert "░░░" in text and "K♠" not in text and "Q♥" not in text
    acorn = text_of(in_blind(2, ACORN, ante=8, jokers=("Banner",)))
    assert "Banner" not in acorn and "turned over by the boss" in acorn


def test_the_table_tells_what_is_special_about_a_card() -> None:
    game = in_blind()
    game.run.hand = [cards("KS")[0] | FORCED | 4 << 6 | 2 << 13]
    assert "1 glass, red seal, must be chosen" in text_of(game)


@pytest.mark.parametrize("columns", [40, 60, 120])
@pytest.mark.parametrize("game", [Game(1), in_blind(jokers=["Joker", "Blueprint"]), in_shop()])
def test_a_table_is_never_wider_than_the_terminal(columns: int, game: Game) -> None:
    assert max(map(len, text_of(game, columns).splitlines())) <= columns


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.long
def test_ctrl_c_in_a_terminal_ends_in_order(tmp_path: Path) -> None:
    keys, terminal = os.openpty()
    game = subprocess.Popen(
        [sys.executable, "-m", "pkmncli", "play", "--env", "balatro", "--seed", "7"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=tmp_path,
        start_new_session=True,
    )
    os.close(terminal)
    seen = _read_until(keys, b"> ")
    os.write(keys, b"select\n")
    seen += _read_until(keys, b"cards to draw")
    game.send_signal(signal.SIGINT)
    assert game.wait(timeout=30) == 130
    seen += _read_until(keys, b"not saved")
    os.close(keys)
    assert b"Traceback" not in seen


def _read_until(keys: int, end: bytes) -> bytes:
    seen = b""
    while end not in seen and select.select([keys], [], [], 30)[0]:
        try:
            seen += os.read(keys, 4096)
        except OSError:  # the terminal is closed
            break
    assert end in seen, seen
    return seen
