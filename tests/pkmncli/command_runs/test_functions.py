"""Functions for runs, as a plugin or a script calls them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pydantic import BaseModel

from pkmncli.api import runs
from pkmncli.errors import ConfigurationError, RunError


def test_settings_may_be_an_object(tmp_path: Path) -> None:
    class Own(BaseModel):
        rate: float = 0.1
        size: int = 3

    with runs.start("toy", Own(rate=0.5), seed=4, save_dir=tmp_path, run_name="it") as run:
        assert (run.seed, run.settings) == (4, {"rate": 0.5})
        run.checkpoint(0, {})
    with runs.resume("it", settings={"rate": 0.7}, may_change=("rate",), save_dir=tmp_path) as run:
        assert run.settings == {"rate": 0.7}


@pytest.mark.long
def test_folders_and_files_may_be_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own.toml").write_text("disk_limit_gb = 3\n")
    for name in ("one", "two", "three"):
        with runs.start("toy", config=str(tmp_path / "own.toml"), save_dir=str(tmp_path), run_name=name) as run:
            run.checkpoint(0, {"rate": 5})
            run.episode(1, reward=1.0, steps=1)
    for folder in (str(tmp_path), "~"):
        with runs.resume("one", "toy", save_dir=folder) as run:
            assert run.state == {"rate": 5}
        assert runs.find_run("one", folder).folder == tmp_path / "one"
        assert runs.read_state("two", save_dir=folder) == {"rate": 5}
        with pytest.raises(RunError, match="was made by 'pkmn toy'"):
            runs.evaluate("one", save_dir=folder)
    assert runs.compare(["two", "three"], save_dir=str(tmp_path))["groups"]
    with pytest.raises(ConfigurationError, match=re.escape(str(tmp_path / "plan.toml"))):
        runs.experiment("~/plan.toml")


def test_a_run_of_a_training_is_evaluated(shared_run: Callable[[], Path], tmp_path: Path) -> None:
    folder = shutil.copytree(shared_run(), tmp_path / "it")
    found = runs.evaluate(folder, episodes=1, mode="random")
    assert (found["mode"], found["episodes"]) == ("random", 1)
    [kept] = (folder / "evaluations").iterdir()
    assert json.loads((kept / "result.json").read_text()) == found
    (folder / "evaluations" / "damaged").mkdir()
    (folder / "evaluations" / "damaged" / "result.json").write_text("{")
    assert runs.evaluations(folder) == [{**found, "folder": kept}]
    assert runs.evaluations(folder, most=0) == []
    with pytest.raises(ConfigurationError, match="mode 'good': choose rl-only"):
        runs.evaluate(folder, mode="good")


@pytest.mark.long
def test_a_policy_is_exported_to_a_folder_in_the_home_folder(
    shared_run: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert runs.export_policy(shared_run(), "~/policy").parent == tmp_path / "policy"


def test_an_interval_is_that_of_comparisons() -> None:
    one = runs.interval([1.0, 2.0, 3.0, 10.0])
    assert one.value == 2.5
    assert one.low is not None
    assert one.high is not None
    assert 1 <= one.low < 2.5 < one.high <= 10
    assert runs.interval([4.0]) == (4.0, None, None)
    assert runs.interval([[1.0, 1.0], [3.0, 3.0]], "mean") == (2.0, 2.0, 2.0), "resampled within each task"
    narrow = runs.interval(np.arange(9.0), lambda values: np.median(values, axis=-1), confidence=0.5)
    assert narrow.value == 4.0
    with pytest.raises(ConfigurationError, match="at least one value"):
        runs.interval([])


@pytest.mark.long
def test_an_experiment_makes_runs_of_a_command(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    file = tmp_path / "arms.toml"
    file.write_text(
        '[experiment]\nname = "arms"\nseeds = 2\nprocesses = 2\ncommand = "bandit"\n'
        "[settings]\nbandit.pulls = 200\n[[grid]]\nbandit.arms = [2, 3]\n"
    )
    lines: list[str] = []
    found = runs.experiment(file, save_dir=tmp_path, tell=lines.append)
    assert [folder.name for folder in found["runs"]] == [f"arms-{a}_seed-{s}" for a in (2, 3) for s in (0, 1)]
    assert found["failed"] == []
    assert [group["settings"] for group in found["comparison"]["groups"]] == [{"bandit.arms": 2}, {"bandit.arms": 3}]
    assert len(lines) == 4
    runs.experiment(file, save_dir=tmp_path, tell=lines.append)
    assert all("finished before" in line for line in lines[4:])
    file.write_text(file.read_text().replace("200", "300"))
    with pytest.raises(ConfigurationError, match=r"bandit\.pulls = 200, and now it is 300"):
        runs.experiment(file, save_dir=tmp_path)
