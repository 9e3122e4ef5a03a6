"""Train the DQN of stable-baselines3 on the bundled game, from the state variables.

    pip install -c constraints.txt -e '.[examples]'
    python examples/stable_baselines3_dqn.py --steps 40000 --seed 0 --envs 1

DQN uses no masks: a forbidden action is not made, the game waits instead, and the learner has to find out that this
brings nothing. With more than one environment each runs in a separate process, because an emulator's process should run
no other Python thread.
"""

import argparse
from pathlib import Path

import gymnasium
import numpy as np
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

GAME = "pkmn_pyboy.registration:pkmn/Quillwood-v0"
SETTINGS = {
    "observation_type": "state",
    "max_steps_per_episode": 300,
    "rewards": {"progress": 0.1, "exploration": 0.05},  # returns of 1 to 10 suit the learning rate
    "render_mode": None,  # make_vec_env would ask for pictures otherwise
}
EVALUATION_SEED = 1_000_000


def train(steps: int, seed: int, envs: int) -> DQN:
    """Train a model, and print the results of the last episodes."""
    several = SubprocVecEnv if envs > 1 else DummyVecEnv
    environments = make_vec_env(GAME, envs, seed=seed, env_kwargs=SETTINGS, vec_env_cls=several)
    model = DQN(
        "MultiInputPolicy",
        environments,
        learning_starts=min(1_000, steps // 2),
        train_freq=max(1, 4 // envs),  # an update every fourth step of the game, over all environments
        target_update_interval=1_000,
        exploration_fraction=0.2,
        seed=seed,
        device="cpu",  # for a network this small a GPU is slower
    )
    try:
        model.learn(steps)
    finally:
        environments.close()
    returns = [episode["r"] for episode in model.ep_info_buffer]
    if returns:
        print(f"mean return of the last {len(returns)} episodes of training: {np.mean(returns):.2f}")
    return model


def evaluate(model: DQN, episodes: int) -> None:
    """Play greedily, on starts that the training never saw, and print the results."""
    env = gymnasium.make(GAME, **SETTINGS)
    game = env.unwrapped
    reached = dict.fromkeys(game.milestone_names, 0)
    returns = []
    for episode in range(episodes):
        observation, _ = env.reset(seed=EVALUATION_SEED + episode)
        total, ended = 0.0, False
        while not ended:
            action, _ = model.predict(observation, deterministic=True)
            observation, reward, terminated, truncated, _ = env.step(int(action))
            total, ended = total + reward, terminated or truncated
        returns.append(total)
        for milestone in game.milestone_splits():
            reached[milestone.name] += 1
    env.close()
    print(f"mean return of {episodes} episodes of evaluation: {np.mean(returns):.2f}")
    for name, count in reached.items():
        if count:
            print(f"reached {name} in {count} of {episodes}")


def main() -> None:
    """Train, evaluate and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=40_000, help="of the game, over all environments")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--envs", type=int, default=1, help="emulators side by side")
    parser.add_argument("--episodes", type=int, default=10, help="episodes of evaluation")
    parser.add_argument("--save", type=Path, default=Path("quillwood_dqn.zip"), help="where the model is kept")
    given = parser.parse_args()
    torch.set_num_threads(1)  # enough for a small network, and the emulators need the other cores
    model = train(given.steps, given.seed, given.envs)
    evaluate(model, given.episodes)
    model.save(given.save)
    print(f"saved {given.save}; go on with it: DQN.load({str(given.save)!r})")


if __name__ == "__main__":  # processes of environments import this file
    main()
