"""The page that a terminal shows: the picture in half blocks, and beside or below it place, words and keys."""

from __future__ import annotations

import itertools
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkmncli.video import half_blocks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLOCK = "▀"
_PANEL_WIDTH = 22
_MARGIN = "  "

KEYS = (
    ("arrows, hjkl", "move"),
    ("z or a", "A"),
    ("x or b", "B"),
    ("Enter", "start"),
    ("Tab", "select"),
    ("s", "save"),
    ("q", "quit"),
)


@dataclass(frozen=True, slots=True)
class Caption:
    """Words beside the picture."""

    place: str = ""
    note: str = ""
    """A message for a while, such as where the state was saved."""
    words: tuple[str, ...] = ()
    """Text on the game's screen, since letters of a small picture can't be read."""


def compose_page(screen: NDArray[np.uint8], caption: Caption, columns: int, rows: int) -> list[str]:
    """Return the lines of a page, at most ``rows``, for a terminal of this size.

    The panel is beside the picture if there is room, which leaves the picture all rows; else below it.

    Args:
        screen: (144, 160, 3) uint8.
        caption: words to show.
        columns: columns of the terminal.
        rows: rows of the terminal.
    """
    picture = half_blocks(screen, columns, rows).split("\n")
    width = picture[0].count(_BLOCK)
    if columns - width >= len(_MARGIN) + _PANEL_WIDTH:
        panel = _tall_panel(caption)
        pairs = itertools.zip_longest(picture, panel[:rows], fillvalue="")
        return [f"{left or ' ' * width}{_MARGIN}{right[:_PANEL_WIDTH]:{_PANEL_WIDTH}}" for left, right in pairs]
    lines = [line[:columns].ljust(columns) for line in _flat_panel(caption)]
    picture = half_blocks(screen, columns, max(rows - len(lines), 1)).split("\n")
    return (picture + lines)[:rows]


def _tall_panel(caption: Caption) -> list[str]:
    keys = [f"{keys:13}{meaning}" for keys, meaning in KEYS]
    return [*keys, "", caption.place, *textwrap.wrap(caption.note, _PANEL_WIDTH), "", *caption.words]


def _flat_panel(caption: Caption) -> list[str]:
    told = " - ".join(text for text in (caption.note, caption.place, " / ".join(caption.words)) if text)
    return [told, "  ".join(f"{keys}: {meaning}" for keys, meaning in KEYS)]
