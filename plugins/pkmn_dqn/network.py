"""The Q-network: the part that reads observations, and dueling output streams."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from pkmn_dqn.settings import DQNSettings
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.networks import ObservationNetwork, stream
from pkmncli.learners.numpy_network import NumpyFeatures, numpy_layers
from pkmncli.learners.observations import Columns, ObservationLayout


class QNetwork(ObservationNetwork):
    """Network that estimates the return of every action: its mean, or quantiles of its distribution.

    Quantiles: Dabney et al. 2018, "Distributional reinforcement learning with quantile regression".
    """

    def __init__(self, layout: ObservationLayout, settings: DQNSettings, encoder: EncoderFactory | None = None) -> None:
        super().__init__(
            layout, settings, encoder, features_dim=settings.features_dim, normalized=settings.normalize_observations
        )
        self.quantiles = settings.quantiles
        hidden = (settings.head_features,) if settings.net_arch is None else settings.net_arch
        self.advantage = stream(self.num_features, hidden, layout.num_actions * self.quantiles)
        self.value = stream(self.num_features, hidden, self.quantiles) if settings.dueling else None

    def forward(self, observations: Mapping[str, Tensor]) -> Tensor:
        """Return the values of all actions.

        Args:
            observations: see :meth:`ObservationNetwork.features`.

        Returns:
            (n, num_actions) float32.
        """
        return values_of(self.distributions(observations))

    def judge(self, observations: Mapping[str, Tensor]) -> tuple[Tensor, None]:
        """Return the values of all actions, for an exported policy."""
        return self(observations), None

    def distributions(self, observations: Mapping[str, Tensor]) -> Tensor:
        """Return equally likely returns of all actions, (n, num_actions, quantiles) float32."""
        features, scores = self.features_and_scores(observations)
        advantage: Tensor = self.advantage(features).unflatten(1, (-1, self.quantiles))
        if scores is not None:
            advantage = advantage + scores.unsqueeze(2)
        if self.value is None:
            return advantage
        value: Tensor = self.value(features).unsqueeze(1)
        return value + advantage - advantage.mean(dim=1, keepdim=True)


def values_of(distributions: Tensor) -> Tensor:
    """Return the means (...) of equally likely returns (..., quantiles)."""
    return distributions.squeeze(-1) if distributions.shape[-1] == 1 else distributions.mean(dim=-1)


class NumpyQNetwork:
    """The same network in numpy, up to rounding, for one in ordinary memory that has the default encoder."""

    def __init__(self, network: QNetwork, layout: ObservationLayout) -> None:
        self._features = NumpyFeatures(network, layout)
        self._advantage = numpy_layers(network.advantage)
        self._value = None if network.value is None else numpy_layers(network.value)
        self._quantiles = network.quantiles

    @np.errstate(all="ignore")  # the check of the loss gives a better message
    def __call__(self, observations: Columns) -> NDArray[np.float32]:
        """Return the values (n, num_actions) of all actions."""
        features = self._features(observations)
        advantage = self._advantage(features)
        if self._quantiles > 1:
            advantage = advantage.reshape(len(advantage), -1, self._quantiles).mean(axis=2)
        if self._value is None:
            return advantage
        value = self._value(features).mean(axis=1, keepdims=True)
        values: NDArray[np.float32] = value + advantage - advantage.mean(axis=1, keepdims=True)
        return values
