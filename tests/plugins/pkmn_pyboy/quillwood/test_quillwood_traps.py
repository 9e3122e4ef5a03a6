"""What the real game's engine does and a pilot must get through: pages that open slowly, a foe that holds fast, the
clock, credits and the page before a saved game goes on."""

from __future__ import annotations

import re

import pytest
from support.battle_bench import BattleBench, Creature, data, species
from support.placed_game import CART_RAM, PlacedGame, Play, Saved

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rules_gen2.screen import BOX_CORNERS
from pkmn_pyboy.state.game_state import Facing, Phase
from pkmn_pyboy.state.reader import StateReader

SCREEN, WIDTH, SOLID, BLANK = 0xC4A0, 20, 0xED, 0x7F
BOX_CELLS = (240, 259, 340, 359)
HOME, LAB, REST, TARN, SUMMIT = (1, 1), (1, 4), (5, 2), (2, 6), (5, 5)
UNUSED = 0xCD00
"""Bytes of the map's blocks that a house does not fill."""
TRAPS = 0x80
NOON, EVENING = 12, 20
DAY, NIGHT = 1, 2
TARNOWL = 25
GAME_WON = 27
LESSON_SURF = 52
SAVED_BADGES = 0xA009 - 0xA000 + 0xD857 - 0xD47B
"""Where the badges lie in the cartridge's memory."""


@pytest.fixture(scope="module")
def start(with_lessons: Saved) -> Saved:
    return with_lessons


def cursor(game: PlacedGame) -> tuple[int, int] | None:
    """Row and column of the solid cursor where memory says that it is, None when something else is drawn there."""
    place = int.from_bytes(game.field("wCursorCurrentTile"), "little") - SCREEN
    tiles = game.field("wTilemap")
    return divmod(place, WIDTH) if 0 <= place < len(tiles) and tiles[place] == SOLID else None


def box_drawn(game: PlacedGame) -> bool:
    tiles = game.field("wTilemap")
    return tuple(tiles[cell] for cell in BOX_CELLS) == BOX_CORNERS


def box_empty(game: PlacedGame) -> bool:
    tiles = game.field("wTilemap")
    return all(tiles[row * WIDTH + 1 : row * WIDTH + 19] == bytes([BLANK] * 18) for row in range(13, 17))


def menu_bytes(game: PlacedGame) -> tuple[int, int, int]:
    """Rows, first row, first column."""
    return tuple(game.field(f"w2DMenu{name}")[0] for name in ("NumRows", "CursorInitY", "CursorInitX"))  # type: ignore[return-value]


def test_the_pack_opens_empty_and_then_shows_its_list(play: Play, start: Saved) -> None:
    potions = start.changed({start.address("wNumItems"): bytes([3, 2, 5, 3, 2, 4, 1, 0xFF])})
    game = play(potions.at(HOME, 9, 9))
    game.press("start . down")
    for _ in range(2):
        game.press("." if game.field("wSpriteUpdatesEnabled") == b"\0" else "a")
        assert game.field("wSpriteUpdatesEnabled") == b"\0"
        assert game.field("wWindowStackSize") == b"\2"
        assert (box_drawn(game), box_empty(game), cursor(game)) == (True, True, None)
    game.press(".")
    assert (cursor(game), menu_bytes(game)) == ((2, 7), (4, 2, 7)), "three things and the entry that leaves"
    assert game.field("wScrollingMenuListSize") == b"\3"
    assert (box_drawn(game), box_empty(game)) == (True, False), "what the thing is for"
    for pocket in (3, 2, 1, 0):
        game.press("left")
        assert game.field("wCurPocket")[0] == pocket
        assert game.field("wSpriteUpdatesEnabled") == b"\0"
        assert cursor(game) == (2, 7)
    game.press("a")
    assert (cursor(game), menu_bytes(game)) == ((8, 14), (2, 8, 14)), "to use it or not"
    game.press("b .")
    assert cursor(game) == (2, 7)
    game.press("down down down a . .")
    assert game.field("wWindowStackSize") == b"\1", "the last entry leaves"


def test_a_page_that_is_not_whole_takes_no_press(play: Play, start: Saved) -> None:
    potions = start.changed({start.address("wNumItems"): bytes([1, 2, 5, 0xFF])})
    game = play(potions.at(HOME, 9, 9))
    game.press("start . down a a . . .")
    assert cursor(game) == (2, 7)


