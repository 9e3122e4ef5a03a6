"""Writing of a run by one process: its settings, tables, checkpoints and summary, as long as its folder is its own.

A training and the runs of plugins' commands (:mod:`pkmncli.training.command_run`) are written by this.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pkmncli.api import RunInfo, Segment, Store, quoted_path
from pkmncli.atomic_files import write_atomic, write_errors_explained, write_json
from pkmncli.diagnostics import say, warn
from pkmncli.errors import RunError
from pkmncli.training.assembly import open_store
from pkmncli.training.checkpoints.retention import CheckpointKeeper
from pkmncli.training.run_guard import RunGuard

if TYPE_CHECKING:
    from pkmncli.plugins import Registry
    from pkmncli.run_lock import RunLock
    from pkmncli.runs import Run
    from pkmncli.training.checkpoints.files import Checkpoint
    from pkmncli.training.interrupts import InterruptFlag

T = TypeVar("T")

STOPPING = "Stopping: the run is saved first. Ctrl-C again ends at once."
"""Message at the first Ctrl-C."""


class RunKeeper:
    """Keeper of a run: it writes what makes a folder a run, saves checkpoints, and makes a deleted folder again.

    Args:
        run: the run.
        lock: this process's lock of it.
        info: the run as plugins see it; its core section has the checkpoints to keep and the limit of the disk.
        config: text of its ``config.toml``.
        arguments: the command line.
        resume: the command that resumes the run, for messages; empty for ``pkmn train``.
    """

    def __init__(
        self, run: Run, lock: RunLock, info: RunInfo, config: str, arguments: Sequence[str], resume: str = ""
    ) -> None:
        with write_errors_explained(run.folder):
            write_atomic(run.config_file, config)
            run.write_command(arguments)
        self.run = run
        self.info = info
        self._resume = resume
        self._guard = RunGuard(run, lock, warn)
        core = info.settings[""]
        self._checkpoints = CheckpointKeeper(run, core["keep_checkpoints"], core["disk_limit_gb"], warn, resume)
        self.on_new_folder: Callable[[], None] = lambda: None
        """Called when the folder was made again."""

    @contextmanager
    def recording(self, registry: Registry, interrupted: InterruptFlag, *, resumes: bool) -> Iterator[Store]:
        """Open the run's tables while entered, and report those that are lost if it resumes.

        Raises:
            KeyboardInterrupt: a second signal came, which reaches some libraries as their own error.
        """
        interrupted.last_words = self.how_to_go_on
        elsewhere = self.info.settings[""]["decision_db_path"]
        store = open_store(registry, elsewhere or self.run.folder)
        try:
            if elsewhere and self.run.names_file.is_file():  # its reader may not know the run
                with write_errors_explained(elsewhere):
                    elsewhere.mkdir(parents=True, exist_ok=True)
                    write_atomic(elsewhere / self.run.names_file.name, self.run.names_file.read_bytes())
            if resumes:  # checkpoints hold all that a run needs
                for problem in getattr(store, "problems", list)():
                    warn(problem)
            yield store
        except BaseException as error:
            if not interrupted.insisted:
                raise
            say(self.how_to_go_on())
            raise KeyboardInterrupt from error
        finally:
            if not self._guard.name_is_taken:  # it would write what is left there
                store.close()

    def look_if_due(self) -> bool:
        """Look after the folder, at most once a second. Returns whether it is new, with nothing saved in it."""
        return self._is_new(self._guard.look_if_due())

    def look(self) -> bool:
        """Look after the folder now. Returns whether it is new, with nothing saved in it."""
        return self._is_new(self._guard.look())

    def write(self, write: Callable[[], T]) -> T:
        """Call ``write``, and once more if it failed because the folder was just being deleted."""
        try:
            return write()
        except RunError:
            if not self.look():
                raise
            return write()

    def keep_checkpoints(self, count: int) -> None:
        """Keep so many of the newest checkpoints from now on."""
        self._checkpoints.keep = count

    def save(self, checkpoint: Checkpoint, segments: Callable[[], Iterable[Segment]]) -> Path:
        """Write a checkpoint with the learner's experience. Returns its folder."""
        return self.write(lambda: self._checkpoints.save(checkpoint, segments))

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Write the final summary. Raises RunError if the run is no longer in its folder."""
        self._guard.check()
        self.run.write_summary(summary)

    def how_to_go_on(self) -> str:
        """Return the last message of a process that ends at once."""
        if not self.run.checkpoints.names():
            return f"Stopped before anything was saved: {self.run.folder} can't go on; begin anew."
        resume = self._resume or f"pkmn train --resume {quoted_path(self.run.folder)}"
        return f"Stopped without saving. Go on from the last checkpoint: {resume}"

    def _is_new(self, new: bool) -> bool:
        if new:
            self.on_new_folder()
        return new


def mend_names(run: Run, names: Mapping[str, Any]) -> None:
    """Write ``names.json`` of a run that resumes again if it is missing or damaged."""
    try:
        run.read_names()
    except RunError as error:
        warn(f"{error}: it is written anew")
        if os.path.lexists(run.names_file):
            run.set_aside(run.names_file)
        write_json(run.names_file, names)
