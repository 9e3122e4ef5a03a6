"""Takes what a run holds out of it: tables as one file each, and the learner's policy with what it takes to run it."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save

from pkmncli.api import ExportedPolicy, Store
from pkmncli.atomic_files import write_atomic, write_errors_explained, write_json
from pkmncli.errors import ConfigurationError, RunError

POLICY = "policy.safetensors"
DESCRIPTION = "policy.json"
EXAMPLE = "policy.py"

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


def export_tables(store: Store, tables: Sequence[str], folder: Path, form: str) -> dict[str, int]:
    """Write each table to a file of its name. Return the number of rows of each.

    Raises:
        ConfigurationError: the store cannot export.
        RunError: a table cannot be read, or its file not written.
    """
    export = getattr(store, "export", None)
    if export is None:
        raise ConfigurationError(f"the store {type(store).__name__} of this run cannot export: it has no export()")
    return {table: export(table, folder / f"{table}.{form}", form) for table in tables}


def loading_line(tables: Sequence[str], folder: Path, form: str) -> str:
    """Return a line of Python that loads exported tables."""
    path = glob.escape(str(folder.absolute()))
    return (
        f'import duckdb; tables = {{name: duckdb.{READERS[form]}({path!r} + f"/{{name}}.{form}", '
        f"hive_partitioning=False) for name in {list(tables)!r}}}"
    )


def export_policy(learner: Any, folder: Path, about: Mapping[str, Any]) -> None:
    """Write a learner's policy: its tensors, a description, and an example that loads both and acts.

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
    arrays = {name: np.ascontiguousarray(tensor) for name, tensor in policy.tensors.items()}
    try:
        content = save(arrays)
    except SafetensorError as error:
        raise RunError(f"the policy cannot be written as {POLICY}: {error}") from error
    write_atomic(folder / POLICY, content)
    write_json(folder / DESCRIPTION, {**policy.description, **about})
    write_atomic(folder / EXAMPLE, policy.example)
