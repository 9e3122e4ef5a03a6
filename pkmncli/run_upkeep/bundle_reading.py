"""Makes a run folder of a bundle, which may be anybody's: names, sizes and checksums are checked first."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from pkmncli.api.data_text import parse_json
from pkmncli.atomic_files import open_regular, reason, to_disk, write_errors_explained
from pkmncli.config.run_file import read_run_file
from pkmncli.errors import ConfigurationError, RunError, first_fault
from pkmncli.run_upkeep.bundle import DESCRIPTION, FORMAT, LARGEST_BYTES, BundledFile, Description, belongs
from pkmncli.runs import Run, check_run_name
from pkmncli.training.checkpoints.files import read_checkpoint

_LONGEST_DESCRIPTION = 64 * 1024**2
_CHUNK = 1024**2


def import_bundle(file: Path, save_dir: Path, name: str | None = None, *, source: str | None = None) -> Run:
    """Unpack a bundle into a new run folder, which appears when everything in it was checked.

    Args:
        file: the zip file.
        save_dir: folder of the run folders; made if it is missing.
        name: name of the run; by default the one that it had.
        source: what messages call the file; by default its path.

    Raises:
        ConfigurationError: the given name is invalid.
        RunError: the file is missing, damaged, not a bundle or of a newer version, or the name is taken.
        CheckpointError: its checkpoint is damaged, or of another version.
    """
    source = source or str(file)
    with _opened(file, source) as archive:
        about = _description(archive, source)
        _check_name(save_dir, name, about.run, source)
        folder = save_dir.absolute() / (name or about.run)
        temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
        with write_errors_explained(folder):
            temporary.mkdir(parents=True)
        try:
            for entry, expected in about.files.items():
                _unpack(archive, source, entry, expected, temporary / entry)
            unpacked = Run(temporary)
            unpacked.check_layout()
            read_run_file(temporary)
            read_checkpoint(unpacked.checkpoints.resolve(about.checkpoint))
            with write_errors_explained(folder):
                temporary.rename(folder)
                to_disk(folder.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return Run(folder)


def _check_name(save_dir: Path, given: str | None, former: str, source: str) -> None:
    try:
        check_run_name(save_dir, given or former)
    except ConfigurationError as error:
        if given:
            raise
        raise RunError(f"{source} is damaged: {error}") from None


@contextmanager
def _opened(file: Path, source: str) -> Iterator[zipfile.ZipFile]:
    try:
        with open_regular(file) as content, zipfile.ZipFile(content) as archive:
            yield archive
    except FileNotFoundError:
        raise RunError(f"{source} is not there") from None
    except OSError as error:
        raise RunError(f"{source} can't be read: {reason(error)}") from None
    # zipfile reports damage, encryption and unknown compression by any of these
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, LookupError) as error:
        raise RunError(f"{source} is damaged, or no bundle: {error}") from None


def _description(archive: zipfile.ZipFile, source: str) -> Description:
    names = archive.namelist()
    if DESCRIPTION not in names:
        raise RunError(f"{source} is no bundle: it has no {DESCRIPTION}; 'pkmn export --bundle' makes one")
    content = parse_json(_read(archive, DESCRIPTION, _LONGEST_DESCRIPTION).decode())
    version = content.get("format") if isinstance(content, dict) else None
    if isinstance(version, int) and version > FORMAT:
        raise RunError(f"{source} has format {version}, and this pkmncli reads {FORMAT}: install a newer pkmncli")
    try:
        about = Description.model_validate(content)
    except ValidationError as error:
        raise RunError(f"{source} is damaged: {DESCRIPTION}: {first_fault(error)}") from None
    if sorted(names) != sorted([*about.files, DESCRIPTION]):
        raise RunError(f"{source} is damaged: its files are not those in {DESCRIPTION}")
    strange = next((name for name in about.files if not belongs(name)), None)
    if strange is not None:
        raise RunError(f"{source} is no bundle: a run has no file {strange!r}")
    if sum(one.bytes for one in about.files.values()) > LARGEST_BYTES:
        raise RunError(f"{source} would take more than {LARGEST_BYTES / 1024**3:.0f} GiB: it is not unpacked")
    return about


def _read(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    with archive.open(name) as packed:
        content = packed.read(most + 1)
    if len(content) > most:
        raise ValueError(f"{name} is longer than it may be")
    return content


def _unpack(archive: zipfile.ZipFile, source: str, name: str, expected: BundledFile, target: Path) -> None:
    """Write a file of the bundle, at most as long as described."""
    digest, left = hashlib.sha256(), expected.bytes
    with archive.open(name) as content, write_errors_explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as out:
            while chunk := content.read(min(_CHUNK, left + 1)):
                left -= len(chunk)
                if left < 0:
                    break
                digest.update(chunk)
                out.write(chunk)
    if left or digest.hexdigest() != expected.sha256:
        raise RunError(f"{source} is damaged: {name} is not what was written")
