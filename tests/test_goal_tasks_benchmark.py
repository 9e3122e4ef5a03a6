"""The game decides if a goal was reached; maps and states decide which goals are held out."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.settings import EnvironmentSettings
from pkmncli.api import Action

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
NAMES = ("pilot", "pinned_jobs", "take_over", "goal_tasks", "learner_in_hand", "goals_held_out")
BEDROOM, GROUND_FLOOR = 259, 258


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, Any]]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield {name: importlib.import_module(name) for name in NAMES}
    finally:
        sys.path.remove(str(BENCHMARKS))
        for name in NAMES:
            del sys.modules[name]


@pytest.fixture(scope="module")
def environment(modules: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Provide two tasks in the bedroom: down the stairs, and to a tile."""
    folder, tasks = tmp_path_factory.mktemp("tasks"), modules["goal_tasks"]
    game = PokemonEnvironment(EnvironmentSettings(observation_type="state"))
    game.reset(seed=1)
    (folder / "bedroom.state").write_bytes(game.save_state())
    game.close()
    bedroom = {"map_id": BEDROOM, "seed": 1, "state": "bedroom.state", "skill": "go_to"}
    place = {"map": BEDROOM, "x": 3, "y": 4}
    wanted = [
        tasks.Task("exit", goal_map=GROUND_FLOOR, arguments={"map": GROUND_FLOOR}, **bedroom),
        tasks.Task("tile", goal_map=BEDROOM, arguments=place, target=(BEDROOM, 3, 4), **bedroom),
    ]
    tasks.write_tasks(folder / "tasks.json", wanted)
    assert tasks.read_tasks(folder / "tasks.json") == wanted
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(tasks.TASKS_VARIABLE, str(folder / "tasks.json"))
        made = tasks.TaskEnvironment(EnvironmentSettings(observation_type="goal", max_steps_per_episode=60))
    yield made
    made.close()


@pytest.mark.long
def test_the_pilot_reaches_each_goal_and_waiting_does_not(modules: dict[str, Any], environment: Any) -> None:
    play = modules["goals_held_out"].play
    steps = play(environment, None, [(0, 5), (1, 5)])
    assert all(0 < taken < 30 for taken in steps)
    assert play(environment, lambda: int(Action.NONE), [(0, 5)]) == [-1]


def test_an_episode_ends_where_its_goal_is_and_a_saved_one_goes_on(environment: Any) -> None:
    pilot = RulesPilot(environment)
    environment.guide(pilot)
    environment.reset(seed=5, options={"task": 1})
    pilot.reset(5)
    environment.advance(pilot.act().action)
    saved, memory = environment.save_state(), pilot.save_state()
    environment.reset(seed=5, options={"task": 0})
    environment.load_state(saved)
    pilot.load_state(memory)
    while True:
        reward, terminated, truncated = environment.advance(pilot.act().action)
        if terminated or truncated:
            break
    assert (terminated, environment.state.map_id, environment.state.x, environment.state.y) == (True, BEDROOM, 3, 4)
    assert reward >= 10.0


def test_the_seed_draws_the_task(environment: Any) -> None:
    drawn = set()
    for seed in range(12):
        environment.reset(seed=seed)
        drawn.add(environment.task.kind)
    assert drawn == {"exit", "tile"}


def test_goals_are_held_out_by_both_ends_and_by_the_pilots_episode(modules: dict[str, Any]) -> None:
    task, held_out = modules["goal_tasks"].Task, modules["goals_held_out"]

    def sort(begins: int, ends: int, seed: int) -> str:
        return str(held_out.sort_of(task("exit", begins, ends, seed, "x.state"), {7, 8}, {100}))

    assert [sort(7, 8, 0), sort(1, 2, 100), sort(1, 2, 0), sort(1, 7, 0)] == [*held_out.SORTS, ""]
    tasks = [task("tile", at % 5, at % 5, 0, "x.state") for at in range(50)]
    held = held_out.held_out_maps(tasks)
    assert len(held) == 2  # of five maps with a fifth of the tasks each
