"""Image with the layout of Pokemon Crystal, made here, for what the bundled game lacks."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from support.variants import long_after
from support.world_image import EAST, NORTH, SOUTH, WEST, Person, TestMap, WorldImage, word

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rules_gen2.records import Evolution, EvolutionKind, GrowthRate, Slot, TrainerMember
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.records import ENTER, MapPerson, Place, Role, WorldMap
from pkmn_pyboy.world.route_planner import RoutePlanner

DOWN, UP, LEFT, RIGHT = range(4)
OPEN = ["........"] * 8


def world_of(image: WorldImage, crystal: GameProfile) -> CartridgeWorld:
    rom, profile = image.build(crystal)
    return CartridgeWorld(rom, profile)


def here(world: CartridgeWorld, group: int, number: int) -> WorldMap:
    found = world.map(group << 8 | number)
    assert found is not None
    return found


def cartridge_of(image: WorldImage, crystal: GameProfile) -> Cartridge:
    image.add(TestMap(1, 1, OPEN), TestMap(1, 2, OPEN))
    rom, profile = image.build(crystal)
    return Cartridge(rom, profile)


# Maps ---------------------------------------------------------------------------------------------------------


def test_four_connections_with_offsets(crystal: GameProfile) -> None:
    image = WorldImage()
    image.add(
        TestMap(
            1,
            1,
            OPEN,
            joins={NORTH: (1, 2, 4, 5), SOUTH: (1, 3, -2, 0), WEST: (1, 4, 6, 11), EAST: (1, 5, -4, 0)},
        ),
        TestMap(1, 2, ["............"] * 6, joins={SOUTH: (1, 1, -4, 0)}),
        TestMap(1, 3, ["..gg.."] * 4, joins={NORTH: (1, 1, 2, 7)}),
        TestMap(1, 4, ["............"] * 14, joins={EAST: (1, 1, -6, 0)}),
        TestMap(1, 5, ["~~~~"] * 4, joins={WEST: (1, 1, 4, 7)}),
    )
    world = world_of(image, crystal)
    ways = {(way.x, way.y, way.press): way.arrival for way in world.exits(0x101)}
    assert ways[0, 0, UP] == Place(0x102, 4, 5)
    assert ways[7, 0, UP] == Place(0x102, 11, 5)
    assert ways[2, 7, DOWN] == Place(0x103, 0, 0)
    assert (0, 7, DOWN) not in ways, "the map in the south begins two tiles further to the right"
    assert ways[0, 3, LEFT] == Place(0x104, 11, 9)
    assert ways[7, 5, RIGHT] == Place(0x105, 0, 1)
    assert (7, 1, RIGHT) not in ways, "the map in the east begins four tiles further down"
    for there in (0x102, 0x103, 0x104, 0x105):
        for way in world.exits(there):
            assert way.arrival is not None
            assert ways[way.arrival.x, way.arrival.y, (1, 0, 3, 2)[way.press]] == Place(there, way.x, way.y)
    grid = here(world, 1, 1).grid
    assert [grid.tiles[grid.cell(x, 8)] for x in range(8)] == [0x07, 0x07, 0, 0, 0x18, 0x18, 0, 0]
    assert [grid.tiles[grid.cell(8, y)] for y in range(8)] == [7, 7, 7, 7, 0x29, 0x29, 0x29, 0x29]


def test_warps_that_lead_back_and_warps_that_lead_nowhere(crystal: GameProfile) -> None:
    image = WorldImage()
    image.add(
        TestMap(
            1,
            1,
            ["D.S.....", *OPEN[1:7], "...mO..."],
            warps=[(0, 0, 1, 1, 2), (2, 0, 255, 1, 2), (3, 7, 9, 1, 2), (4, 7, 1, 9, 9), (5, 5, 1, 1, 2)],
        ),
        TestMap(1, 2, ["....S...", *OPEN[1:]], warps=[(4, 0, 0, 1, 1)]),
    )
    world = world_of(image, crystal)
    warps = here(world, 1, 1).warps
    assert [warp.back for warp in warps] == [False, True, False, False, False]
    assert (warps[3].target_map, warps[0].target_map) == (0, 0x102)
    ways = {way.warp: way for way in world.exits(0x101)}
    assert set(ways) == {1, 2, 3, 4}, "the fifth lies on plain floor: one only arrives there"
    assert (ways[1].press, ways[1].arrival) == (ENTER, Place(0x102, 4, 0))
    assert (ways[2].back, ways[2].arrival) == (True, None)
    assert (ways[3].press, ways[3].arrival) == (DOWN, None), "there is no ninth warp on the other map"
    assert (ways[4].press, ways[4].arrival) == (ENTER, None)
    assert [way.back for way in world.exits(0x102)] == [True]


def people(crystal: GameProfile, *some: Person, rows: list[str] = OPEN) -> tuple[MapPerson, ...]:
    image = WorldImage()
    image.add(TestMap(1, 1, rows, people=some))
    return here(world_of(image, crystal), 1, 1).people


def test_people_and_what_their_scripts_tell(crystal: GameProfile) -> None:
    trainer = word(1213) + bytes([2, 3]) + word(0x5000) * 4
    found = people(
        crystal,
        Person(1, 2, script=b"\x0c\x00\x00"),
        Person(2, 2, script=b"\x47\x94\x00" + word(4) + b"\x49\x91"),
        Person(3, 2, kind=1, script=bytes([18, 1]), flag=1700),
        Person(4, 2, movement=8, kind=2, sight=5, script=trainer),
        Person(5, 2, movement=0x19),
        Person(6, 2, movement=0x18, flag=33),
        Person(7, 2, movement=2, radius=(2, 1), hours=(10, 18)),
        Person(1, 4, script=b"\x6b\x47\x31" + word(9) + bytes([0x5E, 1, 1, 0x5F, 0x60, 0x33]) + word(1213)),
    )
    assert [person.role for person in found] == [
        Role.HEALER, Role.CLERK, Role.ITEM, Role.TRAINER, Role.BOULDER, Role.ROCK, Role.PERSON, Role.TRAINER,
    ]  # fmt: skip
    assert [person.number for person in found] == list(range(1, 9))
    assert found[1].shop == 4
    assert (found[2].item, found[2].quantity, found[2].flag) == (18, 1, 1700)
    assert (found[3].trainer_class, found[3].trainer, found[3].beaten_flag) == (2, 3, 1213)
    assert (found[3].sight, found[3].facing) == (5, LEFT)
    assert (found[6].walks, found[6].radius, found[6].hours) == (True, (2, 1), (10, 18))
    assert (found[7].trainer_class, found[7].trainer, found[7].beaten_flag) == (1, 1, 1213)


def test_a_script_ends_where_the_next_one_begins(crystal: GameProfile) -> None:
    found = people(crystal, Person(1, 2, script=b"\x6b\x91"), Person(2, 2, script=b"\x47\x94\x00\x01\x00\x49"))
    assert [person.role for person in found] == [Role.PERSON, Role.CLERK]


def test_bytes_that_look_like_a_pattern_are_not_taken_for_one(crystal: GameProfile) -> None:
    no_shop = Person(1, 2, script=b"\x47\x94\x00\xff\x7f")
    no_trainer = Person(2, 2, script=b"\x5e\xfe\x01\x5f")
    assert [person.role for person in people(crystal, no_shop, no_trainer)] == [Role.PERSON, Role.PERSON]


def test_signs_and_hidden_things(crystal: GameProfile) -> None:
    image = WorldImage()
    image.add(TestMap(1, 1, OPEN, signs=[(1, 2, 0, b"\x91"), (3, 4, 7, word(0x123) + b"\x25")], triggers=[(1, 5, 6)]))
    found = here(world_of(image, crystal), 1, 1)
    assert [(sign.x, sign.y, sign.item) for sign in found.signs] == [(1, 2, 0), (3, 4, 0x25)]
    assert found.signs[1].flag == 0x123
    assert [(one.x, one.y, one.scene) for one in found.triggers] == [(5, 6, 1)]


# Tables -------------------------------------------------------------------------------------------------------


def test_wild_tables_of_two_regions_by_time(crystal: GameProfile) -> None:
    def row(number: int, levels: tuple[int, int, int]) -> bytes:
        return bytes([1, number, 10, 20, 30]) + b"".join(bytes([level, 16 + n]) for level in levels for n in range(7))

    image = WorldImage()
    image.table("WildGrass", row(1, (2, 3, 4)) + bytes([9, 9]) + row(1, (5, 5, 5))[2:] + b"\xff")
    image.table("WildGrassKanto", row(2, (40, 41, 42)) + b"\xff")
    image.table("WildWater", bytes([1, 1, 15, 20, 60, 25, 61, 30, 62]) + b"\xff")
    cartridge = cartridge_of(image, crystal)
    assert len(cartridge.wild) == 3, "the map that is not there is left out"
    grass, water = sorted(cartridge.wild_on(0x101), key=lambda table: table.water)
    assert grass.rates == (10, 20, 30)
    assert [slots[0].level for slots in grass.slots] == [2, 3, 4]
    assert grass.at(2)[6] == Slot(1, 4, 22)
    assert (water.rates, water.at(1)) == ((15,), (Slot(60, 20, 60), Slot(30, 25, 61), Slot(10, 30, 62)))
    assert [table.slots[0][0].level for table in cartridge.wild_on(0x102)] == [40]


def test_trainers_of_all_four_kinds(crystal: GameProfile) -> None:
    name = bytes([0x80, 0x81, 0x50])
    plain = name + bytes([0, 7, 16, 9, 17, 0xFF])
    moves = name + bytes([1, 12, 21, 33, 45, 0, 0, 0xFF])
    item = name + bytes([2, 15, 60, 0xAD, 0xFF])
    both = name + bytes([3, 50, 130, 0xAE, 1, 2, 3, 4, 0xFF])
    image = WorldImage()
    image.pointers("Trainers", [plain + moves, b"", item + both])
    image.add(TestMap(1, 1, OPEN))
    rom, profile = image.build(crystal, trainer_classes={1: "LEADER", 2: "NOBODY", 3: "RIVAL"})
    trainers = Cartridge(rom, profile).trainers
    assert sorted(trainers) == [(1, 1), (1, 2), (3, 1), (3, 2)]
    assert trainers[1, 1].name == "AB"
    assert trainers[1, 1].party == (TrainerMember(7, 16), TrainerMember(9, 17))
    assert trainers[1, 2].party == (TrainerMember(12, 21, 0, (33, 45)),)
    assert trainers[3, 1].party == (TrainerMember(15, 60, 0xAD),)
    assert trainers[3, 2].party == (TrainerMember(50, 130, 0xAE, (1, 2, 3, 4)),)


def species_row(number: int, *, growth: int = 0, machines: int = 0) -> bytes:
    row = bytes([number, 45, 49, 50, 46, 65, 64, 22, 3, 45, 64, 0, 0]).ljust(22, b"\0")
    return row + bytes([growth, 0]) + machines.to_bytes(8, "little")


def test_species_with_all_five_evolutions_and_machines(crystal: GameProfile) -> None:
    image = WorldImage()
    image.table("BaseData", species_row(1, growth=3, machines=1 | 1 << 50) + species_row(2) + bytes(32))
    image.table("TMHMMoves", bytes([*range(101, 158), 240, 241, 242, 0, 99]))
    image.table("GrowthRates", bytes([0x11, 0, 0, 0, 0x34, 10, 0, 30, 0x34, 20, 0, 70, 0x65, 0x8F, 100, 140]))
    learns = bytes([1, 33, 7, 45, 0])
    image.pointers(
        "EvosAttacks",
        [
            bytes([1, 16, 2, 2, 22, 3, 3, 0xFF, 4, 4, 1, 5, 5, 20, 1, 6, 0]) + learns,
            bytes([0]) + learns,
        ],
    )
    cartridge = cartridge_of(image, crystal)
    first = cartridge.species[1]
    assert list(cartridge.species) == [1, 2]
    assert first.evolutions == (
        Evolution(EvolutionKind.LEVEL, 16, 2),
        Evolution(EvolutionKind.ITEM, 22, 3),
        Evolution(EvolutionKind.TRADE, 0xFF, 4),
        Evolution(EvolutionKind.HAPPINESS, 1, 5),
        Evolution(EvolutionKind.STAT, 20, 6, 1),
    )
    assert first.learns == ((1, 33), (7, 45)) == cartridge.species[2].learns
    assert len(cartridge.machines) == 60
    assert {cartridge.machines[slot] for slot in first.machines if slot < 60} == {101, 151}
    assert cartridge.species[2].machines == frozenset()
    assert cartridge.growth_rates[3] == GrowthRate(6, 5, -15, 100, 140)
    assert cartridge.growth_rates[3].experience(100) == 1_059_860
    assert cartridge.growth_rates[0].experience(100) == 1_000_000


def test_moves_shops_items_and_types(crystal: GameProfile) -> None:
    image = WorldImage()
    image.table("Moves", bytes([1, 0, 40, 0, 255, 35, 0, 2, 4, 50, 1, 229, 25, 76, 9, 9, 9, 9, 9, 9, 9]))
    image.table(
        "ItemAttributes",
        b"".join(
            word(price) + bytes([0, 0, 0x40, pocket, 0]) for price, pocket in ((0, 3), (300, 1), (3000, 4), (0, 4))
        ),
    )
    image.table("TMHMMoves", bytes([77, 78]) + bytes(62))
    image.pointers("Marts", [bytes([2, 1, 2, 0xFF]), bytes([1, 3, 0xFF])])
    image.table("TypeMatchups", bytes([21, 20, 20, 0xFE, 0, 8, 0, 0xFF]))
    cartridge = cartridge_of(image, crystal)
    assert [(move.power, move.accuracy, move.pp, move.effect_chance) for move in cartridge.moves.values()] == [
        (40, 255, 35, 0),
        (50, 229, 25, 76),
    ]
    assert [(item.price, item.pocket) for item in cartridge.items.values()] == [(0, 3), (300, 1), (3000, 4), (0, 4)]
    assert cartridge.shops == ((1, 2), (3,))
    assert cartridge.type_factors == {(21, 20): 2.0, (0, 8): 0.0}
    assert cartridge_of(WorldImage(), crystal).type_factors == {}


# Invalid data --------------------------------------------------------------------------------------------------


def test_a_map_that_makes_no_sense_is_left_out_with_the_reason(crystal: GameProfile) -> None:
    image = WorldImage()
    image.add(TestMap(1, 1, OPEN, warps=[(1, 1, 1, 1, 2)]), TestMap(1, 2, OPEN), TestMap(1, 3, OPEN))
    rom, profile = image.build(crystal)
    headers = profile.memory.rom_tables["MapGroupPointers"].offset + 2
    damaged = bytearray(rom)
    damaged[headers + 9 + 3 : headers + 9 + 5] = b"\xff\xff"
    world = CartridgeWorld(bytes(damaged), profile)
    assert list(world.map_ids()) == [0x101, 0x103]
    assert "FFFF" in world.problems[0x102]
    assert world.map(0x102) is None
    assert not world.exits(0x102)


def test_an_image_without_the_tables_is_empty(crystal: GameProfile) -> None:
    for profile in (crystal, replace(crystal, memory=replace(crystal.memory, rom_tables={}))):
        cartridge = Cartridge(bytes(0x8000), profile)
        assert not cartridge.world.map_ids()
        assert not cartridge.species
        assert not cartridge.trainers
        assert not cartridge.shops
        assert not cartridge.wild
        assert cartridge.world.map(0x101) is None


@pytest.mark.parametrize("kind", long_after(1, ["cut off", "noise", "scrambled"]))
def test_any_image_is_read_without_a_fault(kind: str, quillwood: GameProfile, crystal: GameProfile) -> None:
    assert quillwood.bundled_rom is not None
    rom = quillwood.bundled_rom.read_bytes()
    generator = random.Random(kind)
    read = 0
    for turn in range(12):
        profile = quillwood
        if kind == "cut off":
            data = rom[: generator.randrange(len(rom))]
        elif kind == "noise":
            profile = (quillwood, crystal)[turn % 2]
            data = generator.randbytes(len(rom) * (1 + 7 * (turn % 2)))
        else:
            changed = bytearray(rom)
            for _ in range(4000):
                changed[generator.randrange(0x10000, len(changed))] = generator.randrange(256)
            data = bytes(changed)
        cartridge = Cartridge(data, profile)
        for map_id in cartridge.world.map_ids():
            cartridge.world.map(map_id)
            read += len(cartridge.world.exits(map_id))
        planner = RoutePlanner(cartridge.world)
        for map_id in cartridge.world.map_ids()[:6]:
            for way in cartridge.world.exits(map_id)[:2]:
                start = Place(map_id, way.x, way.y)
                goal = generator.choice(cartridge.world.map_ids())
                route = planner.route(start, goal, Abilities(), through_obstacles=True)
                assert route is None or route.goal.map_id == goal
        for name in (
            "species",
            "moves",
            "items",
            "trainers",
            "wild",
            "shops",
            "growth_rates",
            "type_factors",
        ):
            getattr(cartridge, name)
    assert read > 0 or kind == "noise"
