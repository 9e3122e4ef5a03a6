"""The index of checkpoints: which is the latest, the best and a milestone's, and what may be deleted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkmncli.checkpoint_index import META_FILE, Checkpoints, checkpoint_name, checkpoint_step
from pkmncli.errors import CheckpointError


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    """Four complete checkpoints and one that is being written."""
    index = Checkpoints(tmp_path / "checkpoints")
    for step in (100, 200, 300, 400):
        index.path(step).mkdir(parents=True)
    (index.folder / ".step-000000500.tmp").mkdir()
    index.record(100, milestones=["starter"])
    index.record(200, best_score=1.5)
    index.record(300, milestones=["starter", "badge"])
    return index


@given(st.integers(0, 2**63))
def test_names_and_steps(step: int) -> None:
    assert checkpoint_step(checkpoint_name(step)) == step


def test_names() -> None:
    assert checkpoint_name(120_000) == "step-000120000"
    with pytest.raises(CheckpointError, match="'best' is no checkpoint's name; they are called like step-000120000"):
        checkpoint_step("best")


def test_a_checkpoint_by_its_episodes(checkpoints: Checkpoints) -> None:
    for step, episodes in ((100, 0), (200, 3), (300, 3)):
        meta = {"trainer": {"statistics": {"episodes": episodes}}}
        (checkpoints.path(step) / META_FILE).write_text(json.dumps(meta))
    for which in ("episode-3", "checkpoint_episode_3", "checkpoint_episode_3.pt"):
        assert checkpoints.resolve(which).name == "step-000000200", "the first one after them"
    with pytest.raises(CheckpointError, match=r"after 4 episodes; there are episode-0, episode-3$"):
        checkpoints.resolve("episode-4")


def test_each_way_to_name_one(checkpoints: Checkpoints) -> None:
    named = {which: checkpoints.resolve(which).name for which in ("latest", "best", "starter", "badge", "300")}
    assert named == {
        "latest": "step-000000400",
        "best": "step-000000200",
        "starter": "step-000000100",
        "badge": "step-000000300",
        "300": "step-000000300",
    }
    assert checkpoints.index().best_score == 1.5


def test_the_newest_folder_counts_even_if_the_index_misses_it(checkpoints: Checkpoints) -> None:
    assert checkpoints.index().latest == "step-000000400"
    checkpoints.path(400).rmdir()
    checkpoints.path(200).rmdir()
    index = checkpoints.index()
    assert (index.latest, index.best, index.best_score) == ("step-000000300", None, None)


def test_what_may_be_deleted(checkpoints: Checkpoints) -> None:
    assert checkpoints.superfluous(keep=1) == []
    checkpoints.record(400, best_score=2.0)
    assert [folder.name for folder in checkpoints.superfluous(keep=1)] == ["step-000000200"]
    assert checkpoints.superfluous(keep=3) == []


def test_a_missing_one_is_told_with_what_there_is(checkpoints: Checkpoints, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no checkpoint 'bst' in .*did you mean 'best'\? there are step-"):
        checkpoints.resolve("bst")
    with pytest.raises(CheckpointError, match="no checkpoint '700'"):
        checkpoints.resolve("700")
    with pytest.raises(CheckpointError, match="yet: the run has not saved one"):
        Checkpoints(tmp_path / "none").resolve()


def test_no_best_yet(tmp_path: Path) -> None:
    index = Checkpoints(tmp_path)
    index.path(1).mkdir()
    with pytest.raises(CheckpointError, match="is the best yet: fewer than 10 episodes have ended; use latest"):
        index.resolve("best")


def test_a_damaged_index_is_told(checkpoints: Checkpoints) -> None:
    (checkpoints.folder / "index.json").write_text("[]")
    with pytest.raises(CheckpointError, match=r"index\.json is damaged; .pkmn train --resume. makes it again"):
        checkpoints.index()
