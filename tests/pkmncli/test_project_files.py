"""The files that make the project installable: exact versions, the rules of imports, the one-command targets."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_has_an_exact_version() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pinned = {normalized(line.partition("==")[0]): line.partition("==")[2] for line in lines}
    assert all(re.fullmatch(r"[\w.]+", version) for version in pinned.values())
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = PROJECT["project"]["dependencies"] + [requirement for extra in extras for requirement in extra]
    names = {normalized(re.split(r"[<>=!~ \[]", requirement)[0]) for requirement in wanted} - {"pkmncli"}
    assert names <= pinned.keys()


def test_every_plugin_is_packaged_checked_and_announced() -> None:
    plugins = {folder.parent.name for folder in (ROOT / "plugins").glob("*/__init__.py")}
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {f"plugins/{name}" for name in plugins} == set(packages) - {"pkmncli"}
    assert plugins | {"pkmncli"} == set(PROJECT["tool"]["mypy"]["packages"])
    assert plugins | {"pkmncli"} == set(PROJECT["tool"]["importlinter"]["root_packages"])
    announced = {value.partition(".")[0] for value in PROJECT["project"]["entry-points"]["pkmn"].values()}
    assert announced == plugins | {"pkmncli"}  # the core brings the scripted model


def test_every_licence_is_listed() -> None:
    """Of what is needed directly; what that needs in turn depends on the system."""
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    extras = PROJECT["project"]["optional-dependencies"]
    shipped = [text for name, texts in extras.items() if name not in {"dev", "examples"} for text in texts]
    for requirement in PROJECT["project"]["dependencies"] + shipped:
        name = normalized(re.split(r"[<>=!~ \[]", requirement)[0])
        if name != "pkmncli":
            row = next((line for line in page.splitlines() if f"/project/{name}/)" in line), "")
            assert row and row.split("|")[2].strip() not in {"", "see its package"}, f"{name}: run make licences"


@pytest.mark.long
def test_an_audit_without_a_network_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text("[global]\nno-index = true\n")
    environment = {**os.environ, "PIP_CONFIG_FILE": str(tmp_path / "pip.conf"), "PYTHON": sys.executable}
    environment.pop("PIP_FIND_LINKS", None)
    result = subprocess.run([ROOT / ".ci" / "audit"], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and "not audited" in result.stderr, result


@pytest.mark.long
def test_imports_keep_to_the_rules() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    "target", ["train", "test", "examples", "lint", "bench", "docs", "clean", "fuzz", "audit", "licences"]
)
def test_make_knows_its_targets(target: str) -> None:
    result = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_make_says_what_python_it_needs(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\n[ \"$1\" = -V ] && echo 'Python 3.9.2'\nexit 1\n")
    old.chmod(0o755)
    for python, reason in (
        (str(old), "is Python 3.9.2: install a newer one"),
        ("python3.99", "there is no python3.99"),
    ):
        command = ["make", "check-python", f"PYTHON={python}", f"VENV={tmp_path / 'none'}"]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert result.returncode != 0
        assert "pkmncli needs Python 3.11 or newer; " in result.stderr and reason in result.stderr
