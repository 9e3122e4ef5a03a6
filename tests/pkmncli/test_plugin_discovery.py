"""Plugins as pip leaves them: found by their entry points, one broken one no matter to the others."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from pkmncli.plugins.discovery import ENTRY_POINT_GROUP, find_plugins

GOOD = """
from pkmncli import hookimpl

@hookimpl
def pkmn_register_rewards(register):
    register("{name}", "{module}:Target", help="a reward of {module}", api={api})

@hookimpl
def pkmn_register_commands(register):
    register("greet-{name}", "{module}:greet", help="Say hello from {module}.", api={api})

def greet(whom: str = "you"):
    \"\"\"Say hello.\"\"\"
    print("hello", whom)

class Target:
    pass
"""

Install = Callable[..., None]
RunPkmn = Callable[..., Any]


@pytest.fixture
def installed(tmp_path: Path) -> Install:
    """Puts a distribution with one plugin into ``tmp_path``, as pip would."""

    def install(distribution: str, source: str, **fields: Any) -> None:
        module = distribution.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(source.format(module=module, **{"name": "a", "api": 1} | fields))
        folder = tmp_path / f"{module}-1.2.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n")
        (folder / "entry_points.txt").write_text(f"[console_scripts]\nx = y:z\n\n[pkmn]\n{distribution} = {module}\n")

    return install


@pytest.fixture
def pkmn(run_pkmn: RunPkmn) -> RunPkmn:
    """Runs ``pkmn`` with what is installed in a path."""
    return lambda path, *arguments, **environment: run_pkmn(*arguments, PYTHONPATH=str(path), **environment)


@pytest.mark.long
def test_good_and_bad_distributions_side_by_side(tmp_path: Path, installed: Install, pkmn: RunPkmn) -> None:
    installed("aa-good", GOOD, name="alpha")
    installed("bb-broken", "import a_module_that_nobody_has")
    installed("cc-newer", GOOD, name="gamma", api=99)
    installed("dd-rival", GOOD, name="alpha")
    installed("ee-good", GOOD, name="epsilon")

    result = pkmn(tmp_path, "plugins", "--json")
    assert result.returncode == 0
    listing = json.loads(result.stdout)
    states = {(entry["kind"], entry["name"], entry["distribution"]): entry["state"] for entry in listing["names"]}
    assert states[("reward", "epsilon", "ee-good")] == "registered"
    assert states[("reward", "alpha", "aa-good")] == states[("reward", "alpha", "dd-rival")] == "contested"
    assert not any(entry["name"] == "gamma" for entry in listing["names"])
    assert states[("algorithm", "dqn", "pkmncli")] == "registered"
    problems = [line for line in result.stderr.splitlines() if "-" in line]
    assert [line for line in problems if "bb-broken" in line] == [
        "plugin 'bb-broken' of bb-broken 1.2 was left out: bb_broken cannot be imported: "
        "ModuleNotFoundError: No module named 'a_module_that_nobody_has'"
    ]
    assert [line for line in problems if "cc-newer" in line] == [
        "plugin 'cc-newer' of cc-newer 1.2 was left out: reward 'gamma' asks for api 99, and this pkmncli has api 1: "
        "upgrade pkmncli"
    ]
    assert [line for line in problems if "reward 'alpha'" in line] == [
        "reward 'alpha' is claimed by aa-good 1.2 (plugin 'aa-good') and dd-rival 1.2 (plugin 'dd-rival'); "
        "leave one out with PKMN_DISABLE_PLUGINS=dd-rival"
    ]
    assert "Traceback" not in result.stderr

    shown = pkmn(tmp_path, "--debug", "plugins", "show", "bb-broken")
    assert "left out: bb_broken cannot be imported" in shown.stdout
    assert "Traceback" in shown.stdout

    off = pkmn(tmp_path, "plugins", "--json", PKMN_DISABLE_PLUGINS="bb-broken, cc_newer,dd-rival")
    assert off.stderr == "" or "pkmncli" in off.stderr  # what is wrong with built-ins is not this test's
    assert "aa-good" in off.stdout and not any(n["state"] == "contested" for n in json.loads(off.stdout)["names"])
    disabled = [plugin["plugin"] for plugin in json.loads(off.stdout)["plugins"] if plugin["state"] == "disabled"]
    assert disabled == ["bb-broken", "cc-newer", "dd-rival"]


@pytest.mark.long
def test_strict_makes_any_problem_an_error(tmp_path: Path, installed: Install, pkmn: RunPkmn) -> None:
    installed("bb-broken", "1 / 0")
    for arguments in (["--help"], ["plugins"]):
        result = pkmn(tmp_path, *arguments, PKMN_STRICT_PLUGINS="1")
        assert result.returncode == 2
        assert "bb-broken 1.2 was left out: bb_broken cannot be imported: ZeroDivisionError" in result.stderr


@pytest.mark.long
def test_a_plugins_command_is_listed_suggested_completed_and_run(
    tmp_path: Path, installed: Install, pkmn: RunPkmn
) -> None:
    installed("aa-good", GOOD, name="alpha")
    listed = pkmn(tmp_path, "--help").stdout
    assert "greet-alpha" in listed and "Say hello from aa_good." in listed
    ran = pkmn(tmp_path, "greet-alpha", "--whom", "them")
    assert (ran.returncode, ran.stdout) == (0, "hello them\n")
    typo = pkmn(tmp_path, "greet-alfa")
    assert typo.returncode == 2
    assert "Did you mean 'greet-alpha'?" in typo.stderr
    completed = pkmn(tmp_path, _PKMN_COMPLETE="complete_bash", COMP_WORDS="pkmn gree", COMP_CWORD="1")
    assert completed.stdout.split() == ["greet-alpha"]
    options = pkmn(tmp_path, _PKMN_COMPLETE="complete_bash", COMP_WORDS="pkmn greet-alpha --wh", COMP_CWORD="2")
    assert options.stdout.split() == ["--whom"]


def test_reading_the_files_finds_what_importlib_finds(tmp_path: Path, installed: Install, pkmn: RunPkmn) -> None:
    installed("aa-good", GOOD)
    code = (
        "from importlib.metadata import entry_points\n"
        "from pkmncli.plugins import discovery as d\n"
        "def found(each): return sorted((p.name, p.module, p.label) for plugins in each for p in plugins)\n"
        "assert d._all_in_folders()\n"
        "assert found(d._read_folders()) == found(d._ask_importlib()), (found(d._read_folders()))\n"
        "print(found(d._read_folders()))"
    )
    result = pkmn(tmp_path, python=("-c", code))
    assert result.returncode == 0, result.stderr
    assert "('aa-good', 'aa_good', 'aa-good 1.2')" in result.stdout
    assert "('dqn', 'pkmn_dqn.plugin', 'pkmncli" in result.stdout


def test_a_plugin_in_a_zip_archive_is_found_too(tmp_path: Path, installed: Install, pkmn: RunPkmn) -> None:
    installed("aa-good", GOOD, name="alpha")
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for part in ("aa_good.py", "aa_good-1.2.dist-info/METADATA", "aa_good-1.2.dist-info/entry_points.txt"):
            file.write(tmp_path / part, part)
    assert "greet-alpha" in pkmn(archive, "--help").stdout


def test_built_in_parts_are_found_like_any_other() -> None:
    announced = {point.name: point.value for point in entry_points(group=ENTRY_POINT_GROUP)}
    assert announced.items() >= {"pyboy": "pkmn_pyboy.plugin", "dqn": "pkmn_dqn.plugin"}.items()
    assert {plugin.name: plugin.module for plugin in find_plugins()} == announced
