"""Policies that games come with: weights, the settings that they were trained with, and what they were measured at.

A game's profile may have a folder ``pretrained``:

    weights.safetensors  what acts, as the learner's weights() gives it
    config.toml          the settings of its training, without paths of the machine that it was trained on
    score.json           the learner alone, the pilot and random play on the same starts; the image; versions
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from pkmncli.api.data_text import parse_json
from pkmncli.atomic_files import write_atomic, write_errors_explained, write_json
from pkmncli.config import CONFIG_FILE, MAY_CHANGE, ResolvedSettings
from pkmncli.config.run_file import toml_text
from pkmncli.errors import ConfigurationError, RunError

if TYPE_CHECKING:
    from pkmncli.plugins import Registry

FOLDER = "pretrained"
GAME_FILE = "game.toml"
"""File by which a game profile's folder is known."""
WEIGHTS = "weights.safetensors"
SCORE = "score.json"

_OF_ONE_TRAINING = (
    *(*MAY_CHANGE, "game", "run_name", "preset", "envs", "final_episodes", "film"),
    *("demonstrations", "demonstration_steps", "start_from", "pretrain_steps"),
)
"""Settings of the core that the policy does not depend on, beside all paths."""


@dataclass(frozen=True, slots=True)
class Pretrained:
    """The policy that a game comes with. ``game`` is what the game is chosen by: its name, or its profile's folder."""

    name: str
    folder: Path
    game: str | Path

    def settings(self, registry: Registry) -> ResolvedSettings:
        """Return the settings of its training, for its game."""
        found = ResolvedSettings.from_run(self.folder, registry)
        key = "game_folder" if isinstance(self.game, Path) else "game"
        return found.changed({key: self.game}, may_change=(key,), origin=f"pretrained {self.name}")

    def weights(self) -> dict[str, Any]:
        """Return the weights by dotted name. Raises RunError where the file is missing or damaged."""
        try:
            return dict(load_file(self.folder / WEIGHTS))
        except (OSError, SafetensorError) as error:
            raise RunError(f"{self.folder / WEIGHTS} cannot be read: {error}; install its package anew") from None

    def score(self) -> dict[str, Any]:
        """Return its measured results. Raises RunError where the file is missing or damaged."""
        path = self.folder / SCORE
        try:
            found = parse_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RunError(f"{path} cannot be read: {error}; install its package anew") from None
        if not (
            isinstance(found, dict) and isinstance(found.get("identity"), dict) and isinstance(found.get("steps"), int)
        ):
            raise RunError(f"{path} is damaged: it lacks identity or steps; install its package anew")
        return found


def find_pretrained(game: str | Path, registry: Registry) -> Pretrained:
    """Return the policy that a game comes with.

    Args:
        game: its name, or the folder of its profile.
        registry: where names are looked up.

    Raises:
        PluginError: there is no game of that name.
        ConfigurationError: it comes without one.
    """
    if isinstance(game, Path) or (Path(game) / GAME_FILE).is_file():
        profile, game = Path(game).absolute(), Path(game).absolute()
    else:
        profile = registry.get("games", game).load()
    folder, name = profile / FOLDER, profile.name if isinstance(game, Path) else game
    if not folder.is_dir():
        raise without_policy(f"the game {name}", registry)
    return Pretrained(name, folder, game)


def without_policy(what: str, registry: Registry) -> ConfigurationError:
    """Return the error that a game or environment comes without a pretrained policy, with the games that have one."""
    having = [one for one in registry.names("games") if (registry.get("games", one).load() / FOLDER).is_dir()]
    return ConfigurationError(
        f"{what} comes without a pretrained policy; there is one for {', '.join(having) or 'no game'}"
    )


def write_pretrained(folder: Path, learner: Any, settings: ResolvedSettings, score: Mapping[str, Any]) -> None:
    """Write a policy in the form in which a game comes with it.

    Args:
        folder: made where it is missing; files of an earlier one are replaced.
        learner: what acts.
        settings: of its training.
        score: what it was measured at; ``identity`` and ``steps`` among it.

    Raises:
        ConfigurationError: the learner hands on no weights.
        RunError: a file can't be written.
    """
    if not hasattr(learner, "weights"):
        raise ConfigurationError(f"the learner {type(learner).__name__} hands on no weights: it has no weights()")
    arrays = {name: np.ascontiguousarray(value) for name, value in learner.weights().items()}
    with write_errors_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / WEIGHTS, save(arrays))
        write_atomic(folder / CONFIG_FILE, toml_text(_kept(settings), lambda section, key: "of its training"))
        write_json(folder / SCORE, score)


def _kept(settings: ResolvedSettings) -> dict[str, dict[str, Any]]:
    """Return the settings that a policy depends on, by section: no paths, and none of the training alone."""
    kept = {}
    for section, values in settings.values().items():
        kept[section] = {
            key: value
            for key, value in values.items()
            if value is not None
            and not isinstance(value, Path)
            and not (section == "" and (key in _OF_ONE_TRAINING or key.startswith(("llm", "lessons"))))
        }
    return {section: values for section, values in kept.items() if values}
