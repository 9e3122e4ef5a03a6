"""Train the MaskablePPO of sb3-contrib on the bundled game: it never takes a forbidden action.

    pip install -c constraints.txt -e '.[examples]'
    python examples/sb3_contrib_maskable_ppo.py --steps 40000 --seed 0 --envs 2

MaskablePPO calls each environment's method `action_masks`, which the games have; ActionMasker makes it from the
observation, as you would for an environment without it. Each environment runs in a separate process, because an
emulator's process should run no other Python thread.
"""

import argparse
from pathlib import Path

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.vec_env import SubprocVecEnv, VecMonitor

GAME = "pkmn_pyboy.registration:pkmn/Quillwood-v0"
SETTINGS = {
    "observation_type": "state",
    "max_steps_per_episode": 300,
    "rewards": {"progress": 0.1, "exploration": 0.05},  # returns of 1 to 10 suit the learning rate
}
EVALUATION_SEED = 1_000_000


class MaskKept(gymnasium.ObservationWrapper):
    """Wrapper that keeps the mask of the latest observation, for ActionMasker."""

    def observation(self, observation: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the observation unchanged."""
        self.latest_mask = observation["action_mask"]
        return observation


def make_game() -> gymnasium.Env:
    """Return the game, with masks for MaskablePPO."""
    return ActionMasker(MaskKept(gymnasium.make(GAME, **SETTINGS)), lambda env: env.latest_mask.astype(bool))


def train(steps: int, seed: int, envs: int) -> MaskablePPO:
    """Train a model, and print the results of the last episodes."""
    environments = VecMonitor(SubprocVecEnv([make_game] * envs), info_keywords=("masked",))
    model = MaskablePPO(
        "MultiInputPolicy",
        environments,
        n_steps=max(16, min(2_048, steps) // envs),
        batch_size=64,
        ent_coef=0.01,
        seed=seed,
        device="cpu",
    )
    try:
        model.learn(steps)
    finally:
        environments.close()
    episodes = list(model.ep_info_buffer)
    if episodes:
        returns = [episode["r"] for episode in episodes]
        print(f"mean return of the last {len(episodes)} episodes of training: {np.mean(returns):.2f}")
        print(f"forbidden presses in them: {sum(episode['masked'] for episode in episodes)}")
    return model


def evaluate(model: MaskablePPO, episodes: int) -> None:
    """Play by sampling, on starts that the training never saw, and print the results."""
    env = make_game()
    game = env.unwrapped
    reached = dict.fromkeys(game.milestone_names, 0)
    returns, forbidden = [], 0
    for episode in range(episodes):
        observation, _ = env.reset(seed=EVALUATION_SEED + episode)
        total, ended = 0.0, False
        while not ended:
            action, _ = model.predict(observation, action_masks=env.action_masks())
            observation, reward, terminated, truncated, info = env.step(int(action))
            total, ended = total + reward, terminated or truncated
        returns.append(total)
        forbidden += info["masked"]
        for milestone in game.milestone_splits():
            reached[milestone.name] += 1
    env.close()
    print(f"mean return of {episodes} episodes of evaluation: {np.mean(returns):.2f}, forbidden presses: {forbidden}")
    for name, count in reached.items():
        if count:
            print(f"reached {name} in {count} of {episodes}")


def main() -> None:
    """Train, evaluate and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=40_000, help="of the game, over all environments")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--envs", type=int, default=2, help="emulators side by side")
    parser.add_argument("--episodes", type=int, default=10, help="episodes of evaluation")
    parser.add_argument("--save", type=Path, default=Path("quillwood_maskable_ppo.zip"), help="where the model is kept")
    given = parser.parse_args()
    torch.set_num_threads(1)  # enough for a small network, and the emulators need the other cores
    model = train(given.steps, given.seed, given.envs)
    evaluate(model, given.episodes)
    model.save(given.save)
    print(f"saved {given.save}; go on with it: MaskablePPO.load({str(given.save)!r})")


if __name__ == "__main__":  # processes of environments import this file
    main()
