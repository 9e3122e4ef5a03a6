"""State of an experiment's trainings: new, started or finished; and the command for each."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pkmncli.config import DEFAULT_STEPS, MAY_CHANGE, ResolvedSettings, resolve_settings
from pkmncli.config.command_settings import CommandSettings
from pkmncli.errors import ConfigurationError, PkmnError
from pkmncli.experiments.plan import OWN_SETTINGS, TRAIN, Plan, PlannedRun
from pkmncli.plugins import Registry
from pkmncli.runs import Run, find_renamed, is_folder
from pkmncli.training.compatibility import prepare_settings
from pkmncli.training.loop_options import has_finished

_OF_THE_RUN = {*MAY_CHANGE, *OWN_SETTINGS, "init_state", "cartridge", "decision_db_path", "device"}
"""Settings in which a run may differ from the file: it may change them, or keeps its own copy."""


class State(StrEnum):
    """State of a training."""

    NEW = "new"
    BEGUN = "begun"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class ExperimentRun:
    """A training of an experiment with its run folder, which need not exist yet."""

    planned: PlannedRun
    run: Run
    settings: ResolvedSettings | CommandSettings

    @property
    def name(self) -> str:
        """The run's name."""
        return self.planned.name

    @property
    def training(self) -> ResolvedSettings:
        """Settings of a run of ``pkmn train``."""
        assert isinstance(self.settings, ResolvedSettings)
        return self.settings

    @property
    def state(self) -> State:
        """Its current state: a run is finished when its budget is used up."""
        if not self.run.checkpoints.names():
            return State.NEW
        summary, train = self.run.read_summary(), self.settings.train
        if self.planned.command != TRAIN:
            return State.FINISHED if summary.get("finished") else State.BEGUN
        finished = has_finished(train.steps, train.episodes, summary)
        return State.FINISHED if finished else State.BEGUN

    @property
    def share_done(self) -> float:
        """Share of its budget that was used when it was last saved, 0..1; 0 or 1 for a plugin's command."""
        state = self.state
        if state is not State.BEGUN or self.planned.command != TRAIN:
            return float(state is State.FINISHED)
        summary, train = self.run.read_summary(), self.settings.train
        steps = train.steps or (DEFAULT_STEPS if train.episodes is None else None)
        used = [(summary.get("total_steps", 0), steps), (summary.get("total_episodes", 0), train.episodes)]
        return max(min(float(done) / budget, 1.0) for done, budget in used if budget)

    @property
    def steps_left(self) -> int | None:
        """Steps left of its budget; None if no steps are counted."""
        train = self.settings.train
        if self.planned.command != TRAIN:
            return None
        if train.steps is None and train.episodes is not None:
            return None
        done = self.run.read_summary().get("total_steps", 0) if self.state is not State.NEW else 0
        return max((train.steps or DEFAULT_STEPS) - int(done), 0)

    def command(self) -> list[str]:
        """Return the command that begins or resumes the training."""
        train = [sys.executable, "-m", "pkmncli", self.planned.command]
        of_plugin = self.planned.command != TRAIN
        if not of_plugin and not any(text.partition("=")[0] == "film" for text in self.planned.set_options):
            train.append("--no-film")  # nobody watches the films of many trainings
        if self.state is not State.NEW:
            options = self.planned.set_options
            may_change = [text for text in options if of_plugin or text.partition("=")[0] in MAY_CHANGE]
            return [*train, "--resume", str(self.run.folder), *_sets(may_change)]
        where = ["--save-dir", str(self.run.folder.parent), "--run-name", self.name]
        return [*train, *_sets(self.planned.set_options), "--seed", str(self.planned.seed), *where]

    def clear(self) -> None:
        """Remove the folder of a training that ended before it saved anything, so that it can begin again."""
        if self.run.versions_file.exists() and not self.run.checkpoints.names():
            with self.run.locked():
                shutil.rmtree(self.run.folder)


def prepare(plan: Plan, save_dir: Path, registry: Registry) -> list[ExperimentRun]:
    """Return the trainings of a plan, all checked before any begins.

    Raises:
        ConfigurationError: settings are wrong, or an existing run has other settings.
    """
    folder = (save_dir / plan.name).absolute()
    found = []
    for planned in plan.runs:
        try:
            settings = _settings(planned, registry)
        except PkmnError as error:
            raise type(error)(f"{planned.name}: {error}") from None
        own = folder / planned.name
        renamed = None if is_folder(own) else find_renamed(own)
        one = ExperimentRun(planned, renamed or Run(own), settings)
        if one.run.checkpoints.names():
            _check_same(one, registry)
        found.append(one)
    return found


def _settings(planned: PlannedRun, registry: Registry) -> ResolvedSettings | CommandSettings:
    if planned.command != TRAIN:
        registry.get("commands", planned.command)
        return CommandSettings.resolve(planned.command, {}, {"seed": planned.seed}, registry, sets=planned.set_options)
    settings = resolve_settings({"seed": planned.seed}, registry=registry, sets=planned.set_options)
    return prepare_settings(settings, registry)


def _check_same(one: ExperimentRun, registry: Registry) -> None:
    """Raise ConfigurationError if an existing run has other settings than the training."""
    kind = ResolvedSettings if one.planned.command == TRAIN else CommandSettings
    own, wanted = _flat(kind.from_run(one.run.folder, registry)), _flat(one.settings)
    for name, value in wanted.items():
        if name not in _OF_THE_RUN and own.get(name, value) != value:
            raise ConfigurationError(
                f"run {one.run.folder} was made with {name} = {own[name]}, and now it is {value}: "
                "give the experiment another name, or delete that run"
            )


def _flat(settings: ResolvedSettings | CommandSettings) -> dict[str, Any]:
    return {
        f"{section}.{key}" if section else key: value
        for section, values in settings.values().items()
        for key, value in values.items()
    }


def _sets(options: list[str]) -> list[str]:
    return [argument for option in options for argument in ("--set", option)]
