"""The network part that reads a map of bits: two convolutions and a layer, as matrix products.

On maps this small, calling overhead dominates a convolution. Here a table gives the bits of each number, and the
patches of the first convolution are gathered from them; no gradient is needed there. The patches of the second
convolution do not overlap, so they are the same numbers in another order.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class MapBranch(nn.Sequential):
    """Network part that turns maps of bits, integers (n, rows, columns), into features (n, map_features).

    Args:
        planes: number of bits in use, from the lowest one.
        rows: of the map.
        columns: of the map.
        layers: Conv2d, ReLU, Conv2d whose stride is its kernel's size, ReLU, Flatten, Linear, ReLU; without padding.
    """

    def __init__(self, planes: int, rows: int, columns: int, *layers: nn.Module) -> None:
        super().__init__(*layers)
        self.planes = planes
        first, second = self.convolutions
        assert second.kernel_size == second.stride
        (kernel_rows, kernel_columns), (down, right) = first.kernel_size, first.stride
        self.shape: tuple[int, int]
        """Rows and columns of the first convolution's output."""
        self.shape = (rows - kernel_rows) // down + 1, (columns - kernel_columns) // right + 1
        corners = torch.arange(self.shape[0])[:, None] * down * columns + torch.arange(self.shape[1]) * right
        within = torch.arange(kernel_rows)[:, None] * columns + torch.arange(kernel_columns)
        places = (corners.reshape(-1, 1) + within.reshape(1, -1)).reshape(-1)
        bits = ((torch.arange(256)[:, None] >> torch.arange(8)) & 1).to(torch.float32)
        self.register_buffer("_places", places, persistent=False)
        self.register_buffer("_bits", bits, persistent=False)

    def forward(self, packed: Tensor) -> Tensor:
        """Return the features of maps: uint8, uint16, uint32, or the signed types of these sizes."""
        size = len(packed)
        first, second = self.convolutions
        found = functional.relu(functional.linear(self._patches(packed), _matrix(first), first.bias))
        rows, columns = self.shape
        down, right = second.stride
        rows_after, columns_after = rows // down, columns // right
        found = found.view(size, rows, columns, -1)[:, : rows_after * down, : columns_after * right]
        found = found.reshape(size, rows_after, down, columns_after, right, -1).permute(0, 1, 3, 2, 4, 5)
        found = found.reshape(size * rows_after * columns_after, -1)
        found = functional.relu(functional.linear(found, _matrix(second), second.bias))
        found = found.view(size, rows_after * columns_after, -1).transpose(1, 2).reshape(size, -1)
        for layer in list(self)[5:]:
            found = layer(found)
        return found

    @property
    def places(self) -> Tensor:
        """(patches * kernel,) int64: the tiles under the first kernel, patch by patch."""
        return self.get_buffer("_places")

    @property
    def convolutions(self) -> tuple[nn.Conv2d, nn.Conv2d]:
        """The two convolutions."""
        first, second = self[0], self[2]
        assert isinstance(first, nn.Conv2d) and isinstance(second, nn.Conv2d)
        return first, second

    @torch.no_grad()
    def _patches(self, packed: Tensor) -> Tensor:
        """Return the bits under the first kernel, (n * places, kernel * planes) float32, grouped by tile."""
        octets = packed.contiguous().view(torch.uint8)  # the lowest byte first
        tiles = packed.shape[1] * packed.shape[2]
        bits = self.get_buffer("_bits").index_select(0, octets.reshape(-1).to(torch.int32)).view(len(packed), tiles, -1)
        patches = bits[:, :, : self.planes].index_select(1, self.places)
        return patches.view(len(packed) * self.shape[0] * self.shape[1], -1)


def _matrix(layer: nn.Conv2d) -> Tensor:
    """Return a convolution's weights for patches with channels last: (channels out, kernel * channels in)."""
    return layer.weight.permute(0, 2, 3, 1).reshape(layer.out_channels, -1)
