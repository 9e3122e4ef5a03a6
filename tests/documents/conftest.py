"""Fixtures: a folder, a settings file and an environment as the documents have them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pkmncli import (
    EnhancedPyBoyPokemonCrystalEnv,
)
from pkmncli.testing.trainers import QUICK

NO_LLM = {"llm": "none"}
"""The documents name gpt-4: its service is not there in a test."""


@pytest.fixture(autouse=True)
def _in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def config(tmp_path: Path) -> str:
    """The documents' file: all of its keys, with no image and no service."""
    content = {
        "headless": True,
        "observation_type": "multi_modal",
        "llm_model": "gpt-4",
        "max_context_length": 8000,
        "initial_strategy": "llm_heavy",
        "decision_db_path": "pokemon_decisions.db",
        "save_dir": "training_checkpoints",
        "log_level": "INFO",
    }
    sections: dict[str, dict[str, Any]] = {}
    for name, value in QUICK.items():
        section, _, key = name.partition(".")
        sections.setdefault(section, {})[key] = value
    (tmp_path / "hybrid_training_config.json").write_text(json.dumps(content | NO_LLM | sections))
    return "hybrid_training_config.json"


@pytest.fixture
def environment() -> Iterator[EnhancedPyBoyPokemonCrystalEnv]:
    made = EnhancedPyBoyPokemonCrystalEnv(headless=True, observation_type="multi_modal")
    yield made
    made.close()
