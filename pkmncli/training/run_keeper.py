"""Writing into the folder of a run that trains, also after the folder was deleted meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pkmncli.api import RunInfo, Segment
from pkmncli.errors import RunError

if TYPE_CHECKING:
    from pkmncli.training.checkpoints.files import Checkpoint
    from pkmncli.training.checkpoints.retention import CheckpointKeeper
    from pkmncli.training.run_guard import RunGuard

T = TypeVar("T")


class RunKeeper:
    """Keeper of a run: it saves checkpoints, and makes the folder again if it was deleted.

    Args:
        info: the run as plugins see it.
        checkpoints: writes checkpoints.
        guard: makes the folder again.
    """

    def __init__(self, info: RunInfo, checkpoints: CheckpointKeeper, guard: RunGuard) -> None:
        self.info = info
        self._checkpoints = checkpoints
        self._guard = guard
        self.on_new_folder: Callable[[], None] = lambda: None
        """Called when the folder was made again."""

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

    def save(self, checkpoint: Checkpoint, segments: Callable[[], Iterable[Segment]]) -> Path:
        """Write a checkpoint with the learner's experience. Returns its folder."""
        return self.write(lambda: self._checkpoints.save(checkpoint, segments))

    def _is_new(self, new: bool) -> bool:
        if new:
            self.on_new_folder()
        return new
