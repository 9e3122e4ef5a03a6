"""CartPole, the field's smallest known answer: PPO balances the pole with its own actions only."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from support.learner_stream import one_torch_thread

from pkmn_ppo.learner import PPO
from pkmn_ppo.settings import PPOSettings
from pkmncli.api import Transitions

__all__ = ["one_torch_thread"]

NUM_ENVS = 8
STEPS = 4_500
"""Steps of each environment."""
TIME_LIMIT = 500
BALANCED = 475
"""Mean return of 100 episodes that counts as solved."""

SPACE = gymnasium.spaces.Dict(state=gymnasium.spaces.Box(-10, 10, (4,), np.float32))
SETTINGS = PPOSettings(
    n_steps=64,
    batch_size=128,
    n_epochs=6,
    learning_rate=1e-3,
    learning_rate_decay=1.0,
    ent_coef=0.0,
    vector_features=64,
    head_features=64,
)


def trained() -> PPO:
    poles = [CartPoleEnv() for _ in range(NUM_ENVS)]
    learner = PPO(SPACE, gymnasium.spaces.Discrete(2), NUM_ENVS, 0, SETTINGS, "cpu", STEPS * NUM_ENVS)
    states = np.stack([pole.reset(seed=number)[0] for number, pole in enumerate(poles)])
    ages = np.zeros(NUM_ENVS, np.int64)
    running = None
    for step in range(1, STEPS + 1):
        actions, _, exploring = learner.act({"state": states}, explore=True)
        results = [pole.step(int(action)) for pole, action in zip(poles, actions, strict=True)]
        following = np.stack([result[0] for result in results])
        fallen = np.array([result[2] for result in results])
        ages += 1
        late = (ages >= TIME_LIMIT) & ~fallen
        seen, paid = {"state": following.copy()}, np.ones(NUM_ENVS, np.float32)
        learner.observe(Transitions({"state": states}, actions, paid, fallen, late, seen, exploring.astype(np.uint8)))
        for number in np.flatnonzero(fallen | late).tolist():
            following[number] = poles[number].reset()[0]
            ages[number] = 0
        states = following
        if step * NUM_ENVS % learner.update_interval == 0:  # an update's weights act a window later
            if running is not None:
                learner.learn(running)
                learner.publish()
            running = learner.sample()
    return learner


def returns_of(learner: PPO, episodes: int) -> np.ndarray:
    """Return the returns of greedy episodes on separate starts, at most ``TIME_LIMIT`` each."""
    poles = [CartPoleEnv() for _ in range(episodes)]
    states = np.stack([pole.reset(seed=10_000 + number)[0] for number, pole in enumerate(poles)])
    returns, standing = np.zeros(episodes), np.ones(episodes, bool)
    for _ in range(TIME_LIMIT):
        actions, _, _ = learner.act({"state": states}, explore=False)
        returns += standing
        for number in np.flatnonzero(standing).tolist():
            states[number], _, fallen, _, _ = poles[number].step(int(actions[number]))
            standing[number] = not fallen
    return returns


@pytest.mark.long
def test_the_pole_is_balanced() -> None:
    learner = trained()
    assert returns_of(learner, 100).mean() >= BALANCED


def test_an_untrained_one_lets_it_fall() -> None:
    untrained = PPO(SPACE, gymnasium.spaces.Discrete(2), NUM_ENVS, 0, SETTINGS, "cpu", 1)
    assert returns_of(untrained, 20).mean() < 150
