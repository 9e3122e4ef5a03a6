"""What learners build their networks of: the default encoder, the part that reads observations, output streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import torch
from torch import Tensor, nn

from pkmncli.errors import ConfigurationError
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.observations import SCREEN, VECTOR, ObservationLayout

_KERNELS_AND_STRIDES = ((8, 8), (3, 2))
"""Of the two convolutions. On a half-size screen the first sees one step of the player's grid at a time."""


class ScreenSizes(Protocol):
    """Those settings that say how large the part of a network is that reads screens."""

    @property
    def screen_channels(self) -> tuple[int, int]:
        """Channels of the two convolutions."""

    @property
    def screen_features(self) -> int:
        """Numbers that describe the screen."""


class NetworkSizes(ScreenSizes, Protocol):
    """Those of a learner's settings that say how large its network is."""

    @property
    def vector_features(self) -> int:
        """Numbers that describe the vectors."""


def unpack_screen(packed: Tensor) -> Tensor:
    """Unpacks 4-bit pixels, two a byte, the left one in the high bits: (..., bytes) uint8 to (..., 2 * bytes) uint8."""
    return torch.stack((packed >> 4, packed & 15), dim=-1).flatten(-2)


class ConvolutionEncoder(nn.Module):
    """The encoder ``convolution``, which learners take where no other one is named.

    Two convolutions read the screen, the first one a square of the player's grid at a time; a normalised layer reads
    the numbers.
    """

    def __init__(self, layout: ObservationLayout, settings: NetworkSizes) -> None:
        super().__init__()
        self.num_features = 0
        self.screen: nn.Module | None = None
        if layout.screen_shape:
            self.screen = screen_branch(layout, settings)
            self.num_features += settings.screen_features
        self.vector: nn.Module | None = None
        if layout.vector_size:
            self.vector = nn.Sequential(
                nn.Linear(layout.vector_size, settings.vector_features),
                nn.LayerNorm(settings.vector_features),
                nn.ReLU(),
            )
            self.num_features += settings.vector_features

    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        """Describes observations, as :class:`pkmncli.learners.encoders.Encoder` says."""
        return read_branches(self.screen, self.vector, columns)


class ObservationNetwork(nn.Module):
    """Describes observations by numbers. A learner's network derives from it and adds its output streams.

    The default encoder's weights have the names of one flat network in checkpoints, ``screen.*`` and ``vector.*``
    beside those of the streams; another encoder's begin with ``encoder.``.
    """

    def __init__(
        self, layout: ObservationLayout, settings: NetworkSizes, encoder: EncoderFactory | None = None
    ) -> None:
        """Builds the part that reads.

        Args:
            layout: what there is to see.
            settings: the learner's.
            encoder: what builds the encoder; the default one without it.

        Raises:
            ConfigurationError: the encoder cannot read the layout.
        """
        super().__init__()
        self.encoder: nn.Module | None = None
        self.screen: nn.Module | None = None
        self.vector: nn.Module | None = None
        if encoder is None:
            default = ConvolutionEncoder(layout, settings)
            self.num_features = default.num_features
            self.screen, self.vector = default.screen, default.vector
        else:
            self.encoder, self.num_features = encoder(layout, settings)

    def features(self, observations: Mapping[str, Tensor]) -> Tensor:
        """What output streams read.

        Args:
            observations: ``screen`` uint8 packed (n, height, bytes) or (n, frames, height, bytes), and ``vector``
                float32 (n, d), as far as the layout has them.

        Returns:
            (n, num_features) float32.
        """
        if self.encoder is None:
            return read_branches(self.screen, self.vector, observations)
        features: Tensor = self.encoder(observations)
        return features


def read_branches(screen: nn.Module | None, vector: nn.Module | None, columns: Mapping[str, Tensor]) -> Tensor:
    """What two parts of a network make of screens and of vectors, side by side: (n, features). One may be missing."""
    branches = []
    if screen is not None:
        pixels = unpack_screen(columns[SCREEN]).to(torch.float32).mul_(1 / 15)
        branches.append(screen(pixels if pixels.ndim == 4 else pixels.unsqueeze(1)))
    if vector is not None:
        branches.append(vector(columns[VECTOR]))
    return branches[0] if len(branches) == 1 else torch.cat(branches, dim=1)


def stream(features: int, hidden: int, outputs: int) -> nn.Sequential:
    """An output stream: one hidden layer, then the outputs."""
    return nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def screen_branch(layout: ObservationLayout, sizes: ScreenSizes) -> nn.Module:
    """Two convolutions and a layer that describe packed pixels, once unpacked, (n, frames, height, width) in 0..1.

    Raises:
        ConfigurationError: the screen is too small for them.
    """
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
