"""The image that is committed is what its sources give."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pkmn_pyboy.profile import GameProfile


def installed_compiler() -> str | None:
    """Version and build of the SDCC on this machine, as BUILD_INFO writes it."""
    if shutil.which("sdcc") is None:
        return None
    done = subprocess.run(["sdcc", "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"\d+\.\d+\.\d+ #\d+", done.stdout)
    return found.group(0) if found else None


def test_the_hash_of_the_image_is_the_one_in_the_profile(quillwood: GameProfile) -> None:
    image = (quillwood.folder / "quillwood.gbc").read_bytes()
    sha1 = hashlib.sha1(image).hexdigest()
    assert tomllib.loads((quillwood.folder / "game.toml").read_text())["rom"]["sha1"] == sha1
    assert f"sha1: {sha1}" in (quillwood.folder / "BUILD_INFO").read_text()


def test_the_sources_give_the_same_bytes(quillwood: GameProfile, tmp_path: Path) -> None:
    built_with = re.search(r"compiler: SDCC (.+)", (quillwood.folder / "BUILD_INFO").read_text())
    assert built_with is not None
    if installed_compiler() != built_with.group(1):
        pytest.skip(f"the image was built with SDCC {built_with.group(1)}, here is {installed_compiler()}")
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    copy = tmp_path / "quillwood"
    shutil.copytree(quillwood.folder, copy, ignore=shutil.ignore_patterns("build", "__pycache__"))
    (copy / "quillwood.gbc").unlink()
    subprocess.run(["make", f"PYTHON={sys.executable}"], cwd=copy, check=True, capture_output=True, timeout=240)
    for name in ("quillwood.gbc", "names.toml", "tables.toml", "game.toml", "BUILD_INFO"):
        assert (copy / name).read_bytes() == (quillwood.folder / name).read_bytes(), name
