"""Teaching a move from a bag whose screens are drawn slowly, with pockets that left and right change."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from support.bag_device import CUT, BagDevice
from support.radio_device import RadioGame, city_image

from pkmn_pyboy.pilot.memory import MENU, WalkGoal
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.screens.menu_tasks import TEACH
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Phase
from pkmncli.api import Action

MOST_STEPS = 100


def teach(crystal: GameProfile, device: BagDevice) -> tuple[RadioGame, RulesPilot]:
    """Open the START menu with the task to teach the first member."""
    rom, profile = city_image(crystal)
    device.rom = rom
    environment = RadioGame(profile, device, "snorlax")  # type: ignore[arg-type]
    pilot = RulesPilot(environment)
    names: Any = SimpleNamespace(items={}, moves={CUT: profile.charmap.encode("CUT")})
    tasks = pilot.tasks
    tasks.names = names
    machine = next(move.machine for move in profile.field_moves.values() if move.move == CUT)
    tasks.begin(TEACH, machine, 0, environment.state, pilot.memory)
    pilot.memory.goal = WalkGoal(MENU, "teach", environment.state.map_id, "teach", 0.9)
    return environment, pilot


def play(environment: RadioGame, pilot: RulesPilot) -> None:
    while environment.state.phase is not Phase.FREE:
        decision = pilot.act()
        assert environment.mask[decision.action], decision
        environment.advance(decision.action)
        assert environment.steps < MOST_STEPS


@pytest.mark.parametrize("slow", [0, 1, 2, 5])
def test_a_move_is_taught_from_the_bag(crystal: GameProfile, slow: int) -> None:
    device = BagDevice(crystal, slow=slow)
    environment, pilot = teach(crystal, device)
    play(environment, pilot)
    assert device.taught
    assert device.accidents == []
    assert {Action.LEFT, Action.RIGHT} & set(environment.presses)
    assert pilot.memory.task is None


def test_a_member_that_cannot_learn_it_is_given_up(crystal: GameProfile) -> None:
    device = BagDevice(crystal, slow=1, refuses=True)
    environment, pilot = teach(crystal, device)
    play(environment, pilot)
    assert not device.taught
    assert device.accidents == []
    assert pilot.memory.tries["teach"] == pilot.settings.goal_tries


def test_a_window_of_another_item_is_closed(crystal: GameProfile) -> None:
    """If someone else has selected an item, it is not used instead of the machine."""
    device = BagDevice(crystal)
    environment, pilot = teach(crystal, device)
    for action in (Action.DOWN, Action.DOWN, Action.A, Action.A):
        environment.advance(action)
    assert device.mode == "use"
    play(environment, pilot)
    assert device.taught
    assert device.accidents == []
