"""Learning in a process of its own is the same learning, and its end is understood."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium
import numpy as np
import psutil
import pytest
import torch
from support.crash import learn_in_a_process
from support.learner_stream import NUM_ENVS, LearnerStream, one_torch_thread
from support.variants import long_after

from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings
from pkmn_ppo.learner import A2C, PPO
from pkmn_ppo.settings import A2CSettings, PPOSettings
from pkmncli.api import Transitions
from pkmncli.errors import TrainingError
from pkmncli.learners import learning_process
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.learning_process import flat_weights
from pkmncli.training.learner_thread import LearnerThread

__all__ = ["one_torch_thread"]

SMALL: dict[str, Any] = {"screen_channels": (4, 4), "screen_features": 8, "vector_features": 8, "head_features": 8}


@pytest.fixture
def moves_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Learning moves after its first update, and waits for the process to have started."""
    monkeypatch.setattr(learning_process, "MOVES_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(learning_process.LearningProcess, "ready", learning_process.LearningProcess.ready)
    learn_in_a_process()  # what it sets is set back
    yield
    gc.collect()


def learner(rl: str, **settings: Any) -> Any:
    spaces = (LearnerStream.observation_space, LearnerStream.action_space, NUM_ENVS, 7)
    found: DQN | PPO
    if rl == "ppo":
        found = PPO(*spaces, PPOSettings(**(SMALL | {"n_steps": 15, "batch_size": 8} | settings)), "cpu", 2_000)
    else:
        chosen: dict[str, Any] = {"learning_starts": 40, "batch_size": 8, "buffer_size": 300, "learning_rate": 1e-3}
        found = DQN(*spaces, DQNSettings(**(SMALL | chosen | settings)), "cpu", 2_000)
    found.learn_beside()
    return found


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def moved(stream: LearnerStream) -> int:
    """Learns until it is in a process. Returns the process's number."""
    stream.run(80)
    apart = stream.learner.learning
    assert apart.moved
    pid: int = apart.process.process.pid
    return pid


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor | np.ndarray):
        return bool(np.array_equal(np.asarray(one), np.asarray(other)))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


CHANGED: dict[str, tuple[str, dict[str, Any]]] = {
    "normalised": ("dqn", {"normalize_observations": True, "normalize_rewards": True}),
    "normalised ppo": ("ppo", {"normalize_observations": True, "normalize_rewards": True}),
    "prioritised": ("dqn", {"priority_exponent": 0.6}),
    "recurrent": ("ppo", {"recurrent": "gru", "gru_size": 8, "sequence_length": 5}),
}
"""Learners with settings other than the defaults, by the name of the test's case."""


@pytest.mark.long
@pytest.mark.parametrize(
    "rl",
    long_after(1, ["dqn", "normalised ppo", "ppo", "normalised", "prioritised", "recurrent"]),
)
def test_it_learns_bit_for_bit_what_it_would_have_learned_here(rl: str, moves_at_once: None) -> None:
    name, settings = CHANGED.get(rl, (rl, {}))
    apart = LearnerStream(learner(name, **settings), by_rules=0.3)
    moved(apart)
    apart.run(60)
    here = LearnerStream(learner(name, own_process=False, **settings), by_rules=0.3).run(apart.step)
    assert here.learner.learning.process is None
    assert apart.acted == here.acted
    assert apart.metrics == here.metrics
    assert same(apart.learner.state_dict(), here.learner.state_dict())
    apart.learner.close()


@pytest.mark.long
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


def test_weights_of_the_update_before_can_be_taken_when_the_latest_has_ended() -> None:
    stream = LearnerStream(learner("dqn", own_process=False)).run(60)
    dqn: DQN = stream.learner
    learned = []
    for _ in range(3):
        dqn.learn(dqn.sample())
        learned.append(flat_weights(dqn.learning.here.network))
    dqn.publish(begun=True)
    assert torch.equal(flat_weights(dqn.acting), learned[1])
    dqn.publish()
    assert torch.equal(flat_weights(dqn.acting), learned[2])
    assert not torch.equal(learned[1], learned[2])


def kept_weights(dqn: DQN) -> list[torch.Tensor]:
    """The weights after each update that it makes from now on."""
    kept: list[torch.Tensor] = []
    learn = dqn.learning.here.learn

    def keeping(sampled: Any) -> Any:
        result = learn(sampled)
        kept.append(flat_weights(dqn.learning.here.network))
        return result

    dqn.learning.here.learn = keeping  # type: ignore[method-assign]
    return kept


