"""The replay buffer gives back what happened, and keeps it in segments that never change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkmn_dqn.priorities import Priorities
from pkmn_dqn.replay_buffer import ReplayBuffer
from pkmncli.api import Segment, Transitions
from pkmncli.errors import CheckpointError

COLUMNS = {"vector": ((2,), np.float32), "action_mask": ((3,), np.uint8)}
GAMMA = 0.5


class History:
    """All steps fed to a buffer, kept in simple form: the reference for the buffer."""

    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs
        self.steps: list[list[dict]] = [[] for _ in range(num_envs)]
        self.serial = 0
        self.current = [self._new_observation() for _ in range(num_envs)]

    def _new_observation(self) -> tuple[float, float]:
        self.serial += 1
        return (float(self.serial), -float(self.serial))

    def step(self, outcomes: list[str]) -> tuple[dict, Transitions, dict]:
        """Make one step of every environment. Each outcome is "go", "terminated", "truncated" or "rebuilt"."""
        observations = list(self.current)
        following = []
        for environment, outcome in enumerate(outcomes):
            after = self._new_observation()
            following.append(after)
            # After an end, and after an environment was rebuilt, the next step starts from another observation.
            self.current[environment] = after if outcome == "go" else self._new_observation()
            self.steps[environment].append(
                {
                    "before": observations[environment],
                    "after": after,
                    "action": self.serial % 3,
                    "reward": float(self.serial % 7),
                    "outcome": outcome,
                    "advised": self.serial % 4 - 1,
                }
            )
        latest = [steps[-1] for steps in self.steps]
        transitions = Transitions(
            observations={},
            actions=np.array([step["action"] for step in latest], np.int64),
            rewards=np.array([step["reward"] for step in latest], np.float32),
            terminated=np.array([step["outcome"] == "terminated" for step in latest]),
            truncated=np.array([step["outcome"] == "truncated" for step in latest]),
            next_observations={},
            sources=np.array([self.serial % 4] * self.num_envs, np.uint8),
            advised=np.array([step["advised"] for step in latest], np.int64),
        )
        return columns(observations), transitions, columns(following)

    def expected(self, row: int, n_step: int) -> tuple[tuple, int, float, float, tuple]:
        """Return observation, action, n-step return, discount and next observation of a row."""
        index, environment = divmod(row, self.num_envs)
        steps = self.steps[environment]
        total, discount = 0.0, 1.0
        for step in steps[index : index + n_step]:
            total += discount * step["reward"]
            discount *= GAMMA
            if step["outcome"] != "go":
                break
        if step["outcome"] == "terminated":
            discount = 0.0
        return steps[index]["before"], steps[index]["action"], total, discount, step["after"]


def columns(observations: list[tuple[float, float]]) -> dict[str, np.ndarray]:
    vector = np.array(observations, np.float32)
    return {"vector": vector, "action_mask": (vector[:, :1] % np.array([2, 3, 5]) > 0).astype(np.uint8)}


def feed(history: History, buffer: ReplayBuffer, outcomes: list[list[str]]) -> None:
    for step in outcomes:
        buffer.append(*history.step(step))


def runs(num_envs: int) -> st.SearchStrategy[list[list[str]]]:
    outcome = st.sampled_from(["go", "go", "go", "terminated", "truncated", "rebuilt"])
    return st.lists(st.lists(outcome, min_size=num_envs, max_size=num_envs), min_size=1, max_size=60)


def assert_agrees(history: History, buffer: ReplayBuffer, n_step: int) -> None:
    end = len(history.steps[0]) * history.num_envs
    sampleable = buffer.sampleable(n_step)
    assert len(sampleable) == max(0, len(buffer) - n_step * history.num_envs)
    if not sampleable:
        return
    assert sampleable.start == end - len(buffer)
    rows = np.array(sampleable)
    sample = buffer.at(rows, n_step, GAMMA)
    for index, row in enumerate(rows.tolist()):
        before, action, total, discount, after = history.expected(row, n_step)
        assert tuple(sample.observations["vector"][index]) == before
        assert tuple(sample.next_observations["vector"][index]) == after
        assert sample.actions[index] == action
        assert sample.advised[index] == history.steps[row % history.num_envs][row // history.num_envs]["advised"]
        assert sample.returns[index] == pytest.approx(total)
        assert sample.discounts[index] == pytest.approx(discount)
    for kept in (sample.observations, sample.next_observations):
        np.testing.assert_array_equal(kept["action_mask"], columns(kept["vector"].tolist())["action_mask"])


@settings(max_examples=60)
@given(data=st.data(), num_envs=st.integers(1, 3), n_step=st.integers(1, 4), capacity=st.integers(4, 90))
def test_every_step_comes_back_as_it_happened(data: st.DataObject, num_envs: int, n_step: int, capacity: int) -> None:
    history = History(num_envs)
    buffer = ReplayBuffer(COLUMNS, num_envs, capacity, segment_steps=8)
    feed(history, buffer, data.draw(runs(num_envs)))
    assert len(buffer) == min(capacity, len(history.steps[0]) * num_envs)
    assert_agrees(history, buffer, n_step)


@settings(max_examples=40)
@given(data=st.data(), num_envs=st.integers(1, 3), n_step=st.integers(1, 4))
def test_a_buffer_loaded_from_its_segments_goes_on_like_the_first(
    data: st.DataObject, num_envs: int, n_step: int
) -> None:
    history = History(num_envs)
    buffer = ReplayBuffer(COLUMNS, num_envs, 40, segment_steps=8)
    feed(history, buffer, data.draw(runs(num_envs)))
    loaded = ReplayBuffer(COLUMNS, num_envs, 40, segment_steps=8)
    segments_first = data.draw(st.booleans())
    if segments_first:
        loaded.load_segments(buffer.segments())
    loaded.load_state_dict(buffer.state_dict())
    if not segments_first:
        loaded.load_segments(buffer.segments())
    feed(history, loaded, data.draw(runs(num_envs)))
    assert_agrees(history, loaded, n_step)


@settings(max_examples=30)
@given(data=st.data())
def test_a_sealed_segment_never_changes(data: st.DataObject) -> None:
    history = History(2)
    buffer = ReplayBuffer(COLUMNS, 2, 40, segment_steps=8)
    seen: dict[str, dict[str, bytes]] = {}
    for outcomes in data.draw(runs(2)):
        feed(history, buffer, [outcomes])
        for segment in buffer.segments():
            assert segment.sealed or segment.name not in seen
            if segment.sealed:
                content = {name: array.tobytes() for name, array in segment.arrays.items()}
                assert seen.setdefault(segment.name, content) == content
    rows_beyond_the_last_step = len(history.steps[0]) * 2 - 2
    kept = [segment for segment in buffer.segments() if not segment.sealed]
    assert all(int(segment.arrays["first_row"][0]) + 8 > rows_beyond_the_last_step for segment in kept)


def test_sealed_arrays_cannot_be_written() -> None:
    history = History(1)
    buffer = ReplayBuffer(COLUMNS, 1, 40, segment_steps=8)
    feed(history, buffer, [["go"]] * 9)
    sealed = next(segment for segment in buffer.segments() if segment.sealed)
    with pytest.raises(ValueError, match="read-only"):
        sealed.arrays["vector"][0] = 0


@settings(max_examples=40)
@given(data=st.data(), num_envs=st.integers(1, 3), n_step=st.integers(1, 4), capacity=st.integers(16, 60))
def test_prioritised_draws_give_what_happened_across_ends_of_episodes(
    data: st.DataObject, num_envs: int, n_step: int, capacity: int
) -> None:
    history, rng = History(num_envs), np.random.default_rng(0)
    buffer = ReplayBuffer(COLUMNS, num_envs, capacity, segment_steps=8)
    priorities = Priorities(capacity, 0.6)
    for outcomes in data.draw(runs(num_envs)):
        feed(history, buffer, [outcomes])
        sampleable = buffer.sampleable(n_step)
        if not sampleable:
            continue
        priorities.follow(sampleable)
        rows, _ = priorities.sample(8, 0.4, rng)
        sample = buffer.at(rows, n_step, GAMMA)
        for index, row in enumerate(rows.tolist()):
            before, action, total, discount, after = history.expected(row, n_step)
            assert row in sampleable
            assert tuple(sample.observations["vector"][index]) == before
            assert tuple(sample.next_observations["vector"][index]) == after
            assert sample.actions[index] == action
            assert sample.advised[index] == history.steps[row % history.num_envs][row // history.num_envs]["advised"]
            assert (sample.returns[index], sample.discounts[index]) == pytest.approx((total, discount))
        priorities.note(rows, rng.random(8) * 10 + 0.001)
        priorities.apply()


def test_large_samples_are_as_uniform_and_in_order() -> None:
    history = History(2)
    buffer = ReplayBuffer(COLUMNS, 2, capacity=40, segment_steps=8)
    feed(history, buffer, [["go", "terminated"]] * 30)
    assert_agrees(history, buffer, 3)
    sample = buffer.sample(2_048, 3, GAMMA, np.random.default_rng(0))
    assert (np.diff(sample.rows) >= 0).all()
    for index in (0, 1_000, 2_047):
        assert tuple(sample.next_observations["vector"][index]) == history.expected(int(sample.rows[index]), 3)[4]


def test_sampling_is_uniform_over_the_latest_steps() -> None:
    history = History(2)
    buffer = ReplayBuffer(COLUMNS, 2, capacity=20, segment_steps=8)
    feed(history, buffer, [["go", "go"]] * 30)
    rows = buffer.sample(8_000, 3, GAMMA, np.random.default_rng(0)).rows
    sampled, counts = np.unique(rows, return_counts=True)
    assert sampled.tolist() == list(range(40, 54))
    assert counts.min() > 450  # 571 are expected; five standard deviations less


def test_without_its_segments_a_buffer_starts_anew_under_new_names() -> None:
    history = History(1)
    buffer = ReplayBuffer(COLUMNS, 1, 40, segment_steps=8)
    feed(history, buffer, [["go"]] * 20)
    names = {segment.name for segment in buffer.segments()}
    loaded = ReplayBuffer(COLUMNS, 1, 40, segment_steps=8)
    loaded.load_state_dict(buffer.state_dict())
    loaded.load_segments([])
    assert len(loaded) == 0
    feed(History(1), loaded, [["go"]] * 10)
    assert len(loaded) == 10
    assert names.isdisjoint(segment.name for segment in loaded.segments())


@pytest.mark.parametrize("damage", ["gap", "other environments", "missing column"])
def test_segments_that_do_not_fit_are_refused(damage: str) -> None:
    history = History(1)
    buffer = ReplayBuffer(COLUMNS, 1, 40, segment_steps=8)
    feed(history, buffer, [["go"]] * 30)
    segments = list(buffer.segments())
    loading = ReplayBuffer(COLUMNS, 3 if damage == "other environments" else 1, 40, segment_steps=8)
    if damage == "gap":
        del segments[1]
    if damage == "missing column":
        arrays = {name: array for name, array in segments[0].arrays.items() if name != "vector"}
        segments[0] = Segment(segments[0].name, True, arrays)
    with pytest.raises(CheckpointError, match=r"replay-00000\d does not fit"):
        loading.load_segments(segments)


def test_segments_of_an_earlier_version_say_nothing_of_advice() -> None:
    history = History(1)
    buffer = ReplayBuffer(COLUMNS, 1, 40, segment_steps=8)
    feed(history, buffer, [["go"]] * 20)
    earlier = [
        Segment(one.name, one.sealed, {name: array for name, array in one.arrays.items() if name != "advised"})
        for one in buffer.segments()
    ]
    loaded = ReplayBuffer(COLUMNS, 1, 40, segment_steps=8)
    loaded.load_segments(earlier)
    assert set(buffer.at(np.arange(10), 1, GAMMA).advised.tolist()) == {-1, 0, 1, 2}
    assert set(loaded.at(np.arange(10), 1, GAMMA).advised.tolist()) == {-1}
