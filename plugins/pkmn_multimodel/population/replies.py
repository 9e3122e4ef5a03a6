"""Replies of models: their tokens, the weights that gave them, and their log-probabilities under other weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

BASE = "__base__"
"""Name of the base without an adapter."""


@dataclass(frozen=True, slots=True)
class Version:
    """Version of an adapter's weights: updates that it has had, and a hash of its values."""

    number: int
    digest: str


@dataclass(slots=True)
class Reply:
    """Sampled reply of one model to one prompt."""

    text: str
    prompt_ids: list[int]
    tokens: list[int]
    """The reply's tokens, the end token included if it was sampled."""
    log_probs: list[float]
    """Log-probability of each token when it was sampled, at the sampling temperature; empty if it was not sampled."""
    adapter: str
    version: Version


@dataclass(frozen=True, slots=True)
class Scores:
    """Log-probabilities of replies under some weights.

    Attributes:
        log_probs: (replies, longest reply), at the right.
        mask: True for a reply's tokens, same shape.
        hidden: the base's last layer at the prompt's last token, (replies, features).
    """

    log_probs: torch.Tensor
    mask: torch.Tensor
    hidden: torch.Tensor

    def of_reply(self) -> torch.Tensor:
        """Return the log-probability of each whole reply, (replies,)."""
        return (self.log_probs * self.mask).sum(1)

    def of_tokens(self) -> list[torch.Tensor]:
        """Return the log-probabilities of each reply's tokens, on the processor."""
        return [row[own] for row, own in zip(self.log_probs.cpu(), self.mask.cpu(), strict=True)]
