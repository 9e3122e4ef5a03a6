"""The network of policy and value, and the distribution that it draws presses from.

Masks: Huang and Ontañón 2022, "A closer look at invalid action masking in policy gradient algorithms". A forbidden
press's logit is replaced by a constant, so its probability is exactly 0 and no gradient reaches the logit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pkmn_ppo.settings import OnPolicySettings
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.networks import ObservationNetwork, stream
from pkmncli.learners.numpy_network import NumpyFeatures, numpy_layers
from pkmncli.learners.observations import MASK, Columns, ObservationLayout

_FORBIDDEN = -1e8
"""Logit of a forbidden press: its exponential is 0, and 0 times it is still 0, as 0 times minus infinity is not."""


class MaskedCategorical:
    """A distribution over the allowed presses of n steps."""

    def __init__(self, logits: Tensor, mask: Tensor) -> None:
        """Takes logits (n, num_actions) and the mask (n, num_actions), 1 = allowed.

        Where a mask allows nothing, as a final observation's may, all presses are equally likely.
        """
        self.log_probs = torch.log_softmax(logits.masked_fill(mask == 0, _FORBIDDEN), dim=1)

    def log_prob(self, actions: Tensor) -> Tensor:
        """Logarithms of the probabilities of presses (n,), one a step."""
        return self.log_probs.gather(1, actions[:, None])[:, 0]

    def entropy(self) -> Tensor:
        """Entropy (n,) over the allowed presses, in nats."""
        return -(self.log_probs.exp() * self.log_probs).sum(dim=1)


class ActorCritic(ObservationNetwork):
    """Says how likely each press should be, and what a situation is worth."""

    def __init__(
        self, layout: ObservationLayout, settings: OnPolicySettings, encoder: EncoderFactory | None = None
    ) -> None:
        super().__init__(layout, settings, encoder)
        self.policy = stream(self.num_features, settings.head_features, layout.num_actions)
        self.value = stream(self.num_features, settings.head_features, 1)
        self._initialize()

    def forward(self, observations: Mapping[str, Tensor]) -> tuple[MaskedCategorical, Tensor]:
        """The distribution of presses, and values (n,).

        Args:
            observations: as :meth:`ObservationNetwork.features` takes them, and ``action_mask`` (n, num_actions).
        """
        features = self.features(observations)
        return MaskedCategorical(self.policy(features), observations[MASK]), self.value(features)[:, 0]

    def _initialize(self) -> None:
        """Orthogonal weights, and a last layer of the policy so small that all presses begin about equally likely.

        Andrychowicz et al. 2021, "What matters for on-policy deep actor-critic methods?", section 3.2. An encoder that
        is not the default one begins as it was made.
        """
        gains = {self.policy[-1]: 0.01, self.value[-1]: 1.0}
        foreign = set() if self.encoder is None else set(self.encoder.modules())
        for module in self.modules():
            if module in foreign:
                continue
            if isinstance(module, nn.Conv2d | nn.Linear):
                nn.init.orthogonal_(module.weight, gains.get(module, math.sqrt(2)))
                assert module.bias is not None
                nn.init.zeros_(module.bias)


class NumpyActorCritic:
    """The same, but for rounding, of a network in ordinary memory that has the default encoder."""

    def __init__(self, network: ActorCritic, layout: ObservationLayout) -> None:
        self._features = NumpyFeatures(network, layout)
        self._policy, self._value = numpy_layers(network.policy), numpy_layers(network.value)

    @np.errstate(all="ignore")  # who acts looks whether all is finite
    def __call__(self, observations: Columns) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Logarithms (n, num_actions) of the probabilities of presses, and values (n,)."""
        features = self._features(observations)
        logits = np.where(observations[MASK] == 0, np.float32(_FORBIDDEN), self._policy(features))
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return logits, self._value(features)[:, 0]


def leads(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the most probable action's probability stands above the second one's, (n,) in 0..1."""
    if probabilities.shape[1] == 1:
        return np.ones(len(probabilities))
    top = np.partition(probabilities, -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])
