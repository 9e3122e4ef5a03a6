"""The packages that users install: what they hold, and that they train where nothing else of the project is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.empty_environment import EmptyEnvironment, empty_environment

from pkmncli.version import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/pyproject.toml"))
IMAGE = "pkmn_pyboy/games/quillwood/quillwood.gbc"
SHORT = ["--steps=60", "--no-film", "--set=dqn.learning_starts=20", "--set=dqn.batch_size=8"]
ALL_KINDS = "reward,strategy,llm,learner,environment,analyzer,command,pilot,encoder"


def run(*command: str, cwd: Path = ROOT) -> str:
    """Run a module of this interpreter. Return what it prints; a failure fails the test."""
    variables = {**os.environ, "NO_COLOR": "1"}
    result = subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, env=variables, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def wheel_of(package: Path, folder: Path) -> Path:
    """Build the wheel of a plugin's package, with the backend that is installed, so that no network is needed."""
    before = set(folder.glob("*.whl"))
    run("hatchling", "build", "--target", "wheel", "--directory", str(folder), cwd=package)
    (wheel,) = set(folder.glob("*.whl")) - before
    return wheel


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the project's sdist, and with the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("packages")
    run("build", "--no-isolation", "--outdir", str(folder))
    return folder


@pytest.fixture(scope="module")
def contents(packages: Path) -> dict[str, dict[str, bytes]]:
    """Content of each file, by its path: under ``wheel``, and under ``sdist`` without the first folder."""
    (wheel,), (sdist,) = packages.glob("*.whl"), packages.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        found = {"wheel": {name: archive.read(name) for name in archive.namelist()}}
    with tarfile.open(sdist) as archive:
        members = ((member, archive.extractfile(member)) for member in archive.getmembers())
        found["sdist"] = {member.name.partition("/")[2]: file.read() for member, file in members if file is not None}
    return found


@pytest.fixture(scope="module")
def installed(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmptyEnvironment]:
    """Environment with the wheel, the example packages and what the wheel needs."""
    folder = tmp_path_factory.mktemp("installed")
    wheels = [*packages.glob("*.whl"), *(wheel_of(example, folder) for example in EXAMPLES)]
    yield empty_environment(folder, wheels, PROJECT["dependencies"])
    shutil.rmtree(folder, ignore_errors=True)


