"""Losses of labelled steps, which draw the learner towards the advised side's actions.

Labels: :mod:`pkmncli.learners.labels`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def masked(values: Tensor, mask: Tensor) -> Tensor:
    """Return values (n, num_actions) with minus infinity where the mask (n, num_actions) is 0.

    If a row allows no action, as a final observation may, that row is not masked.
    """
    allowed = mask.to(torch.bool)
    return values.masked_fill(~(allowed | ~allowed.any(dim=1, keepdim=True)), -torch.inf)


def margin_loss(values: Tensor, labels: Tensor, mask: Tensor, margin: float, weights: Tensor | None = None) -> Tensor:
    """Return how much demonstrated actions fall short of a value ``margin`` above all other allowed actions.

    The mean over the whole batch of max_a [Q(s, a) + margin (a is not the label)] - Q(s, label), with 0 for steps
    without a label (Hester et al. 2018, "Deep Q-learning from demonstrations", equation 2): so the weight of a
    demonstration does not depend on their number.

    Args:
        values: (n, num_actions) of the learned network.
        labels: (n,) the actions demonstrated, -1 for none.
        mask: (n, num_actions), 1 = allowed. The label itself always counts.
        margin: in units of return.
        weights: (n,) of the steps; None if all are 1.
    """
    shown = labels.clamp(min=0)[:, None]
    worth = values.gather(1, shown)
    demanded = masked((values + margin).scatter(1, shown, worth), mask.scatter(1, shown, 1))
    return mean((demanded.amax(dim=1) - worth[:, 0]) * (labels >= 0), weights)


def label_cross_entropy(
    values: Tensor, labels: Tensor, mask: Tensor, temperature: float, weights: Tensor | None = None
) -> Tensor:
    """Return the cross-entropy of demonstrated actions under a softmax over the values of allowed ones.

    The mean over the whole batch, with 0 for steps without a label, in nats.

    Args:
        values: (n, num_actions) of the learned network.
        labels: (n,) the actions demonstrated, -1 for none.
        mask: (n, num_actions), 1 = allowed. The label itself always counts.
        temperature: values are divided by it; in units of return.
        weights: (n,) of the steps; None if all are 1.
    """
    shown = labels.clamp(min=0)
    logits = masked(values, mask.scatter(1, shown[:, None], 1)) / temperature
    return mean(nn.functional.cross_entropy(logits, shown, reduction="none") * (labels >= 0), weights)


def mean(losses: Tensor, weights: Tensor | None) -> Tensor:
    """Return the mean of losses (n,), each times its weight (n,); None if all weights are 1."""
    return losses.mean() if weights is None else (losses * weights).mean()
