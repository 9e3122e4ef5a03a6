"""Display of a training: lines now and then, or a live view in a terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text
from support.variants import long_after

from pkmncli.training import trainer
from pkmncli.training.display import console
from pkmncli.training.display.console import ConsoleProgress
from pkmncli.training.display.live_view import Clock, lay_out, lines_of
from pkmncli.training.display.status import Status
from pkmncli.training.recording.counters import TrainingStatistics
from pkmncli.training.recording.journey import milestones_ahead

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[[0-9;]*(?<![0-9])(?:3[0-7]|9[0-7]|38)[0-9;]*m")


@pytest.fixture
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "METRICS_INTERVAL", 20)
    monkeypatch.setattr(console, "LINE_SECONDS", 0.0)


@pytest.mark.usefixtures("_often")
@pytest.mark.long
def test_lines_tell_the_game_who_decided_and_how_the_learning_goes(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    result = pkmn("train", *small_training)
    assert result.code == 0, result.err
    lines = [line.strip() for line in result.out.splitlines()]
    games = [line for line in lines if "money 3,000" in line]
    assert any(line.startswith("Home 2F (") and "no Pokemon yet, 0 badges" in line for line in games)
    assert any("; reward from " in line and "new tile " in line for line in games)
    decided = [line for line in lines if line.startswith("decided by ")]
    assert any("rules " in line and "by the learner in the last " in line for line in decided)
    assert any(line.startswith("taken over by the learner: ") and "walking " in line for line in lines)
    assert any(line.startswith("learner: loss ") and "epsilon" in line and "updates" in line for line in lines)
    assert any(line.startswith("50%  120 steps") for line in lines)
    assert "trust: 0.90 in the rules, curriculum stage 1" in lines
    assert "Decided by: the rules 100%." in lines
    assert "\x1b" not in result.out


@pytest.mark.long
@pytest.mark.usefixtures("_often")
def test_a_quiet_training_shows_no_status(pkmn: Callable[..., Any], small_training: list[str]) -> None:
    result = pkmn("train", *small_training, "--quiet")
    assert "money" not in result.out


@pytest.fixture
def unwatched(shared_run: Callable[..., Path]) -> Path:
    """The shared run, made before anything is patched."""
    return shared_run()


@pytest.mark.long
@pytest.mark.usefixtures("unwatched", "_often")
def test_looking_changes_nothing(
    pkmn: Callable[..., Any],
    small_training: list[str],
    course: Callable[[Path], dict[str, Any]],
    unwatched: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(ConsoleProgress, "wants_look", True)
    assert pkmn("train", *small_training, "--run-name=looked-at").code == 0
    one, other = course(tmp_path / "runs" / "looked-at"), course(unwatched)
    assert [one[part] == other[part] for part in ("decisions", "episodes", "files")] == [True] * 3


@pytest.fixture(scope="module")
def statuses(tmp_path_factory: pytest.TempPathFactory) -> list[Status]:
    """All that a real training with a scripted language model would have shown, after every step."""
    from pkmncli import cli  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("looked-at")
    (folder / "advice.toml").write_text(
        '[[reply]]\ntext = \'{"goal": "see the north", "presses": ["up", "up"], "confidence": 0.9, '
        '"reason": "the way out is up"}\'\n'
    )
    seen: list[Status] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(trainer, "METRICS_INTERVAL", 20)
        patch.setattr(ConsoleProgress, "wants_look", True)
        patch.setattr(ConsoleProgress, "on_look", lambda _self, status: seen.append(status))
        options = "--steps=240 --max-steps-per-episode=80 --quiet --set=dqn.learning_starts=40 --set=dqn.batch_size=8"
        scripted = ["--llm=scripted", "--set=scripted.file=advice.toml", "--llm-wait"]
        assert cli.run(["train", *options.split(), *scripted]) == 0
    assert len(seen) == 240
    return seen


def drawn(status: Status, columns: int, lines: int = 40, doing: str = "", **options: Any) -> list[str]:
    """The view's lines, as a terminal of that size shows them."""
    page = io.StringIO() if "file" not in options else options.pop("file")
    shown = Console(file=page, width=columns, height=lines, force_terminal=True, highlight=False, **options)
    ascii_only = shown.options.ascii_only
    shown.print(lay_out(status, Clock(75.0, 150.0), columns, lines, doing, ascii_only=ascii_only))
    page.seek(0)
    return ESCAPE.sub("", page.read()).splitlines()


@pytest.mark.parametrize(
    ("columns", "lines"), long_after(1, [(140, 32), (120, 24), (80, 24), (60, 20), (40, 16), (20, 10)])
)
def test_the_view_fits_the_terminal(columns: int, lines: int, statuses: list[Status]) -> None:
    for status in (statuses[0], statuses[100], statuses[-1]):
        page = drawn(status, columns, lines, "evaluating the learner alone")
        assert max(map(len, page)) <= columns
        if columns >= 60:
            assert len(page) <= lines
        assert page[-1].strip() == "", "room for ^C: a full line would wrap, and the view would leave a line behind"


