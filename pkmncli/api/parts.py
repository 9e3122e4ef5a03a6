"""Registered parts, made by name: for plugins that play an environment that another plugin brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pkmncli.api.environments import Environment, Pilot


def make_environment(name: str, **settings: Any) -> Environment:
    """Return a new environment.

    Args:
        name: as it is registered, such as ``pyboy``.
        settings: its own settings; the defaults for the others.

    Raises:
        PluginError: no plugin has registered it, or what it needs is not installed.
        ValueError: a setting is wrong.
        EnvironmentSetupError: it cannot be set up.
    """
    from pkmncli.plugins import get_registry  # noqa: PLC0415 - registration modules import this one

    registration = get_registry().get("environments", name)
    model = registration.load_config()
    made: Environment = registration.load()(**settings) if model is None else registration.load()(model(**settings))
    return made


def make_pilot(name: str, environment: Environment) -> Pilot:
    """Return a new pilot with its default settings.

    Args:
        name: as it is registered, such as ``rules``.
        environment: the environment that it plays.

    Raises:
        PluginError: no plugin has registered it.
    """
    from pkmncli.plugins import get_registry  # noqa: PLC0415 - registration modules import this one

    made: Pilot = get_registry().get("pilots", name).load()(environment)
    return made


def pilots_of(environment: str) -> Sequence[str]:
    """Return the pilots that an environment names, the best one first; empty if it names none.

    Args:
        environment: as it is registered, such as ``balatro``.

    Raises:
        PluginError: no plugin has registered it, or what it needs is not installed.
    """
    from pkmncli.plugins import get_registry  # noqa: PLC0415 - registration modules import this one

    return tuple(getattr(get_registry().get("environments", environment).load_config(), "pilots", None) or ())


def map_pictures(
    environment: str, settings: Mapping[str, Any], maps: Collection[int]
) -> Mapping[int, NDArray[np.uint8]]:
    """Return a picture of each of these maps of a run that is known, one pixel for each tile. Keep it nowhere.

    Args:
        environment: as it is registered, such as ``pyboy``.
        settings: settings of the run by ``key`` or ``section.key``.
        maps: ids of maps.

    Returns:
        By id, (height, width, 3) uint8; empty if the environment draws none.

    Raises:
        PluginError: no plugin has registered it, or what it needs is not installed.
        PkmnError: the game's image is not there any more, or another one.
    """
    from pkmncli.plugins import get_registry  # noqa: PLC0415 - registration modules import this one

    draw = getattr(get_registry().get("environments", environment).load(), "map_pictures", None)
    return {} if draw is None else dict(draw(settings, maps))
