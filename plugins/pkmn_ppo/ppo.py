"""Proximal policy optimization proper: several passes over a rollout, with a loss that stops paying for going far.

Schulman et al. 2017, "Proximal policy optimization algorithms".

A rollout is gathered while the one before is being learned from, so the policy that drew its presses is one update
older than the one that learns from it. The ratios are of the probabilities that the presses were drawn with, which
were kept: they begin where the update before has left them, and are clipped from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from pkmn_ppo.experience import Experience
from pkmn_ppo.learning import Epochs, PolicyLearning
from pkmn_ppo.settings import PPOSettings
from pkmncli.learners.weights import ADAM


def clipped_surrogate(
    log_probs: Tensor, log_probs_drawn: Tensor, advantages: Tensor, own: Tensor, clip_range: float
) -> tuple[Tensor, Tensor]:
    """The policy's loss, and the share of the learner's own presses where the clipping took hold.

    The mean over all steps of -min(ratio A, clip(ratio, 1 - range, 1 + range) A), with 0 for presses that are not the
    learner's own (Schulman et al. 2017, equation 7): so the weight of a step does not depend on how many there are.

    Args:
        log_probs: (n,) of the presses, by the policy that learns.
        log_probs_drawn: (n,) by the policy that drew them.
        advantages: (n,).
        own: (n,), 1 where the learner drew the press itself, else 0.
        clip_range: how far the ratio counts.
    """
    # Where a press is someone else's, no probability that it was drawn with is known: nothing may come of it.
    ratios = torch.where(own > 0, log_probs - log_probs_drawn, 0.0).exp()
    clipped = ratios.clamp(1 - clip_range, 1 + clip_range)
    gains = torch.minimum(ratios * advantages, clipped * advantages)
    return -(gains * own).mean(), _mean((ratios != clipped).float(), own)


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

    def loss(self, batch: Experience, ent_coef: float) -> tuple[Tensor, dict[str, Tensor]]:
        """The clipped surrogate, less the entropy, plus the value's error."""
        settings = self.settings
        policy, values = self.network(batch.observations)
        log_probs = policy.log_prob(batch.actions)
        policy_loss, clip_fraction = clipped_surrogate(
            log_probs, batch.log_probs, batch.advantages, batch.own, settings.clip_range
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
