"""The forward pass of a network in numpy, for the few observations of one step.

For so few rows torch is mostly calling overhead: during a training, an answer takes a third of the time here. Layers
read the memory of the torch network's weights, so an update needs no copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from pkmncli.learners.map_branch import MapBranch
from pkmncli.learners.networks import ImageBranch, ObservationNetwork, SpreadCodes
from pkmncli.learners.normalisation import LIMIT, Scale
from pkmncli.learners.observations import PLANES, SCREEN, VECTOR, Columns, ObservationLayout

Rows: TypeAlias = NDArray[np.float32]
"""Arrays of n observations, (n, ...)."""

_BYTES = np.arange(256, dtype=np.uint8)
_PIXELS = (np.stack((_BYTES >> 4, _BYTES & 15), axis=-1) * np.float32(1 / 15)).view(np.float64)[:, 0]
"""The two pixels of each packed byte, as :func:`pkmncli.learners.networks.unpack_screen` gives them, side by side in
one number of eight bytes."""

_BITS = np.unpackbits(_BYTES[:, None], axis=1, bitorder="little").astype(np.float32)
"""The bits of each byte, from the lowest one."""

NumpyLayers = Callable[[Rows], Rows]
"""Layers in sequence."""


class NumpyFeatures:
    """Features that an :class:`ObservationNetwork` with the default encoder gives, up to rounding."""

    def __init__(self, network: ObservationNetwork, layout: ObservationLayout) -> None:
        """Read the weights of a network, which must be in ordinary memory and must not move."""
        self._screen = self._map = self._vector = None
        if network.screen is not None:
            height, width = layout.screen_shape[-2], layout.screen_shape[-1] * 2
            frames = layout.screen_shape[0] if len(layout.screen_shape) == 3 else 1
            self._screen = numpy_layers(network.screen, (frames, height, width))
        if network.map is not None:
            assert isinstance(network.map, MapBranch)
            self._map = _map_layers(network.map)
        if network.vector is not None:
            self._vector = numpy_layers(network.vector)
        self._scale = None if network.scale is None else numpy_layers(nn.Sequential(network.scale))
        self._images: dict[str, NumpyLayers] = {}
        for image in network.images:
            assert isinstance(image, ImageBranch)
            self._images[image.column] = numpy_layers(image, image.shape)
        self._join = None if network.join is None else numpy_layers(network.join)

    def __call__(self, columns: Columns) -> Rows:
        """Return the features (n, num_features) of observations; see :meth:`ObservationNetwork.features`."""
        branches = []
        if self._screen is not None:
            packed = columns[SCREEN]
            pixels = _PIXELS.take(packed.reshape(len(packed), -1)).view(np.float32)
            branches.append(self._screen(pixels))
        if self._map is not None:
            branches.append(self._map(columns[PLANES]))
        if self._vector is not None:
            vectors = columns[VECTOR]
            branches.append(self._vector(vectors if self._scale is None else self._scale(vectors)))
        for column, layers in self._images.items():
            pixels = columns[column]
            branches.append(layers(pixels.reshape(len(pixels), -1) * np.float32(1 / 255)))
        features = branches[0] if len(branches) == 1 else np.concatenate(branches, axis=1)
        return features if self._join is None else self._join(features)


def numpy_layers(module: nn.Module, image_shape: tuple[int, int, int] | None = None) -> NumpyLayers:
    """Return the layers of a torch ``Sequential`` of the kinds that this project's networks use.

    Args:
        module: layers in ordinary memory.
        image_shape: channels, height and width of the first layer's input, if that is a convolution. Images are
            passed as (n, channels * height * width).

    Raises:
        TypeError: a layer is of another kind, or its weights are not contiguous.
    """
    layers: list[NumpyLayers] = []
    shape = image_shape
    for layer in cast(Sequence[nn.Module], module):
        if isinstance(layer, nn.Conv2d) and (layer.padding, layer.dilation, layer.groups) == ((0, 0), (1, 1), 1):
            assert shape is not None
            step, shape = _convolution(layer, shape)
        elif isinstance(layer, nn.Linear):
            step = _linear(layer)
        elif isinstance(layer, Scale):
            step = _scale(layer)
        elif isinstance(layer, SpreadCodes):
            step = _spread_codes(layer)
        elif isinstance(layer, nn.LayerNorm):
            step = _layer_norm(layer)
        elif isinstance(layer, nn.ReLU):
            step = _relu
        elif isinstance(layer, nn.Flatten):  # the rows are flat already
            continue
        else:
            raise TypeError(f"the layer {layer} has no numpy form")
        layers.append(step)

    def run(rows: Rows) -> Rows:
        for layer in layers:
            rows = layer(rows)
        return rows

    return run


def _map_layers(branch: MapBranch) -> NumpyLayers:
    """Return the layers of a map of bits (n, rows, columns), whose first convolution reads patches of integers."""
    first = branch.convolutions[0]
    kernel = first.kernel_size[0] * first.kernel_size[1]
    places, (rows, columns) = branch.places.numpy(), branch.shape
    weight, bias = _array(first.weight), _array(first.bias)
    rest = numpy_layers(nn.Sequential(*list(branch)[2:]), (first.out_channels, rows, columns))

    def read(packed: NDArray[np.generic]) -> Rows:
        n = len(packed)
        octets = packed.reshape(n, -1).take(places, axis=1).view(np.uint8)
        bits = _BITS.take(octets.ravel(), axis=0).reshape(n * rows * columns, kernel, -1)
        patches = bits[:, :, : branch.planes].reshape(len(bits), -1)
        found = patches @ weight.transpose(2, 3, 1, 0).reshape(-1, len(weight))
        found += bias
        _relu(found)
        return rest(np.ascontiguousarray(found.reshape(n, rows * columns, -1).transpose(0, 2, 1)).reshape(n, -1))

    return read


def _convolution(layer: nn.Conv2d, shape: tuple[int, int, int]) -> tuple[NumpyLayers, tuple[int, int, int]]:
    """Return a convolution without padding as one matrix product of its patches and its weights."""
    channels, height, width = shape
    (kernel_height, kernel_width), (down, right) = layer.kernel_size, layer.stride
    rows, columns = (height - kernel_height) // down + 1, (width - kernel_width) // right + 1
    corners = (np.arange(rows)[:, None] * down * width + np.arange(columns) * right).reshape(-1, 1)
    within = np.arange(kernel_height)[:, None] * width + np.arange(kernel_width)
    patches = corners + (np.arange(channels)[:, None, None] * height * width + within).reshape(1, -1)
    weight, bias = _array(layer.weight).reshape(layer.out_channels, -1).T, _array(layer.bias)

    def convolve(images: Rows) -> Rows:
        n = len(images)
        found = images.take(patches, axis=1).reshape(n * len(patches), -1) @ weight
        found += bias
        return np.ascontiguousarray(found.reshape(n, len(patches), -1).transpose(0, 2, 1)).reshape(n, -1)

    return convolve, (layer.out_channels, rows, columns)


def _linear(layer: nn.Linear) -> NumpyLayers:
    return _linear_of(layer.weight, layer.bias)


def _linear_of(weights: torch.Tensor, biases: torch.Tensor | None) -> NumpyLayers:
    weight, bias = _array(weights).T, _array(biases)

    def multiply(rows: Rows) -> Rows:
        found: Rows = rows @ weight
        found += bias
        return found

    return multiply


def numpy_gru(cell: nn.GRUCell) -> Callable[[Rows, Rows], Rows]:
    """Return a gated recurrent unit: from features (n, f) and memories (n, size) to the memories after the step."""
    read, recall = (
        _linear_of(weight, bias) for weight, bias in ((cell.weight_ih, cell.bias_ih), (cell.weight_hh, cell.bias_hh))
    )
    size = cell.hidden_size

    def remember(features: Rows, memory: Rows) -> Rows:
        seen, kept = read(features), recall(memory)
        gates = 1 / (1 + np.exp(-(seen[:, : 2 * size] + kept[:, : 2 * size])))
        new = np.tanh(seen[:, 2 * size :] + gates[:, :size] * kept[:, 2 * size :])
        found: Rows = new + gates[:, size:] * (memory - new)
        return found

    return remember


def _scale(layer: Scale) -> NumpyLayers:
    mean, factor = layer.get_buffer("mean").numpy(), layer.get_buffer("factor").numpy()

    def scale(rows: Rows) -> Rows:
        found: Rows = (rows - mean) * factor
        return found.clip(-LIMIT, LIMIT)

    return scale


def _spread_codes(layer: SpreadCodes) -> NumpyLayers:
    places, amounts, largest, first = (
        layer.get_buffer(name).numpy() for name in ("places", "amounts", "largest", "first")
    )

    def spread(rows: Rows) -> Rows:
        scaled = np.clip(np.nan_to_num(rows[:, places]), 0, 1) * largest
        codes = np.zeros((len(rows), layer.total), np.float32)
        np.put_along_axis(codes, scaled.round().astype(np.int64) + first, np.float32(1), axis=1)
        return np.concatenate((rows[:, amounts], codes), axis=1)

    return spread


def _layer_norm(layer: nn.LayerNorm) -> NumpyLayers:
    weight, bias, eps = _array(layer.weight), _array(layer.bias), np.float32(layer.eps)

    def normalise(rows: Rows) -> Rows:
        centred: Rows = rows - rows.mean(axis=1, keepdims=True)
        centred /= np.sqrt((centred * centred).mean(axis=1, keepdims=True) + eps)
        centred *= weight
        centred += bias
        return centred

    return normalise


def _relu(rows: Rows) -> Rows:
    """Apply ReLU in place: the previous layer has made the rows."""
    np.maximum(rows, 0, out=rows)
    return rows


def _array(weights: torch.Tensor | None) -> NDArray[np.float32]:
    """Return the memory of the weights themselves."""
    if weights is None or not weights.is_contiguous():  # a copy would not follow an update
        raise TypeError("a layer without bias, or with weights that are not contiguous")
    array: NDArray[np.float32] = weights.detach().numpy()
    return array
