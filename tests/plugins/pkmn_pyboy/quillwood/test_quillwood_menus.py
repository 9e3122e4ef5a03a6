"""Shops, catching, naming, saving: what the story's legs pass by."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.leg_player import Leg, LegPlayer, begin, play_until
from support.variants import long_after

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Phase
from pkmn_pyboy.state.reader import StateReader
from pkmncli.api import Action

MakeEnvironment = Callable[..., PokemonEnvironment]
HOLD, FRAMES = 10, 24
CART_RAM = range(0xA000, 0xAD10)


def press(emulator: Emulator, buttons: str) -> None:
    """Buttons by name; "." waits."""
    for button in buttons.split():
        emulator.press(None if button == "." else button, HOLD, FRAMES, render=False)


def refresh(player: LegPlayer) -> None:
    """The environment looks again, by a press of nothing."""
    player.environment.advance(8)


@pytest.fixture
def player(make: MakeEnvironment) -> LegPlayer:
    """Stands in the laboratory with a partner and five capsules."""
    player = begin(make)
    play_until(player, "parcel_delivered")
    return player


def field(player: LegPlayer, name: str, size: int = 0) -> bytes:
    memory = player.environment.profile.memory[name]
    return player.environment.emulator.read(memory.bank, memory.address, size or memory.size)


def write(player: LegPlayer, name: str, *values: int) -> None:
    memory = player.environment.profile.memory[name]
    for place, value in enumerate(values):
        address = memory.address + place
        if address >= 0xD000:
            player.environment.emulator.memory[1, address] = value
        else:
            player.environment.emulator.memory[address] = value


@pytest.mark.long
def test_a_shop_sells_and_buys_and_only_b_leaves_its_list(player: LegPlayer) -> None:
    emulator = player.environment.emulator
    player.go(Leg((1, 5), 6, 3))
    press(emulator, "up a . . a . . .")
    refresh(player)
    assert player.environment.state.phase is Phase.CHOICE
    press(emulator, "down a . . up a . . a . . . . a . . .")  # two salves at 150
    assert field(player, "wNumItems", 4) == bytes([1, 2, 2, 0xFF])
    refresh(player)
    assert player.environment.state.money == 2700
    press(emulator, "b . . . down a . . . . a . . a . . a . . . . a . . . b . . . b . . .")  # sells one of them at 75
    refresh(player)
    assert field(player, "wNumItems", 4) == bytes([1, 2, 1, 0xFF])
    assert player.environment.state.money == 2775
    assert player.environment.state.phase is Phase.FREE


@pytest.mark.long
def test_a_shop_shows_a_cursor_where_there_is_nothing_to_sell(player: LegPlayer) -> None:
    emulator = player.environment.emulator
    assert field(player, "wNumItems", 2) == bytes([0, 0xFF])
    player.go(Leg((1, 5), 6, 3))
    press(emulator, "up a . . down a . . . .")
    refresh(player)
    assert (player.environment.state.phase, player.environment.state.menu.cursor_shown) == (Phase.CHOICE, True)
    press(emulator, "a . b . . . b . . .")
    refresh(player)
    assert player.environment.state.phase is Phase.FREE


@pytest.mark.parametrize(
    ("buttons", "phase", "full_screen"),
    long_after(
        1,
        [
            ("start .", Phase.MENU, False),
            ("start . a . . .", Phase.MENU, True),  # the party
            ("start . a . . . a . a . . .", Phase.MENU, True),  # one of it
            ("start . down a . . . right . . .", Phase.MENU, True),  # the balls in the pack
            ("start . down down down down a . . .", Phase.CHOICE, False),  # to save or not
            ("a . .", Phase.DIALOGUE, False),  # the professor
            ("start . down down down down down a . .", Phase.FREE, False),
        ],
    ),
)
def test_each_page_is_told_apart(player: LegPlayer, buttons: str, phase: Phase, full_screen: bool) -> None:
    press(player.environment.emulator, buttons)
    refresh(player)
    assert player.environment.state.phase is phase
    assert player.environment.state.menu.full_screen is full_screen


@pytest.mark.long
def test_the_pages_of_a_battle_are_told_apart(player: LegPlayer) -> None:
    emulator = player.environment.emulator
    find_battle(player)
    assert player.environment.state.phase is Phase.BATTLE_MENU
    press(emulator, "a . .")
    refresh(player)
    assert player.environment.state.phase is Phase.BATTLE_MOVES
    press(emulator, "b . . down a . . .")
    refresh(player)
    state = player.environment.state
    assert (state.phase, state.message_box, state.menu.cursor_shown) == (Phase.BATTLE, True, True)
    press(emulator, "b . . . . up right a . . . .")
    refresh(player)
    state = player.environment.state
    assert (state.phase, state.message_box, state.menu.cursor_shown) == (Phase.BATTLE, False, True)


def find_battle(player: LegPlayer) -> None:
    environment = player.environment
    player.go(Leg((2, 1), 29, 6))
    for turn in range(400):
        if environment.state.phase is Phase.BATTLE_MENU:
            return
        if environment.state.phase is Phase.FREE:
            environment.advance(6 + turn % 2)
        else:
            environment.advance(0)
    raise AssertionError("no wild creature came")


@pytest.mark.long
def test_a_weak_creature_is_caught_and_named(player: LegPlayer) -> None:
    emulator = player.environment.emulator
    find_battle(player)
    write(player, "wEnemyMon", *field(player, "wEnemyMon", 16), 0, 1)
    write(player, "wEnemyMonCatchRate", 255)
    press(emulator, "down a . . . . right . . . a . . a" + " ." * 10 + " a . . . .")
    refresh(player)
    assert player.environment.state.menu.cursor_shown, "the question for a nickname"
    press(emulator, "a . . . a start a . . . . .")
    refresh(player)
    state = player.environment.state
    assert state.phase is Phase.FREE
    assert len(state.party.members) == 2
    assert state.caught == 2
    names = field(player, "wPartyMonNicknames", 22)
    assert names[11:13] == bytes([0x80, 0x50]), "named A"
    assert field(player, "wNumBalls", 4) == bytes([1, 1, 4, 0xFF])


@pytest.mark.long
def test_there_is_no_running_from_a_trainer(player: LegPlayer) -> None:
    environment = player.environment
    player.go(Leg((3, 1), 4, 9))
    environment.advance(4)  # up, into the sight of the gardener
    for _ in range(80):
        if environment.state.phase is Phase.BATTLE_MENU:
            break
        environment.advance(0)
    battle = environment.state.battle
    assert battle is not None
    assert battle.kind == 2
    assert field(player, "wOtherTrainerClass", 1)[0] > 0
    assert field(player, "wOTPartyCount", 1)[0] == 1
    press(environment.emulator, "down right a . . . .")
    assert "You can't walk out on a trainer!" in " ".join(environment.screen_words().split())
    press(environment.emulator, "a . . .")
    refresh(player)
    assert environment.state.battle is not None
    assert environment.state.phase is Phase.BATTLE_MENU


@pytest.mark.long
def test_the_professor_keeps_what_does_not_fit_the_pack(make: MakeEnvironment) -> None:
    player = begin(make)
    play_until(player, "parcel_taken")
    write(player, "wNumBalls", 1, 1, 97, 0xFF)
    player.go(Leg((1, 4), 5, 3))
    player.environment.advance(int(Action.UP))
    words = ""
    for _ in range(60):
        player.environment.advance(int(Action.A if not player.reached("parcel_delivered") else Action.B))
        words += " ".join(player.environment.screen_words().split()) + " "
    assert "full of CAPSULES!" in words
    assert "received five" not in words
    assert field(player, "wNumBalls", 4) == bytes([1, 1, 97, 0xFF])
    assert player.reached("parcel_delivered")


@pytest.mark.long
def test_losing_costs_half_the_money_and_ends_at_the_last_healer(player: LegPlayer) -> None:
    environment = player.environment
    money = environment.state.money
    player.go(Leg((3, 1), 4, 9))
    record = bytearray(field(player, "wPartyMon1"))
    record[0x22:0x24] = b"\x00\x01"  # one hit point left
    write(player, "wPartyMon1", *record)
    environment.advance(4)
    for _ in range(200):
        environment.advance(0)
        if environment.state.phase is Phase.FREE:
            break
    state = environment.state
    assert (state.map_group, state.map_number) == (2, 2), "the ranger was the last healer"
    assert state.money == money // 2
    assert state.party.hp_share == 1
    assert state.johto_badges == 0


@pytest.mark.long
def test_poison_hurts_on_the_way(player: LegPlayer) -> None:
    environment = player.environment
    record = bytearray(field(player, "wPartyMon1"))
    record[0x20] = 0x08
    write(player, "wPartyMon1", *record)
    before = int.from_bytes(record[0x22:0x24], "big")
    player.go(Leg((1, 4), 5, 5))
    player.go(Leg((1, 4), 4, 9))
    lead = environment.state.party.lead
    assert lead is not None
    assert lead.hp < before
    assert environment.state.phase is Phase.FREE


@pytest.mark.long
def test_a_saved_game_goes_on_after_power_off(player: LegPlayer, quillwood: GameProfile) -> None:
    environment = player.environment
    press(environment.emulator, "start down down down down a . . . a . . . . a . b . .")
    refresh(player)
    assert environment.state.phase is Phase.FREE
    saved = [environment.emulator.memory[1, address] for address in CART_RAM]
    before = environment.state
    again = Emulator(environment.rom)
    try:
        again.run(10)
        for address, value in zip(CART_RAM, saved, strict=True):
            again.memory[1, address] = value
        again.run(110)
        press(again, "start . . a . . a . . . .")
        after = StateReader(quillwood).read(again)
        assert after.phase is Phase.FREE
        assert (after.map_id, after.x, after.y, after.facing) == (before.map_id, before.x, before.y, before.facing)
        assert (after.money, after.party, after.caught) == (before.money, before.party, before.caught)
        press(again, "down")
        assert StateReader(quillwood).read(again).phase is Phase.FREE
    finally:
        again.close()
