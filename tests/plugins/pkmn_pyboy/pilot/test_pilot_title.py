"""From the title screen on: the pilot starts a new game, or continues the saved one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from pkmn_pyboy.emulation.buttons import BUTTONS
from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.state.game_state import Phase
from pkmncli.api import Action

MakeEnvironment = Callable[..., PokemonEnvironment]

TO_SAVE = (
    *(Action.START, Action.NONE, Action.DOWN, Action.DOWN, Action.DOWN, Action.DOWN, Action.A),
    *(Action.NONE,) * 3,
    Action.A,
    *(Action.NONE,) * 6,
)
FEW_FRAMES = 8
MOST_STEPS = 60


def switched_on(environment: PokemonEnvironment, cartridge_ram: bytes | None = None) -> bytes:
    """Return the state of a console just switched on, with a battery save."""
    with contextlib.closing(Emulator(environment.rom, cartridge_ram=cartridge_ram)) as fresh:
        fresh.run(FEW_FRAMES)
        return fresh.save_state()


def play_to_the_map(make: MakeEnvironment, state: bytes) -> PokemonEnvironment:
    environment = make(observation_type="state", seed_noops=(0, 0), seed_presses=0)
    environment.reset(seed=1, options={"start_state": state})
    pilot = RulesPilot(environment)
    assert not environment.state.loaded
    while environment.state.phase is not Phase.FREE:
        decision = pilot.act()
        assert environment.mask[decision.action]
        environment.advance(decision.action)
        assert environment.steps < MOST_STEPS, environment.screen_words()
    return environment


@pytest.mark.long
def test_a_new_game_is_begun(make: MakeEnvironment) -> None:
    environment = make(observation_type="state")
    begun = play_to_the_map(make, switched_on(environment))
    assert begun.state.map_group > 0
    assert begun.state.loaded
    assert not begun.state.party.members


@pytest.mark.long
def test_a_saved_game_goes_on(make: MakeEnvironment) -> None:
    environment = make(observation_type="state")
    pilot = RulesPilot(environment)
    environment.reset(seed=1)
    pilot.reset(1)
    while not environment.state.party.members or environment.state.phase is not Phase.FREE:
        environment.advance(pilot.act().action)
    saved = environment.state
    for action in TO_SAVE:
        environment.emulator.press(BUTTONS[action], environment.hold_frames, environment.action_frames)
    with contextlib.closing(Emulator(environment.rom)) as other:
        other.load_state(environment.emulator.save_state())
        ram = other.close_with_cartridge()
    state = play_to_the_map(make, switched_on(environment, ram)).state
    assert (state.position, state.party) == (saved.position, saved.party)
