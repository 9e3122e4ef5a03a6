"""The distribution that continuous actions are sampled from: a normal distribution for each control, independent.

Schulman et al. 2017, "Proximal policy optimization algorithms", section 6.1: the network gives the means, and the
logarithms of the standard deviations are weights that do not depend on the observation. They begin at 0.

Actions are in units of half the range between a control's bounds, from their middle: the bounds are -1 and 1, as Huang
et al. 2022, "The 37 implementation details of proximal policy optimization", scale them. A sampled action may exceed
the bounds. It is clipped when it is carried out, and its log-probability is that of the sample, as in the same source.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

_LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)


class DiagonalGaussian:
    """Distribution of the actions of n steps, without correlations.

    Args:
        means: (n, dimensions).
        log_std: (dimensions,), logarithms of the standard deviations.
    """

    def __init__(self, means: Tensor, log_std: Tensor) -> None:
        self.scores = means
        """Means, (n, dimensions): the greedy actions."""
        self._log_std = log_std

    def log_prob(self, actions: Tensor) -> Tensor:
        """Return the logarithms of the densities (n,) of actions (n, dimensions)."""
        deviations = (actions - self.scores) * (-self._log_std).exp()
        return (-0.5 * deviations.square() - self._log_std - _LOG_ROOT_TWO_PI).sum(dim=1)

    def entropy(self) -> Tensor:
        """Return the differential entropy (n,), in nats."""
        return (0.5 + _LOG_ROOT_TWO_PI + self._log_std).sum().expand(len(self.scores))


def sample(
    means: NDArray[np.float32], log_std: NDArray[np.float32], random: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return sampled actions (n, dimensions) and the logarithms of their densities (n,).

    Args:
        means: (n, dimensions).
        log_std: (dimensions,), logarithms of the standard deviations.
        random: gives one number for each control.
    """
    noise: NDArray[np.float32] = random.standard_normal(means.shape, np.float32)
    log_probs = (-0.5 * noise * noise - log_std - _LOG_ROOT_TWO_PI).sum(axis=1)
    return np.asarray(means + np.exp(log_std) * noise, np.float32), np.asarray(log_probs, np.float32)
