"""Put pictures of before and now side by side for the guide of the first hour: `python docs/first_hour_pictures.py`.

Those of before come from the project's history; those of now are the guides' own.
"""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

PICTURES = Path(__file__).resolve().parent / "pictures"
BEFORE = "c1e2432f"
"""Commit before the changes that the guide shows."""
WIDTH = 640
GAP, TITLE_PIXELS, FONT_PIXELS = 20, 30, 18
COLOURS = 192
WHITE, GREY = (255, 255, 255), (40, 40, 40)

PARTS = {
    "first_hour_maps": ("plot", (0.0, 0.794, 1.0, 1.0), (0.0, 0.743, 1.0, 1.0)),
    "first_hour_phone": ("dashboard_phone", (0.0, 0.0, 1.0, 1.0), (0.0, 0.0, 1.0, 1.0)),
}
"""Picture -> picture of the guides, and its part before and now: left, top, right, bottom, as shares."""


def main() -> None:
    """Write all pictures."""
    for name, (source, before, now) in PARTS.items():
        path = f"{BEFORE}:docs/pictures/{source}.png"
        kept = subprocess.run(["git", "show", path], check=True, capture_output=True, cwd=PICTURES).stdout
        halves = [
            titled(part_of(Image.open(io.BytesIO(kept)), before), "before"),
            titled(part_of(Image.open(PICTURES / f"{source}.png"), now), "now"),
        ]
        beside(*halves).quantize(COLOURS).save(PICTURES / f"{name}.png", optimize=True)


def part_of(picture: Image.Image, part: tuple[float, float, float, float]) -> Image.Image:
    """Return a part of a picture, reduced to the width of a column."""
    left, top, right, bottom = part
    box = (left * picture.width, top * picture.height, right * picture.width, bottom * picture.height)
    found = picture.convert("RGB").crop(tuple(round(edge) for edge in box))  # type: ignore[arg-type]
    found.thumbnail((WIDTH, found.height))
    return found


def titled(picture: Image.Image, title: str) -> Image.Image:
    """Return a picture with a title above."""
    found = Image.new("RGB", (picture.width, picture.height + TITLE_PIXELS), WHITE)
    ImageDraw.Draw(found).text((6, 4), title, GREY, ImageFont.load_default(FONT_PIXELS))
    found.paste(picture, (0, TITLE_PIXELS))
    return found


def beside(left: Image.Image, right: Image.Image) -> Image.Image:
    """Return two pictures side by side."""
    found = Image.new("RGB", (left.width + GAP + right.width, max(left.height, right.height)), WHITE)
    found.paste(left, (0, 0))
    found.paste(right, (left.width + GAP, 0))
    return found


if __name__ == "__main__":
    main()