@pytest.mark.long
@pytest.mark.parametrize("settings", [{"priority_exponent": 0.6}, {}])
def test_beside_a_training_it_learns_the_same_wherever_it_is(settings: dict[str, Any], moves_at_once: None) -> None:
    """In the order of calls that a training has: the next update is under way when the last one's weights are taken."""
    courses = []
    for own_process in (True, False):
        stream = LearnerStream(learner("dqn", own_process=own_process, **settings), by_rules=0.3)
        thread = LearnerThread(stream.learner)
        stream.learner.update_interval = 1_000_000  # the thread learns, not the stream
        learned = kept_weights(stream.learner)
        metrics = []
        for window in range(60):
            stream.run(2)
            metrics.append(thread.next_window())
            before = stream.learner.sampled - 2
            if before >= 0 and not own_process:
                assert torch.equal(flat_weights(stream.learner.acting), learned[before]), "of the update before"
            if window % 20 == 19:  # as a checkpoint does
                metrics.extend(thread.wait())
        assert stream.learner.learning.moved == own_process
        state = stream.learner.state_dict()
        courses.append((stream.acted, metrics, thread.state_dict(), state))
        thread.close()
    assert courses[0][:3] == courses[1][:3]
    assert same(courses[0][3], courses[1][3])


@pytest.mark.parametrize("slow", long_after(1, [0.0, 0.02]))
def test_a_resumed_learner_acts_with_the_update_it_was_saved_with_however_fast_the_next_one_is(slow: float) -> None:
    stream = LearnerStream(learner("dqn", own_process=False)).run(60)
    learned = flat_weights(stream.learner.learning.here.network)
    resumed = LearnerStream(learner("dqn", own_process=False)).run(44).learner
    assert resumed.sampled % 2, "what it did before it was loaded doesn't count"
    resumed.load_state_dict(stream.learner.state_dict())
    resumed.load_segments(stream.learner.segments())
    learn, publish = resumed.learn, resumed.publish
    resumed.learn = lambda sampled: (time.sleep(slow), learn(sampled))[1]
    resumed.publish = lambda **how: (time.sleep(0.02 - slow), publish(**how))[1]
    thread = LearnerThread(resumed)
    thread.load_state_dict({"unpublished": True})
    thread.next_window()
    assert torch.equal(flat_weights(resumed.acting), learned)
    thread.wait()
    thread.close()


