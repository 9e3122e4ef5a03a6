"""Lessons in prompts: results in this run, and those of earlier runs, whose file is refused in one line if wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmncli.advice.lessons import EarlierLessons, lesson_lines
from pkmncli.advice.worth import AdviceWorth, Situation
from pkmncli.errors import ConfigurationError

HERE, THERE = Situation(0x201, 1, 0), Situation(0x202, 1, 0)


def test_lines_have_failures_and_successes_and_nothing_that_is_not_known_yet() -> None:
    worth = AdviceWorth()
    for reward in (0.0, -1.0, 0.0):
        worth.add_result(HERE, "fight", reward)
    for reward in (2.0, 0.0, 1.0):
        worth.add_result(HERE, "go to Fern Trail", reward)
    worth.add_result(HERE, "heal", 9.0)
    assert lesson_lines(worth.results(HERE)) == [
        "fight: brought nothing here in 3 tries",
        "go to Fern Trail: brought something here in 2 of 3 tries",
    ]
    assert lesson_lines(worth.results(THERE)) == []


def written(folder: Path, *contexts: dict[str, Any], audience: str = "prompt", version: int = 1) -> Path:
    advice = [
        {"for": audience, "context": context, "text": f"lesson {number}", "evidence": "5 tries"}
        for number, context in enumerate(contexts)
    ]
    path = folder / "lessons.json"
    path.write_text(json.dumps({"version": version, "advice": advice}), encoding="utf-8")
    return path


def test_a_lesson_is_told_where_all_of_its_situation_holds(tmp_path: Path) -> None:
    lessons = EarlierLessons.load(
        written(
            tmp_path,
            {"map": 513, "map_name": "Fern Trail", "phase": 0, "battle": 0},
            {"map": 513, "phase": 5, "battle": 2},
            {"map": 513, "phase": 5, "battle": 1},
            {"map": 513},
            {"map": 513, "x": 3, "y": 4},
        )
    )
    assert lessons.lines(Situation(513, 0, 0)) == ["lesson 0 (5 tries)", "lesson 3 (5 tries)"]
    # A lesson about trainers need not hold for wild creatures.
    assert lessons.lines(Situation(513, 5, 161, 2)) == ["lesson 1 (5 tries)", "lesson 3 (5 tries)"]
    assert lessons.lines(Situation(513, 5, 161, 1)) == ["lesson 2 (5 tries)", "lesson 3 (5 tries)"]
    assert lessons.lines(Situation(514, 0, 0)) == []


def test_what_is_for_others_is_not_told(tmp_path: Path) -> None:
    assert EarlierLessons.load(written(tmp_path, {"map": 1}, audience="pilot")).lines(Situation(1, 0, 0)) == []


@pytest.mark.parametrize("content", ["", "[]", '{"version": 1}', '{"version": 2, "advice": []}', '{"advice": []}'])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "lessons.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="--show advice --format json"):
        EarlierLessons.load(path)
    with pytest.raises(ConfigurationError, match="can't be read"):
        EarlierLessons.load(tmp_path / "nowhere.json")


@pytest.mark.long
@pytest.mark.parametrize("given", ["there", "missing"])
def test_a_training_tells_them_in_its_prompts(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path, given: str
) -> None:
    script = tmp_path / "script.toml"
    script.write_text('[[reply]]\ntext = \'{"skill": "press", "presses": ["none"], "confidence": 0.5}\'\n')
    path = written(tmp_path, {"battle": 0}) if given == "there" else tmp_path / "missing.json"
    options = ["--llm=scripted", f"--set=scripted.file={script}", "--llm-wait", "--llm-interval=5"]
    done = pkmn("train", *small_training, *options, f"--lessons-file={path}", "--run-name=told")
    if given == "missing":
        assert done.code == 2
        assert "can't be read" in done.err
        return
    assert done.code == 0
    from pkmn_decisions.store.store import DuckDBStore  # noqa: PLC0415 - only this test reads a run

    (folder,) = tmp_path.glob("**/told")
    with DuckDBStore(folder) as store:
        prompts = [row["prompt"] for row in store.read("advice")]
    assert any("lesson 0 (5 tries)" in prompt for prompt in prompts)
