"""From any state, the pilot never presses the same two or three buttons for long without a gain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from support.placed_game import MEMBER_BYTES, PlacedGame, Saved, saved_with_partner
from support.press_watch import PressWatch
from support.pyboy_fakes import FakeMemory, random_actions
from support.radio_device import RadioGame, city_image
from support.recordings import RECORDINGS, apply, recorded_rows
from support.variants import long_after

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import BATTLE_PHASES, Facing, Phase
from pkmn_pyboy.state.mask_rules import allowed_actions
from pkmn_pyboy.state.reader import StateReader
from pkmncli.api import Action

MakeEnvironment = Callable[..., PokemonEnvironment]
Place = Callable[[Saved], PokemonEnvironment]

MOST_STEPS = 200
MOST_IDLE_STEPS = 200
"""Maximum steps with any buttons in which only known tiles, texts and lists appear, and nothing lasting changes."""
LONG_SEEDS, LONG_STEPS = 50, 20_000
PARTNERS = 4
"""Settings of the first partner: the story's, and each of three."""
LAST_GOAL = "league_won"
HOME, BELOW_THE_DOOR = (1, 1), (4, 5)
CELLAR, LEVER = (2, 7), (9, 9)
TRAIL, GRASS_OF_TRAIL = (2, 1), (30, 8)
RILLET, KINDLYNX = 3, 2
UNUSED_FLAGS = 200
"""Byte of the story's flags that no story uses."""
MOST_HP, FOE_HP = 0x24, 0x10
BATTLERS = {
    "wBattleMonHP": (0, 2), "wEnemyMon": (FOE_HP, 2), "wBattleMonPP": (0, 4), "wPartyMon1": (0, 0x24),
}  # fmt: skip
"""Fields with HP and PP in battle: offset and bytes."""
PAGES = BATTLE_PHASES | {Phase.MENU, Phase.CHOICE}


def play(environment: PokemonEnvironment, pilot: RulesPilot, watch: PressWatch, steps: int, seed: int) -> int:
    """Play the steps, starting another episode after each one. Return how many ended with the goal."""
    goals = 0
    for step in range(steps):
        _, terminated, truncated = environment.advance(pilot.act().action)
        watch.note(environment.pressed)
        if terminated or truncated:
            environment.reset(seed=seed * LONG_STEPS + step)
            pilot.reset(seed * LONG_STEPS + step)
            watch.reset()
            goals += terminated
    return goals


def check(watch: PressWatch) -> None:
    assert watch.longest <= MOST_STEPS, watch.where
    assert watch.idlest <= MOST_IDLE_STEPS, watch.idle_where


@pytest.mark.long
@pytest.mark.parametrize("seed", range(PARTNERS))
def test_few_buttons_are_never_pressed_in_vain(make: MakeEnvironment, seed: int) -> None:
    environment = make(observation_type="state", max_steps_per_episode=LONG_STEPS)
    pilot, watch = RulesPilot(environment, PilotSettings(partner=seed)), PressWatch(environment)
    environment.reset(seed=seed)
    pilot.reset(seed)
    play(environment, pilot, watch, 2500, seed)
    check(watch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(LONG_SEEDS))
def test_few_buttons_are_never_pressed_in_vain_for_a_million_steps(make: MakeEnvironment, seed: int) -> None:
    """Play to the very last goal, which is optional and after the credits, with every first partner."""
    environment = make(observation_type="state", max_steps_per_episode=LONG_STEPS, goal=LAST_GOAL)
    pilot, watch = RulesPilot(environment, PilotSettings(partner=seed % PARTNERS)), PressWatch(environment)
    environment.reset(seed=seed)
    pilot.reset(seed)
    goals = play(environment, pilot, watch, LONG_STEPS, seed)
    check(watch)
    assert goals > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_few_buttons_are_never_pressed_in_vain_after_random_presses(make: MakeEnvironment, seed: int) -> None:
    """Random presses open lists, screens and questions; the pilot continues from such a saved state."""
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


# Screens that never change, as the game shows them ---------------------------------------------------------------


PAGES_RECORDED = {
    "bag": 14, "continue_page": 1, "grass": 1, "gym": 3, "route_30_north": 3, "route_30_south": 4, "wild_battle": 3,
}  # fmt: skip
"""Number of kinds of screens with a choice of buttons in each recording; the others have none."""


