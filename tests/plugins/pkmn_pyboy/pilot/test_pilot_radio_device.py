"""Checks of the model of the Pokegear, and of a real Pokemon Crystal if a variable names an image."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from support.radio_device import CITY, FLUTE, FLUTE_MUSIC, RadioDevice, RadioGame, city_image

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.screens.screen_lists import ScreenList
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Phase
from pkmn_pyboy.state.mask_rules import allowed_actions
from pkmncli.api import Action

VARIABLE = "PKMN_TEST_CRYSTAL_ROM"
LATEST = 6
"""Maximum steps until a change shows."""

Poke = Callable[[str, int], None]


def value(environment: PokemonEnvironment, name: str) -> int:
    return int(environment.profile.memory.read(environment.emulator, name))


def until(environment: PokemonEnvironment, action: Action, holds: Callable[[], bool]) -> None:
    """Repeat a press until a condition holds."""
    for _ in range(LATEST):
        environment.advance(action)
        if holds():
            return
    raise AssertionError(f"{action.name} {LATEST} times: {environment.state.phase.name}")


def check_device(environment: PokemonEnvironment, poke: Poke) -> None:
    """Go through menu and device, with all that the pilot relies on."""
    poke("wPokegearFlags", 0x8F)
    poke("wRadioTuningKnob", 0)
    until(environment, Action.START, lambda: environment.state.phase is Phase.MENU)
    assert not environment.state.menu.full_screen
    home = value(environment, "wMapGroup"), value(environment, "wMapNumber")
    poke("wMapGroup", CITY[0])
    poke("wMapNumber", CITY[1])  # stations are those of the region
    press = None
    while press is not Action.A:
        press = ScreenList.read(environment.game).press_for(environment.profile.charmap.encode("GEAR"), 5)
        assert press is not None, "the menu lists the device"
        environment.advance(press)

    def shows_clock() -> bool:
        return environment.state.menu.full_screen and value(environment, "wPokegearCard") == 0

    until(environment, Action.NONE, shows_clock)
    for card in (1, 2, 3):
        environment.advance(Action.RIGHT)
        environment.advance(Action.NONE)
        assert value(environment, "wPokegearCard") == card
        assert environment.state.phase is Phase.MENU
        assert {Action.UP, Action.DOWN, Action.RIGHT, Action.B} <= allowed_actions(environment.state)
    for action, knob in ((Action.DOWN, 0), (Action.UP, 2), (Action.UP, 4), (Action.DOWN, 2)):
        environment.advance(action)
        assert value(environment, "wRadioTuningKnob") == knob
    for knob in range(4, FLUTE + 2, 2):
        environment.advance(Action.UP)
        assert value(environment, "wRadioTuningKnob") == knob
    environment.advance(Action.NONE)
    assert value(environment, "wMapMusic") == FLUTE_MUSIC
    poke("wMapGroup", home[0])
    poke("wMapNumber", home[1])
    until(environment, Action.B, lambda: not environment.state.menu.full_screen)
    until(environment, Action.B, lambda: environment.state.phase is Phase.FREE)
    assert value(environment, "wMapMusic") == FLUTE_MUSIC


@pytest.mark.parametrize("slow", [False, True])
def test_the_model(crystal: GameProfile, slow: bool) -> None:
    rom, profile = city_image(crystal)
    device = RadioDevice(profile, rom, slow=slow)

    def poke(name: str, value: int) -> None:
        device.set(**{name: value})

    check_device(RadioGame(profile, device, "snorlax"), poke)


@pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} names no image of Pokemon Crystal")
def test_an_image_of_your_own(make: Callable[..., PokemonEnvironment]) -> None:
    """Check at the start of a new game, with the cards put into memory."""
    environment = make(
        game="crystal", rom_path=os.environ[VARIABLE], observation_type="state", without_mask_rules=["all"]
    )
    environment.reset(seed=1)

    def poke(name: str, value: int) -> None:
        place = environment.profile.memory[name]
        environment.emulator.memory[place.bank, place.address] = value

    check_device(environment, poke)
