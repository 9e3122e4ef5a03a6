"""Traps that lie in the bundled maps, on the running image: a goat to be driven, levers and doors, stairs below a slab,
a part of a cave that is reached from below only, and boulders that one push too many bars for good."""

from __future__ import annotations

import pytest
from support.placed_game import PlacedGame, Play, Saved

from pkmn_pyboy.state.game_state import Facing

ROAD, CAVE, CELLAR, PORCH, SUMMIT = (2, 4), (2, 5), (2, 7), (5, 6), (5, 5)
BUMP, SHOVE, RILLET = 1, 38, 3
GOAT = 8
FIRST, SECOND, THIRD, HOME = (9, 7), (3, 4), (5, 12), (15, 4)
PLACES = {0: FIRST, 1: SECOND, 2: THIRD, 3: HOME}
BESIDE = {Facing.RIGHT: (-1, 0), Facing.LEFT: (1, 0), Facing.DOWN: (0, -1), Facing.UP: (0, 1)}
WEST_DOOR, EAST_DOOR, KEY_DOOR = (6, 6), (12, 6), (14, 4)
LEVER_A, LEVER_B = ((9, 9), Facing.DOWN), ((3, 4), Facing.UP)
BRASS_KEY, GRATE, WAY_OUT = (16, 3), (10, 2), (8, 10)

Tile = tuple[int, int]


@pytest.fixture(scope="module")
def start(with_lessons: Saved) -> Saved:
    return with_lessons


def person(game: PlacedGame, number: int) -> Tile:
    """Column and row of someone of the map, as listed and as drawn."""
    row, column = game.field("wMapObjects")[16 * number + 2 :][:2]
    assert game.field("wObjectStructs")[40 * number + 16 :][:2] == bytes([column, row])
    return column - 4, row - 4


def is_set(game: PlacedGame, flag: int) -> bool:
    return bool(game.field("wEventFlags")[flag >> 3] >> (flag & 7) & 1)


def reached(game: PlacedGame, *starts: Tile) -> set[Tile]:
    """Tiles of the loaded map that are joined to these by floor."""
    width, height = (2 * game.field(f"wMap{name}")[0] for name in ("Width", "Height"))
    rock = {0x07, 0xFF}
    found, ahead = set(starts), list(starts)
    while ahead:
        x, y = ahead.pop()
        for one in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
            inside = 0 <= one[0] < width and 0 <= one[1] < height
            if inside and one not in found and game.tile(*one) not in rock:
                found.add(one)
                ahead.append(one)
    return found


# The goat --------------------------------------------------------------------------------------------------------


def come(play: Play, saved: Saved, facing: Facing) -> PlacedGame:
    """The goat is spoken to by who looks that way."""
    value = saved.ram[0xA009 - 0xA000 + saved.address("wFarfetchdPosition") - 0xD47B]
    place = PLACES[value]
    game = play(saved.at(ROAD, place[0] + BESIDE[facing][0], place[1] + BESIDE[facing][1], facing))
    assert person(game, GOAT) == place
    game.press("a")
    game.answer()
    assert person(game, GOAT) == PLACES[game.field("wFarfetchdPosition")[0]], "it stands where the byte says, at once"
    return game


@pytest.mark.parametrize(
    ("before", "facing", "after"),
    [
        *((0, facing, 1) for facing in Facing),
        (1, Facing.RIGHT, 2),
        (1, Facing.LEFT, 0),
        (1, Facing.UP, 0),
        (1, Facing.DOWN, 0),
        (2, Facing.UP, 3),
        (2, Facing.LEFT, 1),
        (2, Facing.RIGHT, 1),
        (2, Facing.DOWN, 1),
    ],
)
def test_the_goat_leaps_by_the_side_from_which_it_is_come_at(
    play: Play, start: Saved, flags: dict[str, int], before: int, facing: Facing, after: int
) -> None:
    game = come(play, start.with_fields(wFarfetchdPosition=before), facing)
    assert game.field("wFarfetchdPosition")[0] == after
    assert is_set(game, flags["STRAY_HOME"]) == (after == 3)


