"""Readers of JSON and TOML that may be anybody's: every fault of a text is a ValueError."""

from __future__ import annotations

from typing import Any

MOST_LEVELS = 100
"""Tables and lists within each other; none of the program's files has more than twenty."""

_TOO_DEEP = f"nested more than {MOST_LEVELS} levels deep"


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is no JSON, nested too deeply, or has a number of too many digits. A ``json.JSONDecodeError``
            except where bytes are no text.
    """
    import json  # noqa: PLC0415 - many commands read none

    try:
        value = json.loads(text)
        fault = _TOO_DEEP if _levels_exceed(value, MOST_LEVELS) else ""
    except RecursionError:
        fault = _TOO_DEEP
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
            raise
        fault = "a number has too many digits"
    if fault:
        raise json.JSONDecodeError(fault, "", 0) from None
    return value


def parse_toml(text: str) -> dict[str, Any]:
    """Return the content of a TOML text.

    Raises:
        tomllib.TOMLDecodeError: it is no TOML, nested too deeply, or has a number of too many digits.
    """
    import tomllib  # noqa: PLC0415

    try:
        content = tomllib.loads(text)
        fault = _TOO_DEEP if _levels_exceed(content, MOST_LEVELS) else ""
    except RecursionError:
        fault = _TOO_DEEP
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        fault = "a number has too many digits" if "digits" in str(error) else str(error)
    if fault:
        raise tomllib.TOMLDecodeError(fault) from None
    return content


def _levels_exceed(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most + 1):
        level = [one for one in level if isinstance(one, dict | list)]
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return any(isinstance(one, dict | list) for one in level)
