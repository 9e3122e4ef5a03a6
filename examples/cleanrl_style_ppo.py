"""PPO with action masks in one file, to read from top to bottom and to change: only torch, NumPy and Gymnasium.

    pip install -c constraints.txt -e .
    python examples/cleanrl_style_ppo.py --steps 40000 --seed 0 --envs 2

Proximal policy optimization: Schulman et al. 2017. Advantages: Schulman et al. 2016. Masks: Huang and Ontañón 2022.
Environments run in separate processes, in Gymnasium's vector environment. When an episode ends, the next one begins
within the same step, and both observations are returned.
"""

import argparse
from collections import deque
from pathlib import Path

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import nn
from torch.distributions import Categorical

GAME = "pkmn_pyboy.registration:pkmn/Quillwood-v0"
SETTINGS = {
    "observation_type": "state",
    "max_steps_per_episode": 300,
    "rewards": {"progress": 0.1, "exploration": 0.05},  # returns of 1 to 10 suit the learning rate
}
EVALUATION_SEED = 1_000_000

ROLLOUT = 2_048  # steps between two updates, over all environments
EPOCHS, MINIBATCH = 10, 64
GAMMA, LAMBDA = 0.99, 0.95
LEARNING_RATE, MAX_GRAD_NORM = 3e-4, 0.5
CLIP, ENTROPY_WEIGHT, VALUE_WEIGHT = 0.2, 0.01, 0.5


class ActorCritic(nn.Module):
    """Policy over the allowed actions, and value of a state."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.policy = nn.Sequential(*hidden(inputs), layer(128, actions, 0.01))
        self.value = nn.Sequential(*hidden(inputs), layer(128, 1, 1.0))

    def forward(self, state: torch.Tensor, mask: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """Return action distributions and values (n,), for states (n, inputs) and masks (n, actions), 1 = allowed."""
        logits = self.policy(state).masked_fill(mask == 0, -1e8)  # a probability of exactly 0, and no gradient
        return Categorical(logits=logits), self.value(state)[:, 0]


def layer(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
    """Return a linear layer with orthogonal weights."""
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


def hidden(inputs: int) -> list[nn.Module]:
    """Return two hidden layers."""
    return [layer(inputs, 128), nn.Tanh(), layer(128, 128), nn.Tanh()]


def tensors(observation: dict[str, np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the network's inputs, copied: the vector environment overwrites an observation with the next one."""
    return torch.tensor(observation["state_variables"]), torch.tensor(observation["action_mask"])


def train(steps: int, seed: int, envs: int) -> ActorCritic:
    """Train a network, and print the results of the last episodes."""
    torch.manual_seed(seed)
    environments = gymnasium.make_vec(
        GAME,
        envs,
        vectorization_mode="async",
        vector_kwargs={"context": "spawn", "autoreset_mode": AutoresetMode.SAME_STEP},
        **SETTINGS,
    )
    try:
        return _train(environments, steps, seed, envs)
    finally:
        environments.close()


def _train(environments: gymnasium.vector.VectorEnv, steps: int, seed: int, envs: int) -> ActorCritic:
    space = environments.single_observation_space
    network = ActorCritic(space["state_variables"].shape[0], int(environments.single_action_space.n))
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE, eps=1e-5)
    rows = max(1, min(ROLLOUT, steps) // envs)
    running, finished, forbidden = np.zeros(envs), deque(maxlen=100), 0

    observation, _ = environments.reset(seed=seed)  # environment i begins with seed + i
    state, mask = tensors(observation)
    for _update in range(max(1, steps // (rows * envs))):
        # One rollout: rows steps of every environment.
        states, masks = torch.zeros(rows, *state.shape), torch.zeros(rows, *mask.shape, dtype=torch.int8)
        actions, log_probs = torch.zeros(rows, envs, dtype=torch.int64), torch.zeros(rows, envs)
        rewards, values, next_values = torch.zeros(rows, envs), torch.zeros(rows, envs), torch.zeros(rows, envs)
        ends = torch.zeros(rows, envs)
        for row in range(rows):
            with torch.no_grad():
                policy, value = network(state, mask)
            action = policy.sample()
            states[row], masks[row], actions[row] = state, mask, action
            log_probs[row], values[row] = policy.log_prob(action), value
            observation, reward, terminated, truncated, info = environments.step(action.numpy())
            ended = terminated | truncated
            state, mask = tensors(observation)
            with torch.no_grad():
                next_values[row] = network(state, mask)[1]
                # A truncated episode continues with the value of its last state.
                for index in np.flatnonzero(ended):
                    last, last_mask = tensors(info["final_obs"][index])
                    next_values[row, index] = 0 if terminated[index] else network(last[None], last_mask[None])[1].item()
            rewards[row], ends[row] = torch.tensor(reward), torch.tensor(ended)
            running += reward
            finished.extend(running[ended].tolist())
            running[ended] = 0
            forbidden += int((masks[row].gather(1, action[:, None]) == 0).sum())

        # Advantages: how much better each action was than the value predicted.
        advantages, following = torch.zeros(rows, envs), torch.zeros(envs)
        for row in reversed(range(rows)):
            surprise = rewards[row] + GAMMA * next_values[row] - values[row]
            following = advantages[row] = surprise + GAMMA * LAMBDA * (1 - ends[row]) * following
        returns = (advantages + values).flatten()
        states, masks = states.flatten(0, 1), masks.flatten(0, 1)
        actions, log_probs, advantages = actions.flatten(), log_probs.flatten(), advantages.flatten()

        # Several passes over the rollout, with a loss that has no gain once the policy has moved far.
        for _epoch in range(EPOCHS):
            for batch in torch.randperm(rows * envs).split(MINIBATCH):
                policy, value = network(states[batch], masks[batch])
                advantage = advantages[batch]
                if len(batch) > 1:
                    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                ratio = (policy.log_prob(actions[batch]) - log_probs[batch]).exp()
                gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
                value_loss = (value - returns[batch]).square().mean()
                entropy = policy.entropy().mean()
                loss = -gain.mean() + VALUE_WEIGHT * value_loss - ENTROPY_WEIGHT * entropy
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), MAX_GRAD_NORM)
                optimizer.step()

    if finished:
        print(f"mean return of the last {len(finished)} episodes of training: {np.mean(finished):.2f}")
    print(f"forbidden presses in training: {forbidden}")
    return network


def evaluate(network: ActorCritic, episodes: int) -> None:
    """Play by sampling, on starts that the training never saw, and print the results."""
    env = gymnasium.make(GAME, **SETTINGS)
    game = env.unwrapped
    reached = dict.fromkeys(game.milestone_names, 0)
    returns, forbidden = [], 0
    for episode in range(episodes):
        observation, _ = env.reset(seed=EVALUATION_SEED + episode)
        total, ended = 0.0, False
        while not ended:
            state, mask = tensors(observation)
            with torch.no_grad():
                action = network(state[None], mask[None])[0].sample().item()
            observation, reward, terminated, truncated, info = env.step(action)
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
    parser.add_argument("--save", type=Path, default=Path("quillwood_ppo.pt"), help="where the weights are kept")
    given = parser.parse_args()
    torch.set_num_threads(1)  # enough for a small network, and the emulators need the other cores
    network = train(given.steps, given.seed, given.envs)
    evaluate(network, given.episodes)
    torch.save(network.state_dict(), given.save)
    print(f"saved {given.save}; read it with network.load_state_dict(torch.load({str(given.save)!r}))")


if __name__ == "__main__":  # processes of environments import this file
    main()