def test_the_party_opens_without_a_cursor_after_use(play: Play, start: Saved) -> None:
    potions = start.changed({start.address("wNumItems"): bytes([1, 2, 5, 0xFF])})
    game = play(potions.at(HOME, 9, 9))
    game.press("start . down a . . . a a")
    assert (game.field("wSpriteUpdatesEnabled"), cursor(game)) == (b"\0", None)
    assert menu_bytes(game)[0] == 1, "the menu is the party's already"
    game.press(". .")
    assert cursor(game) == (0, 1)
    game.press("a .")
    assert game.field("wNumItems", 3)[2] == 5, "nothing to heal"
    assert box_drawn(game)
    game.press("a")
    assert cursor(game) is None, "the pack opens as slowly again"
    game.press(". .")
    assert cursor(game) == (2, 7)


def held(bench: BattleBench) -> bool:
    return bool(bench.read("wEnemySubStatus1", 5)[4] & TRAPS)


def pinned(bench: BattleBench) -> None:
    """The own creature is held fast, another one waits."""
    bench.pit(Creature(("BUMP",)), Creature(("PIN DOWN",), hp=500, max_hp=500, stats=(1, 60, 60, 1, 60)))
    bench.join(1, Creature(("BUMP",)))
    assert "can't get away!" in bench.use().words
    assert held(bench)


def test_who_is_held_fast_can_not_be_called_back(trainer: BattleBench) -> None:
    pinned(trainer)
    turns, points = trainer.read("wEnemyTurnsTaken", 1), trainer.read("wBattleMon", 32)
    trainer.press("up left . right . a . . . . . . down . a")
    assert "is held fast!" in trainer.play_on(until="is held fast!")
    trainer.press("b . . . . . .")
    assert trainer.state.menu.cursor_shown, "the list is there again"
    assert trainer.read("wCurBattleMon", 1) == b"\0"
    trainer.press("b . . . . . .")
    assert trainer.state.phase is Phase.BATTLE_MENU
    assert (trainer.read("wEnemyTurnsTaken", 1), trainer.read("wBattleMon", 32)) == (turns, points), "no turn was lost"


def test_who_is_held_fast_can_not_run(wild: BattleBench) -> None:
    wild.pit(Creature(stats=(60, 60, 300, 60, 60)), Creature(("PIN DOWN",), stats=(1, 60, 5, 1, 60)))
    wild.use()
    turns = wild.read("wEnemyTurnsTaken", 1)
    wild.press("up left . down right . a")
    assert "is held fast!" in wild.play_on(until="is held fast!")
    wild.press("b . . .")
    assert wild.state.phase is Phase.BATTLE_MENU
    assert wild.read("wEnemyTurnsTaken", 1) == turns


def test_the_hold_ends_with_either_of_the_two(trainer: BattleBench) -> None:
    pinned(trainer)
    trainer.write("wEnemyMon", (0, 1), 16)
    trainer.foe_joins(1, Creature(("BRACE",), hp=500, max_hp=500))
    trainer.use()
    assert trainer.read("wCurOTMon", 1) == b"\1"
    assert not held(trainer)
    trainer.again()
    pinned(trainer)
    trainer.write("wBattleMon", (0x08, 0), 14)  # poisoned, with one hit point
    trainer.write("wBattleMon", (0, 1), 16)
    trainer.use()
    trainer.press(". . . . . a . . . . . . . .")
    trainer.play_on()
    assert trainer.read("wCurBattleMon", 1) == b"\1"
    assert not held(trainer)


def test_a_leaders_creature_holds_fast() -> None:
    leader = next(row for group in data("trainers")["class"] for row in group["trainers"] if row[0] == "CAIRNE")
    level, name = leader[-1]
    learns = next(row["moves"] for row in data("creatures")["species"] if row["name"] == name)
    assert [move for at, move in learns if at <= level][-4:].count("PIN DOWN") == 1


