"""Tags and new names of runs."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import replace

from pkmncli.atomic_files import to_disk, write_errors_explained
from pkmncli.errors import ConfigurationError
from pkmncli.run_labels import Labels, change_labels
from pkmncli.runs import RUN_NAME, Run, check_run_name


def add_tags(run: Run, tags: Sequence[str]) -> Labels:
    """Give a run tags, also while it is written. Return its labels.

    Raises:
        ConfigurationError: a tag has characters that no tag has.
        RunError: the labels cannot be written.
    """
    for tag in tags:
        if not RUN_NAME.fullmatch(tag):
            raise ConfigurationError(f"tag {tag!r}: use letters, digits, '.', '_', '+' and '-'")
    return change_labels(run.folder, lambda old: replace(old, tags=tuple(dict.fromkeys([*old.tags, *tags]))))


def remove_tags(run: Run, tags: Sequence[str]) -> Labels:
    """Take tags from a run. Return its labels.

    Raises:
        ConfigurationError: the run has no such tag.
        RunError: the labels cannot be written.
    """

    def without(old: Labels) -> Labels:
        for tag in tags:
            if tag not in old.tags:
                raise ConfigurationError(f"run {run.name} has no tag '{tag}': it has {', '.join(old.tags) or 'none'}")
        return replace(old, tags=tuple(tag for tag in old.tags if tag not in tags))

    return change_labels(run.folder, without)


def rename(run: Run, name: str) -> Run:
    """Rename a run's folder. The run is still found by its old name.

    Raises:
        ConfigurationError: the name is invalid.
        RunError: it is taken, or a process writes the run.
    """
    check_run_name(run.folder.parent, name)
    renamed = Run(run.folder.with_name(name))
    with contextlib.ExitStack() as held, write_errors_explained(run.folder):
        held.enter_context(run.locked())
        change_labels(
            run.folder,
            lambda old: replace(old, former_names=tuple(dict.fromkeys([*old.former_names, run.name]))),
        )
        if sys.platform == "win32":
            held.close()  # a folder with an open file in it cannot be renamed there
        run.folder.rename(renamed.folder)
        to_disk(renamed.folder.parent)
    return renamed
