"""A corridor in which most actions are forbidden: both learners find the way out, and only with the mask."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from pkmn_ppo.learner import A2C, PPO
from pkmn_ppo.settings import A2CSettings, PPOSettings
from pkmncli.api import Transitions

NUM_ENVS = 4
LENGTH = 8
NUM_ACTIONS = 20
LEFT, RIGHT = 3, 11
TIME_LIMIT = 40

SIZES = {"reward_scale": 1.0, "vector_features": 32, "head_features": 32, "gamma": 0.95}


class Corridors:
    """Corridors to walk from one end to the other, which pays 1. Other actions do nothing; the mask forbids them.

    The next episode begins in the step that ended the last one, as with the trainer's environments.
    """

    def __init__(self, masked: bool) -> None:
        self._masked = masked
        self._places = np.zeros(NUM_ENVS, np.int64)
        self._ages = np.zeros(NUM_ENVS, np.int64)
        self.ways_out = 0
        spaces: dict[str, Any] = {"state": gymnasium.spaces.Box(0, 1, (LENGTH,), np.float32)}
        if masked:
            spaces["action_mask"] = gymnasium.spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)
        self.observation_space = gymnasium.spaces.Dict(spaces)

    def shown(self, places: np.ndarray) -> dict[str, np.ndarray]:
        observations: dict[str, np.ndarray] = {"state": np.eye(LENGTH, dtype=np.float32)[places]}
        if self._masked:
            mask = np.zeros((len(places), NUM_ACTIONS), np.int8)
            mask[:, [LEFT, RIGHT]] = 1
            observations["action_mask"] = mask
        return observations

    def step(self, learner: Any) -> None:
        observations = self.shown(self._places)
        actions, _, exploring = learner.act(observations, explore=True)
        moves = (actions == RIGHT).astype(np.int64) - (actions == LEFT)
        following = np.clip(self._places + moves, 0, LENGTH - 1)
        self._ages += 1
        out = following == LENGTH - 1
        late = (self._ages >= TIME_LIMIT) & ~out
        learner.observe(
            Transitions(
                observations,
                actions,
                out.astype(np.float32),
                out,
                late,
                self.shown(following),
                exploring.astype(np.uint8),
            )
        )
        self.ways_out += int(out.sum())
        self._places = np.where(out | late, 0, following)
        self._ages[out | late] = 0


def trained(rl: str, masked: bool, steps: int) -> tuple[Any, int]:
    """Return a learner after ``steps`` of each environment, and the number of exits in the last fifth of them."""
    corridors = Corridors(masked)
    spaces = (corridors.observation_space, gymnasium.spaces.Discrete(NUM_ACTIONS), NUM_ENVS, 1)
    if rl == "ppo":
        settings = PPOSettings(**SIZES, n_steps=64, batch_size=64, n_epochs=4, learning_rate=1e-3)
        learner: Any = PPO(*spaces, settings, "cpu", steps * NUM_ENVS)
    else:
        learner = A2C(*spaces, A2CSettings(**SIZES, n_steps=5, learning_rate=3e-3), "cpu", steps * NUM_ENVS)
    running: Any = None
    before = 0
    for step in range(1, steps + 1):
        corridors.step(learner)
        if step * NUM_ENVS % learner.update_interval == 0:  # an update's weights act a window later
            if running is not None:
                learner.learn(running)
                learner.publish()
            running = learner.sample()
        if step == steps * 4 // 5:
            before = corridors.ways_out
    return learner, corridors.ways_out - before


@pytest.mark.parametrize("rl", ["ppo", pytest.param("a2c", marks=pytest.mark.long)])
def test_the_way_out_is_learned_and_masks_are_what_lets_it_be(rl: str) -> None:
    steps = 1_000
    learner, ways_out = trained(rl, masked=True, steps=steps)
    actions, confidences, _ = learner.act(Corridors(True).shown(np.arange(LENGTH - 1)), explore=False)
    assert actions.tolist() == [RIGHT] * (LENGTH - 1)
    at_best = NUM_ENVS * steps // 5 // (LENGTH - 1)
    assert ways_out > 0.8 * at_best
    assert 0.2 < learner.reliability <= 1
    assert confidences.min() > 0.5 * learner.reliability
    _, without_masks = trained(rl, masked=False, steps=steps)
    assert without_masks < 0.5 * ways_out
