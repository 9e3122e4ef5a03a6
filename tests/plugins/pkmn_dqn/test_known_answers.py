"""Small problems with known answers: the learner's values and choices match them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings
from pkmncli.api import Transitions

Step = Callable[[int, int], tuple[int, float, bool]]
"""State and action to next state, reward, and whether the episode terminated."""

SMALL = {
    "learning_rate": 3e-3,
    "batch_size": 32,
    "learning_starts": 100,
    "vector_features": 32,
    "head_features": 32,
    "gamma": 0.9,
    "reward_scale": 1.0,
    "n_step": 1,
    "target_update_interval": 1,
    "tau": 0.05,
}


def learner_of(num_states: int, num_actions: int, mask: bool = False, seed: int = 1, **settings: Any) -> DQN:
    spaces = {"state": gymnasium.spaces.Box(0, 1, (num_states,), np.float32)}
    if mask:
        spaces["action_mask"] = gymnasium.spaces.Box(0, 1, (num_actions,), np.int8)
    return DQN(
        gymnasium.spaces.Dict(spaces),
        gymnasium.spaces.Discrete(num_actions),
        num_envs=1,
        seed=seed,
        settings=DQNSettings(**(SMALL | settings)),
        total_steps=10_000,
    )


def seen(states: list[int], num_states: int, masks: np.ndarray | None = None) -> dict[str, np.ndarray]:
    observations: dict[str, np.ndarray] = {"state": np.eye(num_states, dtype=np.float32)[states]}
    if masks is not None:
        observations["action_mask"] = masks[states]
    return observations


def feed(
    learner: DQN,
    step: Step,
    policy: Callable[[int], int],
    num_steps: int,
    num_states: int,
    masks: np.ndarray | None = None,
    time_limit: int = 1_000,
) -> None:
    """Feed the steps of a policy in one environment; states are one-hot vectors."""
    state, age = 0, 0
    for _ in range(num_steps):
        action = policy(state)
        following, reward, terminated = step(state, action)
        age += 1
        truncated = age >= time_limit and not terminated
        learner.observe(
            Transitions(
                observations=seen([state], num_states, masks),
                actions=np.array([action]),
                rewards=np.array([reward], np.float32),
                terminated=np.array([terminated]),
                truncated=np.array([truncated]),
                next_observations=seen([following], num_states, masks),
                sources=np.zeros(1, np.uint8),
            )
        )
        state, age = (0, 0) if terminated or truncated else (following, age)


def learn(learner: DQN, updates: int) -> None:
    for _ in range(updates):
        learner.learn(learner.sample())
    learner.publish()


def values(learner: DQN, num_states: int, masks: np.ndarray | None = None) -> np.ndarray:
    learner.act(seen(list(range(num_states)), num_states, masks), explore=False)
    found = learner.action_values()
    assert found is not None
    return found


def value_iteration(step: Step, num_states: int, num_actions: int, gamma: float) -> np.ndarray:
    table = np.zeros((num_states, num_actions))
    for _ in range(500):
        best = table.max(axis=1)
        for state in range(num_states):
            for action in range(num_actions):
                following, reward, terminated = step(state, action)
                table[state, action] = reward + (0 if terminated else gamma * best[following])
    return table


def ring(state: int, action: int) -> tuple[int, float, bool]:
    """Return the result in a ring of six states that ends only by the last state's action 1; staying pays little."""
    if action == 0:
        return state, 0.1, False
    if state == 5:
        return state, 3.0, True
    return (state + 1 if action == 1 else (state - 1) % 5), 0.5 if state == 2 else 0.0, False


