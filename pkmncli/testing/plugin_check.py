"""Checks that a plugin keeps the contracts, for any plugin author."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

from pkmncli import api
from pkmncli.config.presets import check_presets
from pkmncli.declared import skills_of
from pkmncli.errors import PluginError
from pkmncli.plugins import Registration, Registry

HEAVY_MODULES = (
    *("torch", "pyboy", "duckdb", "openai", "anthropic", "gymnasium", "numpy", "pydantic", "optuna", "wandb"),
)
"""Modules that a plugin may import only when used, never when loaded."""

_CONTRACTS: dict[str, type] = {
    "environments": api.Environment,
    "algorithms": api.Algorithm,
    "rewards": api.Reward,
    "strategies": api.Strategy,
    "pilots": api.Pilot,
    "stores": api.Store,
    "trackers": api.Tracker,
    "analyzers": api.Analyzer,
    "llm_backends": api.LLMBackend,
}


_OPTIONAL: dict[str, tuple[type, ...]] = {
    "environments": (api.OptionalEnvironment,),
    "pilots": (api.OptionalPilot,),
    "rewards": (api.OptionalReward,),
    "trackers": (api.OptionalTracker,),
    "stores": (api.ExportingStore, api.CountingStore, api.SourceStore, api.CheckedStore),
    "algorithms": (
        *(
            api.OptionalAlgorithm,
            api.ValuingAlgorithm,
            api.SamplingAlgorithm,
            api.ContinuousAlgorithm,
            api.ExportingAlgorithm,
        ),
        *(api.ShownAlgorithm, api.StartableAlgorithm, api.RemarkingAlgorithm, api.RememberingAlgorithm),
    ),
}
"""Protocols of the optional methods of a target."""


def check_plugin(plugin: Any) -> list[Registration]:
    """Register a plugin alone and try all that it registers.

    Args:
        plugin: the module that its entry point names, or an object with hook implementations.

    Returns:
        The registrations.

    Raises:
        PluginError: a hook or a registration is wrong, or a target cannot be imported.
        AssertionError: a target lacks a method of its contract, or a method takes other arguments; a setting lacks its
            default or description; two of them name encoders; a preset does not fit the settings; an encoder does not
            read as it must; or loading the plugin imports a heavy module.
    """
    registry = Registry()
    registry.register_plugin(plugin, "checked")
    entries = registry.registrations()
    if not entries and not _has_runtime_hook(plugin):
        raise PluginError("the plugin registers nothing, and has no hook that is called during a run")
    for entry in entries:
        assert entry.help, f"{entry.title} has no help line"
        _check_target(entry)
        _check_settings(entry)
        problems = check_presets(entry)
        assert not problems, "\n".join(problems)
        if entry.kind == "encoders":
            from pkmncli.testing.encoder_check import check_encoder  # noqa: PLC0415 - brings torch

            check_encoder(entry)
    if isinstance(plugin, ModuleType):
        heavy = imported_by_loading(plugin.__name__)
        assert not heavy, f"importing {plugin.__name__} imports {', '.join(heavy)}: register targets as strings"
    return entries


def imported_by_loading(module_name: str) -> list[str]:
    """Return those of :data:`HEAVY_MODULES` that importing a module loads, tried in a fresh interpreter."""
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; import {module_name}; "
        f"print(*[name for name in {HEAVY_MODULES!r} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return result.stdout.split()


def _has_runtime_hook(plugin: Any) -> bool:
    return any(name.startswith("pkmn_") and not name.startswith("pkmn_register_") for name in dir(plugin))


def _check_target(entry: Registration) -> None:
    target = entry.load()
    entry.load_play()
    evaluate = entry.load_evaluate()
    if evaluate is not None:
        try:
            inspect.signature(evaluate).bind("run", "state", "episodes", "seed")
        except TypeError:
            raise AssertionError(f"{entry.title}: its evaluation must take (run, state, episodes, seed)") from None
    contract = _CONTRACTS.get(entry.kind)
    if contract is None or not isinstance(target, type):
        return
    methods = _methods_of(contract)
    missing = [name for name in methods if not callable(getattr(target, name, None))]
    assert not missing, f"{entry.title}: {target.__qualname__} has no {', '.join(missing)}"
    for optional in _OPTIONAL.get(entry.kind, ()):
        methods |= {name: one for name, one in _methods_of(optional).items() if hasattr(target, name)}
    for name, method in methods.items():
        own = f"{entry.title}: {target.__qualname__}.{name}"
        assert callable(getattr(target, name)), f"{own} is not a method"
        assert _takes_the_same(inspect.getattr_static(target, name), method), f"{own} must take {_arguments(method)}"
    if entry.kind == "pilots":
        from pkmncli.llm.replies import ReplyForm  # noqa: PLC0415 - brings pydantic

        ReplyForm([replace(skill, action="") for skill in skills_of(target)])


def _methods_of(contract: type) -> dict[str, Any]:
    """Return the public methods of a contract, by name, without those of the contract that it extends."""
    return {
        name: value
        for name, value in vars(contract).items()
        if isinstance(value, FunctionType | classmethod) and not name.startswith("_")
    }


def _takes_the_same(found: Any, contract: Any) -> bool:
    """Return True if a method can be called as its contract says."""
    if not isinstance(found, FunctionType | classmethod | staticmethod):
        return True  # another kind of callable says itself what it takes
    parameters = list(_signature(contract).parameters.values())[1:]
    bound = () if isinstance(found, staticmethod) else ("self",)
    try:
        _signature(found).bind(
            *bound,
            *(one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD),
            **{one.name: one.name for one in parameters if one.kind is one.KEYWORD_ONLY},
        )
    except TypeError:
        return False
    return True


def _signature(method: Any) -> inspect.Signature:
    return inspect.signature(getattr(method, "__func__", method))


def _arguments(method: Any) -> str:
    names = list(_signature(method).parameters)[1:]
    return f"({', '.join(names)})" if names else "no arguments"


def _check_settings(entry: Registration) -> None:
    model = entry.load_config()
    if model is None:
        return
    assert model.model_config.get("extra") == "forbid", f"{entry.title}: {model.__name__} must forbid unknown keys"
    for name, field in model.model_fields.items():
        assert not field.is_required(), f"{entry.title}: setting {name} has no default"
        assert field.description, f"{entry.title}: setting {name} has no description"
    naming = [name for name, field in model.model_fields.items() if _names_encoder(field.json_schema_extra)]
    assert len(naming) < 2, f"{entry.title}: {' and '.join(naming)} are all marked NAMES_ENCODER, only one may be"


def _names_encoder(extra: Any) -> bool:
    return isinstance(extra, dict) and api.NAMES_ENCODER.items() <= extra.items()
