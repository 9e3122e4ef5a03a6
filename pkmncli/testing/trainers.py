"""Small trainings for tests: the real thing on the bundled game, seconds long, in a folder of its own."""

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
"""File that tells a folder made here from one of a user's."""

QUICK: dict[str, Any] = {
    "dqn.learning_starts": 40,
    "dqn.batch_size": 8,
    "dqn.screen_channels": [4, 8],
    "dqn.screen_features": 16,
    "dqn.vector_features": 8,
    "dqn.head_features": 16,
    "dqn.target_update_interval": 10,
}
"""A network that learns as the usual one does, and much faster."""


def create_mock_environment(**settings: Any) -> Any:
    """The environment of the documents on the bundled game: nothing of it is made up.

    Args:
        settings: of the environment.
    """
    environment = get_registry().get("environments", "pyboy").offered("EnhancedPyBoyPokemonCrystalEnv")
    return environment(**{"max_steps_per_episode": 100, **settings})


def generate_test_config(temp_dir: str | Path | None = None, **settings: Any) -> Path:
    """Writes a settings file for a training of seconds, and returns its path.

    Args:
        temp_dir: folder for it and its runs; a new temporary one without.
        settings: of a training by name, in place of the file's own.
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
    """A trainer of seconds on the bundled game. ``trainer.train(total_episodes=None)`` trains for ``episodes``.

    Args:
        episodes: its budget.
        headless: without a window.
        temp_dir: folder for its runs; a new temporary one without.
        settings: of a training by name, and a plugin's as ``section.key``.
    """
    given = {"episodes": episodes, "headless": headless, "max_steps_per_episode": 50, "curriculum.enabled": False}
    return HybridLLMRLTrainer(save_dir=_marked(temp_dir) / "runs", settings={**QUICK, **given, **settings})


def cleanup_test_files(temp_dir: str | Path) -> None:
    """Removes a folder that the functions here have made or used, with all that is in it.

    Raises:
        ConfigurationError: it is none of theirs.
    """
    folder = Path(temp_dir)
    if not folder.exists():
        return
    if not (folder / MARK).is_file():
        raise ConfigurationError(f"{folder} was not made by pkmncli.testing: remove it yourself")
    shutil.rmtree(folder)


def _marked(temp_dir: str | Path | None) -> Path:
    """The folder, which may only be a new or empty one, or one of ours."""
    folder = Path(tempfile.mkdtemp(prefix="pkmn-test-")) if temp_dir is None else Path(temp_dir)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (folder / MARK).is_file():
        raise ConfigurationError(f"{folder} has other files in it: name an empty or a new folder")
    (folder / MARK).touch()
    return folder
