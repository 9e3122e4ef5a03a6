"""Damaged game profiles, images and saved states: each is read, or refused by an error that says so."""

from __future__ import annotations

import functools
import json
import shutil
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import tomlkit
from hypothesis import strategies as st
from support.fuzzing import changed, damaged, fuzzed

from pkmn_pyboy.emulation.rom import load_rom
from pkmn_pyboy.emulation.saved_state import MAGIC, read_saved_state, write_saved_state
from pkmn_pyboy.profile.loading import GAMES_FOLDER, load_profile
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.changed_world import ChangedWorld
from pkmn_pyboy.world_command.descriptions import Describer
from pkmn_pyboy.world_command.pages import list_page
from pkmncli.errors import EmulatorError, EnvironmentSetupError

QUILLWOOD = GAMES_FOLDER / "quillwood"


@st.composite
def profile_file(draw: st.DrawFn) -> tuple[str, str]:
    """The name of a file of a profile, and its text with something changed."""
    name = draw(st.sampled_from(["game.toml", "milestones.toml", "names.toml", "world.toml", "tables.toml"]))
    content = draw(changed(tomllib.loads((QUILLWOOD / name).read_text(encoding="utf-8"))))
    try:
        return name, tomlkit.dumps(content)
    except Exception:
        return name, "a = ["


@fuzzed(profile_file(), examples=12)
@pytest.mark.long
def test_game_profiles(file: tuple[str, str]) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder) / "game"
        shutil.copytree(QUILLWOOD, place, ignore=shutil.ignore_patterns("src", "data", "gfx", "tools", "pretrained"))
        try:
            (place / file[0]).write_text(file[1], encoding="utf-8")
        except UnicodeEncodeError:
            return
        try:
            load_profile(place)
        except EnvironmentSetupError as error:
            assert str(place) in str(error)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('[1, 3, "Home 2F",', '[1, "Home 2F", 3,', "maps.table.2: a row begins with 2 whole numbers"),
        ('[1, 3, "Home 2F",', "[1, 3, 7,", "a name is text"),
        ('[1, 3, "Home 2F",', '[1, -3, "Home 2F",', "from 0 to 65535"),
    ],
)
def test_profiles_that_fuzzing_found(before: str, after: str, said: str, tmp_path: Path) -> None:
    place = tmp_path / "game"
    shutil.copytree(QUILLWOOD, place, ignore=shutil.ignore_patterns("src", "data", "gfx", "tools", "pretrained"))
    text = (place / "names.toml").read_text(encoding="utf-8")
    assert before in text
    (place / "names.toml").write_text(text.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(EnvironmentSetupError, match=r"names\.toml") as caught:
        load_profile(place)
    assert said in str(caught.value)


@pytest.mark.parametrize("number", [None, "1", [], 1.5])
def test_a_saved_state_whose_header_has_no_length(number: Any) -> None:
    text = json.dumps({**header_of(STATE), "bytes": number}).encode()
    with pytest.raises(EmulatorError, match="is cut off or something was added"):
        read_saved_state(MAGIC + len(text).to_bytes(4, "little") + text + b"x", game="a", rom_sha1="b")


@functools.cache
def image() -> bytes:
    return (QUILLWOOD / "quillwood.gbc").read_bytes()


@fuzzed(damaged(image(), (0x100, 0x150)) | damaged(image()[:0x8000]) | st.binary(max_size=0x200), examples=30)
def test_image_headers(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.gbc"
        path.write_bytes(data)
        try:
            assert load_rom(path).data == data
        except EnvironmentSetupError as error:
            assert str(path) in str(error)


@functools.cache
def profile() -> Any:
    return load_profile(QUILLWOOD)


def around_tables() -> st.SearchStrategy[bytes]:
    """The image with bytes changed where its tables stand, or anywhere behind its first bank."""
    starts = [table.offset for table in profile().memory.rom_tables.values()]
    near = st.sampled_from(starts).flatmap(lambda start: damaged(image(), (start, min(start + 512, len(image()) - 1))))
    return near | damaged(image(), (0x4000, len(image()) - 1))


TABLES = (
    *("species", "moves", "items", "machines", "type_factors", "growth_rates"),
    *("trainers", "wild", "shops"),
)


@fuzzed(st.deferred(around_tables), examples=6)
def test_world_tables(data: bytes) -> None:
    """A table that makes no sense is empty; a map that makes none is left out."""
    cartridge = Cartridge(data, profile())
    for name in TABLES:
        getattr(cartridge, name)
    world = cartridge.world
    for map_id in world.map_ids():
        here = world.map(map_id)
        assert here is None or here.name
        world.exits(map_id)
    assert list_page(Describer(cartridge, profile().names, ChangedWorld(world)), "a", 80)


# Saved states --------------------------------------------------------------------------------------------------------

SESSION = {"step": 3, "facts": {"x": 1, "names": ["a", None]}, "milestones": {"start": 0}}
STATE = write_saved_state(bytes(range(256)) * 4, SESSION, game="a", rom_sha1="b")


@fuzzed(damaged(STATE) | st.binary(max_size=64).map(lambda data: MAGIC + data), examples=80)
def test_saved_states(data: bytes) -> None:
    try:
        state = read_saved_state(data, game="a", rom_sha1="b")
    except EmulatorError as error:
        assert str(error)
    else:
        assert state.emulator == bytes(range(256)) * 4 and isinstance(state.session, dict)


def header_of(data: bytes) -> dict[str, Any]:
    length = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 4], "little")
    found: dict[str, Any] = json.loads(data[len(MAGIC) + 4 : len(MAGIC) + 4 + length])
    return found


@fuzzed(changed(header_of(STATE)), examples=60)
@pytest.mark.long
def test_headers_of_saved_states(header: Any) -> None:
    try:
        text = json.dumps(header).encode()
    except ValueError:
        return
    data = MAGIC + len(text).to_bytes(4, "little") + text + bytes(range(256)) * 4
    try:
        state = read_saved_state(data, game="a", rom_sha1="b")
    except EmulatorError as error:
        assert str(error)
    else:
        assert isinstance(state.session, dict)
