"""Plugin system: discovery by entry points, a registry, and runtime hooks."""

from __future__ import annotations

import os
import sys

from pkmncli.diagnostics import debug_enabled, say
from pkmncli.errors import PluginError
from pkmncli.plugins.entries import (
    HOOK_OF_KIND,
    PRESET_KIND,
    PRESET_SUFFIX,
    SINGULAR,
    Plugin,
    Registration,
    import_name,
)
from pkmncli.plugins.registry import DISABLE_VARIABLE, STRICT_VARIABLE, Registry

__all__ = [
    "DISABLE_VARIABLE",
    "HOOK_OF_KIND",
    "PRESET_KIND",
    "PRESET_SUFFIX",
    "SINGULAR",
    "STRICT_VARIABLE",
    "Plugin",
    "Registration",
    "Registry",
    "get_registry",
    "import_name",
    "report_problems",
    "set_registry",
    "strict_plugins",
]

_registry: Registry | None = None


def get_registry(strict: bool | None = None) -> Registry:
    """Return the process's registry, made on first use. Problems of plugins are then reported once, on standard error.

    Args:
        strict: whether anything wrong is an error; by default what ``PKMN_STRICT_PLUGINS`` says.

    Raises:
        PluginError: something is wrong with a plugin, and ``strict`` holds.
    """
    global _registry  # noqa: PLW0603 - one registry for the process, as there is one set of installed plugins
    if _registry is None:
        registry = Registry.discover()
        if (strict_plugins() if strict is None else strict) and registry.problems:
            raise PluginError("\n".join(registry.problems))
        if not _in_worker():
            report_problems(registry)
        _registry = registry
    return _registry


def set_registry(registry: Registry | None) -> Registry | None:
    """Replace the process's registry, for tests. Return the previous one."""
    global _registry
    previous, _registry = _registry, registry
    return previous


def report_problems(registry: Registry) -> None:
    """Report problems of plugins, a line each, with tracebacks when debugging."""
    for problem in registry.problems:
        say(problem)
    if debug_enabled():
        for plugin in registry.plugins:
            if plugin.traceback:
                say(plugin.traceback)


def strict_plugins() -> bool:
    """Return True if a problem of any plugin is an error, as in continuous integration."""
    return os.environ.get(STRICT_VARIABLE, "0") not in {"", "0"}


def _in_worker() -> bool:
    """Return True in a child process of a training, whose parent has already reported the problems."""
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None
