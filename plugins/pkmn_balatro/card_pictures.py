"""Small pictures of single cards, jokers and items, drawn once each: plain shapes, and the font that is in Pillow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from PIL import Image, ImageDraw, ImageFont

from pkmn_balatro.simulator.cards import (
    DEBUFFED,
    EDITIONS,
    ENHANCEMENTS,
    FACE_DOWN,
    FORCED,
    RANKS,
    STONE,
    edition_of,
    enhancement_of,
    rank_of,
    seal_of,
    suit_of,
)

Colour = tuple[int, int, int]

CARD_SIZE: Final = (44, 62)
"""Width and height of a playing card in pixels."""
ITEM_SIZE: Final = (66, 60)
"""Width and height of jokers, consumables and offers in pixels."""

PAPER: Final[Colour] = (244, 240, 230)
INK: Final[Colour] = (28, 32, 38)
DIM: Final[Colour] = (146, 160, 158)
GOLDEN: Final[Colour] = (240, 190, 70)
_SUIT_COLOURS: Final[tuple[Colour, ...]] = ((40, 46, 74), (204, 44, 52), (24, 110, 84), (214, 112, 20))
_ENHANCEMENT_COLOURS: Final[tuple[Colour, ...]] = (
    PAPER,
    (196, 216, 250),
    (250, 206, 206),
    (228, 210, 246),
    (206, 240, 244),
    (188, 196, 204),
    (150, 146, 138),
    (248, 222, 134),
    (204, 240, 196),
)
_EDITION_COLOURS: Final[tuple[Colour, ...]] = (
    (120, 124, 122),
    (90, 170, 250),
    (250, 110, 170),
    (140, 220, 90),
    (150, 80, 220),
)
_SEAL_COLOURS: Final[tuple[Colour, ...]] = (PAPER, (226, 168, 20), (214, 40, 40), (50, 100, 230), (140, 60, 200))
_BACK: Final[Colour] = (110, 44, 52)
_FORCED: Final[Colour] = (250, 70, 220)
_TALL: Final = 8
"""Suit signs are drawn this many times as large, and reduced."""


@lru_cache(maxsize=16)
def font(pixels: int) -> Any:
    """Return the font that Pillow brings, Aileron by Sora Sagano (CC0 1.0), in a size."""
    return ImageFont.load_default(pixels)


@lru_cache(maxsize=4096)
def lines_of(text: str, pixels: int, width: int, most: int) -> tuple[str, ...]:
    """Return a text in lines no wider than ``width`` pixels; after ``most`` lines it ends with two dots."""
    letters, lines = font(pixels), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if not lines[-1] or letters.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1]}.."]
    return tuple(_cut(line, pixels, width) for line in lines)


def _cut(line: str, pixels: int, width: int) -> str:
    letters = font(pixels)
    if letters.getlength(line) <= width:
        return line
    line = line.rstrip(".")
    while line and letters.getlength(f"{line}..") > width:
        line = line[:-1]
    return f"{line}.."


@lru_cache(maxsize=32)
def suit_sign(suit: int, size: int) -> Any:
    """Return a suit's sign as a mask of ``size`` by ``size`` pixels."""
    large = size * _TALL
    mask = Image.new("L", (large, large), 0)
    draw = ImageDraw.Draw(mask)

    def circle(x: float, y: float, radius: float) -> None:
        draw.ellipse([(x - radius) * large, (y - radius) * large, (x + radius) * large, (y + radius) * large], fill=255)

    def shape(*points: tuple[float, float]) -> None:
        draw.polygon([(x * large, y * large) for x, y in points], fill=255)

    stem = ((0.5, 0.5), (0.64, 0.97), (0.36, 0.97))
    if suit == 0:  # a heart upside down, and a stem
        shape((0.5, 0.02), (0.92, 0.52), (0.08, 0.52))
        circle(0.29, 0.58, 0.225)
        circle(0.71, 0.58, 0.225)
        shape(*stem)
    elif suit == 1:
        circle(0.285, 0.33, 0.24)
        circle(0.715, 0.33, 0.24)
        side = 0.24 * math.sqrt(0.5)
        shape((0.285 - side, 0.33 + side), (0.5, 0.97), (0.715 + side, 0.33 + side), (0.5, 0.25))
    elif suit == 2:
        for x, y in ((0.5, 0.25), (0.26, 0.6), (0.74, 0.6)):
            circle(x, y, 0.225)
        shape(*stem)
    else:
        shape((0.5, 0.0), (0.88, 0.5), (0.5, 1.0), (0.12, 0.5))
    return mask.resize((size, size), Image.Resampling.BOX)


