"""The encoder ``balatro``: cards are read by one small network, kinds of jokers and items are looked up in a table."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from pkmn_balatro.settings import BalatroSettings
from pkmncli.errors import ConfigurationError
from pkmncli.learners.observations import ObservationLayout

CARDS = ("hand", "offered_cards")
"""Arrays of cards, (places, numbers of a card)."""
KINDS = "kinds"
"""Array of kinds, each a row of one table."""


class CardRows(nn.Module):
    """Network part that reads rows of cards. Each card is described alone, and then beside the sum of all.

    Args:
        numbers: numbers of a card.
        features: numbers that describe a card.
    """

    def __init__(self, numbers: int, features: int) -> None:
        super().__init__()
        self.alone = nn.Sequential(nn.Linear(numbers, features), nn.ReLU())
        self.beside = nn.Sequential(nn.Linear(2 * features, features), nn.ReLU())

    def forward(self, rows: Tensor) -> Tensor:
        """Return (n, places * features + features) for rows (n, places, numbers): the cards in order, and their sum.

        A row of zeros, an empty place, adds nothing.
        """
        present = rows[..., :1]
        alone = self.alone(rows) * present
        together = alone.sum(dim=1, keepdim=True)
        beside = self.beside(torch.cat((alone, together.expand_as(alone)), dim=2)) * present
        return torch.cat((beside.flatten(1), together.squeeze(1)), dim=1)


class BalatroEncoder(nn.Module):
    """Encoder (:class:`pkmncli.learners.encoders.Encoder`) of the observations of ``balatro``.

    It reads vectors only, and not normalised: a 0 is an empty place, and kinds are whole numbers. Without cards or
    kinds in an observation, those parts are left out.
    """

    reads_unnormalized = True
    _largest: Tensor

    def __init__(self, layout: ObservationLayout, settings: BalatroSettings, more: int = 0) -> None:
        """Build an untrained encoder.

        Args:
            layout: of the observations.
            settings: sizes.
            more: numbers that a subclass adds to what the last layers read.

        Raises:
            ConfigurationError: the layout has a screen, a map or images, or several frames of the cards.
        """
        super().__init__()
        if layout.screen_shape or layout.planes or layout.images or not layout.vector_size:
            raise ConfigurationError(f"encoder 'balatro' reads numbers only, as {layout.learner} gets them of balatro")
        self._parts: dict[str, slice] = {}
        begin = 0
        for key in layout.vector_keys:
            end = begin + math.prod(layout.members[key].shape)
            self._parts[key] = slice(begin, end)
            begin = end
        self._shapes = {key: layout.members[key].shape for key in CARDS if key in self._parts}
        if any(len(shape) != 2 for shape in self._shapes.values()):
            raise ConfigurationError("encoder 'balatro' reads one observation at a time: leave out --stack")
        features = settings.encoder_card_features
        self.cards = nn.ModuleDict({key: CardRows(shape[1], features) for key, shape in self._shapes.items()})
        size = more + sum((shape[0] + 1) * features for shape in self._shapes.values())
        self.kinds: nn.Module | None = None
        if KINDS in self._parts:
            codes = [one.largest for one in layout.categories if one.place in range(*self._parts[KINDS].indices(begin))]
            self.kinds = nn.Embedding(max(codes) + 1, settings.encoder_kind_features)
            self.register_buffer("_largest", torch.tensor(codes), persistent=False)  # known from the layout
            size += len(codes) * settings.encoder_kind_features
        self._plain = [key for key in self._parts if key not in self._shapes and key != KINDS]
        size += sum(self._parts[key].stop - self._parts[key].start for key in self._plain)
        self.num_features = settings.encoder_features
        layers: list[nn.Module] = []
        for _ in range(settings.encoder_layers):
            layers += [nn.Linear(size, settings.encoder_features), nn.LayerNorm(settings.encoder_features), nn.ReLU()]
            size = settings.encoder_features
        self.join = nn.Sequential(*layers)

    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        """Read n observations into (n, features) float32."""
        features: Tensor = self.join(torch.cat(self._read(columns["vector"]), dim=1))
        return features

    def _read(self, vectors: Tensor) -> list[Tensor]:
        """Return what the last layers read of vectors (n, d), each (n, ...); the kinds' learned numbers come last."""
        found = [vectors[:, self._parts[key]] for key in self._plain]
        for key, shape in self._shapes.items():
            found.append(self.cards[key](vectors[:, self._parts[key]].reshape(-1, *shape)))
        if self.kinds is not None:
            scaled = torch.nan_to_num(vectors[:, self._parts[KINDS]]).clamp(0, 1) * self._largest
            found.append(self.kinds(scaled.round().to(torch.int64)).flatten(1))
        return found
