"""Learning a fifth move on the screen: answers the question by value, then selects the move to give up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.battle import move_worth
from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.pilot.memory import NO, YES, PilotMemory
from pkmn_pyboy.pilot.screens.screen_lists import EncodedNames, ScreenList
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.state.game_state import GameState
from pkmncli.api import Action, Decision

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

SURE = 0.9


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
        self._names = EncodedNames(game.rom.data, game.profile.memory.rom_tables)
        self._keep = frozenset(move.move for move in game.profile.field_moves.values())

    def act(self, state: GameState, memory: PilotMemory) -> Decision | None:
        """Act on a question or a list about a new move; None if the screen asks something else."""
        if not state.menu.cursor_shown:
            return None
        if memory.forget:
            decision = self._point(state, memory)
            if decision is not None:
                return decision
        words = " ".join(self._game.screen_words().lower().split())
        if not any(word in words for word in self._settings.forget_words):
            return None
        found = move_worth.learner(state.party, self._tables) if not memory.teach else self._taught(state, memory)
        if found is None:
            return None
        place, new = found
        slot = move_worth.to_forget(self._tables, state.party.members[place], new, self._keep)
        memory.forget = [place, slot] if slot is not None else []
        memory.point(NO if slot is None else YES)
        if slot is None:
            return Decision(Action.B, "keep the old moves", SURE)
        return Decision(Action.A, "learn the new move", SURE)

    def _taught(self, state: GameState, memory: PilotMemory) -> tuple[int, int] | None:
        place, move = memory.teach[:2]
        return (place, move) if place < state.party.count else None

    def _point(self, state: GameState, memory: PilotMemory) -> Decision | None:
        place, slot = memory.forget
        if place >= state.party.count or 0 in state.party.members[place].moves:
            memory.forget = []
            return None
        names = [self._names.moves.get(move, b"") for move in state.party.members[place].moves]
        screen = ScreenList.read(self._game, memory)
        if not all(screen.rows_of(name) for name in names):
            return None
        press = screen.press_for(names[slot])
        if press is Action.A:
            memory.forget = []
        return Decision(press, "give up the least useful move", SURE) if press is not None else None
