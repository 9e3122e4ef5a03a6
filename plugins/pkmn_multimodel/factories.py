"""Functions that make trainers, and start a training in one call."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

from pkmn_multimodel.libraries import cached_models
from pkmn_multimodel.settings import MODEL_TYPES, MultiModelConfig, TrainingMode
from pkmn_multimodel.trainer import MultiModelTrainer


def create_multimodel_trainer(
    num_models: int = 4, training_mode: TrainingMode = TrainingMode.MIXED, **settings: Any
) -> MultiModelTrainer:
    """Return a trainer. ``settings`` are further ones of :class:`MultiModelConfig`."""
    return MultiModelTrainer(_config(num_models=num_models, training_mode=training_mode, **settings))


def create_cooperative_multimodel_trainer(num_models: int = 4, **settings: Any) -> MultiModelTrainer:
    """Return a trainer of models that help each other."""
    return create_multimodel_trainer(num_models, TrainingMode.COOPERATIVE, **settings)


def create_competitive_multimodel_trainer(num_models: int = 4, **settings: Any) -> MultiModelTrainer:
    """Return a trainer of models that oppose each other."""
    return create_multimodel_trainer(num_models, TrainingMode.COMPETITIVE, **settings)


async def quick_start_multimodel_training(
    num_models: int = 4, max_episodes: int = 100, **settings: Any
) -> dict[str, Any]:
    """Train models with the default settings. Return the results."""
    return await MultiModelTrainer(_config(num_models=num_models, max_episodes=max_episodes, **settings)).train()


def get_available_models() -> dict[str, list[str]]:
    """Return for each kind of model its default name, and for local kinds the names in the local cache."""
    names = MultiModelConfig.model_validate({}).model_names
    found = {kind: [names[kind]] if names.get(kind) else [] for kind in MODEL_TYPES}
    found["cached"] = cached_models()
    return found


def get_version_info() -> dict[str, str]:
    """Return the versions of this package and of the libraries that it uses; ``not installed`` for missing ones."""
    found = {"python": platform.python_version()}
    for package in ("pkmncli", "torch", "transformers", "peft", "pettingzoo", "ray", "vllm"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def _config(**settings: Any) -> MultiModelConfig:
    return MultiModelConfig.model_validate(settings)
