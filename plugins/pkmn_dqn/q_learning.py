"""Deep Q-learning proper: the learned network, its target network, and one update of them.

Double: van Hasselt et al. 2016. Dueling: Wang et al. 2016. n-step returns as in Rainbow, Hessel et al. 2018.
Losses of demonstrations: :mod:`pkmn_dqn.demonstrations`. Importance weights of steps sampled with priorities: Schaul
et al. 2016, "Prioritized experience replay".

Importance weights apply to both losses of a step, also that of its demonstration: so both estimate, up to a common
factor of the batch, the result of uniform sampling. If they left demonstrations out, that loss would grow relative to
the other as weights get smaller, and be strongest where errors are large.

n-step returns include the actions of all sides, uncorrected. Later actions may be worse than the learner's own (then
the return is too low), never better than the best: the games are deterministic, so errors are one-sided, and at most
``n_step`` long. Cutting returns wherever the acting side changes would leave one-step targets around every trial of the
learner, exactly where new information must travel.
"""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pkmn_dqn.cuda_stream import SideStream
from pkmn_dqn.demonstrations import label_cross_entropy, margin_loss, masked, mean
from pkmn_dqn.network import QNetwork, values_of
from pkmn_dqn.replay_buffer import Picked, Sample
from pkmn_dqn.settings import DQNSettings
from pkmncli.errors import TrainingError
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.flat_adam import FlatAdam, lay_out
from pkmncli.learners.labels import labels_of
from pkmncli.learners.normalisation import VectorScale
from pkmncli.learners.observations import MASK, ObservationLayout
from pkmncli.learners.transfer import numbers_of, on_device
from pkmncli.learners.weights import dump_network, restore_network


@dataclass(frozen=True, slots=True)
class Batch:
    """A sample as tensors."""

    observations: Mapping[str, Tensor]
    actions: Tensor
    returns: Tensor
    discounts: Tensor
    next_observations: Mapping[str, Tensor]
    labels: Tensor
    """(n,) int64: the actions demonstrated, -1 for none."""
    demonstration_weight: float | Tensor
    """Weight of the demonstrations' loss in this update; 0 leaves it out."""
    weights: Tensor | None = None
    """(n,) importance weights of the steps' losses; None if steps were sampled uniformly."""
    both: Mapping[str, Tensor] | None = None
    """(2n, ...) observations and then next observations, if they are adjacent in memory: for one pass over both."""

    @classmethod
    def of(
        cls,
        sample: Sample,
        device: torch.device,
        settings: DQNSettings,
        demonstration_weight: float = 0.0,
        weights: NDArray[np.float32] | None = None,
    ) -> Batch:
        """Copy a sample."""

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
class SampledBatch:
    """Samples that one update, or several, learn from, and the schedules' values when they were taken."""

    samples: Sequence[tuple[Sample | Picked, NDArray[np.float32] | None]]
    """Steps, each with its importance weights (n,), None if sampled uniformly. Without their observations if those are
    gathered on a GPU."""
    demonstration_weight: float
    metrics: Mapping[str, float]
    scale: VectorScale | None = None
    """Statistics that normalise observations; None if they are not normalised."""


