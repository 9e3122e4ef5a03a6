"""Advantage actor-critic proper: one gradient step for each short rollout.

Mnih et al. 2016, "Asynchronous methods for deep reinforcement learning"; A2C is its synchronous form.

A rollout is collected during the update on the one before, so the policy that sampled its actions is one update older
than the one that learns from it. An action that has become less likely since then counts less, by the ratio of the two
probabilities, as in Espeholt et al. 2018, "IMPALA", section 4.1, with weights of at most 1.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pkmn_ppo.experience import Experience
from pkmn_ppo.policy import Policy
from pkmn_ppo.settings import A2CSettings
from pkmn_ppo.update import Epochs, Loss, PolicyLearning
from pkmncli.learners.weights import RMSPROP


def policy_gradient_loss(log_probs: Tensor, log_probs_sampled: Tensor, advantages: Tensor, on_policy: Tensor) -> Tensor:
    """Return the mean over all steps of -min(1, ratio) log p(action) A, with 0 for actions of other sides.

    Args:
        log_probs: (n,) of the actions, by the policy that learns.
        log_probs_sampled: (n,) by the policy that sampled them.
        advantages: (n,).
        on_policy: (n,), 1 if the learner sampled the action itself, else 0.
    """
    own_log_probs = torch.where(on_policy > 0, log_probs, 0.0)
    weights = (own_log_probs.detach() - log_probs_sampled).exp().clamp(max=1)
    return -(weights * own_log_probs * advantages * on_policy).mean()


class A2CLearning(PolicyLearning[A2CSettings]):
    """Learning with RMSprop and the plain policy gradient of a whole rollout."""

    learner = "a2c"
    optimizer_parts = RMSPROP

    def optimizer(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        """Return RMSprop."""
        settings = self.settings
        return torch.optim.RMSprop(
            parameters, settings.learning_rate, alpha=settings.rms_alpha, eps=settings.rms_epsilon
        )

    def epochs(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Epochs:
        """Return one pass with all rows in one minibatch."""
        return [[rows]]

    def rl_loss(self, batch: Experience, policy: Policy, values: Tensor, ent_coef: float) -> Loss:
        """Return the policy gradient's loss, less the entropy, plus the value's error."""
        policy_loss = policy_gradient_loss(
            policy.log_prob(batch.actions), batch.log_probs, batch.advantages, batch.on_policy
        )
        value_loss = nn.functional.mse_loss(values, batch.returns)
        entropy = (policy.entropy() * batch.on_policy).mean()
        loss = policy_loss - ent_coef * entropy + self.settings.vf_coef * value_loss
        own_share = batch.on_policy.mean().clamp(min=1 / len(batch.on_policy))
        metrics = {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy / own_share}
        return loss, {name: value.detach() for name, value in metrics.items()}
