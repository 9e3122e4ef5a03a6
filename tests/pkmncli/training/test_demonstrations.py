"""Episodes of earlier runs are played again with a training's own settings, and its learner sees each step."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.killed_training import train_until

from pkmncli.api import Source
from pkmncli.plugins import get_registry
from pkmncli.runs import Run
from pkmncli.training.assembly import open_store
from pkmncli.training.checkpoints.files import read_segments

Pkmn = Callable[..., Any]

ALONE = "--final-episodes=0"


@pytest.fixture
def earlier(shared_run: Callable[..., Path], tmp_path: Path) -> Callable[..., Run]:
    def make(mode: str = "adaptive") -> Run:
        return Run(shutil.copytree(shared_run(mode), tmp_path / "runs" / "earlier"))

    return make


def episodes_of(run: Run) -> list[dict[str, Any]]:
    store = open_store(get_registry(), run.folder)
    rows = store.read("episodes")
    store.close()
    return rows


def sources_of(run: Run) -> dict[tuple[int, int], list[int]]:
    """Return the source of each step of an episode, by environment and number."""
    store = open_store(get_registry(), run.folder)
    found: dict[tuple[int, int], list[int]] = {}
    for row in store.read("decisions"):
        found.setdefault((row["environment"], row["episode"]), []).append(row["source"])
    store.close()
    return found


def experience(run: Run, name: str) -> np.ndarray:
    """A column of what the learner has in the newest checkpoint, oldest step first."""
    return np.concatenate([segment.arrays[name] for segment in read_segments(run.checkpoints.resolve())])


def actions_of(row: dict[str, Any]) -> list[int]:
    actions: list[int] = np.frombuffer(row["presses"], "<u2").tolist()
    return actions


def shown_to(pkmn: Pkmn, small_training: list[str], *options: str) -> tuple[Run, Any]:
    """A run whose newest checkpoint is that of its first step's end, so that its experience is what it was shown."""
    result = pkmn("train", *small_training, ALONE, "--demonstrations=earlier", "--run-name=it", "--steps=2", *options)
    assert result.code == 0, result.err
    return Run(Path("runs") / "it"), result


@pytest.mark.long
@pytest.mark.parametrize(
    ("mode", "pressed_by"), [("llm-only", {Source.RULE}), ("rl-only", {Source.RL, Source.EXPLORE})]
)
def test_the_learner_sees_the_presses_that_were_recorded_and_who_made_them(
    mode: str, pressed_by: set[Source], pkmn: Pkmn, earlier: Callable[..., Run], small_training: list[str]
) -> None:
    rows = episodes_of(earlier(mode))
    best_last = sorted(rows, key=lambda row: (len(json.loads(row["milestones"])), -row["steps"]), reverse=True)[::-1]
    presses = [action for row in rows for action in actions_of(row)]
    run, result = shown_to(pkmn, small_training)
    seen = experience(run, "actions")[: len(presses)]
    assert seen.tolist() == [press for row in best_last for press in actions_of(row)]
    sources = sources_of(Run(Path("runs") / "earlier"))
    assert {source for episode in sources.values() for source in episode} == pressed_by
    assert experience(run, "sources")[: len(presses)].tolist() == [
        source for row in best_last for source in sources[row["environment"], row["episode"]]
    ]
    ends = experience(run, "ends")[: len(presses)]
    assert np.flatnonzero(ends).tolist() == (np.cumsum([row["steps"] for row in best_last]) - 1).tolist()
    assert run.read_summary()["demonstration_steps"] == len(presses)
    assert f"Playing {len(rows)} episodes of 1 earlier run again, {len(presses)} steps" in result.out


@pytest.mark.long
def test_rewards_are_this_trainings_own(pkmn: Pkmn, earlier: Callable[..., Run], small_training: list[str]) -> None:
    count = sum(row["steps"] for row in episodes_of(earlier()))
    run, _ = shown_to(pkmn, small_training, "--reward=exploration=2")
    twice = experience(run, "rewards")[:count]
    shutil.rmtree(run.folder)
    run, _ = shown_to(pkmn, small_training, "--reward=exploration=1")
    once = experience(run, "rewards")[:count]
    assert once.any()
    np.testing.assert_allclose(twice, 2 * once)


