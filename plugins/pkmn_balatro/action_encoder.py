"""The encoder ``balatro-actions``: as ``balatro``, and a score for each action from what the action is about.

An output stream has separate weights for each action, so it must learn 218 times what a flush is. Here one small
network judges every set of cards, by the cards that it takes and those that stay; others judge every joker, offer or
pack, whatever its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import torch
from torch import Tensor, nn

from pkmn_balatro import actions as at
from pkmn_balatro.actions import ActionList
from pkmn_balatro.encoder import KINDS, BalatroEncoder
from pkmn_balatro.observation import JOKER_FEATURES, OFFER_FEATURES, OFFERS, PARTS, PLACE_FEATURES
from pkmn_balatro.poker_features import BEST_FEATURES, KEPT_FEATURES, SET_FEATURES, PokerFeatures
from pkmn_balatro.settings import BalatroSettings
from pkmncli.errors import ConfigurationError
from pkmncli.learners.observations import ObservationLayout

_NEEDED: Final = ("hand", "offered_cards", "numbers", KINDS)
_DECIDED: Final = 3
"""Scores of a set of cards: to play it, to discard it, to choose it as targets."""


class Judge(nn.Module):
    """Network part that scores rows, each beside a description of the whole observation.

    Args:
        numbers: numbers of a row.
        context: numbers that describe the observation.
        features: units of its hidden layers.
        outputs: scores of a row.
    """

    def __init__(self, numbers: int, context: int, features: int, outputs: int) -> None:
        super().__init__()
        self.row = nn.Linear(numbers, features)
        self.context = nn.Linear(context, features, bias=False)
        self.hidden = nn.Sequential(nn.ReLU(), nn.Linear(features, features), nn.ReLU())
        self.scores = nn.Linear(features, outputs)
        nn.init.zeros_(self.scores.weight)  # at first, all actions are as good
        nn.init.zeros_(self.scores.bias)

    def forward(self, rows: Tensor, context: Tensor, more: Tensor | float = 0.0) -> Tensor:
        """Return (n, rows, outputs) for (n, rows, numbers) and (n, context); ``more`` is added before the layers."""
        scores: Tensor = self.scores(self.hidden(self.row(rows) + self.context(context).unsqueeze(1) + more))
        return scores


class ActionEncoder(BalatroEncoder):
    """Encoder of the observations of ``balatro`` that also scores the actions, see :mod:`pkmn_balatro.actions`.

    Where an observation lacks an array of ``balatro``, it scores nothing, and is the encoder ``balatro``.
    """

    def __init__(self, layout: ObservationLayout, settings: BalatroSettings) -> None:
        """Build an untrained encoder.

        Raises:
            ConfigurationError: the observations or the actions are not those of ``balatro``.
        """
        scores_actions = all(key in layout.vector_keys for key in _NEEDED)
        super().__init__(layout, settings, BEST_FEATURES if scores_actions else 0)
        self.scores_actions = scores_actions
        if not scores_actions:
            return
        places, numbers = self._shapes["hand"]
        listed = ActionList(places)
        if listed.count != layout.num_actions:
            raise ConfigurationError(
                f"encoder 'balatro-actions' scores the {listed.count} actions of balatro, not {layout.num_actions}"
            )
        self._choices = len(listed.choices)
        hidden, context = settings.encoder_action_features, self.num_features
        self._kind = kind = settings.encoder_kind_features
        self.poker = PokerFeatures(listed.plays, places)
        self.taken = nn.Linear(numbers, hidden, bias=False)
        self.kept = nn.Linear(numbers, hidden, bias=False)
        self.sets = Judge(SET_FEATURES + KEPT_FEATURES, context, hidden, _DECIDED)
        self.offers = Judge(kind + OFFER_FEATURES + self._shapes["offered_cards"][1], context, hidden, 2)
        self.jokers = Judge(kind + JOKER_FEATURES, context, hidden, 2)
        self.consumables = Judge(kind, context, hidden, 2)
        self.vouchers = Judge(kind + PLACE_FEATURES, context, hidden, 1)
        self.packs = Judge(kind + PLACE_FEATURES, context, hidden, 1)

    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        """Read n observations into (n, features + actions) float32."""
        if not self.scores_actions:
            return super().forward(columns)
        vectors = columns["vector"]
        cards = vectors[:, self._parts["hand"]].reshape(-1, *self._shapes["hand"])
        numbers = vectors[:, self._parts["numbers"]]
        taken, kept, best = self.poker(cards, numbers)
        read = self._read(vectors)
        context = self.join(torch.cat((*read, best), dim=1))
        # The sum over the cards of a set is linear, so cards are multiplied once and not in each set.
        of_taken, of_kept = self.taken(cards), self.kept(cards)
        members = self.poker.members
        rows = members @ (of_taken - of_kept) + of_kept.sum(dim=1, keepdim=True)
        sets = torch.cat((taken, kept), dim=1).transpose(1, 2)
        plays, discards, chosen = self.sets(sets, context, rows).unbind(dim=2)
        scores = (*self._simple(vectors, read[-1], numbers, context), plays, discards, chosen[:, : self._choices])
        return torch.cat((context, *scores), dim=1)

    def _simple(self, vectors: Tensor, kinds: Tensor, numbers: Tensor, context: Tensor) -> Sequence[Tensor]:
        """Return the scores of the actions that choose no cards, in their order."""
        kind = kinds.reshape(len(kinds), -1, self._kind)
        jokers, consumables, offers, vouchers, packs = torch.split(
            kind, [at.MOST_JOKERS, at.MOST_CONSUMABLES, OFFERS, at.VOUCHER_SLOTS, at.PACK_SLOTS], dim=1
        )
        offered = vectors[:, self._parts["offered_cards"]].reshape(-1, *self._shapes["offered_cards"])
        offer_rows = numbers[:, PARTS["offers"]].reshape(-1, OFFERS, OFFER_FEATURES)
        of_offers = self.offers(torch.cat((offers, offer_rows, offered), dim=2), context)
        joker_rows = numbers[:, PARTS["jokers"]].reshape(-1, at.MOST_JOKERS, JOKER_FEATURES)
        of_jokers = self.jokers(torch.cat((jokers, joker_rows), dim=2), context)
        of_consumables = self.consumables(consumables, context)
        shop = numbers[:, PARTS["shop"]].reshape(len(numbers), -1, PLACE_FEATURES)
        of_vouchers = self.vouchers(torch.cat((vouchers, shop[:, : at.VOUCHER_SLOTS]), dim=2), context)
        of_packs = self.packs(torch.cat((packs, shop[:, at.VOUCHER_SLOTS :]), dim=2), context)
        return (
            torch.zeros_like(vectors[:, : at.BUY]),  # the output stream alone judges these
            of_offers[:, : at.SHOP_SLOTS, 0],
            of_vouchers[..., 0],
            of_packs[..., 0],
            of_offers[..., 1],
            of_consumables[..., 0],
            of_jokers[..., 0],
            of_consumables[..., 1],
            of_jokers[:, 1:, 1],
        )
