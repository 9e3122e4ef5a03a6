"""Command `pkmn export`: export a run's tables and its learner's policy, or share the run."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pkmncli.api import quoted_path
from pkmncli.checkpoint_index import BEST, LATEST
from pkmncli.command_forms import other_options
from pkmncli.config import CONFIG_FILE, NONE, ResolvedSettings
from pkmncli.config.command_settings import CommandSettings
from pkmncli.config.run_file import read_run_file
from pkmncli.errors import ConfigurationError
from pkmncli.exporting import (
    DESCRIPTION,
    export_run_policy,
    export_tables,
    loading_line,
    prepare_folder,
    table_file,
)
from pkmncli.plugins import Registry, get_registry
from pkmncli.run_upkeep.bundle_writing import write_bundle
from pkmncli.run_upkeep.facts import size_in_words
from pkmncli.run_upkeep.hub import HubAddress, hub_address
from pkmncli.run_upkeep.hub_sharing import share_on_hub
from pkmncli.runs import Run, open_run
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import build_learner, open_store, tables_folder, worker_spec
from pkmncli.training.beginnings.pretrained import SCORE, WEIGHTS, write_pretrained
from pkmncli.training.checkpoints.files import read_checkpoint
from pkmncli.training.checkpoints.selection import readable_checkpoint
from pkmncli.training.display.progress import EvaluationProgress, waiting
from pkmncli.training.evaluation.final_evaluation import hold_final_evaluation
from pkmncli.training.interrupts import InterruptFlag
from pkmncli.training.run_settings import run_settings
from pkmncli.training.workers.pool import WorkerPool

_RUN, _CONTENT, _FILES = "Run", "Content", "Files"
_TABLES = ("metrics", "episodes", "decisions")
_SEPARATE = {
    "bundle": {"run", "bundle", "private", "checkpoint", "overwrite", "save_dir"},
    "pretrained": {
        *("run", "pretrained", "episodes", "checkpoint", "tables", "rom", "game_folder", "overwrite", "save_dir")
    },
}
"""Options that write something alone, each with the parameters that go with it."""
_STARTS_LEFT_OUT = "Start states of its episodes are left out, since they are of a game that is not the bundled one."


class Format(StrEnum):
    """Formats of tables."""

    CSV = "csv"
    PARQUET = "parquet"
    SQLITE = "sqlite"


def export(
    context: typer.Context,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Run folder or name. [default: latest]")] = None,
    *,
    to: Annotated[
        Path | None,
        typer.Option(help="Folder to write to. [default: the run's name with -export]", rich_help_panel=_FILES),
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="Format of the tables.", rich_help_panel=_FILES)
    ] = Format.CSV,
    tables: Annotated[
        bool,
        typer.Option("--tables/--no-tables", help="Metrics, episodes, decisions, advice.", rich_help_panel=_CONTENT),
    ] = True,
    policy: Annotated[
        bool,
        typer.Option(
            "--policy",
            help="Also export the policy: a program that torch runs, and its description.",
            rich_help_panel=_CONTENT,
        ),
    ] = False,
    pretrained: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Evaluate the policy and write it alone into FOLDER, in the form that comes with a game.",
            rich_help_panel=_CONTENT,
        ),
    ] = None,
    episodes: Annotated[
        int, typer.Option(min=1, help="With --pretrained: episodes of the evaluation.", rich_help_panel=_CONTENT)
    ] = 20,
    bundle: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the run alone into a zip file to share: best checkpoint, settings, score, tables, film. "
            "hf:USER/NAME shares it on the Hugging Face hub, with a page about it.",
            rich_help_panel=_CONTENT,
        ),
    ] = None,
    private: Annotated[
        bool,
        typer.Option(
            "--private", help="With --bundle hf:USER/NAME: only you can read it there.", rich_help_panel=_CONTENT
        ),
    ] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            help="latest, best, a milestone, episode-N, or a number of steps. "
            "[default: latest; with --bundle the best, if there is one]",
            show_default=False,
            rich_help_panel=_CONTENT,
        ),
    ] = None,
    rom: Annotated[Path | None, typer.Option(help="Present path of the run's image.", rich_help_panel=_RUN)] = None,
    game_folder: Annotated[
        Path | None, typer.Option(help="Present folder of the run's game profile.", rich_help_panel=_RUN)
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace files of an earlier export.", rich_help_panel=_FILES)
    ] = False,
    save_dir: Annotated[
        Path | None, typer.Option(help="Folder of the run folders. [default: runs]", rich_help_panel=_RUN)
    ] = None,
) -> None:
    """Export a run's tables as CSV, Parquet or SQLite, and its learner's policy, for other programs.

    Also works while the run trains.
    """
    for alone, taken in _SEPARATE.items():
        if context.params[alone] is not None and (others := other_options(context, taken)):
            raise ConfigurationError(f"--{alone} is a separate export: leave out {', '.join(others)}")
    address = None if bundle is None else hub_address(bundle)
    if private and address is None:
        raise ConfigurationError("--private goes with --bundle hf:USER/NAME")
    if address is not None:
        _share(open_run(run, save_dir), checkpoint, address, private=private, overwrite=overwrite)
        return
    if bundle is not None:
        _export_bundle(open_run(run, save_dir), checkpoint, Path(bundle), overwrite=overwrite)
        return
    checkpoint = checkpoint or LATEST
    if pretrained is not None:
        found, registry = open_run(run, save_dir), get_registry()
        settings = run_settings(found, registry, rom=rom, game_folder=game_folder)
        _export_pretrained(found, settings, checkpoint, registry, pretrained, episodes)
        return
    if not tables and not policy:
        raise ConfigurationError("nothing to export: leave out --no-tables, or add --policy")
    registry = get_registry()
    found = open_run(run, save_dir)
    command = read_run_file(found.folder).command
    if command is not None:
        if policy:
            raise ConfigurationError(f"{found.name} was made by 'pkmn {command}': only its tables can be exported")
        tables_at = tables_folder(CommandSettings.from_run(found.folder, registry), found)
        folder = to or Path(f"{found.name}-export")
        prepare_folder(folder, _files_of(_TABLES, folder, form), overwrite=overwrite)
        _export_tables(registry, tables_at, _TABLES, folder, form)
        return
    settings = ResolvedSettings.from_run(found.folder, registry)
    if policy:  # only the environment knows the policy's observations
        settings = run_settings(found, registry, rom=rom, game_folder=game_folder)
    if policy and settings.train.rl == NONE:
        raise ConfigurationError(f"{found.name} was trained without a learner: it has no policy to export")
    source = readable_checkpoint(found, checkpoint) if policy else None
    folder = to or Path(f"{found.name}-export")
    names = [*_TABLES, *(["advice"] if settings.train.llm != NONE else [])]
    files = _files_of(names, folder, form) if tables else []
    prepare_folder(folder, [*files, *([DESCRIPTION] if policy else [])], overwrite=overwrite)
    if source is not None:  # first, since not every learner can, and half an export is none
        file = export_run_policy(found, source, settings, registry, folder)
        typer.echo(f"Wrote {file} of {source.name}, and {DESCRIPTION}, which says what it reads and gives.")
    if tables:
        _export_tables(registry, tables_folder(settings, found), names, folder, form)


def _export_bundle(run: Run, which: str | None, file: Path, *, overwrite: bool) -> None:
    if file.exists() and not overwrite:
        raise ConfigurationError(f"{file} exists already: name another file, or replace it with --overwrite")
    settings = ResolvedSettings.from_run(run.folder, get_registry())
    written = write_bundle(run, settings, _checkpoint_to_share(run, which), file)
    typer.echo(f"Wrote {file} ({size_in_words(written.bytes)}): {', '.join(written.content)}.")
    if written.starts_left_out:
        typer.echo(_STARTS_LEFT_OUT)
    typer.echo(f"Read it with:\n  pkmn import {quoted_path(file)}")


def _share(run: Run, which: str | None, address: HubAddress, *, private: bool, overwrite: bool) -> None:
    settings = ResolvedSettings.from_run(run.folder, get_registry())
    checkpoint = _checkpoint_to_share(run, which)
    with waiting(f"sharing {run.name} as {address.repository}"):
        page, written = share_on_hub(run, settings, checkpoint, address, private=private, overwrite=overwrite)
    typer.echo(f"Shared {page} ({size_in_words(written.bytes)}): {', '.join(written.content)}.")
    if written.starts_left_out:
        typer.echo(_STARTS_LEFT_OUT)
    typer.echo(f"Read it with:\n  pkmn import {address.run_source}")


def _checkpoint_to_share(run: Run, which: str | None) -> Path:
    return readable_checkpoint(run, which or (BEST if run.checkpoints.index().best is not None else LATEST))


def _files_of(tables: Sequence[str], folder: Path, form: Format) -> list[str]:
    return list(dict.fromkeys(table_file(name, folder, form).name for name in tables))


def _export_tables(registry: Registry, tables_at: Path, names: Sequence[str], folder: Path, form: Format) -> None:
    store = open_store(registry, tables_at)
    try:
        rows = export_tables(store, names, folder, form.value)
    finally:
        store.close()
    for name, count in rows.items():
        which = f", table {name}" if form is Format.SQLITE else ""
        typer.echo(f"Wrote {table_file(name, folder, form)}{which}: {count:,} rows.")
    typer.echo(f"Load them with:\n  {loading_line(names, folder, form.value)}")


def _export_pretrained(
    run: Run, settings: ResolvedSettings, which: str, registry: Registry, folder: Path, episodes: int
) -> None:
    """Evaluate a checkpoint's learner beside pilot and random play; write it in the form that comes with a game."""
    if settings.train.rl == NONE:
        raise ConfigurationError(f"{run.name} was trained without a learner: it has no policy to export")
    if settings.train.init_state is not None or settings.train.cartridge is not None:
        raise ConfigurationError(f"{run.name} begins its episodes in a file of yours, which comes with no game")
    checkpoint = readable_checkpoint(run, which)
    content = read_checkpoint(checkpoint)
    measured = settings.changed({"final_episodes": episodes}, may_change=("final_episodes",))
    with WorkerPool(worker_spec(settings, registry, Purpose.EVALUATION, num_envs=1)) as pool:
        learner = build_learner(settings, registry, pool, total_steps=1, num_envs=settings.train.envs)
        identity, game = pool.identity, pool.names["game"]
    learner.load_state_dict(content.learner)
    with InterruptFlag() as interrupted, EvaluationProgress(episodes) as progress:
        found = hold_final_evaluation(
            run,
            measured,
            registry,
            learner,
            on_step=progress.on_step,
            interrupted=lambda: bool(interrupted),
        )
    if found is None or interrupted:
        raise typer.Exit(interrupted.exit_code)
    of_this_machine = ("layout", "created", "platform")
    versions = {name: value for name, value in run.read_versions().items() if name not in of_this_machine}
    for one in found.found.values():
        if isinstance(one, dict):
            one["milestones"] = {name: reached for name, reached in one["milestones"].items() if reached["episodes"]}
    score = {
        "game": game,
        "identity": identity,
        "steps": content.step,
        "seed": settings.train.seed,
        **found.found,
        "versions": versions,
    }
    write_pretrained(folder, learner, settings, score)
    typer.echo(f"{found.found['verdict']}\nWrote {folder / WEIGHTS}, {CONFIG_FILE} and {SCORE}.")
