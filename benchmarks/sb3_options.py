"""Settings of our learners as options of stable-baselines3's."""

from __future__ import annotations

from typing import Any

from pkmn_dqn.settings import DQNSettings
from pkmn_ppo.settings import PPOSettings


def dqn_options(ours: DQNSettings) -> dict[str, Any]:
    """Return options of their DQN, except those of the network."""
    return {
        "learning_rate": ours.learning_rate,
        "buffer_size": ours.buffer_size,
        "learning_starts": ours.learning_starts,
        "batch_size": ours.batch_size,
        "tau": ours.tau,
        "gamma": ours.gamma,
        "train_freq": ours.train_freq,
        "gradient_steps": ours.gradient_steps,
        "target_update_interval": ours.target_update_interval * ours.train_freq,  # counted in steps of the game
        "exploration_fraction": ours.exploration_fraction,
        "exploration_initial_eps": ours.exploration_initial,
        "exploration_final_eps": ours.exploration_final,
        "max_grad_norm": ours.max_grad_norm,
    }


def ppo_options(ours: PPOSettings) -> dict[str, Any]:
    """Return options of their PPO, except those of the network and the length of a rollout."""
    return {
        "learning_rate": ours.learning_rate,
        "batch_size": ours.batch_size,
        "n_epochs": ours.n_epochs,
        "gamma": ours.gamma,
        "gae_lambda": ours.gae_lambda,
        "clip_range": ours.clip_range,
        "clip_range_vf": ours.clip_range_vf or None,
        "normalize_advantage": ours.normalize_advantage,
        "ent_coef": ours.ent_coef,
        "vf_coef": ours.vf_coef,
        "max_grad_norm": ours.max_grad_norm,
    }