@pytest.mark.long
@pytest.mark.parametrize(("rl", "kept"), [("dqn", 7), ("prioritised", 500), ("ppo", 0)])
def test_a_killed_process_loses_nothing(
    rl: str, kept: int, moves_at_once: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """However much is kept to be learned again, and as often as it is lost."""
    monkeypatch.setattr(learning_process, "KEPT_UPDATES", kept)
    name, settings = CHANGED.get(rl, (rl, {}))
    apart = LearnerStream(learner(name, **settings), by_rules=0.3)
    for _ in range(2):
        os.kill(moved(apart), signal.SIGKILL)
        apart.run(60)
    assert apart.learner.learning.moved, "it has moved again"
    here = LearnerStream(learner(name, own_process=False, **settings), by_rules=0.3).run(apart.step)
    assert apart.acted == here.acted
    assert apart.metrics == here.metrics
    os.kill(apart.learner.learning.process.process.pid, signal.SIGKILL)
    assert same(apart.learner.state_dict(), here.learner.state_dict()), "lost just before it was saved"
    told = "the process that learns ended with exit code -9: what it learned is learned again here"
    assert capsys.readouterr().err.count(told) == 3
    apart.learner.close()


@pytest.mark.long
def test_a_process_that_is_lost_often_is_not_started_again(
    moves_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning_process, "MOST_MOVES", 2)
    stream = LearnerStream(learner("dqn"))
    for _ in range(2):
        os.kill(moved(stream), signal.SIGKILL)
        stream.run(20)
    stream.run(80)
    assert stream.learner.learning.process is None
    here = LearnerStream(learner("dqn", own_process=False)).run(stream.step)
    assert same(stream.learner.state_dict(), here.learner.state_dict())


@pytest.mark.long
def test_a_process_that_does_not_start_leaves_learning_where_it_is(
    moves_at_once: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    start = learning_process.LearningProcess.start

    def dies(build: Any, aside: Any) -> Any:
        process = start(build, aside)
        assert process is not None
        process.process.kill()
        return process

    monkeypatch.setattr(learning_process.LearningProcess, "start", dies)
    stream = LearnerStream(learner("dqn")).run(80)
    assert stream.learner.learning.process is None
    unbroken = LearnerStream(learner("dqn", own_process=False)).run(80)
    assert same(stream.learner.state_dict(), unbroken.learner.state_dict())
    assert "learning stays in the trainer's process: ended with exit code -9" in caplog.text


@pytest.mark.long
@pytest.mark.parametrize("batch", [256, 8])
def test_a_process_that_stands_still_is_given_up(
    batch: int, moves_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it has answered, or before it has taken a message that is too long for the pipe."""
    stream = LearnerStream(learner("dqn", batch_size=batch))
    pid = moved(stream)
    monkeypatch.setattr(learning_process, "SECONDS_TO_ANSWER", 0.1)
    os.kill(pid, signal.SIGSTOP)
    stream.run(20)
    assert pid not in children()
    here = LearnerStream(learner("dqn", own_process=False, batch_size=batch)).run(stream.step)
    assert same(stream.learner.state_dict(), here.learner.state_dict())
    assert stream.metrics == here.metrics
    stream.learner.close()


@pytest.mark.long
def test_a_process_that_takes_long_is_waited_for_and_the_log_says_so(
    moves_at_once: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stream = LearnerStream(learner("dqn"))
    pid = moved(stream)
    monkeypatch.setattr(learning_process, "SECONDS_TO_ANSWER", 0.1)
    monkeypatch.setattr(learning_process, "_IDLE_SECONDS", -1.0)  # as if it had had the processor meanwhile
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(stream.learner.state_dict)
        while "has not answered" not in caplog.text:
            time.sleep(0.05)
        assert not asked.done()
        os.kill(pid, signal.SIGCONT)
        assert asked.result(60)["learning.updates"] > 0
    stream.learner.close()


@pytest.mark.long
def test_a_system_without_room_for_a_process_leaves_learning_where_it_is(
    moves_at_once: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(*_: Any) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr("multiprocessing.context.SpawnProcess.start", refused)
    stream = LearnerStream(learner("dqn")).run(80)
    unbroken = LearnerStream(learner("dqn", own_process=False)).run(80)
    assert same(stream.learner.state_dict(), unbroken.learner.state_dict())
    assert "learning stays in the trainer's process: Resource temporarily unavailable" in caplog.text


@pytest.mark.long
def test_a_closed_learner_says_so_until_a_state_is_loaded(moves_at_once: None) -> None:
    stream = LearnerStream(learner("dqn"))
    pid = moved(stream)
    state = stream.learner.state_dict()
    stream.learner.close()
    assert pid not in children()
    with pytest.raises(TrainingError, match="process that learns ended"):
        stream.learner.state_dict()
    stream.learner.load_state_dict(state)
    assert same(stream.learner.state_dict(), state)


@pytest.mark.long
def test_a_call_that_was_interrupted_answers_nothing_else(moves_at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = LearnerStream(learner("dqn"))
    pid = moved(stream)

    def interrupted(_: bytes) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(learning_process.pickle, "loads", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stream.learner.state_dict()
    assert pid not in children()
    with pytest.raises(TrainingError, match="process that learns ended"):
        stream.learner.state_dict()


@pytest.mark.long
def test_errors_there_are_raised_here(moves_at_once: None) -> None:
    stream = LearnerStream(learner("dqn"))
    moved(stream)
    sampled = stream.learner.sample()
    sampled.samples[0][0].returns[:] = np.inf
    with pytest.raises(TrainingError, match="loss became inf") as caught:
        stream.learner.learn(sampled)
    assert "Traceback" in caught.value.__notes__[0]
    stream.learner.close()


@pytest.mark.long
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
    dqn = DQN(*spaces, settings, "cpu", 2_000, encoder=EncoderFactory("numbers", Numbers))
    dqn.learn_beside()
    stream = LearnerStream(dqn).run(60)
    assert stream.metrics
    assert stream.learner.learning.process is None


def test_a_short_training_starts_no_process() -> None:
    stream = LearnerStream(learner("dqn")).run(60)
    assert stream.metrics
    assert stream.learner.learning.process is None


def test_one_that_is_waited_for_stays(moves_at_once: None) -> None:
    spaces = (LearnerStream.observation_space, LearnerStream.action_space, NUM_ENVS, 7)
    ppo = PPO(*spaces, PPOSettings(**SMALL, n_steps=15, batch_size=8, overlap=False), "cpu", 2_000)
    thread = LearnerThread(ppo)
    assert not ppo.learning.can_move
    thread.close()


def test_the_first_update_in_a_new_thread_gives_what_a_later_one_gives() -> None:
    """A resumed training begins a thread: its first sums must be made as those of an unbroken one."""
    space = gymnasium.spaces.Dict(seen=gymnasium.spaces.Box(-9, 9, (4,), np.float32))

    def weights(executor: ThreadPoolExecutor) -> list[np.ndarray]:
        a2c = A2C(space, gymnasium.spaces.Discrete(2), 1, 3, A2CSettings(n_steps=5), "cpu", 100)
        random, ended = np.random.default_rng(0), np.zeros(1, bool)
        for _ in range(5):
            before, after = ({"seen": random.normal(size=(1, 4)).astype(np.float32)} for _ in range(2))
            actions, _, exploring = a2c.act(before, explore=True)
            rewards, sources = np.ones(1, np.float32), exploring.astype(np.uint8)
            a2c.observe(Transitions(before, actions, rewards, ended, ended, after, sources))
        executor.submit(a2c.learn, a2c.sample()).result()
        state = a2c.state_dict()
        return [np.asarray(value) for name, value in state.items() if name.startswith("learning.network")]

    with ThreadPoolExecutor(1) as used, ThreadPoolExecutor(1) as new:
        used.submit(torch.get_num_threads).result()
        for first, second in zip(weights(new), weights(used), strict=True):
            np.testing.assert_array_equal(first, second)
