"""Single goals: an environment whose episodes begin in a kept state with one goal, and end when it is reached.

A task is a state of the game and a goal in it, as a language model would set it (`go_to`, `talk_to`, `fight`, `catch`,
`heal`), or the job that the rules have there (`menu`). The game alone decides if it was reached: by the tile, the map,
words with the right person, a battle that was not lost. The guiding pilot gets the goal as advice, so the learner sees
it like any other.

The variable `GOAL_TASKS` gives the file of the tasks, so that `pkmn train --set
env_class=goal_tasks:TaskEnvironment` trains on them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.screens.menu_tasks import LEAD, TEACH, USE
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.bag import Bag
from pkmn_pyboy.state.game_state import BATTLE_PHASES, Phase
from pkmn_pyboy.world.loaded_map import LoadedMap
from pkmn_pyboy.world.tile_rules import STEPS
from pkmncli.api import Advice

TILE, EXIT, TALK, THING, FIGHT, CATCH, HEAL, MENU, PUSH = (
    *("tile", "exit", "talk", "thing", "fight", "catch", "heal", "menu", "push"),
)
KINDS = (TILE, EXIT, TALK, THING, FIGHT, CATCH, HEAL, MENU, PUSH)
"""Kinds of goals: walk to a tile, leave for another map, talk to someone, take or read something, find and win a fight,
catch, heal, a job in the menu, leave where boulders block the way."""

TASKS_VARIABLE = "GOAL_TASKS"
REACHED_REWARD = 10.0
_WORDS = frozenset({Phase.DIALOGUE, Phase.CHOICE, Phase.MENU, Phase.CUTSCENE})
_COUNTER = 2
"""Distance in tiles at which someone can be spoken to, over a counter."""
_HEALED = 0.99


@dataclass(frozen=True, slots=True)
class Task:
    """A goal in a state. ``target`` is the data needed to decide if it was reached, by the kind."""

    kind: str
    map_id: int
    """Map where it begins."""
    goal_map: int
    """Map where it is reached."""
    seed: int
    """Seed of the pilot's episode that the state is from."""
    state: str
    """File of the state, beside that of the tasks."""
    skill: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    target: tuple[int, ...] = ()

    @property
    def advice(self) -> Advice | None:
        """The goal as advice; None if the rules have it themselves."""
        if not self.skill:
            return None
        return Advice(self.kind, skill=self.skill, arguments=dict(self.arguments), confidence=1.0, expires_after=10**6)


class Judge:
    """Judge of a task, from the game alone."""

    def __init__(self, environment: PokemonEnvironment) -> None:
        self._environment = environment
        self._map = LoadedMap(environment.emulator, environment.profile)
        self._moves = {move.machine: move.move for move in environment.profile.field_moves.values()}
        self._task: Task | None = None
        self.seen: dict[str, Any] = {}
        """Notes about the episode, as plain values."""

    def begin(self, task: Task, seen: Mapping[str, Any] | None = None) -> None:
        """Begin an episode, or resume it from its notes."""
        state = self._environment.state
        self._task = task
        caught = state.caught + state.party.count
        self.seen = dict(seen) if seen else {"caught": caught, "battle": False, "lost": False, "at": [-1, -1]}
        self._note_person()

    def reached(self) -> bool:
        """Return True once the goal is reached; called after each step."""
        task, state, seen = self._task, self._environment.state, self.seen
        assert task is not None
        free = state.phase is Phase.FREE
        if state.phase in BATTLE_PHASES:
            seen["battle"] = True
            seen["lost"] = seen["lost"] or (bool(state.party.members) and state.party.hp_share == 0.0)
        if task.kind == TILE:
            return free and (state.map_id, state.x, state.y) == task.target
        if task.kind in (EXIT, PUSH):
            return free and state.map_id == task.goal_map
        if task.kind in (TALK, THING):
            spoken = state.phase in _WORDS and self._faces_person()
            self._note_person()
            return spoken
        if task.kind == FIGHT:
            return bool(free and seen["battle"] and not seen["lost"])
        if task.kind == CATCH:
            return bool(state.caught + state.party.count > seen["caught"])
        if task.kind == HEAL:
            return bool(state.party.hp_share >= _HEALED)
        return self._job_done(task)

    def _note_person(self) -> None:
        """Note where the person to talk to is: an item that is taken is gone."""
        task, state = self._task, self._environment.state
        if task is None or task.kind not in (TALK, THING) or state.map_id != task.goal_map:
            return
        if state.phase is Phase.FREE:
            places = {one.number: [one.x, one.y] for one in self._map.people()}
            self.seen["at"] = places.get(task.target[0], [-1, -1])

    def _faces_person(self) -> bool:
        state = self._environment.state
        dx, dy = STEPS[int(state.facing)]
        fronts = [[state.x + dx * away, state.y + dy * away] for away in range(1, _COUNTER + 1)]
        return state.map_id == (self._task.goal_map if self._task else -1) and self.seen["at"] in fronts

    def _job_done(self, task: Task) -> bool:
        job, number, place, mark = task.target
        members = self._environment.state.party.members
        if place >= len(members):
            return False
        if job == JOBS.index(LEAD):
            return members[0].experience << 8 | members[0].species == mark
        if job == JOBS.index(USE):
            bag = Bag.read(self._environment.emulator, self._environment.profile.memory)
            return bag.count(number) < mark
        return self._moves.get(number, -1) in members[place].moves


