"""Environments in processes give what the same environments give here, and begin and end as they should."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import psutil
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from support.worker_pools import (
    EPISODE_STEPS,
    NUM_ENVS,
    assert_same_observations,
    make_spec,
    take,
    with_environment,
)

from pkmncli.api import PILOT_ACTS, Action, Facts, Source
from pkmncli.errors import EnvironmentSetupError, RomError, TrainingError
from pkmncli.seeds import derive_seed, episode_number
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.process import WorkerLink
from pkmncli.training.workers.spec import PartSpec, WorkerSpec

# Against Gymnasium ---------------------------------------------------------------------------------------------------


class SeededEpisodes(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Begins the episodes that a worker begins, and remembers what a worker would record of a step."""

    def __init__(self, spec: WorkerSpec, index: int) -> None:
        super().__init__(spec.environment_of(index).build())
        self.begun = 0
        self.spec_of_workers, self.index = spec, index
        self.before: Facts
        self.after: Facts
        self.memory_hash = 0

    def reset(self, **_options: Any) -> tuple[Any, dict[str, Any]]:
        spec = self.spec_of_workers
        number = episode_number(self.index, self.begun, spec.num_envs)
        self.begun += 1
        return self.env.reset(seed=derive_seed(spec.seed, spec.purpose, number))

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        game: Any = self.env
        self.before = game.facts()
        result = self.env.step(action)
        self.after, self.memory_hash = game.facts(), game.memory_hash()
        return result


@pytest.mark.long
def test_a_pool_equals_gymnasiums_vector_environment() -> None:
    spec = make_spec()
    wrapped = [SeededEpisodes(spec, index) for index in range(NUM_ENVS)]
    vector = SyncVectorEnv(
        [lambda one=one: one for one in wrapped],  # type: ignore[misc]
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    random = np.random.default_rng(0)
    ended = masked = 0
    with WorkerPool(spec) as pool:
        pool.reset()
        expected, _ = vector.reset()
        assert_same_observations(pool.observations(), expected)
        for _step in range(150):
            actions = random.integers(0, 9, NUM_ENVS)
            acted_on = {name: array.copy() for name, array in expected.items()}
            expected, rewards, terminated, truncated, infos = vector.step(actions)
            sources = np.array([Source.RL, Source.EXPLORE], np.uint8)
            result = pool.step(actions, sources, np.array([0.25, 0.5], np.float32))

            assert_same_observations(result.observations, acted_on)
            assert_same_observations(pool.observations(), expected)
            records = result.records
            np.testing.assert_array_equal(records["reward"], rewards.astype(np.float32))
            np.testing.assert_array_equal(records["terminated"], terminated)
            np.testing.assert_array_equal(records["truncated"], truncated)
            np.testing.assert_array_equal(records["source"], sources)
            for index, one in enumerate(wrapped):
                record, over = records[index], bool(terminated[index] or truncated[index])
                last: Mapping[str, Any] = (
                    infos["final_obs"][index] if over else {n: a[index] for n, a in expected.items()}
                )
                assert_same_observations({name: array[index] for name, array in result.next_observations.items()}, last)
                pressed = (infos["final_info"] if over else infos)["pressed"][index]
                assert record["action"] == pressed
                if not acted_on["action_mask"][index][actions[index]]:
                    masked += 1
                    assert record["action"] == Action.NONE
                else:
                    assert record["action"] == actions[index]
                assert record["fine_hash"] == one.after.fine_hash
                for fact in ("map_id", "x", "y", "phase", "battle", "opponent", "coarse_hash"):
                    assert record[fact] == getattr(one.before, fact), fact
                assert (record["milestones"], record["frames"]) == (one.after.milestones, one.after.frames)
                assert record["memory_hash"] == (one.memory_hash if over else 0)
                ended += over
            assert list(result.ended) == np.flatnonzero(terminated | truncated).tolist()
    vector.close()
    assert ended == NUM_ENVS * 150 // EPISODE_STEPS
    assert masked > 10, "no forbidden action was tried, so this shows little"


# How they begin and end ----------------------------------------------------------------------------------------------


def test_an_environment_that_cannot_be_built_says_why(tmp_path: Path) -> None:
    missing = tmp_path / "missing.gbc"
    with pytest.raises(RomError) as error:
        WorkerPool(make_spec(rom_path=missing))
    assert str(missing) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_part_that_cannot_be_imported_is_one_line() -> None:
    spec = replace(make_spec(1), environment=PartSpec("no_such_module:Environment"))
    with pytest.raises(TrainingError) as error:
        WorkerPool(spec)
    expected = "environment 0 could not be started: ModuleNotFoundError: No module named 'no_such_module'"
    assert str(error.value) == expected


def test_no_thread_runs_beside_an_environment() -> None:
    with WorkerPool(with_environment(make_spec(mode="adaptive"), "support.odd_environments:ThreadListing")) as pool:
        pool.reset()
        take(pool, np.full(NUM_ENVS, PILOT_ACTS))
        assert [pool.context(index).context_summary for index in range(NUM_ENVS)] == ["MainThread"] * NUM_ENVS


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_to_the_whole_group_of_processes_are_left_to_the_parent(number: signal.Signals) -> None:
    link = WorkerLink(0, make_spec(1))
    try:
        assert link.process.pid is not None
        os.kill(link.process.pid, number)  # while Python itself is still starting in the worker
        assert b"observation_space" in link.receive(60)
        os.kill(link.process.pid, number)
        assert link.process.is_alive()
        link.ask_to_quit()
        link.process.join(30)
        assert link.process.exitcode == 0
    finally:
        link.kill()


def running(pids: list[int]) -> list[int]:
    """Return the processes that still run. An ended one may stay listed until its exit code is read."""
    found = []
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
        except psutil.NoSuchProcess:
            pass
    return found


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process with a pool that tells its workers' process ids, and then steps for ever."""
    script = tmp_path / "parent.py"
    script.write_text(
        "import sys\n"
        "import numpy as np\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "from support.worker_pools import make_spec, take\n"
        "from pkmncli.training.workers.pool import WorkerPool\n"
        "if __name__ == '__main__':\n"
        "    with WorkerPool(make_spec()) as pool:\n"
        "        pool.reset()\n"
        "        print(pool.process_id(0), pool.process_id(1), flush=True)\n"
        "        while True:\n"
        "            take(pool, np.zeros(2, np.int64))\n"
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.communicate()


@pytest.mark.long
def test_workers_end_when_the_parent_is_killed(parent: subprocess.Popen[str]) -> None:
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert running(pids) == pids
    parent.kill()
    _, error = parent.communicate()
    deadline = time.monotonic() + 30
    while running(pids) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert running(pids) == []
    assert error == ""


def test_situations_are_named_for_each_phase() -> None:
    with (
        pytest.raises(EnvironmentSetupError, match=r"Unsorted names 1 situations for \d+ phases"),
        WorkerPool(with_environment(make_spec(1), "support.odd_environments:Unsorted")),
    ):
        pass
