"""Screens as PNG files: in colour, or of grey pixels packed two in a byte."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUICK = 1
"""Compression level, 1 to 9: higher ones take longer and save little."""


def png(screen: NDArray[np.uint8]) -> bytes:
    """Return a screen, (height, width, 3) RGB or (height, bytes) packed, as a PNG file."""
    pixels: Any = screen
    if screen.ndim == 2:
        pixels = np.stack((screen >> 4, screen & 15), axis=-1).reshape(len(screen), -1) * np.uint8(17)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=QUICK)
    return file.getvalue()
