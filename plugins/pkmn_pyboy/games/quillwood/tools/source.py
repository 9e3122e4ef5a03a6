"""Folder of the game's source, and its data files as Python values."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent.parent


def toml(path: str) -> dict[str, Any]:
    """Return the content of a file of data/ by its path there."""
    return tomllib.loads((HOME / "data" / path).read_text())
