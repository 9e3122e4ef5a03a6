"""Checks of environments and numbers that a script gives, with errors in one line."""

from __future__ import annotations

from typing import Any

from pkmncli.errors import ConfigurationError


def check_environment(env: Any) -> Any:
    """Return an environment.

    Raises:
        ConfigurationError: it is none; the line says what it lacks.
    """
    if isinstance(env, type):
        raise ConfigurationError(f"{env.__name__} is a class and no environment: give an instance of it")
    for name in ("reset", "step", "observation_space", "action_space"):
        if not hasattr(env, name):
            raise ConfigurationError(f"{type(env).__name__} is no environment: it has no {name}; give a gymnasium.Env")
    return env


def checked_count(name: str, value: Any, least: int = 1) -> int:
    """Return a number of steps, environments or the like.

    Args:
        name: its name in the error.
        value: the number.
        least: the smallest that is right.

    Raises:
        ConfigurationError: it is not a whole number from there.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigurationError(f"{name} = {value!r}: give a whole number from {least}")
    return value
