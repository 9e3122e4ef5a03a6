"""Building blocks of learners' networks: the default encoder, the reading part, output streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from pkmncli.errors import ConfigurationError
from pkmncli.learners.encoders import EncoderFactory, scores_actions
from pkmncli.learners.map_branch import MapBranch
from pkmncli.learners.normalisation import Scale, VectorScale
from pkmncli.learners.observations import PLANES, SCREEN, VECTOR, Image, ObservationLayout

_KERNELS_AND_STRIDES = ((8, 8), (3, 2))
"""Kernels and strides of the convolutions. The first sees one step of the player's grid on a half-size screen."""


_MAP_KERNELS_AND_STRIDES = ((3, 2), (2, 2))
"""The same for a map. With a second kernel of 3, the lower and right edge of 13 x 13 tiles would be lost."""

_IMAGE_KERNELS_AND_STRIDES = ((8, 4), (4, 2))
"""The same for an image (Mnih et al. 2013, "Playing Atari with deep reinforcement learning")."""


class ScreenSizes(Protocol):
    """Settings that size the network part that reads screens."""

    @property
    def screen_channels(self) -> tuple[int, int]:
        """Channels of the two convolutions."""

    @property
    def screen_features(self) -> int:
        """Numbers that describe the screen."""


class MapSizes(Protocol):
    """Settings that size the network part that reads a map of bits."""

    @property
    def map_channels(self) -> tuple[int, int]:
        """Channels of the two convolutions."""

    @property
    def map_features(self) -> int:
        """Numbers that describe the map."""


class NetworkSizes(ScreenSizes, MapSizes, Protocol):
    """Settings that size a learner's network.

    With a ``vector_layer_norm`` that is false, the numbers that describe the vectors are not normalised.
    """

    @property
    def vector_features(self) -> int:
        """Numbers that describe the vectors."""


def unpack_screen(packed: Tensor) -> Tensor:
    """Unpack 4-bit pixels, two a byte, the left one in the high bits: (..., bytes) uint8 to (..., 2 * bytes) uint8."""
    return torch.stack((packed >> 4, packed & 15), dim=-1).flatten(-2)


def unpack_planes(packed: Tensor, planes: int) -> Tensor:
    """Unpack the lowest bits of integers into channels: (n, rows, columns) to (n, planes, rows, columns) float32.

    Args:
        packed: uint8, uint16 or uint32.
        planes: number of bits.
    """
    if packed.dtype in _SIGNED:  # torch has arithmetic for signed types only; the bits stay the same
        packed = packed.view(_SIGNED[packed.dtype])
    shifts = torch.arange(planes, dtype=packed.dtype, device=packed.device)
    return ((packed.unsqueeze(1) >> shifts[:, None, None]) & 1).to(torch.float32)


_SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32}


class ConvolutionEncoder(nn.Module):
    """The encoder ``convolution``, the default of learners.

    Two convolutions read the screen, the first one a square of the player's grid at a time; two small ones read a map
    of bits; two read each image; a layer, normalised by default, reads the numbers.
    """

    def __init__(self, layout: ObservationLayout, settings: NetworkSizes) -> None:
        super().__init__()
        self.num_features = 0
        self.screen: nn.Module | None = None
        if layout.screen_shape:
            self.screen = screen_branch(layout, settings)
            self.num_features += settings.screen_features
        self.map: nn.Module | None = None
        if layout.planes:
            self.map = map_branch(layout, settings)
            self.num_features += settings.map_features
        self.vector: nn.Module | None = None
        if layout.vector_size:
            layers: list[nn.Module] = []
            size = layout.vector_size
            if layout.codes:
                spread = SpreadCodes(layout)
                layers, size = [spread], spread.size
            layers.append(nn.Linear(size, settings.vector_features))
            if getattr(settings, "vector_layer_norm", True):  # not every learner has this setting
                layers.append(nn.LayerNorm(settings.vector_features))
            self.vector = nn.Sequential(*layers, nn.ReLU())
            self.num_features += settings.vector_features
        self.images = image_branches(layout, settings)
        self.num_features += settings.screen_features * len(self.images)

    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        """Return the features of observations; see :class:`pkmncli.learners.encoders.Encoder`."""
        return read_branches(self.screen, self.map, self.vector, columns, self.images)


