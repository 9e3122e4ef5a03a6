"""What a training will cost, said before it begins, and which of steps and updates has to wait for the other."""

from __future__ import annotations

import pytest
from support.worker_pools import make_spec

from pkmncli.training.display.estimate import estimate
from pkmncli.training.no_learner import NoLearner
from pkmncli.training.workers.pool import WorkerPool


class TimedLearner(NoLearner):
    """Learns once in four steps, for so many seconds."""

    update_interval = 4

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def time_learning(self) -> float:
        return self.seconds


@pytest.fixture(scope="module")
def pool() -> object:
    with WorkerPool(make_spec()) as found:
        found.reset()
        yield found


def test_a_learner_that_cannot_keep_up_is_named_as_the_limit(pool: WorkerPool) -> None:
    cost = estimate(pool, TimedLearner(5.0), 1_000, 0, 1)
    assert cost.steps_per_second == pytest.approx(4 / 5.0 / 1.25)  # steps and updates slow each other down
    assert cost.learner_limit is not None
    assert cost.learner_limit.environment_steps_per_second > 4 / 5.0
    assert "once in 4 steps, which takes 5.0 s" in str(cost.learner_limit)


def test_a_learner_that_keeps_up_is_no_limit(pool: WorkerPool) -> None:
    assert estimate(pool, TimedLearner(1e-6), 1_000, 0, 1).learner_limit is None


def test_one_that_environments_wait_for_anyway_is_not_full(pool: WorkerPool) -> None:
    learner = TimedLearner(5.0)
    learner.waits_for_updates = True  # type: ignore[attr-defined]
    assert estimate(pool, learner, 1_000, 0, 1).learner_limit is None