def test_who_always_takes_the_nearest_side_drives_the_goat_for_ever(play: Play, start: Saved) -> None:
    """From each place the way to the next one ends at its right or lower side first; the byte is saved each time."""
    saved, values = start, []
    for facing in (Facing.UP, Facing.LEFT, Facing.LEFT, Facing.UP, Facing.LEFT, Facing.UP):
        game = come(play, saved, facing)
        values.append(game.field("wFarfetchdPosition")[0])
        saved = game.saved()
        assert saved.ram != start.ram
    assert values == [1, 0, 1, 0, 1, 0]


def test_the_keeper_teaches_who_drove_the_goat_home(play: Play, start: Saved, flags: dict[str, int]) -> None:
    lesson = start.address("wTMsHMs") + 50
    saved = start.changed({lesson: b"\0"}).at(ROAD, 14, 5, Facing.UP)
    for home in (False, True):
        game = play(saved.with_flags(flags["STRAY_HOME"]) if home else saved)
        game.press("a")
        game.answer()
        assert game.emulator.read(1, lesson, 1)[0] == home
        assert is_set(game, flags["GOT_SHEAR"]) == home


# The cellar ------------------------------------------------------------------------------------------------------


def pull(play: Play, saved: Saved, lever: tuple[Tile, Facing]) -> Saved:
    """Pulls a lever in a game that goes on, and saves; what changed is the same for who comes in later."""
    game = play(saved.at(CELLAR, *lever[0], lever[1]))
    game.press("a")
    game.answer()
    seen = doors(game)
    kept = game.saved()
    again = play(kept)
    assert doors(again) == seen
    assert again.field("wUndergroundSwitchPositions") == game.field("wUndergroundSwitchPositions")
    return kept


def doors(game: PlacedGame) -> tuple[bool, bool, bool]:
    """Return True for each open door: to the west, to the east, to the key."""
    rock = game.tile(0, 0)
    return tuple(game.tile(*door) != rock for door in (WEST_DOOR, EAST_DOOR, KEY_DOOR))  # type: ignore[return-value]


@pytest.mark.long
def test_two_levers_move_three_doors(play: Play, start: Saved) -> None:
    game = play(start.at(CELLAR, *WAY_OUT))
    assert doors(game) == (False, False, True)
    saved, found = start.at(CELLAR, *WAY_OUT), []
    for lever in (LEVER_A, LEVER_B, LEVER_A, LEVER_B, LEVER_B, LEVER_A, LEVER_B, LEVER_A):
        saved = pull(play, saved, lever)
        game = play(saved)
        found.append((game.field("wUndergroundSwitchPositions")[0], doors(game)))
    none, first, second = (0, (False, False, True)), (1, (True, False, False)), (2, (False, True, True))
    both = (3, (True, True, False))
    assert found == [first, both, second, none, second, both, first, none]


@pytest.mark.long
def test_the_key_is_reached_in_one_order_of_the_levers_only_and_nobody_is_shut_in(play: Play, start: Saved) -> None:
    """Every state of the levers that the player can bring about, with where they can be then."""
    saved = {0: start.at(CELLAR, *WAY_OUT)}
    ways: dict[tuple[int, Tile], list[int]] = {(0, WAY_OUT): []}
    ahead, keys = [(0, WAY_OUT)], []
    while ahead:
        levers, place = ahead.pop(0)
        tiles = reached(play(saved[levers]), place)
        assert WAY_OUT in tiles, (levers, place)
        if BRASS_KEY in tiles:
            keys.append(ways[levers, place])
        for number, lever in enumerate((LEVER_A, LEVER_B), 1):
            after = levers ^ number
            if lever[0] not in tiles or (after, lever[0]) in ways:
                continue
            if after not in saved:
                saved[after] = pull(play, saved[levers], lever)
            ways[after, lever[0]] = [*ways[levers, place], number]
            ahead.append((after, lever[0]))
    assert min(keys, key=len) == [1, 2, 1]
    assert {levers for levers, _ in ways} == {0, 1, 2, 3}


