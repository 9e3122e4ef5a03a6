"""The cost of sampling from the replay buffer, uniformly and by priorities, and the memory of 100,000 steps.

    python benchmarks/replay_buffer.py --pairs 9 --batch-sizes 32 256 2048

A buffer is filled with 100,000 synthetic multi-modal steps (packed screen, 25 state variables, mask) in episodes of
500. Then batches are sampled from it in turn, uniformly and by priorities; between two samples four steps come and four
go, as in a training. By priorities, a sample includes updating the rows and the new priorities of the batch. For each
pair the ratio is taken, and the share of an update of the default network with such a batch, in processor time of one
thread. Printed: medians over the pairs; then the memory, with the budget of 400 MB.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import gymnasium
import numpy as np
import torch

from pkmn_dqn.learner import DQN
from pkmn_dqn.priorities import Priorities
from pkmn_dqn.replay_buffer import ReplayBuffer
from pkmn_dqn.settings import DQNSettings
from pkmncli.api import Transitions
from pkmncli.learners.observations import layout_of

STEPS, NUM_ENVS, EPISODE_STEPS = 100_000, 4, 500
N_STEP, GAMMA, EXPONENT = 5, 0.99, 0.6
BUDGET = 400e6

OBSERVATIONS = gymnasium.spaces.Dict(
    screen=gymnasium.spaces.Box(0, 255, (72, 40), np.uint8),
    state_variables=gymnasium.spaces.Box(0, 1, (25,), np.float32),
    action_mask=gymnasium.spaces.Box(0, 1, (9,), np.int8),
)
ACTIONS = gymnasium.spaces.Discrete(9)


class Draws:
    """A full buffer with priorities, and the two ways to sample from it."""

    def __init__(self) -> None:
        layout = layout_of(OBSERVATIONS, ACTIONS, "dqn")
        self.replay = ReplayBuffer(layout.columns, NUM_ENVS, STEPS)
        self.priorities = Priorities(STEPS, EXPONENT)
        self._rng = np.random.default_rng(0)
        self._columns = layout.encode(
            {
                "screen": self._rng.integers(0, 256, (NUM_ENVS, 72, 40), np.uint8),
                "state_variables": self._rng.random((NUM_ENVS, 25), np.float32),
                "action_mask": np.ones((NUM_ENVS, 9), np.int8),
            }
        )
        self._steps = 0
        for _ in range(STEPS // NUM_ENVS + 1_000):
            self.one_step()
        self.priorities.follow(self.replay.sampleable(N_STEP))
        rows = np.array(self.replay.sampleable(N_STEP))
        self.priorities.note(rows, self._rng.random(len(rows)) ** 2 + 0.001)
        self.priorities.apply()

    def one_step(self) -> None:
        """Add a step of every environment; the oldest ones go."""
        self._steps += 1
        ended = np.full(NUM_ENVS, self._steps % EPISODE_STEPS == 0)
        numbers = np.zeros(NUM_ENVS, np.int64)
        step = Transitions(
            {}, numbers, np.ones(NUM_ENVS, np.float32), ended, ended & False, {}, numbers.astype(np.uint8)
        )
        self.replay.append(self._columns, step, self._columns)

    def evenly(self, batch_size: int) -> None:
        """Sample a batch uniformly."""
        self.replay.sample(batch_size, N_STEP, GAMMA, self._rng)

    def by_priority(self, batch_size: int) -> None:
        """Sample a batch by priorities, and give its steps new ones."""
        self.priorities.follow(self.replay.sampleable(N_STEP))
        rows, _ = self.priorities.sample(batch_size, 0.4, self._rng)
        self.replay.at(rows, N_STEP, GAMMA)
        self.priorities.note(rows, self._rng.random(batch_size) ** 2 + 0.001)
        self.priorities.apply()


def seconds(draws: Draws, draw: Callable[[int], None], batch_size: int) -> float:
    """Return processor seconds of one sample: the mean of several."""
    repeats = max(20, 6_400 // batch_size)
    spent = 0.0
    for _ in range(repeats):
        draws.one_step()
        began = time.thread_time()
        draw(batch_size)
        spent += time.thread_time() - began
    return spent / repeats


def show(batch_size: int, draws: Draws, pairs: int) -> None:
    """Print one row, from the medians of the pairs."""
    learner = DQN(OBSERVATIONS, ACTIONS, NUM_ENVS, 0, DQNSettings(batch_size=batch_size), "cpu", STEPS)
    even, prioritised, updates = [], [], []
    for pair in range(pairs):
        runs = [
            lambda: even.append(seconds(draws, draws.evenly, batch_size)),
            lambda: prioritised.append(seconds(draws, draws.by_priority, batch_size)),
        ]
        for run in runs if pair % 2 == 0 else reversed(runs):
            run()
        began = time.thread_time()
        learner.time_learning()
        updates.append((time.thread_time() - began) / 6)  # one untimed update and five timed ones
    ratio, share_even, share = (
        statistics.median(one / other for one, other in zip(ones, others, strict=True))
        for ones, others in ((prioritised, even), (even, updates), (prioritised, updates))
    )
    print(
        f"{batch_size:11,}{statistics.median(even) * 1e6:10.0f}{statistics.median(prioritised) * 1e6:17.0f}"
        f"{ratio:7.2f}{statistics.median(updates) * 1e6:13,.0f}{share_even:8.1%}{share:13.1%}"
    )


def main() -> None:
    """Print one table, and the memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[32, 256, 2048])
    options = parser.parse_args()
    torch.set_num_threads(1)
    draws = Draws()
    print(f"{'':21}microseconds of a draw         an update,   share of the update")
    print(f"{'batch':>11}{'even':>10}{'by priority':>17}{'ratio':>7}{'us':>13}{'even':>8}{'by priority':>13}")
    for batch_size in options.batch_sizes:
        show(batch_size, draws, options.pairs)
    even = draws.replay.nbytes
    for kind, taken in (("drawn evenly", even), ("with priorities", even + draws.priorities.nbytes)):
        print(f"{STEPS:,} multi-modal steps, {kind}: {taken / 1e6:.1f} MB of {BUDGET / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
