"""Goals of each kind on held-out maps and from held-out states: does the learner reach goals, or know a route.

    python benchmarks/goals_held_out.py --folder /tmp/goals --seeds 0-4
    python benchmarks/goals_held_out.py --folder /tmp/goals --jobs 16 --limit-s 540 --json goals.json
    python benchmarks/goals_held_out.py --folder /tmp/goals --run /tmp/take-over/default-0-training

First the pilot plays the bundled game from power-on. States are kept along its way, and in each some goals that it did
not have there: a tile that it visited, a neighbouring map, someone to talk to, a fight, a healer. A goal counts as a
task if the pilot reaches it within the budget of steps. Then some of the maps are held out, and some of the pilot's
episodes: trainings see tasks of the other episodes that begin and end on the other maps. Last, the trained learner
plays tasks of three sorts alone: those on held-out maps, those that begin in states of held-out episodes on maps of the
training, and those of the training. Random play and the pilot play the same tasks, from starts varied by other seeds.

With --run, an existing training is measured instead, such as one of `pkmn train` without any options; then all maps
that it has never visited are held out. Everything is kept in the folder. With --limit-s the benchmark stops in time
with the exit code 3; the same command continues with what is missing.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from goal_tasks import (
    CATCH,
    EXIT,
    FIGHT,
    HEAL,
    JOBS,
    KINDS,
    MENU,
    PUSH,
    TALK,
    TASKS_VARIABLE,
    THING,
    TILE,
    Task,
    TaskEnvironment,
    read_tasks,
    write_tasks,
)
from learner_in_hand import LearnerInHand
from pilot import numbers
from pinned_jobs import Cores, default_jobs, keep, kept, pkmn, run_and_show
from take_over import table

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot import memory as pilot_memory
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.game_state import Phase
from pkmn_pyboy.world.loaded_map import LoadedMap
from pkmn_pyboy.world.records import Role
from pkmncli.errors import PkmnError
from pkmncli.training.evaluation.evaluation import wilson_interval

BETWEEN_STATES = 40
"""Steps of the pilot between two kept states."""
LEAST_DISTANCE = 3
"""Minimum distance in tiles of a goal tile."""
HURT = 0.9
"""Share of hit points below which a healer is a goal."""
MOST_OF_A_KIND = 3
"""Maximum number of tasks of one kind that begin on one map, per episode of the pilot."""
HELD_OUT_SHARE = 0.3
"""Minimum share of tasks on held-out maps."""
LEARNER, PILOT, RANDOM = "learner alone", "pilot", "random play"
SORTS = ("held-out maps", "held-out states", "training's own")
TRIAL_SEED, MEASURED_SEED = 1, 1_000


# Tasks ----------------------------------------------------------------------------------------------------------


def collect(seed: int, steps: int, budget: int, folder: Path) -> list[Task]:
    """Return the tasks along one episode of the pilot: those that it reaches itself. A file keeps them."""
    file = folder / f"pilot-{seed}.json"
    if file.exists():
        return read_tasks(file)
    environment = PokemonEnvironment(EnvironmentSettings(observation_type="state", max_steps_per_episode=steps))
    pilot, loaded = RulesPilot(environment), LoadedMap(environment.emulator, environment.profile)
    environment.reset(seed=seed)
    pilot.reset(seed)
    draw, kept_states, last_kept = random.Random(seed), [], -BETWEEN_STATES
    stood: dict[int, dict[tuple[int, int], None]] = defaultdict(dict)
    next_maps: dict[int, dict[int, None]] = defaultdict(dict)
    here, jobs, over = -1, ("", ()), False
    while not over:
        decision, state = pilot.act(), environment.state
        if state.phase is Phase.FREE:
            if here not in (-1, state.map_id):
                next_maps[here][state.map_id] = None
            here = state.map_id
            stood[here][state.x, state.y] = None
            job = _job_of(pilot)
            if environment.steps - last_kept >= BETWEEN_STATES or (job[0] and job != jobs):
                last_kept = environment.steps
                name = f"{seed}-{environment.steps}.state"
                (folder / name).write_bytes(environment.save_state())
                kept_states.append((name, state, loaded.people(), job if job != jobs else ("", ())))
            jobs = job
        _, terminated, truncated = environment.advance(decision.action)
        over = terminated or truncated
    environment.close()
    found = [
        task
        for name, state, around, job in kept_states
        for task in _tasks_in(name, seed, state, around, job, stood[state.map_id], next_maps[state.map_id], draw)
    ]
    reached = [task for task, steps in zip(found, _trial(found, budget, folder, seed), strict=True) if steps >= 0]
    wanted, counts = [], Counter[tuple[str, int]]()
    draw.shuffle(reached)
    for task in reached:
        counts[task.kind, task.map_id] += 1
        if counts[task.kind, task.map_id] <= MOST_OF_A_KIND:
            wanted.append(task)
    in_use = {task.state for task in wanted}
    for name, *_ in kept_states:
        if name not in in_use:
            (folder / name).unlink()
    write_tasks(file, wanted)
    return wanted


def _job_of(pilot: RulesPilot) -> tuple[str, tuple[int, ...]]:
    """Return the kind of a goal that no advice asks for, and the data needed to decide if it was reached."""
    memory, task = pilot.memory, pilot.memory.task
    if task is not None and memory.goal is not None and memory.goal.kind == pilot_memory.MENU:
        return MENU, (JOBS.index(task.kind), task.number, task.slot, task.mark)
    if memory.pushing.due:
        return PUSH, tuple(map(int, memory.pushing.purpose))
    return "", ()


def _tasks_in(
    name: str,
    seed: int,
    state: Any,
    people: Sequence[Any],
    job: tuple[str, tuple[int, ...]],
    stood: Iterable[tuple[int, int]],
    next_maps: Iterable[int],
    draw: random.Random,
) -> list[Task]:
    """Return the goals in a state: one of each possible kind."""
    here = state.map_id
    make = functools.partial(Task, map_id=here, seed=seed, state=name)
    found = []
    far = [(x, y) for x, y in stood if abs(x - state.x) + abs(y - state.y) >= LEAST_DISTANCE]
    if far:
        x, y = draw.choice(far)
        found.append(make(TILE, goal_map=here, skill="go_to", arguments=_place(here, x, y), target=(here, x, y)))
    beyond = list(next_maps)
    if beyond:
        other = draw.choice(beyond)
        kind = PUSH if job[0] == PUSH else EXIT
        found.append(make(kind, goal_map=other, skill="go_to", arguments=_place(other)))
    for kind, is_thing in ((TALK, False), (THING, True)):
        around = [one for one in people if one.role is not Role.TRAINER and (one.role is Role.ITEM) is is_thing]
        if around:
            one = draw.choice(around)
            place = _place(here, one.x, one.y)
            found.append(make(kind, goal_map=here, skill="talk_to", arguments=place, target=(one.number,)))
    if state.party.members:
        found.append(make(FIGHT, goal_map=here, skill="fight"))
        if state.balls:
            found.append(make(CATCH, goal_map=here, skill="catch"))
        if state.party.hp_share < HURT:
            found.append(make(HEAL, goal_map=here, skill="heal"))
    if job[0] == MENU:
        found.append(make(MENU, goal_map=here, target=job[1]))
    return found


def _place(map_id: int, x: int | None = None, y: int | None = None) -> dict[str, Any]:
    """Return the arguments of a skill: a map by its number, and a tile on it."""
    place: dict[str, Any] = {"map": map_id}
    return place if x is None else {**place, "x": x, "y": y}


# Playing --------------------------------------------------------------------------------------------------------


def _trial(tasks: list[Task], budget: int, folder: Path, seed: int) -> list[int]:
    file = folder / f"{seed}-tried.json"
    write_tasks(file, tasks)
    os.environ[TASKS_VARIABLE] = str(file)
    environment = TaskEnvironment(EnvironmentSettings(observation_type="state", max_steps_per_episode=budget))
    played = play(environment, None, [(place, TRIAL_SEED) for place in range(len(tasks))])
    environment.close()
    file.unlink()
    return played


def play(environment: TaskEnvironment, act: Any, starts: Sequence[tuple[int, int]], draw: Any = None) -> list[int]:
    """Return the steps to the goal of each task, by its index and a seed; -1 if it was not reached.

    Args:
        environment: with the tasks.
        act: chooses the action; None for the pilot, or for random play.
        starts: indices of tasks, and seeds.
        draw: random generator, for random play.
    """
    pilot = RulesPilot(environment)
    environment.guide(pilot)
    found = []
    for place, seed in starts:
        try:
            environment.reset(seed=seed, options={"task": place})
        except PkmnError:  # some states, such as in the middle of a door, cannot begin an episode
            found.append(-1)
            continue
        pilot.reset(seed)
        over = reached = False
        while not over:
            decision = pilot.act()
            if act is not None:
                action = act()
            elif draw is not None:
                action = int(draw.choice(np.flatnonzero(environment.mask)))
            else:
                action = decision.action
            _, reached, truncated = environment.advance(action)
            over = reached or truncated
        found.append(environment.steps if reached else -1)
    return found


def measure(who: str, run: Path, file: Path, budget: int, repeats: int) -> list[list[int]]:
    """Return the steps of each task of a file, one per repeat, by the learner of a run, the pilot or random play."""
    os.environ[TASKS_VARIABLE] = str(file)
    act, draw = None, np.random.default_rng(MEASURED_SEED) if who == RANDOM else None
    if who == LEARNER:
        learner = LearnerInHand(run, TaskEnvironment, budget)
        environment, act = learner.environment, learner.act
    else:
        environment = TaskEnvironment(EnvironmentSettings(observation_type="state", max_steps_per_episode=budget))
    places = range(len(environment.tasks))
    played = play(environment, act, [(place, MEASURED_SEED + one) for place in places for one in range(repeats)], draw)
    environment.close()
    return [played[place * repeats : (place + 1) * repeats] for place in places]


# Splits ---------------------------------------------------------------------------------------------------------


def held_out_maps(tasks: Sequence[Task]) -> set[int]:
    """Return random maps, enough of them that the tasks on them reach the held-out share."""
    maps = sorted({task.map_id for task in tasks} | {task.goal_map for task in tasks})
    random.Random(0).shuffle(maps)
    held: set[int] = set()
    for one in maps:
        if sum(bool({task.map_id, task.goal_map} & held) for task in tasks) >= HELD_OUT_SHARE * len(tasks):
            break
        held.add(one)
    return held


def maps_of(run: Path) -> set[int]:
    """Return the maps that a training has visited."""
    with duckdb.connect() as connection:
        files = str(run / "decisions" / "**" / "*.parquet")
        rows = connection.execute(
            "SELECT DISTINCT map_id FROM read_parquet(?, hive_partitioning = false)", [files]
        ).fetchall()
    return {map_id for (map_id,) in rows}


def sort_of(task: Task, held: set[int], held_seeds: set[int]) -> str:
    """Return the sort of a task, one of :data:`SORTS`; empty if it leads from one side to the other."""
    ends = {task.map_id, task.goal_map}
    if ends <= held:
        return SORTS[0]
    if ends & held:
        return ""
    return SORTS[1] if task.seed in held_seeds else SORTS[2]


# The benchmark --------------------------------------------------------------------------------------------------


class Benchmark:
    """The tasks to collect, train and measure, and the folder of all results."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self.folder: Path = given.folder
        self._tasks_folder = self.folder / f"tasks-{given.game_steps}"

    @property
    def tasks_file(self) -> Path:
        """The file of all tasks."""
        return self._tasks_folder / "tasks.json"

    def collect(self) -> None:
        """Collect tasks, unless they exist."""
        if self.tasks_file.exists():
            return
        self._tasks_folder.mkdir(parents=True, exist_ok=True)
        given = self._given
        seeds = [*given.pilot_seeds, *given.held_out_seeds]
        jobs = [(seed, given.game_steps, given.budget, self._tasks_folder) for seed in seeds]
        with multiprocessing.get_context("spawn").Pool(min(given.processes, len(jobs))) as pool:
            found = pool.starmap(collect, jobs, chunksize=1)
        write_tasks(self.tasks_file, [task for tasks in found for task in tasks])

    def split(self, run: Path | None) -> dict[str, str]:
        """Return the sort of each task, by its index."""
        tasks = read_tasks(self.tasks_file)
        maps = {task.map_id for task in tasks} | {task.goal_map for task in tasks}
        held = held_out_maps(tasks) if run is None else maps - maps_of(run)
        return {str(at): sort_of(task, held, set(self._given.held_out_seeds)) for at, task in enumerate(tasks)}

    def train_and_measure(self, seed: int, cores: Cores) -> None:
        """Train on the training's tasks, then play all of them."""
        tasks, split = read_tasks(self.tasks_file), self.split(None)
        own = [task for at, task in enumerate(tasks) if split[str(at)] == SORTS[2]]
        file = self._tasks_folder / "training.json"
        if not file.exists():
            write_tasks(file, own)
        os.environ[TASKS_VARIABLE] = str(file)
        run = self.folder / f"training-{seed}"
        given = self._given
        if not kept(run.with_suffix(".done")):
            options = ["--set", "env_class=goal_tasks:TaskEnvironment", "--goal", "last", *given.extra.split()]
            options += ["--max-steps-per-episode", str(given.budget), "--steps", str(given.steps)]
            options += ["--set", "final_episodes=0", "--set", "film=false", "--set", "curriculum.measure_interval=50"]
            where = ["--save-dir", str(self.folder), "--run-name", run.name, "--seed", str(seed)]
            begun = (run / "checkpoints" / "index.json").exists()
            command = ["--resume", str(run)] if begun else [*options, *where]
            cores.run(pkmn("train", *command), run.with_suffix(".log"))
            keep(run.with_suffix(".done"), True)
        self.measure(LEARNER, run, cores)

    def measure(self, who: str, run: Path, cores: Cores) -> None:
        """Let a player play all tasks in its own process."""
        result = self.result(who, run)
        if result.exists():
            return
        given = self._given
        command = [sys.executable, "-m", "goals_held_out", "--folder", str(self.folder), "--measure", who]
        command += ["--measured-run", str(run), "--budget", str(given.budget), "--repeats", str(given.repeats)]
        command += ["--game-steps", str(given.game_steps), "--json", str(result)]
        cores.run(command, self.folder / "measuring.log")

    def result(self, who: str, run: Path) -> Path:
        """Return the file of a player's results."""
        name = f"{run.name}-played" if who == LEARNER else who.replace(" ", "-")
        return self.folder / f"{name}.json"

    def jobs(self) -> list[Any]:
        """Return all jobs that may be missing once the tasks exist."""
        given, none = self._given, Path()
        others = [functools.partial(self.measure, who, none) for who in (PILOT, RANDOM)]
        if given.run is not None:
            return [*others, functools.partial(self.measure, LEARNER, given.run)]
        return [*others, *(functools.partial(self.train_and_measure, seed) for seed in given.seeds)]

    def found(self) -> dict[str, Any]:
        """Return all results that exist."""
        tasks = read_tasks(self.tasks_file)
        runs = (
            [self._given.run] if self._given.run else [self.folder / f"training-{seed}" for seed in self._given.seeds]
        )
        learners = [one for run in runs if (one := kept(self.result(LEARNER, run))) is not None]
        split = self.split(self._given.run)
        return {
            "tasks": [[task.kind, task.map_id, task.goal_map, split[str(at)]] for at, task in enumerate(tasks)],
            LEARNER: learners,
            **{who: [one for one in [kept(self.result(who, Path()))] if one is not None] for who in (PILOT, RANDOM)},
        }


