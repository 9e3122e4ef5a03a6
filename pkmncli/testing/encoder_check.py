"""Checks of an encoder for what learners rely on: shapes, numbers, gradients, and no memory between calls."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import Tensor, nn

from pkmncli.api import BitPlanes, ScaledBox
from pkmncli.errors import ConfigurationError
from pkmncli.learners.encoders import EncoderFactory, scores_actions
from pkmncli.learners.observations import ObservationLayout, layout_of
from pkmncli.plugins import Registration

_ROWS = 5
_SCREEN = gymnasium.spaces.Box(0, 255, (72, 40), np.uint8)
_NUMBERS = ScaledBox(6, {0: 32, 1: 128})
_SPACES: dict[str, dict[str, gymnasium.Space[Any]]] = {
    "a screen and numbers": {"screen": _SCREEN, "state_variables": _NUMBERS},
    "numbers alone": {"state_variables": _NUMBERS},
    "a screen alone": {"screen": _SCREEN},
    "a map and numbers": {"local_map": BitPlanes((13, 13), [f"bit {bit}" for bit in range(12)]), "goal": _NUMBERS},
}
"""Kinds of observations, in words."""

_LEARNERS_SIZES = SimpleNamespace(
    screen_channels=(8, 8), screen_features=16, map_channels=(8, 8), map_features=8, vector_features=8, head_features=8
)
"""Stand-in for a learner's settings, for an encoder without its own."""


def check_encoder(entry: Registration) -> None:
    """Build an encoder with its default settings for several kinds of observations, and try it.

    An encoder may refuse some of them with a ConfigurationError, as long as it reads one.

    Raises:
        AssertionError: it breaks the contract of :class:`pkmncli.learners.encoders.Encoder`; the message says how.
        ConfigurationError: it reads none of them; with its reason.
    """
    model = entry.load_config()
    factory = EncoderFactory(entry.name, entry.load(), None if model is None else model())
    refusals: list[ConfigurationError] = []
    for what, spaces in _SPACES.items():
        layout = layout_of(gymnasium.spaces.Dict(spaces), gymnasium.spaces.Discrete(4), "the check")
        try:
            encoder, count = factory(layout, _LEARNERS_SIZES)
        except ConfigurationError as error:
            refusals.append(error)
            continue
        count += layout.num_actions if scores_actions(encoder) else 0
        _check_reading(f"{entry.title}, of {what}", encoder, count, _columns(layout))
    if len(refusals) == len(_SPACES):
        raise refusals[0]


def _columns(layout: ObservationLayout) -> dict[str, Tensor]:
    """Return observations that all differ."""
    rng = np.random.default_rng(0)
    columns = {}
    for name, (shape, kind) in layout.columns.items():
        size = (_ROWS, *shape)
        drawn = rng.random(size) if kind is np.float32 else rng.integers(0, 256, size)
        columns[name] = torch.from_numpy((np.ones(size) if name == "action_mask" else drawn).astype(kind))
    return columns


def _check_reading(title: str, encoder: nn.Module, count: int, columns: Mapping[str, Tensor]) -> None:
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    features = encoder(columns)
    assert features.shape == (_ROWS, count), f"{title}: gives {tuple(features.shape)}, not ({_ROWS}, {count})"
    assert features.dtype == torch.float32, f"{title}: gives {features.dtype}, not torch.float32"
    assert bool(features.isfinite().all()), f"{title}: gives numbers that are not finite"
    assert bool((features[0] != features[1:]).any()), f"{title}: gives equal features for different observations"
    assert torch.equal(features, encoder(columns)), f"{title}: gives different features for the same observations"
    after = encoder.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before), f"{title}: reading changes it"
    alone = encoder({name: tensor[:1] for name, tensor in columns.items()})
    assert torch.allclose(alone, features[:1], rtol=1e-4, atol=1e-5), f"{title}: its features depend on the batch"
    weights = [weight for weight in encoder.parameters() if weight.requires_grad]
    if not weights:  # an encoder without weights is allowed
        return
    assert features.requires_grad, f"{title}: no gradient reaches its weights"
    # A plain sum after a normalised layer has no gradient.
    (features * torch.linspace(-1, 1, count) ** 3).sum().backward()
    reached = [weight for weight in weights if weight.grad is not None and bool((weight.grad != 0).any())]
    assert reached, f"{title}: no gradient reaches its weights"
    assert all(bool(weight.grad.isfinite().all()) for weight in weights if weight.grad is not None), (
        f"{title}: its gradients are not finite"
    )
