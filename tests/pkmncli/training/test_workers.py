"""Environments in processes give what the same environments give here, whatever happens to the processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import psutil
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from pkmncli.api import PILOT_ACTS, Action, Advice, Facts, Source
from pkmncli.api.live import BOARD_FILE, LiveTraining
from pkmncli.config import resolve_settings
from pkmncli.errors import RomError, TrainingError
from pkmncli.plugins import Registry, get_registry
from pkmncli.training.assembly import worker_spec
from pkmncli.training.press_log import PressLog
from pkmncli.training.seeds import Purpose, derive_seed, episode_number
from pkmncli.training.spectators import Spectators
from pkmncli.training.statistics import TrainingStatistics
from pkmncli.training.worker_link import WorkerLink, WorkerLostError
from pkmncli.training.worker_spec import PartSpec, WorkerSpec
from pkmncli.training.workers import WorkerPool

NUM_ENVS = 2
EPISODE_STEPS = 30
SEED = 5

Observation = Mapping[str, NDArray[Any]]
Course = list[tuple[dict[str, NDArray[Any]], NDArray[Any]]]
"""For each step: what was observed after it, and its records."""


def make_spec(num_envs: int = NUM_ENVS, **settings: Any) -> WorkerSpec:
    registry: Registry = get_registry()
    given = {"mode": "rl-only", "max_steps_per_episode": EPISODE_STEPS, "seed": SEED, **settings}
    resolved = resolve_settings(given, registry=registry, environ={})
    return worker_spec(resolved, registry, Purpose.TRAINING, num_envs=num_envs)


def with_environment(spec: WorkerSpec, target: str) -> WorkerSpec:
    """The same settings for another class of environment."""
    return replace(spec, environment=replace(spec.environment, target=target))


def take(pool: WorkerPool, actions: NDArray[np.int64]) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    result = pool.step(actions, np.full(len(actions), Source.EXPLORE, np.uint8), np.zeros(len(actions), np.float32))
    return {name: array.copy() for name, array in pool.observations().items()}, result.records


def process_id(pool: WorkerPool, index: int) -> int:
    pid = pool._links[index].process.pid
    assert pid is not None
    return pid


def assert_same_observations(left: Observation, right: Observation) -> None:
    assert left.keys() == right.keys()
    for name in left:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)


def assert_same_course(one: Course, other: Course) -> None:
    assert len(one) == len(other)
    for (observations, records), (others, other_records) in zip(one, other, strict=True):
        np.testing.assert_array_equal(records, other_records)
        assert_same_observations(observations, others)


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
            np.testing.assert_array_equal(result.ended, terminated | truncated)
    vector.close()
    assert ended == NUM_ENVS * 150 // EPISODE_STEPS
    assert masked > 10, "no forbidden action was tried, so this shows little"


# Workers that are lost -----------------------------------------------------------------------------------------------

STEPS = 70
Disturb = Callable[[WorkerPool, int], None]


def play(pool: WorkerPool, disturb: Disturb = lambda pool, step: None) -> Course:
    """The pilot and chance take turns, so that what the pilot remembers matters too."""
    random = np.random.default_rng(1)
    course = []
    pool.reset()
    for step in range(STEPS):
        disturb(pool, step)
        actions = np.where(random.random(NUM_ENVS) < 0.7, PILOT_ACTS, random.integers(0, 9, NUM_ENVS))
        course.append(take(pool, actions))
    return course


@pytest.fixture(scope="module")
def hybrid() -> WorkerSpec:
    return make_spec(mode="adaptive")


@pytest.fixture(scope="module")
def undisturbed(hybrid: WorkerSpec) -> Course:
    with WorkerPool(hybrid) as pool:
        course = play(pool)
        assert pool.losses == 0
    sources = np.concatenate([records["source"] for _, records in course])
    assert {Source.RULE, Source.EXPLORE} == set(sources.tolist())
    return course


def test_killed_workers_are_replaced_and_nothing_else_changes(hybrid: WorkerSpec, undisturbed: Course) -> None:
    told: list[WorkerLostError] = []

    def kill(pool: WorkerPool, step: int) -> None:
        if step in (0, 20, EPISODE_STEPS, 65):  # before the first step, within an episode, right after its end
            os.kill(process_id(pool, step % 2), signal.SIGKILL)

    with WorkerPool(hybrid, on_loss=told.append) as pool:
        course = play(pool, kill)
        assert pool.losses == 4
    assert_same_course(course, undisturbed)
    assert [str(loss) for loss in told] == [
        f"worker {index} was lost: its process ended with exit code -9" for index in (0, 0, 0, 1)
    ]


def test_a_worker_killed_in_the_middle_of_a_step_is_replaced(hybrid: WorkerSpec, undisturbed: Course) -> None:
    with WorkerPool(hybrid) as pool:
        pid, send = process_id(pool, 1), pool._links[1].send

        def stop_then_send(message: bytes) -> None:
            os.kill(pid, signal.SIGSTOP)  # so that the step is certainly under way when the end comes
            send(message)
            os.kill(pid, signal.SIGKILL)

        def disturb(pool: WorkerPool, step: int) -> None:
            if step == 40:
                pool._links[1].send = stop_then_send  # type: ignore[method-assign]

        course = play(pool, disturb)
        assert pool.losses == 1
    assert_same_course(course, undisturbed)


def test_a_worker_that_hangs_is_replaced(hybrid: WorkerSpec, undisturbed: Course) -> None:
    told: list[WorkerLostError] = []
    stopped: list[int] = []

    def stop(pool: WorkerPool, step: int) -> None:
        if step == 35:
            stopped.append(process_id(pool, 0))
            os.kill(stopped[0], signal.SIGSTOP)

    with WorkerPool(hybrid, timeout_s=2.0, on_loss=told.append) as pool:
        course = play(pool, stop)
    assert_same_course(course, undisturbed)
    assert "worker 0 was lost: no answer for 2 s" in [str(loss) for loss in told]
    assert not psutil.pid_exists(stopped[0])


def test_a_replaced_worker_tells_what_has_changed_since_the_state_was_last_told(hybrid: WorkerSpec) -> None:
    def told(*, killed: bool) -> list[Any]:
        with WorkerPool(hybrid) as pool:
            pool.reset()
            contexts = []
            for _look in range(3):
                for _step in range(8):
                    take(pool, np.full(NUM_ENVS, PILOT_ACTS))
                if killed:
                    os.kill(process_id(pool, 0), signal.SIGKILL)
                contexts.append(pool.context(0))
            assert pool.losses == 3 * killed
            return contexts

    expected = told(killed=False)
    assert told(killed=True) == expected
    assert any(context.changes for context in expected[1:]), "nothing changed, so this shows nothing"


def test_a_worker_lost_between_steps_is_replaced_when_it_is_called(hybrid: WorkerSpec) -> None:
    def facts(pool: WorkerPool) -> tuple[Any, ...]:
        return pool.context(0), [(state.episode, state.step, state.pilot) for state in pool.save()]

    with WorkerPool(hybrid) as pool:
        pool.reset()
        for _step in range(10):
            take(pool, np.full(NUM_ENVS, PILOT_ACTS))
        expected = facts(pool)
        os.kill(process_id(pool, 0), signal.SIGKILL)
        context = pool.context(0)
        os.kill(process_id(pool, 0), signal.SIGKILL)
        os.kill(process_id(pool, 1), signal.SIGKILL)
        states = pool.save()
        assert pool.losses == 3
        assert (context, [(state.episode, state.step, state.pilot) for state in states]) == expected


@pytest.mark.parametrize("presser", [Source.RULE, Source.EXPLORE])
def test_advice_that_was_live_is_as_live_in_a_replaced_worker(hybrid: WorkerSpec, presser: Source) -> None:
    """Also where the learner itself has pressed what was advised: that doesn't use the advice up."""
    advice = Advice("walk", presses=(Action.RIGHT,) * 4, expires_after=20)

    def left_after(*, killed: bool) -> tuple[Any, list[Any]]:
        with WorkerPool(hybrid) as pool:
            pool.reset()
            for step in range(5):
                if step == 2:
                    pool.advise(0, advice)
                press = PILOT_ACTS if presser is Source.RULE or step < 3 else Action.RIGHT
                take(pool, np.full(NUM_ENVS, press))
            if killed:
                os.kill(process_id(pool, 0), signal.SIGKILL)
            pilot = pool.save()[0].pilot
            assert pool.losses == killed
            return pilot, [take(pool, np.full(NUM_ENVS, PILOT_ACTS))[1][0] for _step in range(8)]

    expected = left_after(killed=False)
    assert left_after(killed=True) == expected
    if presser is Source.EXPLORE:
        assert expected[0]["advice"] is not None, "nothing was live, so this shows little"


