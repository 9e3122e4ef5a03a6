"""Command `pkmn play`: a person plays, by the command that the environment registered for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from pkmncli.command_forms import as_command
from pkmncli.core_commands import CORE_COMMANDS
from pkmncli.errors import ConfigurationError, PkmnError
from pkmncli.plugins import get_registry

DEFAULT_ENVIRONMENT = "pyboy"
_OPTION = "--env"


class PlayCommand(TyperCommand):
    """`pkmn play`, whose options are those of the command of the chosen environment."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the context of the chosen environment's command."""
        try:
            command = command_of(_chosen(args))
        except PkmnError:
            if not extra.get("resilient_parsing"):  # as when a shell completes a line that is not finished
                raise
            command = command_of(DEFAULT_ENVIRONMENT)
        return command.make_context(info_name, args, parent, **extra)


def command_of(environment: str) -> Any:
    """Return the command that plays an environment, with the option that chose it.

    Raises:
        PluginError: there is no such environment, or its command cannot be imported.
        ConfigurationError: the environment has no such command.
    """
    registry = get_registry()
    target = registry.get("environments", environment.partition(":")[0]).load_play()
    names = [entry.name for entry in registry.registrations("environments") if entry.play]
    if target is None:
        raise ConfigurationError(f"--env {environment}: it has no command to play; choose from {', '.join(names)}")
    command = as_command("play", target)
    option = as_command("play", _environment).params[0]
    option.help, option.expose_value = f"Environment to play: {' or '.join(names)}.", False
    command.params.insert(0, option)
    return command


def _environment(env: Annotated[str, typer.Option(metavar="NAME")] = DEFAULT_ENVIRONMENT) -> None:
    """Have the option that each of the commands gets."""


def _chosen(args: Sequence[str]) -> str:
    """Return the latest value of the option in the arguments, before any are parsed."""
    found = DEFAULT_ENVIRONMENT
    for place, argument in enumerate(args):
        if argument == "--":
            break
        if argument.startswith(f"{_OPTION}="):
            found = argument.partition("=")[2]
        elif argument == _OPTION and place + 1 < len(args):
            found = args[place + 1]
    return found


play = PlayCommand("play", help=CORE_COMMANDS["play"])
