"""A rollout keeps the steps: the next observations, also at ends of episodes, and who acted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from pkmn_ppo.experience import Experience
from pkmn_ppo.policy import MaskedCategorical
from pkmn_ppo.rollout import Rollout
from pkmn_ppo.settings import PPOSettings
from pkmncli.api import Transitions
from pkmncli.errors import CheckpointError

COLUMNS: dict[str, Any] = {"vector": ((1,), np.float32), "action_mask": ((2,), np.uint8)}


def columns(*numbers: float) -> dict[str, np.ndarray]:
    """Return observations of as many environments, each a number."""
    return {
        "vector": np.array(numbers, np.float32)[:, None],
        "action_mask": np.ones((len(numbers), 2), np.uint8),
    }


def add(
    rollout: Rollout,
    now: tuple[float, ...],
    following: tuple[float, ...],
    *,
    terminated: tuple[bool, ...] = (False, False),
    truncated: tuple[bool, ...] = (False, False),
    own: tuple[bool, ...] = (True, True),
    reward: float = 0.0,
    labels: tuple[int, ...] = (-1, -1),
) -> None:
    step = Transitions(
        {},
        np.zeros(2, np.int64),
        np.full(2, reward, np.float32),
        np.array(terminated),
        np.array(truncated),
        {},
        np.zeros(2, np.uint8),
    )
    rollout.append(
        columns(*now),
        step,
        step.actions,
        columns(*following),
        np.array(own),
        np.full(2, -0.5, np.float32),
        np.array(labels),
    )


def played() -> Rollout:
    """Return a rollout: environment 0 terminates at step 1, environment 1 is truncated at step 0 and then continues."""
    rollout = Rollout(COLUMNS, 3, 2)
    add(rollout, (1, 101), (2, 102), truncated=(False, True))
    add(rollout, (2, 103), (3, 104), terminated=(True, False), own=(True, False))
    add(rollout, (4, 104), (5, 105))
    return rollout


class Numbers:
    """Stand-in for a network: an observation's value is its number."""

    def __call__(
        self, observations: dict[str, torch.Tensor], memory: None, starts: None
    ) -> tuple[MaskedCategorical, torch.Tensor, torch.Tensor]:
        mask, vector = observations["action_mask"], observations["vector"]
        return MaskedCategorical(torch.zeros(mask.shape), mask), vector[:, 0], vector[:, :0]


def test_what_followed_is_kept_where_it_is_not_the_next_row() -> None:
    rollout = played()
    assert rollout.full
    places, found = rollout.successors()
    assert places.tolist() == [[0, 1], [2, 0], [2, 1]]
    assert found["vector"][:, 0].tolist() == [102, 5, 105]


def test_values_of_what_followed_reach_the_advantages() -> None:
    """With lambda 0 a return is the reward and the discounted value of the next observation, which is its number."""
    settings = PPOSettings(gamma=0.5, gae_lambda=0.0, normalize_advantage=False)
    experience = Experience.of(played(), Numbers(), settings, torch.device("cpu"))  # type: ignore[arg-type]
    np.testing.assert_allclose(experience.values, [1, 101, 2, 103, 4, 104])
    np.testing.assert_allclose(experience.returns, [0.5 * x for x in (2, 102, 0, 104, 5, 105)])
    assert experience.on_policy.tolist() == [1, 1, 1, 0, 1, 1]
    assert experience.log_probs.tolist() == [-0.5, -0.5, -0.5, 0, -0.5, -0.5]


def test_a_rollout_that_ends_with_all_episodes_needs_nothing_from_after_it() -> None:
    rollout = Rollout(COLUMNS, 1, 2)
    add(rollout, (1, 2), (3, 4), terminated=(True, True))
    places, found = rollout.successors()
    assert places.shape == (0, 2)
    assert found["vector"].shape == (0, 1)


def test_an_episode_that_terminated_and_was_cut_off_terminated() -> None:
    rollout = Rollout(COLUMNS, 1, 2)
    add(rollout, (1, 2), (3, 4), terminated=(True, False), truncated=(True, True))
    assert rollout.successors()[0].tolist() == [[0, 1]]


def test_an_environment_that_was_rebuilt_breaks_the_episode_off() -> None:
    """If an observation is not the expected one, it does not follow the step."""
    rollout = Rollout(COLUMNS, 3, 2)
    add(rollout, (1, 101), (2, 102))
    add(rollout, (2, 150), (3, 151))
    places, found = rollout.successors()
    assert places.tolist() == [[0, 1], [1, 0], [1, 1]]
    assert found["vector"][:, 0].tolist() == [102, 3, 151]
    assert rollout.steps["ended"][:2].tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize("filled", [0, 1, 3])
def test_a_rollout_goes_on_from_its_state(filled: int) -> None:
    def step(rollout: Rollout, number: int) -> None:
        ends = (number == 1, number == 0)
        add(rollout, (number, 100 + number), (number + 1, 101 + number), truncated=ends, reward=number)

    whole, begun, resumed = (Rollout(COLUMNS, 4, 2) for _ in range(3))
    for number in range(4):
        step(whole, number)
    for number in range(filled):
        step(begun, number)
    resumed.load_state_dict(begun.state_dict())
    for number in range(filled, 4):
        step(resumed, number)
    mine, theirs = whole.state_dict(), resumed.state_dict()
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        np.testing.assert_array_equal(value, theirs[name], err_msg=name)


def test_a_rollout_of_another_shape_is_refused() -> None:
    with pytest.raises(CheckpointError, match="rollout does not fit"):
        Rollout(COLUMNS, 2, 2).load_state_dict(played().state_dict())
    with pytest.raises(CheckpointError, match="rollout does not fit"):
        Rollout({"vector": ((1,), np.float32)}, 3, 2).load_state_dict(played().state_dict())


def test_memories_are_cleared_after_episodes_but_not_where_the_experience_was_interrupted() -> None:
    rollout = Rollout(COLUMNS, 4, 2, memory_size=3)
    add(rollout, (1, 101), (2, 102), truncated=(False, True))
    add(rollout, (2, 103), (3, 104), terminated=(True, False))
    add(rollout, (4, 150), (5, 151))  # environment 1 was rebuilt
    resumed = Rollout(COLUMNS, 4, 2, memory_size=3)
    resumed.load_state_dict(rollout.state_dict())
    assert resumed.steps["ended"][1].tolist() == [True, True]
    for one in (rollout, resumed):
        starts = one.starts()
        assert starts is not None
        assert starts.tolist() == [[0, 0], [0, 1], [1, 0], [0, 0]]
    assert played().starts() is None
