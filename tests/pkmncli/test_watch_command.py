"""``pkmn watch``: the agent of a run plays now, as in an evaluation, and the viewer's keys pause and end it."""

from __future__ import annotations

import json
import re
import shutil
import socket
import termios
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.terminal_session import terminal_session

from pkmncli.errors import ConfigurationError
from pkmncli.plugins import get_registry
from pkmncli.replay.controls import Controls, polled_keys
from pkmncli.replay.live_play import LivePlay
from pkmncli.runs import Run
from pkmncli.training.evaluation.run_evaluation import EvaluationMode, RunEvaluation, for_evaluation
from pkmncli.training.run_settings import run_settings

Pkmn = Callable[..., Any]


def test_what_is_watched_is_what_an_evaluation_plays(shared_run: Callable[..., Path]) -> None:
    run = Run(shared_run())
    own = run_settings(run, get_registry())
    options: dict[str, Any] = {"mode": EvaluationMode.ADAPTIVE, "envs": 1, "episodes": 2, "seed": 3, "baselines": False}
    evaluation = RunEvaluation.of(run, own, get_registry(), checkpoint="latest", **options)
    played, _ = evaluation.play()
    pages = []
    with evaluation.ready() as (pool, policy):
        play = LivePlay("it", pool, policy, episodes=2)
        for _step in play:
            pages.append(play.caption().split("\n"))
        picture = play.picture()
        assert play.frames_per_second == pytest.approx(2.49, abs=0.01)
    steps = [one.summary.steps for one in played]
    rewards = [f"reward {one.summary.total_reward:,.1f}" for one in played]
    assert [result.split(", ")[:2] for result in play.ended] == [
        [f"{count} steps", reward] for count, reward in zip(steps, rewards, strict=True)
    ]
    assert len(pages) == 1 + sum(steps), "the start, and each step"
    assert pages[0][0] == "episode 1, step 0   reward 0.0"
    assert pages[steps[0] + 1][0].startswith("episode 2, step 1 ") and pages[-1][0].endswith(play.ended[-1])
    assert all(re.fullmatch(r"\w+, by the (rules|learner), confidence \d\.\d\d", page[2]) for page in pages[1:])
    assert picture.dtype == np.uint8 and picture.shape[1] == 640 and picture.shape[0] > 576, "the caption is below"


def test_what_stands_on_the_screen_is_written_below_the_picture(shared_run: Callable[..., Path]) -> None:
    run = Run(shared_run())
    own = run_settings(run, get_registry())
    options: dict[str, Any] = {"mode": EvaluationMode.LLM_ONLY, "envs": 1, "episodes": 1, "seed": 3, "baselines": False}
    changes = {"max_steps_per_episode": 60}
    evaluation = RunEvaluation.of(run, own, get_registry(), checkpoint="latest", changes=changes, **options)
    with evaluation.ready() as (pool, policy):
        play = LivePlay("it", pool, policy, episodes=1)
        words = [play.words() for _step in play]
    assert not words[0] and any(words), "the professor speaks, and nobody at the start"
    assert not any("\n" in one for one in words)


def test_it_says_where_it_cannot_be_watched(
    pkmn: Pkmn, shared_run: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    run = str(shared_run())
    for options, said in (
        ((), "standard output is no terminal: use --window"),
        (("--stochastic", "--mode=rules"), "--stochastic: only the learner alone"),
        (("--window",), "--window: "),
    ):
        result = pkmn("watch", run, *options)
        assert result.code == 2 and result.err.startswith(said) and len(result.err.splitlines()) == 1


def test_a_run_without_a_learner_names_how_its_rules_are_watched(shared_run: Callable[..., Path]) -> None:
    own = run_settings(Run(shared_run()), get_registry())
    for mode in (EvaluationMode.RL_ONLY, EvaluationMode.ADAPTIVE):
        with pytest.raises(ConfigurationError, match="or pkmn watch --mode rules"):
            for_evaluation(own, mode, "it", {"rl": "none"})


def keys(*typed: str) -> Callable[[float], str]:
    """Return what a viewer types, one look after the other."""
    waiting = list(typed)
    return lambda _seconds: waiting.pop(0) if waiting else ""


def test_keys_pause_change_the_speed_and_end() -> None:
    lines: list[str] = []
    controls = Controls(1000.0, 4.0, keys(" ", "x", "+", "-", "-", " "))
    assert controls.wait(lambda: lines.append(controls.line))
    assert [line.split("   ")[0] for line in lines] == ["space: go on"] * 4 + ["space: pause"]
    assert [re.findall(r"now (\S+)x", line)[0] for line in lines] == ["4", "8", "4", "2", "2"]
    assert not Controls(1000.0, 4.0, keys("q")).wait(pytest.fail)


def test_a_pause_can_be_interrupted() -> None:
    with pytest.raises(KeyboardInterrupt):
        Controls(1000.0, 4.0, keys(" "), iter([False, False, True]).__next__).wait(lambda: None)


def test_a_keyboard_that_can_only_be_polled_gives_characters_and_no_codes_of_keys() -> None:
    """As on Windows, where an arrow gives a mark and a code, which is a character of another key."""
    waiting = [*" ", "\xe0", "q", "\x00", "-", *"+"]
    looks = iter([False, False])
    typed = polled_keys(60.0, lambda: next(looks, bool(waiting)), lambda: waiting.pop(0))
    assert typed == " +"
    assert polled_keys(0.0, lambda: bool(waiting), lambda: waiting.pop(0)) == ""
    with pytest.raises(KeyboardInterrupt):
        polled_keys(0.0, lambda: True, lambda: "\x03")


@contextmanager
def port_taken(port: int) -> Iterator[bool]:
    """Hold a port of loopback. False if another program has it, which may end at any moment."""
    with socket.socket() as held:
        try:
            held.bind(("127.0.0.1", port))
            held.listen()
        except OSError:
            yield False
        else:
            yield True


@pytest.mark.long
def test_it_is_watched_on_the_page_of_the_run(shared_run: Callable[..., Path], tmp_path: Path) -> None:
    folder = shutil.copytree(shared_run(), tmp_path / "it")
    with (
        port_taken(8080) as taken,
        terminal_session(["watch", str(folder), "--dashboard", "--speed=100"], tmp_path, (200, 24)) as session,
    ):
        address = session.wait_for(r"Showing \S+ at (http://\S+/)")[1]
        assert "Port 8080 is taken" in session.output or not taken
        session.wait_for("q: quit")
        state: dict[str, Any] = {"steps": 0}
        while not state["steps"]:
            with urllib.request.urlopen(f"{address}api/state", timeout=10) as answer:
                state = json.load(answer)
        assert state["run"] == "running" and not state["may_control"]
        assert {"step", "action", "source", "confidence"} < set(state["environments"][0])
        session.type("q")
        assert session.end() == 0
    assert not (folder / "live.json").exists()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=10)


@pytest.mark.long
@pytest.mark.parametrize("command", [("watch", "--mode=adaptive", "--speed=1"), ("replay", "--terminal", "--speed=1")])
def test_it_is_paused_and_quit_in_a_terminal(
    command: tuple[str, ...], shared_run: Callable[..., Path], tmp_path: Path
) -> None:
    name, *options = command
    with terminal_session([name, str(shared_run()), *options], tmp_path) as session:
        session.wait_for(r"step [2-9] .*reward[^\0]*space: pause   \+ -: speed, now 1x   q: quit")
        session.type(" ")
        session.wait_for("space: go on")
        session.type("q")
        assert session.end() == 0
        assert termios.tcgetattr(session.slave) == session.mode_before