def show(found: dict[str, Any]) -> None:
    """Print a table for each sort: one row per kind, one column per player."""
    for sort in SORTS:
        rows = []
        for kind in (*KINDS, "all"):
            places = [at for at, task in enumerate(found["tasks"]) if task[3] == sort and kind in (task[0], "all")]
            if not places:
                continue
            cells = [kind, str(len(places))]
            for who in (LEARNER, PILOT, RANDOM):
                steps = [taken for played in found[who] for at in places for taken in played[at]]
                reached = sum(one >= 0 for one in steps)
                low, high = wilson_interval(reached, len(steps))
                cells.append(f"{reached / len(steps):.0%} ({low:.0%} to {high:.0%})" if steps else "")
            rows.append(cells)
        print(table([f"goals, {sort}", "tasks", LEARNER, PILOT, RANDOM], rows), end="\n\n")


def main() -> None:
    """Collect, train, measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where tasks, runs and results are kept")
    parser.add_argument("--seeds", type=numbers, default="0-4", help="of the trainings (default: 0-4)")
    parser.add_argument("--run", type=Path, help="a run to measure instead of training any")
    parser.add_argument("--steps", type=int, default=60_000, help="of a training (default: 60000)")
    parser.add_argument("--extra", default="", metavar="OPTIONS", help="more options of pkmn train, in quotes")
    parser.add_argument("--pilot-seeds", type=numbers, default="0-5", help="of the pilot's episodes (default: 0-5)")
    parser.add_argument("--held-out-seeds", type=numbers, default="100-102", help="of those that no training has")
    parser.add_argument("--game-steps", type=int, default=9000, help="of the pilot's episodes (default: 9000)")
    parser.add_argument("--budget", type=int, default=150, help="steps in which a goal is to be reached (default: 150)")
    parser.add_argument("--repeats", type=int, default=1, help="starts of each task, varied by seed (default: 1)")
    parser.add_argument("--jobs", type=int, default=default_jobs(), help="trainings side by side, two cores each")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="of collecting")
    parser.add_argument("--limit-s", type=float, help="stop after so many seconds")
    parser.add_argument("--json", type=Path, help="where to write all results as one file")
    parser.add_argument("--measure", choices=(LEARNER, PILOT, RANDOM), help=argparse.SUPPRESS)
    parser.add_argument("--measured-run", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.folder = given.folder.resolve()
    given.run = given.run and given.run.resolve()
    benchmark = Benchmark(given)
    if given.measure:
        keep(given.json, measure(given.measure, given.measured_run, benchmark.tasks_file, given.budget, given.repeats))
        return
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *sys.path[1:]])  # for workers
    benchmark.collect()
    run_and_show(benchmark.jobs(), given.jobs, given.limit_s, benchmark.found, show, given.json)


if __name__ == "__main__":
    main()
