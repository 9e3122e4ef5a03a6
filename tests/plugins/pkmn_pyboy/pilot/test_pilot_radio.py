"""A station of the radio wakes a sleeper: the pilot tunes it in first, against a model of menu and device."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from support.radio_device import (
    CITY,
    CLOCK,
    FLUTE,
    FLUTE_MUSIC,
    MAP,
    PHONE,
    RADIO,
    RadioDevice,
    RadioGame,
    city_image,
)
from support.variants import long_after

from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.profile.milestones import Station, Target
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Phase
from pkmncli.api import Action

Begin = Callable[..., tuple[RadioGame, RulesPilot]]


@pytest.fixture(scope="module")
def city(crystal: GameProfile) -> tuple[bytes, GameProfile]:
    return city_image(crystal)


@pytest.fixture
def begin(city: tuple[bytes, GameProfile]) -> Begin:
    def build(**device: Any) -> tuple[RadioGame, RulesPilot]:
        rom, profile = city
        environment = RadioGame(profile, RadioDevice(profile, rom, **device), "snorlax")
        pilot = RulesPilot(environment)
        pilot.reset(1)
        return environment, pilot

    return build


def play(environment: RadioGame, pilot: RulesPilot, steps: int) -> list[str]:
    """Play at most ``steps`` until the sleeper has gone; return the reasons of the presses."""
    reasons = []
    for _ in range(steps):
        if environment.milestones.steps[environment.goal] >= 0:
            break
        decision = pilot.act()
        reasons.append(decision.reason)
        environment.advance(decision.action)
    assert environment.masked == 0
    return reasons


def woken(environment: RadioGame) -> bool:
    return environment.milestones.steps[environment.goal] >= 0


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("knob", range(0, 82, 2))
def test_the_station_is_tuned_in_from_any_knob_position(begin: Begin, knob: int, slow: bool) -> None:
    environment, pilot = begin(knob=knob, slow=slow)
    reasons = play(environment, pilot, 120)
    device = environment.device
    assert woken(environment)
    assert (device.value("wRadioTuningKnob"), device.value("wMapMusic")) == (FLUTE, FLUTE_MUSIC)
    assert (device.openings, device.talks) == (1, 1)
    turns = sum("knob" in reason for reason in reasons)
    assert turns <= abs(FLUTE - knob) // 2 + slow, "no turn too many"
    assert "leave the radio: it plays" in reasons


@pytest.mark.parametrize("opens_on", [CLOCK, MAP, PHONE, RADIO])
@pytest.mark.parametrize("cards", [(MAP, PHONE, RADIO), (PHONE, RADIO), (MAP, RADIO), (RADIO,)])
def test_its_card_is_found_from_any_other(begin: Begin, opens_on: int, cards: tuple[int, ...]) -> None:
    environment, pilot = begin(knob=60, opens_on=opens_on, cards=cards)
    play(environment, pilot, 120)
    assert woken(environment)
    assert environment.device.openings == 1


def test_a_person_by_number_may_want_a_station_too(city: tuple[bytes, GameProfile]) -> None:
    rom, profile = city
    target = Target(CITY[0] << 8 | CITY[1], person=5, station=Station(FLUTE, FLUTE_MUSIC))
    milestones = tuple(replace(one, target=target) if one.key == "snorlax" else one for one in profile.milestones)
    environment = RadioGame(replace(profile, milestones=milestones), RadioDevice(profile, rom), "snorlax")
    pilot = RulesPilot(environment)
    pilot.reset(1)
    play(environment, pilot, 160)
    assert woken(environment)
    assert environment.device.openings == 1


def test_a_station_that_plays_is_not_tuned_in_again(begin: Begin) -> None:
    environment, pilot = begin()
    environment.device.set(wMapMusic=FLUTE_MUSIC)
    play(environment, pilot, 40)
    assert woken(environment)
    assert Action.START not in environment.presses
    assert environment.device.talks == 1


def test_the_sleeper_is_not_talked_to_before_it_plays(begin: Begin) -> None:
    environment, pilot = begin()
    reasons = play(environment, pilot, 120)
    assert reasons.index("leave the radio: it plays") < reasons.index("goal snorlax")


FAILURES: list[tuple[dict[str, Any], str]] = [
    ({"broken": "entry"}, "its device does not open"),
    ({"broken": "open"}, "its device closes again"),
    ({"broken": "knob"}, "its knob does not turn"),
    ({"cards": (MAP, PHONE)}, "there is no card for it"),
    ({"cards": ()}, "there is no card for it"),
    ({"broken": "repeat"}, "it takes too long"),
    ({"signal": False}, "nothing plays there"),
    ({"signal": False, "knob": FLUTE}, "nothing plays there"),
]


@pytest.mark.parametrize(("device", "why"), long_after(1, FAILURES))
@pytest.mark.parametrize("slow", long_after(1, [False, True]))
def test_a_tuning_that_fails_is_given_up_for_other_goals(
    begin: Begin, device: dict[str, Any], why: str, slow: bool
) -> None:
    environment, pilot = begin(slow=slow, **device)
    reasons = play(environment, pilot, 390)
    tries = pilot.settings.goal_tries
    ends = [one for one, after in pairwise(reasons) if one.startswith("leave the radio") and after != one]
    assert set(ends) == {f"leave the radio: {why}"}
    assert environment.presses.count(Action.START) == tries
    assert environment.device.mode in ("map", "talk")
    assert not pilot.memory.tuning
    assert not any("radio" in reason for reason in reasons[-60:]), "it goes on with other things"


def test_a_menu_that_does_not_open_is_given_up(begin: Begin) -> None:
    environment, pilot = begin(broken="start")
    play(environment, pilot, 100)
    assert environment.presses.count(Action.START) <= 3 * pilot.settings.goal_tries
    assert not pilot.memory.tuning


def test_a_device_that_does_not_close_is_left_by_the_general_rule(begin: Begin) -> None:
    environment, pilot = begin(broken="close", opens_on=MAP)
    reasons = play(environment, pilot, 140)
    assert reasons[-1] == "leave the menu"
    assert not pilot.memory.tuning


@pytest.mark.long
def test_music_that_ends_with_the_device_is_tuned_in_only_so_often(begin: Begin) -> None:
    environment, pilot = begin(broken="music", knob=70)
    play(environment, pilot, 390)
    assert environment.device.openings == pilot.settings.goal_tries
    assert environment.device.mode in ("map", "talk")
    assert not woken(environment)


def test_a_screen_that_takes_no_directions_is_left(begin: Begin) -> None:
    """If the screen is not the device, no press that the mask forbids is made, nor A instead."""
    environment, pilot = begin()
    while environment.device.mode != "gear":
        environment.advance(pilot.act().action)
    environment.device.set(wStateFlags=0x40).tile(14, 1, 0x80)
    environment.game.look(environment.pressed, environment.steps, environment.frames)
    assert environment.state.phase is Phase.DIALOGUE
    decision = pilot.act()
    assert (decision.action, decision.reason) == (Action.B, "leave the radio: its screen does not accept the press")


def test_tuning_goes_on_from_a_saved_state(begin: Begin) -> None:
    environment, pilot = begin(knob=20)
    while environment.device.value("wRadioTuningKnob") < 40:
        environment.advance(pilot.act().action)
    saved = json.loads(json.dumps(pilot.save_state()))
    other = RulesPilot(environment)
    other.reset(7)
    other.load_state(saved)
    assert (other.act(), other.save_state()) == (pilot.act(), pilot.save_state())
    play(environment, other, 120)
    assert woken(environment)
    assert environment.device.openings == 1
