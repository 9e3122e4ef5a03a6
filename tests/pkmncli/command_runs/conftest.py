"""Fixtures of tests of runs that a plugin's command makes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from support.command_runs import EXAMPLE, Register


@pytest.fixture(autouse=True)
def _bandit(monkeypatch: pytest.MonkeyPatch, register_beside: Register) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    from pkmn_bandit import plugin  # type: ignore[import-not-found]  # noqa: PLC0415 - only on the path now

    register_beside(plugin, "bandit")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Variables of a process in which the example is installed."""
    site = tmp_path / "site"
    about = site / "pkmn_bandit-1.0.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: pkmn-bandit\nVersion: 1.0.0\n")
    (about / "entry_points.txt").write_text("[pkmn]\nbandit = pkmn_bandit.plugin\n")
    paths = [str(site), str(EXAMPLE), *sys.path]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PKMN_")}
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), "PKMN_TRACK": '["none"]'}