JOBS = (USE, TEACH, LEAD)
"""Jobs by their number in a task's target, before the job's own number, the place and the mark."""


class TaskEnvironment(PokemonEnvironment):
    """Environment with one task per episode, chosen by the seed: first the kind of goal, then one of its tasks."""

    def __init__(self, settings: EnvironmentSettings | None = None) -> None:
        super().__init__(settings)
        self._file = Path(os.environ[TASKS_VARIABLE])
        self.tasks = read_tasks(self._file)
        kinds = dict.fromkeys(task.kind for task in self.tasks)
        self._by_kind = [[at for at, task in enumerate(self.tasks) if task.kind == kind] for kind in kinds]
        self._judge = Judge(self)
        self._at = 0
        self._advice: Advice | None = None

    @property
    def task(self) -> Task:
        """The task of this episode."""
        return self.tasks[self._at]

    def guide(self, pilot: Any) -> None:
        """Take the goals of a pilot, which gets each episode's goal as advice."""
        super().guide(pilot)
        act = pilot.act

        def act_on_task(advice: Advice | None = None) -> Any:
            return act(advice or self._advice)

        pilot.act = act_on_task

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin an episode with a task chosen by the seed, or by ``options["task"]``, its index in the file."""
        self._at = (options or {}).get("task", -1)
        if self._at < 0:
            draw = np.random.default_rng(seed)
            places = self._by_kind[draw.integers(len(self._by_kind))]
            self._at = places[draw.integers(len(places))]
        self._advice = self.task.advice
        state = (self._file.parent / self.task.state).read_bytes()
        begun = super().reset(seed=seed, options={"start_state": state})
        self._judge.begin(self.task)
        return begun

    def advance(self, action: Any) -> tuple[float, bool, bool]:
        """Take an action; the episode ends if the goal is reached."""
        reward, terminated, truncated = super().advance(action)
        if self._judge.reached():
            return reward + REACHED_REWARD, True, truncated
        return reward, terminated, truncated

    def _session(self) -> dict[str, Any]:
        return {**super()._session(), "task": self._at, "judge": self._judge.seen}

    def _load_session(self, session: Mapping[str, Any]) -> None:
        super()._load_session(session)
        self._at = int(session["task"])
        self._advice = self.task.advice
        self._judge.begin(self.task, session["judge"])


def read_tasks(file: Path) -> list[Task]:
    """Return the tasks of a file."""
    return [Task(**{**one, "target": tuple(one["target"])}) for one in json.loads(file.read_text(encoding="utf-8"))]


def write_tasks(file: Path, tasks: list[Task]) -> None:
    """Write a file of tasks."""
    file.write_text(json.dumps([asdict(task) for task in tasks], indent=1), encoding="utf-8")
