"""Thickets, water, boulders and the lessons: refused without badge or move, done with both, undone as Crystal does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.placed_game import PlacedGame, Play, Saved

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Facing, Phase

ROAD, TARN, MARROWMERE, PORCH, REST = (2, 4), (2, 6), (4, 1), (5, 6), (4, 2)
SHEAR, SWELL, SHOVE = 36, 37, 38
BUMP, SNARL, SPLOOSH, BRACE = 1, 2, 6, 11
RILLET, KINDLYNX, LUMEWISP, TARNOWL = 3, 2, 16, 25
BEAT_TOBY, GOT_SHEAR = 66, 102
ALL_BADGES = 0b111
DAY, NIGHT = 1, 2
TO_LEARNERS = "a . . a . . . a . . . a . . . . "
THICKET, WATER, GRASS = 0x12, 0x29, 0x00
BOULDER = 2  # number of the person


@pytest.fixture(scope="module")
def start(with_lessons: Saved) -> Saved:
    """A game saved right after the choice of RILLET, with all badges, the lessons and no partner that knows a move."""
    return with_lessons.with_flags(BEAT_TOBY, GOT_SHEAR)


def before_the_thicket(start: Saved) -> Saved:
    return start.at(ROAD, 15, 6, Facing.RIGHT)


def on_the_shore(start: Saved) -> Saved:
    return start.at(TARN, 10, 13, Facing.UP)


def before_the_boulder(start: Saved) -> Saved:
    return start.at(TARN, 11, 4, Facing.RIGHT)


@pytest.mark.parametrize("place", [before_the_thicket, on_the_shore, before_the_boulder])
@pytest.mark.parametrize(
    ("moves", "badges", "answers"),
    [
        ([SPLOOSH, BUMP], ALL_BADGES, ()),  # nobody knows it
        ([SHEAR, SWELL, SHOVE], 0, ()),  # no badge
        ([SHEAR, SWELL, SHOVE], ALL_BADGES, ("b",)),  # NO
    ],
)
def test_nothing_happens_without_the_move_the_badge_or_the_will(
    play: Play, start: Saved, place: Callable[[Saved], Saved], moves: list[int], badges: int, answers: tuple[str, ...]
) -> None:
    game = play(place(start).party((RILLET, moves)).with_fields(wJohtoBadges=badges))
    before = game.place, game.field("wOverworldMapBlocks"), game.field("wMapObjects", 16 * 4)
    game.press("a")
    assert game.state.phase is Phase.DIALOGUE
    game.answer(*answers)
    game.press({Facing.RIGHT: "right", Facing.UP: "up"}[game.state.facing])
    assert (game.place, game.field("wOverworldMapBlocks"), game.field("wMapObjects", 16 * 4)) == before
    assert game.field("wPlayerState") == b"\0"
    assert game.field("wBikeFlags") == b"\0"


def test_a_thicket_is_parted_until_the_map_is_left(play: Play, start: Saved) -> None:
    game = play(before_the_thicket(start).party((KINDLYNX, [BUMP]), (RILLET, [BUMP, SHEAR])))
    assert game.tile(16, 6) == THICKET
    game.press("a")
    game.answer("a")
    assert game.tile(16, 6) == GRASS
    assert game.field("wTileRight") == bytes([GRASS])
    game.press("right right")
    assert game.state.x == 17
    game.press("left left left" + " down" * 2 + " left" * 16)
    assert game.state.map_id == MARROWMERE[0] * 256 + MARROWMERE[1]
    game.press("right right . .")
    assert game.state.map_id == ROAD[0] * 256 + ROAD[1]
    assert game.tile(16, 6) == THICKET


def test_the_player_rides_over_water_and_walks_ashore(play: Play, start: Saved) -> None:
    game = play(on_the_shore(start).party((RILLET, [BUMP, SWELL])))
    on_foot = game.field("wObjectStructs", 1)
    game.press("a")
    game.answer("a")
    assert game.field("wPlayerState") == b"\4"
    assert game.place == (TARN[0] * 256 + TARN[1], 10, 12)
    assert game.field("wPlayerTileCollision") == bytes([WATER])
    assert game.field("wObjectStructs", 1) != on_foot
    game.press("a .")  # water ahead: nothing to ask
    assert game.state.phase is Phase.FREE
    game.press("left right down")
    assert game.place[1:] == (10, 13)
    assert game.field("wPlayerState") == b"\0"
    assert game.field("wObjectStructs", 1) == on_foot
    game.press("up .")
    assert game.place[1:] == (10, 13)


def test_a_game_saved_on_the_water_goes_on_there(play: Play, start: Saved) -> None:
    game = play(on_the_shore(start).party((RILLET, [BUMP, SWELL])))
    game.press("a")
    game.answer("a")
    again = play(game.saved())
    assert again.place[1:] == (10, 12)
    assert again.field("wPlayerState") == b"\4"
    assert again.field("wObjectStructs", 1) == game.field("wObjectStructs", 1)
    again.press("left")
    assert again.place[1:] == (9, 12)
    again.press("down")
    assert again.field("wPlayerState") == b"\0"


def test_creatures_of_the_water_table_come_on_the_water(play: Play, start: Saved) -> None:
    game = play(on_the_shore(start).party((RILLET, [BUMP, SWELL])))
    table = game.profile.memory.rom_tables["WildWater"]
    rows = game.emulator.read_rom(table.bank, table.address, 64).split(b"\xff")[0]
    row = next(rows[at : at + 9] for at in range(0, len(rows), 9) if rows[at : at + 2] == bytes(TARN))
    pairs = {(row[at], row[at + 1]) for at in (3, 5, 7)}
    game.press("a")
    game.answer("a")
    for step in range(300):
        game.press("left" if step // 4 % 2 else "right")
        if game.field("wBattleMode")[0]:
            break
    assert game.field("wBattleMode") == b"\1"
    assert (game.field("wEnemyMonLevel")[0], game.field("wEnemyMonSpecies")[0]) in pairs


def boulder(game: PlacedGame) -> tuple[int, int]:
    """Column and row."""
    row, column = game.field("wMapObjects", 16 * 4)[16 * BOULDER + 2 : 16 * BOULDER + 4]
    return column - 4, row - 4


def test_a_boulder_is_pushed_up_to_the_wall_and_back_in_its_place_later(play: Play, start: Saved) -> None:
    game = play(before_the_boulder(start).party((RILLET, [BUMP, SHOVE])))
    assert boulder(game) == (12, 4)
    assert game.field("wMapObjects", 64)[16 * BOULDER + 4] == game.profile.field_moves["strength"].movement
    game.press("a")
    game.answer("a")
    strength = game.profile.field_moves["strength"].in_use
    assert strength is not None
    assert strength.holds(game.emulator, -1)
    game.press("right .")
    assert (boulder(game), game.state.x) == ((13, 4), 11)  # it moves, the player follows with the next press
    assert game.state.phase is Phase.FREE
    for _ in range(12):
        game.press("right .")
    assert (boulder(game), game.state.x) == ((16, 4), 15)
    game.press("a")
    game.answer()  # it says that it yields, and asks nothing
    game.press("left " * 10 + "up up up . . . . .")
    assert game.place[0] == PORCH[0] * 256 + PORCH[1]
    game.press("up . down . . . . .")
    assert game.place[0] == TARN[0] * 256 + TARN[1]
    assert boulder(game) == (12, 4)
    assert not strength.holds(game.emulator, -1)


def open_lesson(game: PlacedGame, entry: int) -> None:
    """The pack at its lessons, and one chosen: USE, both pages read, YES."""
    game.press("start . down a . . . left . . .")
    assert game.field("wCurPocket") == b"\3"
    game.press("down . " * entry + TO_LEARNERS)


def test_a_lesson_goes_into_a_free_place_and_stays_in_the_pocket(play: Play, start: Saved) -> None:
    game = play(start.party((TARNOWL, [BUMP, SNARL])))
    open_lesson(game, 1)
    game.press("a . . . a . . .")
    assert game.field("wPartyMon1")[2:6] == bytes([BUMP, SNARL, SWELL, 0])
    assert game.field("wPartyMon1")[0x17 + 2] == 15
    assert game.field("wTMsHMs")[52] == 1
    game.press(TO_LEARNERS + "a . . . .")  # the same again
    assert game.field("wPartyMon1")[2:6] == bytes([BUMP, SNARL, SWELL, 0])


def test_a_lesson_replaces_a_chosen_move_but_never_another_lesson(play: Play, start: Saved) -> None:
    game = play(start.party((RILLET, [SHEAR, SNARL, BUMP, BRACE])))
    open_lesson(game, 2)
    game.press("a . . . a . . . a . . . a . . .")  # three pages, YES
    game.press("a . . . a . . b . . .")  # SHEAR stays; go on, not stop
    assert game.field("wPartyMon1")[2:6] == bytes([SHEAR, SNARL, BUMP, BRACE])
    game.press("a . . . a . . . a . . . down . a . . .")
    assert game.field("wPartyMon1")[2:6] == bytes([SHEAR, SHOVE, BUMP, BRACE])


def test_who_can_not_learn_a_lesson_does_not(play: Play, start: Saved) -> None:
    game = play(start.party((LUMEWISP, [BUMP])))
    open_lesson(game, 0)
    game.press("a . . . a . . .")
    assert game.field("wPartyMon1")[2:6] == bytes([BUMP, 0, 0, 0])


@pytest.mark.parametrize(("others", "left"), [([BUMP], 6), ([BUMP, SHEAR], 5)])
def test_the_only_one_who_knows_the_way_is_not_given_away(
    play: Play, start: Saved, others: list[int], left: int
) -> None:
    members = [(RILLET, [BUMP, SHEAR]), *[(KINDLYNX, others)] * 5]
    game = play(start.party(*members).at(REST, 7, 5, Facing.RIGHT))
    for _ in range(80):  # the guest wanders
        if game.state.phase is Phase.DIALOGUE:
            break
        game.press("a .")
    for _ in range(30):
        if game.state.phase is Phase.CHOICE:
            break
        game.press("a .")
    game.press("b . . . . a . . . a . . . a . . .")  # not keep all: the first may leave
    game.answer()
    assert game.field("wPartyCount") == bytes([left])


def learners(game: GameProfile, image: bytes, move: str) -> set[int]:
    base, machine = game.memory.rom_tables["BaseData"], game.field_moves[move].machine
    rows = {species: image[base.offset + (species - 1) * 32 :][:32] for species in game.names.species}
    return {species for species, row in rows.items() if row[24 + machine // 8] >> machine % 8 & 1}


def test_the_image_says_what_lessons_teach_and_who_learns_them(quillwood: GameProfile) -> None:
    image = (quillwood.folder / "quillwood.gbc").read_bytes()
    taught = quillwood.memory.rom_tables["TMHMMoves"].offset
    for name, move in quillwood.field_moves.items():
        assert image[taught + move.machine] == move.move
        assert quillwood.names.items[move.item] == f"{quillwood.names.moves[move.move]} LESSON"
        assert learners(quillwood, image, name)


@pytest.mark.parametrize(
    ("move", "place", "time"), [("cut", ROAD, DAY), ("surf", TARN, NIGHT), ("strength", TARN, DAY)]
)
def test_the_way_is_never_lost_whoever_is_given_away(
    quillwood: GameProfile, move: str, place: tuple[int, int], time: int
) -> None:
    """Beside every obstacle live wild creatures that can learn what it takes."""
    image = (quillwood.folder / "quillwood.gbc").read_bytes()
    at = quillwood.memory.rom_tables["WildGrass"].offset
    while image[at : at + 2] != bytes(place):
        assert image[at] != 0xFF
        at += 47
    often = {image[at + 5 + 14 * time + slot * 2 + 1] for slot in range(3)}
    assert often & learners(quillwood, image, move)
