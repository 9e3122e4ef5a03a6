"""``pkmn export --bundle`` and ``pkmn import``: a run as one file, which tells nothing private and may be anybody's."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.variants import long_after

from pkmncli.runs import Run

Pkmn = Callable[..., Any]
Files = dict[str, bytes]

STATE = "starts/0123456789abcdef.state"


@pytest.fixture
def run(shared_run: Callable[..., Path], tmp_path: Path) -> Run:
    run = Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it"))
    (run.folder / "film.mp4").write_bytes(b"film")
    (run.folder / "starts").mkdir(exist_ok=True)
    (run.folder / STATE).write_bytes(b"state")
    return run


@pytest.fixture
def bundle(pkmn: Pkmn, run: Run, tmp_path: Path) -> Path:
    assert pkmn("export", "it", "--bundle=it.zip").code == 0
    return tmp_path / "it.zip"


def read(bundle: Path) -> Files:
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(bundle: Path, files: Files) -> None:
    with zipfile.ZipFile(bundle, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def described(files: Files, **changes: Any) -> Files:
    """Return the files with a description that fits them."""
    entries = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in files.items()
        if name != "bundle.json"
    }
    about = {**json.loads(files["bundle.json"]), "files": entries, **changes}
    return {**files, "bundle.json": json.dumps(about).encode()}


@pytest.mark.long
def test_an_imported_run_is_replayed_and_not_resumed(pkmn: Pkmn, bundle: Path, tmp_path: Path) -> None:
    imported = pkmn("import", "it.zip", "--save-dir=theirs")
    assert (imported.code, imported.err) == (0, "")
    assert f"Imported {tmp_path / 'theirs' / 'it'}." in imported.out
    assert not list((tmp_path / "theirs").glob(".*")), "nothing temporary is left"
    replayed = pkmn("replay", "theirs/it", "--verify")
    assert (replayed.code, "The replay agrees" in replayed.out) == (0, True)
    resumed = pkmn("train", "--resume", "theirs/it", "--steps=1000")
    assert resumed.code == 5
    assert "it was imported, so it can't be resumed" in resumed.err


@pytest.mark.long
def test_an_imported_run_is_evaluated_and_compared(pkmn: Pkmn, bundle: Path) -> None:
    assert pkmn("import", "it.zip", "--save-dir=theirs").code == 0
    evaluated = pkmn("eval", "theirs/it", "--episodes=1", "--envs=1", "--no-baselines", "--max-steps-per-episode=5")
    assert (evaluated.code, evaluated.err) == (0, "")
    compared = pkmn("compare", "it", "theirs/it", "--format=csv")
    assert (compared.code, "dqn" in compared.out) == (0, True)


def test_a_bundle_tells_nothing_of_the_machine(bundle: Path, run: Run, tmp_path: Path) -> None:
    files = read(bundle)
    folders = {path.rpartition("/")[0].partition("/")[0] for path in files}
    assert folders <= {"", "checkpoints", "decisions", "episodes", "metrics", "starts"}
    assert not {"command.txt", "log.txt"} & set(files)
    assert not [name for name in files if name.startswith(("tensorboard", "checkpoints/step-")) and "buffer" in name]
    assert not [name for name, content in files.items() if str(tmp_path.parents[1]).encode() in content]
    assert str(tmp_path.parents[1]).encode() in run.config_file.read_bytes(), "the run itself names its folder"
    assert b"platform" not in files["versions.json"]
    assert (files["film.mp4"], files[STATE]) == (b"film", b"state")
    about = json.loads(files["bundle.json"])
    assert about["run"] == "it"
    assert about["checkpoint"] in json.loads(files["checkpoints/index.json"]).values()


def test_states_of_another_game_stay_behind(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    config = run.config_file.read_text()
    run.config_file.write_text(config.replace("# rom_path is not set", 'rom_path = "/home/me/games/own.gbc"'))
    (run.folder / "own.gbc").write_bytes(b"image")
    result = pkmn("export", "it", "--bundle=it.zip")
    assert (result.code, "Start states of its episodes are left out" in result.out) == (0, True)
    files = read(tmp_path / "it.zip")
    assert not [name for name in files if name.endswith((".state", ".sav", ".gbc"))]
    assert b'rom_path = "own.gbc"' in files["config.toml"]


def test_a_secret_is_not_shared(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    run.names_file.write_text(json.dumps({**run.read_names(), "note": "sk-" + "a1" * 20}))
    result = pkmn("export", "it", "--bundle=it.zip")
    assert result.code == 5
    assert "names.json holds a secret" in result.err
    assert list(tmp_path.glob("*.zip")) == list(tmp_path.glob(".*")) == []


@pytest.mark.long
def test_files_and_runs_of_that_name_stay(pkmn: Pkmn, bundle: Path) -> None:
    again = pkmn("export", "it", "--bundle=it.zip")
    assert (again.code, again.err) == (
        2,
        "it.zip exists already: name another file, or replace it with --overwrite\n",
    )
    assert pkmn("export", "it", "--bundle=it.zip", "--overwrite", "--checkpoint=160").code == 0
    assert json.loads(read(bundle)["bundle.json"])["checkpoint"] == "step-000000160"
    assert "it exists already" in pkmn("import", "it.zip").err
    assert "Imported" in pkmn("import", "it.zip", "--name=other").out


def test_options_of_other_exports_are_refused(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    others = ("--to=there", "--format=parquet", "--no-tables", "--policy", "--pretrained=there", "--episodes=3")
    result = pkmn("export", "it", "--bundle=b.zip", *others, "--rom=own.gbc", "--game-folder=games")
    assert (result.code, result.err) == (
        2,
        "--bundle is a separate export: leave out --to, --format, --no-tables, --policy, --pretrained, --episodes, "
        "--rom, --game-folder\n",
    )
    assert not (tmp_path / "b.zip").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    long_after(
        1,
        [
            (lambda files: described({**files, "../evil.json": b"{}"}), "a run has no file '../evil.json'"),
            (lambda files: described({**files, "/tmp/evil.json": b"{}"}), "a run has no file '/tmp/evil.json'"),
            (lambda files: described({**files, "run.lock": b"1"}), "a run has no file 'run.lock'"),
            (lambda files: described({**files, "starts/../../x/a.parquet": b""}), "a run has no file"),
            (lambda files: described(files, run="../it"), "run name '../it'"),
            (
                lambda files: described(files, format=2),
                "has format 2, and this pkmncli reads 1: install a newer pkmncli",
            ),
            (lambda files: {**files, "bundle.json": b'{"format": 1, "run": "it"}'}, "bundle.json: checkpoint: "),
            (lambda files: {**files, "names.json": b"{}"}, "names.json is not what was written"),
            (lambda files: {**files, "names.json": bytes(10**7)}, "names.json is not what was written"),
            (lambda files: {**files, "more.mp4": b""}, "its files are not those in bundle.json"),
            (lambda files: {name: files[name] for name in files if name != "bundle.json"}, "it has no bundle.json"),
            (lambda files: {**files, "bundle.json": b"{" * 10}, "is damaged, or no bundle"),
            (
                lambda files: described(
                    {name: files[name] for name in files if not name.endswith("learner.safetensors")}
                ),
                "learner.safetensors is missing",
            ),
            (lambda files: described({**files, "config.toml": b"x ="}), "config.toml is damaged"),
            (
                lambda files: described({**files, "versions.json": files["versions.json"].replace(b": 1,", b": 9,")}),
                "has layout 9",
            ),
        ],
    ),
)
def test_a_hostile_or_damaged_bundle_is_refused(
    change: Callable[[Files], Files], message: str, pkmn: Pkmn, bundle: Path, tmp_path: Path
) -> None:
    write(bundle, change(read(bundle)))
    result = pkmn("import", "it.zip", "--save-dir=theirs")
    assert (result.code, result.out) == (5, "")
    assert message in result.err
    assert len(result.err.splitlines()) == 1
    assert not list((tmp_path / "theirs").glob("*")), "nothing is left"


def test_a_file_that_is_no_zip_is_refused(pkmn: Pkmn, bundle: Path, tmp_path: Path) -> None:
    bundle.write_bytes(bundle.read_bytes()[:-40])
    assert "it.zip is damaged, or no bundle" in pkmn("import", "it.zip", "--name=other").err
    assert "none.zip is not there" in pkmn("import", "none.zip").err
    assert pkmn("import", "runs").code == 5
