"""Building of a Gymnasium environment from its id; every failure is one line for the user."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import gymnasium
from gymnasium.envs.registration import load_env_creator

from pkmn_gymnasium.settings import GymnasiumSettings
from pkmncli.errors import ConfigurationError, EnvironmentSetupError, did_you_mean

_PICTURES = "rgb_array"
"""Render mode of every environment that has it: nothing is drawn before someone looks."""


def make_environment(settings: GymnasiumSettings) -> gymnasium.Env[Any, Any]:
    """Return the environment that the settings name, with its own wrappers.

    Raises:
        ConfigurationError: there is none of that id, or an argument is wrong.
        EnvironmentSetupError: a package that it needs is missing.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    if settings.id is None:
        raise ConfigurationError("the environment gym needs an id, as --env gym:CartPole-v1")
    module, _, name = settings.id.rpartition(":")
    if module:
        try:
            import_module(module)
        except ImportError as error:
            raise ConfigurationError(f"gym:{settings.id}: {module} cannot be imported ({_line(error)})") from error
    arguments = dict(settings.env_args)
    mode = settings.render_mode or _PICTURES
    if mode in _render_modes(name):
        arguments.setdefault("render_mode", mode)
    if arguments.get("render_mode") == _PICTURES:
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # else pygame looks for a display, and complains
    given = "".join(f" {key}={value}" for key, value in settings.env_args.items())
    failed = f"gym:{settings.id} cannot be built{given and ' with'}{given}"
    try:
        return gymnasium.make(name, disable_env_checker=True, **arguments)
    except gymnasium.error.DependencyNotInstalled as error:
        raise EnvironmentSetupError(f"gym:{settings.id} cannot be built: {_line(error)}") from error
    except gymnasium.error.UnregisteredEnv as error:
        near = did_you_mean(name, gymnasium.registry, "one of another package is named as gym:module:ID")
        raise ConfigurationError(f"gym:{settings.id} does not exist: {near} ({_line(error)})") from error
    except (TypeError, gymnasium.error.Error, ImportError) as error:
        raise ConfigurationError(f"{failed}: {_line(error)}") from error
    except (ValueError, LookupError, AssertionError) as error:
        if not settings.env_args:
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigurationError(f"{failed}: {reason}") from error


def _render_modes(name: str) -> list[str]:
    """Return the kinds of pictures that an environment draws, as far as they are known before it is built."""
    spec = gymnasium.registry.get(name)
    try:
        point = None if spec is None else spec.entry_point
        found = load_env_creator(point) if isinstance(point, str) else point
    except (ImportError, AttributeError):
        return []  # building it says more
    return list(getattr(found, "metadata", {}).get("render_modes", ()))


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".")
