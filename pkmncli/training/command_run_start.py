"""Start and resumption of the runs that plugins' commands make."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmncli.api import RunInfo, quoted_path
from pkmncli.atomic_files import write_json
from pkmncli.config.command_settings import CommandSettings
from pkmncli.errors import RunError
from pkmncli.plugins import Registry
from pkmncli.runs import Run, check_run_name, create_run, open_run
from pkmncli.standard_streams import Installed, output_is_extra
from pkmncli.training.beginnings.start_from import slug
from pkmncli.training.checkpoints.retention import remove_leftovers
from pkmncli.training.checkpoints.selection import newest_checkpoint
from pkmncli.training.command_run import CommandRun
from pkmncli.training.command_scene import CommandScene
from pkmncli.training.compatibility import check_live_page
from pkmncli.training.display.plugin_hooks import PluginHooks
from pkmncli.training.display.run_log import log_to
from pkmncli.training.display.trackers import TrackedRun, chosen_trackers
from pkmncli.training.interrupts import InterruptFlag, stop_with_whoever_began_this
from pkmncli.training.run_keeper import STOPPING, RunKeeper, mend_names

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pkmncli.run_lock import RunLock
    from pkmncli.training.checkpoints.files import Checkpoint

NO_NAMES: dict[str, Any] = {"phases": [], "milestones": [], "actions": [], "maps": {}, "goal": None, "identity": {}}
"""Content of ``names.json`` that a command leaves out."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a command, as for :func:`pkmncli.api.runs.start`."""

    settings: Mapping[str, Any] | BaseModel
    core: Mapping[str, Any]
    config: Path | None = None
    sets: Iterable[str] = ()
    may_change: Collection[str] = ()
    check: Callable[[Any], object] | None = None


@contextmanager
def start_run(command: str, options: Options, names: Mapping[str, Any], registry: Registry) -> Iterator[CommandRun]:
    """Make a new run and record it while entered. A start that failed leaves no run.

    Args:
        command: the command.
        options: its options.
        names: content of ``names.json``; ``environments`` is their number.
        registry: the plugins.

    Raises:
        ConfigurationError: a setting is wrong.
        RunError: the name is taken, or the folder cannot be made.
    """
    stop_with_whoever_began_this()
    output_is_extra()
    settings = CommandSettings.resolve(
        command, options.settings, options.core, registry, config=options.config, sets=options.sets
    )
    settings.to_toml()  # refuses what it cannot hold before there is a run
    train = settings.train
    check_run_name(train.save_dir, train.run_name)
    check_live_page(settings, registry)
    trackers = chosen_trackers(settings, registry)
    if options.check is not None:
        options.check(settings.own)
    with Installed(), InterruptFlag(STOPPING) as interrupted:
        run = create_run(train.save_dir, slug(str(names.get("game", ""))), command, train.run_name)
        try:
            with run.locked() as lock, log_to(run, train.log_level):
                write_json(run.names_file, {"game": command, **NO_NAMES, **names})
                with _recording(run, lock, settings, registry, trackers, interrupted) as it:
                    yield it
        except Exception:
            if not run.has_begun and train.decision_db_path is None:  # rows elsewhere would be those of no run
                shutil.rmtree(run.folder, ignore_errors=True)
            raise


@contextmanager
def resume_run(
    which: str | Path | None, command: str | None, options: Options, registry: Registry
) -> Iterator[CommandRun]:
    """Resume a run from its newest whole checkpoint and record it while entered.

    Raises:
        ConfigurationError: an option would change what cannot change.
        RunError: there is no such run, another command made it, or another process has it.
        CheckpointError: none of its checkpoints can be used.
    """
    stop_with_whoever_began_this()
    output_is_extra()
    run = open_run(which, options.core.get("save_dir"))
    own = CommandSettings.from_run(run.folder, registry)
    if command not in (None, own.command):
        raise RunError(f"{run.folder} was made by 'pkmn {own.command}', not by 'pkmn {command}'")
    core = {key: value for key, value in options.core.items() if key != "save_dir"}
    settings = own.changed(options.settings, core, options.sets, may_change=options.may_change)
    check_live_page(settings, registry)
    trackers = chosen_trackers(settings, registry)
    with (
        Installed(),
        InterruptFlag(STOPPING) as interrupted,
        run.locked() as lock,
        log_to(run, settings.train.log_level),
    ):
        remove_leftovers(run)
        checkpoint = newest_checkpoint(run).content
        mend_names(run, {"game": own.command, **NO_NAMES})  # what else there was, only the command knows
        with _recording(run, lock, settings, registry, trackers, interrupted, checkpoint) as it:
            yield it


@contextmanager
def _recording(
    run: Run,
    lock: RunLock,
    settings: CommandSettings,
    registry: Registry,
    trackers: list[TrackedRun],
    interrupted: InterruptFlag,
    checkpoint: Checkpoint | None = None,
) -> Iterator[CommandRun]:
    known = settings.command in registry.names("commands")
    resume = f"pkmn {settings.command} --resume {quoted_path(run.folder)}" if known else "the program that made it"
    keeper = RunKeeper(run, lock, RunInfo(run.folder, settings.values()), settings.to_toml(), sys.argv, resume=resume)
    with keeper.recording(registry, interrupted, resumes=checkpoint is not None) as store:
        recorded = CommandRun(
            keeper,
            store,
            settings.own,
            settings.train.seed,
            [PluginHooks(registry), *trackers],
            interrupted,
            CommandScene(int(run.read_names().get("environments", 1))),
            checkpoint,
        )
        with recorded.writing() as it:
            yield it
