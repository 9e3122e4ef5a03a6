"""Validation of given values by a settings model, with a line for each problem."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from pkmncli.config.description import is_provided
from pkmncli.config.fault_words import words_for
from pkmncli.config.sources import CORE, Given, parse_text
from pkmncli.config.value_bounds import fault_of_value
from pkmncli.errors import ConfigurationError, did_you_mean
from pkmncli.outgoing_text import secret_in

Model = TypeVar("Model", bound=BaseModel)

_LONGEST_SHOWN = 200
"""Maximum characters of a value in a message."""

SECRET = "secret"
"""Error type of a value that may hold a secret; it is not shown."""


def validate(
    model: type[Model],
    section: str,
    given: Mapping[str, Given],
    sections_with: Callable[[str], Sequence[str]] = lambda key: (),
) -> Model:
    """Return the model with the given values, and defaults for the rest.

    Args:
        model: a settings model of the core or of a plugin.
        section: its section; empty for the core's.
        given: values by the model's field names.
        sections_with: returns the sections that have a key; called for an unknown key.

    Raises:
        ConfigurationError: one line for each value that is wrong or has no place in the model.
    """
    unknown = [
        _unknown_key(model, section, entry, sections_with)
        for key, entry in given.items()
        if key not in model.model_fields
    ]
    provided = [_provided_key(section, entry) for key, entry in given.items() if key not in settable_fields(model)]
    if unknown or provided:
        raise ConfigurationError("\n".join(unknown or provided))
    secrets = [line for entry in given.values() if (line := _secret_value(section, entry))]
    if secrets:
        raise ConfigurationError("\n".join(secrets))
    values = {key: _read(model, entry) for key, entry in given.items()}
    impossible = [
        f"setting '{_name(section, key)}'{_shown(value)} ({given[key].origin}): {fault}"
        for key, value in values.items()
        if (fault := fault_of_value(value, model.model_fields[key]))
    ]
    if impossible:
        raise ConfigurationError("\n".join(impossible))
    try:
        return model.model_validate(values)
    except ValidationError as error:
        lines = [_describe(section, given, details) for details in error.errors(include_url=False)]
        raise ConfigurationError("\n".join(dict.fromkeys(lines))) from None


def settable_fields(model: type[BaseModel]) -> list[str]:
    """Return the settings of a model that users can set in its section."""
    return [name for name, field in model.model_fields.items() if not is_provided(field)]


def accepts_only_text(annotation: Any) -> bool:
    """Return True if a setting of this type can hold only text, so that ``007`` is not read as a number."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return accepts_only_text(get_args(annotation)[0])
    if origin is Literal:
        return all(isinstance(choice, str) for choice in get_args(annotation))
    if origin in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        return all(accepts_only_text(member) for member in members)
    return isinstance(annotation, type) and issubclass(annotation, str | Path | Enum)


def _unknown_key(
    model: type[BaseModel], section: str, entry: Given, sections_with: Callable[[str], Sequence[str]]
) -> str:
    known = settable_fields(model)
    elsewhere = [_name(other, entry.key) for other in sections_with(entry.key)]
    all_known = f"[{section}] has {', '.join(known)}" if section else "pkmn train --help lists the settings"
    if elsewhere:
        hint = f"did you mean '{elsewhere[0]}'?"
    else:
        hint = did_you_mean(entry.key, known, all_known, shown=f"'{_name(section, '{}')}'")
    return f"unknown setting '{_name(section, entry.key)}' ({entry.origin}): {hint}"


def _provided_key(section: str, entry: Given) -> str:
    return (
        f"setting '{_name(section, entry.key)}' ({entry.origin}): the training fills this in from its own settings; "
        f"leave it out of [{section}]"
    )


def _secret_value(section: str, entry: Given) -> str:
    """Return a message if a value holds a key of the environment, which would be written into the run."""
    variable = secret_in(str(entry.value)) if isinstance(entry.value, str | Path | list | tuple | dict) else None
    if variable is None:
        return ""
    return (
        f"setting '{_name(section, entry.key)}' ({entry.origin}): holds the value of {variable}, and settings are "
        "written into the run; leave it out, keys are read from the environment"
    )


def _read(model: type[BaseModel], entry: Given) -> Any:
    if not entry.is_text:
        return entry.value
    quoted = entry.value[:1] in {'"', "'"}
    if accepts_only_text(model.model_fields[entry.key].annotation) and not quoted:
        return entry.value
    return parse_text(entry.value)


def _describe(section: str, given: Mapping[str, Given], details: Mapping[str, Any]) -> str:
    location = tuple(details["loc"])
    key = str(location[0]) if location else ""
    allowed = words_for(details)
    if key not in given:
        origins = ", ".join(dict.fromkeys(entry.origin for entry in given.values())) or "default"
        what = f"setting '{_name(section, key)}'" if key else f"settings [{section}]" if section else "settings"
        return f"{what} ({origins}): {allowed}"
    entry = given[key]
    inner = "".join(f"[{part}]" for part in location[1:] if isinstance(part, int))
    value = "" if details["type"] == SECRET else _shown(details["input"])
    return f"setting '{_name(section, key)}{inner}'{value} ({entry.origin}): {allowed}"


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a number of more digits than Python writes
        return ""
    return f" = {text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + '...'}"


def _name(section: str, key: str) -> str:
    return f"{section}.{key}" if section != CORE else key
