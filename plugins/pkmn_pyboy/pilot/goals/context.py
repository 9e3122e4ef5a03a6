"""Parts of the pilot that the choosers of goals share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.memory import MENU, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.screens.menu_tasks import MenuTasks
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.walking.legs import PLANNED, Objectives
from pkmn_pyboy.pilot.walking.routes import Roads
from pkmn_pyboy.state.game_state import GameState

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game


@dataclass(slots=True)
class GoalContext:
    """Running game, settings, routes over maps, and tasks in the menu."""

    game: Game
    settings: PilotSettings
    roads: Roads
    tasks: MenuTasks
    objectives: Objectives = field(init=False)
    """Follower of routes."""

    def __post_init__(self) -> None:
        self.objectives = Objectives(self.game, self.settings, self.roads)

    def task(
        self, kind: str, number: int, slot: int, title: str, state: GameState, memory: PilotMemory
    ) -> WalkGoal | None:
        """Begin a task in the menu and return its goal; None if it is impossible or failed too often."""
        key = f"task/{kind}/{number}/{slot}"
        if not self.tasks.possible or memory.tries.get(key, 0) >= self.settings.goal_tries:
            return None
        self.tasks.begin(kind, number, slot, state, memory)
        return WalkGoal(MENU, key, state.map_id, title, PLANNED)
