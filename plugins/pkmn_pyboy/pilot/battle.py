"""Battles: the best move that has points left, or running from a wild Pokemon when weak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.memory import PACE, PilotMemory
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.state.game_state import Battle, GameState
from pkmn_pyboy.state.type_chart import TypeChart
from pkmncli.api import Action, Decision

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment

SURE = 0.9
LIKELY = 0.7

_WILD = 1
_MOST_FLIGHTS = 4
_SAME_TYPE = 1.5


class Fighter:
    """Chooses in battles.

    Args:
        environment: the game.
        settings: when to run.
    """

    def __init__(self, environment: PokemonEnvironment, settings: PilotSettings) -> None:
        self._settings = settings
        self._chart = TypeChart.from_rom(environment.rom.data, environment.profile.memory.rom_tables)

    def choose_action(self, state: GameState, memory: PilotMemory) -> Decision:
        """The menu of fight, Pokemon, pack and run."""
        menu = state.menu
        if self._should_run(state, memory):
            row, column, what = 2, 2, "run: weak"
        else:
            row, column, what = 1, 1, "fight"
        if menu.cursor_row != row:
            return Decision(Action.DOWN if row == 2 else Action.UP, what, SURE)
        if menu.cursor_column != column:
            return Decision(Action.RIGHT if column == 2 else Action.LEFT, what, SURE)
        if row == 2:
            memory.flights += 1
        return Decision(Action.A, what, SURE)

    def choose_move(self, state: GameState, memory: PilotMemory) -> Decision:
        """The list of moves: the strongest on the opponent that has points left."""
        battle = state.battle
        order = self.ranked_moves(battle) if battle is not None else []
        if not order:
            return Decision(Action.A, "the first move", LIKELY)
        wanted = order[memory.move_stalls // 2 % len(order)] + 1
        row = state.menu.cursor_row
        if row != wanted:
            return Decision(Action.DOWN if row < wanted else Action.UP, f"move {wanted}", SURE)
        mark = self._mark(battle)
        memory.move_stalls = memory.move_stalls + 1 if mark == memory.move_mark else 0
        memory.move_mark = mark
        return Decision(Action.A, f"move {wanted}", SURE)

    def ranked_moves(self, battle: Battle | None) -> list[int]:
        """Places (from 0) of the own moves that have points left, the one that should hurt most first."""
        own = battle.own if battle is not None else None
        if battle is None or own is None:
            return []
        usable = [place for place, move in enumerate(own.moves) if move and own.pp[place]]
        chart = self._chart
        if chart is None:
            return usable
        types = battle.opponent.types if battle.opponent is not None else ()

        def damage(place: int) -> float:
            move = own.moves[place]
            power, kind = chart.moves.get(move, (0, 0))
            return power * chart.factor(move, types) * (_SAME_TYPE if kind in own.types else 1.0)

        return sorted(usable, key=lambda place: (-damage(place), place))

    def _should_run(self, state: GameState, memory: PilotMemory) -> bool:
        battle = state.battle
        if battle is None or battle.kind != _WILD or battle.own is None or memory.flights >= _MOST_FLIGHTS:
            return False
        if memory.goal is not None and memory.goal.kind == PACE and not memory.healers:
            return False
        return battle.own.hp < self._settings.run_below * battle.own.max_hp

    @staticmethod
    def _mark(battle: Battle | None) -> list[int]:
        if battle is None or battle.own is None:
            return []
        return [*battle.own.pp, battle.own.hp, battle.opponent.hp if battle.opponent is not None else 0]