def test_a_bed_lets_the_night_fall_and_the_day_come(play: Play, start: Saved) -> None:
    game = play(start.at(REST, 9, 3, Facing.DOWN))
    assert (game.field("hHours")[0], game.field("wTimeOfDay")[0]) == (NOON, DAY)
    game.press("a")
    game.answer("a")
    assert (game.field("hHours")[0], game.field("wTimeOfDay")[0]) == (EVENING, NIGHT)
    again = play(game.saved())
    assert (again.field("hHours")[0], again.field("wTimeOfDay")[0]) == (EVENING, NIGHT), "the hour is saved"
    again.press("a")
    again.answer("b")
    assert again.field("hHours")[0] == EVENING
    again.press("a")
    again.answer("a")
    assert (again.field("hHours")[0], again.field("wTimeOfDay")[0]) == (NOON, DAY)


def wild_species(profile: GameProfile, image: bytes, place: tuple[int, int], time: int) -> list[int]:
    """Species of the seven slots of a map's grass at a time of day."""
    at = profile.memory.rom_tables["WildGrass"].offset
    while image[at : at + 2] != bytes(place):
        assert image[at] != 0xFF
        at += 47
    return [image[at + 5 + 14 * time + slot * 2 + 1] for slot in range(7)]


def met(game: PlacedGame, count: int) -> set[int]:
    """Species of the next battles in the grass south of the tarn; each is left at once."""
    found: set[int] = set()
    for _ in range(count):
        for step in range(200):
            game.press("left" if step // 2 % 2 else "right")
            if game.field("wBattleMode")[0]:
                break
        found.add(game.field("wEnemyMonSpecies")[0])
        game.press(". . . a . . . . . ")
        for _ in range(30):
            game.press("up left down right a . b . b .")
            if not game.field("wBattleMode")[0]:
                break
        game.press(". . .")
    return found


@pytest.mark.long
def test_other_creatures_come_by_night(play: Play, start: Saved, quillwood: GameProfile) -> None:
    image = (quillwood.folder / "quillwood.gbc").read_bytes()
    by_day, by_night = (set(wild_species(quillwood, image, TARN, time)) for time in (DAY, NIGHT))
    assert TARNOWL in by_night - by_day
    fast = start.changed({start.address("wPartyMon1") + 0x22: bytes([2, 0, 2, 0, 0, 90, 0, 90, 3, 0])})
    grass = fast.at(TARN, 4, 14)
    assert met(play(grass), 8) <= by_day
    found = met(play(grass.with_fields(wStartHour=EVENING)), 8)
    assert TARNOWL in found
    assert found <= by_night


def test_what_the_tarn_takes_is_learned_by_a_creature_of_the_night_only(quillwood: GameProfile) -> None:
    image = (quillwood.folder / "quillwood.gbc").read_bytes()
    base = quillwood.memory.rom_tables["BaseData"].offset
    rows = {number: image[base + (number - 1) * 32 :][:32] for number in quillwood.names.species}
    learners = {number for number, row in rows.items() if row[24 + LESSON_SURF // 8] >> LESSON_SURF % 8 & 1}
    assert learners == {species("TARNOWL")} == {TARNOWL}
    for place in (TARN, (5, 1), (4, 1)):
        assert TARNOWL in wild_species(quillwood, image, place, NIGHT), place
        assert TARNOWL not in wild_species(quillwood, image, place, DAY), place


def opcodes(profile: GameProfile) -> dict[str, int]:
    """The numbers of the script commands, in the order in which the compiler lists them."""
    source = (profile.folder / "tools" / "scripts.py").read_text(encoding="utf-8")
    listed = re.search(r"COMMANDS = \((.*?)\)", source, re.DOTALL)
    assert listed is not None
    return {name: number for number, name in enumerate(re.findall(r'"(\w+)"', listed.group(1)))}


def test_a_script_lets_a_wild_creature_come(play: Play, start: Saved, quillwood: GameProfile) -> None:
    game = play(start.at(LAB, 5, 3, Facing.UP))
    commands = opcodes(quillwood)
    script = bytes([commands["wild"], TARNOWL, 3, commands["badge"], 7, commands["end"]])
    people = quillwood.memory["wMapObjects"].address
    for place, value in enumerate(script, UNUSED):
        game.emulator.memory[place] = value
    for number in range(1, 16):
        game.emulator.memory[1, people + 16 * number + 10] = UNUSED & 0xFF
        game.emulator.memory[1, people + 16 * number + 11] = UNUSED >> 8
    game.press("a . . . .")
    assert (game.field("wBattleMode"), game.field("wEnemyMonSpecies")[0]) == (b"\1", TARNOWL)
    assert game.field("wEnemyMonLevel") == b"\3"
    for _ in range(40):
        game.press("a .")
        if game.state.phase is Phase.FREE:
            break
    assert game.state.phase is Phase.FREE
    assert game.field("wJohtoBadges")[0] >> 7, "the script went on"


def cartridge(game: PlacedGame) -> bytes:
    return bytes(game.emulator.memory[1, address] for address in CART_RAM)


def win(play: Play, start: Saved) -> PlacedGame:
    """The last answer is given, the first page of the credits stands."""
    game = play(start.at(SUMMIT, 4, 3, Facing.UP))
    game.press("a")
    for _ in range(40):
        if game.field("wSpriteUpdatesEnabled") == b"\0":
            return game
        game.press("a")
    raise AssertionError("no credits")


def to_title(game: PlacedGame) -> int:
    """Waits for the title; returns how many actions that took."""
    for step in range(60):
        if game.field("wMapGroup") == b"\0":
            return step
        game.press(("a", "b", "start", ".")[step % 4])
    raise AssertionError("the credits don't end")


def test_the_credits_roll_by_themselves_after_the_game_was_saved(play: Play, start: Saved) -> None:
    game = win(play, start)
    ram = cartridge(game)
    assert ram != start.ram
    flags = 0xA009 - CART_RAM.start + start.address("wEventFlags") - 0xD47B
    assert ram[flags + GAME_WON // 8] >> GAME_WON % 8 & 1, "saved as won"
    assert ram[SAVED_BADGES] == 0b111
    assert to_title(game) * 24 > 5 * 60, "pressing skips nothing"
    assert cartridge(game) == ram


def test_a_page_waits_between_continue_and_the_game(play: Play, start: Saved) -> None:
    game = win(play, start)
    to_title(game)
    game.press(". . start . .")
    assert game.field("wMapGroup") == b"\0", "the first menu knows of no map"
    assert (cursor(game), menu_bytes(game)) == ((2, 1), (2, 2, 1))
    game.press("a . . . . . . . .")
    stands = {"wMapGroup": SUMMIT[0], "wMapNumber": SUMMIT[1], "wMapStatus": 0, "wScriptRunning": 0}
    stands |= {"wSpriteUpdatesEnabled": 0, "wWindowStackSize": 1, "wStateFlags": 0, "wMenuJoypad": 1, "wMenuCursorY": 1}
    stands |= {"wEnvironment": 0, "wMapTileset": 0, "wMapHeight": 0, "wMapWidth": 0, "wBattleMode": 0}
    assert {name: game.field(name)[0] for name in stands} == stands
    assert (cursor(game), box_drawn(game)) == (None, False)
    assert game.state.phase not in (Phase.FREE, Phase.MOVING)
    game.press("start . right . .")
    assert game.field("wMapStatus") == b"\0", "A or B only"
    game.press("b . .")
    assert (game.field("wMapGroup"), cursor(game)) == (b"\0", (2, 1)), "B leads back to the menu"
    game.press("a . . a . . .")
    assert game.state.phase is Phase.FREE
    assert game.place == (HOME[0] * 256 + HOME[1], 4, 5), "at home"
    game.press("down .")
    assert game.place[2] == 6
    kept = play(game.saved())
    assert kept.place == game.place, "home is no longer gone to"


def test_the_same_page_stands_after_power_on(start: Saved) -> None:
    emulator = Emulator(start.rom)
    try:
        emulator.run(10)
        for address, value in zip(CART_RAM, start.ram, strict=True):
            emulator.memory[1, address] = value
        emulator.run(110)
        reader = StateReader(start.profile)
        for button in ("start", None, None, "a", *[None] * 12):
            emulator.press(button, 10, 24, render=False)
        assert reader.read(emulator).phase not in (Phase.FREE, Phase.MOVING)
        assert emulator.read(1, start.address("wMapGroup"), 1) == b"\1"
        for button in ("a", None, None, None):
            emulator.press(button, 10, 24, render=False)
        assert reader.read(emulator).phase is Phase.FREE
    finally:
        emulator.close()
