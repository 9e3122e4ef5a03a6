"""Agreement of the bundled game's image with its source: every map, exit, person, species, trainer and shop."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.profile.story_blocks import StoryBlocks
from pkmn_pyboy.rules_gen2.records import EvolutionKind
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.changed_world import ChangedWorld
from pkmn_pyboy.world.records import NO_FLAG, Place, Role, WorldMap
from pkmn_pyboy.world.route_planner import RoutePlanner

SIDES = {"south": 0, "north": 1, "west": 2, "east": 3}
NIGHT = 2
"""Index of the night in a wild table."""
FACING = {"down": 0, "up": 1, "left": 2, "right": 3}
Data = dict[str, Any]


@pytest.fixture(scope="module")
def cartridge(quillwood: GameProfile, rom_path: Path) -> Cartridge:
    return Cartridge(rom_path.read_bytes(), quillwood)


@pytest.fixture(scope="module")
def source(quillwood: GameProfile) -> Path:
    return quillwood.folder / "data"


@pytest.fixture(scope="module")
def maps(source: Path) -> dict[str, Data]:
    return {path.stem: tomllib.loads(path.read_text()) for path in sorted((source / "maps").glob("*.toml"))}


@pytest.fixture(scope="module")
def creatures(source: Path) -> Data:
    return tomllib.loads((source / "creatures.toml").read_text())


@pytest.fixture(scope="module")
def items(source: Path) -> Data:
    return tomllib.loads((source / "items.toml").read_text())


@pytest.fixture(scope="module")
def trainers(source: Path) -> list[Data]:
    found: list[Data] = tomllib.loads((source / "trainers.toml").read_text())["class"]
    return found


@pytest.fixture(scope="module")
def flags(source: Path) -> dict[str, int]:
    return tomllib.loads((source / "flags.toml").read_text())


def map_id(data: Data) -> int:
    return int(data["group"]) << 8 | int(data["number"])


def pairs(cartridge: Cartridge, maps: dict[str, Data]) -> Iterator[tuple[Data, WorldMap]]:
    for data in maps.values():
        here = cartridge.world.map(map_id(data))
        assert here is not None
        yield data, here


def test_every_map_is_found_and_no_other(cartridge: Cartridge, maps: dict[str, Data]) -> None:
    assert list(cartridge.world.map_ids()) == sorted(map(map_id, maps.values()))
    assert not cartridge.world.problems
    for data, here in pairs(cartridge, maps):
        rows = data["grid"].strip("\n").split("\n")
        assert (here.name, here.width, here.height) == (data["name"], len(rows[0]), len(rows))
        assert (here.kind, here.landmark) == (data["kind"], data["landmark"])


def collisions(source: Path, tileset: str) -> dict[str, int]:
    """Return the meaning for walking of the characters of a tileset's drawing."""
    found = re.findall(
        r"^(?:@ |=)(\S).*coll=([0-9A-Fa-f]{2})", (source.parent / f"gfx/{tileset}.txt").read_text(), re.M
    )
    return {character: int(value, 16) for character, value in found}


def test_the_ground_is_that_of_the_drawn_maps(cartridge: Cartridge, maps: dict[str, Data], source: Path) -> None:
    checked = 0
    for data, here in pairs(cartridge, maps):
        known = collisions(source, data["tileset"])
        for y, row in enumerate(data["grid"].strip("\n").split("\n")):
            for x, character in enumerate(row):
                if character in known:
                    assert here.grid.tiles[here.grid.cell(x, y)] == known[character], (here.name, x, y)
                    checked += 1
    assert checked > 5000


def test_beyond_an_edge_lies_the_map_next_to_it(cartridge: Cartridge, maps: dict[str, Data]) -> None:
    glade, trail = (cartridge.world.map(map_id(maps[name])) for name in ("quill_glade", "fern_trail"))
    assert glade is not None and trail is not None
    above = [trail.grid.tiles[trail.grid.cell(x, -1)] for x in range(glade.width)]
    assert above == [glade.grid.tiles[glade.grid.cell(x, glade.height - 1)] for x in range(glade.width)]


