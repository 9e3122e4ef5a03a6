"""Profiles are data: a third party writes four files and no Python, and errors give file and key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.pyboy_fakes import FakeMemory, small_rom

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.loading import load_profile
from pkmn_pyboy.profile.memory_map import ReadPlan
from pkmn_pyboy.profile.milestones import Station, Target
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.loaded_map import NEEDED_FIELDS
from pkmncli.errors import EnvironmentSetupError

GAME = """
[game]
title = "Pebble Quest"
"""
MEMORY = """
[field.position]
wMapGroup = { at = 0xC100, bank = 0, size = 1, as = "u8" }
wMapNumber = { at = 0xC101, bank = 0, size = 1, as = "u8" }
wXCoord = { at = 0xC102, bank = 0, size = 1, as = "u8" }
wYCoord = { at = 0xC103, bank = 0, size = 1, as = "u8" }
pebbles = { at = 0xD000, bank = 1, size = 2, as = "u16be", meaning = "pebbles found" }
heaps = { at = 0xD010, bank = 1, size = 3, as = "u8[3]", meaning = "pebbles on each heap" }
"""
MILESTONES = """
[[milestone]]
key = "rich"
name = "Rich"
evidence_all = [{ kind = "at_least", field = "pebbles", value = 300 }]
"""


def write(folder: Path, game: str = GAME, memory: str = MEMORY, milestones: str = MILESTONES) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "game.toml").write_text(game)
    (folder / "memory.toml").write_text(memory)
    (folder / "milestones.toml").write_text(milestones)
    return folder


def test_a_third_partys_folder_is_enough_to_play(tmp_path: Path, make: Callable[..., PokemonEnvironment]) -> None:
    folder = write(tmp_path / "pebble")
    (folder / "pebble.gbc").write_bytes(small_rom(title=b"PEBBLE"))
    (folder / "game.toml").write_text(GAME + 'rom = "pebble.gbc"\n')
    environment = make(game_folder=folder)
    observation, _ = environment.reset(seed=1)
    assert environment.names["game"] == "Pebble Quest"
    assert environment.milestone_names == ("rich",)
    assert environment.observation_space.contains(observation)
    environment.emulator.memory[1, 0xD000] = 2
    environment.step(8)
    assert environment.milestone_steps() == [1]


def test_profile_builds_on_another_ones_memory(tmp_path: Path, crystal: GameProfile) -> None:
    folder = tmp_path / "pebble"
    write(folder, GAME + 'memory = "crystal"\n', "[field.own]\nwXCoord = { at = 0xD123, bank = 1 }\n", "")
    (folder / "names.toml").write_text('[maps]\ntable = [[1, 2, "Cave", "indoor", 5, 5]]\n')
    profile = load_profile(folder)
    assert profile.memory["wXCoord"].address == 0xD123
    assert profile.memory["wYCoord"] == crystal.memory["wYCoord"]
    assert profile.names.map_name(0x102) == "Cave"
    assert profile.names.map_name(0x103) == "map 1.3"
    assert profile.names.species[158] == crystal.names.species[158]
    assert profile.fine_fields == crystal.fine_fields


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("game.toml", "[game\n", "not valid TOML"),
        ("game.toml", "[game]\nkey = 'x'\n", "game.title: Field required"),
        ("game.toml", GAME + "colour = 3\n", "game.colour: Extra inputs"),
        ("game.toml", GAME + "[timing]\naction_frames = 0\n", "timing.action_frames"),
        ("game.toml", GAME + "[[rom]]\nsha1 = 'abc'\n", "rom.0.sha1"),
        ("game.toml", GAME + "[start]\nsteps = [{ press = 'jump' }]\n", "start.steps.0.press"),
        ("game.toml", GAME + "[hash]\nfine = ['pebble']\n", "hash.fine: pebble is not a field"),
        ("game.toml", GAME + "memory = 'krystal'\n", "game.memory: no profile 'krystal'"),
        ("memory.toml", "[field.position]\nwMapGroup = { at = 0xC100, bank = 0 }\n", "wMapNumber is missing"),
        ("memory.toml", MEMORY + "x = { at = 0x1C100, bank = 0 }\n", "field.position.x.at"),
        ("memory.toml", MEMORY + "x = { at = 0xDFF0, bank = 1, size = 32 }\n", "over the end of its bank"),
        ("memory.toml", MEMORY + "x = { at = 0xC000, bank = 9 }\n", "field.position.x.bank"),
        ("milestones.toml", MILESTONES + MILESTONES, "milestone.1.key: rich is listed twice"),
        ("milestones.toml", MILESTONES.replace("pebbles", "peble"), "did you mean pebbles"),
        ("milestones.toml", MILESTONES.replace("value", "bit"), "evidence_all.0: at_least needs"),
        ("milestones.toml", MILESTONES + 'needs = ["poor"]\n', "needs: poor is not a milestone before"),
        ("milestones.toml", MILESTONES + "order = 4\n", "is number 1"),
    ],
)
def test_mistakes_name_file_and_key(tmp_path: Path, file: str, text: str, says: str) -> None:
    folder = write(tmp_path / "pebble")
    (folder / file).write_text(text)
    with pytest.raises(EnvironmentSetupError, match=says) as caught:
        load_profile(folder)
    assert file in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_folder_and_files(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentSetupError, match="No game profile at"):
        load_profile(tmp_path / "none")
    with pytest.raises(EnvironmentSetupError, match=r"game\.toml is missing"):
        load_profile(tmp_path)
    (tmp_path / "game.toml").write_text(GAME)
    with pytest.raises(EnvironmentSetupError, match=r"no memory\.toml"):
        load_profile(tmp_path)


def test_crystal_is_whole(crystal: GameProfile) -> None:
    keys = [milestone.key for milestone in crystal.milestones]
    assert keys.index("hall_of_fame") == 57
    assert all(milestone.optional for milestone in crystal.milestones[58:])
    assert [milestone.key for milestone in crystal.milestones][5:7] == ["starter", "starter_done"]
    assert len(crystal.names.maps) == 388
    assert len(crystal.names.species) == 252
    assert len(crystal.roms) == 3
    assert all(milestone.hint for milestone in crystal.milestones)
    assert all(field.meaning for field in crystal.memory.fields.values())
    assert set(NEEDED_FIELDS) <= set(crystal.memory.fields)
    assert crystal.memory["wPartyMon6"].address == crystal.memory["wPartyMon1"].address + 5 * 48
    assert crystal.memory.rom_tables["MapGroupPointers"].offset == 0x94000
    assert crystal.collision.names["tall_grass"] not in crystal.collision.wall


def test_quillwood_shares_crystals_memory(quillwood: GameProfile, crystal: GameProfile) -> None:
    assert quillwood.memory.fields == crystal.memory.fields
    assert quillwood.memory.rom_tables["Moves"] != crystal.memory.rom_tables["Moves"]
    assert quillwood.bundled_rom is not None
    assert quillwood.bundled_rom.is_file()
    assert quillwood.milestones
    assert quillwood.names.johto_badges == ("Thorn", "Tide", "Cairn")


def test_fields_decode_by_their_encoding(crystal: GameProfile, memory: FakeMemory) -> None:
    read = crystal.memory.read
    memory.set(wMoney=b"\x00\x0b\xb8", wTilesetCollisionAddress=b"\x0e\x64", wPlayerID=b"\xca\xbb")
    memory.set(wItems=bytes((18, 2, 9, 1, 0xFF)) + bytes(36), wPartySpecies=bytes((158, 255, 0, 0, 0, 0)))
    assert read(memory, "wMoney") == 3000
    assert read(memory, "wTilesetCollisionAddress") == 0x640E
    assert read(memory, "wPlayerID") == 0xCABB
    assert read(memory, "wItems") == ((18, 2), (9, 1))
    assert read(memory, "wPartySpecies")[:2] == (158, 255)
    with pytest.raises(EnvironmentSetupError, match="did you mean wMoney"):
        read(memory, "wMoneys")


def test_plan_reads_neighbours_together(crystal: GameProfile, memory: FakeMemory) -> None:
    fields = crystal.memory.fields
    names = ("wMapGroup", "wMapNumber", "wXCoord", "wYCoord", "wMoney", "wTilemap")
    plan = ReadPlan([fields[name] for name in names], {"absent": 2}, {"absent": 7})
    data = plan.read(memory.set(wMapGroup=24, wYCoord=6, wMoney=b"\x01\x02\x03"))
    assert data[plan.offset["wMapGroup"]] == 24
    assert data[plan.offset["wYCoord"]] == 6
    assert data[plan.offset["wMoney"] :][:3] == b"\x01\x02\x03"
    assert data[plan.offset["absent"] :] == b"\x00\x07"
    assert len(data) == 4 + 3 + 360 + 2


def test_text_of_the_screen_and_of_names(crystal: GameProfile) -> None:
    charmap = crystal.charmap
    assert charmap.decode(bytes((0x82, 0xA8, 0xA3, 0x50, 0x80))) == "Cid"
    tiles = bytearray(360)
    tiles[14 * 20 + 1 : 14 * 20 + 4] = bytes((0x87, 0xA8, 0xE7))
    tiles[12 * 20] = 0x79
    assert charmap.screen_text(bytes(tiles)) == "Hi!"


FIELD_MOVE = """
[field_moves.cut]
move = 3
item = 4
machine = 50
badge = { field = "pebbles", bit = 1 }
tiles = [0x12]
in_use = { field = "pebbles", value = 512 }
"""


def test_field_moves_are_the_profiles_own_or_those_of_the_one_that_it_builds_on(
    tmp_path: Path, crystal: GameProfile, quillwood: GameProfile
) -> None:
    surf = crystal.field_moves["surf"]
    assert (surf.move, surf.item, surf.machine) == (57, 245, 52)
    assert surf.tiles <= crystal.collision.water
    assert crystal.field_moves["cut"].tiles <= crystal.collision.wall
    assert set(quillwood.field_moves) == {"cut", "surf", "strength"}
    folder = write(tmp_path / "pebble", GAME + 'memory = "crystal"\n', "", "")
    assert load_profile(folder).field_moves["surf"].move == 57
    own = load_profile(write(tmp_path / "own", GAME + FIELD_MOVE))
    cut, memory = own.field_moves["cut"], FakeMemory(own.memory)
    assert not cut.badge.holds(memory, -1)
    memory.set(pebbles=512)
    assert cut.badge.holds(memory, -1)
    assert cut.in_use is not None
    assert cut.in_use.holds(memory, -1)


def test_a_field_move_of_an_unknown_field_is_told_by_its_key(tmp_path: Path) -> None:
    folder = write(tmp_path / "pebble", GAME + FIELD_MOVE.replace('"pebbles", bit', '"shells", bit'))
    with pytest.raises(EnvironmentSetupError, match=r"field_moves\.cut\.badge: .*shells"):
        load_profile(folder)


RADIO = """
[radio]
entry = "SET"
card = { field = "pebbles", value = 3 }
knob = "wXCoord"
step = 2
most = 80
music = "wYCoord"
"""


def tuned(place: str, station: str) -> str:
    return f"{MILESTONES}target = {{ map = [1, 2], {place}, station = {station} }}\n"


def test_a_radio_is_the_profiles_own_or_that_of_the_one_that_it_builds_on(tmp_path: Path, crystal: GameProfile) -> None:
    radio = crystal.radio
    assert radio is not None
    assert (radio.entry, radio.knob.name, radio.music.name) == ("GEAR", "wRadioTuningKnob", "wMapMusic")
    folder = write(tmp_path / "pebble", GAME + 'memory = "crystal"\n', "", "")
    assert load_profile(folder).radio == radio
    milestones = tuned("person = 5", "{ knob = 78, music = 64 }")
    own = load_profile(write(tmp_path / "own", GAME + RADIO, milestones=milestones))
    assert own.radio is not None
    assert (own.radio.step, own.radio.most) == (2, 80)
    assert own.milestones[0].target == Target(0x102, person=5, station=Station(78, 64))
    assert load_profile(write(tmp_path / "none")).radio is None


def test_crystals_sleeper_wakes_to_a_station(crystal: GameProfile) -> None:
    stations = {
        milestone.key: milestone.target.station
        for milestone in (*crystal.milestones, *crystal.errands.values())
        if milestone.target is not None and milestone.target.station is not None
    }
    assert stations == {"snorlax": (78, 0x40)}


@pytest.mark.parametrize(
    ("radio", "says"),
    [
        (RADIO.replace('"SET"', '""'), "radio.entry"),
        (RADIO.replace("most = 80", "most = 256"), "radio.most"),
        (RADIO.replace("step = 2", "step = 0"), "radio.step"),
        (RADIO.replace('"wXCoord"', '"wXCord"'), "radio.knob: .*did you mean wXCoord"),
        (RADIO.replace('"wYCoord"', '"song"'), "radio.music: .*song"),
        (RADIO.replace('"wYCoord"', '"heaps"'), "radio.music: heaps is not one number"),
        (RADIO.replace('"pebbles", value', '"shells", value'), "radio.card: .*shells"),
        (RADIO.replace(", value = 3", ""), "radio.card: equals needs"),
        (RADIO + "loudness = 3\n", "radio.loudness: Extra inputs"),
    ],
)
def test_mistakes_of_a_radio_name_their_key(tmp_path: Path, radio: str, says: str) -> None:
    with pytest.raises(EnvironmentSetupError, match=rf"game\.toml: {says}"):
        load_profile(write(tmp_path / "pebble", GAME + radio))


@pytest.mark.parametrize(
    ("radio", "place", "station", "says"),
    [
        ("", "person = 5", "{ knob = 78, music = 64 }", r"station: rich: game\.toml has no \[radio\]"),
        (RADIO, "person = 5", "{ knob = 77, music = 64 }", "has no position 77; it has 0 to 80 in steps of 2"),
        (RADIO, "person = 5", "{ knob = 82, music = 64 }", "has no position 82"),
        (RADIO, "person = 5", "{ knob = -2, music = 64 }", "station.knob"),
        (RADIO, "person = 5", "{ knob = 78 }", "station.music: Field required"),
        (RADIO, "person = 5", "{ knob = 78, music = 64, name = 'flute' }", "station.name: Extra inputs"),
        (RADIO, "scene = 1", "{ knob = 78, music = 64 }", "a station is for a person, or for x, y and facing"),
        (RADIO, "x = 1, y = 2", "{ knob = 78, music = 64 }", "a station is for a person, or for x, y and facing"),
    ],
)
def test_mistakes_of_a_station_name_their_key(tmp_path: Path, radio: str, place: str, station: str, says: str) -> None:
    folder = write(tmp_path / "pebble", GAME + radio, milestones=tuned(place, station))
    with pytest.raises(EnvironmentSetupError, match=says) as caught:
        load_profile(folder)
    assert "milestones.toml: milestone.0.target.station" in str(caught.value)
