"""Finds the plugins that installed distributions announce under the entry-point group ``pkmn``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection
from typing import Any

from pkmncli.plugins.registration import Plugin

ENTRY_POINT_GROUP = "pkmn"


def find_plugins(disabled: Collection[str] = ()) -> list[Plugin]:
    """Every announced plugin, none imported yet, in an order that does not depend on the file system.

    Args:
        disabled: names of entry points, or of distributions, to leave out.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - costs 20 ms, and `pkmn --version` needs none of it

    plugins = [Plugin(point.name, point.value, point.dist) for point in entry_points(group=ENTRY_POINT_GROUP)]
    for plugin in plugins:
        if disabled and (plugin.name in disabled or _normalized(plugin.distribution) in map(_normalized, disabled)):
            plugin.state = "disabled"
    return sorted(plugins, key=lambda plugin: (plugin.name, plugin.module))


def import_plugin(plugin: Plugin) -> Any:
    """The module (or object) that a plugin's entry point names. Whatever its import raises is passed on."""
    module_name, _, attributes = plugin.module.partition(":")
    importlib.import_module(module_name)
    value: Any = sys.modules[module_name]
    for attribute in filter(None, attributes.split(".")):
        value = getattr(value, attribute)
    return value


def _normalized(distribution: str) -> str:
    return distribution.replace("_", "-").replace(".", "-").lower()
