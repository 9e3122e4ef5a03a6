"""The file of an experiment: its trainings, by name.

[experiment]
name = "discount"
seeds = 3
processes = 2
command = "train"

[settings]
steps = 20_000

[[grid]]
rl = ["dqn"]
dqn.gamma = [0.9, 0.99]
"""

from __future__ import annotations

import hashlib
import itertools
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkmncli.api.data_text import parse_toml, read_given_text
from pkmncli.config.run_file import plain, toml_item
from pkmncli.errors import ConfigurationError, did_you_mean

OWN_SETTINGS = ("seed", "save_dir", "run_name", "quiet")
"""Settings that the experiment sets for each training."""

_TABLES = ("experiment", "settings", "grid")
_KEYS = ("name", "seeds", "processes", "command")
TRAIN = "train"
"""Command of a training, the default."""
_LONGEST_NAME = 120
_NAME = re.compile(r"[\w][\w.+-]*")

Combination = Mapping[str, Any]
"""Settings of one training by ``key`` or ``section.key``, without those common to all."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A training of an experiment: the name of its run, and its settings."""

    name: str
    settings: Mapping[str, Any]
    seed: int
    command: str = TRAIN
    """Command that makes the run: ``train``, or that of a plugin."""

    @property
    def set_options(self) -> list[str]:
        """Its settings as values of ``--set``, which overrides environment variables."""
        return [f"{name}={as_text(value)}" for name, value in self.settings.items()]


@dataclass(frozen=True, slots=True)
class Plan:
    """All trainings of an experiment. ``varying`` are the settings in which they differ, apart from the seed."""

    name: str
    processes: int
    varying: tuple[str, ...]
    runs: tuple[PlannedRun, ...]


def read_plan(path: Path) -> Plan:
    """Read the file of an experiment.

    Raises:
        ConfigurationError: it is missing, or something in it is wrong; the message says what and where.
    """
    content = read_toml(path, "experiment")
    try:
        return _plan(content)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """Return the content of a TOML file; ``kind`` names the kind of file in messages.

    Raises:
        ConfigurationError: it cannot be read, or is not TOML.
    """
    try:
        return parse_toml(read_given_text(path))
    except FileNotFoundError:
        raise ConfigurationError(f"there is no {kind} file {path}") from None
    except OSError as error:
        raise ConfigurationError(f"the {kind} file {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path} is not a {kind} file: it is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}") from None


def _plan(content: Mapping[str, Any]) -> Plan:
    check_names(content, _TABLES, "table of an experiment")
    head = content.get("experiment", {})
    if not isinstance(head, Mapping):
        raise ConfigurationError("[experiment] must be a table")
    check_names(head, _KEYS, "key of [experiment]")
    name, processes, command = name_of(head, "[experiment]"), processes_of(head), head.get("command", TRAIN)
    if not isinstance(command, str):
        raise ConfigurationError(f"command = {command!r}: give the name of a command that makes runs, as 'train'")
    common = settings_of(content.get("settings", {}), "[settings]")
    combinations = _combinations(content.get("grid", []))
    for setting in common:
        if any(setting in combination for combination in combinations):
            raise ConfigurationError(f"'{setting}' is in [settings] and in [[grid]]: leave it in one of them")
    varying = _varying(combinations)
    runs = tuple(
        PlannedRun(_run_name(combination, varying, seed), {**common, **combination}, seed, command)
        for combination in combinations
        for seed in seeds_of(head.get("seeds", 1))
    )
    names = [run.name for run in runs]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise ConfigurationError(f"two trainings would have the name {doubled}: write values whose names differ")
    return Plan(name, processes, varying, runs)


def name_of(head: Mapping[str, Any], where: str) -> str:
    """Return the name of an experiment, used for its folder. Raise ConfigurationError if there is none."""
    name = head.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigurationError(f"{where} needs a name of letters, digits, '.', '_', '+' and '-', for its folder")
    return name


