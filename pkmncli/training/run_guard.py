"""Notices that a run's folder, or what makes it one, was taken away while it trains, and makes it again whole.

A folder that only the next checkpoint or table makes again would be no run: nothing says what its settings were.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable
from pathlib import Path

from pkmncli.atomic_files import read_regular, write_atomic, write_errors_explained
from pkmncli.checkpoint_index import of_another_run
from pkmncli.diagnostics import say
from pkmncli.errors import RunError
from pkmncli.run_lock import RunLock
from pkmncli.runs import Run

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 1.0


class RunGuard:
    """Guard of the folder of a run that trains.

    Args:
        run: the run, with all that it has before its first step.
        lock: the training's.
        tell: told what was taken away, and made again.
    """

    def __init__(self, run: Run, lock: RunLock, tell: Callable[[str], None] = say) -> None:
        self._run = run
        self._lock = lock
        self._tell = tell
        self._next_look = 0.0
        self._kept: dict[Path, bytes] = {}
        """Content that the folder must hold for the run to be resumed, by path."""
        versions = self._run.versions_file
        for path in (versions, run.config_file, run.names_file, run.command_file):
            self._remember(path)
        self._id = str(run.read_versions().get("id") or run.read_versions()["created"])
        self._remember_starts()

    def look_if_due(self) -> bool:
        """Restore what is missing, as :meth:`look` does, at most once a second."""
        if time.monotonic() < self._next_look:
            return False
        return self.look()

    def look(self) -> bool:
        """Restore what is missing.

        Returns:
            True if the folder had to be made again, so that nothing is saved in it yet.

        Raises:
            RunError: it is another run's, another training has it, or it can't be written.
        """
        self._next_look = time.monotonic() + SECONDS_BETWEEN_LOOKS
        if self._lock.holds_folder:
            self._make_again_what_is_missing()
            self._remember_starts()
            if not self._lock.holds_file:
                self._tell(f"{self._run.lock_file} was deleted: it is made again")
                self._lock.take()
            return False
        self._check_whose_it_is()
        whole = self._run.versions_file.exists() and bool(self._run.checkpoints.names())
        self._tell(f"{self._fate()}, with what was recorded: it is made again, and the training goes on there")
        with write_errors_explained(self._run.folder):
            self._run.folder.mkdir(parents=True, exist_ok=True)
            self._make_again_what_is_missing(tell=False)
            self._lock.take()
        return not whole

    def check(self) -> None:
        """Ensure, when nothing more is saved, that the run is still in its folder.

        Raises:
            RunError: it is not, with where it is.
        """
        if not self._lock.holds_folder:
            self._check_whose_it_is()
            raise RunError(f"{self._fate()}, after its last checkpoint")
        self._make_again_what_is_missing()

    @property
    def name_is_taken(self) -> bool:
        """True if another run is in this one's place, so that nothing may be written there."""
        return not self._lock.holds_folder and of_another_run(self._run.folder, self._id)

    def _check_whose_it_is(self) -> None:
        if self.name_is_taken:
            raise RunError(f"{self._fate()}, and another run is there now: the training is ended")

    def _fate(self) -> str:
        return f"the run folder {self._run.folder} {self._lock.fate()} while it trained"

    def _make_again_what_is_missing(self, *, tell: bool = True) -> None:
        for path, content in self._kept.items():
            if path.exists():
                continue
            if tell:
                self._tell(f"{path} was deleted while the run trains: it is made again")
            with write_errors_explained(path):
                path.parent.mkdir(exist_ok=True)
                write_atomic(path, content)

    def _remember(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            self._kept[path] = read_regular(path)

    def _remember_starts(self) -> None:
        with contextlib.suppress(OSError):
            for path in self._run.starts_folder.iterdir():
                if path not in self._kept and not path.name.startswith("."):
                    self._remember(path)
