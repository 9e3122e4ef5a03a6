"""Text map: seen tiles with usable coordinates, and a legend of the letters that occur."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmn_pyboy.state.reader import StateReader
from pkmn_pyboy.state.seen_tiles import SeenTiles
from pkmn_pyboy.words.text_map import TextMap
from pkmn_pyboy.world.loaded_map import LoadedMap
from pkmn_pyboy.world.records import MapPerson, Role
from pkmn_pyboy.world.tile_rules import WALL
from pkmncli.api import Action

from support.pyboy_fakes import IN_CONTROL, FakeMemory  # isort: skip
from support.variants import long_after

Make = Callable[..., PokemonEnvironment]

BEDROOM = """\
Home 2F, 8 x 6 tiles; x to the right, y down, from 0
y\\x   0  1  2  3  4  5  6  7
  0   #  #  #  #  #  #  #  D
  1   S  S  .  S  .  .  .  .
  2   .  .  .  .  .  .  .  .
  3   .  .  .  .  .  .  .  .
  4   #  .  .  .  .  .  .  .
  5   #  .  .  .  .  .  .  #"""


def tiles_of(text: str) -> dict[tuple[int, int], str]:
    """Return the letter at each tile, found by the coordinates along the edges."""
    lines = text.splitlines()
    columns = [int(x) for x in lines[1].split()[1:]]
    found = {}
    for line in lines[2:]:
        if not re.match(r" *\d+ ", line):
            break
        row, *letters = line.split()
        found |= {(x, int(row)): letter for x, letter in zip(columns, letters, strict=True)}
    return found


def played(make: Make, steps: int, **settings: int) -> PokemonEnvironment:
    environment = make(observation_type="state", **settings)
    environment.reset(seed=3)
    pilot = RulesPilot(environment)
    pilot.reset(3)
    for _ in range(steps):
        environment.advance(pilot.act(None).action)
    for _ in range(100):
        if environment.state.phase is Phase.FREE:
            break
        environment.advance(pilot.act(None).action)
    return environment


def test_the_bedroom(make: Make) -> None:
    environment = make(observation_type="state", seed_noops=(0, 0), seed_presses=0)
    environment.reset(seed=0)
    state = environment.state
    text = environment.text_map()
    tiles = tiles_of(text)
    assert tiles.pop((state.x, state.y)) == "@"
    expected = tiles_of(BEDROOM)
    del expected[state.x, state.y]
    assert tiles == expected
    assert text.splitlines()[0] == BEDROOM.splitlines()[0]
    assert f"@ you, facing {state.facing.name.lower()}; . free; # wall; D door or stairs; S sign" in text
    assert "Exits: D (7, 0) to Home 1F" in text
    for unused in ("water", "grass", "trainer", "not seen"):
        assert unused not in text


@pytest.mark.parametrize("steps", long_after(1, [40, 130, 195]))
def test_letters_say_what_the_tiles_are_and_the_legend_what_the_letters_are(make: Make, steps: int) -> None:
    environment = played(make, steps)
    text = environment.text_map()
    tiles = tiles_of(text)
    legend = next(line for line in text.splitlines() if line.startswith("@ you"))
    assert {entry.split()[0] for entry in legend.split("; ")} == set(tiles.values())
    reader = LoadedMap(environment.emulator, environment.profile)
    grid = reader.grid(environment.state.map_id)
    for (x, y), letter in tiles.items():
        value = grid.tiles[grid.cell(x, y)]
        if letter == ".":
            assert reader.rules.kind[value] != WALL
            assert value not in reader.rules.grass
        elif letter == "#":
            assert reader.rules.kind[value] == WALL
        elif letter == '"':
            assert value in reader.rules.grass


@pytest.mark.long
def test_a_route_has_grass_ledges_and_a_named_edge(make: Make) -> None:
    environment = played(make, 195)
    used: set[str] = set()
    edges: set[str] = set()
    pilot = RulesPilot(environment)
    pilot.reset(3)
    for _ in range(200):
        environment.advance(pilot.act(None).action)
        if environment.state.phase is Phase.FREE and environment.game.names.map_name(environment.state.map_id) in (
            "Fern Trail",
            "Quill Glade",
        ):
            text = environment.text_map()
            used |= set(tiles_of(text).values())
            edges |= set(re.findall(r"(\w+ edge), .*?, to ([\w ]+)", text))
    assert {'"', "v", "~", "?", "P"} <= used
    assert ("south edge", "Fern Trail") in edges
    assert ("north edge", "Quill Glade") in edges


def test_size_by_setting_and_the_player_always_inside(make: Make) -> None:
    environment = played(make, 110, text_map_columns=5, text_map_rows=3)
    tiles = tiles_of(environment.text_map())
    assert len(tiles) == 5 * 3
    assert tiles[environment.state.x, environment.state.y] == "@"


