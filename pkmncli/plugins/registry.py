"""Registry: loads plugins one by one, keeps their registrations, and calls their runtime hooks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pkmncli.core_commands import CORE_COMMANDS
from pkmncli.diagnostics import debug_enabled, one_line, prints_aside, say, text_of
from pkmncli.errors import PluginError, did_you_mean
from pkmncli.plugins.discovery import find_plugins, import_plugin
from pkmncli.plugins.entries import HOOK_OF_KIND, SINGULAR, Plugin, Registration, make_registration
from pkmncli.plugins.hooks import HOOK_NAMES, HookManager

DISABLE_VARIABLE = "PKMN_DISABLE_PLUGINS"
STRICT_VARIABLE = "PKMN_STRICT_PLUGINS"

GYMNASIUM_ID = re.compile(r"-v\d+$")
"""End of the ids of Gymnasium's environments, which are named as ``gym:ID``."""


class Registry:
    """Registry of plugins. A broken plugin leaves only a :class:`Plugin` with its problem."""

    def __init__(self, reserved_commands: Collection[str] = CORE_COMMANDS) -> None:
        self.plugins: list[Plugin] = []
        self._reserved_commands = reserved_commands
        self._manager = HookManager()
        self._objects: dict[Plugin, Any] = {}
        self._hooks: dict[Plugin, frozenset[str]] = {}
        self._registrations: dict[tuple[str, str], list[Registration]] = {}
        self._silenced: set[Plugin] = set()
        self._callers: dict[str, list[tuple[Plugin, Any]]] = {}
        """Plugins with their implementations by runtime hook, as far as it was called."""

    @classmethod
    def discover(cls, environ: Mapping[str, str] = os.environ) -> Registry:
        """Return a registry of every installed plugin, except those that ``PKMN_DISABLE_PLUGINS`` lists."""
        registry = cls()
        disabled = {name.strip() for name in environ.get(DISABLE_VARIABLE, "").split(",")} - {""}
        for plugin in find_plugins(disabled):
            registry.plugins.append(plugin)
            if plugin.state == "loaded":
                registry._load(plugin)
        return registry

    # What is there

    def names(self, kind: str) -> list[str]:
        """Return the registered names of a kind, in alphabetical order."""
        return sorted({name for of_kind, name in self._registrations if of_kind == self._known(kind)})

    def registrations(self, kind: str | None = None) -> list[Registration]:
        """Return all registrations (of a kind), by kind and name; a contested name appears once for each claimant."""
        keys = sorted(self._registrations, key=lambda key: (list(HOOK_OF_KIND).index(key[0]), key[1]))
        return [entry for key in keys if kind in (None, key[0]) for entry in self._registrations[key]]

    def get(self, kind: str, name: str) -> Registration:
        """Return the registration of a name.

        Raises:
            PluginError: nothing, or more than one plugin, has the name.
        """
        found = self._registrations.get((self._known(kind), name), [])
        if len(found) == 1:
            return found[0]
        if found:
            raise PluginError(contested(found))
        raise PluginError(self._unknown(kind, name))

    @property
    def problems(self) -> list[str]:
        """Lines of problems: one for each plugin that was left out and for each contested name."""
        lines = [
            f"plugin '{plugin.name}' of {plugin.label} was left out: {plugin.problem}"
            for plugin in self.plugins
            if plugin.state == "failed"
        ]
        return lines + [contested(found) for found in self._registrations.values() if len(found) > 1]

    def settings_section(self, name: str) -> Registration:
        """Return the registration whose settings are under ``[name]``; underscores and hyphens are the same.

        Raises:
            PluginError: no plugin, or more than one, keeps settings under that name.
        """
        sections = self._sections()
        found = sections.get(name.replace("_", "-"), [])
        if len({(entry.plugin, str(entry.config)) for entry in found}) > 1:
            raise PluginError(contested(found))
        if not found:
            hint = did_you_mean(name.replace("_", "-"), sections, ".", lead="; ", shown="[{}]")
            raise PluginError(f"no plugin has settings under [{name}]{hint} Known: {', '.join(sorted(sections))}")
        return found[0]

    def settings_sections(self) -> list[str]:
        """Return every name under which a plugin has settings."""
        return sorted(self._sections())

    def implementation(self, plugin: Plugin) -> Any:
        """Return the module or object of a loaded plugin."""
        return self._objects[plugin]

    def loaded(self, implementation: Any) -> Plugin | None:
        """Return the plugin that was loaded from a module or an object; None if there is none."""
        return next((entry for entry, known in self._objects.items() if known is implementation), None)

    # Plugins by hand

    def register_plugin(self, plugin: Any, name: str) -> Plugin:
        """Register an object with hook implementations, as a test or a script does.

        Raises:
            PluginError: the plugin is broken; nothing of it stays.
        """
        entry = Plugin(name, getattr(plugin, "__name__", type(plugin).__name__))
        self.plugins.append(entry)
        self._register(entry, plugin)
        if entry.state == "failed":
            self.plugins.remove(entry)
            raise PluginError(f"plugin '{name}': {entry.problem}")
        return entry

    def unregister_plugin(self, name: str) -> None:
        """Remove a plugin that :meth:`register_plugin` registered under this name."""
        for entry in [entry for entry in self.plugins if entry.name == name and entry.source is None]:
            self.plugins.remove(entry)
            self._forget(entry)

    @contextmanager
    def with_plugins(self, plugins: Mapping[str, Any]) -> Iterator[None]:
        """Register plugins by name while entered, in the place of earlier ones of these names."""
        by_hand = [entry for entry in self.plugins if entry.name in plugins and entry.source is None]
        earlier = {entry.name: self._objects[entry] for entry in by_hand}
        try:
            self._replace(plugins, plugins)
            yield
        finally:
            self._replace(plugins, earlier)

    def _replace(self, names: Collection[str], plugins: Mapping[str, Any]) -> None:
        for name in names:
            self.unregister_plugin(name)
        for name, plugin in plugins.items():
            self.register_plugin(plugin, name)

    # Runtime hooks

    def call_runtime_hook(self, hook_name: str, **arguments: Any) -> None:
        """Call a hook of every plugin in turn. One that raises is reported, and left out for the rest of the run."""
        if hook_name not in HOOK_NAMES:
            raise PluginError(f"there is no hook {hook_name}")
        if hook_name == "pkmn_run_started":
            self._silenced.clear()
        if hook_name not in self._callers:
            known = self._objects.items()
            self._callers[hook_name] = [(plugin, one) for plugin, one in known if hook_name in self._hooks[plugin]]
        for plugin, implementation in self._callers[hook_name]:
            if plugin in self._silenced:
                continue
            try:
                self._manager.call(implementation, hook_name, **arguments)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self._silenced.add(plugin)
                say(
                    f"plugin '{plugin.name}' of {plugin.label} failed in {hook_name} and is left out for the rest of "
                    f"the run: {one_line(error)}"
                )
                if debug_enabled():
                    say(_traceback(error))

    # Loading

    def _load(self, plugin: Plugin) -> None:
        try:
            with prints_aside():
                module = import_plugin(plugin)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a test library's way to skip, an event loop's to cancel, sys.exit
            _mark_failed(plugin, f"{plugin.module} cannot be imported: {one_line(error)}", error)
        else:
            self._register(plugin, module)

    def _register(self, plugin: Plugin, implementation: Any) -> None:
        """Add all that a plugin registers, or nothing."""
        found: list[Registration] = []
        try:
            if self._manager.is_registered(implementation):
                raise PluginError(f"{plugin.module} is registered already, by plugin '{self._owner(implementation)}'")
            implemented = self._manager.add(implementation, name=f"{plugin.name}@{id(plugin):x}")
            self._objects[plugin], self._hooks[plugin] = implementation, frozenset(implemented)
            self._callers = {}
            for kind, hook_name in HOOK_OF_KIND.items():
                if hook_name in implemented:
                    register = self._register_function(plugin, kind, found)
                    with prints_aside():
                        self._manager.call(implementation, hook_name, register=register)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._forget(plugin)
            text = text_of(error) if isinstance(error, PluginError) else one_line(error)
            _mark_failed(plugin, text, error)
        else:
            for entry in found:
                self._registrations.setdefault((entry.kind, entry.name), []).append(entry)

    def _register_function(self, plugin: Plugin, kind: str, found: list[Registration]) -> Callable[..., None]:
        def register(name: str, target: Any, **options: Any) -> None:
            entry = make_registration(plugin, kind, name, target, **options)
            if kind == "commands" and name in self._reserved_commands:
                raise PluginError(f"command '{name}' is pkmncli's own: choose another name")
            if any((other.kind, other.name) == (kind, name) for other in found):
                raise PluginError(f"{entry.title} is registered twice")
            found.append(entry)

        return register

    def _forget(self, plugin: Plugin) -> None:
        implementation = self._objects.pop(plugin, None)
        self._hooks.pop(plugin, None)
        self._callers = {}
        if implementation is not None:
            self._manager.unregister(implementation)
        for key, entries in list(self._registrations.items()):
            entries[:] = [entry for entry in entries if entry.plugin is not plugin]
            if not entries:
                del self._registrations[key]

    def _owner(self, implementation: Any) -> str:
        return next(plugin.name for plugin, known in self._objects.items() if known is implementation)

    def _sections(self) -> dict[str, list[Registration]]:
        sections: dict[str, list[Registration]] = {}
        for entry in self.registrations():
            if entry.config is not None:
                sections.setdefault(entry.name, []).append(entry)
        return sections

    @staticmethod
    def _known(kind: str) -> str:
        if kind not in HOOK_OF_KIND:
            raise PluginError(f"plugins bring no {kind!r}; they bring {', '.join(HOOK_OF_KIND)}")
        return kind

    def _unknown(self, kind: str, name: str) -> str:
        names = self.names(kind)
        hint = did_you_mean(name, names, ".", lead="; ")
        if kind == "environments" and (found := _in_gymnasium(name)):
            hint = f"; did you mean 'gym:{found}'?"
        if kind == "llm_backends" and hint == ".":
            hint = f"; a model is named after its backend, as BACKEND:{name}."
        known = f"Known: {', '.join(names)}." if names else "No plugin brings one."
        return f"there is no {SINGULAR[kind]} '{name}'{hint} {known} See: pkmn plugins"


