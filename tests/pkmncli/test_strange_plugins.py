"""Plugins and metadata that are wrong in strange ways: one line, and everything else works."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.strange_plugins import environment_with, install, install_reward
from support.variants import long_after
from support.warm_python import WarmProcess

from pkmncli.diagnostics import one_line
from pkmncli.runs import Run

Pkmn = Callable[..., subprocess.CompletedProcess[str]]
TRAIN = ["train", "--no-rl", "--steps=120", "--max-steps-per-episode=60", "--run-name=it", "--reward=strange"]
DEFINES_ODD = """
from pkmncli.errors import PkmnError, RomError

class Odd(RomError):
    exit_code = 7
    def __init__(self, file, line):
        super().__init__(f"{file} is odd in line {line}")

class Mute(Exception):
    def __str__(self):
        raise ValueError
"""


@pytest.fixture
def pkmn(tmp_path: Path) -> Pkmn:
    """Runs ``pkmn`` in a process of its own that finds the plugins in ``plugins``."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        with WarmProcess(*arguments, cwd=tmp_path, env=environment_with(tmp_path / "plugins")) as process:
            out, error = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.wait(), out, error)

    return run


@pytest.mark.long
@pytest.mark.parametrize(
    ("top", "told"),
    [
        ("class Skipped(BaseException): pass\nraise Skipped('no display')", "Skipped: no display"),
        ("import asyncio\nraise asyncio.CancelledError", "CancelledError"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("import sys\nsys.exit(0)", "SystemExit: 0"),
        (f"{DEFINES_ODD}\nraise Mute", "Mute"),
    ],
)
def test_whatever_an_import_raises_is_one_line(top: str, told: str, pkmn: Pkmn, tmp_path: Path) -> None:
    install(tmp_path / "plugins", "odd", top)
    result = pkmn("plugins", "--json")
    assert result.returncode == 0
    assert "dqn" in result.stdout
    assert json.loads(result.stdout)["names"]
    assert result.stderr == f"plugin 'odd' of odd 1.2 was left out: odd cannot be imported: {told}\n"


@pytest.mark.long
@pytest.mark.parametrize(
    ("top", "printed"),
    [
        ("print('hello from odd')", "hello from odd\n"),
        ("import sys\nsys.stdout.write('half a line')", "half a line"),
        ("import sys\nsys.stdout.close()", ""),
        ("import sys\nsys.stderr.close()", ""),
        ("import sys\nsys.__stdout__.close()", ""),
        ("import sys\nsys.stdout = None", ""),
        ("import sys, io\nsys.stdout = io.StringIO()", ""),
    ],
)
def test_what_an_import_does_to_standard_output_is_no_part_of_a_result(
    top: str, printed: str, pkmn: Pkmn, tmp_path: Path
) -> None:
    install_reward(tmp_path / "plugins", "return 1.0", top=top)
    result = pkmn("plugins", "--json")
    assert (result.returncode, result.stderr) == (0, printed)
    names = [entry["name"] for entry in json.loads(result.stdout)["names"]]
    assert "strange" in names and "dqn" in names


def install_failing(plugins: Path, body: str) -> None:
    """A reward that does this once it has been asked often enough, for the first time in the second episode."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    install_reward(plugins, f"if self.steps > 300:\n{lines}\nreturn 0.0", top=DEFINES_ODD)


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "code", "told"),
    [
        ("raise Odd('map.toml', 3)", 7, "map.toml is odd in line 3\n"),
        ("class Local(PkmnError): pass\nraise Local('made in a function')", 1, "made in a function\n"),
        ("raise PkmnError('a lone \\udc80')", 1, "a lone \\udc80\n"),
        ("class Silent(PkmnError):\n    def __str__(self): return None\nraise Silent", 1, "Silent\n"),
    ],
)
def test_a_users_error_in_a_worker_keeps_its_text_and_code(
    body: str, code: int, told: str, pkmn: Pkmn, tmp_path: Path
) -> None:
    install_failing(tmp_path / "plugins", body)
    result = pkmn(*TRAIN, "--steps=1000")
    assert (result.returncode, result.stderr) == (code, told)


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise Mute", "worker 0 was lost: Mute;"),
        ("class Local(BaseException): pass\nraise Local('no exception')", "Local: no exception"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
        ("import os\nos._exit(3)", "its process ended with exit code 3"),
    ],
)
def test_whatever_else_ends_a_worker_is_told_and_it_is_replaced(
    body: str, told: str, pkmn: Pkmn, tmp_path: Path
) -> None:
    install_failing(tmp_path / "plugins", body)
    result = pkmn(*TRAIN, "--steps=1000")
    assert (result.returncode, result.stderr) == (0, "")
    line, *_ = (line for line in result.stdout.splitlines() if "was lost" in line)
    assert line.startswith("worker 0 was lost: ") and told in line


@pytest.mark.long
@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_reward_that_is_no_number_is_told_once(value: str, pkmn: Pkmn, tmp_path: Path) -> None:
    install_reward(tmp_path / "plugins", f"return float('{value}')")
    result = pkmn(*TRAIN)
    assert result.returncode == 0, result.stderr
    told = f"The reward of environment 0 is {value} at step 1 of episode 0, by its part 'strange.strange'"
    assert result.stdout.count(told) == 1
    assert told in Run(tmp_path / "runs" / "it").log_file.read_text()


@pytest.mark.long
def test_what_a_worker_prints_is_no_part_of_a_result(pkmn: Pkmn, tmp_path: Path) -> None:
    install_reward(tmp_path / "plugins", "print('from a worker')\nreturn 1.0")
    assert pkmn(*TRAIN).returncode == 0
    result = pkmn("eval", "it", "--mode=llm-only", "--episodes=1", "--max-steps-per-episode=5", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["episodes"]
    assert "from a worker" in result.stderr


def announce(plugins: Path, name: str, metadata: str, entry_points: str | bytes) -> Path:
    folder = plugins / name
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(metadata)
    content = entry_points.encode() if isinstance(entry_points, str) else entry_points
    (folder / "entry_points.txt").write_bytes(content)
    return folder


OURS = "Metadata-Version: 2.1\nName: pkmncli\nVersion: 0.1.0\n"


@pytest.mark.parametrize("name", ["~kmncli-0.1.0.dist-info", "-kmncli-0.1.0.dist-info", "other-1.0.dist-info"])
def test_a_copy_of_our_metadata_is_one_line(name: str, pkmn: Pkmn, tmp_path: Path) -> None:
    entries = "[pkmn]\ndqn = pkmn_dqn.plugin\nppo = pkmn_ppo.plugin\npyboy = pkmn_pyboy.plugin\n"
    announce(tmp_path / "plugins", name, OURS, entries)
    result = pkmn("plugins", "--json")
    assert result.returncode == 0
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert name in result.stderr or "brings the same" in result.stderr
    names = [(entry["kind"], entry["name"]) for entry in json.loads(result.stdout)["names"]]
    assert ("algorithm", "dqn") in names and ("environment", "pyboy") in names
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("entry_points", "told"),
    [
        (b"[pkmn]\nodd = \xff\xfe\x00", "is no text in UTF-8"),
        ("[pkmn]\nodd = nothing\n".encode("utf-16"), "is no text in UTF-8"),
        ("[pkmn]\n", "names no plugin"),
        ("[pkmn]\nodd\n", "names no plugin in the line 'odd'"),
        ("[pkmn]\nodd =\n", "names no plugin in the line 'odd ='"),
        ("[pkmn]\n= nothing\n", "names no plugin in the line '= nothing'"),
        ("[pkmn]\nodd = not_there\n", "No module named 'not_there'"),
        ("[pkmn]\nodd = json:nothing\n", "has no attribute 'nothing'"),
        ("[pkmn]\nodd = .json\n", "cannot be imported"),
    ],
)
@pytest.mark.parametrize("metadata", long_after(1, [OURS.replace("pkmncli", "odd"), ""]))
def test_broken_metadata_are_one_line(
    entry_points: str | bytes, told: str, metadata: str, pkmn: Pkmn, tmp_path: Path
) -> None:
    announce(tmp_path / "plugins", "odd-0.1.0.dist-info", metadata, entry_points)
    result = pkmn("plugins", "--json")
    assert result.returncode == 0
    (line,) = result.stderr.splitlines()
    assert told in line and "odd 0.1.0" in line
    assert ("dqn", "pkmncli") in {(one["name"], one["distribution"]) for one in json.loads(result.stdout)["names"]}


@pytest.mark.parametrize("damage", ["unreadable METADATA", "no METADATA", "others' entry points"])
def test_what_does_not_matter_is_not_told(damage: str, pkmn: Pkmn, tmp_path: Path) -> None:
    install_reward(tmp_path / "plugins", "return 1.0")
    folder = tmp_path / "plugins" / "strange_reward-1.2.dist-info"
    if damage == "unreadable METADATA":
        (folder / "METADATA").write_bytes(b"Name: \xff\xfe\n")
    elif damage == "no METADATA":
        (folder / "METADATA").unlink()
    else:
        announce(tmp_path / "plugins", "foreign-1.0.dist-info", "", b"\xff\xfe\x00 nothing of ours")
    result = pkmn("plugins", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert "strange" in {one["name"] for one in json.loads(result.stdout)["names"]}


def test_a_distribution_twice_in_a_place_counts_once(pkmn: Pkmn, tmp_path: Path) -> None:
    install_reward(tmp_path / "plugins", "return 1.0")
    older = tmp_path / "plugins" / "strange_reward-1.2.dist-info"
    shutil.copytree(older, older.with_name("strange_reward-1.3.dist-info"))
    result = pkmn("plugins", "--json")
    assert result.returncode == 0
    (line,) = result.stderr.splitlines()
    assert "is the same distribution" in line
    assert [one["name"] for one in json.loads(result.stdout)["names"]].count("strange") == 1


def test_an_exception_that_cannot_say_what_it_is_is_its_kind() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert one_line(MuteError()) == "MuteError"
