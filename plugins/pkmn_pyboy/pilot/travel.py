"""Walking for a goal: a path is planned once, followed press by press, and planned again when a press fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.goals.choosing import GoalChooser
from pkmn_pyboy.pilot.memory import EXIT, LOOK, MENU, PACE, PUSH, TALK, TILE, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.notes import Block, Interruption, PathStep, Progress
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.walking.paths import one_step, pace, presses
from pkmn_pyboy.pilot.walking.pushing import back_in_places, clearing_path, is_due, push_path
from pkmn_pyboy.pilot.walking.surroundings import Lookout, Surroundings
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.changed_world import ChangedWorld
from pkmn_pyboy.world.seen_world import SeenWorld
from pkmn_pyboy.world.tile_rules import PRESSES, STEPS
from pkmncli.api import Action, Decision

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

WANDERING = 0.2
WAITING = 0.3

_A, _START = int(Action.A), int(Action.START)
_DIRECTION_OF = {int(press): direction for direction, press in enumerate(PRESSES)}
_BLOCK_STEPS = 40
_BUMPS = 2
_WAITS = 4
_LEGS = 80
_DOOR_DISTANCE = 1


class Traveller:
    """Decisions while the player can walk.

    Args:
        game: the running game.
        settings: limits and costs.
        chooser: chooses what to walk for.
        world: the seen world if nothing else may be known; else the maps, which note what changes on them.
    """

    def __init__(
        self,
        game: Game,
        settings: PilotSettings,
        chooser: GoalChooser,
        world: SeenWorld | ChangedWorld,
    ) -> None:
        self._game = game
        self._settings = settings
        self._chooser = chooser
        self._changed = world if isinstance(world, ChangedWorld) else None
        self._lookout = Lookout(game, world if isinstance(world, SeenWorld) else None)

    def act(self, state: GameState, memory: PilotMemory) -> Decision:
        """Decide on a press while the player has control."""
        self._take_in(state, memory)
        return self.decide(state, memory)

    def decide(self, state: GameState, memory: PilotMemory) -> Decision:
        """Decide on a press, once the result of the latest press is known."""
        if memory.walk.still >= self._settings.stuck_steps:
            memory.drop_goal(tried=True)
            memory.walk.still = 0
            memory.walk.wander = self._settings.wander_steps
        if memory.walk.wander > 0:
            memory.walk.wander -= 1
            return self._wander(memory)
        if not self._lookout.readable:
            return self._wander(memory)
        for _ in range(3):
            if not memory.path and not self._plan(state, memory):
                break
            decision = self._step(memory)
            if decision is not None:
                return decision
        return self._wander(memory)

    # Result of the latest press ---------------------------------------------------------------------------------

    def _take_in(self, state: GameState, memory: PilotMemory) -> None:
        moved = memory.walk.place != (state.x, state.y) or memory.map_id != state.map_id
        if memory.map_id != state.map_id:
            self._arrive(state, memory)
        elif memory.walk.interrupted and memory.walk.using:
            memory.path = []
        elif memory.walk.interrupted:
            goal = memory.goal
            if goal is not None and (goal.kind == PACE or memory.walk.interrupted is Interruption.BATTLE):
                memory.drop_goal(tried=False)
            elif goal is not None and memory.walk.interrupted is Interruption.TEXT:
                memory.drop_goal(tried=True)
            memory.path = []
        else:
            self._follow_up(state, memory, moved)
        memory.walk.faced = int(state.facing)
        if moved:
            memory.walk.place = (state.x, state.y)
            memory.walk.walked += 1
            memory.walk.still = 0
        else:
            memory.walk.still += 1
        if memory.walk.interrupted:
            memory.walk.using = False
            self._notice_items(memory)
        memory.walk.interrupted = Interruption.NONE
        self._notice_progress(memory)

    def _arrive(self, state: GameState, memory: PilotMemory) -> None:
        came_from = memory.map_id
        goal, arrivals = memory.goal, f"arrive/{state.map_id}"
        memory.count(memory.tries, arrivals)
        # When a map is entered again and again, count the exit as tried so that another one is chosen.
        often = memory.tries[arrivals] > self._settings.goal_tries
        memory.drop_goal(tried=goal is not None and goal.kind == EXIT and often)
        memory.map_id = state.map_id
        memory.count(memory.visits, str(state.map_id))
        around = self._look(state, memory, arrived=True) if self._lookout.readable else None
        if around is None or came_from < 0:
            return
        for exit_ in around.exits:
            if exit_.destination != came_from:
                continue
            tiles = (around.grid.tile_of(cell) for cell in exit_.ends)
            if any(abs(x - state.x) + abs(y - state.y) <= _DOOR_DISTANCE for x, y in tiles):
                memory.count(memory.taken, f"{state.map_id}/{exit_.key}")

    def _look(
        self, state: GameState, memory: PilotMemory, *, grass_cost: int = 0, arrived: bool = False
    ) -> Surroundings | None:
        """Look around and note what the story changed here and elsewhere; routes are then planned again."""
        around = self._lookout.look(state, memory, grass_cost=grass_cost)
        if around is None or self._changed is None:
            return around
        flags = self._game.event_flags()
        told = bool(flags) and self._changed.follow_bytes(flags)
        seen = self._changed.note(around.grid, arrived=arrived)
        if told or seen:
            memory.route.drop()
        return around

    def _follow_up(self, state: GameState, memory: PilotMemory, moved: bool) -> None:
        path, goal = memory.path, memory.goal
        if not path:
            return
        if goal is not None and goal.kind == LOOK and self._lookout.hides_nothing(goal.map_id, goal.x, goal.y):
            memory.drop_goal(tried=False)
            return
        x, y, press = path[0]
        direction = _DIRECTION_OF.get(press)
        if memory.walk.place == (x, y) and moved:
            dx, dy = STEPS[direction] if direction is not None else (0, 0)
            expected = path[1][:2] if len(path) > 1 else (x + dx, y + dy)
            if self._game.pressed == press == memory.proposed or (state.x, state.y) == expected:
                path.pop(0)
                memory.walk.bumps = memory.walk.waited = 0
        elif memory.walk.place == (x, y) and self._game.pressed == press == memory.proposed:
            turned = len(path) > 1 and path[1].press == _A and state.facing == direction
            if self._has_pushed(path, memory):
                self._go_on_pushing(memory)
                return
            if press == _A or turned:
                path.pop(0)
            elif direction is None or memory.walk.faced == direction:
                # A press that only turned the player is not a failed step.
                memory.walk.bumps += 1
        if not path:
            self._reached(state, memory)
        elif path[0][:2] != (state.x, state.y):
            memory.path = []
        elif memory.walk.bumps >= _BUMPS and press == _START:
            memory.drop_goal(tried=True)
        elif memory.walk.bumps >= _BUMPS and press != _A:
            self._remember_block(state, memory, press)

    def _has_pushed(self, path: list[PathStep], memory: PilotMemory) -> bool:
        """Return whether the boulder ahead moved as planned; the player stays behind."""
        x, y, press = path[0]
        direction = _DIRECTION_OF.get(press)
        if len(path) > 1 or direction is None or not is_due(x, y, direction, memory):
            return False
        dx, dy = STEPS[direction]
        return not self._lookout.boulder_at(x + dx, y + dy)

    @staticmethod
    def _go_on_pushing(memory: PilotMemory) -> None:
        """Remove a completed push from the plan; the goal stays, and its path is planned from here."""
        memory.pushing.due.pop(0)
        memory.path = []
        memory.walk.bumps = memory.walk.waited = 0
        memory.walk.paths += 1
        if memory.walk.paths >= _LEGS:
            memory.drop_goal(tried=True)

    def _reached(self, state: GameState, memory: PilotMemory) -> None:
        goal = memory.goal
        if goal is None or goal.kind in (PACE, PUSH):
            memory.walk.bumps = 0
            memory.walk.paths += 1
            if memory.walk.paths >= _LEGS:
                memory.drop_goal(tried=True)
        elif goal.kind == EXIT or (goal.kind == TILE and goal.facing < 0 and (state.x, state.y) != (goal.x, goal.y)):
            # The press should have led away, or to the tile: the next plan begins here.
            memory.walk.bumps += 1
            if memory.walk.bumps >= _BUMPS:
                memory.drop_goal(tried=True)
        else:
            memory.drop_goal(tried=True)

    def _remember_block(self, state: GameState, memory: PilotMemory, press: int) -> None:
        direction = _DIRECTION_OF[press]
        dx, dy = STEPS[direction]
        pushing = len(memory.path) == 1 and is_due(state.x, state.y, direction, memory)
        memory.walk.blocks.append(Block(state.map_id, state.x + dx, state.y + dy, self._game.steps + _BLOCK_STEPS))
        memory.walk.bumps = 0
        memory.path = []
        if memory.goal is not None and (pushing or memory.goal.kind in (EXIT, PUSH)):
            memory.drop_goal(tried=True)

    def _notice_progress(self, memory: PilotMemory) -> None:
        game = self._game
        reached, maps = game.milestones.count, len(memory.visits)
        before = memory.walk.progress
        if before is None or (before.milestones, before.maps) != (reached, maps):
            if before is not None and before.milestones != reached:
                memory.drop_goal(tried=False)
                memory.strength.losses, memory.route.avoid = 0, []
            memory.walk.progress = Progress(reached, maps, game.steps)
            memory.try_again()
        elif game.steps - before.step > self._settings.forget_tries_steps:
            before.step = game.steps
            memory.tries.clear()
            memory.drop_goal(tried=False)
            memory.walk.wander = self._settings.wander_steps

    def _notice_items(self, memory: PilotMemory) -> None:
        """Retry failed goals when a new kind of item was obtained, which may be what they needed."""
        game = self._game
        kinds = game.bag().kinds
        if kinds > memory.walk.kinds >= 0:
            memory.try_again()
        memory.walk.kinds = kinds

    # Planning -----------------------------------------------------------------------------------------------

    def _plan(self, state: GameState, memory: PilotMemory) -> bool:
        """Plan a path, with a new goal if needed. Return whether there is one."""
        around: Surroundings | None = None
        for _ in range(2):
            if memory.goal is None:
                around = self._look(state, memory, grass_cost=self._grass_cost(memory))
                if around is None:
                    return False
                memory.goal = self._chooser.choose(state, memory, around)
                if memory.goal is None:
                    return False
            elif around is None:
                around = self._look(state, memory, grass_cost=self._grass_cost(memory))
                if around is None:
                    return False
            memory.path = self._path(memory.goal, state, memory, around)
            if memory.path:
                return True
            again = self._back_in_places(memory.goal, memory, around)
            if again is not None:
                memory.goal = again
                memory.path = self._path(again, state, memory, around)
                return bool(memory.path)
            memory.drop_goal(tried=True)
        return False

    def _grass_cost(self, memory: PilotMemory) -> int:
        return 0 if memory.goal is not None and memory.goal.kind == PACE else self._settings.grass_cost

    def _path(self, goal: WalkGoal, state: GameState, memory: PilotMemory, around: Surroundings) -> list[PathStep]:
        grid = around.grid
        if goal.kind == PACE:
            return pace(memory, around)
        if goal.kind == MENU:
            return [PathStep(state.x, state.y, _START)]
        if goal.kind == PUSH:
            return push_path(goal, int(state.facing), memory, around)
        ends = self._ends(goal, around)
        nearest = around.walk.nearest(ends)
        if nearest is None:
            return clearing_path(ends, int(state.facing), memory, around)
        cell = nearest[0]
        steps = around.walk.directions(cell)
        path = presses(steps, int(state.facing), around)
        facing = steps[-1][1] if steps else int(state.facing)
        x, y = grid.tile_of(cell)
        final = ends[cell]
        if goal.kind == EXIT:
            if final >= 0:
                path.append(PathStep(x, y, int(PRESSES[final])))
            elif not steps:
                # The player is on a door that acts when entered: step off first, then back.
                path = one_step(around)
        elif final >= 0:
            if facing != final:
                path.append(PathStep(x, y, int(PRESSES[final])))
            path.append(PathStep(x, y, _A))
        return path

    @staticmethod
    def _ends(goal: WalkGoal, around: Surroundings) -> dict[int, int]:
        """Return the cells where a goal's path may end, with the direction to face or press, negative for none."""
        grid = around.grid
        if goal.kind in (TILE, LOOK):
            return {grid.cell(goal.x, goal.y): goal.facing}
        if goal.kind == TALK:
            return around.talk_ends(goal.x, goal.y, goal.facing)
        ends: dict[int, int] = next((exit_.ends for exit_ in around.exits if exit_.key == goal.exit), {})
        cell = grid.cell(goal.x, goal.y) if goal.x >= 0 else -1
        return {cell: ends[cell]} if cell in ends and around.search.reaches(cell) else ends

    def _back_in_places(self, goal: WalkGoal, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Return a goal that resets the boulders, if only they block the path and no pushes would clear it."""
        if goal.kind not in (TILE, LOOK, TALK, EXIT) or around.search.nearest(self._ends(goal, around)) is None:
            return None
        return back_in_places(goal, memory, around, self._settings.goal_tries)

    # Next press --------------------------------------------------------------------------------------------------

    def _step(self, memory: PilotMemory) -> Decision | None:
        """Return the due press; None if the path is no longer usable."""
        goal = memory.goal
        if goal is None:
            memory.path = []
            return None
        x, y, press = memory.path[0]
        people = self._lookout.nearby()
        if goal.kind != PUSH and goal.person in people and people[goal.person] != (goal.x, goal.y):
            goal.x, goal.y = people[goal.person]
            memory.path = []
            return None
        direction = _DIRECTION_OF.get(press)
        turns = len(memory.path) > 1 and memory.path[1][:2] == (x, y)
        if direction is not None and not turns:
            ahead = (x + STEPS[direction][0], y + STEPS[direction][1])
            if ahead in people.values() and not self._lookout.boulder_at(*ahead):
                return self._wait_for(memory, goal)
        memory.walk.using = press == _A and len(memory.path) > 1
        return Decision(press, goal.why, goal.confidence)

    def _wait_for(self, memory: PilotMemory, goal: WalkGoal) -> Decision | None:
        """Walk around a person in the way at once if possible, else wait a little."""
        memory.walk.waited += 1
        if memory.walk.waited == 1:
            memory.path = []
            return None
        if memory.walk.waited > _WAITS:
            memory.drop_goal(tried=True)
            return None
        return Decision(Action.NONE, f"{goal.why}: someone is in the way", WAITING)

    @staticmethod
    def _wander(memory: PilotMemory) -> Decision:
        memory.path = []
        return Decision(int(PRESSES[memory.draw(len(PRESSES))]), "walk at random", WANDERING)
