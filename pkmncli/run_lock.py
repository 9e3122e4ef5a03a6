"""The lock of a run folder, which one training holds: on a file with its process id, and on the folder itself.

A file is easily deleted by somebody who takes it for a leftover; the folder's own lock, where the system has such, is
still held then. The system frees both when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pkmncli.atomic_files import read_regular, reason
from pkmncli.errors import RunError

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK_FILE = "run.lock"

PATIENCE_S = 0.5
"""How long a lock is tried: somebody who only looks whether it is held has it for an instant."""

_TRY_EVERY_S = 0.02

Identity = tuple[int, int]
"""Device and number of a file or folder, which a name given anew does not keep."""


class RunLock:
    """The lock of a run for this process, from :meth:`take` to :meth:`release`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / LOCK_FILE
        self._lock: BaseFileLock | None = None
        self._descriptor: int | None = None
        self._identities: tuple[Identity | None, Identity | None] = (None, None)

    def take(self) -> None:
        """Takes the lock, also anew where file or folder have been taken away.

        Raises:
            RunError: another training holds it, with its process id; or there can be no lock.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415 - imports asyncio, which only a training can afford

        self.release()
        if self.file.exists() and not self.file.is_file():  # writing to a pipe would wait for ever
            raise RunError(f"run {self.folder} cannot be locked: {self.file} is no file; delete it")
        holder = read_holder(self.folder)
        lock = FileLock(self.file)
        try:
            lock.acquire(timeout=PATIENCE_S)
            self._descriptor = _lock_folder(self.folder)
        except (Timeout, BlockingIOError):
            lock.release()
            who = f"process {holder}" if holder else "another process"
            raise RunError(
                f"run {self.folder} is in use by {who}: wait until it ends, stop it, or start a new run"
            ) from None
        except OSError as error:
            lock.release()
            raise RunError(f"run {self.folder} cannot be locked: {reason(error)}; choose another save_dir") from None
        self._lock = lock
        with contextlib.suppress(OSError), self.file.open("w", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
        self._identities = (identity(self.folder), identity(self.file))

    def release(self) -> None:
        """Lets go of the lock. Safe to call twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        if self._lock is not None:
            self._lock.release()
        self._lock = self._descriptor = None

    @property
    def holds_folder(self) -> bool:
        """Whether the folder is still the one that was locked."""
        return identity(self.folder) == self._identities[0]

    @property
    def holds_file(self) -> bool:
        """Whether the file is still the one that was locked."""
        return identity(self.file) == self._identities[1]

    def fate(self) -> str:
        """What became of the folder that was locked, in words, as far as the system tells."""
        try:
            if self._descriptor is not None:
                if not os.fstat(self._descriptor).st_nlink:
                    return "was deleted"
                path = Path(f"/proc/self/fd/{self._descriptor}").readlink()
                if identity(path) == self._identities[0]:
                    return f"was moved to {path}"
        except OSError:
            pass
        return "was deleted or moved"


def identity(path: Path) -> Identity | None:
    """What tells a file or folder from another one of that name; None where nothing has the name."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def read_holder(folder: Path) -> int | None:
    """The process that has written itself down as who holds a run, or held it last."""
    try:
        return int(read_regular(folder / LOCK_FILE))
    except (OSError, ValueError):
        return None


if sys.platform == "win32":

    def _lock_folder(folder: Path) -> int | None:
        """Windows locks no folders."""

    def is_locked(folder: Path) -> bool:
        """Whether some process holds a run."""
        if not (folder / LOCK_FILE).exists():
            return False
        lock = RunLock(folder)
        try:
            lock.take()
        except RunError:
            return True
        lock.release()
        return False

else:
    import fcntl

    def _lock_folder(folder: Path) -> int:
        """The descriptor by which a folder is held. Raises BlockingIOError where another process holds it."""
        descriptor = os.open(folder, os.O_RDONLY)
        until = time.monotonic() + PATIENCE_S
        try:
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    if time.monotonic() >= until:
                        raise
                    time.sleep(_TRY_EVERY_S)
                except OSError:
                    return descriptor  # some network file systems lock files only
                else:
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise

    def is_locked(folder: Path) -> bool:
        """Whether some process holds a run. Nothing is written, and who looks is in nobody's way."""
        for path in (folder, folder / LOCK_FILE):
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            except OSError:
                continue
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            except OSError:
                continue
            finally:
                os.close(descriptor)
        return False
