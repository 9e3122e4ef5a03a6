"""The other side: one training with stable-baselines3 or sb3-contrib and its evaluation, set up like ours.

`learners.py` runs it in its own process: python benchmarks/sb3_side.py '{"learner": "dqn", ...}'

- The environment is that of `gymnasium.make`, with packed screens as our trainer's; screens are unpacked in the
  network, as in ours. The mask, which the network does not read, is left out of the observation.
- The network is ours: our layers as features extractor, then the same output streams. With `own_network` it is the
  library's default for several inputs, which sees the same pixels, one per byte.
- Optimizer, learning rate, batch, discount, schedules, buffer and the updates for each step are our defaults. Adam is
  the fused one, as ours; by default the library takes a slower one.
- Rewards are scaled as ours, by the environment's weights, which costs nothing; evaluations are not scaled.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_options import dqn_options, ppo_options
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv
from torch import Tensor, nn
from training_spec import TrainingSpec

from pkmn_dqn.settings import DQNSettings
from pkmn_ppo.settings import PPOSettings
from pkmncli.learners.networks import NetworkSizes, ObservationNetwork
from pkmncli.learners.observations import MASK, PLANES, SCREEN, VECTOR, layout_of
from pkmncli.seeds import Purpose, derive_seed

GAME = "pkmn_pyboy.registration:pkmn/Quillwood-v0"
REWARDS = {"progress": 1.0, "exploration": 0.5}
"""Default weights of `pkmn train`."""


class Seen(gymnasium.ObservationWrapper[dict[str, Any], Any, dict[str, Any]]):
    """Wrapper that leaves the mask out of the observation."""

    def __init__(self, env: gymnasium.Env[dict[str, Any], Any]) -> None:
        super().__init__(env)
        assert isinstance(env.observation_space, spaces.Dict)
        self.observation_space = spaces.Dict(
            {name: env.observation_space[name] for name in env.observation_space if name != MASK}
        )

    def observation(self, observation: dict[str, Any]) -> dict[str, Any]:
        """Return the same arrays without the mask."""
        return {name: array for name, array in observation.items() if name != MASK}


class Unpacked(gymnasium.ObservationWrapper[dict[str, Any], Any, dict[str, Any]]):
    """Wrapper with the same pixels as an image of one channel, (1, height, width) uint8, for the library's networks."""

    def __init__(self, env: gymnasium.Env[dict[str, Any], Any]) -> None:
        super().__init__(env)
        assert isinstance(env.observation_space, spaces.Dict)
        height, columns = env.observation_space[SCREEN].shape or (0, 0)
        screen = spaces.Box(0, 255, (1, height, columns * 2), np.uint8)
        self.observation_space = spaces.Dict({**env.observation_space, SCREEN: screen})

    def observation(self, observation: dict[str, Any]) -> dict[str, Any]:
        """Return the screen unpacked, and the other arrays unchanged."""
        packed = observation[SCREEN]
        pixels = np.stack((packed >> 4, packed & 15), axis=-1).reshape(1, len(packed), -1) * np.uint8(17)
        return {**observation, SCREEN: pixels}


class OurFeatures(BaseFeaturesExtractor):
    """Features extractor made of our networks' part that reads observations."""

    def __init__(self, observation_space: spaces.Dict, sizes: NetworkSizes) -> None:
        layout = layout_of(observation_space, spaces.Discrete(9), "stable-baselines3")
        network = ObservationNetwork(layout, sizes)
        super().__init__(observation_space, network.num_features)
        self.layout, self.network = layout, network

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """Return features (n, num_features). The library passes everything as floats, also screens and maps."""
        layout = self.layout
        columns = {VECTOR: torch.cat([observations[key].flatten(1) for key in layout.vector_keys], dim=1)}
        if layout.screen_shape:
            columns[SCREEN] = observations[SCREEN].to(torch.uint8)
        if layout.planes:
            columns[PLANES] = observations[layout.planes_key].to(torch.int32)
        return self.network.features(columns)


class Clock(BaseCallback):
    """Callback that notes when the first step begins."""

    began = 0.0

    def _on_training_start(self) -> None:
        self.began = time.perf_counter()

    def _on_step(self) -> bool:
        return True


