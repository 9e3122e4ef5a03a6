"""Virtual environments with nothing but given wheels and what these declare that they need: no checkout, no extra."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@dataclass(frozen=True)
class EmptyEnvironment:
    """Environment in ``folder``; commands run in ``home``, which is also their home."""

    folder: Path
    home: Path

    def run(self, *command: str, variables: Mapping[str, str] | None = None) -> str:
        """Run one of the environment's commands. Return what it prints; a failure fails the test."""
        result = subprocess.run(
            [self.folder / "bin" / command[0], *command[1:]],
            cwd=self.home,
            env={**_bare_variables(self.home), **(variables or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}\n{result.stderr}"
        assert "Traceback" not in result.stderr, result.stderr
        return result.stdout


def empty_environment(folder: Path, wheels: Iterable[Path], needs: Iterable[str]) -> EmptyEnvironment:
    """Return a new environment with wheels, and with links to the installed packages that they need.

    Args:
        folder: where the environment and its home are made.
        wheels: wheels to install.
        needs: requirements of the wheels. Their packages, and what these need, are linked; nothing else.
    """
    found = EmptyEnvironment(folder / "venv", folder / "home")
    found.home.mkdir(parents=True)
    venv.create(found.folder, symlinks=True)
    python = str(found.folder / "bin" / "python")
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(found.folder)}))
    for name in _closure(needs):
        _link(name, packages)
    install = ["install", "--quiet", "--no-deps", "--no-index", *map(str, wheels)]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, *install], check=True)
    return found


def _closure(needs: Iterable[str]) -> set[str]:
    """Return the names of all installed distributions that requirements need, on this system."""
    found: set[str] = set()
    waiting = [(Requirement(need), "") for need in needs]
    while waiting:
        need, of_extra = waiting.pop()
        if need.marker is not None and not need.marker.evaluate({"extra": of_extra}):
            continue
        name = canonicalize_name(need.name)
        declared = [Requirement(text) for text in distribution(name).requires or ()]
        if name not in found or need.extras:
            found.add(name)
            waiting += [(one, extra) for one in declared for extra in ("", *need.extras)]
    return found


def _link(name: str, packages: Path) -> None:
    """Link all that a distribution has in its folder of packages."""
    installed = distribution(name)
    for top in {file.parts[0] for file in installed.files or ()} - {"..", "__pycache__"}:
        place = packages / top
        if not place.exists():  # a folder may be shared by several distributions
            place.symlink_to(Path(str(installed.locate_file(top))))


def _bare_variables(home: Path) -> dict[str, str]:
    """Return this process's variables without those that lead to the checkout or to a user's own files."""
    left_out = ("PYTHON", "PYTEST", "PKMN_", "XDG_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
    return {**kept, "HOME": str(home), "COLUMNS": "100", "PKMN_STRICT_PLUGINS": "1"}
