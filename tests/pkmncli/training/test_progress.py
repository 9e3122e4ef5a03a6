"""Progress of what takes a while: drawn in a terminal, a line now and then elsewhere, nothing when quiet."""

from __future__ import annotations

import pytest

from pkmncli.outgoing_text import guarded_output
from pkmncli.training.display import progress
from pkmncli.training.display.progress import EvaluationProgress, ProgressWriter


def test_without_a_terminal_lines_tell_the_first_activity_and_the_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    with ProgressWriter() as writer:
        overall = writer.begin("all runs", 4, 1)
        writer.begin("seed-0", 1.0).update(0.5)
        overall.update(2.0)
        overall.update(4.0, "writing")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == ["all runs: 25%", "all runs: 50%, about 0 s left", "writing: 100%"]


def test_lines_are_rare_and_none_when_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ProgressWriter() as writer:
        writer.begin("filming", 2).update(1)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    with ProgressWriter(quiet=True) as writer:
        writer.begin("filming", 2).update(1)
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_the_players_of_an_evaluation_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "DRAW_SECONDS", 0.0)
    with guarded_output(), EvaluationProgress(10) as shown:
        shown.on_step("the learner alone", 4, 0.45)
        shown.on_step("pilot", 0, 0.02)
    drawn = capsys.readouterr().err
    assert "\x1b[2K" in drawn and "\\x1b" not in drawn, "each drawing replaces the one before"
    assert drawn.index("the learner alone, 4 of 10 episodes") < drawn.index("pilot, 0 of 10 episodes")
    assert " 45%" in drawn and " 2%" in drawn
