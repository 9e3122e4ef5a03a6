"""Encoder of the screen in patches: each is described alone, then attends to all others (Dosovitskiy et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from pkmn_patch_encoder.settings import PatchSettings
from pkmncli.errors import ConfigurationError
from pkmncli.learners.networks import unpack_screen
from pkmncli.learners.observations import ObservationLayout


class PatchEncoder(nn.Module):
    """Encoder (:class:`pkmncli.learners.encoders.Encoder`): a module with ``num_features`` and ``forward``."""

    def __init__(self, layout: ObservationLayout, settings: PatchSettings) -> None:
        """Build an untrained encoder. Raise ConfigurationError if there is no screen to read."""
        super().__init__()
        if not layout.screen_shape:
            raise ConfigurationError("encoder 'patches' reads screens: run with --observation-type goal_screen")
        *frames, height, packed_width = layout.screen_shape
        side, features = settings.patch_pixels, settings.patch_features
        count = (height // side) * (2 * packed_width // side)
        self.describe = nn.Conv2d(frames[0] if frames else 1, features, kernel_size=side, stride=side)
        self.places = nn.Parameter(0.1 * torch.randn(count, features))
        self.attend = nn.TransformerEncoderLayer(features, 4, 2 * features, dropout=0.0, batch_first=True)
        self.numbers: nn.Module | None = None
        self.num_features = features
        if layout.vector_size:
            layers = (nn.Linear(layout.vector_size, settings.vector_features), nn.LayerNorm(settings.vector_features))
            self.numbers = nn.Sequential(*layers, nn.ReLU())
            self.num_features += settings.vector_features

    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        """Read n observations into (n, num_features) float32."""
        pixels = unpack_screen(columns["screen"]).float() / 15
        pixels = pixels if pixels.ndim == 4 else pixels.unsqueeze(1)
        patches = self.describe(pixels).flatten(2).transpose(1, 2) + self.places
        features: Tensor = self.attend(patches).mean(dim=1)
        if self.numbers is None:
            return features
        return torch.cat((features, self.numbers(columns["vector"])), dim=1)
