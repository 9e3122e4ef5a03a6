"""Command `pkmn import`: make a run folder of a bundle, from a file or the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pkmncli.api import expand_home, quoted_path
from pkmncli.config.run_file import read_run_file
from pkmncli.run_upkeep.bundle_reading import import_bundle
from pkmncli.run_upkeep.hub import hub_address
from pkmncli.run_upkeep.hub_sharing import import_from_hub
from pkmncli.runs import default_save_dir
from pkmncli.tables import commands_to_copy


def import_(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Bundle that 'pkmn export --bundle' wrote, or hf:USER/NAME[@REVISION] on the Hugging Face hub.",
        ),
    ],
    *,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the run. [default: its own]")] = None,
    save_dir: Annotated[Path | None, typer.Option(help="Folder of the run folders. [default: runs]")] = None,
) -> None:
    """Make a run folder of a shared run. eval, watch, replay, plot and compare read it like any other.

    It can't be resumed: train on from its weights with 'pkmn train --start-from RUN'.
    """
    runs = save_dir or default_save_dir()
    address = hub_address(source)
    if address is None:
        run = import_bundle(expand_home(Path(source)), runs, name)
        typer.echo(f"Imported {run.folder}.")
    else:
        run, commit = import_from_hub(address, runs, name)
        typer.echo(f"Imported {run.folder} from {address.repository}, revision {commit[:12]}.")
    given = {one.key: one.value for one in read_run_file(run.folder).given}
    if given.get("env_class"):
        typer.echo(f"Its environment is the class {given['env_class']}, which 'pkmn eval' imports from your Python.")
    rows = [
        (f"pkmn eval {quoted_path(run.folder)}", "how good it is"),
        (f"pkmn replay {quoted_path(run.folder)}", "check its best episode"),
        (f"pkmn train --start-from {quoted_path(run.folder)}", "train on from its weights"),
    ]
    typer.echo(f"Next:\n{commands_to_copy(rows)}")
