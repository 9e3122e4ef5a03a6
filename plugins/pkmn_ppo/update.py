"""The learning part of PPO and A2C: the network, its optimizer, and the passes over a rollout."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pkmn_ppo.experience import Experience, look_at
from pkmn_ppo.policy import ActorCritic, Policy
from pkmn_ppo.rollout import Rollout
from pkmn_ppo.settings import OnPolicySettings
from pkmncli.errors import ConfigurationError, TrainingError
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.normalisation import VectorScale
from pkmncli.learners.observations import ObservationLayout
from pkmncli.learners.transfer import numbers_of
from pkmncli.learners.weights import dump_network, dump_optimizer, restore_network, restore_optimizer

_TIMED_STEPS = 5

SettingsT = TypeVar("SettingsT", bound=OnPolicySettings)


Epochs = Sequence[Sequence[NDArray[np.int64]]]
"""Passes over a rollout, each with the rows of its minibatches: one gradient step per minibatch. Rows are (n,), with a
memory (length, sequences)."""


@dataclass(frozen=True, slots=True)
class SampledBatch:
    """Data that one update learns from, and the schedules' values when it was taken."""

    rollout: Rollout
    epochs: Epochs
    learning_rate: float
    ent_coef: float
    demonstration_weight: float
    metrics: Mapping[str, float]
    scale: VectorScale | None = None
    """Statistics that normalise observations; None if they are not normalised."""


Loss = tuple[Tensor, Mapping[str, Tensor]]
"""The loss to minimise, and metrics by name."""


def demonstration_loss(policy: Policy, labels: Tensor) -> Tensor:
    """Return the cross-entropy of demonstrated actions, in nats: the mean over all steps, 0 for steps without a label.

    Args:
        policy: of n steps.
        labels: (n,) allowed actions; -1 for none.
    """
    return -(policy.log_prob(labels.clamp(min=0)) * (labels >= 0)).mean()


