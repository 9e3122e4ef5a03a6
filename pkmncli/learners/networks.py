"""The part of a network that reads observations: convolutions for the screen, a normalised layer for numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import torch
from torch import Tensor, nn

from pkmncli.errors import ConfigurationError
from pkmncli.learners.observations import SCREEN, VECTOR, ObservationLayout

_KERNELS_AND_STRIDES = ((8, 8), (3, 2))
"""Of the two convolutions. On a half-size screen the first sees one step of the player's grid at a time."""


class NetworkSizes(Protocol):
    """Those of a learner's settings that say how large its network is."""

    @property
    def screen_channels(self) -> tuple[int, int]:
        """Channels of the two convolutions."""

    @property
    def screen_features(self) -> int:
        """Numbers that describe the screen."""

    @property
    def vector_features(self) -> int:
        """Numbers that describe the vectors."""


def unpack_screen(packed: Tensor) -> Tensor:
    """Unpacks 4-bit pixels, two a byte, the left one in the high bits: (..., bytes) uint8 to (..., 2 * bytes) uint8."""
    return torch.stack((packed >> 4, packed & 15), dim=-1).flatten(-2)


class ObservationNetwork(nn.Module):
    """Describes observations by numbers. A learner's network derives from it and adds its output streams.

    So the names of weights in checkpoints are those of one flat network: ``screen.*``, ``vector.*``, and the streams.
    """

    def __init__(self, layout: ObservationLayout, sizes: NetworkSizes) -> None:
        super().__init__()
        self.num_features = 0
        self.screen: nn.Module | None = None
        if layout.screen_shape:
            self.screen = _screen_branch(layout, sizes)
            self.num_features += sizes.screen_features
        self.vector: nn.Module | None = None
        if layout.vector_size:
            self.vector = nn.Sequential(
                nn.Linear(layout.vector_size, sizes.vector_features),
                nn.LayerNorm(sizes.vector_features),
                nn.ReLU(),
            )
            self.num_features += sizes.vector_features

    def features(self, observations: Mapping[str, Tensor]) -> Tensor:
        """What output streams read.

        Args:
            observations: ``screen`` uint8 packed (n, height, bytes) or (n, frames, height, bytes), and ``vector``
                float32 (n, d), as far as the layout has them.

        Returns:
            (n, num_features) float32.
        """
        branches = []
        if self.screen is not None:
            pixels = unpack_screen(observations[SCREEN]).to(torch.float32).mul_(1 / 15)
            branches.append(self.screen(pixels if pixels.ndim == 4 else pixels.unsqueeze(1)))
        if self.vector is not None:
            branches.append(self.vector(observations[VECTOR]))
        return branches[0] if len(branches) == 1 else torch.cat(branches, dim=1)


def stream(features: int, hidden: int, outputs: int) -> nn.Sequential:
    """An output stream: one hidden layer, then the outputs."""
    return nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def device_of(name: str) -> torch.device:
    """The device of a name in torch's words; ``auto`` is a graphics card where there is one.

    Raises:
        ConfigurationError: it cannot be used here.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device(name)
    try:
        torch.empty(0, device=device)
    except (AssertionError, RuntimeError) as error:
        reason = str(error).split(". ")[0]
        raise ConfigurationError(f"device {name!r} cannot be used here ({reason}): use auto or cpu") from None
    return device


def _screen_branch(layout: ObservationLayout, sizes: NetworkSizes) -> nn.Module:
    packed_shape = layout.screen_shape
    channels = packed_shape[0] if len(packed_shape) == 3 else 1
    height, width = packed_shape[-2], packed_shape[-1] * 2
    layers: list[nn.Module] = []
    for out_channels, (kernel, stride) in zip(sizes.screen_channels, _KERNELS_AND_STRIDES, strict=True):
        layers += [nn.Conv2d(channels, out_channels, kernel, stride), nn.ReLU()]
        channels, height, width = out_channels, (height - kernel) // stride + 1, (width - kernel) // stride + 1
    if height < 1 or width < 1:
        raise ConfigurationError(
            f"{layout.learner} needs a screen of at least 24 x 24 pixels; this one is packed as {packed_shape}."
        )
    layers += [nn.Flatten(), nn.Linear(channels * height * width, sizes.screen_features), nn.ReLU()]
    return nn.Sequential(*layers)
