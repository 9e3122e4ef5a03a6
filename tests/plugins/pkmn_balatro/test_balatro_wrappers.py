"""Wrappers of the Balatro framework: what they add, what they refuse, and what a resume finds again."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from support.little_balatro import ACTIONS, LittleBalatro

from pkmn_balatro.env_wrapper import (
    ActionMaskWrapper,
    BalatroGymWrapper,
    CurriculumWrapper,
    EnvironmentWrapper,
    RewardScalingWrapper,
    wrap_balatro_env,
)
from pkmn_balatro.utils import create_balatro_env
from pkmncli.api import GymnasiumEnvironment
from pkmncli.errors import ConfigurationError


class MyWrapper(EnvironmentWrapper):
    """The wrapper of the guide, which also remembers."""

    resets = 0

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        obs, info = self.env.reset(**kwargs)
        self.resets += 1
        return obs, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, reward + self.resets, terminated, truncated, info


def right_play(env: gymnasium.Env[Any, Any]) -> int:
    game: Any = env.unwrapped
    return int(game.wanted)


def play_well(env: gymnasium.Env[Any, Any], seed: int | None = None) -> dict[str, Any]:
    """Play an episode with the right plays alone. Return the info of its last step."""
    env.reset(seed=seed)
    while True:
        _, _, terminated, truncated, info = env.step(right_play(env))
        if terminated or truncated:
            return info


def play_badly(env: gymnasium.Env[Any, Any]) -> dict[str, Any]:
    """Lose an episode."""
    env.reset(seed=1)
    game: Any = env.unwrapped
    while True:
        wrong = [action for action in range(ACTIONS) if game.mask[action] and action != game.wanted]
        _, _, terminated, truncated, info = env.step(wrong[0] if wrong else right_play(env))
        if terminated or truncated:
            return info


def test_every_info_has_mask_and_metrics_and_the_last_one_success() -> None:
    env = BalatroGymWrapper(LittleBalatro())
    observation, info = env.reset(seed=3)
    np.testing.assert_array_equal(info["action_mask"], observation["action_mask"])
    assert info["metrics"]["ante"] == 1
    assert "success" not in info
    assert play_badly(env)["success"] is False
    assert play_well(env)["success"] is True


@pytest.mark.parametrize("action", [-1, ACTIONS, "play", None])
def test_an_action_that_does_not_exist_is_refused_in_one_line(action: Any) -> None:
    env = BalatroGymWrapper(LittleBalatro())
    env.reset(seed=0)
    with pytest.raises(ConfigurationError, match=r"^there is no action .* whole numbers from 0 to 5$"):
        env.step(action)
    assert env.unwrapped.steps == 0  # type: ignore[attr-defined]
    assert env.step(np.int64(right_play(env)))[1] == 1.0


def test_an_episode_ends_as_a_success_with_the_boss_of_the_highest_ante() -> None:
    env = CurriculumWrapper(LittleBalatro(), window=3)
    info = play_well(env, seed=5)
    assert (info["success"], info["max_ante"]) == (True, 2)
    assert (env.metrics()["ante"], env.metrics()["max_ante"]) == (3, 2)
    assert env.succeeded


def test_the_highest_ante_rises_with_the_share_of_successes() -> None:
    env = CurriculumWrapper(LittleBalatro(), success_threshold=0.75, window=4, ante_increment=3)
    assert play_badly(env)["success"] is False
    for _ in range(2):
        play_well(env)
    assert env.max_ante == 2  # two of three, and the window is not full
    play_well(env)
    assert env.max_ante == 5  # three of four
    for _ in range(3):
        assert play_well(env)["max_ante"] == 5
    assert env.max_ante == 5  # the count has begun again
    play_well(env)
    assert env.max_ante == 8
    assert play_well(env)["success"] is True
    assert env.metrics()["ante"] == 9  # the whole game


def test_an_evaluation_plays_whole_games() -> None:
    env = CurriculumWrapper(LittleBalatro())
    adapted: Any = GymnasiumEnvironment(env)
    adapted.for_evaluation()
    play_well(env)
    assert env.metrics()["ante"] == 9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"initial_max_antes": 2}, "unknown setting 'initial_max_antes': did you mean 'initial_max_ante'?"),
        ({"initial_max_ante": 0}, "initial_max_ante = 0: give a whole number from 1"),
        ({"ante_increment": 1.5}, "ante_increment = 1.5: give a whole number from 1"),
        ({"success_threshold": 80}, "success_threshold = 80: give a share above 0, up to 1"),
        ({"success_threshold": float("nan")}, "success_threshold = nan"),
        ({"success_threshold": "80%"}, "success_threshold = '80%': give a share above 0, up to 1"),
    ],
)
@pytest.mark.parametrize("used", [True, False])
def test_wrong_settings_of_the_curriculum_are_refused(given: dict[str, Any], message: str, used: bool) -> None:
    with pytest.raises(ConfigurationError) as refused:
        wrap_balatro_env(LittleBalatro(), use_curriculum=used, curriculum_config=given)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_curriculum_needs_an_environment_with_antes() -> None:
    with pytest.raises(ConfigurationError, match="CartPoleEnv has no metric 'ante'"):
        CurriculumWrapper(gymnasium.make("CartPole-v1"))


@pytest.mark.parametrize("thing", [None, 7, "CartPole-v1", LittleBalatro])
@pytest.mark.parametrize(
    "wrap", [EnvironmentWrapper, BalatroGymWrapper, CurriculumWrapper, RewardScalingWrapper, ActionMaskWrapper]
)
def test_what_is_no_environment_is_refused_in_one_line(wrap: Any, thing: Any) -> None:
    with pytest.raises(ConfigurationError) as refused:
        wrap(thing)
    assert "no environment" in str(refused.value) or "no gymnasium.Env" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_rewards_are_scaled_by_a_factor_or_by_the_deviation_of_returns() -> None:
    fixed = RewardScalingWrapper(LittleBalatro(), scale=0.25)
    fixed.reset(seed=1)
    assert fixed.step(right_play(fixed))[1] == 0.25
    wrong: Any
    for wrong in (0, float("inf"), "small"):
        with pytest.raises(ConfigurationError, match=f"reward scale = {wrong!r}"):
            RewardScalingWrapper(LittleBalatro(), scale=wrong)
    running = RewardScalingWrapper(LittleBalatro(), gamma=0.5)
    running.reset(seed=1)
    returns: list[float] = []
    for _ in range(8):
        _, reward, _, _, info = running.step(right_play(running))
        returns.append(0.5 * (returns[-1] if returns else 0.0) + info["unscaled_reward"])
    assert reward == pytest.approx(info["unscaled_reward"] / np.std(returns))


def test_a_forbidden_action_is_replaced_by_an_allowed_one_that_the_seed_decides() -> None:
    def rewards(seed: int) -> list[float]:
        env = ActionMaskWrapper(LittleBalatro())
        env.reset(seed=seed)
        found = []
        for _ in range(12):
            forbidden = np.flatnonzero(~env.action_masks())
            taken = int(forbidden[0]) if len(forbidden) else 0
            _, reward, terminated, _, info = env.step(taken)
            assert info["action_replaced"] == bool(len(forbidden))
            found.append(reward)
            if terminated:
                break
        game: Any = env.unwrapped
        assert game.illegal == 0
        return found

    assert rewards(4) == rewards(4)
    assert len({tuple(rewards(seed)) for seed in range(6)}) > 1


def test_all_wrappers_keep_their_state_and_the_games() -> None:
    def made() -> GymnasiumEnvironment:
        inside = RewardScalingWrapper(BalatroGymWrapper(LittleBalatro()))
        return GymnasiumEnvironment(MyWrapper(ActionMaskWrapper(CurriculumWrapper(inside, window=2))))

    first, second = made(), made()
    for seed in range(5):  # the first games are won, and the curriculum advances
        first.reset(seed=seed)
        while not any(first.step(right_play(first.env))[2:4]):
            pass
    first.reset(seed=9)
    first.step(right_play(first.env))
    second.load_state(first.save_state())
    assert second.metrics() == first.metrics()
    assert second.metrics()["max_ante"] == 4
    for _ in range(4):
        found = [env.step(right_play(env.env)) for env in (first, second)]
        assert found[0][1:4] == found[1][1:4]
        assert found[0][1] > 5
        for name, array in found[0][0].items():
            np.testing.assert_array_equal(array, found[1][0][name])


def test_an_environment_without_a_state_is_still_repeated() -> None:
    env = GymnasiumEnvironment(MyWrapper(gymnasium.make("CartPole-v1")))
    env.reset(seed=3)
    before = [env.step(action)[0]["observation"] for action in (0, 1, 1)][-1]
    other = GymnasiumEnvironment(MyWrapper(gymnasium.make("CartPole-v1")))
    observation, _ = other.load_state(env.save_state())
    np.testing.assert_array_equal(observation["observation"], before)


def test_the_curriculum_of_the_real_game_ends_at_its_boss() -> None:
    env: Any = CurriculumWrapper(create_balatro_env(seed=1), initial_max_ante=1)
    env.reset(seed=1)
    env.unwrapped.game.run.ante = 2
    allowed = int(env.unwrapped.action_masks().nonzero()[0][0])
    _, _, terminated, _, info = env.step(allowed)
    assert terminated
    assert info["success"]
