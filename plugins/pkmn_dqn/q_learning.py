"""Deep Q-learning proper: the learned network, its target network, and one update of them.

Double: van Hasselt et al. 2016. Dueling: Wang et al. 2016. n-step returns as in Rainbow, Hessel et al. 2018.
Losses of demonstrations: :mod:`pkmn_dqn.demonstrations`. Importance weights of steps that were not drawn evenly: Schaul
et al. 2016, "Prioritized experience replay".

The weights are of all that is learned from a step, its demonstration too: so both losses estimate, up to the batch's
common factor, what even draws would give. Were demonstrations left out, their loss would grow beside the other one as
the weights get smaller, and demand most where errors are large.

n-step returns run on over presses of all sides, uncorrected. What follows a step may be pressed worse than the learner
would (then the return is too low), never better than the best: the games change in the same way whenever the same is
done, so the errors are to one side, and at most ``n_step`` long. Cutting a return wherever the one who presses changes
would leave one-step targets around every trial of the learner's, which is where news must travel.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pkmn_dqn.demonstrations import label_cross_entropy, margin_loss, masked, mean
from pkmn_dqn.network import QNetwork
from pkmn_dqn.replay_buffer import Sample
from pkmn_dqn.settings import DQNSettings
from pkmncli.errors import TrainingError
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.labels import labels_of
from pkmncli.learners.observations import MASK, ObservationLayout
from pkmncli.learners.transfer import numbers_of, on_device
from pkmncli.learners.weights import ADAM, dump_network, dump_optimizer, restore_network, restore_optimizer


@dataclass(frozen=True, slots=True)
class Batch:
    """A sample in tensors of its own."""

    observations: Mapping[str, Tensor]
    actions: Tensor
    returns: Tensor
    discounts: Tensor
    next_observations: Mapping[str, Tensor]
    labels: Tensor
    """(n,) int64: the actions demonstrated, -1 for none."""
    demonstration_weight: float
    """Of the demonstrations' loss in this update; 0 leaves it out."""
    weights: Tensor | None = None
    """(n,) importance weights of the steps' losses; none where they were drawn evenly."""

    @classmethod
    def of(
        cls,
        sample: Sample,
        device: torch.device,
        settings: DQNSettings,
        demonstration_weight: float = 0.0,
        weights: NDArray[np.float32] | None = None,
    ) -> Batch:
        """Copies a sample."""

        def copied(array: Any) -> Tensor:
            return on_device(array, device)

        return cls(
            {name: copied(array) for name, array in sample.observations.items()},
            copied(sample.actions),
            copied(sample.returns),
            copied(sample.discounts),
            {name: copied(array) for name, array in sample.next_observations.items()},
            copied(labels_of(sample.actions, sample.sources, sample.advised, settings.demonstrations)),
            demonstration_weight,
            None if weights is None else copied(weights),
        )


