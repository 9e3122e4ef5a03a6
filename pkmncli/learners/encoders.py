"""Encoders: the part of a learner's network that reads observations, and how a learner builds the one that was named.

An encoder is registered with ``pkmn_register_encoders`` as ``target(layout, settings)``. A learner is given an
:class:`EncoderFactory`, so it knows neither names nor plugins.
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

    Built with (layout, settings): what there is to see, and an instance of the settings model that it was registered
    with; without one, the settings of the learner. A layout that it cannot read is a ConfigurationError. Reading
    changes nothing of it and depends on nothing but the observation: no dropout, no statistics of batches.
    """

    num_features: int
    """How many numbers describe one observation."""

    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        """Reads n observations.

        Args:
            columns: those of ``layout.columns``, each (n, ...): ``screen`` uint8, packed as
                :func:`pkmncli.learners.networks.unpack_screen` undoes, ``planes`` whole numbers whose bits
                :func:`pkmncli.learners.networks.unpack_planes` makes channels, ``vector`` float32, as far as there
                are, and perhaps ``action_mask`` uint8.

        Returns:
            (n, num_features) float32.
        """
        ...


@dataclass(frozen=True, slots=True)
class EncoderFactory:
    """Builds the encoder that the settings name, and tells what someone else would need to build it again."""

    name: str
    """Under which it is registered."""
    build: Callable[[ObservationLayout, Any], Any]
    settings: Any = None
    """Its own; None where it has no model of its own, and takes the learner's settings."""
    origin: Mapping[str, Any] | None = None
    """Where it comes from, in plain values: import targets, the distribution and its version."""

    def __call__(self, layout: ObservationLayout, learner_settings: Any) -> tuple[nn.Module, int]:
        """An untrained encoder, tried on observations of nothing, and how many numbers it gives.

        Raises:
            ConfigurationError: it cannot read the layout, is no encoder, or has an error in it.
        """
        with _errors_explained(self.name, "be built"):
            encoder = self.build(layout, learner_settings if self.settings is None else self.settings)
        require_encoder(encoder, layout, self.name)
        return encoder, encoder.num_features


def require_encoder(encoder: Any, layout: ObservationLayout, name: str) -> None:
    """Raises ConfigurationError when something does not give (n, num_features) float32 for observations of a layout."""
    count = getattr(encoder, "num_features", None)
    if not isinstance(encoder, nn.Module) or not isinstance(count, int) or count < 1:
        raise ConfigurationError(f"encoder {name!r} is no torch.nn.Module with a whole number num_features, from 1 on")
    with torch.no_grad(), _errors_explained(name, "read observations"):
        features = encoder(blank_columns(layout, _TRIED_ROWS))
    if not isinstance(features, Tensor) or features.shape != (_TRIED_ROWS, count) or features.dtype != torch.float32:
        found = f"{tuple(features.shape)} {features.dtype}" if isinstance(features, Tensor) else type(features).__name__
        raise ConfigurationError(
            f"encoder {name!r} gives {found} for {_TRIED_ROWS} observations, not ({_TRIED_ROWS}, {count}) torch.float32"
        )


@contextmanager
def _errors_explained(name: str, what: str) -> Iterator[None]:
    """Raises ConfigurationError for whatever goes wrong in an encoder, but for what is explained already."""
    try:
        yield
    except PkmnError:
        raise
    except Exception as error:
        message = (str(error).strip() or "without a word").splitlines()[0]
        raise ConfigurationError(f"encoder {name!r} cannot {what}: {type(error).__name__}: {message}") from error


def require_factory(settings: Any, encoder: EncoderFactory | None, learner: str) -> None:
    """Raises ConfigurationError when a learner's settings name an encoder that it was given no factory of.

    So it is where a script builds a learner by itself: names are looked up by who puts a training together.
    """
    default = type(settings).model_fields["encoder"].default
    if encoder is None and settings.encoder != default:
        raise ConfigurationError(
            f"setting '{learner}.encoder' = {settings.encoder!r}: a learner that is built by hand needs its factory, "
            f"encoder=EncoderFactory({settings.encoder!r}, ...)"
        )


def blank_columns(layout: ObservationLayout, rows: int) -> dict[str, Tensor]:
    """Columns of observations in which nothing is to be seen: zeros, and every action allowed."""
    columns = {
        name: torch.from_numpy(np.zeros((rows, *shape), dtype)) for name, (shape, dtype) in layout.columns.items()
    }
    columns["action_mask"] += 1
    return columns