@pytest.mark.long
def test_steps_of_the_pilot_are_labelled_with_what_it_pressed(
    pkmn: Pkmn, earlier: Callable[..., Run], small_training: list[str]
) -> None:
    count = sum(row["steps"] for row in episodes_of(earlier("llm-only")))
    run, _ = shown_to(pkmn, small_training, "--observation-type=state")
    labels, presses = experience(run, "advised")[:count], experience(run, "actions")[:count]
    assert labels.tolist() == presses.tolist()
    shutil.rmtree(run.folder)
    run, _ = shown_to(pkmn, small_training, "--observation-type=state", "--mode=rl-only")
    assert experience(run, "advised")[:count].tolist() == presses.tolist(), "also where no pilot says so"
    assert set(experience(run, "advised")[count:].tolist()) == {-1}


@pytest.mark.long
def test_environments_side_by_side_show_every_episode_from_end_to_end(
    pkmn: Pkmn, earlier: Callable[..., Run], small_training: list[str]
) -> None:
    rows = episodes_of(earlier())
    run, _ = shown_to(pkmn, small_training, "--envs=3", "--steps=3")
    shown = run.read_summary()["demonstration_steps"]
    actions, ends = (experience(run, name)[:shown].reshape(-1, 3) for name in ("actions", "ends"))
    pieces = []
    for environment in range(3):
        cuts = np.flatnonzero(ends[:, environment]) + 1
        pieces += [piece.tolist() for piece in np.split(actions[:, environment], cuts)]
    for row in rows:
        assert actions_of(row) in pieces


@pytest.mark.long
def test_no_more_than_asked_for_is_shown_the_best_first(
    pkmn: Pkmn, earlier: Callable[..., Run], small_training: list[str]
) -> None:
    rows = episodes_of(earlier())
    most = max(len(json.loads(row["milestones"])) for row in rows)
    run, _ = shown_to(pkmn, small_training, "--set=demonstration_steps=35")
    assert run.read_summary()["demonstration_steps"] == 30
    shown = experience(run, "actions")[:30].tolist()
    assert shown in [actions_of(row) for row in rows if len(json.loads(row["milestones"])) == most]


@pytest.mark.long
def test_a_killed_training_goes_on_without_the_runs_that_it_was_shown(
    pkmn: Pkmn,
    earlier: Callable[..., Run],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    run = earlier()
    options = [*small_training, ALONE, "--demonstrations=earlier", "--pretrain-steps=12", "--steps=160"]
    assert pkmn("train", *options, "--run-name=unbroken").code == 0
    train_until(("open", ".step-000000080.tmp/meta.json", 1), tmp_path, *options, "--run-name=killed")
    shutil.rmtree(run.folder)
    result = pkmn("train", "--resume", "killed")
    assert result.code == 0, result.err
    assert "Going on from step 0." in result.out
    assert "Pretrained with 12 updates" in result.out
    assert_same_course(tmp_path / "runs" / "killed", tmp_path / "runs" / "unbroken")
    assert Run(tmp_path / "runs" / "killed").read_summary()["pretrain_updates"] == 12


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set=pyboy.hold_frames=9"], "was recorded with hold_frames = 10, and this training has 9"),
        (["--rl=ppo"], "the learner ppo keeps no experience"),
        (["--no-rl"], "there is no learner"),
        (["--set=demonstration_steps=10"], "the shortest episode takes 30 steps"),
        (["--demonstrations=nowhere"], "no run 'nowhere'"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_line_and_leaves_no_run(
    options: list[str], said: str, pkmn: Pkmn, earlier: Callable[..., Run], small_training: list[str], tmp_path: Path
) -> None:
    earlier()
    small = [one for one in small_training if options[0] not in ("--rl=ppo", "--no-rl") or "dqn" not in one]
    result = pkmn("train", *small, ALONE, "--demonstrations=earlier", *options)
    assert result.code in (2, 5)
    assert said in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["earlier"]


def test_a_run_that_plays_another_way_here_is_refused(
    pkmn: Pkmn, earlier: Callable[..., Run], small_training: list[str], tmp_path: Path
) -> None:
    names = earlier().folder / "names.json"
    content = json.loads(names.read_text())
    del content["identity"]  # as in a run of an earlier version, so that nothing but playing shows it
    names.write_text(json.dumps(content))
    options = ["--demonstrations=earlier", "--set=pyboy.action_repeat=3"]
    result = pkmn("train", *small_training, ALONE, *options)
    assert result.code == 5
    assert "no episode of earlier plays here as it was recorded" in result.err
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["earlier"]
