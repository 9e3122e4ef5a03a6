"""Choice of the checkpoint to resume from: the newest that is whole, or an earlier one; later ones are set aside."""

from __future__ import annotations

from pathlib import Path

from pkmncli.checkpoint_index import LATEST
from pkmncli.diagnostics import say, warn
from pkmncli.runs import Run
from pkmncli.training.checkpoints.files import WholeCheckpoint, first_readable, first_whole


def newest_checkpoint(run: Run) -> WholeCheckpoint:
    """Return the newest checkpoint of a run that is whole. Damaged ones are reported and set aside."""
    newest_first = [run.checkpoints.folder / name for name in reversed(run.checkpoints.names())]
    usable = first_whole(newest_first, warn)
    for damaged in newest_first[: newest_first.index(usable.folder)]:
        run.set_aside(damaged)
    return usable


def readable_checkpoint(run: Run, which: str = LATEST) -> Path:
    """Return the checkpoint of that name, to be read only; if the latest is damaged, the one before, with a message.

    Raises:
        CheckpointError: there is no such checkpoint, or none is whole.
    """
    if which != LATEST or not (names := run.checkpoints.names()):
        return run.checkpoints.resolve(which)
    return first_readable([run.checkpoints.folder / name for name in reversed(names)], say)


def set_aside_after(run: Run, name: str) -> None:
    """Set aside the checkpoints after one."""
    names = run.checkpoints.names()
    for later in names[names.index(name) + 1 :]:
        run.set_aside(run.checkpoints.folder / later)
