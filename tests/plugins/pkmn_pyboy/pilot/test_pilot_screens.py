"""Lists on the screen, in the layouts of both games: the cursor's position, and the press that moves it to a name."""

from __future__ import annotations

import pytest

from pkmn_pyboy.pilot.screens.screen_lists import ScreenList
from pkmn_pyboy.profile.memory_map import RomTable
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rules_gen2.screen import COLUMNS, HOLLOW_CURSOR, ROWS, SOLID_CURSOR
from pkmn_pyboy.state.name_tables import EncodedNames
from pkmncli.api import Action

BLANK = 0x7F


def code(word: str) -> bytes:
    return bytes(0x80 + ord(letter) - ord("A") if letter.isalpha() else BLANK for letter in word)


def screen(*placed: tuple[int, int, str], solid: tuple[int, int], hollow: tuple[int, int] | None = None) -> ScreenList:
    """Return a screen with words at (row, column), a solid cursor, and perhaps a hollow one."""
    tiles = bytearray([BLANK] * (COLUMNS * ROWS))
    for row, column, word in placed:
        start = row * COLUMNS + column
        tiles[start : start + len(word)] = code(word)
    tiles[solid[0] * COLUMNS + solid[1]] = SOLID_CURSOR
    if hollow is not None:
        tiles[hollow[0] * COLUMNS + hollow[1]] = HOLLOW_CURSOR
    return ScreenList(bytes(tiles), *solid)


# Crystal's bag: names from column 8, two rows apart, the cursor at 7; its party: names from column 3, rows 1, 3, 5.
BAG = ((2, 8, "POTION"), (4, 8, "SUPER POTION"), (6, 8, "ANTIDOTE"))
PARTY = ((1, 3, "TOTODILE"), (3, 3, "GEODUDE"), (5, 3, "HOOTHOOT"))
NAMES = [code(word) for _, _, word in PARTY]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("POTION", Action.UP), ("SUPER POTION", Action.A), ("ANTIDOTE", Action.DOWN), ("REVIVE", None)],
)
def test_the_cursor_is_brought_to_a_name(name: str, expected: Action | None) -> None:
    assert screen(*BAG, solid=(4, 7)).press_for(code(name)) is expected


def test_a_name_within_a_word_does_not_count() -> None:
    assert screen((2, 8, "POTIONS"), solid=(2, 7)).press_for(code("POTION")) is None


def test_a_name_elsewhere_on_the_screen_is_no_entry() -> None:
    assert screen((14, 1, "POTION"), solid=(2, 7)).press_for(code("POTION")) is None


def test_a_window_over_the_list_is_noticed() -> None:
    over = screen(*BAG, (11, 14, "USE"), solid=(11, 13), hollow=(4, 7))
    assert over.left_behind(code("SUPER POTION"))
    assert not over.left_behind(code("ANTIDOTE"))
    assert over.press_for(code("USE")) is Action.A


@pytest.mark.parametrize(("place", "expected"), [(0, Action.UP), (1, Action.A), (2, Action.DOWN)])
def test_members_are_found_on_the_partys_list(place: int, expected: Action) -> None:
    page = screen(*PARTY, solid=(3, 0))
    assert page.party_row(NAMES) == 1
    assert page.press_for_member(NAMES, place) is expected


def test_the_small_menu_of_a_member_takes_its_first_entry() -> None:
    page = screen(*PARTY, (11, 12, "SWITCH"), (13, 12, "STATS"), solid=(11, 11), hollow=(3, 0))
    assert page.press_for_member(NAMES, 2) is Action.A


def test_other_pages_are_not_the_partys_list() -> None:
    assert screen(*BAG, solid=(4, 7)).party_row(NAMES) is None
    assert screen(*BAG, solid=(4, 7)).party_row([]) is None
    # In the first game the rows begin at 0.
    assert screen((0, 2, "KINDLYNX"), (2, 2, "LUMEWISP"), solid=(0, 1)).party_row([code("KINDLYNX")]) == 0


def test_names_come_from_the_image_and_short_words_are_written_out(quillwood: GameProfile) -> None:
    assert quillwood.bundled_rom is not None
    names = EncodedNames(quillwood.bundled_rom.read_bytes(), quillwood.memory.rom_tables)
    assert names.items[2] == code("SALVE")
    assert names.moves[1] == code("BUMP")
    data = b"\x54" + code(" BALL") + b"\x50"
    assert EncodedNames(data, {"ItemNames": RomTable(0, 0)}).items[1] == b"\x8f\x8e\x8a\xea" + code(" BALL")
    assert EncodedNames(b"", {}).items == {}