def summary_of(installed: EmptyEnvironment, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((installed.home / "runs" / name / "summary.json").read_text())
    return content


def is_image(data: bytes) -> bool:
    """Return whether data are an image of a Game Boy cartridge, by the checksum and the size in its header."""
    if len(data) < 0x8000:
        return False
    checksum = 0
    for byte in data[0x134:0x14D]:
        checksum = (checksum - byte - 1) & 0xFF
    return checksum == data[0x14D] and len(data) == 0x8000 << data[0x148]


@pytest.mark.long
def test_an_index_would_take_both(packages: Path) -> None:
    assert run("twine", "check", "--strict", *map(str, packages.iterdir())).count("PASSED") == 2


def test_the_only_image_is_the_bundled_game(contents: dict[str, dict[str, bytes]]) -> None:
    for kind, image in (("wheel", IMAGE), ("sdist", f"plugins/{IMAGE}")):
        assert [name for name, data in contents[kind].items() if is_image(data)] == [image]
        endings = (".gb", ".gbc", ".gba", ".sav", ".sgm", ".srm", ".state", ".zip", ".7z")
        assert [name for name in contents[kind] if name.lower().endswith(endings)] == [image]
        assert contents[kind][image] == (ROOT / "plugins" / IMAGE).read_bytes()


def test_the_wheel_holds_every_file_of_the_packages(contents: dict[str, dict[str, bytes]]) -> None:
    """Profiles, the page, prompts, templates, stubs: whatever is in the packages of the checkout, and no more."""
    packages = [ROOT / name for name in ("pkmncli", *(f"plugins/{path.name}" for path in plugin_folders()))]
    wanted = {
        file.relative_to(folder.parent).as_posix()
        for folder in packages
        for file in folder.rglob("*")
        if file.is_file() and not {"__pycache__", ".mypy_cache"} & set(file.parts)
    }
    packed = {name for name in contents["wheel"] if ".dist-info/" not in name}
    assert packed == {name for name in wanted if not name.startswith("pkmn_pyboy/games/quillwood/build/")}
    for name in ("pkmncli", *(path.name for path in plugin_folders())):
        assert f"{name}/py.typed" in packed


def plugin_folders() -> list[Path]:
    return [path.parent for path in (ROOT / "plugins").glob("*/__init__.py")]


def test_the_sdist_holds_what_is_needed_to_work_on_it(contents: dict[str, dict[str, bytes]]) -> None:
    packed = set(contents["sdist"])
    assert {"Makefile", "constraints.txt", "LICENSE", "README.md", "CHANGELOG.md", "PKG-INFO"} <= packed
    assert {name.partition("/")[0] for name in packed if "/" in name} >= {"docs", "examples", "tests", "benchmarks"}
    assert not [name for name in packed if {"runs", "__pycache__", ".git", ".venv"} & set(name.split("/"))]


def test_the_metadata_say_what_is_supported(contents: dict[str, dict[str, bytes]]) -> None:
    (metadata,) = (data.decode() for name, data in contents["wheel"].items() if name.endswith(".dist-info/METADATA"))
    assert "\nRequires-Python: >=3.11\n" in metadata
    for version in ("3.11", "3.12", "3.13", "3.14"):
        assert f"\nClassifier: Programming Language :: Python :: {version}\n" in metadata
    assert "\nLicense-Expression: MIT\n" in metadata
    assert metadata.count("\nLicense-File: ") == 2


@pytest.mark.long
def test_the_wheel_trains_with_example_packages_where_nothing_else_is(installed: EmptyEnvironment) -> None:
    listed = json.loads(installed.run("pkmn", "plugins", "--json"))
    assert listed["problems"] == []
    found = {one["distribution"] for one in listed["plugins"]}
    assert {example.name.replace("_", "-") for example in EXAMPLES} <= found
    parts = ["--reward=progress", "--reward=coins=0.5", "--observation-type=goal_screen", "--set=dqn.encoder=patches"]
    installed.run("pkmn", "train", *SHORT, *parts, "--run-name=both")
    summary = summary_of(installed, "both")
    assert summary["total_steps"] == 60 and summary["updates"] > 0
    place = installed.run("python", "-c", "import pkmncli, pkmn_pyboy; print(pkmncli.__file__, pkmn_pyboy.__file__)")
    assert str(ROOT) not in place and place.count(str(installed.folder)) == 2


@pytest.mark.long
def test_first_commands_in_an_empty_environment(installed: EmptyEnvironment) -> None:
    assert installed.run("pkmn", "--version").split()[-1] == __version__
    assert "analyze-patterns" in installed.run("pkmn", "--help")
    installed.run("pkmn", "train", *SHORT, "--run-name=first")
    assert "random" in installed.run("pkmn", "eval", "first", "--episodes=1", "--max-steps-per-episode=30")
    installed.run("pkmn", "analyze-patterns", "first")
    installed.run("pkmn", "train", "--resume", "first", "--steps=80", "--no-film")
    assert "No broken requirements" in run("pip", "--python", str(installed.folder / "bin" / "python"), "check")


@pytest.mark.long
def test_every_other_example_trains_in_an_empty_environment(installed: EmptyEnvironment) -> None:
    installed.run("pkmn", "bandit", "--pulls=200", "--run-name=bandit")
    assert (installed.home / "runs" / "bandit" / "summary.json").is_file()
    shutil.copytree(ROOT / "examples" / "grid_world", installed.home / "grid_world")
    scripted = ["--llm=scripted", "--set=scripted.file=grid_world/advice.toml"]
    grid = ["--env=gym:grid_world:GridWorld-v0", "--rl=none", *scripted, "--episodes=3", "--run-name=grid"]
    installed.run("pkmn", "train", *grid, variables={"PYTHONPATH": str(installed.home / "grid_world")})
    assert summary_of(installed, "grid")["total_episodes"] == 3


@pytest.mark.long
def test_a_plugin_that_was_just_written_trains_in_an_empty_environment(packages: Path, tmp_path: Path) -> None:
    first = empty_environment(tmp_path / "first", packages.glob("*.whl"), PROJECT["dependencies"])
    first.run("pkmn", "plugins", "new", "fresh", "--kind", ALL_KINDS)
    wheels = [*packages.glob("*.whl"), wheel_of(first.home / "pkmn_fresh", tmp_path)]
    second = empty_environment(tmp_path / "second", wheels, PROJECT["dependencies"])
    second.run("pkmn", "plugins", "check", "fresh")
    parts = ["--reward=progress", "--reward=fresh-reward=0.5", "--llm=fresh-llm", "--strategy=fresh-strategy"]
    second.run("pkmn", "train", *SHORT, *parts, "--set=dqn.encoder=fresh-encoder", "--run-name=parts")
    second.run("pkmn", "train", "--env=fresh-environment", "--rl=fresh-learner", "--mode=rl-only", *SHORT[:2])
    second.run("pkmn", "fresh-command", "--guesses=50")