def environment(spec: TrainingSpec, reward_scale: float = 1.0) -> gymnasium.Env[dict[str, Any], Any]:
    """Return the game with the learner's observations."""
    env = Seen(
        gymnasium.make(
            GAME,
            screen="packed",
            observation_type=spec.observes,
            max_steps_per_episode=spec.episode_steps,
            rewards={name: weight * reward_scale for name, weight in REWARDS.items()},
            without_mask_rules=() if spec.masks else ("all",),
        )
    )
    return Unpacked(env) if spec.own_network else env


def environments(spec: TrainingSpec, reward_scale: float) -> VecEnv:
    """Return the environments of a training, monitored as the library does it."""
    return make_vec_env(
        environment,
        spec.envs,
        seed=spec.seed,
        env_kwargs={"spec": spec, "reward_scale": reward_scale},
        vec_env_cls=SubprocVecEnv if spec.processes else DummyVecEnv,
    )


def dqn_of(spec: TrainingSpec, envs: VecEnv, **changes: Any) -> DQN:
    """Return their DQN, with our defaults."""
    ours = DQNSettings()
    network = {
        "features_extractor_class": OurFeatures,
        "features_extractor_kwargs": {"sizes": ours},
        "net_arch": [ours.head_features],
        "activation_fn": nn.ReLU,
    }
    options = dqn_options(ours) | {
        "train_freq": max(1, ours.train_freq // spec.envs),  # counted in steps of all environments together
        "policy_kwargs": ({} if spec.own_network else network)
        | {"optimizer_kwargs": {"eps": ours.adam_epsilon, "fused": True}},
    }
    return DQN("MultiInputPolicy", envs, seed=spec.seed, device=spec.device, **options | changes)


def ppo_of(spec: TrainingSpec, envs: VecEnv, **changes: Any) -> PPO | MaskablePPO:
    """Return their PPO, with masks or without, with our defaults."""
    ours = PPOSettings()
    options = ppo_options(ours) | {
        "n_steps": spec.rollout_rows,
        "policy_kwargs": {
            "features_extractor_class": OurFeatures,
            "features_extractor_kwargs": {"sizes": ours},
            "net_arch": {"pi": [ours.head_features], "vf": [ours.head_features]},
            "activation_fn": nn.ReLU,
            "optimizer_kwargs": {"eps": ours.adam_epsilon, "fused": True},
        },
    }
    learner = MaskablePPO if spec.masks else PPO
    return learner("MultiInputPolicy", envs, seed=spec.seed, device=spec.device, **options | changes)


def train(spec: TrainingSpec) -> tuple[BaseAlgorithm, dict[str, Any]]:
    """Train and save. It is timed from the first step to the end."""
    torch.set_num_threads(spec.torch_threads)
    reward_scale = (DQNSettings() if spec.learner == "dqn" else PPOSettings()).reward_scale
    envs = environments(spec, reward_scale)
    model: BaseAlgorithm = dqn_of(spec, envs) if spec.learner == "dqn" else ppo_of(spec, envs)
    clock = Clock()
    model.learn(spec.steps, callback=clock)
    spec.folder.mkdir(parents=True, exist_ok=True)
    file = spec.folder / f"{spec.name}.zip"
    model.save(file)
    envs.close()
    seconds = time.perf_counter() - clock.began
    if not spec.keep:
        file.unlink()
    returns = [episode["r"] / reward_scale for episode in model.ep_info_buffer or ()]
    return model, {
        "steps_per_second": spec.steps / seconds,
        "training_return": float(np.mean(returns)) if returns else None,
        "updates": model._n_updates,
    }


def evaluate(spec: TrainingSpec, model: BaseAlgorithm) -> float:
    """Return the mean return of greedy episodes, on the starts that `pkmn eval` takes for the same seed."""
    env = environment(spec)
    returns = []
    for episode in range(spec.episodes):
        observation, _ = env.reset(seed=derive_seed(spec.evaluation_seed, Purpose.EVALUATION, episode))
        total, ended = 0.0, False
        while not ended:
            masks = {"action_masks": env.get_wrapper_attr("action_masks")()} if spec.masks else {}
            action, _ = model.predict(observation, deterministic=True, **masks)
            observation, reward, terminated, truncated, _ = env.step(int(action))
            total, ended = total + float(reward), terminated or truncated
        returns.append(total)
    env.close()
    return float(np.mean(returns))


def main() -> None:
    """Train, evaluate if asked to, and print the result as JSON."""
    spec = TrainingSpec.from_json(sys.argv[1])
    model, result = train(spec)
    if spec.episodes:
        result["evaluation_return"] = evaluate(spec, model)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
