"""Quillwood's names, pages, saves and refusals: the traps outside of battle, and how each is left."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator

import pytest
from support.placed_game import CART_RAM, Play, Saved

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.rom import load_rom
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Facing, GameState, Phase
from pkmn_pyboy.state.reader import StateReader

ALDERBROOK, MARROWMERE, SHOP = (1, 1), (4, 1), (4, 3)
GOT_PARCEL, NEIGHBOUR_NAMED = 19, 34
CAPSULE, PARCEL, BOY = 1, 10, 4
POISONED = 0x08
A, B, SPACE, END = 0x80, 0x81, 0x7F, 0x50
WREN = bytes([0x96, 0x91, 0x84, 0x8D, END])
ROBIN = bytes([0x91, 0x8E, 0x81, 0x88, 0x8D, END])
FINN = bytes([0x85, 0x88, 0x8D, 0x8D, END])
TO_SAVE = "start . down down down down a . . . a . . . . "


class Console:
    """A console that was just switched on."""

    def __init__(self, profile: GameProfile, ram: bytes | None = None) -> None:
        assert profile.bundled_rom is not None
        self.profile = profile
        self.emulator = Emulator(load_rom(profile.bundled_rom))
        self.emulator.run(10)
        if ram is not None:
            for address, value in zip(CART_RAM, ram, strict=True):
                self.emulator.memory[1, address] = value
        self.emulator.run(110)

    @property
    def state(self) -> GameState:
        return StateReader(self.profile).read(self.emulator)

    def press(self, buttons: str) -> None:
        for button in buttons.split():
            self.emulator.press(None if button == "." else button, 10, 24, render=False)

    def field(self, name: str, size: int = 0) -> bytes:
        memory = self.profile.memory[name]
        return self.emulator.read(memory.bank, memory.address, size or memory.size)


PowerOn = Callable[..., Console]


@pytest.fixture
def power_on(quillwood: GameProfile) -> Iterator[PowerOn]:
    """Switches consoles on, with bytes in the cartridge's memory or none."""
    made: list[Console] = []

    def on(ram: bytes | None = None) -> Console:
        made.append(Console(quillwood, ram))
        return made[-1]

    yield on
    for console in made:
        console.emulator.close()


@pytest.fixture(scope="module")
def start(with_partner: Saved) -> Saved:
    return with_partner


@pytest.mark.parametrize(
    ("buttons", "name"),
    [
        ("start . . . .", WREN),  # START takes the usual name
        ("down down down a . . . .", ROBIN),
        ("a . . . start a . . . .", WREN),  # nothing spelled
        ("a . . . a right a start a . . . .", bytes([A, B, END])),
        ("a . . . " + "a " * 9 + "start a . . . .", bytes([A] * 7 + [END])),  # no more than seven
        ("a . . . a right a b start a . . . .", bytes([A, END])),  # B takes one back
        ("a . . . " + "down " * 2 + "left a a a start a . . . .", WREN),  # spaces only
    ],
)
def test_a_name_is_asked_for_at_the_beginning(power_on: PowerOn, buttons: str, name: bytes) -> None:
    console = power_on()
    console.press("start . . " + buttons)
    assert console.state.phase is Phase.FREE
    assert console.field("wPlayerName")[: len(name)] == name


def test_a_alone_never_leaves_the_page_of_letters(power_on: PowerOn) -> None:
    console = power_on()
    console.press("start . . " + "a " * 60)
    assert console.state.map_group == 0 or console.state.phase is not Phase.FREE
    console.press("start a . . . .")
    assert console.state.phase is Phase.FREE


def test_the_neighbour_is_named_by_the_gardener(start: Saved, play: Play) -> None:
    game = play(start.at(ALDERBROOK, 13, 10, Facing.RIGHT))
    assert game.field("wRivalName")[:5] == FINN
    game.press("a " + ". . a . . . " * 4 + ". . .")
    game.press("a right a start a . . . . a . a . .")
    assert game.field("wRivalName")[-11:][:3] != FINN[:3]
    assert game.field("wEventFlags")[NEIGHBOUR_NAMED >> 3] & 1 << (NEIGHBOUR_NAMED & 7)


