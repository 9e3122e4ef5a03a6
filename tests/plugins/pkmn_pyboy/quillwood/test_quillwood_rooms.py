"""Rooms that lock behind the player, and what story flags change on the bundled maps, on the running image."""

from __future__ import annotations

from itertools import product

import pytest
from support.placed_game import PlacedGame, Play, Saved, saved_with_lessons
from support.variants import long_after

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Facing, Phase

SUMMIT, LOBBY, OAK, IRON = (5, 5), (5, 7), (5, 8), (5, 9)
OAK_STAIRS, OAK_MAT, IRON_MAT = (4, 0), (4, 7), (4, 7)
LEVEL, POINTS = 0x1F, 0x22
BORDER = 3


@pytest.fixture(scope="module")
def start(quillwood: GameProfile) -> Saved:
    """A game that was mended in Highcairn last."""
    return saved_with_lessons(quillwood).with_fields(wLastSpawnMapGroup=5, wLastSpawnMapNumber=1)


def stats(saved: Saved, level: int, points: int, strength: int) -> Saved:
    """The one member with another level, hit points and stats."""
    at = saved.address("wPartyMon1")
    numbers = [points, points, *[strength] * 5]
    return saved.changed(
        {at + LEVEL: bytes([level]), at + POINTS: b"".join(number.to_bytes(2, "big") for number in numbers)}
    )


def set_flags(game: PlacedGame, flags: dict[str, int], *names: str) -> list[bool]:
    data = game.field("wEventFlags")
    return [bool(data[flags[name] >> 3] >> (flags[name] & 7) & 1) for name in names]


def fight(game: PlacedGame) -> None:
    """Speaks to who stands ahead, and plays the battle by its first entries until there is control again."""
    game.press("a .")
    fought = False
    for _ in range(200):
        game.press("a .")
        fought |= bool(game.field("wBattleMode")[0])
        if fought and game.state.phase is Phase.FREE:
            return
    raise AssertionError("the battle does not end")


def closed(game: PlacedGame, x: int, y: int) -> bool:
    """Whether a tile is wall."""
    return game.tile(x, y) == 0x07


@pytest.mark.parametrize(("room", "flag"), long_after(1, [(OAK, "OAK_SHUT"), (IRON, "IRON_SHUT")]))
def test_a_room_locks_behind_the_player(
    play: Play, start: Saved, flags: dict[str, int], room: tuple[int, int], flag: str
) -> None:
    game = play(start.at(room, 4, 7, Facing.UP))
    assert not closed(game, 4, 7)
    game.press("up .")
    game.answer()
    assert set_flags(game, flags, flag) == [True]
    assert closed(game, 4, 7)
    assert closed(game, 5, 7)
    game.press("down . down . . . . .")
    assert game.place == (room[0] * 256 + room[1], 4, 6)
    again = play(game.saved())
    assert closed(again, 4, 7), "it stays shut in a saved game"


def test_the_way_on_opens_after_the_fight(play: Play, start: Saved, flags: dict[str, int]) -> None:
    saved = stats(start, 50, 300, 300).with_flags(flags["OAK_SHUT"]).at(OAK, 4, 3, Facing.UP)
    game = play(saved)
    stairs = game.tile(*OAK_STAIRS)
    assert closed(game, *OAK_STAIRS)
    fight(game)
    assert set_flags(game, flags, "OAK_BEATEN", "IRON_BEATEN") == [True, False]
    assert game.tile(*OAK_STAIRS) != stairs
    game.press("right . up . up . left . up . . . . .")
    assert game.place[0] == IRON[0] * 256 + IRON[1]
    assert not closed(game, *IRON_MAT)


def test_who_loses_in_the_second_room_begins_with_the_first(play: Play, start: Saved, flags: dict[str, int]) -> None:
    names = ("OAK_SHUT", "OAK_BEATEN", "IRON_SHUT")
    saved = stats(start, 5, 1, 5).with_flags(*(flags[name] for name in names)).at(IRON, 4, 3, Facing.UP)
    game = play(saved)
    fight(game)
    assert game.place[0] == 5 * 256 + 1, "where it was mended last"
    assert set_flags(game, flags, *names, "LEAGUE_WON") == [True, True, True, False], "the rooms as they were left"
    stairs = play(game.saved().with_flags(flags["GAME_WON"]).at(SUMMIT, 6, 1, Facing.UP))
    stairs.press("up . . . . .")
    assert stairs.place[0] == LOBBY[0] * 256 + LOBBY[1]
    assert set_flags(stairs, flags, *names) == [False, False, False]
    first = play(stairs.saved().at(OAK, 4, 5))
    assert closed(first, *OAK_STAIRS), "closed anew"
    assert not closed(first, *OAK_MAT)


def test_the_stairs_behind_the_warden_come_with_the_games_end(play: Play, start: Saved, flags: dict[str, int]) -> None:
    before = play(start.at(SUMMIT, 6, 1, Facing.UP))
    before.press("up . . . . .")
    assert before.place[0] == SUMMIT[0] * 256 + SUMMIT[1]
    after = play(start.with_flags(flags["GAME_WON"]).at(SUMMIT, 6, 1, Facing.UP))
    after.press("up . . . . .")
    assert after.place[0] == LOBBY[0] * 256 + LOBBY[1]


def block(game: PlacedGame, x: int, y: int) -> int:
    """Number of the block of a tile of the map in memory."""
    row = game.field("wMapWidth")[0] + 2 * BORDER
    return game.field("wOverworldMapBlocks")[(y // 2 + BORDER) * row + x // 2 + BORDER]


@pytest.mark.long
def test_the_image_sets_the_blocks_that_the_profile_tells_of(play: Play, start: Saved, quillwood: GameProfile) -> None:
    """With each set of a map's flags: what is told is there, and what is not told is as without any flag."""
    assert len(quillwood.world.changed) == 5
    for map_id, story in quillwood.world.changed.items():
        place = start.at((map_id >> 8, map_id & 0xFF), 4, 4)
        bare = play(place)
        tiles = {tile for event in story.events for tile in story.now({event})}
        own = {tile: block(bare, *tile) for tile in tiles}
        assert story.now(()) == {}
        for held in product((False, True), repeat=len(story.events)):
            there = {event for event, is_held in zip(sorted(story.events), held, strict=True) if is_held}
            game = play(place.with_flags(*there)) if there else bare
            assert {tile: block(game, *tile) for tile in tiles} == own | story.now(there), (map_id, there)
            changed = {tile for tile in tiles if block(game, *tile) != own[tile]}
            assert changed == set(story.now(there))
