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

from pkmn_ppo.gaussian import DiagonalGaussian
from pkmn_ppo.recurrent import RecurrentLayer
from pkmn_ppo.settings import OnPolicySettings
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.networks import ObservationNetwork, stream
from pkmncli.learners.numpy_network import NumpyFeatures, numpy_gru, numpy_layers
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

    @property
    def scores(self) -> Tensor:
        """Log-probabilities of all actions, (n, num_actions)."""
        return self.log_probs

    def log_prob(self, actions: Tensor) -> Tensor:
        """Return the log-probabilities of actions (n,), one per step."""
        return self.log_probs.gather(1, actions[:, None])[:, 0]

    def entropy(self) -> Tensor:
        """Return the entropy (n,) over the allowed actions, in nats."""
        return -(self.log_probs.exp() * self.log_probs).sum(dim=1)


Policy = MaskedCategorical | DiagonalGaussian
"""Distribution of numbered or of continuous actions."""


class ActorCritic(ObservationNetwork):
    """Network of the distribution of actions, and of the value of a situation."""

    def __init__(
        self, layout: ObservationLayout, settings: OnPolicySettings, encoder: EncoderFactory | None = None
    ) -> None:
        super().__init__(
            layout, settings, encoder, features_dim=settings.features_dim, normalized=settings.normalize_observations
        )
        self.memory_size = settings.memory_size
        self.memory = RecurrentLayer(self.num_features, self.memory_size) if self.memory_size else None
        policy_layers, value_layers = settings.hidden_layers
        outputs = layout.dimensions or layout.num_actions
        self.policy = stream(self.memory_size or self.num_features, policy_layers, outputs)
        self.log_std = nn.Parameter(torch.zeros(layout.dimensions)) if layout.dimensions else None
        self.value = stream(self.memory_size or self.num_features, value_layers, 1)
        self._initialize()

    def forward(
        self, observations: Mapping[str, Tensor], memory: Tensor | None = None, starts: Tensor | None = None
    ) -> tuple[Policy, Tensor, Tensor]:
        """Return the distribution of actions, values (rows,), and memories after each row (rows, memory_size).

        With a memory, rows are consecutive steps of n sequences: the first step of all, then the second of all.

        Args:
            observations: see :meth:`ObservationNetwork.features`, and ``action_mask`` (rows, num_actions).
            memory: (n, memory_size) before the first steps; None if each row begins an episode.
            starts: (rows,), 1 if an episode begins with the row; None if none does after the first steps.
        """
        described, scores = self.features_and_scores(observations)
        memories = described[:, :0]
        if self.memory is not None:
            memories = described = self.memory(described, memory, starts)
        outputs = self.policy(described)
        if scores is not None:
            outputs = outputs + scores
        policy = (
            MaskedCategorical(outputs, observations[MASK])
            if self.log_std is None
            else DiagonalGaussian(outputs, self.log_std)
        )
        return policy, self.value(described)[:, 0], memories

    def judge(self, observations: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return log-probabilities of all actions, or means of controls, and values, for an exported policy."""
        policy, values, _ = self(observations)
        return policy.scores, values

    def judge_from(self, observations: Mapping[str, Tensor], memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the same for one step with memories (n, memory_size), and the memories after it."""
        policy, values, memories = self(observations, memory)
        return policy.scores, values, memories

    def _initialize(self) -> None:
        """Set orthogonal weights, with last layers so small that actions are about equally likely and values near 0.

        Andrychowicz et al. 2021, "What matters for on-policy deep actor-critic methods?", section 3.2, for the policy.
        An encoder that is not the default one keeps its own initial weights. A memory has orthogonal weights too (Huang
        et al. 2022, "The 37 implementation details of proximal policy optimization", on its LSTM).
        """
        # Values of gain 1 differ by more than rare, scaled rewards do, so the first updates would learn from chance.
        gains = {self.policy[-1]: 0.01, self.value[-1]: 0.01}
        foreign = set() if self.encoder is None else set(self.encoder.modules())
        for module in self.modules():
            if module in foreign:
                continue
            if isinstance(module, nn.Conv2d | nn.Linear):
                nn.init.orthogonal_(module.weight, gains.get(module, math.sqrt(2)))
                assert module.bias is not None
                nn.init.zeros_(module.bias)
        if self.memory is not None:
            for weights in self.memory.parameters():
                if weights.ndim > 1:
                    nn.init.orthogonal_(weights)
                else:
                    nn.init.zeros_(weights)


class NumpyActorCritic:
    """The same network in numpy, up to rounding, for one in ordinary memory that has the default encoder."""

    def __init__(self, network: ActorCritic, layout: ObservationLayout) -> None:
        self._is_continuous = network.log_std is not None
        self._features = NumpyFeatures(network, layout)
        self._remember = None if network.memory is None else numpy_gru(network.memory.cell)
        self._policy, self._value = numpy_layers(network.policy), numpy_layers(network.value)

    @np.errstate(all="ignore")  # the acting code checks that all is finite
    def __call__(
        self, observations: Columns, memory: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Return the policy's scores, values (n,), and memories after the step.

        Scores are the log-probabilities (n, num_actions) of actions, or the means (n, dimensions) of controls.

        Args:
            observations: columns (n, ...).
            memory: (n, memory_size) before the step.
        """
        features = self._features(observations)
        if self._remember is not None:
            memory = features = self._remember(features, memory)
        if self._is_continuous:
            return self._policy(features), self._value(features)[:, 0], memory
        logits = np.where(observations[MASK] == 0, np.float32(_FORBIDDEN), self._policy(features))
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return logits, self._value(features)[:, 0], memory