def _in_gymnasium(name: str) -> str:
    """Return the id in Gymnasium that a name may be meant as: ``CartPole-v1`` for ``cartpole``; empty if none."""
    if GYMNASIUM_ID.search(name):
        return name
    import gymnasium  # noqa: PLC0415 - only for an error

    found = [one for one in gymnasium.registry.values() if one.name.lower() == name.lower()]
    return max(found, key=lambda one: one.version or 0).id if found else ""


def contested(found: list[Registration]) -> str:
    """Return the line that names all plugins that claim a name."""
    claims = " and ".join(f"{entry.plugin.label} (plugin '{entry.plugin.name}')" for entry in found)
    # leaving out what came with pkmncli would take much more away than the one name
    spare = next((entry for entry in reversed(found) if entry.distribution != "pkmncli"), found[-1])
    return f"{found[0].title} is claimed by {claims}; leave one out with {DISABLE_VARIABLE}={spare.plugin.name}"


def _mark_failed(plugin: Plugin, problem: str, error: BaseException) -> None:
    plugin.state = "failed"
    plugin.problem = problem
    plugin.traceback = _traceback(error)


def _traceback(error: BaseException) -> str:
    from traceback import format_exception  # noqa: PLC0415 - only where something failed

    return "".join(format_exception(error))
