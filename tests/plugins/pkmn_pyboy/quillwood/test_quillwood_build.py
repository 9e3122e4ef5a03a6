"""The image that is committed is what its sources give."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path

import pytest
from support.leg_player import begin, play_until

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.settings import EnvironmentSettings


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


@pytest.mark.long
def test_the_sources_give_the_same_game(quillwood: GameProfile, tmp_path: Path) -> None:
    """Byte for byte with the compiler that built the image; with another one it has to play the same story."""
    compiler = installed_compiler()
    if compiler is None or shutil.which("make") is None:
        pytest.skip("the game's compiler SDCC and make are needed to rebuild it, and are not installed")
    copy = tmp_path / "quillwood"
    shutil.copytree(quillwood.folder, copy, ignore=shutil.ignore_patterns("build", "__pycache__"))
    (copy / "quillwood.gbc").unlink()
    subprocess.run(["make", f"PYTHON={sys.executable}"], cwd=copy, check=True, capture_output=True, timeout=240)
    if f"compiler: SDCC {compiler}" in (quillwood.folder / "BUILD_INFO").read_text():
        for name in ("quillwood.gbc", "names.toml", "tables.toml", "game.toml", "BUILD_INFO"):
            assert (copy / name).read_bytes() == (quillwood.folder / name).read_bytes(), name
    player = begin(lambda **settings: PokemonEnvironment(EnvironmentSettings(game_folder=copy, **settings)))
    play_until(player, "starter")
    assert player.environment.state.party.count == 1
    player.environment.close()


def pixels(png: bytes) -> tuple[bytes, bytes, bytes]:
    """Size, palette and lines of a picture: how they are packed is the machine's affair."""
    parts: dict[bytes, bytes] = {}
    at = 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        parts[kind] = parts.get(kind, b"") + data
        at += length + 12
    return parts[b"IHDR"], parts[b"PLTE"], zlib.decompress(parts[b"IDAT"])


@pytest.mark.long
def test_the_guide_shows_the_maps_as_they_are(quillwood: GameProfile, tmp_path: Path) -> None:
    """`python tools/draw_maps.py ../../../../docs/pictures/quillwood_maps.png` in the game's folder draws them anew."""
    shown = Path(__file__).parents[4] / "docs" / "pictures" / "quillwood_maps.png"
    drawn = tmp_path / "maps.png"
    subprocess.run(
        [sys.executable, "tools/draw_maps.py", str(drawn)], cwd=quillwood.folder, check=True, capture_output=True
    )
    assert pixels(drawn.read_bytes()) == pixels(shown.read_bytes())
