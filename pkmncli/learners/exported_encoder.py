"""Loader of an exported policy's encoder, if it is not the default one; its package must be installed."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel
from torch import Tensor

from pkmncli.errors import ConfigurationError
from pkmncli.learners.observations import Category, Counted, ObservationLayout
from pkmncli.learners.weights import under


def load_encoder(about: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Callable[[Mapping[str, Any]], Tensor]:
    """Return a function that reads observations as the exported network did.

    Args:
        about: the policy's description, as ``policy.json`` has it.
        weights: the policy's tensors by name.

    Returns:
        A function from one observation of the environment, a dictionary of arrays, to (1, num_features) float32.

    Raises:
        ConfigurationError: the encoder's package is not installed, or is another version.
    """
    origin = about["network"]["encoder"]
    layout = _layout(about["network"]["layout"])
    try:
        settings = _settings(origin)
        encoder = _imported(origin["target"], torch.nn.Module)(layout, settings)
        encoder.load_state_dict(under("encoder", weights))
    except (ImportError, AttributeError, RuntimeError, ValueError) as error:
        source = f"{origin['distribution']} {origin['version']}".strip()
        raise ConfigurationError(
            f"this policy reads observations with the encoder {origin['name']!r} of {source}: install that "
            f"({' '.join(str(error).split())})"
        ) from error
    encoder.requires_grad_(False)

    def features(observation: Mapping[str, Any]) -> Tensor:
        batch = {name: np.asarray(value)[None] for name, value in observation.items()}
        columns = {name: torch.tensor(array) for name, array in layout.encode(batch).items()}
        found: Tensor = encoder(columns)
        return found

    return features


def _imported(target: str, kind: type) -> Any:
    """Return the class that a policy's file names. Nothing else is called: the file may be anybody's."""
    found: Any = pkgutil.resolve_name(target)
    if not (isinstance(found, type) and issubclass(found, kind)):
        raise ValueError(f"{target} is no {kind.__name__}")
    return found


def _settings(origin: Mapping[str, Any]) -> Any:
    """Return the encoder's settings; the learner's settings, as exported, for an encoder without a settings model."""
    if origin["config"] is None:
        return SimpleNamespace(**origin["settings"])
    return _imported(origin["config"], BaseModel)(**origin["settings"])


def _layout(plain: Mapping[str, Any]) -> ObservationLayout:
    """Return the layout from its JSON form."""
    return ObservationLayout(
        **{
            **plain,
            "screen_shape": tuple(plain["screen_shape"]),
            "planes_shape": tuple(plain["planes_shape"]),
            "planes": tuple(plain["planes"]),
            "vector_keys": tuple(plain["vector_keys"]),
            "categories": tuple(Category(**one) for one in plain["categories"]),
            "counted": {
                key: Counted(tuple(one["starts"]), tuple(one["largest"])) for key, one in plain["counted"].items()
            },
        }
    )
