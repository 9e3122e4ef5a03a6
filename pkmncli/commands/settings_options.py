"""Options of a command that are made from the fields of the settings models."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pkmncli.command_forms import with_options
from pkmncli.config.core_sections import CORE_SECTIONS
from pkmncli.config.option import Heading, Option, option_of
from pkmncli.config.sources import CORE
from pkmncli.config.train_settings import TrainSettings

_DOT = "__"
"""Replacement for the dot of ``section.key`` in the name of a parameter."""


def with_settings_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for each setting that has one to a command that takes them as ``**options``."""
    return with_options(command, _options(), list(Heading))


def given_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``**options`` of a command by setting, ``key`` or ``section.key``; None for one that was not given."""
    return {name.replace(_DOT, "."): value for name, value in options.items()}


def _options() -> Iterator[inspect.Parameter]:
    models: dict[str, type[BaseModel]] = {CORE: TrainSettings, **CORE_SECTIONS}
    for section, model in models.items():
        for key, field in model.model_fields.items():
            option = option_of(field)
            if option is not None:
                yield _parameter(f"{section}{_DOT}{key}" if section else key, field, option)


def _parameter(name: str, field: FieldInfo, option: Option) -> inspect.Parameter:
    shown = typer.Option(
        None,
        *(option.names or (f"--{name.replace('_', '-')}",)),
        help=option.help_text(field),
        metavar=option.metavar,
        readable=option.readable,
        rich_help_panel=option.heading,
        show_default=False,
    )
    kind = _kind(field.annotation)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=shown, annotation=kind | None)


def _kind(annotation: Any) -> Any:
    """Return the type that Typer reads an option as. Settings models check choices and bounds."""
    if get_origin(annotation) is Annotated:
        return _kind(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return str
    if get_origin(annotation) is list:
        return list[str]
    if annotation in (bool, int, float, str, Path):
        return annotation
    (inner,) = (member for member in get_args(annotation) if member is not NoneType)
    return _kind(inner)
