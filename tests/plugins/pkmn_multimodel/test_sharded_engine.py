"""Engine with one base sharded over processes: the same training, and what it refuses and leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from support.commands import run_here
from support.processes import training_processes

from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.recording import flat
from pkmn_multimodel.settings import MultiModelConfig
from pkmn_multimodel.sharded_engine import check_shards
from pkmn_multimodel.training import Training
from pkmncli.errors import ConfigurationError, TrainingError

SMALL = {
    "num_models": 2,
    "model_types": ["qwen3"],
    "base": "tiny",
    "batch_size": 4,
    "max_episodes": 100_000,
    "learning_rate": 3e-3,
    "actors": 2,
    "device": "cpu",
}
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "fewer samples than processes in a micro-batch": {"weight_update_strategy": "synchronized", "micro_batch": 1},
    "imitation, a league and older samples": {
        "imitation_games": 4,
        "league_every": 1,
        "league_share": 0.8,
        "league_scripts": ["random", "best"],
    },
    "shared changes of the base": {"weight_update_strategy": "federated", "algorithm": "ppo"},
}
CARDS = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(torch.cuda.device_count() < 2, reason="there are no two cards")),
]


def make_training(**settings: Any) -> Training:
    return Training(MultiModelConfig(**SMALL | settings), game_maker("coop-compete", 2, {}), 3)


def state_after(training: Training, batches: int) -> dict[str, Any]:
    for _ in range(batches):
        training.batch()
    return flat(training.state_dict())


@pytest.mark.long
@pytest.mark.parametrize("device", CARDS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_shards_play_the_same_games_and_reach_the_same_adapters_up_to_rounding(variant: str, device: str) -> None:
    own = {**VARIANTS[variant], "device": device, "precision": "float32"}
    with closing(make_training(**own)) as training:
        expected = state_after(training, 3)
    with closing(make_training(**own, engine="sharded")) as training:
        found = state_after(training, 3)
    assert found.keys() == expected.keys()
    arrays = [name for name in found if hasattr(found[name], "dtype") and found[name].dtype == np.float32]
    assert {name.partition("/")[0] for name in arrays} == {"population", "learners"}
    for name in arrays:
        assert np.allclose(found[name], expected[name], rtol=1e-3, atol=1e-4), name
    for name in ("generator", "episodes"):
        assert np.array_equal(found[name], expected[name]), name


@pytest.mark.long
def test_a_killed_training_leaves_no_process_and_resumes_to_equal_adapters(tmp_path: Path) -> None:
    options = [
        *("multimodel", "train", "--models", "2", "--base", "tiny", "--engine", "sharded", "--actors", "2"),
        *("--episodes", "40", "--set", 'multimodel.model_types=["qwen3"]', "--set", "multimodel.batch_size=4"),
        *("--set", "multimodel.save_every=2", "--set", "multimodel.device=cpu", "--save-dir", str(tmp_path)),
    ]
    whole = run_here(*options, "--run-name", "whole")
    assert whole.code == 0, whole.err
    killed = tmp_path / "killed"
    child = subprocess.Popen(
        [sys.executable, "-m", "pkmncli", *options, "--run-name", "killed"],
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PKMN_TRACK": '["none"]'},
    )
    while child.poll() is None and not list(killed.glob("checkpoints/step-*[1-9]*")):
        time.sleep(0.05)
    processes = training_processes(child.pid)
    assert len(processes) >= 2
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    assert not psutil.wait_procs(processes, timeout=60)[1]
    resumed = run_here("multimodel", "train", "--resume", str(killed))
    assert resumed.code == 0, resumed.err
    ours, theirs = (json.loads(run_here("multimodel", "status", str(run)).out) for run in (killed, tmp_path / "whole"))
    assert ours == theirs
    assert json.loads(run_here("eval", str(killed), "--episodes", "2", "--json").out)["score"] >= 0


@pytest.mark.long
def test_a_lost_process_ends_the_training_in_one_line_and_the_others_with_it() -> None:
    with closing(make_training(engine="sharded")) as training:
        training.batch()
        processes = [psutil.Process(number) for number in training.actor_processes]
        assert len(processes) == 2
        processes[1].kill()
        with pytest.raises(TrainingError, match=r"^engine = sharded: a process was lost \(signal 9\)"):
            training.batch()
        assert not psutil.wait_procs(processes, timeout=60)[1]
    with closing(make_training(engine="sharded", episode_timeout_s=1e-9)) as training:
        with pytest.raises(TimeoutError, match="Episode timeout"):
            training.batch()
        training.settings.episode_timeout_s = 600.0
        assert training.batch().episodes, "the processes can go on"


def test_what_cannot_be_sharded_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = run_here("multimodel", "train", "--engine", "sharded", "--base", "tiny", "--save-dir", str(tmp_path))
    assert result.code == 2
    assert "engine = sharded shares the base between actors: give actors = 2 or more" in result.err
    assert not list(tmp_path.iterdir()), "no run is left"
    settings = MultiModelConfig(**SMALL | {"engine": "sharded", "device": "cuda"})
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ConfigurationError, match="actors = 2, but 1 graphics card is here; each actor needs one"):
        check_shards(settings)
    settings.device = "cuda:1"
    with pytest.raises(ConfigurationError, match="device = cuda:1 is a single one; give cpu, cuda or auto"):
        check_shards(settings)
