"""Recorded menus and pages of a running game: the reader's phases, the masks, and the waits.

The bag, by frames: drawn from 136 on without a cursor, its list from 176 on, another pocket from 208 on; USE and QUIT
at 280, words from 296 on, yes or no at 496, the party from 544 on, the four moves at 1072, the bag again from 1424.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from support.pyboy_fakes import FakeMemory
from support.recordings import apply, recorded_rows

from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.pilot.notes import BattleNotes, BattlePlan
from pkmn_pyboy.pilot.screens import dialogue, pages
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmn_pyboy.state.mask_rules import allowed_actions
from pkmn_pyboy.state.reader import StateReader
from pkmncli.api import Action

STEP_FRAMES, SAMPLE_FRAMES = 24, 8
FEWEST_WAITS = 3
"""Minimum steps that end, in the bag's recording, while a page is drawn."""
DIRECTIONS = {Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT}
WITHOUT_CURSOR = (144, 152, 160, 168, 1424, 1440)
LISTS = (64, 176, 208, 224, 248, 544, 1072, 1464, 1512)
QUESTIONS = (280, 496, 952)


def states(crystal: GameProfile, name: str) -> Iterator[tuple[int, GameState, StateReader]]:
    """Yield a frame every 8, and the state then."""
    memory, reader = FakeMemory(crystal.memory), StateReader(crystal)
    frame = 0
    for then, changed in recorded_rows(name):
        while 0 < frame < then - 8:
            frame += 8
            yield frame, reader.read(memory), reader
        apply(memory, changed)
        frame = then
        yield frame, reader.read(memory), reader


def at(crystal: GameProfile, name: str, frame: int) -> GameState:
    return next(state for then, state, _ in states(crystal, name) if then == frame)


@pytest.mark.parametrize("frame", LISTS)
def test_a_list_on_a_page_is_a_menu_with_all_directions(crystal: GameProfile, frame: int) -> None:
    """Below the bag's list there is a message box with the item's description: still not a question."""
    state = at(crystal, "bag", frame)
    assert (state.phase, state.menu.cursor_shown) == (Phase.MENU, True)
    assert allowed_actions(state) == DIRECTIONS | {Action.A, Action.B, Action.NONE}


@pytest.mark.parametrize("frame", QUESTIONS)
def test_a_small_window_at_the_right_is_a_question(crystal: GameProfile, frame: int) -> None:
    state = at(crystal, "bag", frame)
    assert state.phase is Phase.CHOICE
    assert allowed_actions(state) == {Action.A, Action.B, Action.UP, Action.DOWN, Action.NONE}


@pytest.mark.parametrize("frame", WITHOUT_CURSOR)
def test_a_page_is_waited_for_while_it_has_neither_words_nor_a_cursor(crystal: GameProfile, frame: int) -> None:
    state, memory = at(crystal, "bag", frame), PilotMemory()
    assert state.phase is Phase.MENU
    assert state.page_opens
    pages.note(state, memory)
    decision = pages.wait(memory, PilotSettings())
    assert decision is not None
    assert (decision.action, decision.reason) == (Action.NONE, "wait for the screen")


def test_words_on_a_page_are_words_from_their_first_letter_on(crystal: GameProfile) -> None:
    for frame in (304, 400, 592, 1128):
        state = at(crystal, "bag", frame)
        assert state.phase is Phase.DIALOGUE
        assert not state.page_opens
        assert allowed_actions(state) == {Action.A, Action.B, Action.NONE}


def test_waiting_for_a_page_has_an_end(crystal: GameProfile) -> None:
    state, memory, settings = at(crystal, "bag", 160), PilotMemory(), PilotSettings()
    waited = 0
    while True:
        pages.note(state, memory)
        if pages.wait(memory, settings) is None:
            break
        waited += 1
    assert waited == settings.page_wait_steps


