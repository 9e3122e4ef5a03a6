"""Takes what a run holds out of it: tables as one file each, and the learner's policy."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pkmncli.api import ExportedPolicy, Store
from pkmncli.atomic_files import write_atomic, write_errors_explained, write_json
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import Registry
from pkmncli.runs import Run
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import build_learner, worker_spec
from pkmncli.training.checkpoints.files import read_checkpoint
from pkmncli.training.workers.pool import WorkerPool

DESCRIPTION = "policy.json"

SQLITE = "sqlite"
READERS = {"csv": "read_csv", "parquet": "read_parquet"}
"""The function of duckdb that reads each format."""


def prepare_folder(folder: Path, names: Sequence[str], *, overwrite: bool) -> None:
    """Create the folder, and check that none of these files exists in it.

    Raises:
        ConfigurationError: one is, and must not be replaced.
        RunError: the folder cannot be made.
    """
    there = [name for name in names if (folder / name).exists()]
    if there and not overwrite:
        raise ConfigurationError(
            f"{folder} has {', '.join(there)} already: name another folder with --to, or replace them with --overwrite"
        )
    with write_errors_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)


def table_file(table: str, folder: Path, form: str) -> Path:
    """Return the file of an exported table; SQLite has one for all."""
    return folder / f"{'tables' if form == SQLITE else table}.{form}"


def export_tables(store: Store, tables: Sequence[str], folder: Path, form: str) -> dict[str, int]:
    """Write each table to a file of its name, or all to one SQLite file. Return the number of rows of each.

    Raises:
        ConfigurationError: the store cannot export.
        RunError: a table cannot be read, or its file not written.
    """
    export = getattr(store, "export", None)
    if export is None:
        raise ConfigurationError(f"the store {type(store).__name__} of this run cannot export: it has no export()")
    if form == SQLITE:
        table_file("", folder, form).unlink(missing_ok=True)  # tables of an earlier export
    return {table: export(table, table_file(table, folder, form), form) for table in tables}


def loading_line(tables: Sequence[str], folder: Path, form: str) -> str:
    """Return a line of Python that loads exported tables."""
    if form == SQLITE:
        return f"import sqlite3; database = sqlite3.connect({str(table_file('', folder, form).absolute())!r})"
    path = glob.escape(str(folder.absolute()))
    return (
        f'import duckdb; tables = {{name: duckdb.{READERS[form]}({path!r} + f"/{{name}}.{form}", '
        f"hive_partitioning=False) for name in {list(tables)!r}}}"
    )


def export_policy(learner: Any, folder: Path, about: Mapping[str, Any]) -> Path:
    """Write a learner's policy and a description of it. Return the policy's file.

    Args:
        learner: of any algorithm.
        folder: where the files go.
        about: further content of the description: run, game, names of actions, settings.

    Raises:
        ConfigurationError: the algorithm cannot export its policy.
        RunError: a file cannot be written.
    """
    export = getattr(learner, "export_policy", None)
    if export is None:
        raise ConfigurationError(
            f"the learner {type(learner).__name__} cannot export its policy: it has no export_policy()"
        )
    policy: ExportedPolicy = export()
    file = folder / f"policy.{policy.form}"
    write_atomic(file, policy.content)
    write_json(folder / DESCRIPTION, {**policy.description, **about})
    return file


def export_run_policy(run: Run, checkpoint: Path, settings: ResolvedSettings, registry: Registry, folder: Path) -> Path:
    """Write the policy in a checkpoint of a run of ``pkmn train``, and a description of it. Return the policy's file.

    Raises:
        ConfigurationError: the run has no learner, or one that cannot export its policy.
        RunError: a file cannot be written.
    """
    if settings.train.rl == NONE:
        raise ConfigurationError(f"{run.name} was trained without a learner: it has no policy to export")
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
    return export_policy(learner, folder, about)
