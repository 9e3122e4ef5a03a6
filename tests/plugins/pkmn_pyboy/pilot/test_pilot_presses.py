"""From no state does the pilot press the same two or three buttons for long with nothing gained by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from press_watch import PressWatch
from pyboy_fakes import FakeMemory, random_actions
from radio_device import RadioEnvironment, city_image
from test_pyboy_recordings import RECORDINGS, apply, recorded_rows

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.mask_rules import allowed_actions
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.state.game_state import BATTLE_PHASES, Phase
from pkmn_pyboy.state.reader import StateReader
from pkmncli.api import Action

MakeEnvironment = Callable[..., PokemonEnvironment]

MOST_STEPS = 200
MOST_IDLE_STEPS = 400
"""The same of whatever buttons: places, words and lists seen before, and nothing that lasts."""
LONG_SEEDS, LONG_STEPS = 50, 20_000
PAGES = BATTLE_PHASES | {Phase.MENU, Phase.CHOICE}


def play(environment: PokemonEnvironment, pilot: RulesPilot, watch: PressWatch, steps: int, seed: int) -> None:
    """Steps of the pilot; another episode begins where one ends."""
    for step in range(steps):
        _, terminated, truncated = environment.advance(pilot.act().action)
        watch.note(environment.pressed)
        if terminated or truncated:
            environment.reset(seed=seed * LONG_STEPS + step)
            pilot.reset(seed * LONG_STEPS + step)
            watch.reset()


def check(watch: PressWatch) -> None:
    assert watch.longest <= MOST_STEPS, watch.where
    assert watch.idlest <= MOST_IDLE_STEPS, watch.where


@pytest.mark.parametrize("seed", range(4))
def test_few_buttons_are_never_pressed_for_nothing(make: MakeEnvironment, seed: int) -> None:
    environment = make(observation_type="state", max_steps_per_episode=LONG_STEPS)
    pilot, watch = RulesPilot(environment), PressWatch(environment)
    environment.reset(seed=seed)
    pilot.reset(seed)
    play(environment, pilot, watch, 2500, seed)
    check(watch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(LONG_SEEDS))
def test_few_buttons_are_never_pressed_for_nothing_in_a_million_steps(make: MakeEnvironment, seed: int) -> None:
    environment = make(observation_type="state", max_steps_per_episode=LONG_STEPS)
    pilot, watch = RulesPilot(environment), PressWatch(environment)
    environment.reset(seed=seed)
    pilot.reset(seed)
    play(environment, pilot, watch, LONG_STEPS, seed)
    check(watch)


@pytest.mark.parametrize("seed", range(4))
def test_nor_from_states_into_which_someone_else_has_played(make: MakeEnvironment, seed: int) -> None:
    """Presses at random open lists, pages and questions; the pilot goes on from there, out of a saved state."""
    environment = make(observation_type="state", max_steps_per_episode=LONG_STEPS)
    pilot = RulesPilot(environment)
    environment.reset(seed=seed)
    pilot.reset(seed)
    other = make(observation_type="state", max_steps_per_episode=LONG_STEPS)
    met = set[Phase]()
    for part in range(5):
        for _ in range(350):
            environment.advance(pilot.act().action)
        for action in random_actions(environment, 10 * seed + part, 60):
            environment.advance(action)
            if environment.state.phase in PAGES:
                break
        met.add(environment.state.phase)
        other.reset(seed=seed)
        other.load_state(environment.save_state())
        successor, watch = RulesPilot(other), PressWatch(other)
        successor.load_state(pilot.save_state())
        for _ in range(400):
            other.advance(successor.act().action)
            watch.note(other.pressed)
        check(watch)
    assert met & PAGES


# Pages that never change, as the game shows them -----------------------------------------------------------------


class Still(FakeMemory):
    """A moment of a recording that no press changes."""

    def __init__(self, profile: GameProfile, rom: bytes) -> None:
        super().__init__(profile.memory)
        self.rom = rom

    def push(self, action: Action) -> None:
        """Nothing comes of it."""


def moments(profile: GameProfile, rom: bytes, name: str) -> Iterator[tuple[int, Still]]:
    """The first moment of each kind of page in a recording on which there is a choice of buttons."""
    memory, reader, kinds = Still(profile, rom), StateReader(profile), set[Any]()
    for frame, changed in recorded_rows(name):
        apply(memory, changed)
        state = reader.read(memory)
        menu = state.menu
        kind = (state.phase, menu.rows, menu.first_row, menu.first_column, menu.cursor_shown, state.message_box)
        if state.phase in PAGES and len(allowed_actions(state)) > 3 and kind not in kinds:
            kinds.add(kind)
            still = Still(profile, rom)
            still.bytes.update(memory.bytes)
            yield frame, still


@pytest.mark.parametrize("name", RECORDINGS)
def test_nor_on_any_recorded_page_that_no_press_changes(crystal: GameProfile, name: str) -> None:
    """Whatever the game refuses: after a while something else is tried."""
    rom, profile = city_image(crystal)
    for frame, still in moments(profile, rom, name):
        environment = RadioEnvironment(profile, still, "snorlax")  # type: ignore[arg-type]
        pilot, watch = RulesPilot(environment), PressWatch(environment)
        for _ in range(500):
            environment.advance(pilot.act().action)
            watch.note(environment.pressed)
        assert watch.longest <= MOST_STEPS, (frame, watch.where)


# What the watch itself tells -------------------------------------------------------------------------------------


def watched(make: MakeEnvironment, presses: Callable[[int], Action], steps: int = 400) -> PressWatch:
    environment = make(observation_type="state", max_steps_per_episode=LONG_STEPS)
    environment.reset(seed=1)
    watch = PressWatch(environment)
    for step in range(steps):
        environment.advance(presses(step))
        watch.note(environment.pressed)
    return watch


@pytest.mark.parametrize("buttons", [(Action.LEFT, Action.RIGHT), (Action.UP, Action.A, Action.DOWN), (Action.NONE,)])
def test_the_watch_tells_a_loop(make: MakeEnvironment, buttons: tuple[Action, ...]) -> None:
    watch = watched(make, lambda step: buttons[step // 3 % len(buttons)])
    assert watch.longest > MOST_STEPS
    assert watch.where.startswith("step ")


def test_the_watch_tells_a_long_round_of_many_buttons(make: MakeEnvironment) -> None:
    buttons = (Action.LEFT, Action.UP, Action.RIGHT, Action.DOWN)
    watch = watched(make, lambda step: buttons[step // 2 % 4], 600)
    assert watch.longest < MOST_STEPS
    assert watch.idlest > MOST_IDLE_STEPS