def test_the_view_says_what_there_is_to_say(statuses: list[Status]) -> None:
    status = statuses[-1]
    text = "\n".join(drawn(status, 140))
    statistics = status.statistics
    for fact in (
        "240 of 240 steps  75 s, 2 min left",
        f"{statistics.average_reward:,.1f}, mean of the last 3",
        "3, 80 steps each",
        "0.90 in the rules, curriculum stage 1",
        "strategy llm_heavy, 80%",
        "see the north (up, up): the way out is up",
        "learner    loss ",
        f"LLM {statistics.steps_by_source[3]:,} (",
    ):
        assert fact in text, fact
    assert re.search(r"speed +\d[\d,]* steps/s  environment \d+%  learner \d+%", text)
    assert re.search(r"action +\w+, by (the learner|exploration|the rules|the LLM)", text)
    assert re.search(r"game +\w+", text)
    step, frame = statistics.milestone_splits["downstairs"]
    assert frame is not None
    first = statistics.milestone_first_step["downstairs"]
    assert re.search(rf"downstairs +{step} +0:00:{round(frame / 59.7275):02} +{first} +3\b", text)
    assert "action " not in "\n".join(drawn(status, 40)), "a narrow terminal gets what matters most"


def measured(status: Status, *reached: int, goal: str | None = "thorn_badge") -> Status:
    """The status after measurings of the learner alone in which so many of five starts reached the goal."""
    statistics = replace(status.statistics, alone=[])
    for number, count in enumerate(reached, start=1):
        statistics.steps = 1000 * number
        statistics.add_alone([10.0 * number] * 5, [900] * 5, [place < count for place in range(5)])
    return replace(status, statistics=statistics, scene=replace(status.scene, goal=goal))


def test_the_view_says_how_far_the_learner_gets_alone(statuses: list[Status]) -> None:
    status = measured(statuses[-1], 0, 0, 1, 3, 2, 5)
    assert any(
        line.startswith("alone      5 of 5 starts to thorn_badge after 6,000 steps; before: 0, 1, 3, 2")
        for line in drawn(status, 140)
    )
    narrow = [line for line in drawn(status, 60) if line.startswith("alone")]
    assert narrow == ["alone      5 of 5 starts to thorn_badge; before: 0, 1, 3, 2"]
    assert any(line.startswith("alone") for line in drawn(status, 40)), "it matters most"
    without_goal = "\n".join(lines_of(measured(statuses[-1], 1, 2, goal=None), 100.0))
    assert "learner alone: reward 20.0 after 2,000 steps; before: 10.0" in without_goal
    assert "left" not in without_goal.splitlines()[0]
    assert "  100/s  about 2 min left  " in lines_of(statuses[-1], 100.0, 120.0)[0]
    assert not any(line.startswith("alone") for line in drawn(statuses[-1], 140)), "it was not measured yet"


def test_the_view_says_what_the_learner_has_taken_over(statuses: list[Status]) -> None:
    metrics = {"hand_over/walking/share": 0.95, "hand_over/walking/confidence": 0.93, "hand_over/words/share": 0.1}
    status = replace(statuses[-1], metrics={**metrics, "hand_over/words/confidence": 0.25})
    assert any(
        line.startswith("taken over walking 95% (sure 0.93)  words 10% (sure 0.25)") for line in drawn(status, 80)
    )
    statistics = replace(status.statistics)
    statistics.recent_learner_steps.extend([(82, 100)] * 10)
    assert any(
        line.startswith("lately     82% by the learner in the last 3 episodes")
        for line in drawn(replace(status, statistics=statistics), 140)
    )


def test_milestones_stand_beside_the_rest_only_where_there_is_room(statuses: list[Status]) -> None:
    wide, narrow = drawn(statuses[-1], 140), drawn(statuses[-1], 80)
    assert any("speed" in line and "milestone" in line for line in wide)
    assert not any("speed" in line and "milestone" in line for line in narrow)
    assert any(line.startswith("milestone") for line in narrow)


def test_the_next_milestones_are_named_and_no_column_is_cut(statuses: list[Status]) -> None:
    status = statuses[-1]
    statistics, running = status.statistics, status.journey
    reached = {*statistics.milestones_reached, *(one.name for one in (running.milestones if running else ()))}
    following = milestones_ahead(statistics.milestone_order, reached, status.scene.goal)
    assert following and following[0] not in reached
    assert any(line.startswith(f"{following[0]} ") for line in drawn(status, 80))
    for columns in (40, 60, 80, 100, 140):
        heading = next(line for line in drawn(status, columns) if "milestone  " in line)
        assert heading.split("milestone")[1].split()[-1] in ("best", "at", "episodes")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437"])
def test_the_view_is_written_in_any_encoding(encoding: str, statuses: list[Status]) -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")
    assert any("240 of 240 steps" in line for line in drawn(statuses[-1], 80, file=file))


