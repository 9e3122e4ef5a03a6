"""File world.toml of a profile: patterns of scripts, and clear messages about errors in them."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from support.world_image import TestMap, WorldImage

from pkmn_pyboy.profile.loading import load_profile
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.profile.script_marks import ScriptMark, compile_pattern
from pkmn_pyboy.profile.story_blocks import Block
from pkmn_pyboy.state.event_flags import TEMPORARY_FLAGS
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
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


@pytest.mark.parametrize(
    ("pattern", "words"), [("0C zz", "zz"), ("{price}", "can keep class"), ("  ", "needs at least one byte")]
)
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
        ("[[changed]]\nmap = [1, 1]\nalways = [{ x = 3, y = 0, block = 1 }]\n", "changed.0.always.0.x"),
        ("[[changed]]\nmap = [1, 1]\nwith = [{ event = 2048, blocks = [] }]\n", "event 2048 is beyond the last one"),
        (
            "[[changed]]\nmap = [1, 1]\nalways = [{ x = 0, y = 0, block = 1 }]\n[[changed]]\nmap = [1, 1]\n",
            "changed.1: map 1.1 is listed twice",
        ),
        ("[[changed]]\nmap = [1, 1]\n", "changed.0: it changes nothing"),
        ("[[changed]]\nmap = [99, 9]\nalways = [{ x = 0, y = 0, block = 1 }]\n", "changed.0.map: there is no map 99.9"),
        (
            "[[changed]]\nmap = [1, 1]\nwith = [{ event = 9, blocks = [] }]\n",
            "changed.0.with.0: event 9 changes nothing",
        ),
        (
            "[[changed]]\nmap = [1, 1]\nalways = [{ x = 0, y = 0, block = 1 }, { x = 0, y = 0, block = 2 }]\n",
            "changed.0.always: the block at (0,0) is listed twice",
        ),
        (
            "[[changed]]\nmap = [1, 1]\n"
            "with = [{ event = 9, blocks = [{ x = 2, y = 0, block = 1 }, { x = 2, y = 0, block = 1 }] }]\n",
            "changed.0.with.0.blocks: the block at (2,0) is listed twice",
        ),
        (
            "[[changed]]\nmap = [1, 1]\nwith = [{ event = 9, blocks = [] }, { event = 9, blocks = [] }]\n",
            "event 9 is listed twice",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, world: str, where: str) -> None:
    with pytest.raises(EnvironmentSetupError) as caught:
        load_profile(profile_folder(tmp_path, world))
    assert "world.toml" in str(caught.value)
    assert where in str(caught.value)


# Blocks of the real game at some moments of its story: map, set events, blocks by their upper left tile.
STORY = [
    ((3, 48), (), {}),
    ((3, 48), (738,), {(6, 2): 30}),
    ((3, 14), (), {(6, 14): 2}),
    ((3, 14), (123,), {}),
    ((3, 13), (), {(6, 14): 9, (10, 8): 50}),
    ((3, 13), (123, 818), {}),
    ((3, 55), (), {(10, 8): 13}),
    ((3, 55), (773,), {(4, 10): 13}),
    ((3, 55), (74, 774), {(16, 4): 13, (10, 12): 13}),
    ((3, 26), (675,), {(4, 0): 46}),
    ((3, 26), (675, 809), {}),
    ((16, 7), (785, 786), {(4, 22): 52, (4, 0): 11}),
    ((16, 7), (777, 778), {}),
    ((5, 1), (1798, 1800), {(8, 2): 59, (8, 6): 59}),
]


@pytest.mark.parametrize(("number", "events", "blocks"), STORY)
def test_crystals_story_changes_the_blocks_of_its_maps(
    number: tuple[int, int], events: tuple[int, ...], blocks: dict[tuple[int, int], int], crystal: GameProfile
) -> None:
    assert crystal.world.changed[number[0] << 8 | number[1]].now(events) == blocks


def test_all_blocks_of_crystals_changed_maps_are_as_the_running_program_sets_them(crystal: GameProfile) -> None:
    """Compare with the file beside this test, which has all of them, so that any wrong number is found."""
    with Path(__file__).with_name("crystal_changed_blocks.toml").open("rb") as file:
        expected = tomllib.load(file)
    found = {
        f"{map_id >> 8}.{map_id & 255}": {"none": sorted_blocks(one.always)}
        | {str(event): sorted_blocks(blocks) for event, blocks in one.by_event.items()}
        for map_id, one in crystal.world.changed.items()
    }
    assert found == {key: {name: sorted(blocks) for name, blocks in value.items()} for key, value in expected.items()}


def sorted_blocks(blocks: tuple[Block, ...]) -> list[list[int]]:
    return sorted([block.x, block.y, block.number] for block in blocks)


def test_crystals_changed_maps_are_known_by_name(crystal: GameProfile) -> None:
    changed = crystal.world.changed
    assert len(changed) == 21
    assert changed.keys() <= crystal.names.maps.keys()
    events = set().union(*(one.events for one in changed.values()))
    assert len(events) == 33
    assert min(events) > TEMPORARY_FLAGS
    assert max(events) < crystal.memory["wEventFlags"].size * 8
    for one in changed.values():
        for event, blocks in one.by_event.items():
            assert set(one.now([event]).items()) == {((block.x, block.y), block.number) for block in blocks}, one.map_id
        assert set(one.now(()).items()) == {((block.x, block.y), block.number) for block in one.always}
    # the doors of the League's rooms, one pair a room, in the order of the rooms
    pairs = [sorted(changed[16 << 8 | room].events) for room in range(3, 8)]
    assert [event for pair in pairs for event in pair] == list(range(777, 787))


def test_maps_are_found_without_their_names(crystal: GameProfile) -> None:
    image = WorldImage()
    image.add(*(TestMap(group, number, ["...."] * 4) for group in (1, 2) for number in (1, 2, 3)))
    rom, profile = image.build(crystal)
    nameless = replace(profile, names=replace(profile.names, maps={}))
    world = CartridgeWorld(rom, nameless)
    assert list(world.map_ids()) == [0x101, 0x102, 0x103, *[one for one in world.map_ids() if one > 0x200]]
    assert world.name(0x102) == "map 1.2"
    assert list(CartridgeWorld(rom, profile).map_ids()) == [0x101, 0x102, 0x103, 0x201, 0x202, 0x203]
