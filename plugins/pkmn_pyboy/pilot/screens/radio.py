"""Tuning the radio: START, the device's entry, its card, the knob press by press, and B until the map is back.

Each press is chosen by what memory shows after the previous one, so it works from any card and any knob position.
A state that does not change for some steps, or repeats, ends the attempt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.memory import LEAVE, MENU, SEARCH, SURE, TALK, TILE, TURN, WAIT, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.notes import Tuning
from pkmn_pyboy.pilot.screens.screen_lists import ScreenList
from pkmn_pyboy.profile.memory_map import MemoryField
from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.profile.model import Radio
from pkmn_pyboy.state.game_state import GameState
from pkmncli.api import Action, Decision

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

PLAYS = "it plays"
"""Outcome of a tuning that worked."""

_ENTRY_GAP = 5
"""Columns from the cursor to the end of the entry: a word may precede it."""
_PATIENCE = 6
_BESIDE_TURNING, _LEAVING_STEPS = 40, 16
_MOST_OPENINGS = 3
"""Maximum openings of the entry; more count as a device that closes again."""


class RadioTuner:
    """Tuner to the station that a target needs, one at a time, kept in the memory until it plays or is given up.

    Args:
        game: the running game.
    """

    def __init__(self, game: Game) -> None:
        profile = game.profile
        self._game = game
        self._radio = profile.radio
        self._entry, self._most_steps = b"", 0
        if profile.radio is not None:
            self._entry = profile.charmap.encode(profile.radio.entry)
            self._most_steps = _BESIDE_TURNING + profile.radio.most // profile.radio.step

    def first(self, target: Target, goal: WalkGoal | None, memory: PilotMemory, tries: int) -> WalkGoal | None:
        """Return the goal to do first: the tuning, or the goal itself if its station plays or it needs none.

        Args:
            target: target of the goal. Its station is tuned in on its map only: leaving a map ends the music.
            goal: a goal on this map, if there is one.
            memory: failures.
            tries: maximum tries of anything.
        """
        station = target.station
        if goal is None or station is None or self._radio is None or goal.kind not in (TALK, TILE):
            return goal
        if self._music(self._radio) == station.music:
            return goal
        key = f"tune/{goal.map_id}/{station.knob}"
        if memory.tries.get(key, 0) >= tries:
            return None
        memory.task = None
        memory.tuning = Tuning(station.knob, station.music)
        return WalkGoal(MENU, key, goal.map_id, f"{goal.why}: tune the radio", goal.confidence)

    def act(self, state: GameState, memory: PilotMemory) -> Decision | None:
        """Act on the tuning; None if no station is wanted, or another part must answer the screen."""
        radio, tuning, page = self._radio, memory.tuning, state.menu.full_screen
        if radio is None or tuning is None or (state.message_box and not page):
            return None
        tuning.steps += 1
        if tuning.steps > self._most_steps + _LEAVING_STEPS:
            memory.tuning = None
            return None
        screen = ScreenList.read(self._game, memory)
        entry = None if page else screen.press_for(self._entry, _ENTRY_GAP)
        if not tuning.outcome:
            tuning.outcome = self._end(radio, screen, tuning, page=page)
        if tuning.outcome:
            memory.point(LEAVE)
            return Decision(Action.B, f"leave the radio: {tuning.outcome}", SURE)
        if not page:
            if entry is None:
                memory.point(WAIT)
            tuning.opened += entry is Action.A
            return Decision(Action.NONE if entry is None else entry, "open the radio's device", SURE)
        decision = self._turn(radio, tuning, memory)
        if not self._game.mask[decision.action]:
            # The replacement press might do anything on a screen that is not the expected one.
            tuning.outcome = "its screen does not accept the press"
            memory.point(LEAVE)
            return Decision(Action.B, f"leave the radio: {tuning.outcome}", SURE)
        return decision

    def _turn(self, radio: Radio, tuning: Tuning, memory: PilotMemory) -> Decision:
        if not self._shows_card(radio):
            memory.point(TURN, right=1)
            return Decision(Action.RIGHT, "look for the radio's card", SURE)
        wanted, knob = tuning.knob, self._knob(radio)
        if knob == wanted:
            memory.point(WAIT)
            return Decision(Action.NONE, "listen", SURE)
        memory.point(SEARCH, knob - wanted)
        return Decision(Action.UP if knob < wanted else Action.DOWN, "turn the radio's knob", SURE)

    def _end(self, radio: Radio, screen: ScreenList, tuning: Tuning, *, page: bool) -> str:
        """Return the reason to end the tuning; empty to continue."""
        knob = self._knob(radio)
        # A passed station keeps its music in memory, but not once the device is closed.
        if self._music(radio) == tuning.music and knob == tuning.knob:
            return PLAYS
        shown = [int(page), screen.row, *self._card(radio), knob]
        tuning.same = tuning.same + 1 if tuning.shown == shown else 0
        tuning.shown = shown
        if page and not tuning.opened:
            return "another screen is open"
        if tuning.opened > _MOST_OPENINGS:
            return "its device closes again"
        if tuning.steps > self._most_steps:
            return "it takes too long"
        if tuning.same < _PATIENCE:
            return ""
        if not page:
            return "its device does not open"
        if not self._shows_card(radio):
            return "there is no card for it"
        return "its knob does not turn" if knob != tuning.knob else "nothing plays there"

    def _music(self, radio: Radio) -> int:
        return self._value(radio.music)

    def _knob(self, radio: Radio) -> int:
        return self._value(radio.knob)

    def _value(self, place: MemoryField) -> int:
        return int(place.decode(self._game.emulator.read(place.bank, place.address, place.size)))

    def _card(self, radio: Radio) -> bytes:
        return self._game.emulator.read(radio.card.bank, radio.card.address, radio.card.size)

    def _shows_card(self, radio: Radio) -> bool:
        return radio.card.holds(self._game.emulator, self._game.state.map_id)
