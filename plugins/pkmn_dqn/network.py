"""The Q-network: what reads observations, and dueling output streams."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from pkmn_dqn.settings import DQNSettings
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.networks import ObservationNetwork, stream
from pkmncli.learners.observations import ObservationLayout


class QNetwork(ObservationNetwork):
    """Estimates the return of every action."""

    def __init__(self, layout: ObservationLayout, settings: DQNSettings, encoder: EncoderFactory | None = None) -> None:
        super().__init__(layout, settings, encoder)
        self.advantage = stream(self.num_features, settings.head_features, layout.num_actions)
        self.value = stream(self.num_features, settings.head_features, 1) if settings.dueling else None

    def forward(self, observations: Mapping[str, Tensor]) -> Tensor:
        """Values of all actions.

        Args:
            observations: as :meth:`ObservationNetwork.features` takes them.

        Returns:
            (n, num_actions) float32.
        """
        features = self.features(observations)
        advantage: Tensor = self.advantage(features)
        if self.value is None:
            return advantage
        value: Tensor = self.value(features)
        return value + advantage - advantage.mean(dim=1, keepdim=True)
