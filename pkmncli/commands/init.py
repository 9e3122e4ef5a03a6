"""Command `pkmn init`: write a commented settings file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pkmncli.api import quoted_path
from pkmncli.config import resolve_settings
from pkmncli.config.template import settings_template
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import get_registry
from pkmncli.training.compatibility import prepare_settings


def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.")] = Path("pkmn.toml"),
    *,
    env: Annotated[str | None, typer.Option(help="Environment, such as pyboy or gym:ID. [default: pyboy]")] = None,
    rl: Annotated[str | None, typer.Option(help="Learner, such as dqn, ppo or none. [default: dqn]")] = None,
    llm: Annotated[str | None, typer.Option(help="Language model's backend, such as ollama. [default: none]")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A value to set in the file, as dqn.gamma=0.9; repeatable.")
    ] = None,
) -> None:
    """Write a settings file for 'pkmn train --config', with each setting's description and default.

    It has the sections of the chosen environment, learner and language model, and of the parts that they use. An
    existing file is not overwritten.
    """
    registry = get_registry()
    settings = resolve_settings({"env": env, "rl": rl, "llm": llm}, registry=registry, sets=set_ or (), environ={})
    fitted = prepare_settings(settings, registry)  # refuses what a training would refuse
    text = settings_template(settings, fitted.sections_in_use, registry)
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(text)
    except FileExistsError:
        raise ConfigurationError(f"{file} exists already and is not overwritten: name another file") from None
    except OSError as error:
        raise ConfigurationError(f"{file} can't be written: {error.strerror}; name another file") from None
    typer.echo(f"Wrote {file}. Train with: pkmn train --config {quoted_path(file)}")
