"""What trackers are handed: what the run's own tables hold, once, however often the training was broken off."""

from __future__ import annotations

import asyncio
import json
import os
import struct
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from support.killed_training import train_until
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

from pkmncli import hookimpl
from pkmncli.errors import RunError
from pkmncli.plugins import get_registry
from pkmncli.training import trainer
from pkmncli.training.assembly import open_store
from pkmncli.training.recording.recorder import Recorder

Points = dict[str, list[tuple[int, float]]]


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "METRICS_INTERVAL", 20)


def stored(run: Path) -> Points:
    """The table of metrics: for each name its steps and values, which TensorBoard keeps as 32-bit numbers."""
    store = open_store(get_registry(), run)
    points: Points = defaultdict(list)
    for row in store.read("metrics"):
        points[row["name"].replace(" ", "_")].append((row["global_step"], float(np.float32(row["value"]))))
    store.close()
    return points


def read_back(run: Path) -> EventAccumulator:
    events = EventAccumulator(str(run / "tensorboard"), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    return events


def tracked(run: Path) -> Points:
    events = read_back(run)
    return {tag: [(point.step, point.value) for point in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def test_tensorboard_shows_what_the_tables_hold(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    assert pkmn("train", *small_training, "--run-name=it", "--seed=3").code == 0
    run = tmp_path / "runs" / "it"
    points = tracked(run)
    assert points == stored(run)
    assert len(points["episode/reward"]) == 8
    assert len(points["learner/loss"]) > 5
    assert len(points["time/waiting_for_the_learner"]) == 12


def test_tensorboard_shows_the_settings(pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path) -> None:
    assert pkmn("train", *small_training, "--run-name=it", "--seed=3").code == 0
    metadata = read_back(tmp_path / "runs" / "it").summary_metadata
    started = HParamsPluginData.FromString(metadata["_hparams_/session_start_info"].plugin_data.content)
    given = started.session_start_info.hparams
    assert given["seed"].number_value == 3
    assert given["rl"].string_value == "dqn"
    assert given["dqn.batch_size"].number_value == 8
    assert "settings/text_summary" in metadata


@pytest.mark.long
def test_a_resumed_training_leaves_no_point_twice(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    """It is killed when a checkpoint is there and its index is not: all before it is on disk."""
    run = tmp_path / "runs" / "it"
    train_until(("os.rename", "index.json", 2), tmp_path, *small_training, "--run-name=it")
    assert tracked(run)["episode/reward"], "what was written before the kill can be read"
    assert pkmn("train", "--resume", "it").code == 0
    assert len(list((run / "tensorboard").iterdir())) == 2
    points = tracked(run)
    assert {name: points[name] for name in points if not name.startswith(("learner/", "share/", "time/"))} == {
        name: found for name, found in stored(run).items() if not name.startswith(("learner/", "share/", "time/"))
    }
    assert [step for step, _ in points["episode/reward"]] == list(range(30, 241, 30))


def test_a_run_that_goes_back_to_an_earlier_checkpoint_drops_what_came_after(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    assert pkmn("train", *small_training, "--run-name=it", "--steps=100").code == 0
    run = tmp_path / "runs" / "it"
    before = tracked(run)
    assert before["episode/reward"][-1][0] == 90
    newest = run / "checkpoints" / "step-000000100" / "meta.json"
    newest.write_text("{}")  # damaged: the one before is gone on with
    assert pkmn("train", "--resume", "it", "--steps=240").code == 0
    points = tracked(run)
    assert [step for step, _ in points["episode/reward"]] == list(range(30, 241, 30))
    assert points == stored(run)


def test_a_record_that_a_kill_cut_off_is_passed_over(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    assert pkmn("train", *small_training, "--run-name=it").code == 0
    run = tmp_path / "runs" / "it"
    whole = tracked(run)
    (file,) = (run / "tensorboard").iterdir()
    data = file.read_bytes()
    file.write_bytes(data[: len(data) * 2 // 3])
    part = tracked(run)
    assert 0 < len(part["episode/reward"]) < len(whole["episode/reward"])
    assert part["episode/reward"] == whole["episode/reward"][: len(part["episode/reward"])]


def test_none_writes_nothing(pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path) -> None:
    assert pkmn("train", *small_training, "--steps=30", "--run-name=it", "--track=none").code == 0
    assert not (tmp_path / "runs" / "it" / "tensorboard").exists()


@pytest.mark.parametrize("names", [["wandbb"], ["none", "tensorboard"], ["tensorboard", "tensorboard"]])
def test_a_wrong_tracker_is_told(names: list[str], pkmn: Callable[..., Any], tmp_path: Path) -> None:
    result = pkmn("train", *(f"--track={name}" for name in names))
    assert result.code == 2
    assert "'track'" in result.err and len(result.err.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


class Failing:
    """A tracker that breaks in the middle."""

    closed: ClassVar[list[object]] = []
    error: ClassVar[BaseException] = OSError("the server went away")

    def __init__(self, run: Any, step: int, settings: object) -> None:
        self.calls = 0

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        self.calls += 1
        if self.calls > 3:
            raise self.error

    def flush(self) -> None: ...

    def close(self, summary: object) -> None:
        self.closed.append(summary)
        raise OSError("and stays away")


@pytest.mark.parametrize("error", [OSError("the server went away"), asyncio.CancelledError("a task was cancelled")])
def test_a_tracker_that_fails_is_told_once_and_takes_nothing_with_it(
    error: BaseException,
    pkmn: Callable[..., Any],
    small_training: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Failing, "error", error)
    monkeypatch.setattr(Failing, "closed", [])

    class Inline:
        @hookimpl
        def pkmn_register_trackers(self, register: Callable[..., None]) -> None:
            register("failing", Failing, help="breaks")

    registry = get_registry()
    registry.register_plugin(Inline(), "inline")
    try:
        result = pkmn("train", *small_training, "--run-name=it", "--track=failing", "--track=tensorboard")
    finally:
        registry.unregister_plugin("inline")
    assert result.code == 0
    told = "the tracker 'failing' failed and is left out for the rest of the run: "
    assert result.err == f"{told}{type(error).__name__}: {error}\n"
    assert Failing.closed == [None], "it may hold a file or a process"
    run = tmp_path / "runs" / "it"
    assert tracked(run) == stored(run)
    assert [plugin.name for plugin in registry.plugins if "tracker" in plugin.name] == []


def test_plugins_are_told_of_the_end_of_a_training_that_an_error_ends(
    pkmn: Callable[..., Any], small_training: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []

    class Inline:
        @hookimpl
        def pkmn_run_finished(self) -> None:
            told.append("finished")

        @hookimpl
        def pkmn_run_ended(self, run: Any) -> None:
            told.append(f"{run.folder.name} ended")

    def full(_recorder: Recorder) -> None:
        raise RunError("the disk is full")

    registry = get_registry()
    registry.register_plugin(Inline(), "inline")
    try:
        assert pkmn("train", *small_training, "--steps=40", "--run-name=whole").code == 0
        monkeypatch.setattr(Recorder, "flush_if_due", full)
        assert pkmn("train", *small_training, "--steps=40", "--run-name=broken").code == 5
    finally:
        registry.unregister_plugin("inline")
    assert told == ["finished", "whole ended", "broken ended"]


# Weights & Biases ----------------------------------------------------------------------------------------------------


@pytest.fixture
def wandb_offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    wandb = pytest.importorskip("wandb", reason="the extra wandb is not installed: pip install 'pkmncli[wandb]'")
    wandb.teardown()  # so that it reads the environment anew
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_API_KEY", "0123456789abcdef0123456789abcdef01234567")
    yield wandb
    wandb.teardown()


def history(folder: Path) -> list[dict[str, Any]]:
    """The rows that an offline run holds: protocol buffers in the log format of LevelDB."""
    from wandb.proto import wandb_internal_pb2  # noqa: PLC0415 - an extra

    (file,) = folder.glob("*.wandb")
    rows = []
    for data in leveldb_records(file.read_bytes()):
        record = wandb_internal_pb2.Record.FromString(data)
        if record.WhichOneof("record_type") == "history":
            rows.append(
                {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
            )
    return rows


def leveldb_records(data: bytes) -> Iterator[bytes]:
    position, block, parts = 7, 32768, b""
    while position + 7 <= len(data):
        left = block - position % block
        if left < 7:
            position += left
            continue
        length, kind = struct.unpack("<HB", data[position + 4 : position + 7])
        parts += data[position + 7 : position + 7 + length]
        position += 7 + length
        if kind in (1, 4):  # the whole of a record, or its last part
            yield parts
            parts = b""


def test_wandb_gets_the_same_and_goes_on_in_the_same_run(
    wandb_offline: Any, pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    options = [*small_training, "--run-name=it", "--track=wandb", "--set=wandb.project=crystal"]
    result = pkmn("train", *options, "--steps=120")
    assert (result.code, result.err) == (0, "")
    assert pkmn("train", "--resume", "it", "--steps=240").code == 0
    run = tmp_path / "runs" / "it"
    first, second = sorted((run / "wandb").glob("offline-run-*"), key=lambda folder: folder.stat().st_mtime)
    assert first.name.rpartition("-")[2] == second.name.rpartition("-")[2], "one run of wandb's"
    rows = [row for folder in (first, second) for row in history(folder)]
    rewards = [(row["_step"], row["episode/reward"]) for row in rows if "episode/reward" in row]
    assert [(step, float(np.float32(value))) for step, value in rewards] == stored(run)["episode/reward"]
    assert not (run / "tensorboard").exists()
    kept = [
        path for path in run.rglob("*") if path.is_file() and os.environ["WANDB_API_KEY"].encode() in path.read_bytes()
    ]
    assert kept == [], "the key is in no file"


def test_wandb_that_is_not_installed_is_told_with_the_line_that_installs_it(
    pkmn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    for name in [name for name in sys.modules if name.startswith("pkmn_wandb.")]:
        monkeypatch.delitem(sys.modules, name)
    result = pkmn("train", "--track=wandb")
    assert result.code == 2
    assert result.err.endswith("run: pip install 'pkmncli[wandb]'\n") and len(result.err.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_wandb_without_a_key_is_told_before_anything_is_made(
    pkmn: Callable[..., Any], wandb_offline: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("WANDB_MODE", "WANDB_API_KEY"):
        monkeypatch.delenv(name)
    for name in ("HOME", "WANDB_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    wandb_offline.teardown()
    result = pkmn("train", "--track=wandb")
    assert result.code == 2
    assert result.err.splitlines()[-1].startswith("--track wandb: wandb has no key")
    assert not (tmp_path / "runs").exists()
