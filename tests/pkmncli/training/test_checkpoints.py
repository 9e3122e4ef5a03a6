"""Checkpoints come back as they were written, and damage is told and survived."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from pkmncli.api import Segment
from pkmncli.errors import CheckpointError
from pkmncli.training.checkpoints.files import (
    Checkpoint,
    drop_buffer,
    first_whole,
    read_checkpoint,
    read_segments,
    write_checkpoint,
)
from pkmncli.training.checkpoints.state import TrainerState
from pkmncli.training.recording.counters import TrainingStatistics
from pkmncli.training.workers.spec import WorkerState

HASHES = np.array([2**64 - 1], np.uint64)


def a_checkpoint(step: int = 100) -> Checkpoint:
    return Checkpoint(
        step=step,
        learner={"net.weight": np.arange(6, dtype=np.float32).reshape(2, 3), "steps": step, "name": "x"},
        trainer=TrainerState(
            statistics=TrainingStatistics(steps=step),
            recorder={"codes": [7], "held": {"times": [1.5], "global_steps": np.array([99], np.int64)}},
            episodes=[{"number": 3, "presses": np.array([0, 4, 8], np.uint8), "fine_hashes": HASHES}],
        ),
        workers=(WorkerState(3, 17, b"state of the emulator", {"memory": {"seen": [1, 2]}, "proposal": [0, "", 0.5]}),),
        milestone_names=("start", "end"),
    )


def some_segments(sealed: int, values: int = 0) -> list[Segment]:
    return [
        Segment(f"segment-{number:05d}", number < sealed, {"screen": np.full((4, 2), number + values, np.uint8)})
        for number in range(sealed + 1)
    ]


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    folder = tmp_path / "step-000000100"
    write_checkpoint(folder, a_checkpoint(), some_segments(2))
    read, written = read_checkpoint(folder), a_checkpoint()
    assert read.step == written.step
    assert read.trainer.statistics == written.trainer.statistics
    assert read.trainer.arbiter == written.trainer.arbiter
    assert read.workers == written.workers
    assert read.milestone_names == written.milestone_names
    assert read.learner["steps"] == 100
    np.testing.assert_array_equal(read.learner["net.weight"], written.learner["net.weight"])
    assert read.trainer.episodes[0]["number"] == 3
    np.testing.assert_array_equal(read.trainer.episodes[0]["fine_hashes"], HASHES)
    assert read.trainer.recorder["held"]["times"] == [1.5]
    np.testing.assert_array_equal(read.trainer.recorder["held"]["global_steps"], [99])
    segments = list(read_segments(folder))
    assert [(segment.name, segment.sealed) for segment in segments] == [
        ("segment-00000", True),
        ("segment-00001", True),
        ("segment-00002", False),
    ]
    assert segments[1].arrays["screen"][0, 0] == 1


def test_arrays_of_a_trainer_keep_the_names_by_which_earlier_versions_read_them(tmp_path: Path) -> None:
    folder = tmp_path / "step-000000100"
    write_checkpoint(folder, a_checkpoint(), ())
    arrays = load_file(folder / "trainer.safetensors")
    assert set(arrays) == {"episode.0.presses", "episode.0.fine_hashes", "recorder.global_steps"}
    trainer = json.loads((folder / "meta.json").read_text())["trainer"]
    assert trainer["episodes"] == [{"number": 3}]
    assert trainer["recorder"] == {"codes": [7], "held": {"times": [1.5]}}
    assert trainer["statistics"]["steps"] == 100


def test_a_state_of_an_earlier_version_lacks_parts_and_one_of_a_later_version_has_more() -> None:
    values = {"statistics": {"steps": 4, "tomorrow": 1}, "recorder": {"codes": [0]}, "unheard": {}}
    state = TrainerState.from_disk(values, {})
    assert (state.statistics.steps, state.statistics.updates) == (4, 0)
    assert state.recorder == {"codes": [0]}
    assert state.hand_over is None
    assert state.pretraining is None


def test_sealed_segments_are_linked_and_open_ones_written_anew(tmp_path: Path) -> None:
    first, second = tmp_path / "step-000000100", tmp_path / "step-000000200"
    write_checkpoint(first, a_checkpoint(100), some_segments(1))
    write_checkpoint(second, a_checkpoint(200), some_segments(2), previous=first)
    name = "buffer/segment-00000.safetensors"
    assert (first / name).stat().st_ino == (second / name).stat().st_ino
    open_name = "buffer/segment-00001.safetensors"
    assert (first / open_name).stat().st_ino != (second / open_name).stat().st_ino
    drop_buffer(first)
    assert not (first / "buffer").exists()
    assert [segment.arrays["screen"][0, 0] for segment in read_segments(second)] == [0, 1, 2]
    assert read_checkpoint(first).step == 100


@pytest.mark.parametrize("name", ["learner.safetensors", "trainer.safetensors", "worker-00.state"])
def test_one_changed_byte_is_noticed(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "step-000000100"
    write_checkpoint(folder, a_checkpoint(), ())
    content = bytearray((folder / name).read_bytes())
    content[-1] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(CheckpointError, match="damaged"):
        read_checkpoint(folder)


def test_a_damaged_newest_checkpoint_is_told_and_the_one_before_is_used(tmp_path: Path) -> None:
    older, newest = tmp_path / "step-000000100", tmp_path / "step-000000200"
    write_checkpoint(older, a_checkpoint(100), ())
    write_checkpoint(newest, a_checkpoint(200), some_segments(1))
    (newest / "buffer/segment-00000.safetensors").write_bytes(b"")
    told: list[str] = []
    assert first_whole([newest, older], told.append).folder == older
    assert len(told) == 1
    assert str(newest) in told[0]


def test_no_usable_checkpoint_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no checkpoint: it was ended before its first one"):
        first_whole([], lambda text: None)
    (tmp_path / "step-000000100").mkdir()
    with pytest.raises(CheckpointError, match="none of the run's checkpoints"):
        first_whole([tmp_path / "step-000000100"], lambda text: None)


def test_another_format_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "step-000000100"
    write_checkpoint(folder, a_checkpoint(), ())
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps({**meta, "format_version": 99}))
    with pytest.raises(CheckpointError, match="format 99"):
        read_checkpoint(folder)


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    class Unwritable:
        """Stands for what cannot become JSON."""

    broken = Checkpoint(1, {"steps": Unwritable()}, TrainerState(), ())
    with pytest.raises(TypeError):
        write_checkpoint(tmp_path / "step-000000001", broken, ())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("change", [{"step": None}, {"step": 101}, {"trainer": {}}, {"workers": []}])
def test_a_changed_meta_file_is_noticed(tmp_path: Path, change: dict[str, object]) -> None:
    folder = tmp_path / "step-000000100"
    write_checkpoint(folder, a_checkpoint(), some_segments(1))
    drop_buffer(folder)
    read_checkpoint(folder)
    meta = folder / "meta.json"
    meta.write_text(json.dumps({**json.loads(meta.read_text()), **change}))
    with pytest.raises(CheckpointError, match=r"meta\.json is not what was written"):
        read_checkpoint(folder)
