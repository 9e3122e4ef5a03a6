"""The network of policy and value, and the distribution that actions are sampled from.

Masks: Huang and Ontañón 2022, "A closer look at invalid action masking in policy gradient algorithms". The logit of a
forbidden action is replaced by a constant, so its probability is exactly 0 and no gradient reaches the logit.
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
"""Logit of a forbidden action: its exponential is 0, and 0 times it is 0, unlike 0 times minus infinity."""


class MaskedCategorical:
    """Distribution over the allowed actions of n steps."""

    def __init__(self, logits: Tensor, mask: Tensor) -> None:
        """Take logits (n, num_actions) and the mask (n, num_actions), 1 = allowed.

        If a mask allows nothing, as a final observation's may, all actions are equally likely.
        """
        self.log_probs = torch.log_softmax(logits.masked_fill(mask == 0, _FORBIDDEN), dim=1)

    def log_prob(self, actions: Tensor) -> Tensor:
        """Return the log-probabilities of actions (n,), one per step."""
        return self.log_probs.gather(1, actions[:, None])[:, 0]

    def entropy(self) -> Tensor:
        """Return the entropy (n,) over the allowed actions, in nats."""
        return -(self.log_probs.exp() * self.log_probs).sum(dim=1)


class ActorCritic(ObservationNetwork):
    """Network of the probability of each action, and of the value of a situation."""

    def __init__(
        self, layout: ObservationLayout, settings: OnPolicySettings, encoder: EncoderFactory | None = None
    ) -> None:
        super().__init__(layout, settings, encoder)
        self.policy = stream(self.num_features, settings.head_features, layout.num_actions)
        self.value = stream(self.num_features, settings.head_features, 1)
        self._initialize()

    def forward(self, observations: Mapping[str, Tensor]) -> tuple[MaskedCategorical, Tensor]:
        """Return the distribution of actions, and values (n,).

        Args:
            observations: see :meth:`ObservationNetwork.features`, and ``action_mask`` (n, num_actions).
        """
        features = self.features(observations)
        return MaskedCategorical(self.policy(features), observations[MASK]), self.value(features)[:, 0]

    def _initialize(self) -> None:
        """Set orthogonal weights, with a last policy layer so small that actions are about equally likely at first.

        Andrychowicz et al. 2021, "What matters for on-policy deep actor-critic methods?", section 3.2. An encoder that
        is not the default one keeps its own initial weights.
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
    """The same network in numpy, up to rounding, for one in ordinary memory that has the default encoder."""

    def __init__(self, network: ActorCritic, layout: ObservationLayout) -> None:
        self._features = NumpyFeatures(network, layout)
        self._policy, self._value = numpy_layers(network.policy), numpy_layers(network.value)

    @np.errstate(all="ignore")  # the acting code checks that all is finite
    def __call__(self, observations: Columns) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the log-probabilities (n, num_actions) of actions, and values (n,)."""
        features = self._features(observations)
        logits = np.where(observations[MASK] == 0, np.float32(_FORBIDDEN), self._policy(features))
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return logits, self._value(features)[:, 0]


def leads(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the gap between the highest and the second highest probability, (n,) in 0..1."""
    if probabilities.shape[1] == 1:
        return np.ones(len(probabilities))
    top = np.partition(probabilities, -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])
