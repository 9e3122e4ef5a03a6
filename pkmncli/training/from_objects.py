"""Settings read from a script's objects, so that the run's file is complete and the run can resume."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gymnasium

from pkmncli import hookimpl
from pkmncli.api import StrategyType
from pkmncli.api.plain_state import state_to_bytes
from pkmncli.config import NONE, TrainSettings
from pkmncli.config.run_file import plain, toml_item
from pkmncli.diagnostics import say_once
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.agent_learner import AgentLearner
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.llm.manager import LLMManager
from pkmncli.plugins import Registration, Registry, import_name
from pkmncli.training.script_objects import ScriptObject, digest_of, keep, pack

if TYPE_CHECKING:
    from pkmncli.hybrid.agent import HybridAgent

_CORE_NAMES = {"start_state": "init_state"}
"""Names of an environment's settings among those of a training, if they differ."""
_PLAIN = "gym"
"""Environment whose settings stand for one without a plugin."""
_FOR_PEOPLE = frozenset({"screen", "render_mode"})
"""Settings of an environment that a training sets itself."""
_OF_PICTURES = _FOR_PEOPLE | {"isopen"}
"""Attributes of an environment that only pictures change."""
_FIRST_STEPS = 50


class Given:
    """Settings found in objects: the training's own, and those of plugins as ``section.key=value``."""

    def __init__(self, registry: Registry) -> None:
        self.core: dict[str, Any] = {}
        self.sets: list[str] = []
        self.script: ScriptObject | None = None
        """Environment that settings cannot express."""
        self._registry = registry
        self._plugins: dict[str, ModuleType] = {}
        """Plugins that register the other objects that settings cannot express."""

    def registered(self) -> AbstractContextManager[None]:
        """Return the context in which the objects that are not installed have their names in settings."""
        return self._registry.with_plugins(self._plugins)

    def plugin(self, section: str, key: str, value: Any) -> None:
        """Add a plugin's setting.

        Raises:
            ConfigurationError: the value is of no kind that a file of settings can hold.
        """
        try:
            self.sets.append(f"{section}.{key}={_text(value)}")
        except (ValueError, TypeError):
            raise ConfigurationError(
                f"setting '{section}.{key}' = {value!r}: give a text, a number, a truth value or a list of them"
            ) from None

    def environment(self, environment: Any) -> None:
        """Add an environment, which is built again in its own process.

        That is from its settings, or from its id if Gymnasium has it registered; the rest of it, such as wrappers and
        classes of the script, is sent there as an object.

        Raises:
            ConfigurationError: it is no environment, or cannot be sent to another process.
        """
        if isinstance(environment, type):
            raise ConfigurationError(f"{environment.__name__} is a class: give an instance of it")
        inside = getattr(environment, "unwrapped", environment)
        registration = self._registration_of(inside)
        if registration is not None:
            self._settings_of(inside, registration.name)
            kind = type(inside)
            derived = isinstance(registration.load(), type) and kind is not registration.load()
            if derived and inside is environment and import_name(kind) is not None:
                self.core["env_class"] = import_name(kind)
            elif derived or inside is not environment:
                self._object(environment)
        elif not callable(getattr(environment, "step", None)):
            raise ConfigurationError(f"{type(environment).__name__} is no environment: it has no step()")
        else:
            self.core["env"] = _PLAIN
            if not self._registered_id(environment):
                self._object(environment)

    def _registration_of(self, environment: Any) -> Registration | None:
        """Return the registered environment whose settings an environment has; None if it has none of them."""
        for name in self._registry.names("environments"):
            registration = self._registry.get("environments", name)
            config = registration.load_config()
            if config is not None and isinstance(getattr(environment, "settings", None), config):
                return registration
        return None

    def _settings_of(self, environment: Any, name: str) -> None:
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
                self.plugin(name, key, value)

    def _registered_id(self, environment: Any) -> bool:
        """Add an environment of Gymnasium's own by its id, if that is all there is to it. Return True if so.

        One that was changed since it was made is more.
        """
        spec = getattr(environment, "spec", None)
        if spec is None or spec.additional_wrappers or not str(spec.entry_point).startswith("gymnasium.envs."):
            return False
        arguments = {key: value for key, value in spec.kwargs.items() if key != "render_mode"}
        try:
            texts = [f"{key}={toml_item(plain(value)).as_string()}" for key, value in arguments.items()]
        except (ValueError, TypeError):  # an object
            return False
        if _changed(environment.unwrapped, gymnasium.make(spec.id, disable_env_checker=True, **arguments).unwrapped):
            return False
        self.plugin(_PLAIN, "id", spec.id)
        self.core["env_args"] = texts
        if spec.max_episode_steps is not None:
            self.core["max_steps_per_episode"] = spec.max_episode_steps
        return True

    def _object(self, environment: Any) -> None:
        """Add an environment as an object, under the name of its classes."""
        inside = getattr(environment, "unwrapped", environment)

        def rebuilt(one: Any) -> bool:
            return one is inside and self._registration_of(one) is not None

        kinds = dict.fromkeys(type(one).__name__ for one in (environment, inside))
        found = ScriptObject(pack(environment, rebuilt))
        self.core["env_object"], self.script = keep(" of ".join(kinds), found)
        self.core["env_object_digest"] = digest_of(environment, rebuilt)

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

    def agent(self, agent: HybridAgent) -> None:
        """Add an agent that decides by itself, as the learner of a training in which nothing else decides."""
        name = self._register("algorithms", agent, partial(AgentLearner, agent))
        self.core |= {"rl": name, "mode": str(AgentMode.RL_ONLY), "llm": NONE}

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
        """Return the name of an object of a script, that of its class, which it has while :meth:`registered`."""
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", type(thing).__name__).lower().strip("_").replace("_", "-")
        hook = hookimpl(specname=f"pkmn_register_{kind}")(lambda register: register(name, build, help="of a script"))
        plugin = ModuleType(name)
        setattr(plugin, f"pkmn_register_{kind}", hook)
        self._plugins[f"script-{name}"] = plugin
        return name

    def decisions(self, analyzer: Any) -> None:
        """Keep decisions beside those that an analyzer was opened on."""
        folder = getattr(analyzer, "folder", None)
        if folder is not None:
            self.core["decision_db_path"] = Path(folder)
        registered = self._registry.get("analyzers", "decisions").load() if analyzer is not None else None
        own, of_plugin = (getattr(kind, "record_decision", None) for kind in (type(analyzer), registered))
        if analyzer is not None and own is not None and own is not of_plugin:
            say_once(
                f"{type(analyzer).__name__}.record_decision: no effect, since a training records its decisions itself; "
                "take them from get_recent_decisions, or follow them with register_callback('step_batch', ...)"
            )


