"""Schema of a reply for OpenAI's strict mode: every property required, no further ones, few keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REFUSED = frozenset(
    {
        *("minLength", "maxLength", "pattern", "format"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems"),
        *("minProperties", "maxProperties", "patternProperties", "propertyNames", "unevaluatedProperties"),
        *("default", "allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
    }
)
"""Keywords that strict mode refuses, or refuses with some models. Reading a reply checks their rules."""

_OF_SCHEMAS = ("properties", "$defs")
_LISTS_OF_SCHEMAS = ("anyOf", "prefixItems")


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy for strict mode. Optional properties become required and may be null."""
    strict: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in REFUSED:
            continue
        if keyword in _OF_SCHEMAS:
            strict[keyword] = {name: strict_schema(one) for name, one in value.items()}
        elif keyword in _LISTS_OF_SCHEMAS:
            strict[keyword] = [strict_schema(one) for one in value]
        elif keyword == "items" and isinstance(value, Mapping):
            strict[keyword] = strict_schema(value)
        else:
            strict[keyword] = value
    if "properties" in strict:
        needed = set(schema.get("required", ()))
        properties = strict["properties"]
        strict["properties"] = {
            name: one if name in needed else {"anyOf": [one, {"type": "null"}]} for name, one in properties.items()
        }
        strict["required"] = list(properties)
        strict["additionalProperties"] = False
    return strict
