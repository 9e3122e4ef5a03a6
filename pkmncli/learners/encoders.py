"""Encoders: the part of a learner's network that reads observations, and the factory that builds it.

An encoder is registered with ``pkmn_register_encoders`` as ``target(layout, settings)``. A learner is given an
:class:`EncoderFactory`, so it needs to know neither names nor plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from pkmncli.errors import ConfigurationError, PkmnError
from pkmncli.learners.observations import ObservationLayout

_TRIED_ROWS = 2


@runtime_checkable
class Encoder(Protocol):
    """A :class:`torch.nn.Module` that describes observations by numbers.

    Built with (layout, settings): the layout of the observations, and an instance of the settings model that the
    encoder was registered with; without such a model, the learner's settings. It raises ConfigurationError for a layout
    that it cannot read. With an attribute ``reads_unnormalized`` that is True, it is refused where the learner would
    normalise vectors before it reads them. Reading must not change it and must depend on the observation alone: no
    dropout, no batch statistics.

    With an attribute ``scores_actions`` that is True, a score for each action follows the features, (n, num_features +
    num_actions). Learners add it to what their output streams say of that action. So an encoder may judge similar
    actions by the same weights, which an output stream cannot.
    """

    num_features: int
    """Numbers that describe one observation."""

    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        """Read n observations.

        Args:
            columns: those of ``layout.columns``, each (n, ...): ``screen`` uint8, packed (see
                :func:`pkmncli.learners.networks.unpack_screen`), ``planes`` integers whose bits
                :func:`pkmncli.learners.networks.unpack_planes` turns into channels, ``vector`` float32, each only if
                the layout has it, and perhaps ``action_mask`` uint8.

        Returns:
            (n, num_features) float32; with ``scores_actions``, (n, num_features + num_actions).
        """
        ...


@dataclass(frozen=True, slots=True)
class EncoderFactory:
    """Builder of the encoder that the settings name."""

    name: str
    """Name that the encoder is registered with."""
    build: Callable[[ObservationLayout, Any], Any]
    settings: Any = None
    """The encoder's settings; None if it has no settings model and takes the learner's settings."""

    def __call__(self, layout: ObservationLayout, learner_settings: Any) -> tuple[nn.Module, int]:
        """Return an untrained encoder, checked on blank observations, and its number of features.

        Raises:
            ConfigurationError: it cannot read the layout, is not an encoder, or fails.
        """
        with _errors_explained(self.name, "be built"):
            encoder = self.build(layout, learner_settings if self.settings is None else self.settings)
        require_encoder(encoder, layout, self.name)
        return encoder, encoder.num_features


def require_encoder(encoder: Any, layout: ObservationLayout, name: str) -> None:
    """Raise ConfigurationError if an encoder does not give what it declares for observations of a layout.

    That is float32 (n, num_features), or (n, num_features + num_actions) if it scores actions.
    """
    count = getattr(encoder, "num_features", None)
    if not isinstance(encoder, nn.Module) or not isinstance(count, int) or count < 1:
        raise ConfigurationError(
            f"encoder {name!r} is not a torch.nn.Module with an integer num_features of at least 1"
        )
    if scores_actions(encoder):
        if layout.dimensions:
            raise ConfigurationError(f"encoder {name!r} scores numbered actions; these are continuous")
        count += layout.num_actions
    with torch.no_grad(), _errors_explained(name, "read observations"):
        features = encoder(blank_columns(layout, _TRIED_ROWS))
    if not isinstance(features, Tensor) or features.shape != (_TRIED_ROWS, count) or features.dtype != torch.float32:
        found = f"{tuple(features.shape)} {features.dtype}" if isinstance(features, Tensor) else type(features).__name__
        raise ConfigurationError(
            f"encoder {name!r} gives {found} for {_TRIED_ROWS} observations, not ({_TRIED_ROWS}, {count}) torch.float32"
        )


def scores_actions(encoder: nn.Module | None) -> bool:
    """Return True if an encoder gives a score for each action behind its features."""
    return bool(getattr(encoder, "scores_actions", False))


@contextmanager
def _errors_explained(name: str, what: str) -> Iterator[None]:
    """Raise any error of an encoder as ConfigurationError, except errors that are explained already."""
    try:
        yield
    except PkmnError:
        raise
    except Exception as error:
        message = (str(error).strip() or "without a word").splitlines()[0]
        raise ConfigurationError(f"encoder {name!r} cannot {what}: {type(error).__name__}: {message}") from error


def require_factory(settings: Any, encoder: EncoderFactory | None, learner: str) -> None:
    """Raise ConfigurationError if a learner's settings name an encoder but it was given no factory.

    This happens if a script builds a learner directly: names are resolved only where a training is built.
    """
    default = type(settings).model_fields["encoder"].default
    if encoder is None and settings.encoder != default:
        raise ConfigurationError(
            f"setting '{learner}.encoder' = {settings.encoder!r}: a learner built in a script needs its factory, "
            f"encoder=EncoderFactory({settings.encoder!r}, ...)"
        )


def blank_columns(layout: ObservationLayout, rows: int) -> dict[str, Tensor]:
    """Return the columns of blank observations: zeros, and every action allowed."""
    columns = {
        name: torch.from_numpy(np.zeros((rows, *shape), dtype)) for name, (shape, dtype) in layout.columns.items()
    }
    columns["action_mask"] += 1
    return columns
