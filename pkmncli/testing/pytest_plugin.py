"""Fixtures for tests of plugins. It imports only pytest and the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pkmncli.plugins import Plugin, Registry, set_registry


@pytest.fixture
def plugin_registry() -> Iterator[Registry]:
    """Provide an empty registry that is the process's own during the test: the core looks up plugins in it."""
    registry = Registry()
    previous = set_registry(registry)
    yield registry
    set_registry(previous)


@pytest.fixture
def register_plugin(plugin_registry: Registry) -> Callable[..., Plugin]:
    """Provide a function that registers a module, or an object with hooks, in :func:`plugin_registry`."""

    def register(plugin: Any, name: str = "inline") -> Plugin:
        return plugin_registry.register_plugin(plugin, name)

    return register


@pytest.fixture
def register_beside(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Plugin]]:
    """Provide a function that registers a module, or an object with hooks, beside the installed plugins.

    A plugin that is installed is not registered again. Runs need a store, which one of the installed plugins brings.
    """
    monkeypatch.setenv("PKMN_TRACK", '["none"]')
    registry = Registry.discover()
    previous = set_registry(registry)

    def register(plugin: Any, name: str = "inline") -> Plugin:
        return registry.loaded(plugin) or registry.register_plugin(plugin, name)

    yield register
    set_registry(previous)
