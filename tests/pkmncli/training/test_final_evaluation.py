"""A training ends with how good its learner is alone, beside pilot and random play, and with a film of it."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmncli.api import Environment
from pkmncli.config import ResolvedSettings, resolve_settings
from pkmncli.plugins import get_registry
from pkmncli.replay import filmed_evaluation
from pkmncli.replay.filmed_evaluation import STILL_S, film_learner_alone
from pkmncli.replay.showing import build_environment
from pkmncli.runs import Run
from pkmncli.training.assembly import open_store
from pkmncli.training.display.console import ConsoleProgress
from pkmncli.training.evaluation.final_evaluation import RESULTS, holds_final_evaluation

Pkmn = Callable[..., Any]

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""imageio_ffmpeg leaves the pipes to its program for the garbage collector to close."""


@pytest.fixture
def options(small_training: list[str]) -> list[str]:
    """Of a training of seconds with a short evaluation at its end."""
    return [*small_training, "--run-name=it", "--final-episodes=2"]


@pytest.mark.long
def test_a_training_ends_with_the_learner_alone(pkmn: Pkmn, options: list[str], tmp_path: Path) -> None:
    result = pkmn("train", *options)
    assert result.code == 0, result.err
    summary = Run(tmp_path / "runs" / "it").read_summary()
    assert set(RESULTS) <= set(summary)
    assert summary["verdict"] in result.out
    assert summary["verdict"].startswith(
        "The learner alone reaches thorn_badge in 0 of 2 starts (0% to 66%); the pilot"
    )
    evaluated = json.loads(pkmn("eval", "it", "--episodes=2", "--json").out)
    assert evaluated["verdict"] == summary["verdict"]
    assert {name: evaluated[name] for name in summary["learner_alone"]} == summary["learner_alone"]
    assert (evaluated["pilot"], evaluated["random"]) == (summary["pilot"], summary["random"])
    again = pkmn("train", "--resume", "it")
    assert (again.code, again.out.count(summary["verdict"])) == (0, 1), "nothing was trained, and nothing evaluated"
    assert len(list((tmp_path / "runs" / "it" / "evaluations").iterdir())) == 2


@pytest.mark.long
def test_without_a_pilot_only_random_play_stands_beside_it(pkmn: Pkmn, options: list[str], tmp_path: Path) -> None:
    result = pkmn("train", *options, "--mode=rl-only", "--pilot=none", "--no-film")
    assert result.code == 0, result.err
    summary = Run(tmp_path / "runs" / "it").read_summary()
    assert "pilot" not in summary
    assert "; random play in 0." in summary["verdict"]


@pytest.mark.long
@pytest.mark.parametrize("left_out", [["--final-episodes=0"], ["--rl=none"], []])
def test_none_is_held_where_none_is_wanted_or_it_would_outlast_the_training(
    left_out: list[str], pkmn: Pkmn, small_training: list[str], tmp_path: Path
) -> None:
    result = pkmn("train", *small_training, "--steps=60", "--run-name=it", *left_out)
    assert result.code == 0, result.err
    assert not set(RESULTS) & set(Run(tmp_path / "runs" / "it").read_summary())
    assert not (tmp_path / "runs" / "it" / "evaluations").exists()


@pytest.mark.long
@pytest.mark.parametrize(("whose", "found"), [("learner alone", set()), ("pilot", {"learner_alone", "verdict"})])
def test_ctrl_c_ends_the_evaluation_and_the_run_goes_on_with_it(
    whose: str, found: set[str], pkmn: Pkmn, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_self: Any, doing: str) -> None:
        if f"{whose}, 1 of 3" in doing:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(ConsoleProgress, "on_activity", interrupt)
        result = pkmn("train", *options, "--final-episodes=3", "--no-film")
    assert result.code == 130
    run = Run(tmp_path / "runs" / "it")
    assert run.checkpoints.resolve().name == "step-000000240"
    assert set(RESULTS) & set(run.read_summary()) == found
    assert run.read_summary()["total_steps"] == 240
    again = pkmn("train", "--resume", "it")
    assert again.code == 0, again.err
    assert set(RESULTS) <= set(run.read_summary())
    assert run.read_summary()["verdict"] in again.out


@pytest.mark.long
def test_a_film_that_is_interrupted_takes_nothing_with_it(
    pkmn: Pkmn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: Any, **_options: Any) -> Environment:
        signal.raise_signal(signal.SIGTERM)
        return build_environment(*_arguments, **_options)

    monkeypatch.setattr(filmed_evaluation, "build_environment", interrupted)
    options = ["--start-from=pretrained", "--steps=60", "--max-steps-per-episode=30", "--final-episodes=1"]
    result = pkmn("train", *options, "--run-name=it")
    assert result.code == 143, result.err
    run = Run(tmp_path / "runs" / "it")
    assert run.read_summary()["verdict"] in result.out
    assert "pkmn watch" in result.out
    assert "The film was not made" in result.err
    assert not (run.folder / filmed_evaluation.ALONE_FILM).exists()


@pytest.mark.long
def test_the_film_is_of_the_episode_that_got_furthest_soonest(
    pkmn: Pkmn, shared_run: Callable[..., Path], tmp_path: Path
) -> None:
    run = Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it"))
    played = ["--mode=llm-only", "--episodes=3", "--goal=downstairs", "--max-steps-per-episode=30"]
    assert pkmn("eval", "it", *played).code == 0
    settings = ResolvedSettings.from_run(run.folder, get_registry())
    (evaluation,) = (run.folder / "evaluations").iterdir()
    told: list[str] = []
    film = film_learner_alone(run, settings, get_registry(), evaluation, tell=told.append)
    assert film == run.folder / "learner_alone.mp4" and len(told) == 1
    import imageio_ffmpeg  # noqa: PLC0415 - an extra

    store = open_store(get_registry(), evaluation)
    shortest = min(row["steps"] for row in store.read("episodes"))
    store.close()
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(film))
    rate = frames / seconds
    assert frames == pytest.approx(shortest + STILL_S * rate, abs=1)


def test_nothing_is_filmed_where_nothing_was_reached(
    pkmn: Pkmn, shared_run: Callable[..., Path], tmp_path: Path
) -> None:
    run = Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it"))
    assert pkmn("eval", "it", "--episodes=1", "--max-steps-per-episode=3", "--mode=random").code == 0
    settings = ResolvedSettings.from_run(run.folder, get_registry())
    (evaluation,) = (run.folder / "evaluations").iterdir()
    assert film_learner_alone(run, settings, get_registry(), evaluation, tell=print) is None
    assert not (run.folder / "learner_alone.mp4").exists()


@pytest.mark.parametrize(
    ("given", "steps", "held"),
    [({}, 9_999, False), ({}, 10_000, True), ({"final_episodes": 10}, 1, True), ({"rl": "none"}, 10_000, False)],
)
def test_it_takes_no_longer_than_the_training_unless_it_is_asked_for(
    given: dict[str, Any], steps: int, held: bool
) -> None:
    settings = resolve_settings(given, registry=get_registry(), environ={})
    assert holds_final_evaluation(settings, steps, 1_000) is held
