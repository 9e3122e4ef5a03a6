"""Priorities: which rows are sampled and how often, correct weights, and an exact resume."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkmn_dqn.learner import DQN
from pkmn_dqn.priorities import Priorities
from pkmn_dqn.q_learning import Learned, SampledBatch
from pkmn_dqn.settings import DQNSettings
from pkmncli.api import Source

EXPONENT = 0.6
CAPACITY = 30


def noted(priorities: Priorities, given: dict[int, float]) -> None:
    priorities.note(np.array(list(given), np.int64), np.array(list(given.values())))
    priorities.apply()


def powers(priorities: Priorities) -> np.ndarray:
    """Return each slot's priority ** exponent; 0 for none."""
    found: np.ndarray = priorities.state_dict()["powers"]
    return found


def chances(priorities: Priorities, rows: range, draws: int = 20_000) -> np.ndarray:
    """Return the share of each row among samples."""
    sampled, _ = priorities.sample(draws, 0.0, np.random.default_rng(0))
    assert set(sampled.tolist()) <= set(rows)
    return np.bincount(sampled - rows.start, minlength=len(rows)) / draws


def test_rows_are_sampled_in_proportion_to_powers_of_their_priorities() -> None:
    priorities = Priorities(CAPACITY, EXPONENT)
    priorities.follow(range(100, 104))
    noted(priorities, {100: 0.1, 101: 0.5, 102: 1.0, 103: 8.0})
    expected = np.array([0.1, 0.5, 1.0, 8.0]) ** EXPONENT
    np.testing.assert_allclose(chances(priorities, range(100, 104)), expected / expected.sum(), atol=1e-3)


@settings(max_examples=60)
@given(data=st.data())
@pytest.mark.long
def test_only_rows_that_may_be_sampled_have_a_chance(data: st.DataObject) -> None:
    """Compared with a dictionary, through new rows, removed rows, late priorities of removed rows, and long pauses."""
    priorities, start, stop = Priorities(CAPACITY, EXPONENT), 0, 0
    expected: dict[int, float] = {}
    greatest = 1.0
    for _ in range(data.draw(st.integers(1, 12))):
        stop += data.draw(st.integers(0, 80))
        start = max(start, stop - data.draw(st.integers(1, CAPACITY)))
        priorities.follow(range(start, stop))
        expected = {row: expected.get(row, greatest) for row in range(start, stop)}
        news = data.draw(st.dictionaries(st.integers(max(0, start - 40), stop + 5), st.floats(1e-3, 1e3), max_size=8))
        if news:
            noted(priorities, news)
            greatest = max(greatest, *news.values())
            expected |= {row: value for row, value in news.items() if row in expected}
    slots = np.zeros(CAPACITY)
    for row, priority in expected.items():
        slots[row % CAPACITY] = priority**EXPONENT
    np.testing.assert_allclose(powers(priorities), slots, rtol=1e-14)
    assert priorities.greatest == greatest


def test_a_row_that_comes_twice_has_the_last_priority_and_the_greatest_counts_both() -> None:
    priorities = Priorities(CAPACITY, 1.0)
    priorities.follow(range(3))
    priorities.note(np.array([0, 1, 0]), np.array([9.0, 2.0, 3.0]))
    priorities.note(np.array([1]), np.array([4.0]))
    priorities.apply()
    assert powers(priorities)[:3].tolist() == [3.0, 4.0, 1.0]
    priorities.follow(range(4))
    assert powers(priorities)[3] == 9.0


def test_what_is_noted_holds_only_once_applied() -> None:
    priorities = Priorities(CAPACITY, 1.0)
    priorities.follow(range(2))
    priorities.note(np.array([0]), np.array([99.0]))
    assert chances(priorities, range(2)).tolist() == [0.5, 0.5]
    priorities.apply()
    np.testing.assert_allclose(chances(priorities, range(2)), [0.99, 0.01], atol=1e-4)


def test_with_the_whole_correction_a_weighted_mean_is_that_of_even_draws() -> None:
    rng = np.random.default_rng(0)
    rows = range(1_000, 1_500)
    values = rng.normal(size=500) ** 2
    priorities = Priorities(500, 1.0)
    priorities.follow(rows)
    noted(priorities, dict(zip(rows, values + 0.05, strict=True)))  # large values are sampled more often
    sampled, weights = priorities.sample(50_000, 1.0, rng)
    seen = values[sampled - rows.start]
    assert np.average(seen, weights=weights) == pytest.approx(values.mean(), rel=0.01)
    assert seen.mean() > 2 * values.mean()
    half = priorities.sample(50_000, 0.5, np.random.default_rng(1))
    assert values.mean() * 1.1 < np.average(values[half[0] - rows.start], weights=half[1]) < seen.mean()


def test_weights_are_those_of_the_source() -> None:
    """Weights are (N P) ** -beta, divided by the batch's largest: Schaul et al. 2016, section 3.4."""
    priorities = Priorities(CAPACITY, 1.0)
    priorities.follow(range(4))
    noted(priorities, {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0})
    rows, weights = priorities.sample(64, 0.4, np.random.default_rng(0))
    by_hand = (4 * (rows + 1) / 10) ** -0.4
    np.testing.assert_allclose(weights, by_hand / by_hand.max(), rtol=1e-6)
    assert weights.max() == 1.0
    _, uncorrected = priorities.sample(64, 0.0, np.random.default_rng(0))
    assert (uncorrected == 1.0).all()


