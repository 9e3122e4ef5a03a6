"""Features extractor of Stable-Baselines3 that reads observations as the encoder ``balatro`` does."""

from __future__ import annotations

from collections.abc import Mapping

import gymnasium
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from pkmn_balatro.encoder import BalatroEncoder
from pkmn_balatro.settings import BalatroSettings
from pkmncli.learners.observations import MASK, layout_of


class BalatroFeaturesExtractor(BaseFeaturesExtractor):
    """Features extractor with a :class:`pkmn_balatro.encoder.BalatroEncoder`, and a layer behind it.

    Args:
        observation_space: what the model observes.
        features_dim: numbers that describe an observation.
        original: the environment's own space, with its categories.
    """

    def __init__(
        self, observation_space: gymnasium.Space[object], features_dim: int, original: gymnasium.Space[object]
    ) -> None:
        super().__init__(observation_space, features_dim)
        self._single = not isinstance(original, gymnasium.spaces.Dict)
        space = gymnasium.spaces.Dict({"observation": original}) if self._single else original
        assert isinstance(space, gymnasium.spaces.Dict)
        mask = space.spaces.get(MASK)
        actions = gymnasium.spaces.Discrete(2 if mask is None or mask.shape is None else mask.shape[0])
        layout = layout_of(space, actions, "SB3Trainer")
        self._keys = list(layout.vector_keys)
        self.encoder = BalatroEncoder(layout, BalatroSettings.model_validate({}))
        self.join = nn.Sequential(nn.Linear(self.encoder.num_features, features_dim), nn.ReLU())

    def forward(self, observations: Tensor | Mapping[str, Tensor]) -> Tensor:
        """Return (n, features_dim) float32."""
        if isinstance(observations, Tensor):
            vector = observations.flatten(1)
        else:
            vector = torch.cat([observations[key].flatten(1) for key in self._keys], dim=1)
        features: Tensor = self.join(self.encoder({"vector": vector.float()}))
        return features
