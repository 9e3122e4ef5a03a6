"""Settings read from a script's objects, so that the run's file is complete and the run can resume."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from pkmncli import hookimpl
from pkmncli.api import StrategyType
from pkmncli.config import NONE, TrainSettings
from pkmncli.config.run_file import plain, toml_item
from pkmncli.errors import ConfigurationError
from pkmncli.llm.manager import LLMManager
from pkmncli.plugins import Registry, import_name

_CORE_NAMES = {"start_state": "init_state"}
"""Names of an environment's settings among those of a training, if they differ."""
_FOR_PEOPLE = frozenset({"screen", "render_mode"})
"""Settings of an environment that a training sets itself."""


class Given:
    """Settings found in objects: the training's own, and those of plugins as ``section.key=value``."""

    def __init__(self, registry: Registry) -> None:
        self.core: dict[str, Any] = {}
        self.sets: list[str] = []
        self._registry = registry

    def plugin(self, section: str, key: str, value: Any) -> None:
        """Add a plugin's setting."""
        self.sets.append(f"{section}.{key}={_text(value)}")

    def environment(self, environment: Any) -> None:
        """Add an environment, which is built again in its own process from its settings.

        Raises:
            ConfigurationError: no plugin has such an environment, or it can't be built from settings.
        """
        name, section = self._environment_name(environment)
        self.core["env"] = name
        settings = environment.settings
        for key in type(settings).model_fields:
            if key not in settings.model_fields_set or key in _FOR_PEOPLE:
                continue
            value = getattr(settings, key)
            if key == "rewards":
                self._rewards(value)
            elif _CORE_NAMES.get(key, key) in TrainSettings.model_fields:
                if value is not None:
                    self.core[_CORE_NAMES.get(key, key)] = value
            else:
                self.plugin(section, key, value)

    def _environment_name(self, environment: Any) -> tuple[str, str]:
        for name in self._registry.names("environments"):
            registration = self._registry.get("environments", name)
            found, config = registration.load(), registration.load_config()
            if config is None or not isinstance(getattr(environment, "settings", None), config):
                continue
            if type(environment) is not found:
                self.core["env_class"] = _importable(type(environment))
            return name, name
        raise ConfigurationError(
            f"{type(environment).__name__} has the settings of no installed environment: register it with a plugin"
        )

    def _rewards(self, parts: Mapping[str, Any]) -> None:
        texts = []
        for name, part in parts.items():
            if part.target is not None:
                raise ConfigurationError(
                    f"reward {name!r} is a class of your own: register it with a plugin, or override _calculate_reward"
                )
            texts.append(f"{name}={part.weight:g}")
            for key, value in part.settings.items():
                self.plugin(name, key, value)
        self.core["reward"] = texts

    def model(self, manager: Any) -> None:
        """Add a language model: an :class:`LLMManager` by its names, any other object unchanged."""
        if manager is None:
            self.core["llm"] = NONE
            return
        chosen = manager.choice if isinstance(manager, LLMManager) else None
        if chosen:
            self.core.update(chosen)
            return
        self.core["llm"] = self._register("llm_backends", manager, lambda settings, model: manager)

    def strategy(self, strategy: Any) -> None:
        """Add a strategy: of an installed class by name and settings, any other object unchanged.

        Raises:
            ConfigurationError: it is no strategy.
        """
        for name in self._registry.names("strategies"):
            registration = self._registry.get("strategies", name)
            if type(strategy) is registration.load():
                self.core["strategy"] = name
                self.core["initial_strategy"] = str(getattr(strategy, "current_strategy", StrategyType.LLM_HEAVY))
                own = getattr(strategy, "settings", None)
                for key in getattr(own, "model_fields_set", ()):
                    self.plugin(name, key, getattr(own, key))
                return
        if not callable(getattr(strategy, "select", None)):
            raise ConfigurationError(
                f"{type(strategy).__name__} is no strategy: derive it from AdaptiveStrategySystem, or give it the "
                "methods of pkmncli.api.Strategy"
            )
        self.core["strategy"] = self._register("strategies", strategy, lambda settings, initial: strategy)

    def _register(self, kind: str, thing: Any, build: Callable[..., Any]) -> str:
        """Register an object of a script under the name of its class, and return the name."""
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", type(thing).__name__).lower().strip("_").replace("_", "-")
        hook = hookimpl(specname=f"pkmn_register_{kind}")(lambda register: register(name, build, help="of a script"))
        plugin = ModuleType(name)
        setattr(plugin, f"pkmn_register_{kind}", hook)
        self._registry.unregister_plugin(f"script-{name}")
        self._registry.register_plugin(plugin, f"script-{name}")
        return name

    def decisions(self, analyzer: Any) -> None:
        """Keep decisions beside those that an analyzer was opened on."""
        folder = getattr(analyzer, "folder", None)
        if folder is not None:
            self.core["decision_db_path"] = Path(folder)


def _text(value: Any) -> str:
    if isinstance(value, str | Path):
        return str(value)
    found: str = toml_item(plain(value)).as_string()  # as --set reads it
    return found


def _importable(kind: type) -> str:
    """Return the import target of a class, for workers."""
    name = import_name(kind)
    if name is None:
        raise ConfigurationError(
            f"{kind.__name__} is defined in the main script or inside a function; environments are built in worker "
            "processes, which can only import it from a module: put the class into a file beside the script"
        )
    return name
