"""world.toml of a profile: patterns of scripts, and clear words about what is wrong with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from world_image import TestMap, WorldImage

from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.profile_loader import load_profile
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.script_marks import ScriptMark, compile_pattern
from pkmncli.errors import EnvironmentSetupError


@pytest.mark.parametrize(
    ("pattern", "script", "kept"),
    [
        ("0C 00 00", b"\x0c\x00\x00\x91", {}),
        ("0C 00 00", b"\x0c\x01\x00\x91", None),
        ("{item} {quantity}", b"\x12\x02", {"item": 0x12, "quantity": 2}),
        ("{flag.2} .. {class}", b"\x34\x12\xff\x07", {"flag": 0x1234, "class": 7}),
        ("* 94 .. {shop.2}", b"\x01\x02\x03\x94\x00\x05\x00", {"shop": 5}),
        ("* 94 {shop}", b"\x01" * 97 + b"\x94\x05", None),
        ("5E {class} {trainer}", b"\x5e\x0a", None),
    ],
)
def test_patterns(pattern: str, script: bytes, kept: dict[str, int] | None) -> None:
    assert ScriptMark("person", compile_pattern(pattern)).read(script) == kept


@pytest.mark.parametrize(("pattern", "words"), [("0C zz", "zz"), ("{price}", "keeps class"), ("  ", "needs a byte")])
def test_wrong_patterns(pattern: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        compile_pattern(pattern)


def profile_folder(folder: Path, world: str | None) -> Path:
    (folder / "game.toml").write_text('[game]\ntitle = "Mine"\nmemory = "crystal"\n')
    if world is not None:
        (folder / "world.toml").write_text(world)
    return folder


def test_a_profile_has_its_own_rules_or_those_that_it_builds_on(tmp_path: Path, crystal: GameProfile) -> None:
    assert load_profile(profile_folder(tmp_path, None)).world == crystal.world
    own = load_profile(profile_folder(tmp_path, '[people]\nwalks = [9]\nfacing = { 0x03 = "left" }\n')).world
    assert (own.walks, own.facing, own.marks) == (frozenset({9}), {3: 2}, ())


@pytest.mark.parametrize(
    ("world", "where"),
    [
        ('[[script]]\nrole = "healer"\nbegins = "0C xx"\n', "script.0.begins"),
        ('[[script]]\nrole = "cook"\nbegins = "0C"\n', "script.0.role"),
        ("[people]\nwalk = [2]\n", "people.walk"),
        ('[people]\nfacing = { 3 = "inwards" }\n', "people.facing.3"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, world: str, where: str) -> None:
    with pytest.raises(EnvironmentSetupError) as caught:
        load_profile(profile_folder(tmp_path, world))
    assert "world.toml" in str(caught.value)
    assert where in str(caught.value)


def test_maps_are_found_without_their_names(crystal: GameProfile) -> None:
    image = WorldImage()
    image.add(*(TestMap(group, number, ["...."] * 4) for group in (1, 2) for number in (1, 2, 3)))
    rom, profile = image.build(crystal)
    nameless = replace(profile, names=replace(profile.names, maps={}))
    world = CartridgeWorld(rom, nameless)
    assert list(world.map_ids()) == [0x101, 0x102, 0x103, *[one for one in world.map_ids() if one > 0x200]]
    assert world.name(0x102) == "map 1.2"
    assert list(CartridgeWorld(rom, profile).map_ids()) == [0x101, 0x102, 0x103, 0x201, 0x202, 0x203]
