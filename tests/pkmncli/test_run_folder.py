"""Run folders: made once, found from anywhere, held by one training, and errors that say where was looked."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmncli.atomic_files import write_atomic, write_errors_explained, write_json
from pkmncli.config import ResolvedSettings
from pkmncli.errors import ConfigurationError, RunError
from pkmncli.plugins import get_registry
from pkmncli.runs import LAYOUT_VERSION, Run, create_run, list_runs, open_run
from pkmncli.training.checkpoints import files as checkpoints


def test_a_new_run_is_named_after_time_game_and_learner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.strftime", lambda pattern: "20261127-2214")
    runs = [create_run(tmp_path / "runs", "quillwood", "dqn") for _ in range(3)]
    assert [run.name for run in runs] == [
        "20261127-2214-quillwood-dqn",
        "20261127-2214-quillwood-dqn-2",
        "20261127-2214-quillwood-dqn-3",
    ]
    assert {run.folder.parent for run in runs} == {tmp_path / "runs"}
    versions = json.loads(runs[0].versions_file.read_text())
    assert versions["layout"] == LAYOUT_VERSION
    assert versions["python"].startswith("3.") and versions["pkmncli"] and versions["torch"] and versions["numpy"]


def test_a_given_name_is_taken_once_and_stays_in_its_folder(tmp_path: Path) -> None:
    assert create_run(tmp_path, "quillwood", "dqn", name="first").folder == tmp_path / "first"
    with pytest.raises(RunError, match="first exists already: choose another name"):
        create_run(tmp_path, "quillwood", "dqn", name="first")
    for name in ("../first", "a/b", "", ".hidden", "-x"):
        with pytest.raises(ConfigurationError, match="use letters, digits"):
            create_run(tmp_path, "quillwood", "dqn", name=name)


def test_a_run_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be made: Not a directory"):
        create_run(tmp_path / "file", "quillwood", "dqn")


def test_a_run_is_found_by_nothing_by_name_and_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = create_run(tmp_path / "runs", "quillwood", "dqn", name="zz-first")
    second = create_run(tmp_path / "runs", "quillwood", "dqn", name="aa-second")
    for run in (first, second):
        run.write_summary({})
    (tmp_path / "runs" / "notes").mkdir()
    (tmp_path / "runs" / "zzz-damaged").mkdir()
    (tmp_path / "runs" / "zzz-damaged" / "versions.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    assert list_runs(Path("runs")) == [first, second]
    assert open_run(None, Path("runs")) == second
    assert open_run("zz-first", Path("runs")) == first
    assert open_run(Path("runs/zz-first"), Path("elsewhere")) == first
    monkeypatch.setenv("HOME", str(tmp_path))
    assert open_run("~/runs/zz-first") == first


def test_no_run_yet_says_where_and_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(RunError) as caught:
        open_run(None, tmp_path / "runs")
    assert str(caught.value) == f"no run yet in {tmp_path / 'runs'}: make one with 'pkmn train', or name a run's folder"


def test_an_unknown_run_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no run 'first' here or in .*: it has no run yet; make one with 'pkmn train'"):
        open_run("first", tmp_path)
    create_run(tmp_path, "quillwood", "dqn", name="first")
    with pytest.raises(RunError, match=r"no run 'frist' here or in .*; did you mean 'first'\?"):
        open_run("frist", tmp_path)
    with pytest.raises(RunError, match="the latest is 'first'"):
        open_run("zzzz", tmp_path)


def test_a_folder_that_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"is no run folder: it has no versions\.json"):
        open_run(tmp_path, tmp_path)


def test_another_layout_names_the_version_that_wrote_it(tmp_path: Path) -> None:
    run = create_run(tmp_path, "quillwood", "dqn", name="old")
    write_json(run.versions_file, {**run.read_versions(), "layout": 99, "pkmncli": "7.0"})
    with pytest.raises(RunError, match=r"has layout 99, and this pkmncli reads layout 1; .*pip install 'pkmncli==7.0'"):
        open_run("old", tmp_path)


@pytest.mark.long
def test_one_training_at_a_time(tmp_path: Path) -> None:
    run = create_run(tmp_path, "quillwood", "dqn", name="busy")
    other = (
        "import sys; from pathlib import Path; from pkmncli.errors import RunError; from pkmncli.runs import Run\n"
        "try:\n"
        "    with Run(Path(sys.argv[1])).locked(): print('held')\n"
        "except RunError as error: print(error)\n"
    )

    def try_elsewhere() -> str:
        command = [sys.executable, "-c", other, str(run.folder)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    with run.locked():
        assert f"is in use by process {os.getpid()}: wait until it ends, stop it, or start a new run" in try_elsewhere()
        with pytest.raises(RunError, match="is in use by process"), Run(run.folder).locked():
            pass
    assert try_elsewhere() == "held\n"
    with run.locked():
        pass


def test_the_lock_of_a_killed_training_is_free(tmp_path: Path) -> None:
    run = create_run(tmp_path, "quillwood", "dqn", name="killed")
    code = (
        "import sys, time; from pathlib import Path; from pkmncli.runs import Run\n"
        "with Run(Path(sys.argv[1])).locked(): print('held', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(run.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        process.kill()
    with run.locked():
        assert run.lock_file.read_text() == f"{os.getpid()}\n"


def test_commands_add_up_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    run = create_run(tmp_path, "quillwood", "dqn", name="told")
    run.write_command(["pkmn", "train", "--rom", "my game.gbc"])
    run.write_command(["pkmn", "train", "--set", "x.key=sk-very-secret"])
    lines = run.command_file.read_text().splitlines()
    assert lines[1] == "pkmn train --rom 'my game.gbc'"
    assert lines[3].endswith("--set x.key=<OPENAI_API_KEY>")


def test_a_summary_is_always_json(tmp_path: Path) -> None:
    run = create_run(tmp_path, "quillwood", "dqn", name="sums")
    assert run.read_summary() == {}
    run.write_summary({"best": float("-inf"), "path": tmp_path, "parts": (1, 2.5), 3: None})
    assert run.read_summary() == {"best": None, "path": str(tmp_path), "parts": [1, 2.5], "3": None}
    run.summary_file.write_text("{")
    with pytest.raises(RunError, match=r"summary\.json is damaged"):
        run.read_summary()


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.json"
    write_atomic(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match=r"the disk is full: .*summary\.json could not be written"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["summary.json"]


def test_only_a_full_disk_is_explained_as_one(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="could not be written: denied"), write_errors_explained(tmp_path):
        raise PermissionError(errno.EACCES, "denied")


@pytest.mark.long
def test_a_run_of_an_earlier_version_keeps_its_goal_and_goes_on(
    pkmn: Callable[..., Any], shared_run: Callable[..., Path], tmp_path: Path
) -> None:
    run = Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it"))
    lines = run.config_file.read_text().splitlines()[1:-1]  # what says that it is whole is new
    run.config_file.write_text("\n".join("# goal is not set" if line.startswith("goal =") else line for line in lines))
    for folder in (run.checkpoints.folder / name for name in run.checkpoints.names()):
        meta = json.loads((folder / "meta.json").read_text())
        del meta["checksum"], meta["trainer"]["hand_over"], meta["trainer"]["pretraining"]
        meta["trainer"]["progression"] = {**meta["trainer"]["progression"], "due": None, "latest": None}
        (folder / "meta.json").write_text(checkpoints.meta_text(meta))
    assert ResolvedSettings.from_run(run.folder, get_registry()).train.goal is None, "the whole game"
    played = pkmn("eval", "it", "--episodes=1", "--max-steps-per-episode=5", "--no-baselines")
    assert played.code == 0, played.err
    result = pkmn("train", "--resume", "it", "--steps=300")
    assert (result.code, result.err) == (0, "")
    assert run.read_summary()["total_steps"] == 300


def test_names_are_on_disk_like_what_they_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut may else take a file with its name."""
    synced: set[tuple[int, int]] = set()
    fsync = os.fsync

    def noting(descriptor: int) -> None:
        fsync(descriptor)
        status = os.fstat(descriptor)
        synced.add((status.st_dev, status.st_ino))

    monkeypatch.setattr(os, "fsync", noting)
    run = create_run(tmp_path / "runs", "quillwood", "dqn", name="it")
    write_atomic(run.config_file, "seed = 1")
    run.summary_file.write_text("")
    run.set_aside(run.summary_file)
    for folder in (tmp_path / "runs", run.folder, run.folder / "superseded"):
        assert (folder.stat().st_dev, folder.stat().st_ino) in synced, folder
