"""What a training shows of itself: lines now and then, or live in a terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmncli.training import console, trainer


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "METRICS_INTERVAL", 20)
    monkeypatch.setattr(console, "LINE_SECONDS", 0.0)


def test_a_status_tells_the_game_who_decided_and_how_the_learning_goes(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    result = pkmn("train", *small_training)
    assert result.code == 0, result.err
    lines = [line.strip() for line in result.out.splitlines()]
    games = [line for line in lines if "money 3,000" in line]
    assert any(line.startswith("Home 2F (") and "no Pokemon yet, 0 badges" in line for line in games)
    assert any("exploration.new_tile" in line for line in games)
    assert any(line.startswith("decided by ") and "rule " in line for line in lines)
    assert any(line.startswith("learner: loss ") and "epsilon" in line and "updates" in line for line in lines)
    assert any(line.startswith("50%  120 steps") for line in lines)


def test_a_quiet_training_shows_no_status(pkmn: Callable[..., Any], small_training: list[str]) -> None:
    result = pkmn("train", *small_training, "--quiet")
    assert "money" not in result.out


def test_looking_changes_nothing(
    pkmn: Callable[..., Any],
    small_training: list[str],
    course: Callable[[Path], dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    assert pkmn("train", *small_training, "--run-name=looked-at").code == 0
    monkeypatch.setattr("pkmncli.training.workers.WorkerPool.status", lambda _self, _index: "")
    assert pkmn("train", *small_training, "--run-name=not").code == 0
    one, other = (course(tmp_path / "runs" / name) for name in ("looked-at", "not"))
    assert [one[part] == other[part] for part in ("decisions", "episodes", "files")] == [True] * 3