class Still(FakeMemory):
    """Moment of a recording that no press changes."""

    def __init__(self, profile: GameProfile, rom: bytes) -> None:
        super().__init__(profile.memory)
        self.rom = rom

    def push(self, action: Action) -> None:
        """Ignore the press."""


def moments(profile: GameProfile, rom: bytes, name: str) -> Iterator[tuple[int, Still]]:
    """Return the first moment of each kind of screen in a recording on which there is a choice of buttons."""
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


@pytest.mark.long
@pytest.mark.parametrize(("name", "kinds"), long_after(2, PAGES_RECORDED.items()))
def test_few_buttons_are_never_pressed_in_vain_on_recorded_screens(crystal: GameProfile, name: str, kinds: int) -> None:
    """Whatever the game refuses: after a while something else is tried."""
    rom, profile = city_image(crystal)
    tried = 0
    for frame, still in moments(profile, rom, name):
        environment = RadioGame(profile, still, "snorlax")  # type: ignore[arg-type]
        pilot, watch = RulesPilot(environment), PressWatch(environment)
        for _ in range(500):
            environment.advance(pilot.act().action)
            watch.note(environment.pressed)
        assert watch.longest <= MOST_STEPS, (frame, watch.where)
        tried += 1
    assert tried == kinds


@pytest.mark.long
def test_all_recordings_with_such_screens_are_tried(crystal: GameProfile) -> None:
    rom, profile = city_image(crystal)
    found = {name: sum(1 for _ in moments(profile, rom, name)) for name in RECORDINGS}
    assert {name: kinds for name, kinds in found.items() if kinds} == PAGES_RECORDED


# What the watch reports ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(quillwood: GameProfile) -> Saved:
    return saved_with_partner(quillwood)


@pytest.fixture
def placed(make: MakeEnvironment) -> Place:
    """Return an environment that continues from a saved game."""

    def place(saved: Saved) -> PokemonEnvironment:
        game = PlacedGame(saved)
        state = game.emulator.save_state()
        game.close()
        environment = make(
            observation_type="state", max_steps_per_episode=LONG_STEPS, seed_noops=(0, 0), seed_presses=0
        )
        environment.reset(seed=1, options={"start_state": state})
        assert environment.state.phase is Phase.FREE
        return environment

    return place


def watched(environment: PokemonEnvironment, presses: Callable[[int], int], steps: int) -> PressWatch:
    watch = PressWatch(environment)
    for step in range(steps):
        environment.advance(presses(step))
        watch.note(environment.pressed)
    return watch


def to_a_battle(make: MakeEnvironment) -> tuple[PokemonEnvironment, RulesPilot]:
    """Return the game at the first battle's menu."""
    environment = make(observation_type="state", max_steps_per_episode=LONG_STEPS)
    pilot = RulesPilot(environment)
    environment.reset(seed=3)
    pilot.reset(3)
    while environment.state.phase is not Phase.BATTLE_MENU:
        environment.advance(pilot.act().action)
        assert environment.steps < 3000
    return environment, pilot


def write(environment: PokemonEnvironment, name: str, data: bytes, offset: int = 0) -> None:
    field = environment.profile.memory[name]
    for place, byte in enumerate(data):
        environment.emulator.memory[field.bank, field.address + offset + place] = byte


def read(environment: PokemonEnvironment, name: str, size: int, offset: int = 0) -> bytes:
    field = environment.profile.memory[name]
    return environment.emulator.read(field.bank, field.address + offset, size)


