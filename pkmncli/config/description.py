"""Description of a settings model: type, default, bounds and meaning of each setting, for listings and the guide."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pkmncli.api import PROVIDED
from pkmncli.config.run_file import plain, toml_item

_BOUNDS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<=", "min_length": "length >=", "max_length": "length <="}
_UNITS = {"_s": "seconds", "_ms": "milliseconds", "_gb": "GB", "_mb": "MB"}


class SettingDescription(NamedTuple):
    """Description of a setting."""

    name: str
    default: str
    allowed: str
    """Type and bounds, or the choices."""
    unit: str
    description: str


def describe_settings(model: type[BaseModel]) -> list[SettingDescription]:
    """Return the description of each setting of a model that users can set, in its order.

    The unit comes from ``Field(json_schema_extra={"unit": ...})``, or from the name's ending.
    """
    return [
        SettingDescription(name, _default(field), _allowed(field), _unit(name, field), field.description or "")
        for name, field in model.model_fields.items()
        if not is_provided(field)
    ]


def is_provided(field: FieldInfo) -> bool:
    """Return True if the trainer fills a setting in from its own settings."""
    extra = field.json_schema_extra
    return isinstance(extra, dict) and all(extra.get(key) == value for key, value in PROVIDED.items())


def named_parts(settings: BaseModel) -> list[tuple[str, str, str]]:
    """Return each plugin that a plugin's settings choose: the setting, the kind and the name.

    Such a field is marked with :data:`pkmncli.api.NAMES_ENCODER`. Its default names a part of the plugin itself, and is
    left out.
    """
    found = []
    for name, field in type(settings).model_fields.items():
        extra = field.json_schema_extra
        kind = extra.get("names") if isinstance(extra, dict) else None
        if isinstance(kind, str) and getattr(settings, name) != field.default:
            found.append((name, kind, str(getattr(settings, name))))
    return found


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "(needed)"
    value = plain(field.get_default(call_default_factory=True, validated_data={}))
    if value is None:
        return "not set"
    if isinstance(value, list | dict):
        return toml_item(value).as_string()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _allowed(field: FieldInfo) -> str:
    bounds = [
        f"{sign} {getattr(item, name)}"
        for item in field.metadata
        for name, sign in _BOUNDS.items()
        if getattr(item, name, None) is not None
    ]
    return " ".join([_type(field.annotation), ", ".join(bounds)]).strip()


def _type(annotation: Any) -> str:
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Annotated:
        return _type(arguments[0])
    if origin is Literal:
        return ", ".join(str(choice) for choice in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(_type(member) for member in arguments if member is not type(None))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return "table"
    if origin is not None and isinstance(origin, type) and issubclass(origin, Iterable):
        inner = ", ".join(_type(argument) for argument in arguments if argument is not Ellipsis)
        return f"{_type(origin)} of {inner}" if inner else _type(origin)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(str(member.value) for member in annotation)
    names = {"int": "whole number", "float": "number", "bool": "true or false", "str": "text", "Path": "path"}
    name = getattr(annotation, "__name__", str(annotation))
    return {**names, "tuple": "list", "dict": "table"}.get(name, name)


def _unit(name: str, field: FieldInfo) -> str:
    extra = field.json_schema_extra
    if isinstance(extra, dict) and "unit" in extra:
        return str(extra["unit"])
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "")
