"""Files of saved games: states are loaded into the emulator, and files are written atomically."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.saved_state import MAGIC, MILESTONE, read_saved_state, write_saved_state
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.reader import StateReader
from pkmn_pyboy.story.tracker import latest_milestone
from pkmncli.api import expand_home, read_given
from pkmncli.errors import ConfigurationError, EmulatorError, EnvironmentSetupError


@dataclass(slots=True)
class StateFile:
    """File in which states of a game are saved."""

    path: Path
    game: str
    rom_sha1: str
    saved: bool = False
    """True if a state was saved."""
    profile: GameProfile | None = None
    """Profile by which the milestone is found that the game has reached; None to save none."""

    def save(self, emulator: Emulator) -> None:
        """Write the emulator's state, in the form that an environment starts from.

        Raises:
            EmulatorError: the file can't be written.
        """
        session = {} if self.profile is None else {MILESTONE: _milestone(self.profile, emulator)}
        data = write_saved_state(emulator.save_state(), session, game=self.game, rom_sha1=self.rom_sha1)
        write_whole(self.path, data, "name another with --save-state")
        self.saved = True


def _milestone(profile: GameProfile, emulator: Emulator) -> str:
    reader = StateReader(profile)
    reader.read(emulator)
    return latest_milestone(profile.milestones, emulator, reader.current_map())


def write_whole(path: Path, data: bytes, otherwise: str) -> None:
    """Write a file atomically. Raise EmulatorError, whose message ends with ``otherwise``.

    A link stays a link, and an existing file keeps its permissions.
    """
    try:
        target = path.resolve()
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(mode)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise EmulatorError(f"{path} can't be written: {error.strerror}; {otherwise}") from None


def check_folder(path: Path, option: str) -> Path:
    """Return the path of a file to write, after a check that its folder can be written to.

    Raises:
        ConfigurationError: the folder does not exist, or nothing can be written there.
    """
    path = expand_home(path)
    try:
        if not path.parent.is_dir():
            raise ConfigurationError(f"{option}: there is no folder {path.parent}; make it, or name another")
        with contextlib.suppress(FileNotFoundError):
            path.stat()  # a name that is too long can't be looked for either; exists() hides it from Python 3.14 on
        with tempfile.TemporaryFile(dir=path.parent):
            return path
    except OSError as error:
        raise ConfigurationError(
            f"{option}: nothing can be written in {path.parent} ({error.strerror}); name a file elsewhere"
        ) from None


def check_save_name(path: Path) -> Path:
    """Return the path that a user named for a state, after a check before the game starts.

    Raises:
        ConfigurationError: the folder can't be written to, or the file exists and is no saved state.
    """
    path = expand_home(path)
    check_folder(path, "--save-state")
    if path.exists() and not _is_saved_state(path):
        raise ConfigurationError(f"--save-state: {path} is no saved state and is not overwritten; name another file")
    return path


def free_name(game: str) -> Path:
    """Return the first free name of GAME.state, GAME-2.state and so on in the current folder."""
    path = free_path(Path(f"{game}.state"))
    check_folder(path, "the current folder, where the state would be saved; see --save-state")
    return path


def free_path(path: Path) -> Path:
    """Return the first free path of FILE, FILE-2 and so on; the number is before the ending."""
    found, number = path, 2
    while found.exists():
        found, number = path.with_name(f"{path.stem}-{number}{path.suffix}"), number + 1
    return found


def load_state_file(path: Path, emulator: Emulator, profile: GameProfile) -> None:
    """Load a state from a file into the emulator: a state of an environment, of this command or of PyBoy.

    Raises:
        EnvironmentSetupError: the file can't be read.
        EmulatorError: the state is damaged, or does not fit the game.
    """
    try:
        data = read_given(expand_home(path))
    except OSError as error:
        raise EnvironmentSetupError(f"--state: {path} can't be read: {error.strerror}; check the path") from None
    try:
        if data[: len(MAGIC)] == MAGIC:
            saved = read_saved_state(data, game=profile.name, rom_sha1=emulator.rom.sha1)
            emulator.load_state(saved.emulator, trusted=True)
        else:
            emulator.load_state(data)
    except EmulatorError as error:
        raise EmulatorError(f"--state {path}: {error}") from error


def _is_saved_state(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
