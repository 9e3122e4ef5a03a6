"""Form of a bundle: a zip file with a run to share, and its description ``bundle.json``."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field

FORMAT = 1
"""Changes when an older version can no longer read a bundle."""

DESCRIPTION = "bundle.json"

MOST_FILES = 100_000
LARGEST_BYTES = 16 * 1024**3
"""Limits of what a bundle may unpack to, so that a small hostile file cannot fill a disk."""

_NAME = r"\w[\w.+=-]*"
_FILES = re.compile(
    rf"""config\.toml|versions\.json|names\.json|summary\.json|tables\.jsonl|{_NAME}\.(mp4|gif)
    |(?!checkpoints|starts|evaluations|superseded){_NAME}/{_NAME}\.parquet
    |evaluations/{_NAME}/(result\.json|tables\.jsonl|{_NAME}\.(mp4|gif)|{_NAME}/{_NAME}\.parquet)
    |starts/[0-9a-f]{{16}}\.(state|sav)
    |checkpoints/(index\.json|step-\d{{9,}}/(meta\.json|learner\.safetensors|trainer\.safetensors))""",
    re.VERBOSE | re.ASCII,
)


def belongs(name: str) -> bool:
    """Return whether a bundle may hold a file of that name, relative to the run's folder, with ``/``."""
    return _FILES.fullmatch(name) is not None


class BundledFile(BaseModel):
    """Size and checksum of a file in a bundle."""

    model_config = ConfigDict(strict=True, frozen=True)

    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Description(BaseModel):
    """Content of ``bundle.json`` that an import needs; further keys are for readers."""

    model_config = ConfigDict(strict=True, frozen=True)

    format: int
    run: str
    """Name of the run."""
    checkpoint: str
    """Name of its checkpoint."""
    files: dict[str, BundledFile] = Field(max_length=MOST_FILES)
