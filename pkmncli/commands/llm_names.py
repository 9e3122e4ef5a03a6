"""Commands `pkmn llm aliases` and `pkmn llm keys`: short names of models, and keys in the system's keyring."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated

import typer

from pkmncli.command_forms import AsJson, command_group
from pkmncli.config.aliases import read_aliases, remove_alias, set_alias
from pkmncli.config.setting_types import NONE, member_of_text
from pkmncli.errors import ConfigurationError, did_you_mean
from pkmncli.llm.keys import problem_of
from pkmncli.llm.stored_keys import SERVICES, remove_key, store_key, stored_names, variable_of
from pkmncli.plugins import get_registry
from pkmncli.tables import table

_KEY_NAMES = f"Name of a backend ({', '.join(SERVICES)}) or of an environment variable."

aliases = command_group("aliases", "Give models short names for --llm, list the names and remove them.")
keys = command_group("keys", "Keep keys of services in the system's keyring. Environment variables take precedence.")


@aliases.command("set")
def set_model(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Short name.")],
    model: Annotated[str, typer.Argument(metavar="MODEL", help="BACKEND:MODEL, as ollama:qwen3:0.6b, or BACKEND.")],
) -> None:
    """Give a model a short name: pkmn train --llm NAME."""
    backends = sorted(get_registry().names("llm_backends"))
    if name in (NONE, *backends):
        raise ConfigurationError(f"{name!r} is the name of a backend: choose another alias")
    try:
        backend, _ = member_of_text(model)
    except ValueError as error:
        raise ConfigurationError(str(error)) from error
    if backend not in backends:
        hint = did_you_mean(backend, backends, f"known: {', '.join(backends)}")
        raise ConfigurationError(f"{backend!r} is no backend: {hint}; write BACKEND:MODEL")
    set_alias(name, model)
    typer.echo(f"{name} is {model} now: pkmn train --llm {name}")


@aliases.command("list")
def list_models(*, as_json: AsJson = False) -> None:
    """List the short names."""
    rows = [[name, model] for name, model in read_aliases().items()]
    if as_json:
        typer.echo(json.dumps(dict(rows), indent=2, ensure_ascii=False))
        return
    typer.echo(table(["alias", "model"], rows, text={"alias", "model"}) if rows else "No alias is set.")


@aliases.command("remove")
def remove_model(name: Annotated[str, typer.Argument(metavar="NAME", help="Short name.")]) -> None:
    """Remove a short name."""
    remove_alias(name)
    typer.echo(f"{name} is removed.")


@keys.command("set")
def set_one(name: Annotated[str, typer.Argument(metavar="NAME", help=_KEY_NAMES)]) -> None:
    """Store a key. It is asked for without being shown, or read from the standard input."""
    variable = variable_of(name)
    if sys.stdin.isatty():
        key = str(typer.prompt(f"Key for {variable}", hide_input=True)).strip()
    else:
        key = sys.stdin.readline().strip()
    problem = problem_of(key)
    if problem or not key:
        raise ConfigurationError(f"the key {problem or 'is empty'}: give nothing but the key")
    store_key(variable, key)
    set_too = (
        f" The environment variable {variable} is set too, and takes precedence." if variable in os.environ else ""
    )
    typer.echo(f"{variable} is stored in the system's keyring.{set_too}")


@keys.command("list")
def list_stored(*, as_json: AsJson = False) -> None:
    """List the names of the stored keys, never the keys."""
    rows = [
        [name, "the environment variable, which takes precedence" if os.environ.get(name) else "the keyring"]
        for name in stored_names()
    ]
    if as_json:
        typer.echo(json.dumps([{"key": name, "used_from": source} for name, source in rows], indent=2))
        return
    typer.echo(table(["key", "used from"], rows, text={"key", "used from"}) if rows else "No key is stored.")


@keys.command("remove")
def remove_one(name: Annotated[str, typer.Argument(metavar="NAME", help=_KEY_NAMES)]) -> None:
    """Remove a stored key."""
    variable = variable_of(name)
    remove_key(variable)
    typer.echo(f"{variable} is removed from the system's keyring.")
