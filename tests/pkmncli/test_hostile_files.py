"""Files of strangers: nothing in them is run, whatever it is put in place of, and each is told in one line."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.variants import long_after

Pkmn = Callable[..., Any]


class Runs:
    """An object that runs a command where it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> Any:
        return (os.system, (f"touch {self._marker}",))


def hostile(marker: Path) -> dict[str, bytes]:
    """Return contents that run a command in a reader that lets them, by the form that they have."""
    archive, arrays, tarred = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.savez(arrays, weights=np.array([Runs(marker)], dtype=object))
    torch.save({"weights": Runs(marker)}, archive)
    with tarfile.open(fileobj=tarred, mode="w") as tar:
        entry = tarfile.TarInfo("../../hit")
        entry.size = 3
        tar.addfile(entry, io.BytesIO(b"hit"))
    code = f"__import__('os').system('touch {marker}')"
    return {
        "pickle": pickle.dumps(Runs(marker)),
        "npz": arrays.getvalue(),
        "torch": archive.getvalue(),
        "tar": tarred.getvalue(),
        "python": code.encode(),
        "yaml": f"!!python/object/apply:os.system ['touch {marker}']".encode(),
        "template": ('a = "${' + code + "} {0.__class__} %(x)s $(touch " + str(marker) + ')"').encode(),
        "shell": f"#!/bin/sh\ntouch {marker}\n".encode(),
    }


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "it-was-run"


@pytest.fixture
def contents(marker: Path) -> dict[str, bytes]:
    found = hostile(marker)
    pickle.loads(found["pickle"])
    assert marker.exists(), "the pickle does what it should"
    marker.unlink()
    return found


FORMS = ("pickle", "npz", "torch", "tar", "python", "yaml", "template", "shell")


def resealed(checkpoint: Path) -> None:
    """Write the checksums of a checkpoint's files anew, as a stranger would who wants it read."""
    meta = json.loads((checkpoint / "meta.json").read_text())
    for name in meta["checksums"]:
        meta["checksums"][name] = hashlib.blake2b((checkpoint / name).read_bytes(), digest_size=16).hexdigest()
    meta.pop("checksum")
    text = json.dumps(meta, sort_keys=True)
    meta["checksum"] = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    (checkpoint / "meta.json").write_text(json.dumps(meta))


RUN_FILES = [
    ("checkpoints/{last}/learner.safetensors", ["eval", "{run}", "--episodes=1"]),
    ("checkpoints/{last}/learner.safetensors", ["train", "--resume", "{run}", "--steps=260"]),
    ("checkpoints/{last}/trainer.safetensors", ["train", "--resume", "{run}", "--steps=260"]),
    ("checkpoints/{last}/worker-00.state", ["train", "--resume", "{run}", "--steps=260"]),
    ("checkpoints/{last}/buffer/replay-000000.safetensors", ["train", "--resume", "{run}", "--steps=260"]),
    ("checkpoints/{last}/learner.safetensors", ["train", "--start-from={run}", "--steps=20"]),
    ("checkpoints/{last}/learner.safetensors", ["export", "{run}", "--policy", "--to=out"]),
    ("config.toml", ["eval", "{run}", "--episodes=1"]),
    ("versions.json", ["eval", "{run}", "--episodes=1"]),
    ("checkpoints/index.json", ["eval", "{run}", "--episodes=1"]),
    ("checkpoints/{last}/meta.json", ["train", "--resume", "{run}", "--steps=260"]),
    ("decisions/first", ["analyze-patterns", "{run}"]),
    ("decisions/first", ["analyze-patterns", "{run}", "--sql", "SELECT count(*) FROM decisions"]),
    ("episodes/first", ["replay", "{run}", "--episode=1", "--verify"]),
    ("metrics/first", ["plot", "{run}", "--to=out.png"]),
    ("episodes/first", ["export", "{run}", "--to=out"]),
]


@pytest.mark.parametrize(
    ("name", "command", "form"),
    long_after(9, [(*case, ("pickle", "npz", "torch")[number % 3]) for number, case in enumerate(RUN_FILES)]),
    ids=[f"{command[0]}-{name}" for name, command in RUN_FILES],
)
def test_a_file_of_a_run(
    name: str,
    command: list[str],
    form: str,
    pkmn: Pkmn,
    shared_run: Callable[..., Path],
    tmp_path: Path,
    contents: dict[str, bytes],
    marker: Path,
) -> None:
    """Checksums are right, so that a reader gets as far as it can."""
    run = tmp_path / "run"
    shutil.copytree(shared_run(), run)
    last = max(path.name for path in (run / "checkpoints").glob("step-*"))
    path = run / name.format(last=last)
    if path.name == "first":
        path = min(path.parent.iterdir())
    path.write_bytes(contents[form])
    if "checkpoints/step-" in str(path) and path.name != "meta.json":
        resealed(run / "checkpoints" / last)
    result = pkmn(*(part.format(run=run) for part in command))
    assert not marker.exists()
    assert "Traceback" not in result.err and "unexpected error" not in result.err, result.err
    assert result.code in (0, 2, 3, 5), result
    assert result.code == 0 or result.err.strip()