def test_what_was_seen_is_kept_for_the_episode_and_with_the_state(make: Make) -> None:
    environment = played(make, 130)
    saved = environment.save_state()
    map_id = environment.state.map_id
    known = environment.game.seen.on_map(map_id, 100, 100)
    assert known
    environment.reset(seed=4)
    assert not environment.game.seen.on_map(map_id, 100, 100)
    environment.load_state(saved)
    assert environment.game.seen.on_map(map_id, 100, 100) == known


def test_seen_is_what_the_screen_showed(crystal: GameProfile, memory: FakeMemory) -> None:
    seen, reader = SeenTiles(), StateReader(crystal)
    state = reader.read(memory.set(**IN_CONTROL).set(wXCoord=3, wYCoord=10))
    seen.note(state)
    tiles = seen.on_map(state.map_id, 20, 18)
    assert tiles == {(x, y) for x in range(9) for y in range(6, 15)}, "ten columns and nine rows, cut at the map's edge"
    assert not seen.on_map(state.map_id + 1, 20, 18)
    seen.note(state._replace(phase=Phase.MENU, x=15))
    assert seen.stood_on(state.map_id) == [(3, 10)], "what memory says under a menu was not on the screen"


def test_a_tile_named_by_the_map_can_be_walked_to(make: Make) -> None:
    """Find the exit at the door that the map shows."""
    environment = make(observation_type="state")
    environment.reset(seed=1)
    (x, y) = next(tile for tile, letter in tiles_of(environment.text_map()).items() if letter == "D")
    home = environment.state.map_id
    for _ in range(60):
        state: GameState = environment.state
        if state.map_id != home:
            break
        press = Action.RIGHT if state.x < x else Action.LEFT if state.x > x else Action.UP
        environment.step(int(press))
    assert environment.game.names.map_name(environment.state.map_id) == "Home 1F"
    assert y == 0


def test_no_map_where_the_player_cannot_see_one(make: Make) -> None:
    environment = played(make, 100)
    free = environment.state
    assert environment.text_map()
    environment.game.state = free._replace(phase=Phase.BATTLE)
    assert environment.text_map() == ""
    environment.game.state = free._replace(x=250)
    assert environment.text_map() == "", "between two maps"
    environment.game.state = free._replace(map_group=0, x=0, y=0)
    assert environment.text_map() == "", "no game is loaded"


def test_no_map_where_the_profile_is_silent(make: Make) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    fields = {name: one for name, one in environment.profile.memory.fields.items() if name != "wOverworldMapBlocks"}
    silent = replace(environment.profile, memory=replace(environment.profile.memory, fields=fields))
    drawn = TextMap(environment.emulator, silent, environment.game.names)
    assert drawn.draw(environment.state, environment.game.seen, 15, 11) == ""


def test_a_letter_for_each_kind_of_tile_and_person(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = make(observation_type="state", seed_noops=(0, 0), seed_presses=0)
    environment.reset(seed=0)
    named = environment.profile.collision.names
    kinds = {
        "cut_tree": "C", "whirlpool": "W", "waterfall": "F", "counter": "c", "ice": "i", "pit": "O", "water": "~",
        "tall_grass": '"', "long_grass": '"', "ledge_down": "v", "ledge_left": "<", "ledge_right": ">",
        "ledge_down_left": "v", "floor": ".", "wall": "#",
    }  # fmt: skip
    real = LoadedMap(environment.emulator, environment.profile).grid(environment.state.map_id)
    tiles, places = bytearray(real.tiles), {}
    free = [(x, y) for y in (2, 3) for x in range(8) if (x, y) != (environment.state.x, environment.state.y)]
    for (x, y), name in zip(free, kinds, strict=False):
        tiles[real.cell(x, y)] = named[name]
        places[x, y] = kinds[name]
    assert len(places) == len(kinds)
    people = [
        MapPerson(number, number + 1, 5, role) for number, role in enumerate((Role.PERSON, Role.ITEM, Role.TRAINER), 1)
    ]
    monkeypatch.setattr(LoadedMap, "grid", lambda self, map_id: replace(real, tiles=bytes(tiles)))
    monkeypatch.setattr(LoadedMap, "people", lambda self: people)
    text = environment.text_map()
    shown = tiles_of(text)
    assert {place: shown[place] for place in places} == places
    assert [shown[x, 5] for x in (2, 3, 4)] == ["P", "I", "T"]
    assert "People and things: P (2, 5), I (3, 5), T (4, 5)" in text
    for meaning in ("C tree that can be cut", "I item to take", "T trainer", "W whirlpool", "O hole"):
        assert meaning in text