@pytest.mark.parametrize("capacity", [CAPACITY, 20, 50])
def test_priorities_come_back_from_their_state_also_with_another_capacity(capacity: int) -> None:
    priorities = Priorities(CAPACITY, EXPONENT)
    priorities.follow(range(40, 65))
    noted(priorities, {row: 0.1 * row for row in range(45, 60)})
    priorities.note(np.array([64]), np.array([70.0]))
    restored = Priorities(capacity, EXPONENT)
    restored.load_state_dict(priorities.state_dict())
    rows = range(max(40, 65 - capacity), 65)
    for each in (priorities, restored):
        each.apply()
        each.follow(rows)
    kept = np.array(rows)
    np.testing.assert_array_equal(powers(restored)[kept % capacity], powers(priorities)[kept % CAPACITY], strict=True)
    assert restored.greatest == priorities.greatest == 70.0
    if capacity == CAPACITY:
        sampled = [each.sample(1_000, 0.4, np.random.default_rng(0)) for each in (priorities, restored)]
        np.testing.assert_array_equal(*sampled)


def test_the_state_of_a_run_that_drew_evenly_gives_all_steps_the_same_chance() -> None:
    priorities = Priorities(CAPACITY, EXPONENT)
    priorities.load_state_dict({})
    priorities.follow(range(10, 20))
    np.testing.assert_allclose(chances(priorities, range(10, 20)), 0.1, atol=1e-3)


def test_learning_moves_priorities_to_the_errors_found(scripted_training: Any) -> None:
    """After a publish the rows of a batch have the size of their errors, demonstrations also the bonus."""
    training = scripted_training(priority_exponent=1.0, demonstration_priority=5.0, gradient_steps=2, n_step=3)
    training.by_rules = 0.5
    training.run(60)
    learner: DQN = training.learner
    learner.publish()
    sampled = learner.sample()
    assert sampled is not None
    errors = {}
    for _, weights in sampled.samples:
        assert weights is not None
        assert weights.max() == 1.0
    learning = learner.learning.here
    original = learning.learn

    def watched(sampled: SampledBatch) -> Learned:
        learned = original(sampled)
        for (sample, _), td_errors in zip(sampled.samples, learned.td_errors, strict=True):
            bonus = 5.0 * np.isin(sample.sources, (Source.RULE, Source.LLM))
            errors.update(zip(sample.rows.tolist(), np.abs(td_errors) + bonus, strict=True))
        return learned

    learning.learn = watched  # type: ignore[method-assign]
    learner.learn(sampled)
    priorities = learner.priorities
    assert priorities is not None
    rows = np.array(list(errors))
    before = powers(priorities)[rows % 300]
    learner.publish()
    after = powers(priorities)[rows % 300]
    np.testing.assert_allclose(after, np.array(list(errors.values())) + learner.settings.priority_epsilon, rtol=1e-6)
    assert (before != after).any()
    assert {row for row, error in errors.items() if error > 5}, "no demonstration was sampled"


def test_rows_that_left_the_buffer_while_being_learned_from_are_passed_over(scripted_training: Any) -> None:
    training = scripted_training(priority_exponent=0.6, buffer_size=60, n_step=2).run(60)
    learner: DQN = training.learner
    learner.publish()
    sampled = learner.sample()
    training.run(40)  # all rows sampled before are gone
    learner.learn(sampled)
    learner.publish()
    later = learner.sample()
    assert sampled is not None
    assert later is not None
    rows = learner.replay.sampleable(2)
    assert all(int(row) not in rows for row in sampled.samples[0][0].rows)
    assert all(int(row) in rows for row in later.samples[0][0].rows)
    assert learner.priorities is not None
    assert np.count_nonzero(powers(learner.priorities)) == len(rows) == 60 - 2 * 2


def test_even_draws_keep_no_priorities(scripted_training: Any) -> None:
    training = scripted_training().run(60)
    assert not any("priorit" in name for name in training.learner.state_dict())
    assert all(weights is None for _, weights in training.learner.sample().samples)
    assert "importance_exponent" not in training.metrics[-1]


@pytest.mark.long
def test_the_correction_rises_to_the_end_of_the_run_and_a_longer_budget_does_not_lower_it(
    scripted_training: Any,
) -> None:
    training = scripted_training(priority_exponent=0.6, importance_exponent=0.4).run(500)  # of 2,000 steps, two a step
    assert training.metrics[-1]["importance_exponent"] == pytest.approx(0.7, abs=0.01)
    spaces = (training.observation_space, training.action_space)
    longer = DQN(*spaces, 2, 7, DQNSettings(**training.learner.settings.model_dump()), "cpu", 1_000_000)
    longer.load_state_dict(training.learner.state_dict())
    longer.load_segments(training.learner.segments())
    sampled = longer.sample()
    assert sampled is not None
    assert sampled.metrics["importance_exponent"] == pytest.approx(0.7)
    assert training.run(600).metrics[-1]["importance_exponent"] == 1.0
