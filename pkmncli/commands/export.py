"""Command `pkmn export`: export a run's tables and its learner's policy."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from pkmncli.config import CONFIG_FILE, NONE, ResolvedSettings
from pkmncli.errors import ConfigurationError
from pkmncli.exporting import (
    DESCRIPTION,
    EXAMPLE,
    POLICY,
    export_policy,
    export_tables,
    loading_line,
    prepare_folder,
)
from pkmncli.plugins import Registry, get_registry
from pkmncli.runs import Run, open_run
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import build_learner, open_store, tables_folder, worker_spec
from pkmncli.training.beginnings.pretrained import SCORE, WEIGHTS, write_pretrained
from pkmncli.training.checkpoints.files import read_checkpoint
from pkmncli.training.checkpoints.selection import readable_checkpoint
from pkmncli.training.evaluation.final_evaluation import hold_final_evaluation
from pkmncli.training.interrupts import InterruptFlag
from pkmncli.training.run_settings import run_settings
from pkmncli.training.workers.pool import WorkerPool

_RUN, _CONTENT, _FILES = "Run", "Content", "Files"


class Format(StrEnum):
    """Formats of tables."""

    CSV = "csv"
    PARQUET = "parquet"


def export(
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
            help="Also export the policy: weights, a description, and Python that runs them.",
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
    checkpoint: Annotated[
        str,
        typer.Option(
            help="Checkpoint of the policy: latest, best, a milestone, or a number of steps.", rich_help_panel=_CONTENT
        ),
    ] = "latest",
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
    """Export a run's tables as CSV or Parquet, and its learner's policy, for other programs.

    Also works while the run trains.
    """
    if pretrained is not None:
        if policy or to is not None:
            raise ConfigurationError("--pretrained is a separate export: leave out --policy and --to")
        found, registry = open_run(run, save_dir), get_registry()
        settings = run_settings(found, registry, rom=rom, game_folder=game_folder)
        _export_pretrained(found, settings, checkpoint, registry, pretrained, episodes)
        return
    if not tables and not policy:
        raise ConfigurationError("nothing to export: leave out --no-tables, or add --policy")
    registry = get_registry()
    found = open_run(run, save_dir)
    settings = ResolvedSettings.from_run(found.folder, registry)
    if policy:  # only the environment knows the policy's observations
        settings = run_settings(found, registry, rom=rom, game_folder=game_folder)
    if policy and settings.train.rl == NONE:
        raise ConfigurationError(f"{found.name} was trained without a learner: it has no policy to export")
    source = readable_checkpoint(found, checkpoint) if policy else None
    folder = to or Path(f"{found.name}-export")
    names = [*("metrics", "episodes", "decisions"), *(["advice"] if settings.train.llm != NONE else [])]
    files = [f"{name}.{form}" for name in names] if tables else []
    prepare_folder(folder, [*files, *((POLICY, DESCRIPTION, EXAMPLE) if policy else ())], overwrite=overwrite)
    if source is not None:  # first, since not every learner can, and half an export is none
        _export_policy(found, source, settings, registry, folder)
        typer.echo(f"Wrote {folder / POLICY} of {source.name}, {DESCRIPTION} and {EXAMPLE}, which shows how to act.")
    if tables:
        store = open_store(registry, tables_folder(settings, found))
        try:
            rows = export_tables(store, names, folder, form.value)
        finally:
            store.close()
        for name, count in rows.items():
            typer.echo(f"Wrote {folder / f'{name}.{form}'}: {count:,} rows.")
        typer.echo(f"Load them with:\n  {loading_line(names, folder, form.value)}")


def _export_policy(run: Run, checkpoint: Path, settings: ResolvedSettings, registry: Registry, folder: Path) -> None:
    content = read_checkpoint(checkpoint)
    spec = worker_spec(settings, registry, Purpose.EVALUATION, num_envs=1)
    with WorkerPool(spec) as pool:  # only the environment knows its observations
        learner = build_learner(settings, registry, pool, total_steps=1, num_envs=settings.train.envs)
        game, actions = pool.names["game"], list(pool.action_names.names)
    learner.load_state_dict(content.learner)
    about = {
        "actions": actions,
        "algorithm": settings.train.rl,
        "game": game,
        "run": run.name,
        "checkpoint": checkpoint.name,
        "versions": run.read_versions(),
        "settings": settings.values(),
    }
    export_policy(learner, folder, about)


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
    progress = Progress(console=Console(stderr=True), transient=True)
    with InterruptFlag() as interrupted, progress:
        task = progress.add_task("evaluating", total=None)
        found = hold_final_evaluation(
            run,
            measured,
            registry,
            learner,
            on_activity=lambda doing: progress.update(task, description=doing),
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
