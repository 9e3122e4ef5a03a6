"""Which checkpoint a run goes on from: the newest that is whole, or an earlier one. What is after it goes aside."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from pkmncli.diagnostics import say
from pkmncli.runs import Run
from pkmncli.training.checkpoints import first_usable

logger = logging.getLogger(__name__)

SUPERSEDED = "superseded"
"""Folder of a run for what a resumed training no longer counts: rows of steps taken anew, damaged checkpoints."""


def newest_checkpoint(run: Run) -> Path:
    """The newest checkpoint of a run that is whole. Says which damaged ones were passed over, and sets them aside."""
    newest_first = [run.checkpoints.folder / name for name in reversed(run.checkpoints.names())]
    usable = first_usable(newest_first, _report_damage)
    for damaged in newest_first[: newest_first.index(usable)]:
        _set_aside(run, damaged)
    return usable


def set_aside_after(run: Run, name: str) -> None:
    """Sets aside the checkpoints after one."""
    names = run.checkpoints.names()
    for later in names[names.index(name) + 1 :]:
        _set_aside(run, run.checkpoints.folder / later)


def _set_aside(run: Run, checkpoint: Path) -> None:
    aside = run.folder / SUPERSEDED / checkpoint.name
    shutil.rmtree(aside, ignore_errors=True)
    aside.parent.mkdir(exist_ok=True)
    checkpoint.rename(aside)


def _report_damage(text: str) -> None:
    """Said even when quiet: a run that goes on from an older checkpoint has lost steps and experience."""
    logger.warning("%s", text)
    say(text)
