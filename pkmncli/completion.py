"""Completion of values on the command line: runs, checkpoints, milestones, tags, and names that plugins registered.

A parameter is recognised by its name or its placeholder, so that commands of plugins are completed too. Nothing heavy
is imported, and an error completes nothing: the command itself reports it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pkmncli.checkpoint_index import BEST, LATEST
from pkmncli.errors import PkmnError, RunError
from pkmncli.plugins import get_registry
from pkmncli.run_labels import read_labels
from pkmncli.runs import Run, default_save_dir, list_runs, open_run

Offers = dict[str, str]
"""Values to offer, each with a line that says what it is, or empty."""

_KINDS = {
    "rl": "algorithms",
    "llm": "llm_backends",
    "env": "environments",
    "pilot": "pilots",
    "strategy": "strategies",
    "track": "trackers",
    "game": "games",
    "pretrained": "games",
}
"""Kind of what each option names."""

_MAY_BE_NONE = ("rl", "llm", "pilot", "track")


def with_completion(command: Any) -> None:
    """Let the parameters of a command, or of a group of commands, complete their values."""
    for parameter in command.params:
        offer = _offer_of(command.name, parameter)
        if offer is not None:
            parameter.shell_complete = _completing(offer)
    for inner in getattr(command, "commands", {}).values():
        with_completion(inner)


def _offer_of(command: str, parameter: Any) -> Callable[[Any], Offers] | None:
    """Return the function that finds a parameter's values; None if its values are not known."""
    name = str(parameter.name)
    if parameter.metavar == "RUN":
        return _runs
    if command in ("show", "check") and name == "name":
        return _plugin_names
    if name in _KINDS and parameter.param_type_name == "option":
        return lambda context: _names(_KINDS[name], none=name in _MAY_BE_NONE)
    own = {"goal": _goals, "checkpoint": _checkpoints, "tag": _tags, "tags": _tags, "preset": _presets}
    return own.get(name)


def _completing(offer: Callable[[Any], Offers]) -> Callable[[Any, str], list[Any]]:
    def complete(context: Any, incomplete: str) -> list[Any]:
        from typer.core import CompletionItem  # type: ignore[attr-defined] # noqa: PLC0415 - only to complete

        with contextlib.suppress(PkmnError, OSError, ValueError, TypeError, AttributeError):
            found = offer(context)
            return [CompletionItem(value, help=text) for value, text in found.items() if value.startswith(incomplete)]
        return []

    return complete


def _save_dir(context: Any) -> Path:
    """Return the folder of the runs that the line names so far, before or after a subcommand."""
    while context is not None:
        if context.params.get("save_dir"):
            return Path(context.params["save_dir"])
        context = context.parent
    return default_save_dir()


def _runs(context: Any) -> Offers:
    return _without_text(run.name for run in reversed(list_runs(_save_dir(context))))


def _run(context: Any) -> Run:
    """Return the run that the line names, else the latest."""
    return open_run(_named_run(context), _save_dir(context))


def _named_run(context: Any) -> str | None:
    # where an option's value is still missing, arguments are read but not yet assigned
    named = context.params.get("run") or next(iter(context.args), None)
    return named if isinstance(named, str) else None


def _run_of_goals(context: Any) -> Run:
    """Return the run that the line names; else the latest, of the environment and the game that the line names."""
    wanted = {key: context.params[key].partition(":")[0] for key in ("env", "game") if context.params.get(key)}
    if not wanted or _named_run(context):
        return _run(context)
    from pkmncli.config.run_file import read_run_file  # noqa: PLC0415 - the settings take time to import

    for run in reversed(list_runs(_save_dir(context))):
        with contextlib.suppress(PkmnError):
            settings = {one.key: one.value for one in read_run_file(run.folder).given if not one.section}
            if wanted.items() <= settings.items():
                return run
    raise RunError("no run of that game")


def _names(kind: str, *, none: bool = False) -> Offers:
    found = {entry.name: entry.help for entry in get_registry().registrations(kind)}
    if kind == "llm_backends":
        from pkmncli.config.aliases import read_aliases  # noqa: PLC0415 - the settings take time to import

        found |= read_aliases()
    return found | ({"none": ""} if none else {})


def _plugin_names(_context: Any) -> Offers:
    registry = get_registry()
    entries = {entry.name: entry.help for entry in registry.registrations()}
    return entries | _without_text(plugin.name for plugin in registry.plugins if plugin.name not in entries)


def _presets(context: Any) -> Offers:
    learner = context.params.get("rl") or "dqn"
    return _without_text(get_registry().get("algorithms", learner).preset_files())


def _goals(context: Any) -> Offers:
    """Return milestones that a run has written down, the only ones that are known without the environment."""
    found = {"first": "the game's milestone for a first training", "last": "the end of the game"}
    with contextlib.suppress(PkmnError):
        names = _run_of_goals(context).read_names()
        titles = names.get("milestone_titles", {})
        found |= {name: titles.get(name, "") for name in names["milestones"]}
    return found


def _checkpoints(context: Any) -> Offers:
    checkpoints = _run(context).checkpoints
    return _without_text([LATEST, BEST, *checkpoints.index().milestones, *checkpoints.names()])


def _tags(context: Any) -> Offers:
    found: list[str] = ["keep"]
    for run in list_runs(_save_dir(context)):
        with contextlib.suppress(PkmnError):
            found += read_labels(run.folder).tags
    return _without_text(found)


def _without_text(values: Iterable[str]) -> Offers:
    return dict.fromkeys(values, "")