def test_the_grate_takes_the_key_of_brass(play: Play, start: Saved, flags: dict[str, int]) -> None:
    without = play(start.at(CELLAR, *GRATE, Facing.UP))
    without.press("a")
    without.answer()
    without.press("up . up .")
    assert without.place[1:] == GRATE
    key = start.changed({start.address("wNumKeyItems"): bytes([1, 15, 0xFF])})
    game = play(key.at(CELLAR, *GRATE, Facing.UP))
    game.press("a")
    game.answer()
    assert is_set(game, flags["GRATE_OPEN"])
    assert game.field("wNumKeyItems") == b"\0"
    game.press("up . up . . . . .")
    assert game.place[0] == CAVE[0] * 256 + CAVE[1]


# The slab --------------------------------------------------------------------------------------------------------


def test_the_slab_uncovers_stairs_at_once_and_for_good(play: Play, start: Saved, flags: dict[str, int]) -> None:
    saved = start.at(CAVE, 12, 23, Facing.UP)
    game = play(saved)
    rock = game.tile(0, 0)
    assert game.tile(13, 21) == rock
    game.press("a")
    game.answer("b")
    assert is_set(game, flags["SLAB_LIFTED"])
    stairs = game.tile(13, 21)
    assert stairs != rock
    kept = game.saved()
    assert play(kept).tile(13, 21) == stairs
    below = play(kept.at(CAVE, 13, 22, Facing.UP))
    below.press("up . . . . .")
    assert below.place[0] == CELLAR[0] * 256 + CELLAR[1]
    below.press("up . down . . . . .")
    assert below.place[0] == CAVE[0] * 256 + CAVE[1]
    assert below.tile(13, 21) == stairs, "also for who comes back"


def test_a_part_of_the_cave_is_reached_from_below_only(play: Play, start: Saved, flags: dict[str, int]) -> None:
    game = play(start.with_flags(flags["SLAB_LIFTED"]).at(CAVE, 18, 28))
    outside, inside = reached(game, (18, 28)), reached(game, (8, 14))
    assert not outside & inside
    assert {(13, 21), (18, 4)} <= outside
    assert {(12, 10), (4, 12)} <= inside


# The porch -------------------------------------------------------------------------------------------------------


@pytest.fixture
def before_the_boulders(start: Saved) -> Saved:
    return start.party((RILLET, [BUMP, SHOVE]))


def boulders(game: PlacedGame) -> list[Tile]:
    return [person(game, number) for number in (1, 2, 3)]


def may_push(play: Play, saved: Saved, x: int) -> PlacedGame:
    game = play(saved.at(PORCH, x, 8, Facing.UP))
    assert boulders(game) == [(3, 7), (4, 7), (5, 7)]
    game.press("a")
    game.answer("a")
    return game


def test_three_pushes_open_the_porch(play: Play, before_the_boulders: Saved, flags: dict[str, int]) -> None:
    game = may_push(play, before_the_boulders, 5)
    game.press("up . left . left . up . up . right .")
    assert (game.place[1:], boulders(game)) == ((3, 7), [(3, 6), (5, 7), (5, 6)])
    game.press("right . up . up . up . right . up . ")
    assert is_set(game, flags["PORCH_PASSED"])
    game.press("up . up . up . . . . .")
    assert game.place[0] == SUMMIT[0] * 256 + SUMMIT[1]


def test_the_middle_boulder_pushed_up_bars_the_porch_until_it_is_left(
    play: Play, before_the_boulders: Saved, flags: dict[str, int]
) -> None:
    game = may_push(play, before_the_boulders, 4)
    game.press("up . " * 12)
    assert boulders(game)[1] == (4, 4), "it stops where the way bends"
    for press in ("right . up . up . ", "left . up . up . ", "up . right . right . up . "):
        game.press(press)
    assert not is_set(game, flags["PORCH_PASSED"])
    assert game.place[1:] == (4, 5)
    game.press("down . " * 6 + ". . . .")
    assert game.place == (2 * 256 + 6, 5, 3)
    game.press("up . . . . .")
    assert game.place[0] == PORCH[0] * 256 + PORCH[1]
    assert boulders(game) == [(3, 7), (4, 7), (5, 7)]
