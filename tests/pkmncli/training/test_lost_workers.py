"""A worker that is lost, killed, hung or failing, is replaced, and nothing else changes."""

from __future__ import annotations

import json
import os
import signal
from array import array
from functools import partial
from typing import Any

import numpy as np
import psutil
import pytest
from support import worker_pools
from support.variants import long_after
from support.worker_pools import (
    EPISODE_STEPS,
    NUM_ENVS,
    Course,
    assert_same_course,
    make_spec,
    take,
    with_environment,
)

from pkmncli.api import PILOT_ACTS, Action, Advice, Source
from pkmncli.errors import TrainingError
from pkmncli.training.workers import replacement
from pkmncli.training.workers.action_log import ActionLog
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.process import WorkerLink, WorkerLostError
from pkmncli.training.workers.spec import WorkerSpec

play = partial(worker_pools.play, steps=70)


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
            os.kill(pool.process_id(step % 2), signal.SIGKILL)

    with WorkerPool(hybrid, on_loss=told.append) as pool:
        course = play(pool, kill)
        assert pool.losses == 4
    assert_same_course(course, undisturbed)
    assert [str(loss) for loss in told] == [
        f"worker {index} was lost: its process ended with exit code -9" for index in (0, 0, 0, 1)
    ]


def test_a_worker_killed_in_the_middle_of_a_step_is_replaced(
    hybrid: WorkerSpec, undisturbed: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = WorkerLink.send
    with WorkerPool(hybrid) as pool:
        process_id, now = pool.process_id(1), 0

        def stop_then_send(link: WorkerLink, message: bytes) -> None:
            if now != 40 or link.process.pid != process_id:
                return send(link, message)
            os.kill(process_id, signal.SIGSTOP)  # so that the step is certainly under way when the end comes
            send(link, message)
            return os.kill(process_id, signal.SIGKILL)

        def note(pool: WorkerPool, step: int) -> None:
            nonlocal now
            now = step

        monkeypatch.setattr(WorkerLink, "send", stop_then_send)
        course = play(pool, note)
        assert pool.losses == 1
    assert_same_course(course, undisturbed)


@pytest.mark.long
def test_a_worker_that_hangs_is_replaced(hybrid: WorkerSpec, undisturbed: Course) -> None:
    told: list[WorkerLostError] = []
    stopped: list[int] = []

    def stop(pool: WorkerPool, step: int) -> None:
        if step == 35:
            stopped.append(pool.process_id(0))
            os.kill(stopped[0], signal.SIGSTOP)

    with WorkerPool(hybrid, timeout_s=2.0, on_loss=told.append) as pool:
        course = play(pool, stop)
    assert_same_course(course, undisturbed)
    assert "worker 0 was lost: no answer for 2 s" in [str(loss) for loss in told]
    assert not psutil.pid_exists(stopped[0])


@pytest.mark.long
def test_a_replaced_worker_tells_what_has_changed_since_the_state_was_last_told(hybrid: WorkerSpec) -> None:
    def told(*, killed: bool) -> list[Any]:
        with WorkerPool(hybrid) as pool:
            pool.reset()
            contexts = []
            for _look in range(3):
                for _step in range(8):
                    take(pool, np.full(NUM_ENVS, PILOT_ACTS))
                if killed:
                    os.kill(pool.process_id(0), signal.SIGKILL)
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
        os.kill(pool.process_id(0), signal.SIGKILL)
        context = pool.context(0)
        os.kill(pool.process_id(0), signal.SIGKILL)
        os.kill(pool.process_id(1), signal.SIGKILL)
        states = pool.save()
        assert pool.losses == 3
        assert (context, [(state.episode, state.step, state.pilot) for state in states]) == expected


@pytest.mark.parametrize("presser", long_after(1, [Source.RULE, Source.EXPLORE]))
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
                os.kill(pool.process_id(0), signal.SIGKILL)
            pilot = pool.save()[0].pilot
            assert pool.losses == killed
            return pilot, [take(pool, np.full(NUM_ENVS, PILOT_ACTS))[1][0] for _step in range(8)]

    expected = left_after(killed=False)
    assert left_after(killed=True) == expected
    if presser is Source.EXPLORE:
        assert expected[0]["advice"] is not None, "nothing was live, so this shows little"


def test_what_a_running_episode_consists_of_comes_back_from_its_plain_values() -> None:
    log = ActionLog(
        array("H", [0, 4095]), bytearray([Source.LLM, Source.RL]), [(0, Advice("go", presses=(4,))), (1, None)], 1
    )
    loaded = ActionLog()
    loaded.load_state_dict(json.loads(json.dumps(log.state_dict())))
    assert loaded == log


def test_a_running_episode_of_an_earlier_version_comes_back() -> None:
    log = ActionLog()
    log.load_state_dict({"presses": "000408", "sources": "000003", "advice": [], "described": -1})
    assert log.actions.tolist() == [0, 4, 8]


def test_an_environment_that_always_fails_ends_the_training_in_one_line() -> None:
    with WorkerPool(with_environment(make_spec(1), "support.odd_environments:Failing")) as pool:
        pool.reset()
        take(pool, np.zeros(1, np.int64))
        take(pool, np.zeros(1, np.int64))
        with pytest.raises(TrainingError) as failure:
            take(pool, np.zeros(1, np.int64))
    text = "environment 0 failed twice at the same step: ZeroDivisionError: no reward for nothing"
    assert str(failure.value) == text
    cause = failure.value.__cause__
    assert cause is not None and "Traceback" in cause.__notes__[0], "debugging needs the worker's own traceback"


# While they start -----------------------------------------------------------------------------------------------------


def killed_at_once(kills: int, monkeypatch: pytest.MonkeyPatch) -> list[WorkerLink]:
    """Have the first workers killed as soon as they are started. Return all that are started, as they come."""
    started: list[WorkerLink] = []

    class Killed(WorkerLink):
        def __init__(self, index: int, spec: WorkerSpec) -> None:
            super().__init__(index, spec)
            started.append(self)
            if len(started) <= kills:
                self.process.kill()

    monkeypatch.setattr(replacement, "WorkerLink", Killed)
    return started


def test_a_worker_that_is_killed_while_it_starts_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    started = killed_at_once(3, monkeypatch)
    with WorkerPool(make_spec(1)) as pool:
        pool.reset()
        take(pool, np.array([Action.NONE]))
        assert pool.losses == 0, "no step was lost"
    assert len(started) == 4


def test_a_worker_that_is_killed_four_times_while_it_starts_ends_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    started = killed_at_once(4, monkeypatch)
    with pytest.raises(TrainingError, match="environment 0 could not be started: its process ended with exit code -9"):
        WorkerPool(make_spec(1))
    assert len(started) == 4


def test_a_worker_whose_replacements_are_killed_while_they_start_is_replaced_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with WorkerPool(make_spec(1)) as pool:
        pool.reset()
        take(pool, np.array([Action.NONE]))
        started = killed_at_once(3, monkeypatch)
        os.kill(pool.process_id(0), signal.SIGKILL)
        take(pool, np.array([Action.NONE]))
        assert (pool.losses, len(started)) == (1, 4)


def test_a_worker_that_is_killed_before_it_has_the_shared_memory_is_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    send, killed = WorkerLink.send, []

    def killing(link: WorkerLink, message: bytes) -> None:
        if not killed:  # the first message gives the shared memory
            killed.append(link.index)
            link.process.kill()
            link.process.join()
        send(link, message)

    monkeypatch.setattr(WorkerLink, "send", killing)
    with WorkerPool(make_spec(1)) as pool:
        pool.reset()
        take(pool, np.array([Action.NONE]))
