"""Captions below pictures of the game, and pictures side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINE_PIXELS = 36
FONT_PIXELS = 24
_MARGIN = 12
_PADDING = 16
"""Pixels below the last line, so that it does not touch the edge. Film heights are multiples of 16."""
_BACKGROUND = (24, 26, 32)
_DIVIDER, _DIVIDER_PIXELS = (110, 116, 128), 16
"""Colour and width of the line between two pictures. Film widths are multiples of 16."""
_COLOURS = ((150, 158, 170), (245, 245, 245), (255, 206, 92), (150, 200, 255))
"""Colours of the lines: progress, place, action, reason."""


def with_caption(picture: NDArray[np.uint8], lines: Sequence[str]) -> NDArray[np.uint8]:
    """Return the picture (height, width, 3) with a band of text below; longer lines lose their last words.

    The font is the one in Pillow, Aileron by Sora Sagano, which is in the public domain (CC0 1.0).
    """
    return np.concatenate([picture, _band(tuple(lines), picture.shape[1])])


def side_by_side(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return two pictures side by side, with a line between them; below the lower one is room."""
    height = max(len(left), len(right))
    line = np.full((height, _DIVIDER_PIXELS, 3), _DIVIDER, np.uint8)
    room = [np.full((height - len(one), one.shape[1], 3), _BACKGROUND, np.uint8) for one in (left, right)]
    whole = [np.concatenate([one, below]) for one, below in zip((left, right), room, strict=True)]
    return np.concatenate([whole[0], line, whole[1]], axis=1)


def in_a_line(words: str) -> str:
    """Return the lines of a text as one line."""
    return " / ".join(line for one in words.splitlines() if (line := " ".join(one.split())))


@lru_cache(maxsize=8)  # successive steps often have the same caption
def _band(lines: tuple[str, ...], width: int) -> NDArray[np.uint8]:
    from PIL import Image, ImageDraw  # noqa: PLC0415 - only captions need it

    band = Image.new("RGB", (width, LINE_PIXELS * len(lines) + _PADDING), _BACKGROUND)
    draw = ImageDraw.Draw(band)
    for number, line in enumerate(lines):
        place = (_MARGIN, number * LINE_PIXELS + (LINE_PIXELS - FONT_PIXELS) // 2)
        draw.text(place, _cut(line, width - 2 * _MARGIN), _COLOURS[number % len(_COLOURS)], _font())
    return np.asarray(band)


def _cut(line: str, most: int) -> str:
    """Return as many words of a line as fit, so that no number is cut; of a single long word its beginning."""
    if _font().getlength(line) <= most:
        return line
    words = line.split(" ")
    while len(words) > 1 and _font().getlength(line) > most:
        words.pop()
        line = " ".join(words).rstrip(" ,;:") + "..."
    while line and _font().getlength(line) > most:
        line = line[:-4] + "..." if len(line) > 4 else ""
    return line


@lru_cache(maxsize=1)
def _font() -> Any:
    from PIL import ImageFont  # noqa: PLC0415

    return ImageFont.load_default(FONT_PIXELS)