class SpreadCodes(nn.Module):
    """Layer that turns each Discrete number of a vector into as many inputs as it has values, of which one is 1."""

    def __init__(self, layout: ObservationLayout) -> None:
        super().__init__()
        places = [one.place for one in layout.codes]
        amounts = [place for place in range(layout.vector_size) if place not in places]
        counts = torch.tensor([one.largest + 1 for one in layout.codes])
        self.total = int(counts.sum())
        self.size = len(amounts) + self.total
        """Inputs that one vector becomes."""
        # Known from the layout, so not part of checkpoints.
        self.register_buffer("places", torch.tensor(places), persistent=False)
        self.register_buffer("amounts", torch.tensor(amounts, dtype=torch.int64), persistent=False)
        self.register_buffer("largest", counts - 1, persistent=False)
        self.register_buffer("first", counts.cumsum(0) - counts, persistent=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return (n, size) for (n, d) float32. Numbers out of range or NaN are clamped."""
        scaled = torch.nan_to_num(vectors[:, self.get_buffer("places")]).clamp(0, 1) * self.get_buffer("largest")
        columns = scaled.round().to(torch.int64) + self.get_buffer("first")
        codes = torch.zeros(len(vectors), self.total, device=vectors.device).scatter(1, columns, 1.0)
        return torch.cat((vectors[:, self.get_buffer("amounts")], codes), dim=1)


class ObservationNetwork(nn.Module):
    """Network that turns observations into features. A learner's network derives from it and adds its output streams.

    In checkpoints, the default encoder's weights are named ``screen.*``, ``map.*``, ``images.*`` and ``vector.*``
    beside those of the streams, as in one flat network; the names of another encoder's weights begin with ``encoder.``.
    """

    def __init__(
        self,
        layout: ObservationLayout,
        settings: NetworkSizes,
        encoder: EncoderFactory | None = None,
        *,
        features_dim: int | None = None,
        normalized: bool = False,
    ) -> None:
        """Build the part that reads observations.

        Args:
            layout: of the observations.
            settings: the learner's.
            encoder: factory of the encoder; None for the default one.
            features_dim: units of a layer that joins the encoder's features; None for no such layer.
            normalized: vectors are normalised before the encoder, by the statistics given to :meth:`follow`.

        Raises:
            ConfigurationError: the encoder cannot read the layout, or no normalised vectors.
        """
        super().__init__()
        self.encoder: nn.Module | None = None
        self.screen: nn.Module | None = None
        self.map: nn.Module | None = None
        self.vector: nn.Module | None = None
        self.images = nn.ModuleList()
        if encoder is None:
            default = ConvolutionEncoder(layout, settings)
            self.num_features = default.num_features
            self.screen, self.map, self.vector = default.screen, default.map, default.vector
            self.images = default.images
        else:
            self.encoder, self.num_features = encoder(layout, settings)
            if normalized and getattr(self.encoder, "reads_unnormalized", False):
                raise ConfigurationError(
                    f"encoder {encoder.name!r} reads numbers as the environment gives them: leave out "
                    f"{layout.learner}.normalize_observations"
                )
        self._scored = layout.num_actions if scores_actions(self.encoder) else 0
        self.scale = Scale(layout.vector_size) if normalized and layout.vector_size else None
        self.join: nn.Module | None = None
        if features_dim is not None:
            self.join = nn.Sequential(nn.Linear(self.num_features, features_dim), nn.ReLU())
            self.num_features = features_dim

    def follow(self, scale: VectorScale | None) -> None:
        """Normalise vectors by these statistics from now on; None changes nothing."""
        if self.scale is not None and scale is not None:
            self.scale.follow(scale)

    def features(self, observations: Mapping[str, Tensor]) -> Tensor:
        """Return the features that the output streams read, (n, num_features); see :meth:`features_and_scores`."""
        return self.features_and_scores(observations)[0]

    def features_and_scores(self, observations: Mapping[str, Tensor]) -> tuple[Tensor, Tensor | None]:
        """Return the features that the output streams read, and the encoder's scores of the actions.

        Args:
            observations: ``screen`` uint8 packed (n, height, bytes) or (n, frames, height, bytes),
                ``planes`` (n, rows, columns), ``image.<key>`` uint8 (n, channels, height, width), and ``vector``
                float32 (n, d), each if the layout has it.

        Returns:
            (n, num_features) float32; and (n, num_actions) float32, to be added to the output for each action, or None
            if the encoder scores none.
        """
        if self.scale is not None:
            observations = {**observations, VECTOR: self.scale(observations[VECTOR])}
        if self.encoder is None:
            features = read_branches(self.screen, self.map, self.vector, observations, self.images)
        else:
            features = self.encoder(observations)
        scores = None
        if self._scored:
            features, scores = features[:, : -self._scored], features[:, -self._scored :]
        return features if self.join is None else self.join(features), scores


def read_branches(
    screen: nn.Module | None,
    map_: nn.Module | None,
    vector: nn.Module | None,
    columns: Mapping[str, Tensor],
    images: Iterable[nn.Module] = (),
) -> Tensor:
    """Return the features of screens, maps of bits, vectors and images side by side: (n, features).

    A part may be None, but not all of them. ``images`` are those of :func:`image_branches`.
    """
    branches = []
    if screen is not None:
        pixels = unpack_screen(columns[SCREEN]).to(torch.float32).mul_(1 / 15)
        branches.append(screen(pixels if pixels.ndim == 4 else pixels.unsqueeze(1)))
    if map_ is not None:
        branches.append(map_(columns[PLANES]))
    if vector is not None:
        branches.append(vector(columns[VECTOR]))
    for image in images:
        assert isinstance(image, ImageBranch)
        branches.append(image(columns[image.column].to(torch.float32).mul_(1 / 255)))
    return branches[0] if len(branches) == 1 else torch.cat(branches, dim=1)


def stream(features: int, hidden: Sequence[int], outputs: int) -> nn.Sequential:
    """Return an output stream: hidden layers of these widths, then the outputs."""
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [nn.Linear(features, width), nn.ReLU()]
        features = width
    return nn.Sequential(*layers, nn.Linear(features, outputs))


class ImageBranch(nn.Sequential):
    """Two convolutions and a layer that read the images of one column, (n, channels, height, width) in 0..1."""

    def __init__(self, image: Image, *layers: nn.Module) -> None:
        super().__init__(*layers)
        self.column = image.column
        self.shape = image.shape


def image_branches(layout: ObservationLayout, sizes: ScreenSizes) -> nn.ModuleList:
    """Return a network part for each image of a layout, with the sizes of the part that reads screens."""
    branches = nn.ModuleList()
    for image in layout.images.values():
        layers = _convolutions(image.shape, sizes.screen_channels, _IMAGE_KERNELS_AND_STRIDES, sizes.screen_features)
        assert layers is not None  # smaller ones are no images
        branches.append(ImageBranch(image, *layers))
    return branches


def screen_branch(layout: ObservationLayout, sizes: ScreenSizes) -> nn.Module:
    """Return two convolutions and a layer that read unpacked pixels (n, frames, height, width) in 0..1.

    Raises:
        ConfigurationError: the screen is too small.
    """
    packed_shape = layout.screen_shape
    frames = packed_shape[0] if len(packed_shape) == 3 else 1
    shape = frames, packed_shape[-2], packed_shape[-1] * 2
    layers = _convolutions(shape, sizes.screen_channels, _KERNELS_AND_STRIDES, sizes.screen_features)
    if layers is None:
        raise ConfigurationError(
            f"{layout.learner} needs a screen of at least 24 x 24 pixels; this one is packed as {packed_shape}."
        )
    return nn.Sequential(*layers)


def map_branch(layout: ObservationLayout, sizes: MapSizes) -> MapBranch:
    """Return two convolutions and a layer that read a map of bits.

    Raises:
        ConfigurationError: the map is too small.
    """
    rows, columns = layout.planes_shape
    shape = len(layout.planes), rows, columns
    layers = _convolutions(shape, sizes.map_channels, _MAP_KERNELS_AND_STRIDES, sizes.map_features)
    if layers is None:
        raise ConfigurationError(f"{layout.learner} needs a map of at least 5 x 5 tiles, not {rows} x {columns}.")
    return MapBranch(len(layout.planes), rows, columns, *layers)


def _convolutions(
    shape: tuple[int, int, int],
    channels: Sequence[int],
    kernels_and_strides: Sequence[tuple[int, int]],
    features: int,
) -> list[nn.Module] | None:
    """Return convolutions of images (channels, height, width) and a layer; None if the image is too small."""
    before, height, width = shape
    layers: list[nn.Module] = []
    for after, (kernel, stride) in zip(channels, kernels_and_strides, strict=True):
        layers += [nn.Conv2d(before, after, kernel, stride), nn.ReLU()]
        before, height, width = after, (height - kernel) // stride + 1, (width - kernel) // stride + 1
    if height < 1 or width < 1:
        return None
    return [*layers, nn.Flatten(), nn.Linear(before * height * width, features), nn.ReLU()]


def device_of(name: str) -> torch.device:
    """Return the device that torch calls ``name``; ``auto`` is a GPU if there is one.

    Raises:
        ConfigurationError: the device cannot be used here.
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