@pytest.mark.long
@pytest.mark.parametrize(
    "settings",
    [
        {"double": True, "dueling": True},
        pytest.param({"double": False, "dueling": False}, marks=pytest.mark.long),
        pytest.param({"priority_exponent": 0.6, "importance_exponent": 0.4}, marks=pytest.mark.long),
    ],
)
def test_values_meet_value_iteration(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    learner = learner_of(6, 3, **settings)
    # Truncated at random lengths: truncation must not count as an end, or all values are too low.
    feed(learner, ring, lambda state: int(rng.integers(3)), 1_500, 6, time_limit=7)
    feed(learner, ring, lambda state: int(rng.integers(3)), 1_500, 6)
    for _ in range(800):
        learn(learner, 1)
    truth = value_iteration(ring, 6, 3, 0.9)
    assert np.abs(values(learner, 6) - truth).max() < 0.01 * np.abs(truth).max()


@pytest.mark.long
def test_masked_actions_have_no_say_in_the_values() -> None:
    """In a corridor where every step costs, a third action is never allowed, and its worth is unknown."""

    def corridor(state: int, action: int) -> tuple[int, float, bool]:
        following = min(8, max(0, state + (1 if action == 1 else -1)))
        return following, -1.0, following == 8

    masks = np.tile(np.array([1, 1, 0], np.int8), (9, 1))
    truth = value_iteration(corridor, 9, 2, 0.9)[:8]
    errors = {}
    for masked in (True, False):
        rng = np.random.default_rng(0)
        learner = learner_of(9, 3, mask=masked)
        shown = masks if masked else None
        feed(learner, corridor, lambda state, rng=rng: int(rng.random() < 0.6), 2_000, 9, shown)
        learn(learner, 700)
        found = values(learner, 9, shown)[:8, :2]
        errors[masked] = np.abs(found - truth).max() / np.abs(truth).max()
        if masked:
            actions, _, _ = learner.act(seen(list(range(8)), 9, masks), explore=False)
            assert actions.tolist() == [1] * 8
    assert errors[True] < 0.02
    assert errors[False] > 0.2


@pytest.mark.long
def test_n_step_returns_carry_a_reward_n_states_further_for_each_target_network() -> None:
    def chain(state: int, action: int) -> tuple[int, float, bool]:
        return state + 1, 10.0 if state == 8 else 0.0, state == 8

    starts = {}
    for n_step in (1, 3):
        learner = learner_of(
            10, 2, n_step=n_step, gamma=1.0, target_update_interval=150, tau=1.0, learning_rate=3e-3, double=False
        )
        feed(learner, chain, lambda state: state % 2, 900, 10)
        learn(learner, 450)  # the first target is untrained; two more follow
        starts[n_step] = values(learner, 10)[0, 0]
    assert starts[3] == pytest.approx(10, abs=0.5)
    assert abs(starts[1] - 10) > 3


def updates_until_the_cliffwalk_is_known(seed: int, **settings: Any) -> int:
    """Update until all values are right within 0.1, from every sequence of actions: Schaul et al. 2016, section 3.

    The Blind Cliffwalk of eight states: the right action, which alternates, leads on, the other one ends the episode.
    One of 510 steps is rewarded.
    """
    length = 8

    def cliffwalk(state: int, action: int) -> tuple[int, float, bool]:
        if action != state % 2:
            return state, 0.0, True
        return state + 1, float(state == length - 1), state == length - 1

    sequences = iter(np.random.default_rng(seed).permutation(2**length).tolist())
    presses = 0

    def policy(state: int) -> int:
        nonlocal presses
        if state == 0:
            presses = next(sequences)
        return presses >> state & 1

    gamma = 1 - 1 / length
    learner = learner_of(length + 1, 2, seed=seed, gamma=gamma, learning_rate=1e-3, dueling=False, **settings)
    feed(learner, cliffwalk, policy, 2 ** (length + 1) - 2, length + 1)
    truth = value_iteration(cliffwalk, length, 2, gamma)
    for count in range(10, 3_000, 10):
        for _ in range(10):
            learn(learner, 1)
        if np.abs(values(learner, length + 1)[:length] - truth).max() < 0.1:
            return count
    pytest.fail("the values were never right")


@pytest.mark.long
def test_what_is_rarely_paid_is_learned_with_fewer_updates_by_priorities() -> None:
    even = [updates_until_the_cliffwalk_is_known(seed) for seed in range(3)]
    prioritised = [updates_until_the_cliffwalk_is_known(seed, priority_exponent=0.6) for seed in range(3)]
    assert all(fewer < more for fewer, more in zip(prioritised, even, strict=True))
    assert sum(prioritised) < 0.75 * sum(even)


@pytest.mark.long
def test_a_screen_is_read() -> None:
    """A bright square is in one of four corners of a noisy screen, and the action of that number is rewarded."""
    rng = np.random.default_rng(0)
    num_envs = 8
    learner = DQN(
        gymnasium.spaces.Dict(screen=gymnasium.spaces.Box(0, 255, (72, 40), np.uint8)),
        gymnasium.spaces.Discrete(4),
        num_envs,
        seed=0,
        settings=DQNSettings(
            reward_scale=1.0, learning_rate=1e-3, learning_starts=100, screen_channels=(8, 8), screen_features=32
        ),
    )

    def screens(corners: np.ndarray) -> dict[str, np.ndarray]:
        shown = rng.integers(0, 256, (num_envs, 72, 40), np.uint8) & np.uint8(0x77)
        for screen, corner in zip(shown, corners, strict=True):
            row, column = 44 * (corner // 2) + rng.integers(20), 24 * (corner % 2) + rng.integers(12)
            screen[row : row + 8, column : column + 4] = 0xFF
        return {"screen": shown}

    corners = rng.integers(4, size=num_envs)
    shown = screens(corners)
    for _ in range(100):
        actions = rng.integers(4, size=num_envs)
        corners_after = rng.integers(4, size=num_envs)
        following = screens(corners_after)
        ended = np.ones(num_envs, bool)
        rewards = (actions == corners).astype(np.float32)
        learner.observe(Transitions(shown, actions, rewards, ended, ~ended, following, np.zeros(num_envs, np.uint8)))
        corners, shown = corners_after, following
    learn(learner, 250)
    right = []
    for _ in range(10):
        corners = rng.integers(4, size=num_envs)
        right.extend(learner.act(screens(corners), explore=False)[0] == corners)
    assert np.mean(right) > 0.9


@pytest.mark.long
def test_cart_pole_is_balanced() -> None:
    """From scratch and with its own actions only: the whole loop, with vectors only."""
    pole = gymnasium.make("CartPole-v1")
    learner = DQN(
        gymnasium.spaces.Dict(state=pole.observation_space),
        pole.action_space,
        num_envs=1,
        seed=0,
        settings=DQNSettings(
            reward_scale=1.0,
            learning_rate=1e-3,
            learning_starts=200,
            target_update_interval=50,
            batch_size=64,
            exploration_fraction=0.3,
            vector_features=64,
            head_features=64,
            train_freq=2,
        ),
        total_steps=3_000,
    )

    def shown(state: np.ndarray) -> dict[str, np.ndarray]:
        return {"state": state[None]}

    state, _ = pole.reset(seed=0)
    for count in range(1, 3_001):
        actions, _, _ = learner.act(shown(state), explore=True)
        following, reward, terminated, truncated, _ = pole.step(int(actions[0]))
        learner.observe(
            Transitions(
                observations=shown(state),
                actions=actions,
                rewards=np.array([reward], np.float32),
                terminated=np.array([terminated]),
                truncated=np.array([truncated]),
                next_observations=shown(following),
                sources=np.zeros(1, np.uint8),
            )
        )
        state = pole.reset()[0] if terminated or truncated else following
        if count % learner.update_interval == 0 and (sampled := learner.sample()) is not None:
            learner.learn(sampled)
            learner.publish()
    lengths = []
    for seed in range(10):
        state, _ = pole.reset(seed=seed)
        length, ended = 0, False
        while not ended:
            actions, _, _ = learner.act(shown(state), explore=False)
            state, _, terminated, truncated, _ = pole.step(int(actions[0]))
            length, ended = length + 1, terminated or truncated
        lengths.append(length)
    pole.close()
    assert 0.2 < learner.reliability < 1
    assert np.mean(lengths) > 100  # random actions last about 20
