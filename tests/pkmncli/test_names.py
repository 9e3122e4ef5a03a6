"""The names that ``pkmncli`` offers at its top."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import pkmncli
import pkmncli.api
import pkmncli.testing
from pkmncli.errors import PluginError
from pkmncli.plugins import Registry, set_registry


@pytest.mark.parametrize("package", [pkmncli, pkmncli.api, pkmncli.testing], ids=lambda package: package.__name__)
def test_every_name_is_found(package: ModuleType) -> None:
    assert len(package.__all__) > 5
    assert all(hasattr(package, name) for name in package.__all__)
    assert set(package.__all__) <= set(dir(package))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'HybridTrainers'"):
        pkmncli.HybridTrainers  # type: ignore[attr-defined]  # noqa: B018


def test_a_name_of_a_plugin_that_is_not_there_says_which() -> None:
    previous = set_registry(Registry())
    try:
        with pytest.raises(PluginError, match="pyboy"):
            pkmncli.GameStateAnalysis  # noqa: B018
    finally:
        set_registry(previous)


def test_nothing_is_imported_for_names_that_nobody_asks_for() -> None:
    code = (
        "import sys, pkmncli, pkmncli.api, pkmncli.testing;"
        "print(*sorted(name for name in sys.modules if name.startswith('pkmn')))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["pkmncli", "pkmncli.api", "pkmncli.lazy_names", "pkmncli.testing"]
