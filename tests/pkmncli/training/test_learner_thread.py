"""The learner's lag is counted in windows, however long an update takes."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import Any

from pkmncli.training.learner_thread import LaunchedUpdates, LearnerThread, updates_of
from pkmncli.training.no_learner import NoLearner


class CountingLearner(NoLearner):
    """Each update waits until it is let go, and notes which weights acted when."""

    def __init__(self) -> None:
        self.learned = 0
        self.acting = 0
        self.sampled = 0
        self.waits_for_updates = False
        self.may_finish = threading.Semaphore(0)

    def sample(self) -> object | None:
        self.sampled += 1
        return self.sampled

    def learn(self, sampled: object) -> dict[str, float]:
        self.may_finish.acquire()
        self.learned += 1
        return {"update": float(self.learned)}

    def publish(self) -> None:
        self.acting = self.learned


def test_update_k_acts_from_window_k_plus_one_on() -> None:
    learner = CountingLearner()
    thread = LearnerThread(learner)
    seen: list[tuple[int, Any]] = []
    for _window in range(4):
        learner.may_finish.release()
        metrics = thread.next_window()
        seen.append((learner.acting, metrics.get("update")))
    learner.may_finish.release()
    thread.wait()
    thread.close()
    assert seen == [(0, None), (1, 1.0), (2, 2.0), (3, 3.0)]


TURNS = """
import sys
from pkmncli.training.learner_thread import LearnerThread
from pkmncli.training.no_learner import NoLearner

turns = [sys.getswitchinterval()]
first, second = LearnerThread(NoLearner()), LearnerThread(NoLearner())
for close in (lambda: None, first.close, second.close, second.close):
    close()
    turns.append(sys.getswitchinterval())
print(turns)
"""


def test_threads_take_turns_faster_while_any_of_them_learns() -> None:
    # In a process of its own: the interval belongs to all threads of one, and other tests begin some.
    ended = subprocess.run([sys.executable, "-c", TURNS], capture_output=True, text=True, check=True)
    usual, both, one, none, again = json.loads(ended.stdout)
    assert both == one < usual
    assert none == again == usual


def test_the_update_of_a_learner_that_waits_for_it_acts_at_once() -> None:
    learner = CountingLearner()
    learner.waits_for_updates = True
    thread = LearnerThread(learner)
    seen = []
    for _window in range(3):
        learner.may_finish.release()
        metrics = thread.next_window()
        seen.append((learner.acting, metrics["update"], thread.state_dict()))
    thread.close()
    assert seen == [(number, float(number), {"unpublished": False}) for number in (1, 2, 3)]


def test_one_that_samples_ahead_is_given_the_next_batch_before_its_update_has_ended() -> None:
    class AheadLearner(CountingLearner):
        samples_ahead = True

        def __init__(self) -> None:
            super().__init__()
            self.calls: list[str] = []
            self.learned_sampled: list[object] = []

        def sample(self) -> object | None:
            self.calls.append("sample")
            if self.sampled:
                self.may_finish.release()  # only now the update before can end
            return super().sample()

        def learn(self, sampled: object) -> dict[str, float]:
            self.learned_sampled.append(sampled)
            return super().learn(sampled)

        def publish(self, *, begun: bool = False) -> None:
            self.calls.append(f"publish{' while the next one is learned' * begun}")

    learner = AheadLearner()
    thread = LearnerThread(learner)
    metrics = [thread.next_window() for _window in range(3)]
    learner.may_finish.release()
    assert thread.wait() == [{"update": 3.0}]
    thread.close()
    assert metrics == [{}, {"update": 1.0}, {"update": 2.0}]
    published = "publish while the next one is learned"
    assert learner.calls == ["sample", "sample", published, "sample", published]
    assert learner.learned_sampled == [1, 2, 3]


def test_what_a_learner_holds_ends_with_the_training() -> None:
    learner = CountingLearner()
    told: list[str] = []
    learner.learn_beside = lambda: told.append("begin")  # type: ignore[attr-defined]
    learner.close = lambda: told.append("end")  # type: ignore[attr-defined]
    LearnerThread(learner).close()
    assert told[0] == "begin"
    assert set(told[1:]) == {"end"}


def test_a_waited_for_update_acts_only_after_the_window_even_when_resumed() -> None:
    learner = CountingLearner()
    thread = LearnerThread(learner)
    learner.may_finish.release()
    thread.next_window()
    assert thread.wait() == [{"update": 1.0}]
    assert learner.acting == 0
    state = thread.state_dict()
    thread.close()

    resumed = LearnerThread(learner)
    resumed.load_state_dict(state)
    learner.may_finish.release()
    assert resumed.next_window() == {}
    assert learner.acting == 1
    resumed.wait()
    resumed.close()


class LaunchingLearner(CountingLearner):
    """Only launches its updates."""

    learns_at_once = True

    def __init__(self) -> None:
        super().__init__()
        self.may_finish = threading.Semaphore(9)
        self.calls: list[str] = []

    def sample(self) -> object:
        self.calls.append("sample")
        return super().sample()

    def learn(self, sampled: object) -> dict[str, float]:
        self.calls.append("learn")
        return super().learn(sampled)

    def publish(self) -> None:
        self.calls.append("publish")
        super().publish()


def test_updates_that_are_only_launched_are_so_while_environments_step_and_act_from_the_next_window_on() -> None:
    learner = LaunchingLearner()
    updates = updates_of(learner)
    assert isinstance(updates, LaunchedUpdates)
    assert [updates.next_window(), updates.next_window()] == [{}, {}]
    assert learner.calls == []
    updates.meanwhile()
    assert learner.calls == ["sample", "learn"] * 2
    assert [updates.next_window(), updates.next_window(), updates.next_window()] == [
        {"update": 1.0},
        {"update": 2.0},
        {},
    ]
    assert learner.calls == [*["sample", "learn"] * 2, "publish"]


def test_a_checkpoint_launches_what_is_due_and_lets_it_act_when_it_would_have() -> None:
    learner = LaunchingLearner()
    updates = updates_of(learner)
    updates.next_window()
    assert updates.wait() == [{"update": 1.0}]
    state = updates.state_dict()
    assert state == {"unpublished": True}
    learner.calls.clear()
    resumed = updates_of(learner)
    resumed.load_state_dict(state)
    resumed.next_window()
    resumed.meanwhile()
    assert learner.calls == ["publish", "sample", "learn"]
