"""The Q-network: a convolutional branch for the screen, one for state variables, and dueling output streams."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from pkmn_dqn.observations import SCREEN, VECTOR, ObservationLayout
from pkmn_dqn.settings import DQNSettings
from pkmncli.errors import ConfigurationError

_KERNELS_AND_STRIDES = ((8, 8), (3, 2))
"""Of the two convolutions. On a half-size screen the first sees one step of the player's grid at a time."""


def unpack_screen(packed: Tensor) -> Tensor:
    """Unpacks 4-bit pixels, two a byte, the left one in the high bits: (..., bytes) uint8 to (..., 2 * bytes) uint8."""
    return torch.stack((packed >> 4, packed & 15), dim=-1).flatten(-2)


class QNetwork(nn.Module):
    """Estimates the return of every action."""

    def __init__(self, layout: ObservationLayout, settings: DQNSettings) -> None:
        super().__init__()
        features = 0
        self.screen: nn.Module | None = None
        if layout.screen_shape:
            self.screen = _screen_branch(layout.screen_shape, settings)
            features += settings.screen_features
        self.vector: nn.Module | None = None
        if layout.vector_size:
            self.vector = nn.Sequential(
                nn.Linear(layout.vector_size, settings.vector_features),
                nn.LayerNorm(settings.vector_features),
                nn.ReLU(),
            )
            features += settings.vector_features
        self.advantage = _stream(features, settings.head_features, layout.num_actions)
        self.value = _stream(features, settings.head_features, 1) if settings.dueling else None

    def forward(self, observations: Mapping[str, Tensor]) -> Tensor:
        """Values of all actions.

        Args:
            observations: ``screen`` uint8 packed (n, height, bytes) or (n, frames, height, bytes), and ``vector``
                float32 (n, d), as far as the layout has them.

        Returns:
            (n, num_actions) float32.
        """
        branches = []
        if self.screen is not None:
            pixels = unpack_screen(observations[SCREEN]).to(torch.float32).mul_(1 / 15)
            branches.append(self.screen(pixels if pixels.ndim == 4 else pixels.unsqueeze(1)))
        if self.vector is not None:
            branches.append(self.vector(observations[VECTOR]))
        features = branches[0] if len(branches) == 1 else torch.cat(branches, dim=1)
        advantage: Tensor = self.advantage(features)
        if self.value is None:
            return advantage
        value: Tensor = self.value(features)
        return value + advantage - advantage.mean(dim=1, keepdim=True)


def _screen_branch(packed_shape: tuple[int, ...], settings: DQNSettings) -> nn.Module:
    channels = packed_shape[0] if len(packed_shape) == 3 else 1
    height, width = packed_shape[-2], packed_shape[-1] * 2
    layers: list[nn.Module] = []
    for out_channels, (kernel, stride) in zip(settings.screen_channels, _KERNELS_AND_STRIDES, strict=True):
        layers += [nn.Conv2d(channels, out_channels, kernel, stride), nn.ReLU()]
        channels, height, width = out_channels, (height - kernel) // stride + 1, (width - kernel) // stride + 1
    if height < 1 or width < 1:
        raise ConfigurationError(
            f"dqn needs a screen of at least 24 x 24 pixels; this one is packed as {packed_shape}."
        )
    layers += [nn.Flatten(), nn.Linear(channels * height * width, settings.screen_features), nn.ReLU()]
    return nn.Sequential(*layers)


def _stream(features: int, hidden: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, outputs))
