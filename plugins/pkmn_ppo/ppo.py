"""Proximal policy optimization proper: several passes over a rollout, with a loss that does not reward large changes.

Schulman et al. 2017, "Proximal policy optimization algorithms".

A rollout is collected during the update on the one before, so the policy that sampled its actions is one update older
than the one that learns from it. Clipping keeps the new policy near the policy before the update; an importance weight
corrects for the older policy that sampled the actions (Hilton, Cobbe and Schulman 2021, "Batch size-invariance for
policy optimization", equation 4). Weights are truncated, so that rare actions that have become likely do not dominate
an update (Espeholt et al. 2018, "IMPALA"). Without a lag all weights are 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pkmn_ppo.experience import Experience
from pkmn_ppo.policy import Policy
from pkmn_ppo.settings import PPOSettings
from pkmn_ppo.update import Epochs, Loss, PolicyLearning
from pkmncli.errors import ConfigurationError
from pkmncli.learners.weights import ADAM


def clipped_surrogate(
    log_probs: Tensor, log_probs_before: Tensor, weights: Tensor, advantages: Tensor, clip_range: float
) -> tuple[Tensor, Tensor]:
    """Return the policy's loss, and the share of the learner's own actions that were clipped.

    The mean over all steps of -weight min(ratio A, clip(ratio, 1 - range, 1 + range) A), with 0 for actions of other
    sides (Schulman et al. 2017, equation 7): so the weight of a step does not depend on the number of the learner's own
    steps.

    Args:
        log_probs: (n,) of the actions, by the policy that learns.
        log_probs_before: (n,) by the policy before the update.
        weights: (n,) of :func:`importance_weights`.
        advantages: (n,).
        clip_range: maximum change of the ratio that counts.
    """
    on_policy = (weights > 0).float()
    ratios = torch.where(on_policy > 0, log_probs - log_probs_before, 0.0).exp()
    clipped = ratios.clamp(1 - clip_range, 1 + clip_range)
    gains = weights * torch.minimum(ratios * advantages, clipped * advantages)
    return -gains.mean(), _mean((ratios != clipped).float(), on_policy)


def importance_weights(log_probs_before: Tensor, log_probs_sampled: Tensor, on_policy: Tensor, most: float) -> Tensor:
    """Return the importance weights of actions: the ratio of their probability before the update and when sampled.

    Args:
        log_probs_before: (n,) of the actions, by the policy before the update.
        log_probs_sampled: (n,) by the policy that sampled them.
        on_policy: (n,), 1 if the learner sampled the action itself, else 0.
        most: maximum weight.

    Returns:
        (n,): 0 for actions of other sides, because the probability that they were sampled with is unknown.
    """
    return on_policy * torch.where(on_policy > 0, log_probs_before - log_probs_sampled, 0.0).exp().clamp(max=most)


def value_error(values: Tensor, values_before: Tensor, returns: Tensor, clip_range_vf: float) -> Tensor:
    """Return the value's mean squared error; with ``clip_range_vf``, larger changes of a value gain nothing.

    Args:
        values: (n,) by the network that learns.
        values_before: (n,) by the network before the update.
        returns: (n,), the targets.
        clip_range_vf: maximum change of a value, in units of return; 0 for no limit.
    """
    errors = (values - returns).square()
    if clip_range_vf > 0:
        clipped = values_before + (values - values_before).clamp(-clip_range_vf, clip_range_vf)
        errors = torch.maximum(errors, (clipped - returns).square())
    return errors.mean()


class PPOLearning(PolicyLearning[PPOSettings]):
    """Learning with Adam, shuffled minibatches, and the clipped surrogate."""

    learner = "ppo"
    optimizer_parts = ADAM

    @classmethod
    def require_fit(cls, settings: PPOSettings, num_envs: int) -> None:
        """Raise ConfigurationError also if a minibatch is larger than a rollout."""
        rollout = settings.n_steps * num_envs
        if settings.batch_size > rollout:
            raise ConfigurationError(
                f"ppo.batch_size = {settings.batch_size} is more than the {rollout} steps of a rollout (ppo.n_steps = "
                f"{settings.n_steps}, times {num_envs} environment{'s' if num_envs > 1 else ''}): set it lower."
            )
        super().require_fit(settings, num_envs)

    def optimizer(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        """Return Adam."""
        return torch.optim.Adam(parameters, self.settings.learning_rate, eps=self.settings.adam_epsilon, fused=True)

    def epochs(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Epochs:
        """Shuffle the columns for every epoch and split them into minibatches of about equal size."""
        columns = rows.shape[-1]
        parts = min(-(-rows.size // self.settings.batch_size), columns)
        return [
            [rows[..., chosen] for chosen in np.array_split(rng.permutation(columns), parts)]
            for _ in range(self.settings.n_epochs)
        ]

    def rl_loss(self, batch: Experience, policy: Policy, values: Tensor, ent_coef: float) -> Loss:
        """Return the clipped surrogate, less the entropy, plus the value's error."""
        settings = self.settings
        log_probs = policy.log_prob(batch.actions)
        weights = importance_weights(
            batch.log_probs_before, batch.log_probs, batch.on_policy, settings.max_importance_weight
        )
        policy_loss, clip_fraction = clipped_surrogate(
            log_probs, batch.log_probs_before, weights, batch.advantages, settings.clip_range
        )
        value_loss = value_error(values, batch.values, batch.returns, settings.clip_range_vf)
        entropy = policy.entropy()
        loss = policy_loss - ent_coef * (entropy * batch.on_policy).mean() + settings.vf_coef * value_loss
        with torch.no_grad():
            moved = torch.where(batch.on_policy > 0, log_probs - batch.log_probs_before, 0.0)
            metrics = {
                "policy_loss": policy_loss,
                "value_loss": value_loss,
                "entropy": _mean(entropy, batch.on_policy),
                # Schulman 2020, "Approximating KL divergence"
                "approx_kl": _mean(moved.exp() - 1 - moved, batch.on_policy),
                "clip_fraction": clip_fraction,
            }
            return loss, {name: value.detach() for name, value in metrics.items()}

    def is_enough(self, epoch: Sequence[Mapping[str, float]]) -> bool:
        """Return True if the policy changed by more than ``target_kl``, on the mean over an epoch."""
        return 0 < self.settings.target_kl < sum(metrics["approx_kl"] for metrics in epoch) / len(epoch)

    def describe(self, experience: Experience) -> dict[str, float]:
        """Return also how well values predicted the returns, which means little for the few steps of A2C."""
        return super().describe(experience) | {"explained_variance": experience.explained_variance()}


def _mean(values: Tensor, on_policy: Tensor) -> Tensor:
    """Return the mean over the learner's own steps; 0 if there are none."""
    return (values * on_policy).sum() / on_policy.sum().clamp(min=1)
