"""Which checkpoint a run goes on from: the newest that is whole, or an earlier one. What is after it goes aside."""

from __future__ import annotations

from pathlib import Path

from pkmncli.checkpoint_index import LATEST
from pkmncli.diagnostics import say, warn
from pkmncli.runs import Run
from pkmncli.training.checkpoints.files import first_usable


def newest_checkpoint(run: Run) -> Path:
    """The newest checkpoint of a run that is whole. Says which damaged ones were passed over, and sets them aside."""
    newest_first = [run.checkpoints.folder / name for name in reversed(run.checkpoints.names())]
    usable = first_usable(newest_first, warn)
    for damaged in newest_first[: newest_first.index(usable)]:
        run.set_aside(damaged)
    return usable


def readable_checkpoint(run: Run, which: str = LATEST) -> Path:
    """The checkpoint that is called so, to be read only. Where the latest is damaged, the one before, which is said.

    Raises:
        CheckpointError: there is no such checkpoint, or none is whole.
    """
    if which != LATEST or not (names := run.checkpoints.names()):
        return run.checkpoints.resolve(which)
    return first_usable([run.checkpoints.folder / name for name in reversed(names)], say, experience=False)


def set_aside_after(run: Run, name: str) -> None:
    """Sets aside the checkpoints after one."""
    names = run.checkpoints.names()
    for later in names[names.index(name) + 1 :]:
        run.set_aside(run.checkpoints.folder / later)