class PolicyLearning(ABC, Generic[SettingsT]):
    """The learned weights, and their updates. PPO and A2C supply the optimizer, the epochs and the loss."""

    learner: ClassVar[str]
    """Name of the learner's section of settings."""
    optimizer_parts: ClassVar[Sequence[str]]
    """Names of the optimizer's state of each weight."""

    def __init__(
        self,
        layout: ObservationLayout,
        settings: SettingsT,
        seed: int,
        device: torch.device,
        encoder: EncoderFactory | None = None,
    ) -> None:
        self.settings = settings
        self._layout = layout
        self._device = device
        with torch.random.fork_rng(devices=[]):  # keeps the process's global random state unchanged
            torch.default_generator.manual_seed(seed)
            self.network = ActorCritic(layout, settings, encoder).to(device)
        self._optimizer = self.optimizer(list(self.network.parameters()))
        self.updates = 0

    @classmethod
    def require_fit(cls, settings: SettingsT, num_envs: int) -> None:
        """Raise ConfigurationError if a rollout cannot be divided as the settings say."""
        steps, length = settings.n_steps, min(settings.sequence_length, settings.n_steps)
        if settings.memory_size and steps % length:
            raise ConfigurationError(
                f"{cls.learner}.n_steps = {steps} is no multiple of {cls.learner}.sequence_length = {length}: set one "
                "of them to fit the other."
            )

    @abstractmethod
    def optimizer(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        """Return an optimizer of given weights."""

    @abstractmethod
    def epochs(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Epochs:
        """Return the passes over the rows of a rollout, as :meth:`rows` gives them: minibatches of whole columns."""

    def rows(self, steps: int) -> NDArray[np.int64]:
        """Return the rows of a rollout of that many steps: (steps,), or with a memory (length, sequences).

        With a memory, gradients go back through the steps of a sequence (truncated backpropagation through time).
        """
        rows, settings = np.arange(steps), self.settings
        if not settings.memory_size:
            return rows
        length, num_envs = min(settings.sequence_length, settings.n_steps), steps // settings.n_steps
        return rows.reshape(-1, length, num_envs).transpose(1, 0, 2).reshape(length, -1)

    @abstractmethod
    def rl_loss(self, batch: Experience, policy: Policy, values: Tensor, ent_coef: float) -> Loss:
        """Return the loss of a minibatch without demonstrations, and its metrics by name, one number each.

        Args:
            batch: the minibatch.
            policy: the network's policy for its observations.
            values: (n,), the network's values.
            ent_coef: weight of the entropy.
        """

    def loss(self, batch: Experience, ent_coef: float, demonstration_weight: float = 0.0) -> Loss:
        """Return the loss of a minibatch with demonstrations, and its metrics by name, one number each."""
        policy, values, _ = self.network(batch.observations, *batch.beginnings)
        loss, metrics = self.rl_loss(batch, policy, values, ent_coef)
        demanded = torch.zeros_like(loss)
        if demonstration_weight > 0 and not self._layout.dimensions:
            demanded = demonstration_loss(policy, batch.labels)
            loss = loss + demonstration_weight * demanded
        return loss, {**metrics, "demonstration_loss": demanded.detach()}

    def is_enough(self, epoch: Sequence[Mapping[str, float]]) -> bool:
        """Return True if the update ends after an epoch whose minibatches had these metrics."""
        return False

    def describe(self, experience: Experience) -> dict[str, float]:
        """Return metrics of a rollout as a whole, by name."""
        return {"own_share": float(experience.on_policy.mean().item())}

    def learn(self, sampled: SampledBatch) -> dict[str, float]:
        """Learn from a rollout. Return means over the gradient steps, by name.

        Raises:
            TrainingError: the loss is not finite.
        """
        self.network.follow(sampled.scale)
        experience = Experience.of(sampled.rollout, self.network, self.settings, self._device)
        for group in self._optimizer.param_groups:
            group["lr"] = sampled.learning_rate
        taken: list[dict[str, float]] = []
        for epoch in sampled.epochs:
            taken += [
                self.step(*self.loss(experience.rows(rows), sampled.ent_coef, sampled.demonstration_weight))
                for rows in epoch
            ]
            if self.is_enough(taken[-len(epoch) :]):
                break
        means = {name: sum(metrics[name] for metrics in taken) / len(taken) for name in taken[0]}
        return means | {
            **self.describe(experience),
            "learning_rate": sampled.learning_rate,
            "ent_coef": sampled.ent_coef,
            "demonstration_weight": sampled.demonstration_weight,
            "gradient_steps": float(len(taken)),
            "updates": float(self.updates),
            **sampled.metrics,
        }

    def step(self, loss: Tensor, metrics: Mapping[str, Tensor]) -> dict[str, float]:
        """Take one gradient step. Return the metrics, with the loss and the gradient's norm before scaling.

        Raises:
            TrainingError: the loss is not finite.
        """
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        grad_norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.max_grad_norm)
        numbers = numbers_of({**metrics, "loss": loss, "grad_norm": grad_norm})
        if not math.isfinite(numbers["loss"]):
            raise TrainingError(
                f"The loss of {self.learner} became {numbers['loss']} at gradient step {self.updates + 1}: lower "
                f"{self.learner}.learning_rate, or look for rewards and observations that are not finite."
            )
        self._optimizer.step()
        self.updates += 1
        return numbers

    def time_learning(self, steps: int) -> float:
        """Return the seconds of :meth:`learn` for a rollout of that many steps. Changes weights: call it on a copy."""
        epochs = self.epochs(self.rows(steps), np.random.default_rng(0))
        first = epochs[0][0]
        batch = Experience.made_up(self._layout, first.size, self._device, self.settings.memory_size)
        batch = batch.rows(np.arange(first.size).reshape(first.shape))
        self.step(*self.loss(batch, 0.0, self.settings.demonstration_weight))  # the first step also allocates
        began = time.perf_counter()
        for _ in range(_TIMED_STEPS):
            self.step(*self.loss(batch, 0.0, self.settings.demonstration_weight))
        stepped = time.perf_counter()
        look_at(self.network, batch.observations, batch.actions, *batch.beginnings)
        looked = time.perf_counter()
        gradient_steps = sum(map(len, epochs))
        return (stepped - began) / _TIMED_STEPS * gradient_steps + (looked - stepped) * steps / first.size

    def state_dict(self) -> dict[str, Any]:
        """Return copies of weights and optimizer state, by dotted name, and the count of gradient steps."""
        state: dict[str, Any] = {"updates": self.updates}
        state |= dump_network("network", self.network)
        return state | dump_optimizer(self._optimizer, self.network, self.optimizer_parts)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. Raise CheckpointError if it is of another network."""
        restore_network("network", self.network, state, self.learner)
        restore_optimizer(self._optimizer, self.network, self.optimizer_parts, state)
        self.updates = int(state["updates"])
