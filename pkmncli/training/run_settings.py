"""Settings of a run, with the present paths of its image and game folder, which are not part of the run's folder.

The run knows its image by its SHA-1, so that it may be moved or renamed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pkmncli.api import expand_home
from pkmncli.config import ResolvedSettings
from pkmncli.diagnostics import say_once
from pkmncli.errors import EnvironmentSetupError, RomError, RunError
from pkmncli.plugins import Registry
from pkmncli.runs import Run
from pkmncli.training.assembly import unread_settings

ROM_VARIABLE = "PKMN_ROM_PATH"
FOLDER_VARIABLE = "PKMN_GAME_FOLDER"

_SUFFIXES = (".gb", ".gbc", ".sgb", ".bin", ".rom")
_BANK_BYTES = 0x4000
_LARGEST_BYTES = 8 * 1024 * 1024
_MOST_FILES = 500
"""Maximum number of files of a folder that are searched for the image."""


def run_settings(
    run: Run,
    registry: Registry,
    *,
    rom: Path | None = None,
    game_folder: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> ResolvedSettings:
    """Return the settings of a run to play, with its image and game folder found again.

    A moved image is taken from ``PKMN_ROM_PATH``, or searched by its SHA-1 in its former folder, in the run, beside it,
    and in the current folder.

    Args:
        run: the run.
        registry: where plugins are looked up.
        rom: where its image is now.
        game_folder: where its game's profile is now.
        environ: environment variables.

    Raises:
        RomError: ``rom`` is another image, or the run's is nowhere.
        EnvironmentSetupError: the game's folder is not there.
        RunError: ``config.toml`` is missing or damaged.
    """
    settings = ResolvedSettings.from_run(run.folder, registry)
    folder, origin = _game_folder(run, settings.train.game_folder, game_folder, environ)
    if folder is not None:
        settings = settings.changed({"game_folder": folder}, may_change=("game_folder",), origin=origin)
    own = None if "rom_path" in unread_settings(settings, registry) else settings.train.rom_path
    path, origin = _image(run, own, rom, environ)
    if path is not None:
        settings = settings.changed({"rom_path": path}, may_change=("rom_path",), origin=origin)
    return settings


def _game_folder(
    run: Run, own: Path | None, given: Path | None, environ: Mapping[str, str]
) -> tuple[Path | None, str | None]:
    """Return the game folder and its origin if it is not the run's own; else (None, None)."""
    if given is not None:
        return given, None
    if own is None or own.is_dir():
        return None, None
    if environ.get(FOLDER_VARIABLE):
        return Path(environ[FOLDER_VARIABLE]), f"environment variable {FOLDER_VARIABLE}"
    raise EnvironmentSetupError(
        f"the game folder of run {run.name}, {own}, is not there: name where it is now with --game-folder, "
        f"or in {FOLDER_VARIABLE}"
    )


def _image(
    run: Run, own: Path | None, given: Path | None, environ: Mapping[str, str]
) -> tuple[Path | None, str | None]:
    """Return the image and its origin if it is not where the run has it; else (None, None)."""
    sha1 = _known_sha1(run)
    if given is not None:
        given = expand_home(given)
        found = _sha1(given)
        # a file that is not whole banks is no image: the environment reports it
        if sha1 is not None and found is not None and found != sha1 and not given.stat().st_size % _BANK_BYTES:
            raise RomError(
                f"{given} is not the image of run {run.name}: its SHA-1 begins with {found[:12]}, the run's with "
                f"{sha1[:12]}; name the image that the run was trained on"
            )
        return given, None
    if own is None or (own.exists() and (sha1 is None or _sha1(own) in (sha1, None))):
        return None, None
    named = environ.get(ROM_VARIABLE)
    if named and (found := _sha1(expand_home(Path(named)))) is not None and sha1 in (found, None):
        return Path(named), f"environment variable {ROM_VARIABLE}"
    for path in _candidates(run, own) if sha1 is not None else ():
        if _sha1(path) == sha1:
            say_once(f"The image of run {run.name} is taken from {path}: it has the same SHA-1.")
            return path, "found by its SHA-1"
    if own.exists():
        return None, None  # another image under its name, which the environment refuses
    other = f"; {named} ({ROM_VARIABLE}) is not that image" if named else ""
    known = f" (SHA-1 {sha1})" if sha1 is not None else ""
    raise RomError(
        f"the image of run {run.name}, {own}{known}, is not there: name where it is now with --rom, "
        f"or in {ROM_VARIABLE}{other}"
    )


def check_identity(run: Run, identity: Mapping[str, Any]) -> None:
    """Check that an environment is what an imported run was trained in; its checkpoint has no state that could show it.

    Args:
        run: the run.
        identity: of the environment that is there.

    Raises:
        EnvironmentSetupError: another image or game, or other actions.
    """
    theirs = run.read_names().get("identity")
    for name, own in identity.items():
        if isinstance(theirs, Mapping) and theirs.get(name, own) != own:
            raise EnvironmentSetupError(
                f"run {run.name} was trained with another {name}: {theirs[name]}, and here it is {own}"
            )


def _known_sha1(run: Run) -> str | None:
    """Return the SHA-1 of the image that a run was trained on; None if unknown."""
    try:
        sha1 = run.read_names()["identity"]["image"]
    except (RunError, KeyError, TypeError):
        return None
    return sha1 if isinstance(sha1, str) else None


def _candidates(run: Run, own: Path) -> Iterator[Path]:
    """Yield the images near the former path, and near the run."""
    suffixes = {*_SUFFIXES, own.suffix.lower()}
    for folder in dict.fromkeys((own.parent, run.folder, run.folder.parent, Path.cwd())):
        try:
            files = sorted(path for path in folder.iterdir() if path.suffix.lower() in suffixes)
        except OSError:
            continue
        yield from files[:_MOST_FILES]


def _sha1(path: Path) -> str | None:
    """Return the SHA-1 of an image in hexadecimal digits; None if no image can be read."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_BYTES:
            return None
        return hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()
    except OSError:
        return None