def processes_of(head: Mapping[str, Any]) -> int:
    """Return the number of parallel trainings. Raise ConfigurationError if it is not a number from 1."""
    processes = head.get("processes", 1)
    if not is_whole_number(processes) or processes < 1:
        raise ConfigurationError(f"processes = {processes!r}: give the number of trainings side by side, at least 1")
    return int(processes)


def seeds_of(given: Any) -> list[int]:
    """Return seeds from their number, or from a list of them, each once. Raise ConfigurationError for anything else."""
    seeds = list(range(given)) if is_whole_number(given) else given
    if not isinstance(seeds, list) or not seeds or not all(is_whole_number(seed) and seed >= 0 for seed in seeds):
        raise ConfigurationError(f"seeds = {given!r}: give how many, or a list of whole numbers from 0")
    return list(dict.fromkeys(seeds))


def settings_of(table: Any, where: str, is_value: Callable[[Any], bool] = lambda value: False) -> dict[str, Any]:
    """Return settings by name; those of a plugin may be in a table or under a dotted key.

    Args:
        table: content of the file.
        where: its name in messages.
        is_value: True for a table that is a setting's value.

    Raises:
        ConfigurationError: it is not a table, or has a setting that belongs to one training.
    """
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{where} must be a table")
    found: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping) and "." not in name and not is_value(value):
            found |= {f"{name}.{key}": inner for key, inner in value.items()}
        else:
            found[name] = value
    own = next((name for name in OWN_SETTINGS if name in found), None)
    if own is not None:
        raise ConfigurationError(f"'{own}' in {where}: each training gets its own, leave it out")
    return found


def _combinations(grids: Any) -> list[Combination]:
    """Return every combination of each grid's values, each once, in the order of the file."""
    found: list[Combination] = []
    for grid in grids if isinstance(grids, list) else [grids]:
        axes = settings_of(grid, "[[grid]]")
        for name, values in axes.items():
            if not isinstance(values, list) or not values:
                raise ConfigurationError(f"'{name}' in [[grid]] must be a list of values to try, not {values!r}")
        for values in itertools.product(*axes.values()):
            combination = dict(zip(axes, values, strict=True))
            if combination not in found:
                found.append(combination)
    return found or [{}]


def _varying(combinations: Sequence[Combination]) -> tuple[str, ...]:
    names = dict.fromkeys(name for combination in combinations for name in combination)
    return tuple(
        name
        for name in names
        if len({as_text(combination[name]) if name in combination else None for combination in combinations}) > 1
    )


def _run_name(combination: Combination, varying: Sequence[str], seed: int) -> str:
    """Return a name made of the varying settings: ``dqn_gamma-0.9_seed-0``."""
    parts = []
    for name in varying:
        if name in combination:
            short = name.rpartition(".")[2]
            alone = sum(other.rpartition(".")[2] == short for other in varying) == 1
            value = re.sub(r"[^\w.+-]+", "-", as_text(combination[name])).strip("-") or "none"
            parts.append(value if name == "rl" else f"{short if alone else name}-{value}")
    name = "_".join([*parts, f"seed-{seed}"])
    if len(name) > _LONGEST_NAME:
        digest = hashlib.blake2b(name.encode(), digest_size=6).hexdigest()
        name = f"{name[: _LONGEST_NAME - 30]}-{digest}_seed-{seed}"
    return name


def as_text(value: Any) -> str:
    """Return a value as ``--set`` reads it: text unchanged, anything else as TOML."""
    return value if isinstance(value, str) else toml_item(plain(value)).as_string()


def check_names(given: Iterable[str], known: Sequence[str], kind: str) -> None:
    """Raise ConfigurationError for an unknown name, with the most similar known one."""
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known, f"there are {', '.join(known)}")
            raise ConfigurationError(f"'{name}' is no {kind}: {hint}")


def is_whole_number(value: Any) -> bool:
    """Return True if a value of a file is an integer, but not true or false."""
    return isinstance(value, int) and not isinstance(value, bool)
