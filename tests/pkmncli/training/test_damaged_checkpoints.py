"""Every file of a checkpoint damaged in every way: the one before is taken, the next one is whole, and it is said."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pkmncli.api import Segment
from pkmncli.errors import CheckpointError
from pkmncli.runs import Run, create_run
from pkmncli.training.checkpoints.files import Checkpoint, is_whole, read_checkpoint, read_segments
from pkmncli.training.checkpoints.retention import CheckpointKeeper
from pkmncli.training.checkpoints.selection import newest_checkpoint, readable_checkpoint
from pkmncli.training.checkpoints.state import TrainerState
from pkmncli.training.recording.counters import TrainingStatistics
from pkmncli.training.workers.spec import WorkerState

FILES = (
    "meta.json",
    "learner.safetensors",
    "trainer.safetensors",
    "worker-00.state",
    "buffer/replay-000000.safetensors",
    "buffer/replay-000001.safetensors",
)
SEALED = FILES[4]


def checkpoint_of(step: int, milestones: tuple[str, ...] = ()) -> Checkpoint:
    """A checkpoint whose content is another one at each step."""
    statistics = TrainingStatistics(
        steps=step,
        milestone_episodes=dict.fromkeys(milestones, 1),
        milestone_first_step=dict.fromkeys(milestones, 1),
        milestone_splits=dict.fromkeys(milestones, (1, None)),
    )
    return Checkpoint(
        step=step,
        learner={"net.weight": np.full((2, 3), step, np.float32), "updates": step},
        trainer=TrainerState(statistics=statistics, episodes=[{"presses": np.array([0, 4, step % 256], np.uint8)}]),
        workers=(WorkerState(3, step, f"state at {step}".encode(), {"seen": [1, 2]}),),
    )


def segments_of(step: int, salt: int = 0) -> list[Segment]:
    """Experience of which the first segment is sealed, and the second grows."""
    return [
        Segment("replay-000000", True, {"screen": np.full((4, 2), 7 + salt, np.uint8)}),
        Segment("replay-000001", False, {"screen": np.full((step // 100, 2), step % 256 + salt, np.uint8)}),
    ]


class Kept:
    """A run with the checkpoints of steps 100 and 200, and the means to go on with it."""

    def __init__(self, folder: Path, name: str, salt: int = 0) -> None:
        self.run = create_run(folder, "quillwood", "dqn", name=name)
        self.told: list[str] = []
        self.salt = salt
        self.keeper = self.keep()
        for step in (100, 200):
            self.save(step)

    def keep(self) -> CheckpointKeeper:
        return CheckpointKeeper(self.run, 2, 10.0, self.told.append)

    def save(self, step: int, milestones: tuple[str, ...] = ()) -> Path:
        return self.keeper.save(checkpoint_of(step + self.salt, milestones), lambda: segments_of(step, self.salt))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b" \n\0")


def missing(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_pipe(path: Path) -> None:
    """Opening it would wait for ever for somebody who writes."""
    path.unlink()
    os.mkfifo(path)


def a_circle(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def endless(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


DAMAGES = (cut, emptied, flipped, longer, missing, a_folder, a_pipe, a_circle, endless)
Damage = Callable[[Path], None]


def swapped(path: Path, other: Path) -> None:
    shutil.copyfile(other, path)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path, "it")


def damages_of(kept: Kept, tmp_path: Path) -> list[tuple[str, str, Callable[[Path], None]]]:
    """Each file with each damage: those of no run, another run's file of that name and step, and an older file."""
    other = Kept(tmp_path, "other", salt=0)
    shutil.rmtree(other.run.checkpoints.path(200))
    other.salt = 1
    other.keeper.save(
        Checkpoint(
            200,
            {**checkpoint_of(200).learner, "net.weight": np.zeros((2, 3), np.float32)},
            replace(checkpoint_of(200).trainer, episodes=[{"presses": np.array([9], np.uint8)}]),
            (WorkerState(1, 1, b"another emulator's state", {}),),
        ),
        lambda: segments_of(200, salt=3),
    )
    foreign = other.run.checkpoints.path(200)
    table: list[tuple[str, str, Callable[[Path], None]]] = []
    for file in FILES:
        table += [(file, damage.__name__, damage) for damage in DAMAGES]
        table.append((file, "another run's", lambda path, file=file: swapped(path, foreign / file)))
    return table


