"""Proximal policy optimization proper: several passes over a rollout, with a loss that stops paying for going far.

Schulman et al. 2017, "Proximal policy optimization algorithms".

A rollout is gathered while the one before is being learned from, so the policy that drew its presses is one update
older than the one that learns from it. What the clipping keeps near is the policy as it is before the update; that the
presses were drawn by an older one is made up for by a weight, as an importance weight does (Hilton, Cobbe and Schulman
2021, "Batch size-invariance for policy optimization", equation 4). Weights are cut off, which keeps rare presses that
have become likely from ruling an update (Espeholt et al. 2018, "IMPALA"). Without a lag all of them are 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from pkmn_ppo.experience import Experience
from pkmn_ppo.learning import Epochs, Loss, PolicyLearning
from pkmn_ppo.policy import MaskedCategorical
from pkmn_ppo.settings import PPOSettings
from pkmncli.learners.weights import ADAM


def clipped_surrogate(
    log_probs: Tensor, log_probs_before: Tensor, weights: Tensor, advantages: Tensor, clip_range: float
) -> tuple[Tensor, Tensor]:
    """The policy's loss, and the share of the learner's own presses where the clipping took hold.

    The mean over all steps of -weight min(ratio A, clip(ratio, 1 - range, 1 + range) A), with 0 for presses that are
    not the learner's own (Schulman et al. 2017, equation 7): so what a step counts does not depend on how many of them
    are its own.

    Args:
        log_probs: (n,) of the presses, by the policy that learns.
        log_probs_before: (n,) by the policy as it was before the update.
        weights: (n,) of :func:`weights_of_drawn`.
        advantages: (n,).
        clip_range: how far the ratio counts.
    """
    own = (weights > 0).float()
    ratios = torch.where(own > 0, log_probs - log_probs_before, 0.0).exp()
    clipped = ratios.clamp(1 - clip_range, 1 + clip_range)
    gains = weights * torch.minimum(ratios * advantages, clipped * advantages)
    return -gains.mean(), _mean((ratios != clipped).float(), own)


def weights_of_drawn(log_probs_before: Tensor, log_probs_drawn: Tensor, own: Tensor, most: float) -> Tensor:
    """How much a press counts: how much likelier it had become before the update than when it was drawn.

    Args:
        log_probs_before: (n,) of the presses, by the policy as it was before the update.
        log_probs_drawn: (n,) by the policy that drew them.
        own: (n,), 1 where the learner drew the press itself, else 0.
        most: where weights are cut off.

    Returns:
        (n,): 0 for presses of others, since no probability that they were drawn with is known.
    """
    return own * torch.where(own > 0, log_probs_before - log_probs_drawn, 0.0).exp().clamp(max=most)


def value_error(values: Tensor, values_before: Tensor, returns: Tensor, clip_range_vf: float) -> Tensor:
    """The value's mean squared error; with ``clip_range_vf``, a value gains nothing by moving further than that.

    Args:
        values: (n,) by the network that learns.
        values_before: (n,) by the network before the update.
        returns: (n,) to be met.
        clip_range_vf: how far a value may move, in units of return; 0 for as far as it likes.
    """
    errors = (values - returns).square()
    if clip_range_vf > 0:
        clipped = values_before + (values - values_before).clamp(-clip_range_vf, clip_range_vf)
        errors = torch.maximum(errors, (clipped - returns).square())
    return errors.mean()


class PPOLearning(PolicyLearning[PPOSettings]):
    """Adam, shuffled minibatches, and the clipped surrogate."""

    learner = "ppo"
    optimizer_parts = ADAM

    def optimizer(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        """Adam."""
        return torch.optim.Adam(parameters, self.settings.learning_rate, eps=self.settings.adam_epsilon, fused=True)

    def epochs(self, steps: int, rng: np.random.Generator) -> Epochs:
        """Shuffles the rows anew for every epoch, and splits them into parts of about equal size."""
        parts = -(-steps // self.settings.batch_size)
        return [np.array_split(rng.permutation(steps), parts) for _ in range(self.settings.n_epochs)]

    def rl_loss(self, batch: Experience, policy: MaskedCategorical, values: Tensor, ent_coef: float) -> Loss:
        """The clipped surrogate, less the entropy, plus the value's error."""
        settings = self.settings
        log_probs = policy.log_prob(batch.actions)
        weights = weights_of_drawn(batch.log_probs_before, batch.log_probs, batch.own, settings.max_importance_weight)
        policy_loss, clip_fraction = clipped_surrogate(
            log_probs, batch.log_probs_before, weights, batch.advantages, settings.clip_range
        )
        value_loss = value_error(values, batch.values, batch.returns, settings.clip_range_vf)
        entropy = policy.entropy()
        loss = policy_loss - ent_coef * (entropy * batch.own).mean() + settings.vf_coef * value_loss
        with torch.no_grad():
            moved = torch.where(batch.own > 0, log_probs - batch.log_probs_before, 0.0)
            metrics = {
                "policy_loss": policy_loss,
                "value_loss": value_loss,
                "entropy": _mean(entropy, batch.own),
                "approx_kl": _mean(moved.exp() - 1 - moved, batch.own),  # Schulman 2020, "Approximating KL divergence"
                "clip_fraction": clip_fraction,
            }
            return loss, {name: value.detach() for name, value in metrics.items()}

    def is_enough(self, epoch: Sequence[Mapping[str, float]]) -> bool:
        """Whether the policy had moved by more than ``target_kl``, on the mean over an epoch."""
        return 0 < self.settings.target_kl < sum(metrics["approx_kl"] for metrics in epoch) / len(epoch)

    def describe(self, experience: Experience) -> dict[str, float]:
        """Also how well the values had foretold the returns, which says nothing for the few steps of A2C."""
        return super().describe(experience) | {"explained_variance": experience.explained_variance()}


def _mean(values: Tensor, own: Tensor) -> Tensor:
    """The mean over the learner's own steps; 0 where there are none."""
    return (values * own).sum() / own.sum().clamp(min=1)