STRANGERS = [
    ("x.toml", ["train", "--config=x.toml"], 2),
    ("x.json", ["train", "--config=x.json"], 2),
    ("x.toml", ["train", "--preset=./x.toml"], 2),
    ("x.toml", ["experiment", "x.toml"], 2),
    ("x.toml", ["tune", "x.toml"], 2),
    ("x.toml", ["train", "--llm=scripted", "--llm-prompt=x.toml"], 2),
    ("x.json", ["train", "--llm=scripted", "--lessons-file=x.json"], 2),
    ("x.db", ["train", "--llm=scripted", "--llm-cache=only", "--llm-cache-path=x.db"], 5),
    ("x.gbc", ["train", "--rom=x.gbc"], 3),
    ("x.state", ["train", "--init-state=x.state"], 3),
    ("x.sav", ["train", "--cartridge=x.sav"], 3),
    ("game.toml", ["train", "--game-folder=."], 3),
    ("x.db", ["analyze-patterns", "x.db"], 5),
    ("x.gguf", ["llm", "ask", "--llm=local", "--llm-model=./x.gguf"], 4),
]


@pytest.mark.parametrize(
    ("name", "command", "code", "forms"),
    [(*case, (FORMS[number % 8], FORMS[(number + 3) % 8])) for number, case in enumerate(STRANGERS)],
    ids=[f"{command[0]}-{command[-1]}" for _, command, _ in STRANGERS],
)
def test_a_file_that_a_user_was_given(
    name: str,
    command: list[str],
    code: int,
    forms: tuple[str, str],
    pkmn: Pkmn,
    tmp_path: Path,
    contents: dict[str, bytes],
    marker: Path,
) -> None:
    """All forms were tried on each of them; two for each are enough from day to day."""
    small = ["--steps=20", "--rl=none", "--final-episodes=0", "--max-steps-per-episode=20"]
    for form in forms:
        (tmp_path / name).write_bytes(contents[form])
        result = pkmn(*command, *(small if command[0] == "train" else []))
        assert not marker.exists(), form
        assert "Traceback" not in result.err and "unexpected error" not in result.err, result.err
        assert result.code == code, (form, result)
    assert not (tmp_path.parent / "hit").exists()


def test_a_database_whose_views_call_functions(pkmn: Pkmn, tmp_path: Path, marker: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as database, database:
        database.execute("CREATE TABLE other (action INTEGER, outcome REAL)")
        database.execute("INSERT INTO other VALUES (1, 2.0)")
        database.execute(
            f"CREATE VIEW decisions AS SELECT load_extension('{marker}') AS action, 1.0 AS outcome FROM other"
        )
        database.execute(f"CREATE TRIGGER t AFTER INSERT ON other BEGIN SELECT writefile('{marker}', 'x'); END")
    result = pkmn("analyze-patterns", "x.db")
    assert not marker.exists()
    assert result.code == 0 and "1 decision" in result.out, result


@pytest.mark.long
def test_a_run_that_names_code(pkmn: Pkmn, shared_run: Callable[..., Path], tmp_path: Path, marker: Path) -> None:
    """A class that a run's settings name must be one of the environment's kind, and come from what is installed."""
    for name in ("os:system", "subprocess:Popen", "builtins:exec", "code_beside_it:Runs"):
        run = tmp_path / f"run-{name.replace(':', '-')}"
        shutil.copytree(shared_run(), run)
        (run / "code_beside_it.py").write_text(f"import os\nos.system('touch {marker}')\n")
        config = (run / "config.toml").read_text()
        (run / "config.toml").write_text(config.replace("# env_class is not set", f'env_class = "{name}"'))
        result = pkmn("eval", str(run), "--episodes=1")
        assert not marker.exists()
        assert result.code == 2 and "env_class" in result.err, result


@pytest.mark.long
def test_no_module_of_the_current_folder_is_taken_for_ours(tmp_path: Path, marker: Path) -> None:
    for name in ("pkmn_pyboy", "pkmncli", "numpy", "plugin", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"import os\nos.system('touch {marker}')\n")
    script = Path(sys.executable).with_name("pkmn")
    if not script.exists():
        pytest.skip("the command is not installed")
    done = subprocess.run([script, "plugins"], cwd=tmp_path, capture_output=True, check=False, text=True)
    assert done.returncode == 0 and not marker.exists()
