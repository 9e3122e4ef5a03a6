"""Weights & Biases gets what the run's own tables hold, in one run, and no key is written."""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tracked import stored

from pkmncli.training import trainer


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "METRICS_INTERVAL", 20)


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


@pytest.mark.long
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


@pytest.mark.long
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