def test_what_a_running_episode_consists_of_comes_back_from_its_plain_values() -> None:
    log = PressLog(
        bytearray([0, 4]), bytearray([Source.LLM, Source.RL]), [(0, Advice("go", presses=(4,))), (1, None)], 1
    )
    assert PressLog.from_state_dict(json.loads(json.dumps(log.state_dict()))) == log


def test_an_environment_that_always_fails_ends_the_training_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    with WorkerPool(with_environment(make_spec(1), "odd_environments:Failing")) as pool:
        pool.reset()
        take(pool, np.zeros(1, np.int64))
        take(pool, np.zeros(1, np.int64))
        with pytest.raises(TrainingError) as failure:
            take(pool, np.zeros(1, np.int64))
    text = "environment 0 failed twice at the same step: ZeroDivisionError: no reward for nothing"
    assert str(failure.value) == text
    cause = failure.value.__cause__
    assert cause is not None and "Traceback" in cause.__notes__[0], "debugging needs the worker's own traceback"


def test_an_environment_whose_picture_fails_plays_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    statistics, nothing = TrainingStatistics(), lambda: None
    with (
        WorkerPool(with_environment(make_spec(1), "odd_environments:Unseen")) as pool,
        Spectators(tmp_path, pool) as by,
    ):
        pool.reset()
        live = LiveTraining.attach(tmp_path)
        assert live is not None and live.screen_shape == (4, 5, 3)
        for _ in range(4):
            live.watch(60, 1e6)
            by.attend(statistics, 0.0, 12.5, lambda: False, save=nothing, on_pause=nothing)
            take(pool, np.zeros(1, np.int64))
        assert pool.losses == 0, "looking costs no worker"
        assert live.state().steps_per_second == 12.5
        screens = live.screens()
        assert screens is not None and not screens.any(), "no picture is better than an old one"
        (tmp_path / BOARD_FILE).unlink()
        assert pool.call(0, "view_onto", str(tmp_path / "none"), 1, (4, 5, 3))
    assert [record.message for record in caplog.records if "picture" in record.message] == [
        "viewers get no picture: the environment's view() has another shape than before: (3, 3, 3)",
        "viewers get no picture: the environment's view() failed: KeyError: 'no such palette'",
    ]