@pytest.mark.parametrize(
    "buttons", long_after(1, [[Action.LEFT, Action.RIGHT], [Action.UP, Action.A, Action.DOWN], [Action.NONE]])
)
def test_the_watch_reports_a_loop(environment: PokemonEnvironment, buttons: list[Action]) -> None:
    watch = watched(environment, lambda step: buttons[step // 3 % len(buttons)], 400)
    assert watch.longest > MOST_STEPS
    assert watch.where.startswith("step ")


@pytest.mark.long
def test_the_watch_reports_a_long_loop_of_many_buttons(environment: PokemonEnvironment) -> None:
    buttons = (Action.LEFT, Action.UP, Action.RIGHT, Action.DOWN)
    watch = watched(environment, lambda step: buttons[step // 2 % 4], 600)
    assert watch.longest < MOST_STEPS
    assert watch.idlest > MOST_IDLE_STEPS


@pytest.mark.long
def test_the_watch_reports_going_in_and_out_of_a_door(placed: Place, saved: Saved) -> None:
    environment, maps = placed(saved.at(HOME, *BELOW_THE_DOOR, Facing.UP)), list[int]()

    def in_and_out(step: int) -> Action:
        maps.append(environment.state.map_id)
        return Action.UP if (environment.state.map_group, environment.state.map_number) == HOME else Action.DOWN

    watch = watched(environment, in_and_out, 1000)
    assert sum(one != other for one, other in pairwise(maps)) > 50
    assert watch.longest > MOST_STEPS


@pytest.mark.long
def test_the_watch_reports_a_lever_pulled_again_and_again(placed: Place, saved: Saved) -> None:
    """The lever's flag is also set and cleared again."""
    environment, levers = placed(saved.at(CELLAR, *LEVER, Facing.DOWN)), list[bytes]()

    def pull(step: int) -> Action:
        levers.append(read(environment, "wUndergroundSwitchPositions", 1))
        write(environment, "wEventFlags", levers[-1], UNUSED_FLAGS)
        return Action.A

    watch = watched(environment, pull, 2000)
    assert sum(one != other for one, other in pairwise(levers)) > 50
    assert watch.longest > MOST_STEPS


@pytest.mark.long
def test_the_watch_reports_two_members_who_take_turns(placed: Place, saved: Saved) -> None:
    environment = placed(saved.party((RILLET, [1]), (KINDLYNX, [1])).at(HOME, *BELOW_THE_DOOR))

    def turns(step: int) -> Action:
        records = read(environment, "wPartyMon1", 2 * MEMBER_BYTES)
        write(environment, "wPartyMon1", records[MEMBER_BYTES:] + records[:MEMBER_BYTES])
        write(environment, "wPartySpecies", read(environment, "wPartySpecies", 2)[::-1])
        return (Action.LEFT, Action.RIGHT)[step // 4 % 2]

    watch = watched(environment, turns, 400)
    assert len({environment.state.party.members, environment.state.party.members[::-1]}) == 2
    assert watch.longest > MOST_STEPS


@pytest.mark.long
def test_the_watch_reports_turns_of_a_battle_without_a_change(make: MakeEnvironment) -> None:
    environment, _ = to_a_battle(make)
    full = {name: read(environment, name, size, offset) for name, (offset, size) in BATTLERS.items()}

    def hold(step: int) -> int:
        for name, data in full.items():
            write(environment, name, data, BATTLERS[name][0])
        return int(Action.A if environment.state.phase in BATTLE_PHASES else Action.NONE)

    watch = watched(environment, hold, 3000)
    assert environment.state.battle is not None
    assert watch.longest > MOST_STEPS


@pytest.mark.long
def test_a_long_battle_is_no_loop(make: MakeEnvironment) -> None:
    """Nobody faints, and only PP go down from turn to turn."""
    environment, pilot = to_a_battle(make)

    def hold(step: int) -> int:
        for name, offset in (("wBattleMonHP", 0), ("wEnemyMon", FOE_HP)):
            write(environment, name, bytes([0, 15]), offset)
        return pilot.act().action

    watch = watched(environment, hold, 600)
    assert environment.state.battle is not None
    assert watch.longest < 20


@pytest.mark.long
def test_training_in_grass_is_no_loop(placed: Place, saved: Saved) -> None:
    """Left and right for hundreds of steps, with battles between."""
    environment = placed(saved.at(TRAIL, *GRASS_OF_TRAIL))
    pilot = RulesPilot(environment)
    experience = environment.state.party.members[0].experience

    def train(step: int) -> int:
        if environment.state.phase is not Phase.FREE:
            return pilot.act().action
        write(environment, "wPartyMon1", read(environment, "wPartyMon1", 2, MOST_HP), MOST_HP - 2)
        return int((Action.LEFT, Action.RIGHT)[step // 2 % 2])

    watch = watched(environment, train, 1500)
    assert environment.state.map_id == TRAIL[0] * 256 + TRAIL[1], "nobody lost"
    assert environment.state.party.members[0].experience > experience
    check(watch)


@pytest.mark.long
def test_a_walk_there_and_back_with_something_done_there_is_no_loop(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=LONG_STEPS)
    environment.reset(seed=4)
    pilot = RulesPilot(environment)
    pilot.reset(4)
    places = list[tuple[int, int, int]]()

    def go(step: int) -> int:
        places.append(environment.state.position)
        return pilot.act().action

    watch = watched(environment, go, 1200)
    assert len(places) > 2 * len(set(places)) > 200, "it comes where it was before"
    assert watch.longest < 30