@pytest.mark.parametrize("first", range(0, STEP_FRAMES, SAMPLE_FRAMES))
def test_whatever_moment_a_step_ends_at_the_bag_is_never_left_while_it_is_drawn(
    crystal: GameProfile, first: int
) -> None:
    """Check each of the three moments at which steps of 24 frames can end."""
    memory, settings, opened, shown = PilotMemory(), PilotSettings(), 0, 0
    for frame, state, _ in states(crystal, "bag"):
        if frame % STEP_FRAMES != first:
            continue
        pages.note(state, memory)
        if state.page_opens:
            opened += 1
            assert pages.wait(memory, settings) is not None, frame
        elif state.phase is Phase.MENU and opened:
            shown += 1
            assert pages.wait(memory, settings) is None, frame
    assert opened >= FEWEST_WAITS
    assert shown > 0, "the page that was waited for opened"


def test_the_page_between_continue_and_the_map_takes_a(crystal: GameProfile) -> None:
    """The saved game's map is in memory already, but not set up yet; a map that is being set up takes no press."""
    waits = [(frame, state) for frame, state, _ in states(crystal, "continue_page") if frame <= 96]
    assert waits
    for _, state in waits:
        assert state.phase is Phase.MENU
        assert not state.loaded
        assert {Action.A, Action.B, Action.START} <= allowed_actions(state)
    after = at(crystal, "continue_page", 112)
    assert (after.phase, after.loaded) == (Phase.TRANSITION, True)
    last = at(crystal, "continue_page", 160)
    assert (last.phase, last.map_group, last.map_number, last.x, last.y) == (Phase.FREE, 24, 4, 13, 6)


def begins(state: GameState, steps: int, tiles: bytes = b"") -> list[int]:
    environment: Any = SimpleNamespace(reader=SimpleNamespace(screen_tiles=lambda: tiles))
    return [dialogue.begin_game(environment, state, PilotMemory(phase_steps=step)).action for step in range(steps)]


def test_title_and_continue_page_are_left_by_a_and_start(crystal: GameProfile) -> None:
    pressed = begins(at(crystal, "continue_page", 8), 16)
    assert pressed[0] == Action.A
    assert set(pressed) == {Action.A, Action.START}


def test_in_the_titles_list_the_first_entry_is_taken(crystal: GameProfile, memory: FakeMemory) -> None:
    """Choose CONTINUE if there is a saved game: START might begin a new one."""
    memory.set(wSpriteUpdatesEnabled=0, wWindowStackSize=1, w2DMenuNumRows=3, w2DMenuNumCols=1).cursor(2, 1)
    state = StateReader(crystal).read(memory)
    assert (state.phase, state.loaded) == (Phase.MENU, False)
    assert set(begins(state, 60)) == {Action.A}


@pytest.mark.long
def test_a_running_game_is_never_taken_for_the_title(crystal: GameProfile) -> None:
    for name in ("stairs", "route_30_north", "gym", "bag"):
        assert all(state.loaded for _, state, _ in states(crystal, name))


def test_a_page_that_a_plan_opens_in_a_battle_is_waited_for(crystal: GameProfile, memory: FakeMemory) -> None:
    """Battles always show the message box, except on their pages; without a plan, there is no wait."""
    memory.set(wMapGroup=3, wMapStatus=2, wBattleMode=2, wScriptRunning=255)
    state = StateReader(crystal).read(memory)
    assert (state.phase, state.message_box, state.menu.cursor_shown) == (Phase.BATTLE, False, False)
    for plan, waited in (
        (BattlePlan("switch", 1), True),
        (BattlePlan("item", 1, 0), True),
        (BattlePlan("move"), False),
        (None, False),
    ):
        pilot = PilotMemory(battle=BattleNotes(plan))
        pages.note(state, pilot)
        assert (pages.wait(pilot, PilotSettings()) is not None) == waited
    pilot = PilotMemory(battle=BattleNotes(BattlePlan("switch", 1)))
    pages.note(StateReader(crystal).read(memory.cursor(3, 0)), pilot)
    assert pages.wait(pilot, PilotSettings()) is None