def test_what_a_viewer_asks_for_and_cannot_be_saved_ends_no_training(tmp_path: Path) -> None:
    def full() -> None:
        raise TrainingError("the disk limit of 1 GB is reached")

    with WorkerPool(make_spec(1)) as pool, Spectators(tmp_path, pool) as by:
        pool.reset()
        live = LiveTraining.attach(tmp_path)
        assert live is not None
        answers = []
        (tmp_path / "starts").write_text("a file where a folder should be")
        for ask in (live.save_checkpoint, lambda: live.save_start(0)):
            ask()
            by.attend(TrainingStatistics(), 0.0, 0.0, lambda: False, save=full, on_pause=lambda: None)
            answers.append(live.state().message)
    assert answers[0] == "The checkpoint could not be saved: the disk limit of 1 GB is reached"
    assert answers[1].startswith("The state of environment 0 could not be saved: ")


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


def test_no_thread_runs_beside_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    with WorkerPool(with_environment(make_spec(mode="adaptive"), "odd_environments:ThreadListing")) as pool:
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
    """Those of the processes that still run. One that ended may stay listed until somebody asks how it ended."""
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
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_workers import make_spec, process_id, take\n"
        "from pkmncli.training.workers import WorkerPool\n"
        "if __name__ == '__main__':\n"
        "    with WorkerPool(make_spec()) as pool:\n"
        "        pool.reset()\n"
        "        print(process_id(pool, 0), process_id(pool, 1), flush=True)\n"
        "        while True:\n"
        "            take(pool, np.zeros(2, np.int64))\n"
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.communicate()


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
