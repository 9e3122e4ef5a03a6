"""Discovery of the plugins that installed distributions announce under the entry-point group ``pkmn``.

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

from pkmncli.diagnostics import one_line
from pkmncli.plugins.entries import Plugin

ENTRY_POINT_GROUP = "pkmn"

_ENTRY_POINT_FILES = {".dist-info": "entry_points.txt", ".egg-info": "entry_points.txt"}


def find_plugins(disabled: Collection[str] = ()) -> list[Plugin]:
    """Return every announced plugin, none imported yet, in an order that does not depend on the file system.

    Of a distribution whose metadata are broken, or that is there twice, there is one that has failed.

    Args:
        disabled: names of entry points, or of distributions, to leave out.
    """
    found = list(_read_folders() if _all_in_folders() else _ask_importlib())
    plugins = [plugin for plugins in _without_copies(found) for plugin in plugins]
    off = {_normalized(name) for name in disabled}
    for plugin in plugins:
        if plugin.name in disabled or (off and _normalized(plugin.distribution) in off):
            plugin.state = "disabled"
    return sorted(plugins, key=lambda plugin: (plugin.name, plugin.module))


def import_plugin(plugin: Plugin) -> Any:
    """Return the module or object that a plugin's entry point names. Exceptions of its import pass through."""
    module_name, _, attributes = plugin.module.partition(":")
    value: Any = importlib.import_module(module_name)
    for attribute in filter(None, attributes.split(".")):
        value = getattr(value, attribute)
    return value


def _all_in_folders() -> bool:
    """Return True if every installed distribution can be found in folders."""
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    only_the_usual = all(getattr(finder, "__name__", "") == "PathFinder" for finder in finders)
    return only_the_usual and not any(os.path.isfile(place) for place in sys.path)  # noqa: PTH113 - on every start


def _read_folders() -> Iterator[list[Plugin]]:
    """Return the plugins of each distribution."""
    seen: set[str] = set()
    for place in sys.path:
        try:
            names = sorted(os.listdir(place or "."))  # noqa: PTH208 - names only, on every start
        except OSError:
            continue
        here: dict[str, list[str]] = {}
        for name in names:
            stem, suffix = os.path.splitext(name)  # noqa: PTH122
            if suffix in _ENTRY_POINT_FILES:
                is_leftover = not stem[:1].isalnum()
                here.setdefault(name if is_leftover else _normalized(stem.partition("-")[0]), []).append(name)
        for distribution, folders in here.items():
            if distribution in seen:  # an earlier place on the path counts, as for imports
                continue
            seen.add(distribution)
            paths = [os.path.join(place, name) for name in folders]  # noqa: PTH118
            if len(paths) > 1:
                paths.sort(key=lambda path: os.stat(path).st_mtime, reverse=True)  # noqa: PTH116
            announced = [(path, _announced(path)) for path in paths]
            for which, (path, plugins) in enumerate(announced):
                if which and plugins:
                    problem = f"{announced[0][0]} is the same distribution, and newer: remove one of them"
                    yield [_failed(Path(path), problem)]
                else:
                    yield plugins


def _announced(folder: str) -> list[Plugin]:
    """Return the plugins that a folder of metadata announces; a failed one if it cannot be read."""
    name = os.path.basename(folder)  # noqa: PTH119 - this and the next for every distribution, on every start
    file_name = os.path.join(folder, _ENTRY_POINT_FILES[os.path.splitext(name)[1]])  # noqa: PTH118, PTH122
    try:
        with open(file_name, "rb") as file:  # noqa: PTH123
            content = file.read()
    except OSError:
        return []
    if f"[{ENTRY_POINT_GROUP}]".encode() not in content.replace(b"\0", b""):
        return []
    if not name[:1].isalnum():
        return [_failed(Path(folder), f"it is what an interrupted pip has left: remove {folder}")]
    try:
        lines = _lines_of_group(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return [_failed(Path(folder), f"{file_name} is no text in UTF-8: install it again")]
    entries = [(name.strip(), value.partition("[")[0].strip()) for name, _, value in (x.partition("=") for x in lines)]
    wrong = [line for line, entry in zip(lines, entries, strict=True) if not all(entry)]
    if wrong or not entries:
        told = f"{file_name} names no plugin" + (f" in the line {wrong[0]!r}" if wrong else "")
        return [_failed(Path(folder), told)]
    source = Path(folder)
    return [Plugin(name, value, source) for name, value in entries]


def _lines_of_group(text: str) -> list[str]:
    """Return the lines of the group's entry points in a text in configparser's format."""
    group, lines = "", []
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif group == ENTRY_POINT_GROUP and line and not line.startswith(("#", ";")):
            lines.append(line)
    return lines


def _ask_importlib() -> Iterator[list[Plugin]]:
    """Return the same from all finders of distributions; folders are read as above."""
    from importlib.metadata import distributions  # noqa: PLC0415 - see the top of this file

    seen: set[str] = set()
    for distribution in distributions():
        folder = getattr(distribution, "_path", None)
        stem = Path(str(folder)).stem
        name = _normalized(stem.partition("-")[0]) if stem[:1].isalnum() else stem
        if name in seen:
            continue
        seen.add(name)
        if isinstance(folder, Path):
            if folder.suffix in _ENTRY_POINT_FILES:
                yield _announced(str(folder))
            continue
        try:
            points = distribution.entry_points.select(group=ENTRY_POINT_GROUP)
            yield [Plugin(point.name, point.value.partition("[")[0].strip(), distribution) for point in points]
        except Exception as error:  # whatever a damaged file, or someone's finder, leads to
            yield [_failed(distribution, f"its metadata can't be read: {one_line(error)}")]


def _without_copies(found: list[list[Plugin]]) -> Iterator[list[Plugin]]:
    """Leave out what another distribution has brought before, in a line for each; what comes with pkmncli is its."""
    brought: dict[str, Plugin] = {}
    for plugins in sorted(found, key=lambda plugins: not (plugins and _is_ours(plugins[0]))):
        copies = [one for one in plugins if one.state == "loaded" and one.module in brought]
        copies = [one for one in copies if brought[one.module].source is not one.source]
        if copies:
            other = brought[copies[0].module]
            told = f"{other.label} in {other.source} brings {', '.join(one.name for one in copies)} as well: remove one"
            yield [_failed(copies[0].source, told)]
        own = [one for one in plugins if one not in copies]
        brought |= {one.module: one for one in own if one.state == "loaded" and one.module not in brought}
        yield own


def _is_ours(plugin: Plugin) -> bool:
    return isinstance(plugin.source, Path) and plugin.source.name.startswith("pkmncli-")


def _failed(source: Any, problem: str) -> Plugin:
    plugin = Plugin(Path(str(getattr(source, "_path", source))).name, "", source)
    plugin.state, plugin.problem = "failed", problem
    return plugin


def _normalized(distribution: str) -> str:
    return distribution.replace("_", "-").replace(".", "-").lower()
