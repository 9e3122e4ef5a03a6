"""Grouping of runs: by all settings but those of chance, or by settings that the user names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from pkmncli.comparison.compared_runs import ComparedRun
from pkmncli.config.run_file import plain, toml_item
from pkmncli.errors import ConfigurationError, did_you_mean

NOT_THE_METHOD = frozenset(
    {
        *("preset", "seed", "run_name", "save_dir", "decision_db_path", "device", "torch_threads"),
        *("headless", "quiet", "web", "web_port", "web_host_name", "web_root_path", "track", "log_level"),
        *("disk_limit_gb", "keep_checkpoints"),
        *("save_interval", "save_interval_episodes", "save_interval_minutes"),
        *("eval_interval", "eval_interval_episodes", "eval_episodes"),
        *("final_episodes", "film"),
        *("llm_cache_path", "llm_budget_usd", "llm_budget_tokens", "llm_prices"),
    }
)
"""Settings that do not define the method: chance, place and display; a preset is covered by the settings in it.

Runs that differ only in these are alike.
"""

NOT_SET = "not set"


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that are alike. ``settings`` are those that distinguish the group from others, and make its label."""

    label: str
    settings: Mapping[str, Any]
    runs: tuple[ComparedRun, ...]


def differing_settings(runs: Sequence[ComparedRun]) -> list[str]:
    """Return the settings in which the runs differ, in the order of their files, except :data:`NOT_THE_METHOD`.

    A section that only some runs have belongs to a plugin that only they use; the choice of the plugin covers that
    already, so the section counts only if runs that have it differ in it. The same holds for the core's settings of a
    training, beside runs of plugins' commands.
    """
    names = dict.fromkeys(name for run in runs for name in run.settings)
    return [
        name
        for name in names
        if name not in NOT_THE_METHOD and len({_shown(run, name) for run in runs if _has_section(run, name)}) > 1
    ]


def group_runs(runs: Sequence[ComparedRun], by: Sequence[str] = (), tasks: Sequence[str] = ()) -> list[Group]:
    """Return groups of runs, in the order of their first runs.

    Args:
        runs: all of them.
        by: the settings that distinguish groups; by default those that differ between the runs.
        tasks: settings whose values are tasks; every group has runs of each, so they distinguish no groups.

    Raises:
        ConfigurationError: no run has such a setting.
    """
    for name in (*by, *tasks):
        _check_setting(name, runs)
    keys = list(by) or [name for name in differing_settings(runs) if name not in tasks]
    found: dict[tuple[str | None, ...], list[ComparedRun]] = {}
    for run in runs:
        key = tuple(_shown(run, name) if _has_section(run, name) else None for name in keys)
        found.setdefault(key, []).append(run)
    groups = []
    for key, members in found.items():
        shown = {name: value for name, value in zip(keys, key, strict=True) if value is not None}
        settings = {name: _value(members[0], name) for name in shown}
        label = ", ".join(value if name == "rl" else f"{name}={value}" for name, value in shown.items())
        groups.append(Group(label or str(members[0].settings.get("rl", "all")), settings, tuple(members)))
    return groups


def task_of(run: ComparedRun, tasks: Sequence[str]) -> tuple[str, ...]:
    """Return the values of a run's task."""
    return tuple(_shown(run, name) for name in tasks)


def _check_setting(name: str, runs: Sequence[ComparedRun]) -> None:
    known = sorted({known for run in runs for known in run.settings})
    # A setting without a value in any run is in no file; grouping by it would have no effect.
    if name not in known:
        hint = did_you_mean(name, known, "see config.toml in a run's folder")
        raise ConfigurationError(f"no run has the setting '{name}': {hint}")


def _has_section(run: ComparedRun, name: str) -> bool:
    section, dot, _ = name.partition(".")
    if not dot:
        return name in run.settings or run.of_training
    return any(own.startswith(f"{section}.") for own in run.settings)


def _value(run: ComparedRun, name: str) -> Any:
    value = run.settings.get(name)
    if name in ("init_state", "cartridge") and value is not None:
        return PurePath(value).stem  # each run has its own copy, named by its hash
    return value


def _shown(run: ComparedRun, name: str) -> str:
    """Return a value as shown in a label: the shortest text that distinguishes it from others."""
    value = _value(run, name)
    if value is None:
        return NOT_SET
    return str(value) if isinstance(value, str | float) else toml_item(plain(value)).as_string()
