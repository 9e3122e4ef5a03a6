"""Command `pkmn runs`: list runs, tag and rename them, and delete what is no longer needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmncli.command_forms import AsJson, command_group
from pkmncli.core_commands import CORE_COMMANDS
from pkmncli.errors import ConfigurationError
from pkmncli.plurals import counted
from pkmncli.run_upkeep.facts import Best, Facts, State, facts_of, iso_time, size_in_words, time_in_words
from pkmncli.run_upkeep.labelling import add_tags, remove_tags
from pkmncli.run_upkeep.labelling import rename as rename_run
from pkmncli.run_upkeep.pruning import Deletion, plan_checkpoints, plan_runs, seconds_of
from pkmncli.runs import Run, default_save_dir, list_runs, open_run
from pkmncli.tables import Format, csv_text, markdown, table
from pkmncli.training.checkpoints.retention import folder_bytes

_TEXT = frozenset({"run", "trained", "state", "last used", "tags", "deleted", "part"})
"""Headings of columns with text."""

_DROPPED = ("tags", "last used", "size", "trained")
"""Columns of the list that a narrow terminal leaves out, in this order."""

runs = command_group("runs", CORE_COMMANDS["runs"], needs_command=False)
Name = Annotated[str, typer.Argument(metavar="RUN", help="Run folder or name.")]
Names = Annotated[list[str] | None, typer.Argument(metavar="RUN", help="Run folders or names. [default: all runs]")]
Tags = Annotated[list[str], typer.Argument(metavar="TAG", help="Tags, such as good or keep.")]
SaveDir = Annotated[Path | None, typer.Option(help="Folder of the run folders. [default: runs]")]


@runs.callback(invoke_without_command=True)
def list_them(
    context: typer.Context,
    *,
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="Only runs with this tag. Repeatable.")] = None,
    as_json: AsJson = False,
    form: Annotated[Format, typer.Option("--format", help="Format of the list.")] = Format.TABLE,
    save_dir: SaveDir = None,
) -> None:
    """List the runs in a folder, newest first, with their state, steps, best evaluation, size and tags."""
    if (subcommand := context.invoked_subcommand) is not None:
        for option, given in {"--tag": tag, "--json": as_json, "--format": form is not Format.TABLE}.items():
            if given:  # else 'pkmn runs --tag old prune --keep 0' would delete all runs
                raise ConfigurationError(f"{option} before '{subcommand}': it is for the list of runs, leave it out")
        return
    found = [one for one in _facts(_all_runs(save_dir)) if not tag or set(tag) <= set(one.tags)]
    form = Format.JSON if as_json else form
    if form is Format.JSON:
        typer.echo(json.dumps([one.as_dict() for one in found], indent=2, ensure_ascii=False))
    elif form is Format.CSV:
        typer.echo(_as_csv(found))
    elif not found and form is Format.TABLE:
        typer.echo(f"No run in {(save_dir or default_save_dir()).absolute()}{' with this tag' if tag else ''}.")
    else:
        headings = ["run", "trained", "state", "steps", "best evaluation", "size", "last used", "tags"]
        rows = [_row(one) for one in found]
        typer.echo(
            markdown(headings, rows) if form is Format.MARKDOWN else table(headings, rows, text=_TEXT, drop=_DROPPED)
        )


@runs.command("tag")
def tag(context: typer.Context, run: Name, tags: Tags, save_dir: SaveDir = None) -> None:
    """Give a run tags. The tag keep protects it from 'pkmn runs prune'."""
    found = open_run(run, _folder(context, save_dir))
    typer.echo(f"{found.name}: {', '.join(add_tags(found, tags).tags)}")


@runs.command("untag")
def untag(context: typer.Context, run: Name, tags: Tags, save_dir: SaveDir = None) -> None:
    """Take tags from a run."""
    found = open_run(run, _folder(context, save_dir))
    typer.echo(f"{found.name}: {', '.join(remove_tags(found, tags).tags) or 'no tags'}")


@runs.command("rename")
def rename(
    context: typer.Context,
    run: Name,
    name: Annotated[str, typer.Argument(metavar="NEW", help="New name of the folder.")],
    save_dir: SaveDir = None,
) -> None:
    """Rename a run that no process writes. Commands and settings that use its old name still find it."""
    found = open_run(run, _folder(context, save_dir))
    typer.echo(f"{found.name} is now {rename_run(found, name).name}.")


@runs.command("size")
def size(context: typer.Context, names: Names = None, as_json: AsJson = False, save_dir: SaveDir = None) -> None:
    """Show how much of the disk runs use; of one run, what uses it."""
    chosen = _chosen(names, _folder(context, save_dir))
    if len(chosen) == 1:
        parts = {path.name: _bytes_of(path) for path in chosen[0].folder.iterdir()}
    else:
        parts = {one.name: folder_bytes(one.folder) for one in chosen}
    total = folder_bytes(chosen[0].folder) if len(chosen) == 1 else sum(parts.values())
    ordered = dict(sorted(parts.items(), key=lambda item: (-item[1], item[0])))
    if as_json:
        typer.echo(json.dumps({"parts": ordered, "total": total}, indent=2, ensure_ascii=False))
        return
    rows = [[name, size_in_words(amount)] for name, amount in [*ordered.items(), ("all", total)]]
    typer.echo(table(["part" if len(chosen) == 1 else "run", "size"], rows, text=_TEXT))


@runs.command("prune")
def prune(
    context: typer.Context,
    names: Names = None,
    *,
    older_than: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="Delete whole runs last used longer ago than this, such as 12h, 30d or 8w."),
    ] = None,
    keep: Annotated[int | None, typer.Option(min=0, help="Delete whole runs, but not this many newest ones.")] = None,
    keep_milestones: Annotated[
        bool, typer.Option("--keep-milestones", help="Keep the first checkpoint after each milestone too.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without a question.")] = False,
    save_dir: SaveDir = None,
) -> None:
    """Delete checkpoints but the newest and the best, and starts that failed; or whole runs.

    With --older-than or --keep whole runs are deleted; with both, those that meet both. What would be deleted is shown
    first. A run that a process writes, or that has the tag keep, stays as it is.
    """
    whole_runs = older_than is not None or keep is not None
    if whole_runs and keep_milestones:
        raise ConfigurationError("--keep-milestones: whole runs are deleted with --older-than and --keep, leave it out")
    age = None if older_than is None else seconds_of(older_than)
    found = _facts(_chosen(names, _folder(context, save_dir)))
    if whole_runs:
        plan = plan_runs(found, older_than_s=age, keep=keep)
    else:
        plan = plan_checkpoints(found, milestones=keep_milestones)
    for one in found:
        if one.state is State.RUNNING:
            typer.echo(f"{one.run.name} is running, and stays as it is.", err=True)
    if not plan:
        typer.echo("There is nothing to delete.")
        return
    total = size_in_words(sum(one.bytes for one in plan))
    last_used = {one.run.folder: time_in_words(one.last_used) for one in found}
    rows = [[one.run.name, _deleted(one), size_in_words(one.bytes), last_used[one.run.folder]] for one in plan]
    typer.echo(table(["run", "deleted", "size", "last used"], rows, text=_TEXT))
    if not yes and not _agreed(f"Delete {total}?"):
        typer.echo("Nothing was deleted.")
        return
    for deletion in plan:
        deletion.carry_out()
    typer.echo(f"Deleted {total}.")


def _folder(context: typer.Context, save_dir: Path | None) -> Path | None:
    """Return the folder of the runs, which may also be named before the subcommand."""
    before: Any = None if context.parent is None else context.parent.params.get("save_dir")
    return save_dir or before


def _all_runs(save_dir: Path | None) -> list[Run]:
    """Return the runs in a folder, newest first."""
    return list_runs(save_dir or default_save_dir())[::-1]


def _chosen(names: Sequence[str] | None, save_dir: Path | None) -> list[Run]:
    """Return the named runs, or all, newest first and each once."""
    if not names:
        return _all_runs(save_dir)
    found = {run.folder: run for run in (open_run(name, save_dir) for name in names)}
    return sorted(found.values(), key=lambda run: float(run.read_versions()["created"]), reverse=True)


def _facts(chosen: Sequence[Run]) -> list[Facts]:
    return [facts_of(run) for run in chosen]


def _bytes_of(path: Path) -> int:
    return folder_bytes(path) if path.is_dir() and not path.is_symlink() else path.lstat().st_size


def _row(one: Facts) -> list[str]:
    best = "" if one.best is None else _in_words(one.best)
    size, used = size_in_words(one.bytes), time_in_words(one.last_used)
    return [one.run.name, one.trained, one.state.value, f"{one.steps:,}", best, size, used, ", ".join(one.tags)]


def _in_words(best: Best) -> str:
    reward = f"{best.reward:,.1f}"
    return reward if best.reached is None else f"{reward}, goal in {best.reached} of {best.episodes}"


def _as_csv(found: Sequence[Facts]) -> str:
    headings = ["run", "who", "what", "state", "steps", "best_reward", "best_reached", "best_episodes", "bytes"]
    rows = []
    for one in found:
        best = [None] * 3 if one.best is None else [one.best.reward, one.best.reached, one.best.episodes]
        times = iso_time(one.created), iso_time(one.last_used)
        rows.append(
            [one.run.name, one.who, one.what, one.state.value, one.steps, *best, one.bytes, *times, " ".join(one.tags)]
        )
    return csv_text([*headings, "created", "last_used", "tags"], rows)


def _agreed(question: str) -> bool:
    try:
        return typer.confirm(question)
    except typer.Abort:
        raise ConfigurationError("nothing was deleted: answer y, or give --yes if nobody is there to answer") from None


def _deleted(one: Deletion) -> str:
    if one.of_run:
        return "the whole run"
    return counted(len(one.checkpoints), "checkpoint")
