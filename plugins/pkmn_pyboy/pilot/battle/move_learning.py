"""Learning a fifth move on the screen: answers the question by value, then selects the move to give up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.battle import move_worth
from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.pilot.memory import NO, SURE, YES, PilotMemory
from pkmn_pyboy.pilot.notes import MoveToForget
from pkmn_pyboy.pilot.screens.screen_lists import ScreenList
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.state.game_state import GameState
from pkmncli.api import Action, Decision

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game


class MoveLearner:
    """Chooser in questions and lists about a new move.

    Args:
        game: the running game.
        settings: words of these questions.
        tables: moves, types and species.
    """

    def __init__(self, game: Game, settings: PilotSettings, tables: BattleTables) -> None:
        self._game = game
        self._settings = settings
        self._tables = tables
        self._names = game.encoded_names
        self._keep = frozenset(move.move for move in game.profile.field_moves.values())

    def act(self, state: GameState, memory: PilotMemory) -> Decision | None:
        """Act on a question or a list about a new move; None if the screen asks something else."""
        if not state.menu.cursor_shown:
            return None
        if memory.forget is not None:
            decision = self._point(memory.forget, state, memory)
            if decision is not None:
                return decision
        words = " ".join(self._game.screen_words().lower().split())
        if not any(word in words for word in self._settings.forget_words):
            return None
        task = memory.task
        if task is None or not task.move:
            found = move_worth.learner(state.party, self._tables)
        else:
            found = (task.slot, task.move) if task.slot < state.party.count else None
        if found is None:
            return None
        place, new = found
        slot = move_worth.to_forget(self._tables, state.party.members[place], new, self._keep)
        memory.forget = MoveToForget(place, slot) if slot is not None else None
        memory.point(NO if slot is None else YES)
        if slot is None:
            return Decision(Action.B, "keep the old moves", SURE)
        return Decision(Action.A, "learn the new move", SURE)

    def _point(self, forget: MoveToForget, state: GameState, memory: PilotMemory) -> Decision | None:
        place, slot = forget
        if place >= state.party.count or 0 in state.party.members[place].moves:
            memory.forget = None
            return None
        names = [self._names.moves.get(move, b"") for move in state.party.members[place].moves]
        screen = ScreenList.read(self._game, memory)
        if not all(screen.rows_of(name) for name in names):
            return None
        press = screen.press_for(names[slot])
        if press is Action.A:
            memory.forget = None
        return Decision(press, "give up the least useful move", SURE) if press is not None else None