def test_b_on_the_first_page_leads_back_to_the_title(start: Saved, power_on: PowerOn) -> None:
    console = power_on(start.ram)
    console.press("start . . . b . . . .")
    assert console.state.map_group == 0, "no game has begun"
    console.press("start . . . a . . a . . . . .")
    assert console.state.phase is Phase.FREE
    assert len(console.state.party.members) == 1


def test_a_new_game_asks_before_it_writes_over_another(start: Saved, power_on: PowerOn) -> None:
    console = power_on(start.ram)
    console.press("start . . . down a . . . start . . . .")
    assert console.state.phase is Phase.FREE
    assert console.state.party.members == ()

    def saved() -> bytes:
        return bytes(console.emulator.memory[1, address] for address in CART_RAM)

    console.press(TO_SAVE + ". . ")
    assert console.state.phase is Phase.CHOICE, "whether to replace the other game"
    console.press("b . b . . .")
    assert saved() == start.ram
    console.press(TO_SAVE + ". . a . . . . b . b . .")
    assert saved() != start.ram
    kept = saved()
    console.press(TO_SAVE + ". . b . b . .")  # one's own is written over unasked
    assert console.state.phase is Phase.FREE
    assert saved()[:0x20] == kept[:0x20]


def test_a_broken_save_is_no_game_to_go_on_with(start: Saved, power_on: PowerOn) -> None:
    broken = bytearray(start.ram)
    broken[0x100] ^= 1
    console = power_on(bytes(broken))
    console.press("start . . start . . . .")
    assert console.state.phase is Phase.FREE
    assert console.state.party.members == ()


def test_the_play_time_goes_on_where_it_was(start: Saved, play: Play) -> None:
    game = play(start.with_fields(wGameTimeMinutes=59, wGameTimeSeconds=58))
    game.press(". . . . . . . . . .")
    assert game.field("wGameTimeHours") == b"\0\1"
    assert game.field("wGameTimeMinutes")[0] == 0


def test_the_guide_comes_with_the_parcel(start: Saved, play: Play) -> None:
    key = start.address("wNumKeyItems")
    game = play(start.changed({key: bytes([1, PARCEL, 0xFF])}).with_flags(GOT_PARCEL).at((1, 4), 5, 3, Facing.UP))
    game.press("start . down down a . . .")
    assert game.state.phase is Phase.DIALOGUE, "there is none yet"
    game.press("a . . . b . . .")
    game.press("up a . .")
    game.answer()
    assert game.field("wStatusFlags")[0] & 1
    game.press("start . down down a . . . .")
    assert game.state.phase is Phase.MENU
    assert game.state.menu.full_screen
    game.press("a . a . start . ")
    assert game.state.menu.full_screen, "only B leaves it"
    game.press("b . . . b . . .")
    assert game.state.phase is Phase.FREE


def test_windows_are_counted_one_on_another(start: Saved, play: Play) -> None:
    game = play(start)
    counts = []
    for buttons in ("start . . .", "a . . .", "a . .", "b . . .", "b . . .", "b . . ."):
        game.press(buttons)
        counts.append(game.field("wWindowStackSize")[0])
    assert counts == [1, 2, 3, 2, 1, 0]


def test_poison_on_the_way_is_told_and_costs_half_the_money(start: Saved, play: Play) -> None:
    first = start.address("wPartyMon1")
    game = play(
        start.changed({first + 0x20: bytes([POISONED]), first + 0x22: b"\0\1"})
        .with_fields(wPoisonStepCount=3)
        .at(ALDERBROOK, 9, 9, Facing.DOWN)
    )
    money = game.state.money
    game.press("right right . . .")
    assert game.state.phase is Phase.DIALOGUE
    assert game.state.map_id == 0x101, "told before the way back begins"
    game.answer()
    assert game.state.money == money // 2
    assert game.state.party.hp_share == 1
    assert game.state.map_id == 0x103, "carried home: no healer was spoken to"


def test_nobody_stands_on_the_player_after_going_on(start: Saved, play: Play) -> None:
    game = play(start.at(ALDERBROOK, 10, 10))  # where the boy who walks about begins
    assert game.place == (0x101, 10, 10)
    people = game.field("wObjectStructs")
    places = [(people[i * 40 + 16], people[i * 40 + 17]) for i in range(1, 13) if people[i * 40]]
    assert (14, 14) not in places


