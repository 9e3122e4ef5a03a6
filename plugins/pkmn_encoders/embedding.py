"""The encoder ``embedding``: categories among the state variables are looked up in tables, not multiplied.

The number of a map is a name: maps 3 and 4 may have nothing in common. A linear layer can only multiply such a number;
a table has learned numbers for each of its values ("entity embeddings": Guo and Berkhahn 2016).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from pkmn_encoders.settings import EmbeddingSettings
from pkmncli.errors import ConfigurationError
from pkmncli.learners.networks import image_branches, map_branch, read_branches, screen_branch
from pkmncli.learners.observations import ObservationLayout


class EmbeddedVector(nn.Module):
    """Network part that reads vectors: tables for categories, other numbers unchanged, then layers over both."""

    _places: Tensor
    _largest: Tensor
    _first_rows: Tensor
    _amounts: Tensor

    def __init__(self, layout: ObservationLayout, settings: EmbeddingSettings) -> None:
        super().__init__()
        categories = layout.categories
        places = {one.place for one in categories}
        amounts = [place for place in range(layout.vector_size) if place not in places]
        # One table for all categories, each with its own range of rows, so that one look-up is enough.
        rows = torch.tensor([one.largest + 1 for one in categories])
        self.tables = nn.Embedding(int(rows.sum()), settings.category_features)
        size = len(categories) * settings.category_features + len(amounts)
        layers: list[nn.Module] = []
        for _ in range(settings.vector_layers):
            layers.append(nn.Linear(size, settings.vector_features))
            size = settings.vector_features
            layers += [nn.LayerNorm(size), nn.ReLU()] if settings.layer_norm else [nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        # Known from the layout, so not part of checkpoints.
        self.register_buffer("_places", torch.tensor([one.place for one in categories]), persistent=False)
        self.register_buffer("_largest", torch.tensor([one.largest for one in categories]), persistent=False)
        self.register_buffer("_first_rows", rows.cumsum(0) - rows, persistent=False)
        self.register_buffer("_amounts", torch.tensor(amounts, dtype=torch.int64), persistent=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return (n, vector_features) for (n, d) float32. Categories out of range or NaN are clamped."""
        scaled = torch.nan_to_num(vectors[:, self._places]).clamp(0, 1) * self._largest
        looked_up: Tensor = self.tables(scaled.round().to(torch.int64) + self._first_rows)
        features: Tensor = self.layers(torch.cat((looked_up.flatten(1), vectors[:, self._amounts]), dim=1))
        return features


class EmbeddingEncoder(nn.Module):
    """An :class:`pkmncli.learners.encoders.Encoder`: convolutions for screen and map, tables for categories."""

    def __init__(self, layout: ObservationLayout, settings: EmbeddingSettings) -> None:
        """Build an untrained encoder.

        Raises:
            ConfigurationError: the layout has no category, or a screen too small for the convolutions.
        """
        super().__init__()
        if not layout.categories:
            raise ConfigurationError(
                f"encoder 'embedding': the observations of {layout.learner} have no category; it needs "
                "state_variables (an observation_type other than screen), or Discrete or MultiDiscrete numbers"
            )
        self.vector = EmbeddedVector(layout, settings)
        self.screen = screen_branch(layout, settings) if layout.screen_shape else None
        self.map = map_branch(layout, settings) if layout.planes else None
        self.num_features = settings.vector_features
        self.num_features += settings.screen_features if layout.screen_shape else 0
        self.num_features += settings.map_features if layout.planes else 0
        self.images = image_branches(layout, settings)
        self.num_features += settings.screen_features * len(self.images)

    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        """Return the features of observations."""
        return read_branches(self.screen, self.map, self.vector, columns, self.images)
