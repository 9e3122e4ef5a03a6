"""Check of a story by `pkmn world --check`: routes by the flags of the moment, sides, hours, learners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.world_image import Person, TestMap, WorldImage

from pkmn_pyboy.profile.milestones import (
    Evidence,
    Foe,
    LockedRooms,
    Milestone,
    Requirements,
    Target,
    TargetCase,
    field_at,
)
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.profile.story_blocks import Block, StoryBlocks
from pkmn_pyboy.rules_gen2.records import Evolution, EvolutionKind, Slot, WildTable
from pkmn_pyboy.story.image_checks import check_blocks, check_supplies
from pkmn_pyboy.story.learner_checks import Learners
from pkmn_pyboy.story.order import events_of, proving_events, story_with_moves
from pkmn_pyboy.story.road_checks import StoryCheck, check_story
from pkmn_pyboy.world.cartridge import Cartridge

HERE, CELLAR, TOWER = 257, 258, 259
OPENED, LATER, LAST = 771, 900, 901
NIGHT = 2
BYTE = field_at(0xD964)


def goal(crystal: GameProfile, key: str, event: int, target: Target | None, **more: Any) -> Milestone:
    evidence = (Evidence.build(crystal.memory, "event", index=event),)
    return Milestone(key, key.title(), evidence, target=target, **more)


def check(
    image: WorldImage, crystal: GameProfile, goals: Sequence[Milestone], errands: Sequence[Milestone] = (), **more: Any
) -> StoryCheck:
    rom, profile = image.build(crystal)
    more = {"world": replace(crystal.world, changed={}), **more}
    profile = replace(
        profile, milestones=tuple(goals), errands={one.key: one for one in errands}, locked_rooms=(), **more
    )
    return check_story(profile, Cartridge(rom, profile))


def problems(found: StoryCheck) -> list[str]:
    return [str(one) for one in found.problems]


def room_with_stairs(crystal: GameProfile, event: int) -> tuple[WorldImage, dict[str, Any]]:
    image = WorldImage()
    blocks = StoryBlocks(HERE, (), {event: (Block(4, 0, image.block("..S.")),)})
    image.add(
        TestMap(1, 1, ["......", "......"], warps=[(4, 1, 1, 1, 2)]),
        TestMap(1, 2, ["....", ".S.."], warps=[(1, 1, 1, 1, 1)]),
    )
    return image, {"world": replace(crystal.world, changed={HERE: blocks})}


def test_stairs_are_there_once_the_goal_is_reached_that_uncovers_them(crystal: GameProfile) -> None:
    image, world = room_with_stairs(crystal, OPENED)
    begin = goal(crystal, "begin", LATER, Target(HERE, 0, 0))
    opened = goal(crystal, "opened", OPENED, Target(HERE, 2, 0))
    below = goal(crystal, "below", LAST, Target(CELLAR, 3, 0))
    found = check(image, crystal, (begin, opened, below), **world)
    assert problems(found) == []
    assert (found.roads[2].steps, found.roads[2].maps) == (7, (HERE, CELLAR))

    image, world = room_with_stairs(crystal, OPENED)
    found = check(image, crystal, (begin, below, opened), **world)
    assert problems(found) == ["below: there is no route from Map 1.1 (0,0)"]


def test_an_event_that_no_goal_tells_of_is_taken_to_be_set_where_the_way_needs_it(crystal: GameProfile) -> None:
    image, world = room_with_stairs(crystal, OPENED)
    begin, below = goal(crystal, "begin", LATER, Target(HERE, 0, 0)), goal(crystal, "below", LAST, Target(CELLAR))
    found = check(image, crystal, (begin, below), **world)
    assert problems(found) == []
    assert found.roads[1].notes == ("assumed set: 771",)


def test_a_lever_that_no_goal_tells_of_is_pulled_and_pushed_again(crystal: GameProfile) -> None:
    wall = WorldImage().block(".#.#")
    levers = StoryBlocks(HERE, (Block(2, 0, wall),), {OPENED: (Block(6, 0, wall),)})
    begin = goal(crystal, "begin", LATER, Target(HERE, 0, 0))
    west = goal(crystal, "west", LAST, Target(HERE, 5, 0))
    east = goal(crystal, "east", 902, Target(HERE, 11, 0))
    world = {"world": replace(crystal.world, changed={HERE: levers})}
    found = check(levers_image(), crystal, (begin, west), **world)
    assert found.roads[1].notes == ("assumed set: 771",)
    # neither set nor cleared it allows the way east from the start, but one after the other does
    assert len(problems(check(levers_image(), crystal, (begin, east), **world))) == 1
    found = check(levers_image(), crystal, (begin, west, east), **world)
    assert problems(found) == []
    assert found.roads[2].notes == ("assumed cleared: 771",)


def levers_image() -> WorldImage:
    image = WorldImage()
    image.block(".#.#")
    image.add(TestMap(1, 1, ["............", "............"]))
    return image


def corridor(person: Person) -> WorldImage:
    image = WorldImage()
    image.add(TestMap(1, 1, ["........", "########"], people=[person]))
    return image


def test_who_goes_with_a_later_goal_bars_the_way_until_then(crystal: GameProfile) -> None:
    begin = goal(crystal, "begin", LATER, Target(HERE, 0, 0))
    beyond = goal(crystal, "beyond", OPENED, Target(HERE, 7, 0))
    beaten = goal(crystal, "beaten", LAST, Target(HERE, person=1))
    guard = Person(4, 0, flag=LAST)
    found = check(corridor(guard), crystal, (begin, beyond, beaten))
    assert problems(found) == ["beyond: the route from Map 1.1 (0,0) is blocked by person at 1.1:4,0, gone with beaten"]
    assert problems(check(corridor(guard), crystal, (begin, beaten, beyond))) == []
    # the time of a flag that proves nothing is unknown
    assert problems(check(corridor(Person(4, 0, flag=850)), crystal, (begin, beyond, beaten))) == []
    gatekeeper = check(corridor(Person(4, 0, flag=OPENED)), crystal, (begin, beyond))
    assert problems(gatekeeper) == []
    assert gatekeeper.roads[1].notes == ("the person in the way is part of it",)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (Target(HERE, person=1, facing="right"), ""),
        (Target(HERE, person=1, facing="up"), "nobody can stand beside person 1 of Map 1.1, facing up"),
        (Target(HERE, person=2), "its target is not on Map 1.1"),
        (Target(HERE, 0, 1, facing="up"), "nobody can stand on (0,1) of Map 1.1 and face up"),
        (Target(HERE, 6, 0), "(6,0) of Map 1.1 is water, and its hidden item is taken from beside it"),
        (Target(HERE, 5, 0, facing="right"), ""),
        (Target(HERE, 2, 0), "(2,0) of Map 1.1 is stepped on, and its hidden item"),
        (Target(HERE, 40, 0), "its target is not on Map 1.1"),
        (
            Target(HERE, person=1, by=BYTE, cases=(TargetCase(2, facing="left"), TargetCase(3, facing="down"))),
            "nobody can stand beside person 1 of Map 1.1, facing down",
        ),
        (
            Target(HERE, 0, 0, choices=(TargetCase(x=1, y=0), TargetCase(x=1, y=1, facing="up"))),
            "nobody can stand on (1,1)",
        ),
    ],
)  # fmt: skip
def test_what_a_target_says_can_be_done_there(crystal: GameProfile, target: Target, message: str) -> None:
    image = WorldImage()
    hidden = b"\x64\x03\x05"
    image.add(
        TestMap(
            1,
            1,
            ["......~~", "########"],
            signs=[(6, 0, 7, hidden), (2, 0, 7, hidden)],
            people=[Person(4, 0, movement=6, flag=850)],
        )
    )
    begin = goal(crystal, "begin", LATER, Target(HERE, 0, 0))
    requires = Requirements(field_moves=("surf",))
    found = check(image, crystal, (begin, goal(crystal, "it", LAST, target, requires=requires)))
    assert len(found.problems) == bool(message)
    assert all(str(one).startswith(f"it: {message}") for one in found.problems)


def test_someone_who_comes_at_night_waits_for_an_errand_that_brings_the_night(crystal: GameProfile) -> None:
    owl = Person(4, 0, hours=(20, 3))
    begin = goal(crystal, "begin", LATER, Target(HERE, 0, 0))
    met = goal(crystal, "met", LAST, Target(HERE, person=1))
    assert problems(check(corridor(owl), crystal, (begin, met))) == [
        "met: person 1 of Map 1.1 is absent at the hours that the clock shows by then (10)"
    ]
    slept = goal(crystal, "slept", OPENED, Target(HERE, 2, 0), gives_hour=21)
    waits = replace(met, errands=("slept",))
    assert problems(check(corridor(owl), crystal, (begin, waits), (slept,))) == []
    # an errand without a goal serves any goal that needs its hour, once it can be reached
    assert problems(check(corridor(owl), crystal, (begin, met), (slept,))) == []
    later = replace(slept, needs=("met",))
    assert len(problems(check(corridor(owl), crystal, (begin, met), (later,)))) == 1
    walled = replace(slept, target=Target(HERE, 2, 1, facing="up"))
    assert len(problems(check(corridor(owl), crystal, (begin, met), (walled,)))) == 1


@pytest.mark.parametrize(
    ("target", "foes", "told"),
    [
        (Target(HERE, person=1), (), True),
        (Target(HERE, 3, 0, "right"), (), True),
        (Target(HERE, person=1), (Foe(2, 3),), False),
        (Target(HERE, person=1), (Foe(2, 1),), True),
        (Target(HERE, 3, 0, "left"), (), False),
        (Target(HERE, 3, 0), (), False),
        (Target(HERE, person=2), (), False),
    ],
)
def test_a_trainer_who_is_addressed_belongs_among_the_foes(
    crystal: GameProfile, target: Target, foes: tuple[Foe, ...], told: bool
) -> None:
    image = WorldImage()
    leader = Person(4, 0, kind=2, script=LAST.to_bytes(2, "little") + bytes([2, 3]) + bytes(8))
    image.add(TestMap(1, 1, ["........", "........"], people=[leader, Person(6, 0)]))
    begin = goal(crystal, "begin", LATER, Target(HERE, 0, 0))
    beaten = goal(crystal, "beaten", LAST, target, requires=Requirements(foes=foes))
    again = goal(crystal, "again", OPENED, target)
    rom, profile = image.build(crystal)
    profile = replace(profile, milestones=(begin, beaten, again), errands={}, locked_rooms=())
    found = check_story(profile, Cartridge(rom, profile))
    remark = (f"{profile.names.trainer_classes[2]} [2, 3] is fought, but is not among the foes",)
    assert found.roads[1].notes == (remark if told else ())
    # an earlier named foe is beaten by now
    assert found.roads[2].notes == (remark if told else ())


@pytest.mark.long
def test_every_trainer_of_quillwoods_story_is_among_its_foes(quillwood: GameProfile) -> None:
    assert quillwood.bundled_rom is not None
    cartridge = Cartridge(quillwood.bundled_rom.read_bytes(), quillwood)
    notes = [note for road in check_story(quillwood, cartridge).roads for note in road.notes]
    assert not [note for note in notes if "among the foes" in note]
    requires = {one.key: replace(one.requires, foes=()) for one in quillwood.milestones}
    silent = [replace(one, requires=requires[one.key]) for one in quillwood.milestones]
    profile = replace(quillwood, milestones=tuple(silent))
    told = [
        road.key for road in check_story(profile, cartridge).roads if any("among the foes" in one for one in road.notes)
    ]
    assert {"thorn_badge", "tide_badge", "cairn_badge"} <= set(told)


def test_rooms_that_lock_are_entered_by_their_door(crystal: GameProfile) -> None:
    image = WorldImage()
    image.add(
        TestMap(1, 1, ["S.S.....", "........"], warps=[(0, 0, 1, 1, 2), (2, 0, 2, 1, 3)]),
        TestMap(1, 2, ["S..S", "...."], warps=[(0, 0, 1, 1, 1), (3, 0, 1, 1, 3)]),
        TestMap(1, 3, ["S..S", "...."], warps=[(0, 0, 2, 1, 2), (3, 0, 2, 1, 1)]),
    )
    begin = goal(crystal, "begin", LATER, Target(HERE, 2, 1))
    inside = goal(crystal, "inside", LAST, Target(TOWER, 2, 1))
    rom, profile = image.build(crystal)
    profile = replace(profile, milestones=(begin, inside), errands={}, locked_rooms=())
    assert check_story(profile, Cartridge(rom, profile)).roads[1].maps == (HERE, TOWER)
    locked = replace(profile, locked_rooms=(LockedRooms(CELLAR, frozenset({TOWER})),))
    assert check_story(locked, Cartridge(rom, locked)).roads[1].maps == (HERE, CELLAR, TOWER)


def test_an_errand_may_use_what_its_goal_needs_but_for_what_it_brings_itself(crystal: GameProfile) -> None:
    item = crystal.field_moves["surf"].item
    begin = goal(crystal, "begin", LATER, Target(HERE, 0, 0))
    lesson = goal(crystal, "lesson", OPENED, Target(HERE, 1, 0), gives=(item,))
    errand = goal(crystal, "errand", 902, Target(HERE, 6, 0, facing="up"))
    needs = Requirements(field_moves=("surf",))
    far = goal(crystal, "far", LAST, Target(HERE, 7, 0), errands=("lesson", "errand"), requires=needs)
    image = WorldImage()
    image.add(TestMap(1, 1, ["..~~~~..", "########"]))
    found = check(image, crystal, (begin, far), (lesson, errand))
    assert problems(found) == []
    profile = replace(crystal, milestones=(begin, far), errands={"lesson": lesson, "errand": errand})
    assert [(one.key, sorted(moves)) for one, moves in story_with_moves(profile)] == [
        ("begin", []),
        ("lesson", []),
        ("errand", ["surf"]),
        ("far", ["surf"]),
    ]


def test_crystals_goals_are_told_by_events_of_the_game(crystal: GameProfile) -> None:
    goals = (*crystal.milestones, *crystal.errands.values())
    told = proving_events(goals, crystal.memory)
    assert len(told) > 60
    assert {738, 778} & told == set()  # unproved: the check assumes them set if a route needs them
    assert events_of(crystal.errands["office_door"], crystal.memory) == {771}


# Learners -----------------------------------------------------------------------------------------------------


def learner(machines: set[int], *becomes: int) -> SimpleNamespace:
    evolutions = tuple(Evolution(EvolutionKind.LEVEL, 20, species) for species in becomes)
    return SimpleNamespace(machines=machines, evolutions=evolutions)


def learners(crystal: GameProfile, wild: Sequence[WildTable] = (), **more: Any) -> Learners:
    """Start with species 1 and 2; 2 learns strength once it is 3; 9 in the wild learns waterfall; so does 8."""
    place = {name: move.machine for name, move in crystal.field_moves.items()}
    four = {place[name] for name in ("cut", "surf", "whirlpool")}
    species = {
        1: learner(four | {place["strength"], place["waterfall"]}),
        2: learner(four, 3),
        3: learner(four | {place["strength"]}),
        8: learner({place["waterfall"], place["surf"]}),
        9: learner({place["waterfall"]}),
    }
    begin = goal(crystal, "begin", LATER, Target(HERE), gives_species=(1, 2))
    profile = replace(
        crystal,
        milestones=(begin,),
        errands={},
        names=replace(crystal.names, species={number: f"S{number}" for number in species}),
    )
    cartridge = SimpleNamespace(
        species=species, wild=tuple(wild), world=SimpleNamespace(name=lambda number: f"M{number}")
    )
    found = Learners(profile, cast("Cartridge", cartridge))
    found.reached(begin)
    for caught in more.get("catch", ()):
        found.reached(replace(begin, gives_species=(), catch=(caught,)))
    return found


def needed(found: Learners, *moves: str, hours: Sequence[int] = (10,), reaches: bool = True) -> list[tuple[str, str]]:
    return [found.need(move, hours, lambda _: reaches, surfs="surf" in moves) for move in moves]


def table(species: int, time: int, *, water: bool = False) -> WildTable:
    rows = tuple((Slot(100, 5, species if each == time else 7),) for each in range(3))
    return WildTable(77, water, (10, 10, 10), rows)


STORY = ("cut", "surf", "strength", "whirlpool")


def test_partners_learn_field_moves_also_as_what_they_become(crystal: GameProfile) -> None:
    assert needed(learners(crystal), *STORY) == [(f"{move}: S1, S2", "") for move in STORY]


def test_a_fifth_field_move_needs_someone_else(crystal: GameProfile) -> None:
    # neither the species that never learns it, nor the one with four moves already
    problem = needed(learners(crystal), *STORY, "waterfall")[-1]
    assert problem == ("", "no Pokemon available by then learns waterfall with S1 or S2 as partner")
    assert needed(learners(crystal, catch=(8,)), *STORY, "waterfall")[-1] == ("waterfall: S1, S8", "")


def test_someone_in_the_wild_learns_it_at_hours_that_there_are(crystal: GameProfile) -> None:
    by_night = [table(9, NIGHT)]
    moves = (*STORY, "waterfall")
    words, problem = needed(learners(crystal, by_night), *moves)[-1]
    assert (words, problem.split("; ")[1]) == ("", "S9 could, but are met in the night, which the clock never shows")
    assert needed(learners(crystal, by_night), *moves, hours=(10, 21))[-1] == (
        "waterfall: S9, caught on M77 in the night",
        "",
    )
    problem = needed(learners(crystal, by_night), *moves, hours=(21,), reaches=False)[-1][1]
    assert problem.endswith("; S9 could, but there is no route to them")


def test_who_lives_on_the_water_is_met_with_surf_only(crystal: GameProfile) -> None:
    swims = [table(9, time, water=True) for time in range(3)]
    assert needed(learners(crystal, swims), "surf", "waterfall")[-1] == ("waterfall: S1, or S9, caught on M77", "")
    assert "no Pokemon" in needed(learners(crystal, swims), "waterfall")[-1][1]


@pytest.mark.long
def test_every_partner_of_quillwood_gets_through_its_story(quillwood: GameProfile) -> None:
    assert quillwood.bundled_rom is not None
    found = check_story(quillwood, Cartridge(quillwood.bundled_rom.read_bytes(), quillwood))
    assert problems(found) == []
    notes = " ".join(note for road in found.roads for note in road.notes)
    assert all(f"{move}: " in notes for move in ("cut", "surf", "strength"))
    alone = [replace(one, catch=()) for one in quillwood.milestones]
    nobody = replace(quillwood, milestones=tuple(alone))
    cartridge = Cartridge(nobody.bundled_rom.read_bytes(), nobody) if nobody.bundled_rom else None
    assert cartridge is not None
    cartridge.__dict__["wild"] = ()
    words = [str(one) for one in check_story(nobody, cartridge).problems]
    assert any("no Pokemon available by then learns surf" in one for one in words)


def test_supplies_that_no_shop_sells_are_told(quillwood: GameProfile) -> None:
    assert quillwood.bundled_rom is not None
    cartridge = Cartridge(quillwood.bundled_rom.read_bytes(), quillwood)
    sold = next(item for shop in cartridge.shops for item in shop)
    never = next(item for item in quillwood.names.items if all(item not in shop for shop in cartridge.shops))
    first, *others = quillwood.milestones
    profile = replace(quillwood, milestones=(replace(first, supplies=((sold, 2), (never, 1))), *others))
    assert [str(one) for one in check_supplies(profile, cartridge)] == [
        f"{first.key}: no shop of the image sells {quillwood.names.items[never]}"
    ]


def test_blocks_that_change_are_on_their_map_and_in_its_tileset(crystal: GameProfile, quillwood: GameProfile) -> None:
    image = WorldImage()
    image.add(TestMap(1, 1, ["......", "......"]))
    blocks = StoryBlocks(HERE, (Block(2, 0, 0),), {OPENED: (Block(6, 0, 0), Block(0, 2, 0))})
    elsewhere = StoryBlocks(TOWER, (), {OPENED: (Block(0, 0, 0),)})
    world = {"world": replace(crystal.world, changed={HERE: blocks, TOWER: elsewhere})}
    begin = goal(crystal, "begin", LATER, Target(HERE, 0, 0))
    assert problems(check(image, crystal, [begin], **world)) == [
        "changed 1.1: block 0 at (0,2) is not on Map 1.1, which has 6 x 2 tiles",
        "changed 1.1: block 0 at (6,0) is not on Map 1.1, which has 6 x 2 tiles",
        "changed 1.3: the image has no such map",
    ]
    assert quillwood.bundled_rom is not None
    rom = quillwood.bundled_rom.read_bytes()
    assert check_blocks(quillwood, Cartridge(rom, quillwood)) == []
    cave = 0x205
    wrong = {cave: StoryBlocks(cave, (), {OPENED: (Block(0, 0, 16), Block(2, 0, 17), Block(4, 0, 255))})}
    profile = replace(quillwood, world=replace(quillwood.world, changed=wrong))
    assert [str(one) for one in check_blocks(profile, Cartridge(rom, profile))] == [
        "changed 2.5: block 17 at (2,0): the tileset of Hollow Cave has 17 blocks at most",
        "changed 2.5: block 255 at (4,0): the tileset of Hollow Cave has 17 blocks at most",
    ]