@dataclass(frozen=True, slots=True)
class Learned:
    """Result of updates: means of their metrics, and the errors (n,) of each update's steps, value less target."""

    metrics: Mapping[str, float]
    td_errors: Sequence[NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Update:
    """Result of one update.

    ``metrics``: ``loss``, ``mean_q`` (of the actions taken), ``td_error`` (mean absolute), ``demonstration_loss``
    (without its weight in the loss; 0 if it is off), ``grad_norm`` (before clipping). ``td_errors`` (n,): value less
    target of each step, before the update.
    """

    metrics: Mapping[str, float]
    td_errors: Tensor


def td_losses(predicted: Tensor, targets: Tensor, huber_delta: float) -> Tensor:
    """Return the Huber loss (n,) of values, or the quantile Huber loss of several returns each.

    Each predicted return is regressed to its own quantile of the targets (Dabney et al. 2018, "Distributional
    reinforcement learning with quantile regression", equation 10).

    Args:
        predicted: (n, quantiles), from the lowest quantile on.
        targets: (n, quantiles), equally likely.
        huber_delta: error from which the loss grows linearly.
    """
    count = predicted.shape[1]
    if count == 1:
        return nn.functional.huber_loss(predicted[:, 0], targets[:, 0], reduction="none", delta=huber_delta)
    shape = (len(predicted), count, count)
    below, above = predicted[:, :, None].expand(shape), targets[:, None, :].expand(shape)
    losses = nn.functional.huber_loss(below, above, reduction="none", delta=huber_delta)
    levels = (torch.arange(count, device=predicted.device) + 0.5) / count
    tilted = (levels[:, None] - (above < below.detach()).to(losses.dtype)).abs() * losses
    return tilted.mean(dim=2).sum(dim=1)


class QLearning:
    """The learned weights, and their updates."""

    METRICS = ("loss", "mean_q", "td_error", "grad_norm", "demonstration_loss")
    """Names of an update's metrics."""

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
        with torch.random.fork_rng(devices=[]):  # keeps the process's global random state unchanged
            torch.default_generator.manual_seed(seed)
            self.online = QNetwork(layout, settings, encoder).to(device)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self._optimizer = FlatAdam(self.online, settings.learning_rate, settings.adam_epsilon, settings.max_grad_norm)
        self._target_weights = lay_out(self.target)
        # The target network's pass runs in parallel with the learned network's.
        self._beside = SideStream(device)
        self.updates = 0

    @property
    def network(self) -> QNetwork:
        """The learned network."""
        return self.online

    def learn(self, sampled: SampledBatch) -> Learned:
        """Learn from sampled batches. Raise TrainingError if a loss is not finite."""
        self.follow(sampled.scale)
        updates = [
            self.update(Batch.of(sample, self._device, self._settings, sampled.demonstration_weight, weights))
            for sample, weights in sampled.samples
            if isinstance(sample, Sample)
        ]
        all_metrics = [update.metrics for update in updates]
        means = {name: sum(metrics[name] for metrics in all_metrics) / len(updates) for name in all_metrics[0]}
        return Learned(
            means | {"updates": float(self.updates)} | dict(sampled.metrics),
            [update.td_errors.cpu().numpy() for update in updates],
        )

    def follow(self, scale: VectorScale | None) -> None:
        """Normalise observations by these statistics from now on; None changes nothing."""
        for network in (self.online, self.target):
            network.follow(scale)

    def update(self, batch: Batch) -> Update:
        """Learn from one batch. Raise TrainingError if the loss is not finite."""
        found, td_errors = self._find_gradients(batch)
        metrics = numbers_of(found)
        require_finite_loss(metrics["loss"], self.updates + 1)
        self._optimizer.step()
        self.update_target()
        return Update(metrics, td_errors)

    def descend(self, batch: Batch) -> tuple[dict[str, Tensor], Tensor]:
        """Do the part of :meth:`update` that needs no number read back from the device.

        :meth:`follow_target` must follow. Return the metrics and the steps' errors (n,).
        """
        found = self._find_gradients(batch)
        self._optimizer.step()
        return found

    def update_target(self) -> None:
        """Count an update; every ``target_update_interval`` updates the target network follows."""
        self.updates += 1
        if self._target_follows(self.updates):
            self._target_weights.lerp_(self._optimizer.weights, self._settings.tau)

    def follow_target(self, updates: Tensor) -> None:
        """Update the target network if that is due after ``updates``, () int64, without reading the number."""
        due = self._target_follows(updates).to(torch.float32)
        self._target_weights.lerp_(self._optimizer.weights, due * self._settings.tau)

    def _target_follows(self, updates: Any) -> Any:
        return updates % self._settings.target_update_interval == 0

    @property
    def weights(self) -> Tensor:
        """(weights,) of the learned network: its own memory, which no update moves."""
        return self._optimizer.weights

    @contextlib.contextmanager
    def tried(self) -> Iterator[None]:
        """Restore at the end, in the same memory, what updates inside the context have changed."""
        target = self._target_weights.clone()
        with self._optimizer.tried():
            yield
        self._target_weights.copy_(target)

    def state_dict(self) -> dict[str, Any]:
        """Return copies of all weights and of the optimizer's state, by dotted name, and the count of updates."""
        state: dict[str, Any] = {"updates": self.updates}
        for prefix, network in (("online", self.online), ("target", self.target)):
            state |= dump_network(prefix, network)
        return state | self._optimizer.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. Raise CheckpointError if it is of another network."""
        for prefix, network in (("online", self.online), ("target", self.target)):
            restore_network(prefix, network, state, "dqn")
        self._optimizer.load_state_dict(state)
        self.updates = int(state["updates"])

    def _find_gradients(self, batch: Batch) -> tuple[dict[str, Tensor], Tensor]:
        settings = self._settings
        returns, next_returns = self._returns(batch)
        with torch.no_grad():
            targets = batch.returns[:, None] + batch.discounts[:, None] * next_returns
        predicted = _of_actions(returns, batch.actions)
        loss = mean(td_losses(predicted, targets, settings.huber_delta), batch.weights)
        demanded = torch.zeros_like(loss)
        if _counts(batch.demonstration_weight) and settings.demonstration_margin > 0:
            demanded = self._demonstration_loss(values_of(returns), batch)
            loss = loss + batch.demonstration_weight * demanded
        grad_norm = self._optimizer.find_gradients(loss)
        with torch.no_grad():
            values = values_of(predicted)
            td_errors = values - values_of(targets)
            metrics = {
                "loss": loss.detach(),
                "mean_q": values.mean(),
                "td_error": td_errors.abs().mean(),
                "grad_norm": grad_norm,
                "demonstration_loss": demanded.detach(),
            }
        return metrics, td_errors

    def _demonstration_loss(self, values: Tensor, batch: Batch) -> Tensor:
        settings, mask = self._settings, batch.observations[MASK]
        if settings.demonstration_loss == "margin":
            return margin_loss(values, batch.labels, mask, settings.demonstration_margin, batch.weights)
        return label_cross_entropy(values, batch.labels, mask, settings.softmax_temperature, batch.weights)

    def _returns(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the returns of all actions (n, num_actions, quantiles), and of the best next ones (n, quantiles)."""
        size, double = len(batch.actions), self._settings.double
        following = batch.next_observations
        with self._beside.open(), torch.no_grad():
            next_returns: Tensor = self.target.distributions(following)
        if batch.both is not None and double:  # on a GPU a pass over twice as many rows costs the same
            both = self.online.distributions(batch.both)
            returns, chooser = both[:size], values_of(both[size:].detach())
        else:
            returns, chooser = self.online.distributions(batch.observations), None
        with torch.no_grad():
            if chooser is None and double:
                chooser = self.online(following)
            self._beside.join()
            if chooser is None:
                chooser = values_of(next_returns)
            best = masked(chooser, following[MASK]).argmax(dim=1)
            return returns, _of_actions(next_returns, best)


def _of_actions(returns: Tensor, actions: Tensor) -> Tensor:
    """Return the returns (n, quantiles) of one action (n,) per row, from those of all (n, num_actions, quantiles)."""
    return returns.gather(1, actions[:, None, None].expand(-1, 1, returns.shape[2]))[:, 0]


def _counts(weight: float | Tensor) -> bool:
    """Return True if the weight is not 0; a number on a GPU always counts, to avoid waiting for its value."""
    return isinstance(weight, Tensor) or weight > 0


def require_finite_loss(loss: float, update: int) -> None:
    """Raise TrainingError if the loss of an update, numbered from 1, is not finite."""
    if not math.isfinite(loss):
        raise TrainingError(
            f"The DQN's loss became {loss} at update {update}: lower dqn.learning_rate, "
            "or look for rewards and observations that are not finite."
        )
