"""How far a training has got: seen while its first episode runs, kept in the summary, and the same after a resume."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pkmncli.api.live import STANDING_BYTES, LiveStanding
from pkmncli.runs import Run
from pkmncli.training.display import console
from pkmncli.training.recording.journey import Journey, Reached, in_words, play_time

Pkmn = Callable[..., Any]
LONG = ("--no-rl", "--max-steps-per-episode=5000", "--save-interval=60")
FRAMES_OF_A_STEP = 24


def journey_of(folder: Path) -> Journey:
    return Journey.from_dict(Run(folder).read_summary()["journey"])


def test_an_episode_that_runs_is_told_in_the_lines_and_in_the_summary(
    pkmn: Pkmn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "LINE_SECONDS", 0.0)
    result = pkmn("train", *LONG, "--steps=150", "--run-name=it")
    assert result.code == 0, result.err
    journey = journey_of(tmp_path / "runs" / "it")
    assert (journey.environment, journey.episode, journey.ended) == (0, 0, False)
    assert (journey.steps, journey.frames) == (150, 150 * FRAMES_OF_A_STEP)
    names = [one.name for one in journey.milestones]
    assert names[:3] == ["game_started", "downstairs", "outside"]
    assert "starter" in names
    for one in journey.milestones:
        assert one.frame == one.step * FRAMES_OF_A_STEP
        assert one.global_step == max(one.step, 1), "one environment, one episode"
    assert [one.elapsed_s for one in journey.milestones] == sorted(one.elapsed_s for one in journey.milestones)
    assert set(journey.progress) == {"badges", "level"}
    assert journey.progress["level"] >= 5

    lines = [line.strip() for line in result.out.splitlines()]
    told = [line for line in lines if line.startswith("journey: ")]
    assert any(
        re.search(r"latest starter \(.+\), badges 0, level \d+, step \d+, 0:00:\d\d played", line) for line in told
    )
    assert any("0 episodes" in line for line in lines)
    assert any(line.startswith(f"Got furthest: {len(names)} of {journey.total} milestones") for line in lines)
    assert any(re.match(r"starter +at step \d+ of the running episode, 0:00:\d\d played", line) for line in lines)


def test_the_furthest_of_ended_episodes_is_kept(pkmn: Pkmn, tmp_path: Path) -> None:
    assert pkmn("train", "--no-rl", "--steps=150", "--max-steps-per-episode=60", "--run-name=it").code == 0
    summary = Run(tmp_path / "runs" / "it").read_summary()
    journey = Journey.from_dict(summary["journey"])
    assert journey.ended
    assert journey.steps == 60
    assert {one.name for one in journey.milestones} <= set(summary["milestones"])
    best = summary["milestones"][journey.milestones[-1].name]
    assert journey.milestones[-1].step == best["best_step"]
    assert journey.milestones[-1].frame == best["best_frame"]


@pytest.mark.long
def test_a_training_that_goes_on_tells_the_same_journey(pkmn: Pkmn, tmp_path: Path) -> None:
    assert pkmn("train", *LONG, "--steps=140", "--run-name=whole").code == 0
    assert pkmn("train", *LONG, "--steps=70", "--run-name=parts").code == 0
    assert pkmn("train", "--resume", "parts", "--steps=140").code == 0
    whole, parts = (journey_of(tmp_path / "runs" / name) for name in ("whole", "parts"))
    assert [one[:3] for one in whole.milestones] == [one[:3] for one in parts.milestones]
    assert (whole.steps, whole.frames, whole.progress) == (parts.steps, parts.frames, parts.progress)
    assert parts.milestones[-1].elapsed_s >= parts.milestones[0].elapsed_s


def test_play_time_is_that_of_the_console() -> None:
    assert play_time(0) == "0:00"
    assert play_time(3 * 3600 + 7 * 60 + 59.9) == "3:07"
    assert play_time(61.2, seconds=True) == "0:01:01"


def test_a_journey_in_words_says_only_what_is_known() -> None:
    nothing = Journey(0, 0, 12, 288, (), 0)
    assert in_words(nothing) == "step 12, 0:00:05 played"
    reached = (Reached("start", 0, 0, 0.0, 1), Reached("badge", 40, 960, 1.0, 40))
    some = Journey(0, 0, 100, 2400, reached, 8, {"badges": 1}, 60, latest_title="Win a badge")
    assert in_words(some) == (
        "2 of 8 milestones, latest badge (Win a badge), badges 1, step 100, 0:00:40 played, "
        "nothing new for 60 steps (0:00:24)"
    )
    assert "nothing new for 1 step (" in in_words(replace(some, steps_since_progress=1))
    assert "played, in environment 2, nothing" in in_words(replace(some, environment=2)), "the console shows 0"
    assert "(Win" not in in_words(some, short=True)
    assert Journey.from_dict(some.as_dict()) == some


def test_what_viewers_are_told_fits_the_board() -> None:
    few = LiveStanding((("start", 0, 0), ("badge", 40, None)), {"badges": 1.0}, 60)
    assert LiveStanding.from_bytes(few.to_bytes()) == few
    many = LiveStanding(tuple((f"milestone_{number}" * 3, number, number * 24) for number in range(1000)), {}, 0)
    data = many.to_bytes()
    assert len(data) <= STANDING_BYTES
    assert LiveStanding.from_bytes(data).milestones[-1] == many.milestones[-1], "the latest are kept"
    assert LiveStanding.from_bytes(b"") == LiveStanding()
    assert LiveStanding.from_bytes(data[:50]) == LiveStanding(), "half-written"
