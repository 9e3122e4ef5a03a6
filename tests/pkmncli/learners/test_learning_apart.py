"""Learning in a process of its own is the same learning, and its end is understood."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from learner_stream import NUM_ENVS, LearnerStream, one_torch_thread

from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings
from pkmn_ppo.learner import PPO
from pkmn_ppo.settings import PPOSettings
from pkmncli.errors import TrainingError
from pkmncli.learners import learning_apart
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.training.learner_thread import LearnerThread

__all__ = ["one_torch_thread"]

SMALL: dict[str, Any] = {"screen_channels": (4, 4), "screen_features": 8, "vector_features": 8, "head_features": 8}
SECONDS_TO_START = 60


@pytest.fixture
def moves_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(learning_apart, "MOVES_AFTER_SECONDS", 0.0)
    yield
    gc.collect()


def learner(rl: str, **settings: Any) -> Any:
    spaces = (LearnerStream.observation_space, LearnerStream.action_space, NUM_ENVS, 7)
    if rl == "ppo":
        return PPO(*spaces, PPOSettings(**(SMALL | {"n_steps": 15, "batch_size": 8} | settings)), "cpu", 2_000)
    chosen: dict[str, Any] = {"learning_starts": 40, "batch_size": 8, "buffer_size": 300, "learning_rate": 1e-3}
    return DQN(*spaces, DQNSettings(**(SMALL | chosen | settings)), "cpu", 2_000)


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def moved(stream: LearnerStream) -> int:
    """Learns until it is in a process. Returns the process's number."""
    apart = stream.learner._learning
    ends = time.monotonic() + SECONDS_TO_START
    while not apart._moved:
        stream.run(10)
        if apart._process is not None and not apart._moved:
            assert apart._process._connection.poll(SECONDS_TO_START)
        assert time.monotonic() < ends
    pid: int = apart._process._process.pid
    return pid


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor | np.ndarray):
        return bool(np.array_equal(np.asarray(one), np.asarray(other)))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


@pytest.mark.parametrize("rl", ["dqn", "prioritised", "ppo"])
def test_it_learns_bit_for_bit_what_it_would_have_learned_here(rl: str, moves_at_once: None) -> None:
    name, settings = ("dqn", {"priority_exponent": 0.6}) if rl == "prioritised" else (rl, {})
    apart = LearnerStream(learner(name, **settings), by_rules=0.3)
    moved(apart)
    apart.run(60)
    here = LearnerStream(learner(name, own_process=False, **settings), by_rules=0.3).run(apart.step)
    assert here.learner._learning._process is None
    assert apart.acted == here.acted
    assert apart.metrics == here.metrics
    assert same(apart.learner.state_dict(), here.learner.state_dict())
    apart.learner.close()


def test_a_saved_state_goes_on_wherever_it_is_learned(moves_at_once: None) -> None:
    apart = LearnerStream(learner("dqn"))
    moved(apart)
    apart.run(21)  # an update is learned and does not act yet
    state, segments = apart.learner.state_dict(), list(apart.learner.segments())
    resumed = LearnerStream(learner("dqn", own_process=False))
    resumed.learner.load_state_dict(state)
    resumed.learner.load_segments(segments)
    resumed.step = apart.step
    before = len(apart.acted)
    assert apart.run(40).acted[before:] == resumed.run(40).acted
    apart.learner.close()


def test_weights_of_one_update_are_taken_while_the_next_one_is_done() -> None:
    stream = LearnerStream(learner("dqn", own_process=False)).run(60)
    dqn: DQN = stream.learner
    dqn.publish()
    learned = []
    for _ in range(2):
        dqn.learn(dqn.draw())
        learned.append(learning_apart._flat(dqn._learning.here.network))
    for weights in learned:
        dqn.publish()
        assert torch.equal(learning_apart._flat(dqn._acting), weights)
    assert not torch.equal(*learned)