def _text(value: Any) -> str:
    if isinstance(value, str | Path):
        return str(value)
    found: str = toml_item(plain(value)).as_string()  # as --set reads it
    return found


def _changed(environment: Any, fresh: Any) -> bool:
    """Return True if an environment has other plain values or spaces than a fresh one, or a method of the instance.

    What changes in the first steps of the fresh one is the state of an episode, and may differ.
    """
    before = dict(_comparable(fresh))
    fresh.reset(seed=0)
    fresh.action_space.seed(0)
    after = [dict(_comparable(fresh))]
    for _ in range(_FIRST_STEPS):
        ended = fresh.step(fresh.action_space.sample())[2]
        after.append(dict(_comparable(fresh)))
        if ended:
            break
    fresh.close()
    own = dict(_comparable(environment))
    fixed = {name for name in own if all(name in before and one.get(name) == before[name] for one in after)}
    new = [name for name in own if not any(name in one for one in (before, *after))]
    return bool(new) or any(own[name] != before[name] for name in fixed - _OF_PICTURES)


def _comparable(environment: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and value of the attributes that can be compared: plain values, spaces and functions."""
    for name, value in vars(environment).items():
        if isinstance(value, gymnasium.Space):
            yield name, value
        elif callable(value):
            yield name, getattr(value, "__qualname__", "")
        else:
            with contextlib.suppress(TypeError):
                yield name, state_to_bytes(value)
