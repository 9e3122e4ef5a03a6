"""The file of a tuning: the training, the settings to search, and the search.

[tune]
name = "rates"
trials = 20
seeds = 2

[settings]
steps = 20_000

[space]
"dqn.learning_rate" = { low = 1e-5, high = 1e-3, log = true }
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pkmncli.config import DEFAULT_STEPS
from pkmncli.errors import ConfigurationError, PkmnError
from pkmncli.experiments.plan import (
    Plan,
    PlannedRun,
    as_text,
    check_names,
    is_whole_number,
    name_of,
    processes_of,
    read_toml,
    seeds_of,
    settings_of,
)
from pkmncli.experiments.standing import ExperimentRun, prepare
from pkmncli.plugins import Registry
from pkmncli.tuning.objective import EPISODES, EVALUATED, LAST_EPISODES, Objective, check_metric
from pkmncli.tuning.space import Choice, Range, Space, Value, corners, read_space

PRUNERS = ("median", "halving", "hyperband", "none")
"""Rules that stop trials early: below the median of others at that point; by successive halving; none."""

DIRECTIONS = ("maximize", "minimize")

_TABLES = ("tune", "settings", "space")
_KEYS = (
    *("name", "trials", "seeds", "processes", "objective", "last", "direction"),
    *("interval", "pruner", "startup_trials", "sampler_seed"),
)
_INTERVALS = 10
"""Default number of looks at a run if there are no evaluations."""
_COMBINATIONS = 200
"""Maximum number of combinations of choices tried to find one that uses a setting."""


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """Content of a tuning's file. ``interval`` is the number of steps between two looks at a run."""

    name: str
    trials: int
    seeds: tuple[int, ...]
    processes: int
    objective: Objective
    steps: int
    interval: int
    pruner: str
    startup_trials: int
    sampler_seed: int
    settings: Mapping[str, Any]
    space: Space

    @property
    def looks(self) -> int:
        """Number of looks at a run, its end included."""
        return -(-self.steps // self.interval)

    def trials_at_a_time(self, processes: int) -> int:
        """Return the number of parallel trials: more than one only if all their seeds have room."""
        return max(1, processes // len(self.seeds))

    def runs(self, trial: int, values: Mapping[str, Value], save_dir: Path, registry: Registry) -> list[ExperimentRun]:
        """Return the trainings of a trial, one for each seed.

        Raises:
            PkmnError: its settings do not fit together.
        """
        settings = {**self.settings, **values}
        planned = tuple(PlannedRun(f"trial-{trial:03}_seed-{seed}", settings, seed) for seed in self.seeds)
        return prepare(Plan(self.name, self.processes, (), planned), save_dir, registry)

    @property
    def asked(self) -> dict[str, str]:
        """Values that determine every figure, by their name in messages: a resumed tuning must not change them."""
        return {
            "[settings]": json.dumps({name: as_text(value) for name, value in self.settings.items()}, sort_keys=True),
            "[space]": json.dumps({name: repr(dimension) for name, dimension in self.space.items()}, sort_keys=True),
            "seeds": json.dumps(self.seeds),
            "objective": str(self.objective),
            "interval": str(self.interval),
            "sampler_seed": str(self.sampler_seed),
        }


def read_tuning(path: Path, save_dir: Path, registry: Registry) -> TuningPlan:
    """Read the file of a tuning, and check ends and choices of its space on the settings.

    Raises:
        ConfigurationError: it is missing, or something in it is wrong; the message says what and where.
    """
    content = read_toml(path, "tuning")
    try:
        return _plan(content, save_dir, registry)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None


def _plan(content: Mapping[str, Any], save_dir: Path, registry: Registry) -> TuningPlan:
    check_names(content, _TABLES, "table of a tuning")
    head = content.get("tune", {})
    if not isinstance(head, Mapping):
        raise ConfigurationError("[tune] must be a table")
    check_names(head, _KEYS, "key of [tune]")
    settings, space = settings_of(content.get("settings", {}), "[settings]"), read_space(content.get("space", {}))
    for setting in space:
        if setting in settings:
            raise ConfigurationError(f"'{setting}' is in [settings] and in [space]: leave it in one of them")
    plan = TuningPlan(
        name=name_of(head, "[tune]"),
        trials=_count(head, "trials", 20),
        seeds=tuple(seeds_of(head.get("seeds", 2))),
        processes=processes_of(head),
        objective=Objective(EPISODES, LAST_EPISODES, _one_of(head, "direction", DIRECTIONS) == "maximize"),
        steps=DEFAULT_STEPS,
        interval=1,
        pruner=_one_of(head, "pruner", PRUNERS),
        startup_trials=_count(head, "startup_trials", 5),
        sampler_seed=_count(head, "sampler_seed", 0, least=0),
        settings=settings,
        space=space,
    )
    return _fitted(plan, head, save_dir, registry)


def _fitted(plan: TuningPlan, head: Mapping[str, Any], save_dir: Path, registry: Registry) -> TuningPlan:
    """Return the plan completed from the settings of its trainings."""
    tried = [_tried(plan, point, save_dir, registry) for point in corners(plan.space)]
    _check_read(plan, tried, save_dir, registry)
    train = tried[0].settings.train
    if train.episodes is not None:
        raise ConfigurationError(
            "'episodes' in [settings]: a tuning's trainings are as long as 'steps' says, leave it out"
        )
    space = {
        name: replace(dimension, whole=dimension.whole and not isinstance(_value(tried[0], name), float))
        if isinstance(dimension, Range)
        else dimension
        for name, dimension in plan.space.items()
    }
    evaluates = train.eval_interval is not None or train.eval_interval_episodes is not None
    metric = head.get("objective", EVALUATED[0] if evaluates else EPISODES)
    if not isinstance(metric, str):
        raise ConfigurationError(f"objective = {metric!r}: give the name of a metric")
    check_metric(metric)
    if metric.startswith("evaluation/") and not evaluates:
        raise ConfigurationError(f"objective = {metric!r} needs evaluations: set eval_interval in [settings]")
    last = _count(head, "last", 1 if metric.startswith("evaluation/") else LAST_EPISODES)
    steps = train.steps or DEFAULT_STEPS
    usual = (train.eval_interval if metric.startswith("evaluation/") else None) or -(-steps // _INTERVALS)
    return replace(
        plan,
        objective=Objective(metric, last, plan.objective.maximize),
        steps=steps,
        interval=min(_count(head, "interval", usual), steps),
        space=space,
    )


def _tried(plan: TuningPlan, point: Mapping[str, Value], save_dir: Path, registry: Registry) -> ExperimentRun:
    planned = PlannedRun("[settings] and [space]", {**plan.settings, **point}, plan.seeds[0])
    try:
        # under a name of no trial, so that no run is found there
        return prepare(Plan(plan.name, 1, (), (planned,)), save_dir, registry)[0]
    except PkmnError as error:
        raise ConfigurationError(str(error)) from None


def _check_read(plan: TuningPlan, tried: Sequence[ExperimentRun], save_dir: Path, registry: Registry) -> None:
    """Raise ConfigurationError for settings of plugins that no training of the tuning uses."""

    def unread(read: set[str]) -> list[str]:
        sections = {name: name.rpartition(".")[0].replace("_", "-") for name in plan.space}
        return [name for name, section in sections.items() if section not in read]

    read = {section for one in tried for section in one.training.sections_in_use}
    if unread(read):
        # two settings together may choose a part, which ends and choices alone may not cover
        usual = corners(plan.space)[0]
        choices = {name: one.values for name, one in plan.space.items() if isinstance(one, Choice)}
        for values in itertools.islice(itertools.product(*choices.values()), _COMBINATIONS):
            with contextlib.suppress(ConfigurationError):
                point = {**usual, **dict(zip(choices, values, strict=True))}
                read |= set(_tried(plan, point, save_dir, registry).training.sections_in_use)
            if not unread(read):
                return
        name = unread(read)[0]
        raise ConfigurationError(
            f"'{name}' in [space]: no training of this tuning uses {name.rpartition('.')[0]}, so its values make no "
            "difference; leave it out, or choose what uses it in [settings]"
        )


def _value(one: ExperimentRun, name: str) -> Any:
    section, _, key = name.rpartition(".")
    return one.training.values().get(section.replace("_", "-"), {}).get(key)


def _count(head: Mapping[str, Any], name: str, usual: int, least: int = 1) -> int:
    value = head.get(name, usual)
    if not is_whole_number(value) or value < least:
        raise ConfigurationError(f"{name} = {value!r}: give a whole number from {least}")
    return int(value)


def _one_of(head: Mapping[str, Any], name: str, known: tuple[str, ...]) -> str:
    value = head.get(name, known[0])
    if not isinstance(value, str):
        raise ConfigurationError(f"{name} = {value!r}: give one of {', '.join(known)}")
    check_names([value], known, name)
    return value
