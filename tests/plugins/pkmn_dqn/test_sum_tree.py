"""The sum tree: its sums, its samples against theory, and its independence of the order of changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkmn_dqn.sum_tree import SumTree

NUMBERS = st.one_of(st.just(0.0), st.floats(1e-12, 1e12))


def changes(slots: int) -> st.SearchStrategy[list[list[tuple[int, float]]]]:
    batch = st.lists(st.tuples(st.integers(0, slots - 1), NUMBERS), max_size=12)
    return st.lists(batch, max_size=12)


def changed(tree: SumTree, batches: list[list[tuple[int, float]]]) -> dict[int, float]:
    """Make the changes, and return the resulting numbers from a dictionary."""
    numbers: dict[int, float] = {}
    for batch in batches:
        tree.set(np.array([slot for slot, _ in batch], np.int64), np.array([value for _, value in batch]))
        numbers |= dict(batch)
    return numbers


@given(data=st.data(), slots=st.integers(1, 70))
@pytest.mark.long
def test_every_sum_is_that_of_its_children_and_a_refilled_tree_is_the_same_one(data: st.DataObject, slots: int) -> None:
    tree = SumTree(slots)
    numbers = changed(tree, data.draw(changes(slots)))
    assert tree.values.tolist() == [numbers.get(slot, 0.0) for slot in range(slots)]
    nodes = tree.nodes
    inner = np.arange(1, len(nodes) // 2)
    np.testing.assert_array_equal(nodes[inner], nodes[2 * inner] + nodes[2 * inner + 1])
    assert tree.total == pytest.approx(sum(numbers.values()), rel=1e-12)
    again = SumTree(slots)
    again.fill(tree.values.copy())
    np.testing.assert_array_equal(again.nodes, nodes)


@given(data=st.data(), slots=st.integers(1, 70), share=st.floats(0, 1))
@pytest.mark.long
def test_a_slot_of_nothing_is_never_found(data: st.DataObject, slots: int, share: float) -> None:
    tree = SumTree(slots)
    numbers = changed(tree, data.draw(changes(slots)))
    if tree.total > 0:
        targets = np.array([0.0, share * tree.total, np.nextafter(tree.total, 0), tree.total])
        assert all(numbers.get(slot, 0.0) > 0 for slot in tree.find(targets).tolist())


def test_the_slot_found_is_the_one_where_running_sums_pass_the_target() -> None:
    tree = SumTree(6)
    tree.fill(np.array([2.0, 0.0, 1.0, 4.0, 0.0, 3.0]))
    assert tree.find(np.array([0, 1.9, 2, 2.9, 3, 6.9, 7, 9.9])).tolist() == [0, 0, 2, 2, 3, 3, 5, 5]


@pytest.mark.long
def test_slots_come_in_proportion_to_their_numbers() -> None:
    """Pearson's statistic of single samples is below its 99.9th percentile, for 9 degrees of freedom 27.9."""
    tree, rng = SumTree(10), np.random.default_rng(0)
    numbers = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    tree.fill(numbers)
    sampled = np.concatenate([tree.sample(1, rng) for _ in range(20_000)])
    expected = 20_000 * numbers / numbers.sum()
    assert ((np.bincount(sampled, minlength=10) - expected) ** 2 / expected).sum() < 27.9


def test_stratified_draws_come_as_often_with_less_variance() -> None:
    """In a batch, a slot comes as often as expected, rounded up or down and at most one more or less."""
    tree, rng = SumTree(50), np.random.default_rng(0)
    numbers = rng.random(50) ** 3
    tree.fill(numbers)
    counts = np.array([np.bincount(tree.sample(32, rng), minlength=50) for _ in range(5_000)])
    expected = 32 * numbers / numbers.sum()
    np.testing.assert_allclose(counts.mean(axis=0), expected, atol=5 * 0.5 / np.sqrt(5_000))
    assert (counts >= np.floor(expected) - 1).all()
    assert (counts <= np.ceil(expected) + 1).all()
    independent = rng.multinomial(32, numbers / numbers.sum(), 5_000)
    assert counts.var(axis=0).sum() < 0.5 * independent.var(axis=0).sum()


def test_sums_do_not_drift() -> None:
    """After a hundred thousand changes over 24 orders of magnitude the sum equals that of its content."""
    tree, rng = SumTree(1_000), np.random.default_rng(0)
    for _ in range(3_000):
        tree.set(rng.integers(0, 1_000, 32), 10.0 ** rng.uniform(-12, 12, 32))
    tree.set(np.arange(1_000), np.full(1_000, 1e-12))
    assert tree.total == pytest.approx(1e-9, rel=1e-12)