def test_a_guard_pushes_the_player_back(start: Saved, play: Play) -> None:
    at = start.address("wEventFlags") + 1
    flags = bytes([start.ram[0xA009 - 0xA000 + at - 0xD47B] & ~(1 << 2)])  # GOT_STARTER
    game = play(start.changed({at: flags}).at(ALDERBROOK, 3, 8, Facing.LEFT))
    game.press("left . .")
    game.answer()
    assert game.place == (0x101, 3, 8)


def test_a_question_that_no_never_ends(start: Saved, play: Play) -> None:
    game = play(start.at(MARROWMERE, 15, 11, Facing.RIGHT))
    game.press("a . .")
    for _ in range(40):
        game.press("b . .")
        assert game.state.phase in (Phase.DIALOGUE, Phase.CHOICE, Phase.CUTSCENE)
    while game.state.phase is not Phase.CHOICE:
        game.press("b .")
    game.answer("a", "b")  # the light, and no name for it
    assert len(game.state.party.members) == 2


def test_a_shop_sells_no_more_than_fits_the_pack(start: Saved, play: Play) -> None:
    game = play(start.changed({start.address("wNumBalls"): bytes([1, CAPSULE, 97, 0xFF])}).at(SHOP, 3, 3, Facing.UP))
    game.press("a . . a . . a . . down . ")  # an amount, down from 1: the most
    game.press("a . . . a . . . .")
    assert game.field("wNumBalls", 3) == bytes([1, CAPSULE, 99])
    game.press("a . . .")
    game.press("a . . .")
    assert game.field("wNumBalls", 3) == bytes([1, CAPSULE, 99])


def test_other_presses_give_other_numbers(start: Saved, play: Play) -> None:
    def numbers(buttons: str) -> bytes:
        game = play(start.at(ALDERBROOK, 9, 9))
        game.press(buttons)
        return game.field("hRandomAdd") + game.field("hRandomSub")

    assert numbers("left right left . . .") == numbers("left right left . . .")
    assert len({numbers(f"{way} . . . . .") for way in ("left", "up", "a", "start")}) > 1


@pytest.mark.long
def test_what_is_never_written_is_listed(quillwood: GameProfile) -> None:
    """Every field of Crystal's memory is one that the game's source names, part of one, or among what it lacks."""
    source = "".join(path.read_text(encoding="utf-8") for path in sorted((quillwood.folder / "src").iterdir()))
    written = {name for name in quillwood.memory.fields if re.search(rf"\b{name}\b", source)}
    lists = ("wNumItems", "wItems"), ("wNumBalls", "wBalls"), ("wNumKeyItems", "wKeyItems"), ("wNumPCItems", "wPCItems")
    members = {f"wPartyMon{place}" for place in range(1, 7)} | {"wPartyEnd", "wOTPartyMons"}
    structs = {"wMapObjects", "wObjectStructs", "wOverworldMapBlocks", "cTextBoxCorner", "cTextPromptArrow"}
    structs |= {name for name in quillwood.memory.fields if name.startswith(("wBattleMon", "wEnemyMon", "wPlayer"))}
    scenes = tomllib.loads((quillwood.folder / "data" / "scenes.toml").read_text(encoding="utf-8")).values()
    by_address = {name for name in quillwood.memory.fields if quillwood.memory[name].address in set(scenes)}
    parts = members | structs | by_address | {name for pair in lists for name in pair}
    unwritten = set(quillwood.memory.fields) - written - parts
    assert unwritten <= set(quillwood.lacks), sorted(unwritten - set(quillwood.lacks))
    assert not written & set(quillwood.lacks)
    assert set(quillwood.lacks) <= set(quillwood.memory.fields)


def test_every_sign_can_be_seen(quillwood: GameProfile) -> None:
    for path in sorted((quillwood.folder / "data" / "maps").glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        rows = data["grid"].strip("\n").split("\n")
        for sign in data.get("signs", []):
            assert rows[sign["y"]][sign["x"]] != data["border"], f"{path.stem}: {sign['script']} lies in a wall"
