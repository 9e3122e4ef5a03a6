"""Fixtures for tests of plugins. Imports nothing but pytest and the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pkmncli.plugins import Plugin, Registry, set_registry


@pytest.fixture
def plugin_registry() -> Iterator[Registry]:
    """An empty registry, which is the process's own while the test runs: what the core looks up is found in it."""
    registry = Registry()
    previous = set_registry(registry)
    yield registry
    set_registry(previous)


@pytest.fixture
def register_plugin(plugin_registry: Registry) -> Callable[..., Plugin]:
    """Registers a module, or an object of a class with hooks, in :func:`plugin_registry`; undone with it."""

    def register(plugin: Any, name: str = "inline") -> Plugin:
        return plugin_registry.register_plugin(plugin, name)

    return register
