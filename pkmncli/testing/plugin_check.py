"""Checks that a plugin keeps the contracts, for any plugin author."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType
from typing import Any

from pkmncli import api
from pkmncli.config.presets import check_presets
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
}


_OPTIONAL = {
    "algorithms": (
        *("action_values", "remarks", "export_policy", "learn_beside", "close"),
        *("sample_actions", "observe_shown", "weights", "take_weights"),
    ),
}
"""Optional methods of a target; another attribute of such a name would be called in their place."""


def check_plugin(plugin: Any) -> list[Registration]:
    """Register a plugin alone and try all that it registers.

    Args:
        plugin: the module that its entry point names, or an object with hook implementations.

    Returns:
        The registrations.

    Raises:
        PluginError: a hook or a registration is wrong, or a target cannot be imported.
        AssertionError: a target lacks a method of its contract, a setting lacks its default or description, two of
            them name encoders, a preset does not fit the settings, an encoder does not read as it must, or loading it
            imports a heavy module.
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
    contract = _CONTRACTS.get(entry.kind)
    if contract is None or not isinstance(target, type):
        return
    methods = [name for name, value in vars(contract).items() if callable(value) and not name.startswith("_")]
    missing = [name for name in methods if not callable(getattr(target, name, None))]
    assert not missing, f"{entry.title}: {target.__qualname__} has no {', '.join(missing)}"
    for name in _OPTIONAL.get(entry.kind, ()):
        assert callable(getattr(target, name, len)), f"{entry.title}: {target.__qualname__}.{name} is not a method"


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