def test_a_pause_counts_for_no_time_left(monkeypatch: pytest.MonkeyPatch, statuses: list[Status]) -> None:
    now = 100.0
    monkeypatch.setattr(console.time, "monotonic", lambda: now)
    progress = ConsoleProgress(quiet=True)
    first, later = (replace(statuses[0], statistics=TrainingStatistics(steps=steps)) for steps in (60, 120))
    progress.on_look(first)
    now += 10
    assert progress.clock_at(later).left_s == pytest.approx(20)
    now += 500
    progress.on_pause()
    progress.on_resume(500)
    assert progress.clock_at(later).left_s == pytest.approx(20)


@pytest.mark.long
def test_what_is_shown_while_the_learner_is_measured_is_of_one_moment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from pkmncli import cli  # noqa: PLC0415

    shown: list[tuple[str, int, int]] = []

    def keep(status: Status, _clock: Clock, _columns: int, _lines: int, doing: str = "", **_options: Any) -> Text:
        assert status.journey is not None
        since_the_ended = status.statistics.steps - status.statistics.total_episode_steps
        shown.append((doing, status.journey.steps, since_the_ended))
        return Text()

    monkeypatch.setattr(console, "lay_out", keep)
    monkeypatch.setattr(console, "LOOK_SECONDS", 1e6)  # only the first step is looked at
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(tmp_path)
    options = "--steps=120 --max-steps-per-episode=80 --eval-interval=50 --eval-episodes=1 --final-episodes=0"
    assert cli.run(["train", *options.split(), "--set=dqn.learning_starts=1000"]) == 0
    measured = [(journey, count) for doing, journey, count in shown if doing.startswith("evaluating")]
    assert measured == [(50, 50), (20, 20), (40, 40)]


def test_drawing_takes_a_small_share_of_the_time(monkeypatch: pytest.MonkeyPatch, statuses: list[Status]) -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.02  # so that whatever is drawn takes some
        return now

    monkeypatch.setattr(console.time, "monotonic", clock)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    progress = ConsoleProgress()
    drawings = 0
    with progress:
        began = now
        while now - began < 60:
            if progress.wants_look:
                progress.on_look(statuses[-1])
                drawings += 1
    assert 2 <= drawings <= 60 / (0.02 / console.LOOK_COST) + 1


def in_terminal(folder: Path, options: list[str], stop_at: bytes = b"", **environment: str) -> tuple[int, str]:
    """Runs ``pkmn train`` in a terminal of 80 by 24. Ctrl-C is typed when ``stop_at`` has appeared."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    left_out = ("PKMN_", "COLUMNS", "NO_COLOR", "FORCE_COLOR")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    process = subprocess.Popen(
        [sys.executable, "-m", "pkmncli", "train", *options],
        cwd=folder,
        env={**environ, "TERM": "xterm-256color", **environment},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    output = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not chunk:
            break
        output += chunk
        if stop_at and stop_at in output:
            os.kill(process.pid, signal.SIGINT)
            stop_at = b""
    os.close(leader)
    return process.wait(timeout=60), output.decode()


@pytest.mark.long
def test_a_terminal_gets_a_view_and_is_left_as_it_was(small_training: list[str], tmp_path: Path) -> None:
    code, output = in_terminal(tmp_path, [*small_training, "--run-name=it"])
    assert code == 0
    assert "of 240 steps" in output and "steps/s" in output
    assert output.count("of 240 steps") > 2 and "\\x1b" not in output, "drawn anew in its place"
    assert output.rfind("\x1b[?25h") > output.rfind("\x1b[?25l") > -1, "the cursor is shown again"
    assert COLOUR.search(output)
    assert "The run is in" in ESCAPE.sub("", output)[-1500:]


@pytest.mark.long
def test_ctrl_c_leaves_the_terminal_as_it_was(small_training: list[str], tmp_path: Path) -> None:
    code, output = in_terminal(
        tmp_path, [*small_training, "--steps=100000", "--run-name=it"], stop_at=b"of 100,000 steps"
    )
    assert code == 130
    assert output.rfind("\x1b[?25h") > output.rfind("\x1b[?25l") > -1
    assert "pkmn train --resume" in output


@pytest.mark.long
def test_no_color_is_respected(small_training: list[str], tmp_path: Path) -> None:
    code, output = in_terminal(tmp_path, [*small_training, "--run-name=it"], NO_COLOR="1")
    assert code == 0 and "of 240 steps" in output
    assert not COLOUR.search(output)


@pytest.mark.long
@pytest.mark.parametrize(("option", "environment"), [((), {"TERM": "dumb"}), (("--quiet",), {})])
def test_a_dumb_terminal_and_a_quiet_training_get_no_view(
    option: tuple[str, ...], environment: dict[str, str], small_training: list[str], tmp_path: Path
) -> None:
    code, output = in_terminal(tmp_path, [*small_training, "--run-name=it", *option], **environment)
    assert code == 0
    assert not ESCAPE.search(output)
    assert "of 240 steps" not in output