@lru_cache(maxsize=2048)
def card_picture(card: int) -> Any:
    """Return the picture of a playing card: its back if it is face down."""
    width, height = CARD_SIZE
    picture = Image.new("RGB", CARD_SIZE, INK)
    draw = ImageDraw.Draw(picture)
    edge = _FORCED if card & FORCED else INK
    if card & FACE_DOWN:
        draw.rounded_rectangle([0, 0, width - 1, height - 1], 4, _BACK, edge, 2)
        draw.rounded_rectangle([6, 6, width - 7, height - 7], 3, None, DIM)
        return picture
    enhancement, edition, seal = enhancement_of(card), edition_of(card), seal_of(card)
    edge = edge if card & FORCED or not edition else _EDITION_COLOURS[edition]
    draw.rounded_rectangle(
        [0, 0, width - 1, height - 1], 4, _ENHANCEMENT_COLOURS[enhancement], edge, 3 if edition else 2
    )
    if enhancement != STONE:
        suit = suit_of(card)
        colour = _SUIT_COLOURS[suit]
        draw.text((5, 1), RANKS[rank_of(card)], colour, font(20))
        picture.paste(colour, (width - 22, 25), suit_sign(suit, 18))
    if enhancement:
        draw.text((5, height - 17), ENHANCEMENTS[enhancement], INK, font(11))
    if edition:
        draw.text((5, height - 28), EDITIONS[edition][:4], INK, font(11))
    if seal:
        draw.ellipse([width - 15, 5, width - 6, 14], _SEAL_COLOURS[seal], INK)
    if card & DEBUFFED:
        picture = Image.blend(picture, Image.new("RGB", CARD_SIZE, INK), 0.5)
        draw = ImageDraw.Draw(picture)
        draw.line([5, 5, width - 6, height - 6], (220, 60, 60), 2)
        draw.line([width - 6, 5, 5, height - 6], (220, 60, 60), 2)
    return picture


@lru_cache(maxsize=4096)
def item_picture(
    name: str, below: str, colour: Colour, size: tuple[int, int] = ITEM_SIZE, edition: int = 0, dim: bool = False
) -> Any:
    """Return the picture of a joker, consumable or offer: its name, and a line such as its price.

    Args:
        name: words in the middle.
        below: words at the lower edge.
        colour: of its kind.
        size: width and height in pixels.
        edition: place in EDITIONS, which colours the edge.
        dim: true if it has no effect now.
    """
    width, height = size
    picture = Image.new("RGB", size, INK)
    draw = ImageDraw.Draw(picture)
    edge = _EDITION_COLOURS[edition] if edition else INK
    draw.rounded_rectangle([0, 0, width - 1, height - 1], 4, colour, edge, 3 if edition else 1)
    text_lines(draw, (width / 2, 3), lines_of(name, 12, width - 6, 3), PAPER, 12)
    if below:
        draw.rectangle([3, height - 16, width - 4, height - 4], INK)
        text_lines(draw, (width / 2, height - 17), lines_of(below, 11, width - 8, 1), GOLDEN, 11)
    return Image.blend(picture, Image.new("RGB", size, INK), 0.6) if dim else picture


def text_lines(draw: Any, middle: tuple[float, float], lines: Sequence[str], colour: Colour, pixels: int) -> None:
    """Draw lines below each other, each in the middle, from an upper edge on."""
    x, y = middle
    for number, line in enumerate(lines):
        draw.text((x, y + number * pixels), line, colour, font(pixels), anchor="ma")
