"""Other libraries can train on the games: their checks pass, the examples run, and none of it warns."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env as gymnasiums_check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import FlattenObservation
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from support.learner_stream import one_torch_thread  # noqa: F401 - a fixture
from support.variants import long_after

GAME = "pkmn_pyboy.registration:pkmn/Quillwood-v0"
EXAMPLES = Path(__file__).parents[1] / "examples"
STEPS = 256


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.syspath_prepend(str(EXAMPLES))  # the processes of environments import the examples too
        yield


# The environment --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation_type", long_after(1, ["multi_modal", "screen", "state"]))
def test_both_checks_pass_without_a_warning(observation_type: str) -> None:
    env = gymnasium.make(GAME, observation_type=observation_type)
    check_env(env)
    gymnasiums_check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize("observation_type", long_after(1, ["multi_modal", "screen", "state"]))
def test_policies_of_dictionaries_take_every_observation(observation_type: str) -> None:
    env = gymnasium.make(GAME, observation_type=observation_type, seed_noops=(0, 0))
    model = PPO("MultiInputPolicy", env, n_steps=8, batch_size=8, n_epochs=1, device="cpu", seed=0)
    before = [parameter.clone() for parameter in model.policy.parameters()]
    model.learn(8)
    after = list(model.policy.parameters())
    assert any(not torch.equal(one, other) for one, other in zip(before, after, strict=True))
    env.close()


def test_policies_of_vectors_take_flat_observations() -> None:
    env = FlattenObservation(gymnasium.make(GAME, observation_type="state", seed_noops=(0, 0)))
    assert env.observation_space.shape == (9 + 25,)
    model = DQN("MlpPolicy", env, learning_starts=4, train_freq=1, buffer_size=50, device="cpu", seed=0)
    model.learn(12)
    assert model._n_updates == 8  # noqa: SLF001 - the library counts them nowhere else
    env.close()


def test_masks_are_those_of_the_observation_and_the_callers_own() -> None:
    env = gymnasium.make(GAME, observation_type="state")
    observation, _ = env.reset(seed=3)
    game: Any = env.unwrapped
    for action in (4, 0, 5, 6, 2):
        masks = env.get_wrapper_attr("action_masks")()
        assert masks.dtype == np.bool_
        np.testing.assert_array_equal(masks, observation["action_mask"] == 1)
        masks[:] = False
        assert game.mask.any()
        observation, *_ = env.step(action)
    env.close()


def alone(seed: int) -> np.ndarray:
    """The state variables of an environment by itself, a few steps after a start by that seed."""
    env = gymnasium.make(GAME, observation_type="state")
    env.reset(seed=seed)
    steps = [env.step(action)[0]["state_variables"] for action in (5, 6, 7)]
    env.close()
    return np.stack(steps)


@pytest.mark.long
def test_seeds_hold_in_gymnasiums_vector_environments() -> None:
    modes = {"sync": {}, "async": {"context": "spawn"}}
    wanted = np.stack([alone(7), alone(8)], axis=1)
    assert not np.array_equal(wanted[:, 0], wanted[:, 1])
    for mode, options in modes.items():
        envs = gymnasium.make_vec(
            GAME,
            2,
            vectorization_mode=mode,
            vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP, **options},
            observation_type="state",
        )
        for _ in range(2):
            envs.reset(seed=7)
            found = [envs.step(np.array([action, action]))[0]["state_variables"].copy() for action in (5, 6, 7)]
            np.testing.assert_array_equal(np.stack(found), wanted)
        envs.close()


@pytest.mark.long
def test_seeds_hold_in_vector_environments_of_stable_baselines3() -> None:
    envs = make_vec_env(GAME, 2, seed=7, env_kwargs={"observation_type": "state"})
    envs.reset()
    found = [envs.step(np.array([action, action]))[0]["state_variables"].copy() for action in (5, 6, 7)]  # type: ignore[index]
    np.testing.assert_array_equal(np.stack(found), np.stack([alone(7), alone(8)], axis=1))
    envs.close()


# The examples -----------------------------------------------------------------------------------------------------


def run(
    name: str, envs: int, file: Path, monkeypatch: pytest.MonkeyPatch, steps: int = STEPS
) -> tuple[ModuleType, Any]:
    """Runs an example as from the command line. Returns its module and the model that it trained."""
    module = importlib.import_module(name)
    trained = []
    train = module.train
    monkeypatch.setattr(module, "train", lambda *given: trained.append(train(*given)) or trained[-1])
    options = ["--steps", str(steps), "--seed", "3", "--envs", str(envs), "--episodes", "1", "--save", str(file)]
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *options])
    monkeypatch.setitem(module.SETTINGS, "max_steps_per_episode", 60)
    module.main()
    return module, trained[0]


def situations(module: ModuleType) -> list[dict[str, np.ndarray]]:
    """Observations along a walk."""
    env = gymnasium.make(GAME, **module.SETTINGS)
    seen = [env.reset(seed=1)[0]] + [env.step(action)[0] for action in (4, 5, 6, 7, 0, 5, 5)]
    env.close()
    return seen


@pytest.mark.long
def test_the_example_of_dqn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.zip"
    module, model = run("stable_baselines3_dqn", 1, file, monkeypatch)
    assert model._n_updates == (STEPS - STEPS // 2) // 4  # noqa: SLF001 - the library counts them nowhere else
    loaded = DQN.load(file, device="cpu")
    for seen in situations(module):
        assert loaded.predict(seen, deterministic=True)[0] == model.predict(seen, deterministic=True)[0]
        tensors, _ = model.policy.obs_to_tensor(seen)
        assert torch.equal(loaded.q_net(tensors), model.q_net(tensors))
    told = capsys.readouterr().out
    assert "mean return of the last 4 episodes of training" in told
    assert "reached game_started in 1 of 1" in told


@pytest.mark.long
def test_the_example_of_maskable_ppo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.zip"
    module, model = run("sb3_contrib_maskable_ppo", 2, file, monkeypatch, steps=620)  # an episode each, of 300
    assert model.num_timesteps == 620
    loaded = MaskablePPO.load(file, device="cpu")
    for seen in situations(module):
        masks = seen["action_mask"].astype(bool)
        action = model.predict(seen, action_masks=masks, deterministic=True)[0]
        assert loaded.predict(seen, action_masks=masks, deterministic=True)[0] == action
        assert masks[action]
    told = capsys.readouterr().out
    assert "mean return of the last 2 episodes of training" in told
    assert re.search(r"^forbidden presses in them: 0$", told, re.MULTILINE)
    assert re.search(r"^mean return of 1 episodes of evaluation: -?[\d.]+, forbidden presses: 0$", told, re.MULTILINE)


@pytest.mark.long
def test_the_example_in_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "weights.pt"
    module, network = run("cleanrl_style_ppo", 2, file, monkeypatch)
    loaded = module.ActorCritic(25, 9)
    untrained = module.ActorCritic(25, 9)
    loaded.load_state_dict(torch.load(file))
    for seen in situations(module):
        state, mask = (tensor[None] for tensor in module.tensors(seen))
        policy, value = network(state, mask)
        assert torch.equal(loaded(state, mask)[0].probs, policy.probs)
        assert not torch.equal(untrained(state, mask)[1], value)
        assert torch.all(policy.probs[mask == 0] == 0)
    told = capsys.readouterr().out
    assert re.search(r"^forbidden presses in training: 0$", told, re.MULTILINE)
    assert re.search(r"^mean return of 1 episodes of evaluation: -?[\d.]+, forbidden presses: 0$", told, re.MULTILINE)
    assert "mean return of the last 4 episodes of training" in told