@pytest.mark.parametrize("slow", [0.0, 0.02])
def test_a_resumed_learner_acts_with_the_update_it_was_saved_with_however_fast_the_next_one_is(slow: float) -> None:
    stream = LearnerStream(learner("dqn", own_process=False)).run(60)
    learned = learning_apart._flat(stream.learner._learning.here.network)
    resumed = learner("dqn", own_process=False)
    resumed.load_state_dict(stream.learner.state_dict())
    resumed.load_segments(stream.learner.segments())
    learn, publish = resumed.learn, resumed.publish
    resumed.learn = lambda drawn: (time.sleep(slow), learn(drawn))[1]
    resumed.publish = lambda: (time.sleep(0.02 - slow), publish())[1]
    thread = LearnerThread(resumed)
    thread.load_state_dict({"unpublished": True})
    thread.next_window()
    assert torch.equal(learning_apart._flat(resumed._acting), learned)
    thread.wait()
    thread.close()


def test_a_killed_process_is_an_error_that_says_what_to_do(moves_at_once: None) -> None:
    stream = LearnerStream(learner("dqn"))
    os.kill(moved(stream), signal.SIGKILL)
    with pytest.raises(TrainingError, match=r"ended with exit code -9.*--resume"):
        stream.run(20)
    stream.learner.close()


def test_a_process_that_does_not_start_leaves_learning_where_it_is(
    moves_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = LearnerStream(learner("dqn"))
    while stream.learner._learning._process is None:
        stream.run(10)
    process = stream.learner._learning._process._process
    process.kill()
    process.join()
    stream.run(20)
    assert stream.learner._learning._process is None
    assert not stream.learner._learning._moved
    unbroken = LearnerStream(learner("dqn", own_process=False)).run(stream.step)
    assert same(stream.learner.state_dict(), unbroken.learner.state_dict())


def test_a_system_without_room_for_a_process_leaves_learning_where_it_is(
    moves_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr("multiprocessing.context.SpawnProcess.start", refused)
    stream = LearnerStream(learner("dqn")).run(80)
    unbroken = LearnerStream(learner("dqn", own_process=False)).run(80)
    assert same(stream.learner.state_dict(), unbroken.learner.state_dict())


def test_a_closed_learner_goes_on_here(moves_at_once: None) -> None:
    stream = LearnerStream(learner("dqn"))
    pid = moved(stream)
    stream.run(20).learner.close()
    assert pid not in children()
    unbroken = LearnerStream(learner("dqn", own_process=False)).run(stream.step)
    assert same(stream.learner.state_dict(), unbroken.learner.state_dict())
    assert same(stream.run(40).learner.state_dict(), unbroken.run(40).learner.state_dict())
    stream.learner.close()


def test_errors_there_are_raised_here(moves_at_once: None) -> None:
    stream = LearnerStream(learner("dqn"))
    moved(stream)
    drawn = stream.learner.draw()
    drawn.samples[0][0].returns[:] = np.inf
    with pytest.raises(TrainingError, match="loss became inf") as caught:
        stream.learner.learn(drawn)
    assert "Traceback" in caught.value.__notes__[0]
    stream.learner.close()


def test_the_process_ends_with_its_learner(moves_at_once: None) -> None:
    stream = LearnerStream(learner("dqn"))
    pid = moved(stream)
    assert pid in children()
    del stream
    gc.collect()
    assert pid not in children()


def test_an_encoder_that_cannot_be_handed_over_is_learned_here(moves_at_once: None) -> None:
    class Numbers(torch.nn.Module):
        num_features = 8

        def __init__(self, found: Any, settings: Any) -> None:
            super().__init__()
            self.weights = torch.nn.Linear(found.vector_size, 8)

        def forward(self, columns: Any) -> torch.Tensor:
            return torch.tanh(self.weights(columns["vector"]))

    spaces = (LearnerStream.observation_space, LearnerStream.action_space, NUM_ENVS, 7)
    settings = DQNSettings(**SMALL, encoder="numbers", learning_starts=40, batch_size=8, buffer_size=300)
    stream = LearnerStream(DQN(*spaces, settings, "cpu", 2_000, encoder=EncoderFactory("numbers", Numbers))).run(60)
    assert stream.metrics
    assert stream.learner._learning._process is None


def test_a_short_training_starts_no_process() -> None:
    stream = LearnerStream(learner("dqn")).run(60)
    assert stream.metrics
    assert stream.learner._learning._process is None
