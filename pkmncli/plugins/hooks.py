"""Manager of hooks: pluggy's, with clear errors, and hooks called one plugin at a time."""

from __future__ import annotations

import inspect
from types import FunctionType, ModuleType
from typing import Any

import pluggy

from pkmncli import hookspecs
from pkmncli.errors import PluginError, did_you_mean

HOOK_NAMES = tuple(name for name in vars(hookspecs) if name.startswith("pkmn_"))
"""Names of all hooks."""

_MARK = f"{hookspecs.PROJECT}_impl"


class HookManager(pluggy.PluginManager):
    """Manager of hook implementations. A plugin with a wrong hook is refused as a whole."""

    def __init__(self) -> None:
        super().__init__(hookspecs.PROJECT)
        self.add_hookspecs(hookspecs)

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        """Return the options of a hook as pluggy does, but faster for modules."""
        if isinstance(plugin, ModuleType):
            value = vars(plugin).get(name)
            return getattr(value, _MARK, None) if isinstance(value, FunctionType) else None
        return super().parse_hookimpl_opts(plugin, name)

    def add(self, implementation: Any, name: str) -> list[str]:
        """Register a plugin and return the hooks that it implements.

        Raises:
            PluginError: a hook does not exist or has other arguments, or a hook lacks its decorator.
        """
        implemented = self._implemented(implementation)
        try:
            self.register(implementation, name)
        except pluggy.PluginValidationError as error:
            raise PluginError(self._argument_problem(implementation) or " ".join(str(error).split())) from error
        return implemented

    def call(self, implementation: Any, hook_name: str, **arguments: Any) -> None:
        """Call a hook of one plugin only. Its exceptions pass through."""
        others = [other for other in self.get_plugins() if other is not implementation]
        self.subset_hook_caller(hook_name, others)(**arguments)

    def _implemented(self, implementation: Any) -> list[str]:
        implemented = []
        for attribute in dir(implementation):
            options = self.parse_hookimpl_opts(implementation, attribute)
            if options is None:
                if attribute in HOOK_NAMES and callable(getattr(implementation, attribute)):
                    raise PluginError(f"{attribute} lacks the decorator @pkmncli.hookimpl")
                continue
            hook_name = options.get("specname") or attribute
            if hook_name in HOOK_NAMES:
                implemented.append(hook_name)
            elif not options.get("optionalhook"):
                hint = did_you_mean(hook_name, HOOK_NAMES, lead="; ", shown="{}")
                raise PluginError(f"there is no hook {hook_name}{hint}")
        return implemented

    def _argument_problem(self, implementation: Any) -> str:
        for hook_name in self._implemented(implementation):
            known = inspect.signature(getattr(hookspecs, hook_name)).parameters
            for argument in inspect.signature(getattr(implementation, hook_name)).parameters:
                if argument not in known:
                    return f"{hook_name} has no argument '{argument}'; it has {', '.join(known)}"
        return ""
