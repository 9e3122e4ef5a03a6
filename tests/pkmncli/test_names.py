"""The names that ``pkmncli`` offers at its top."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pkmncli
from pkmncli.errors import PluginError
from pkmncli.plugins import Registry, set_registry


@pytest.mark.parametrize("name", pkmncli.__all__)
def test_every_name_is_found_and_is_itself(name: str) -> None:
    assert getattr(getattr(pkmncli, name), "__name__", name) == name
    assert name in dir(pkmncli)


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
    code = "import sys, pkmncli; sys.exit(any(name.startswith(('pkmn_', 'pkmncli.')) for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
