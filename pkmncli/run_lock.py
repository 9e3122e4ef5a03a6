"""Lock of a run folder, which one training holds: on a file with its process id, and on the folder itself.

A user may delete the file as a leftover; the lock on the folder, if the system supports it, is still held then. The
system releases both when the process ends in any way.
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
"""Seconds for which the lock is tried: a process that only checks it holds it for an instant."""

_TRY_EVERY_S = 0.02

Identity = tuple[int, int]
"""Device and inode of a file or folder, which change if another one gets the name."""


class RunLock:
    """Lock of a run for this process, from :meth:`take` to :meth:`release`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / LOCK_FILE
        self._lock: BaseFileLock | None = None
        self._descriptor: int | None = None
        self._identities: tuple[Identity | None, Identity | None] = (None, None)

    def take(self) -> None:
        """Take the lock, or take it again if file or folder have been removed.

        Raises:
            RunError: another training holds it (names its process id), or locking is impossible.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415 - imports asyncio, which only a training can afford

        self.release()
        if self.file.exists() and not self.file.is_file():  # writing to a pipe would block for ever
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
        """Release the lock. May be called twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        if self._lock is not None:
            self._lock.release()
        self._lock = self._descriptor = None

    @property
    def holds_folder(self) -> bool:
        """Return whether the folder is still the one that was locked."""
        return identity(self.folder) == self._identities[0]

    @property
    def holds_file(self) -> bool:
        """Return whether the file is still the one that was locked."""
        return identity(self.file) == self._identities[1]

    def fate(self) -> str:
        """Return the fate of the locked folder in words, as far as the system knows it."""
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
    """Return the identity of a file or folder; None if nothing has the name."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def read_holder(folder: Path) -> int | None:
    """Return the id of the process that holds a run or held it last, from its lock file; None if there is none."""
    try:
        return int(read_regular(folder / LOCK_FILE))
    except (OSError, ValueError):
        return None


if sys.platform == "win32":

    def _lock_folder(folder: Path) -> int | None:
        """Return None: Windows cannot lock folders."""

    def is_locked(folder: Path) -> bool:
        """Return whether a process holds a run."""
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
        """Lock a folder. Return its descriptor. Raise BlockingIOError if another process holds it."""
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
                    return descriptor  # some network file systems lock only files
                else:
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise

    def is_locked(folder: Path) -> bool:
        """Return whether a process holds a run. Nothing is written, and no other process is disturbed."""
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