def damaged_copies(kept: Kept, tmp_path: Path) -> list[tuple[str, str, Run, Path]]:
    """A copy of the run for each damage, in which the newest checkpoint has it."""
    found = []
    for number, (file, name, damage) in enumerate(damages_of(kept, tmp_path)):
        run = Run(shutil.copytree(kept.run.folder, tmp_path / "copies" / str(number)))
        path = run.checkpoints.path(200) / file
        damage(path)
        found.append((file, name, run, path))
    return found


@pytest.mark.long
def test_the_one_before_is_taken_and_it_is_said(kept: Kept, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for file, name, run, path in damaged_copies(kept, tmp_path):
        case = f"{file}, {name}"
        read = readable_checkpoint(run)  # as by eval, which needs no experience
        said = capfd.readouterr().err.splitlines()
        if file.startswith("buffer/"):
            assert (read.name, said) == ("step-000000200", []), case
        else:
            assert (read.name, len(said)) == ("step-000000100", 1), case
        assert newest_checkpoint(run).folder.name == "step-000000100", case
        said = capfd.readouterr().err.splitlines()
        assert len(said) == 1, case
        assert str(path.parent if file == "meta.json" else path) in said[0], case
        assert "going on from the checkpoint before it" in said[0], case
        assert run.checkpoints.names() == ["step-000000100"], case
        assert os.path.lexists(run.folder / "superseded" / "step-000000200"), f"{case}: nothing is deleted"


@pytest.mark.long
def test_a_training_that_goes_on_writes_the_next_one_whole(kept: Kept, tmp_path: Path) -> None:
    for file, name, run, path in damaged_copies(kept, tmp_path):
        case = f"{file}, {name}"
        told: list[str] = []
        keeper = CheckpointKeeper(run, 2, 10.0, told.append)
        saved = keeper.save(checkpoint_of(300), lambda: segments_of(300))
        assert is_whole(saved), case
        assert read_checkpoint(saved).learner["updates"] == 300, case
        assert [len(segment.arrays["screen"]) for segment in read_segments(saved)] == [4, 3], case
        assert [segment.arrays["screen"][0, 0] for segment in read_segments(saved)] == [7, 300 % 256], case
        assert run.checkpoints.resolve("latest") == saved, case
        if file in {"meta.json", SEALED}:  # what the next checkpoint reads of this one
            assert len(told) == 1 and str(path.parent if file == "meta.json" else path) in told[0], case
        else:
            assert told == [], case


def test_whole_checkpoints_put_in_the_wrong_place_are_told_apart(kept: Kept, tmp_path: Path) -> None:
    other = Kept(tmp_path, "other")
    newest = kept.run.checkpoints.path(200)
    shutil.rmtree(newest)
    shutil.copytree(other.run.checkpoints.path(200), newest)
    with pytest.raises(CheckpointError, match="is the checkpoint of another run"):
        read_checkpoint(newest)
    shutil.rmtree(newest)
    shutil.copytree(kept.run.checkpoints.path(100), newest)
    with pytest.raises(CheckpointError, match="is not the checkpoint of that step: it is step-000000100"):
        read_checkpoint(newest)
    assert newest_checkpoint(kept.run).folder.name == "step-000000100"


@pytest.mark.parametrize("damage", [emptied, missing, a_pipe, a_folder])
def test_a_checkpoint_that_is_no_folder_is_passed_over(
    damage: Damage, kept: Kept, capfd: pytest.CaptureFixture[str]
) -> None:
    newest = kept.run.checkpoints.path(200)
    shutil.rmtree(newest)
    newest.write_bytes(b"?")
    damage(newest)
    assert newest_checkpoint(kept.run).folder.name == "step-000000100"
    assert (str(newest) in capfd.readouterr().err) == (damage is not missing)


def test_a_run_that_was_moved_or_copied_keeps_its_checkpoints(kept: Kept, tmp_path: Path) -> None:
    copy = Run(shutil.copytree(kept.run.folder, tmp_path / "elsewhere" / "copy"))
    assert newest_checkpoint(copy).folder.name == "step-000000200"


def test_checkpoints_of_a_version_that_named_no_run_are_read(kept: Kept) -> None:
    from pkmncli.training.checkpoints import files as checkpoints  # noqa: PLC0415

    meta = kept.run.checkpoints.path(200) / "meta.json"
    content = json.loads(meta.read_text())
    del content["checksum"], content["run"]
    meta.write_text(checkpoints.meta_text(content))
    versions = kept.run.read_versions()
    del versions["id"]
    kept.run.versions_file.write_text(json.dumps(versions))
    assert newest_checkpoint(kept.run).folder.name == "step-000000200"


@pytest.mark.parametrize("damage", [cut, emptied, missing, a_folder, a_pipe, a_circle, endless])
@pytest.mark.parametrize("while_training", [True, False])
def test_a_damaged_index_loses_neither_the_best_nor_milestones(
    while_training: bool, damage: Damage, kept: Kept
) -> None:
    """Without it they would be among those that are deleted."""
    kept.save(300, ("badge",))
    kept.save(400, ("badge", "town"))
    damage(kept.run.checkpoints.index_file)
    if not while_training:
        kept.keeper = kept.keep()
    for step in (500, 600, 700):
        kept.save(step, ("badge", "town"))
    assert [text.rpartition(": ")[2] for text in kept.told] == ["it is written anew"]
    assert kept.run.checkpoints.names() == [f"step-000000{step}" for step in (300, 400, 600, 700)]
    assert kept.run.checkpoints.index().milestones == {"badge": "step-000000300", "town": "step-000000400"}


def test_another_runs_index_is_told(kept: Kept, tmp_path: Path) -> None:
    other = Kept(tmp_path, "other")
    shutil.copyfile(other.run.checkpoints.index_file, kept.run.checkpoints.index_file)
    with pytest.raises(CheckpointError, match=r"index\.json is another run's"):
        kept.run.checkpoints.resolve("best")
    assert kept.run.checkpoints.resolve("latest").name == "step-000000200", "that needs no index"
    kept.save(300)
    assert "index.json is another run's: it is written anew" in kept.told[0]


def test_what_is_in_the_way_of_a_checkpoint_is_set_aside(kept: Kept) -> None:
    folder = kept.run.checkpoints.folder
    (folder / ".step-000000300.tmp").write_text("left by somebody")
    (folder / "step-000000300").mkdir()
    saved = kept.save(300)
    assert is_whole(saved)
    assert "is damaged: it is set aside, and written anew" in kept.told[0]
    assert (kept.run.folder / "superseded" / "step-000000300").is_dir()


def test_meta_that_leads_out_of_its_checkpoint_is_refused(kept: Kept, tmp_path: Path) -> None:
    from pkmncli.training.checkpoints import files as checkpoints  # noqa: PLC0415

    (tmp_path / "secret").write_text("of another program")
    meta = kept.run.checkpoints.path(200) / "meta.json"
    content = json.loads(meta.read_text())
    del content["checksum"]
    digest = checkpoints.digest(tmp_path / "secret")
    for change in (
        {"checksums": {**content["checksums"], "../../../secret": digest}},
        {"checksums": {**content["checksums"], str(tmp_path / "secret"): digest}},
        {"sealed": ["buffer/../../../../secret"]},
        {"workers": [{**content["workers"][0], "file": "../../../secret"}]},
        {"checksums": {}},
        {"step": "200"},
        {"step": None},
        {"workers": None},
    ):
        meta.write_text(checkpoints.meta_text({**content, **change}))
        with pytest.raises(CheckpointError, match="damaged"):
            read_checkpoint(kept.run.checkpoints.path(200))


def test_files_are_readable_to_whom_the_umask_says(kept: Kept, tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        saved = kept.save(300)
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in saved.rglob("*") if path.is_file()}
    assert {mode for name, mode in modes.items() if name != Path(SEALED).name} == {0o644}


@pytest.mark.long
def test_a_training_outlives_the_damage_of_its_newest_checkpoint(
    pkmn: Callable[..., Any],
    small_training: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    assert_same_course: Callable[[Path, Path], None],
) -> None:
    """It takes the very course of the unbroken one: all that a checkpoint takes is in memory."""
    assert pkmn("train", *small_training, "--run-name=unbroken").code == 0
    save = CheckpointKeeper.save
    damaged = iter((cut, missing, a_folder, emptied))

    def save_after_damage(keeper: CheckpointKeeper, checkpoint: Checkpoint, segments: Callable[[], Any]) -> Path:
        checkpoints = Run(tmp_path / "runs" / "it").checkpoints
        if names := checkpoints.names():
            next(damaged)(checkpoints.folder / names[-1] / "meta.json")
        return save(keeper, checkpoint, segments)

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointKeeper, "save", save_after_damage)
        result = pkmn("train", *small_training, "--run-name=it")
    assert result.code == 0, result.err
    assert result.err.count("meta.json") == 3, "each but the last, which nothing came after"
    assert_same_course(tmp_path / "runs" / "it", tmp_path / "runs" / "unbroken")
