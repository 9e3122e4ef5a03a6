"""Finds the plugins that installed distributions announce under the entry-point group ``pkmn``.

Importing ``importlib.metadata`` takes longer than all else that ``pkmn --help`` does for plugins: it brings a parser
of mail headers. So the files that it would read are read here, wherever they are files in folders. Anything else, a
zip archive on the path or a finder of someone's own, is left to it.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from pkmncli.plugins.registration import Plugin

ENTRY_POINT_GROUP = "pkmn"

_ENTRY_POINT_FILES = {".dist-info": "entry_points.txt", ".egg-info": "entry_points.txt"}


def find_plugins(disabled: Collection[str] = ()) -> list[Plugin]:
    """Every announced plugin, none imported yet, in an order that does not depend on the file system.

    Args:
        disabled: names of entry points, or of distributions, to leave out.
    """
    plugins = list(_read_folders() if _all_in_folders() else _ask_importlib())
    off = {_normalized(name) for name in disabled}
    for plugin in plugins:
        if plugin.name in disabled or (off and _normalized(plugin.distribution) in off):
            plugin.state = "disabled"
    return sorted(plugins, key=lambda plugin: (plugin.name, plugin.module))


def import_plugin(plugin: Plugin) -> Any:
    """The module (or object) that a plugin's entry point names. Whatever its import raises is passed on."""
    module_name, _, attributes = plugin.module.partition(":")
    value: Any = importlib.import_module(module_name)
    for attribute in filter(None, attributes.split(".")):
        value = getattr(value, attribute)
    return value


def _all_in_folders() -> bool:
    """Whether every installed distribution can be found by looking through folders."""
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    only_the_usual = all(getattr(finder, "__name__", "") == "PathFinder" for finder in finders)
    return only_the_usual and not any(os.path.isfile(place) for place in sys.path)  # noqa: PTH113 - on every start


def _read_folders() -> Iterator[Plugin]:
    seen: set[str] = set()
    for place in sys.path:
        try:
            names = sorted(os.listdir(place or "."))  # noqa: PTH208 - names only, on every start
        except OSError:
            continue
        for name in names:
            stem, suffix = os.path.splitext(name)  # noqa: PTH122
            if suffix not in _ENTRY_POINT_FILES:
                continue
            distribution = _normalized(stem.partition("-")[0])
            if distribution in seen:  # an earlier place on the path counts, as for imports
                continue
            seen.add(distribution)
            folder = os.path.join(place, name)  # noqa: PTH118
            for point_name, value in _entry_points(os.path.join(folder, _ENTRY_POINT_FILES[suffix])):  # noqa: PTH118
                yield Plugin(point_name, value, Path(folder))


def _entry_points(file_name: str) -> Iterator[tuple[str, str]]:
    """Names and values of the group's entry points in a file of the format of configparser."""
    try:
        with open(file_name, encoding="utf-8") as file:  # noqa: PTH123
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return
    if f"[{ENTRY_POINT_GROUP}]" not in text:
        return
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif group == ENTRY_POINT_GROUP and line and not line.startswith(("#", ";")):
            name, separator, value = line.partition("=")
            if separator:
                yield name.strip(), value.partition("[")[0].strip()


def _ask_importlib() -> Iterator[Plugin]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - see the top of this file

    for point in entry_points(group=ENTRY_POINT_GROUP):
        yield Plugin(point.name, point.value.partition("[")[0].strip(), point.dist)


def _normalized(distribution: str) -> str:
    return distribution.replace("_", "-").replace(".", "-").lower()
