"""Validation of given values by a settings model, with a line for each problem."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from pkmncli.config.description import is_provided
from pkmncli.config.sources import CORE, Given, parse_text
from pkmncli.config.value_bounds import fault_of_value
from pkmncli.errors import ConfigurationError, did_you_mean, without_prefix
from pkmncli.outgoing_text import secret_in

Model = TypeVar("Model", bound=BaseModel)

_LONGEST_SHOWN = 200
"""Maximum characters of a value in a message."""
_LONGEST_EXAMPLE = 60
"""Maximum characters of a value that a message shows a second time, as a list."""

SECRET = "secret"
"""Error type of a value that may hold a secret; it is not shown."""

_NUMBER = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list in brackets",
    "tuple_type": "a list in brackets",
    "dict_type": "a table of keys and values",
    "path_type": "a path",
    "finite_number": "a finite number",
}
_LISTS = ("list_type", "tuple_type")
_BOUND = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
    "too_short": ("min_length", "of a length of at least"),
    "too_long": ("max_length", "of a length of at most"),
    "string_too_short": ("min_length", "of a length of at least"),
}


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
    allowed = _allowed(details)
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


def _allowed(details: Mapping[str, Any]) -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind in _NUMBER:
        return f"must be {_NUMBER[kind]}{_example(details) if kind in _LISTS else ''}"
    if kind in _BOUND:
        name, words = _BOUND[kind]
        return f"must be {words} {context[name]}"
    if kind in {"literal_error", "enum"}:
        hint = did_you_mean(str(details["input"]), _quoted(context["expected"]), lead="; ")
        return f"must be {context['expected']}{hint}"
    if kind == "missing":
        return "is needed"
    return " ".join(without_prefix(str(details["msg"])).split())


def _example(details: Mapping[str, Any]) -> str:
    """Return the given numbers or words as the list that they may be meant as: ``64,64`` as ``[64, 64]``."""
    given = details["input"]
    if not isinstance(given, str) or "," not in given or len(given) > _LONGEST_EXAMPLE:
        return ""
    items = [parse_text(part.strip()) for part in given.split(",")]
    return f", such as {json.dumps([item if isinstance(item, int | float | str) else str(item) for item in items])}"


def _quoted(expected: str) -> Iterable[str]:
    return [part for part in expected.split("'")[1::2] if part]


def _name(section: str, key: str) -> str:
    return f"{section}.{key}" if section != CORE else key