@dataclass(frozen=True, slots=True)
class Drawn:
    """What one update, or several, learn from, and what was true when it was drawn."""

    samples: Sequence[tuple[Sample, NDArray[np.float32] | None]]
    """Steps, each with its importance weights (n,); none where they were drawn evenly."""
    demonstration_weight: float
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Learned:
    """What came of it: means of the updates' metrics, and of each its steps' errors (n,), values less targets."""

    metrics: Mapping[str, float]
    td_errors: Sequence[NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Update:
    """What came of one update.

    ``metrics``: ``loss``, ``mean_q`` (of the actions taken), ``td_error`` (mean absolute), ``demonstration_loss``
    (without its weight in the loss; 0 where it is off), ``grad_norm`` (before clipping). ``td_errors`` (n,): value less
    target of each step, before the update.
    """

    metrics: Mapping[str, float]
    td_errors: Tensor


class QLearning:
    """The weights that are learned, and how."""

    def __init__(
        self,
        layout: ObservationLayout,
        settings: DQNSettings,
        seed: int,
        device: torch.device,
        encoder: EncoderFactory | None = None,
    ) -> None:
        self._settings = settings
        self._device = device
        with torch.random.fork_rng(devices=[]):  # leaves the process's own random state as it is
            torch.default_generator.manual_seed(seed)
            self.online = QNetwork(layout, settings, encoder).to(device)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self._parameters = list(self.online.parameters())
        self._optimizer = torch.optim.Adam(
            self._parameters, settings.learning_rate, eps=settings.adam_epsilon, fused=True
        )
        self.updates = 0

    @property
    def network(self) -> QNetwork:
        """The network that is learned, whose weights are to act."""
        return self.online

    def learn(self, drawn: Drawn) -> Learned:
        """Learns from all that was drawn. Raises TrainingError when a loss is not a finite number."""
        updates = [
            self.update(Batch.of(sample, self._device, self._settings, drawn.demonstration_weight, weights))
            for sample, weights in drawn.samples
        ]
        all_metrics = [update.metrics for update in updates]
        means = {name: sum(metrics[name] for metrics in all_metrics) / len(updates) for name in all_metrics[0]}
        return Learned(
            means | {"updates": float(self.updates)} | dict(drawn.metrics),
            [update.td_errors.cpu().numpy() for update in updates],
        )

    def update(self, batch: Batch) -> Update:
        """Learns from one batch. Raises TrainingError when the loss is not a finite number."""
        settings = self._settings
        targets = batch.returns + batch.discounts * self._next_values(batch.next_observations)
        all_values = self.online(batch.observations)
        values = all_values.gather(1, batch.actions[:, None])[:, 0]
        losses = nn.functional.huber_loss(values, targets, reduction="none", delta=settings.huber_delta)
        loss = mean(losses, batch.weights)
        demonstrations = {}
        if batch.demonstration_weight > 0 and settings.demonstration_margin > 0:
            demanded = self._demonstration_loss(all_values, batch)
            loss = loss + batch.demonstration_weight * demanded
            demonstrations = {"demonstration_loss": demanded}
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        grad_norm = nn.utils.clip_grad_norm_(self._parameters, settings.max_grad_norm)
        with torch.no_grad():
            td_errors = values - targets
            metrics = numbers_of(
                {
                    "loss": loss,
                    "mean_q": values.mean(),
                    "td_error": td_errors.abs().mean(),
                    "grad_norm": grad_norm,
                    **demonstrations,
                }
            )
        if not math.isfinite(metrics["loss"]):
            raise TrainingError(
                f"The DQN's loss became {metrics['loss']} at update {self.updates + 1}: lower dqn.learning_rate, "
                "or look for rewards and observations that are not finite."
            )
        self._optimizer.step()
        self.updates += 1
        if self.updates % settings.target_update_interval == 0:
            self._update_target()
        return Update({"demonstration_loss": 0.0} | metrics, td_errors)

    def state_dict(self) -> dict[str, Any]:
        """Copies of all weights and of the optimizer's state, by dotted name, and the count of updates."""
        state: dict[str, Any] = {"updates": self.updates}
        for prefix, network in (("online", self.online), ("target", self.target)):
            state |= dump_network(prefix, network)
        state |= dump_optimizer(self._optimizer, self.online, ADAM)
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`. Raises CheckpointError when it is of another network."""
        for prefix, network in (("online", self.online), ("target", self.target)):
            restore_network(prefix, network, state, "dqn")
        restore_optimizer(self._optimizer, self.online, ADAM, state)
        self.updates = int(state["updates"])

    def _demonstration_loss(self, values: Tensor, batch: Batch) -> Tensor:
        settings, mask = self._settings, batch.observations[MASK]
        if settings.demonstration_loss == "margin":
            return margin_loss(values, batch.labels, mask, settings.demonstration_margin, batch.weights)
        return label_cross_entropy(values, batch.labels, mask, settings.softmax_temperature, batch.weights)

    @torch.no_grad()
    def _next_values(self, observations: Mapping[str, Tensor]) -> Tensor:
        mask = observations[MASK]
        target_values: Tensor = self.target(observations)
        chooser = self.online(observations) if self._settings.double else target_values
        best = masked(chooser, mask).argmax(dim=1, keepdim=True)
        return target_values.gather(1, best)[:, 0]

    @torch.no_grad()
    def _update_target(self) -> None:
        for target, online in zip(self.target.parameters(), self._parameters, strict=True):
            target.lerp_(online, self._settings.tau)