def test_every_warp_and_connection_is_there(cartridge: Cartridge, maps: dict[str, Data]) -> None:
    for data, here in pairs(cartridge, maps):
        assert [(warp.x, warp.y, warp.target_map, warp.target_warp, warp.back) for warp in here.warps] == [
            (warp["x"], warp["y"], map_id(maps[warp["to"]]), warp["warp"], False) for warp in data.get("warps", [])
        ]
        assert {(joined.direction, joined.target_map, joined.shift) for joined in here.connections} == {
            (SIDES[side], map_id(maps[joined["map"]]), -2 * joined["offset"])
            for side, joined in data.get("connections", {}).items()
        }


def test_every_way_out_has_a_way_back(cartridge: Cartridge) -> None:
    """Check at some time of the story: an event may uncover stairs."""
    world, leads = ChangedWorld(cartridge.world), set()
    events = {event for one in cartridge.world.story_blocks.values() for event in one.events}
    for flags in ((), *([event] for event in sorted(events))):
        world.follow(flags)
        for here in world.map_ids():
            for way in world.exits(here):
                assert way.arrival is not None
                leads.add((here, way.arrival.map_id))
    assert {(there, here) for here, there in leads} == leads


def test_what_the_maps_scripts_change_is_told_with_its_flag(
    cartridge: Cartridge, quillwood: GameProfile, maps: dict[str, Data], flags: dict[str, int], source: Path
) -> None:
    for data in maps.values():
        number, known = map_id(data), collisions(source, data["tileset"])
        story = quillwood.world.changed.get(number, StoryBlocks(number))
        told = {(event, block.x, block.y) for event, blocks in story.by_event.items() for block in blocks}
        assert told == {(flags[one["flag"]], one["x"], one["y"]) for one in data.get("changed", [])}, data["name"]
        assert not story.always
        for one in data.get("changed", []):
            here = cartridge.world.with_blocks(number, story.now([flags[one["flag"]]]))
            assert here is not None
            for place, character in enumerate(one["block"]):
                if character in known:
                    tile = here.grid.tiles[here.grid.cell(one["x"] + place % 2, one["y"] + place // 2)]
                    assert tile == known[character], (data["name"], one)


def test_every_person_sign_and_trigger_is_there(
    cartridge: Cartridge, maps: dict[str, Data], flags: dict[str, int]
) -> None:
    for data, here in pairs(cartridge, maps):
        assert [(sign.x, sign.y) for sign in here.signs] == [(sign["x"], sign["y"]) for sign in data.get("signs", [])]
        assert [(one.x, one.y) for one in here.triggers] == [(one["x"], one["y"]) for one in data.get("triggers", [])]
        people = data.get("people", [])
        assert len(people) == len(here.people)
        for person, written in zip(here.people, people, strict=True):
            assert (person.x, person.y, person.sight) == (written["x"], written["y"], written.get("sight", 0))
            assert person.walks is (written["movement"] == "wander")
            assert person.facing == FACING.get(written["movement"], -1)
            assert person.radius == tuple(written.get("radius", (0, 0)))
            assert person.flag == (flags[written["hidden"]] if "hidden" in written else NO_FLAG)


def script_of(data: Data, person: Data) -> list[str]:
    return [line.strip() for line in data["scripts"][person["script"]].strip().split("\n")]


def role_of(data: Data, person: Data) -> Role:
    lines = script_of(data, person)
    if person["movement"] == "boulder":
        return Role.BOULDER
    if lines[0].startswith("spawn") and "mend" in lines:
        return Role.HEALER
    if lines[0].startswith("shop"):
        return Role.CLERK
    if lines[0].startswith("giveitem") and any(line.startswith("hide") for line in lines):
        return Role.ITEM
    return Role.TRAINER if any(line.startswith("battle") for line in lines) else Role.PERSON


def test_scripts_tell_healers_clerks_trainers_and_things(
    cartridge: Cartridge, maps: dict[str, Data], items: Data, trainers: list[Data], flags: dict[str, int]
) -> None:
    names = [item["name"].replace(" ", "_") for item in items["item"]]
    classes = [one["name"] for one in trainers]
    shops = list(items["shops"])
    seen: dict[Role, int] = {}
    for data, here in pairs(cartridge, maps):
        for person, written in zip(here.people, data.get("people", []), strict=True):
            lines = script_of(data, written)
            assert person.role is role_of(data, written), (here.name, written["name"])
            seen[person.role] = seen.get(person.role, 0) + 1
            if person.role is Role.TRAINER:
                battle = next(line for line in lines if line.startswith("battle")).split()
                won = next(line for line in lines if line.startswith("setflag")).split()[1]
                assert (person.trainer_class, person.trainer) == (classes.index(battle[1]) + 1, int(battle[2]))
                assert person.beaten_flag == flags[won]
            if person.role is Role.ITEM:
                _, item, count = lines[0].split()
                assert (person.item, person.quantity) == (names.index(item) + 1, int(count))
            if person.role is Role.CLERK:
                assert person.shop == shops.index(lines[0].split()[1])
    assert all(seen.get(role, 0) >= 1 for role in Role if role is not Role.ROCK)


def test_every_wild_table_is_there(cartridge: Cartridge, maps: dict[str, Data], creatures: Data) -> None:
    names = [one["name"] for one in creatures["species"]]
    expected = 0
    for data in maps.values():
        tables = {table.water: table for table in cartridge.wild_on(map_id(data))}
        for key, water, chances in (("wild", False, [30, 30, 20, 10, 5, 4, 1]), ("wild_water", True, [60, 30, 10])):
            if key not in data:
                assert water not in tables
                continue
            expected += 1
            rate = data[key]["rate"]
            assert list(tables[water].rates) == (rate if isinstance(rate, list) else [rate])
            for time, slots in enumerate(tables[water].slots):
                assert [slot.chance for slot in slots] == chances
                there = data[key].get("night", data[key]["slots"]) if time == NIGHT else data[key]["slots"]
                assert [[slot.level, names[slot.species - 1]] for slot in slots] == there
    assert len(cartridge.wild) == expected > 5


def test_every_species_is_there(cartridge: Cartridge, creatures: Data) -> None:
    moves = [one[0] for one in creatures["moves"]]
    species = [one["name"] for one in creatures["species"]]
    types = {name: number for number, name in creatures["types"]}
    assert len(cartridge.species) == len(species)
    for number, written in enumerate(creatures["species"], 1):
        found = cartridge.species[number]
        assert found.name == written["name"]
        stats = [found.hp, found.attack, found.defense, found.speed, found.special_attack, found.special_defense]
        assert stats == written["stats"]
        assert list(found.types) == [types[name] for name in written["types"]]
        assert (found.catch_rate, found.base_experience) == (written["catch"], written["exp"])
        assert found.growth == {"medium": 0, "fast": 4, "slow": 5}[written.get("growth", "medium")]
        assert [[level, moves[move - 1]] for level, move in found.learns] == written["moves"]
        becomes = [[one.parameter, species[one.species - 1]] for one in found.evolutions]
        assert becomes == ([written["evolves"]] if "evolves" in written else [])
        assert all(one.kind is EvolutionKind.LEVEL for one in found.evolutions)
        assert {moves[cartridge.machines[slot] - 1] for slot in found.machines} == set(written.get("lessons", []))


def test_every_move_thing_and_shop_is_there(cartridge: Cartridge, creatures: Data, items: Data) -> None:
    types = {name: number for number, name in creatures["types"]}
    moves = [one[0] for one in creatures["moves"]]
    assert len(cartridge.moves) == len(moves)
    for number, (name, effect, power, kind, accuracy, pp, chance) in enumerate(creatures["moves"], 1):
        move = cartridge.moves[number]
        assert (move.name, move.effect, move.power, move.type, move.pp) == (name, effect, power, types[kind], pp)
        assert (move.accuracy, move.effect_chance) == (accuracy * 255 // 100, chance * 255 // 100)
    pockets = {"items": 1, "key": 2, "balls": 3, "lessons": 4}
    assert [(one.name, one.price, one.pocket) for one in cartridge.items.values()] == [
        (one["name"], one["price"], pockets[one["pocket"]]) for one in items["item"]
    ]
    names = [one["name"] for one in items["item"]]
    assert [[names[item - 1] for item in shop] for shop in cartridge.shops] == list(items["shops"].values())
    taught = [moves[move - 1] for move in cartridge.machines if move]
    assert taught == [one["teaches"] for one in items["item"] if "teaches" in one]


def test_every_trainer_type_and_healer_is_there(cartridge: Cartridge, creatures: Data, trainers: list[Data]) -> None:
    species = [one["name"] for one in creatures["species"]]
    expected = {
        (place, number): (name, [(level, species.index(kind) + 1) for level, kind in party])
        for place, one in enumerate(trainers, 1)
        for number, (name, *party) in enumerate(one["trainers"], 1)
    }
    assert {
        key: (one.name, [(member.level, member.species) for member in one.party])
        for key, one in cartridge.trainers.items()
    } == expected
    types = {name: number for number, name in creatures["types"]}
    assert cartridge.type_factors == {
        (types[attacker], types[defender]): factor / 10 for attacker, defender, factor in creatures["chart"]
    }


def test_from_the_bed_to_the_last_house(cartridge: Cartridge, maps: dict[str, Data]) -> None:
    bed, house = Place(map_id(maps["home_2f"]), 3, 3), map_id(maps["summit_house"])
    planner = RoutePlanner(cartridge.world)
    able = planner.route(bed, house, Abilities.everything())
    assert able is not None
    assert not able.blocked_by
    assert {"cut", "surf"} <= {one.kind for one in able.obstacles}
    assert able.legs[0].map_id == bed.map_id
    assert able.goal.map_id == house
    assert planner.route(bed, house, Abilities()) is None
    missing = planner.blocked_by(bed, house, Abilities())
    assert missing is not None
    assert {"cut", "surf"} <= {one.kind for one in missing}


def test_a_gate_keeper_is_in_the_way_until_the_flag_is_set(
    cartridge: Cartridge, maps: dict[str, Data], flags: dict[str, int]
) -> None:
    keeper = next(
        (data, person)
        for data in maps.values()
        for person in data.get("people", [])
        if person.get("hidden") == "GATE_OPEN"
    )
    cave = map_id(keeper[0])
    planner = RoutePlanner(cartridge.world)
    start, beyond = Place(cave, 13, 20), map_id(maps["highcairn"])
    assert planner.route(start, beyond, Abilities.of(flags=[])) is None
    missing = planner.blocked_by(start, beyond, Abilities.of(flags=[]))
    assert missing is not None
    assert [(one.kind, one.flag) for one in missing] == [("person", flags["GATE_OPEN"])]
    opened = planner.route(start, beyond, Abilities.of(flags=[flags["GATE_OPEN"]]))
    assert opened is not None
    assert not opened.obstacles


def test_the_nearest_of_a_kind(cartridge: Cartridge, maps: dict[str, Data]) -> None:
    planner = RoutePlanner(cartridge.world)
    town = Place(map_id(maps["alderbrook"]), 5, 8)
    healer = planner.nearest(town, "healer", Abilities())
    assert healer is not None
    assert (healer.goal, healer.legs[-1].press) == (Place(map_id(maps["rest_house"]), 3, 3), FACING["up"])
    grass = planner.nearest(town, "grass", Abilities())
    assert grass is not None
    assert grass.goal.map_id == map_id(maps["fern_trail"])
    shop = planner.nearest(town, "shop", Abilities())
    assert shop is not None
    assert shop.goal.map_id == map_id(maps["rest_house"])
    unseen = planner.nearest(town, "unseen", Abilities(), visited=[map_id(maps["home_1f"])])
    assert unseen is not None
    assert (unseen.legs[-1].map_id, unseen.legs[-1].leads_to) == (town.map_id, None)
    assert unseen.goal != Place(town.map_id, 4, 4)  # the door of the house that was visited
    with pytest.raises(ValueError, match="healer"):
        planner.nearest(town, "barber", Abilities())
