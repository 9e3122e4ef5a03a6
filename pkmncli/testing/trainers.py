"""Small trainings for tests: real ones on the bundled game, a few seconds long, in their own folder."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from pkmncli.config.core_sections import CURRICULUM
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import get_registry
from pkmncli.training.hybrid_trainer import HybridLLMRLTrainer

MARK = ".pkmn-test"
"""File that marks a folder made here."""

QUICK: dict[str, Any] = {
    "dqn.learning_starts": 40,
    "dqn.batch_size": 8,
    "dqn.screen_channels": [4, 8],
    "dqn.screen_features": 16,
    "dqn.vector_features": 8,
    "dqn.head_features": 16,
    "dqn.target_update_interval": 10,
}
"""A network that learns as the usual one does, but much faster."""


def create_mock_environment(**settings: Any) -> Any:
    """Return the real environment on the bundled game.

    Args:
        settings: of the environment.
    """
    environment = get_registry().get("environments", "pyboy").offered("EnhancedPyBoyPokemonCrystalEnv")
    return environment(**{"max_steps_per_episode": 100, **settings})


def generate_test_config(temp_dir: str | Path | None = None, **settings: Any) -> Path:
    """Write a settings file for a training of a few seconds, and return its path.

    Args:
        temp_dir: folder for it and its runs; None for a new temporary one.
        settings: of a training by name, instead of the file's own.
    """
    folder = _marked(temp_dir)
    sections: dict[str, Any] = {}
    for name, value in QUICK.items():
        section, _, key = name.partition(".")
        sections.setdefault(section, {})[key] = value
    content = {
        "episodes": 2,
        "max_steps_per_episode": 50,
        "save_dir": str(folder / "runs"),
        CURRICULUM: {"enabled": False},
        **sections,
        **settings,
    }
    path = folder / "config.json"
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")
    return path


def create_test_trainer(
    episodes: int = 2, headless: bool = True, temp_dir: str | Path | None = None, **settings: Any
) -> HybridLLMRLTrainer:
    """Return a trainer for a few seconds on the bundled game. ``trainer.train(total_episodes=None)`` runs ``episodes``.

    Args:
        episodes: its budget.
        headless: without a window.
        temp_dir: folder for its runs; None for a new temporary one.
        settings: of a training by name, and a plugin's as ``section.key``.
    """
    given = {"episodes": episodes, "headless": headless, "max_steps_per_episode": 50, "curriculum.enabled": False}
    return HybridLLMRLTrainer(save_dir=_marked(temp_dir) / "runs", settings={**QUICK, **given, **settings})


def cleanup_test_files(temp_dir: str | Path) -> None:
    """Remove a folder that these functions have made or used, with all its content.

    Raises:
        ConfigurationError: these functions have not made it.
    """
    folder = Path(temp_dir)
    if not folder.exists():
        return
    if not (folder / MARK).is_file():
        raise ConfigurationError(f"{folder} was not made by pkmncli.testing: remove it yourself")
    shutil.rmtree(folder)


def _marked(temp_dir: str | Path | None) -> Path:
    """Return the folder, which must be new, empty, or made here."""
    folder = Path(tempfile.mkdtemp(prefix="pkmn-test-")) if temp_dir is None else Path(temp_dir)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (folder / MARK).is_file():
        raise ConfigurationError(f"{folder} has other files in it: name an empty or a new folder")
    (folder / MARK).touch()
    return folder
