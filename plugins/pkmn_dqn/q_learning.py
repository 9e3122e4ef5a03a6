"""Deep Q-learning proper: the learned network, its target network, and one update of them.

Double: van Hasselt et al. 2016. Dueling: Wang et al. 2016. n-step returns as in Rainbow, Hessel et al. 2018,
without correction for presses that the learner would not have chosen.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pkmn_dqn.network import QNetwork
from pkmn_dqn.observations import MASK, ObservationLayout
from pkmn_dqn.replay_buffer import Sample
from pkmn_dqn.settings import DQNSettings
from pkmncli.errors import CheckpointError, TrainingError

_ADAM_STATE = ("step", "exp_avg", "exp_avg_sq")


@dataclass(frozen=True, slots=True)
class Batch:
    """A sample in tensors of its own: nothing that happens to the buffer changes it."""

    observations: Mapping[str, Tensor]
    actions: Tensor
    returns: Tensor
    discounts: Tensor
    next_observations: Mapping[str, Tensor]

    @classmethod
    def of(cls, sample: Sample, device: torch.device) -> Batch:
        """Copies a sample."""

        def copied(array: Any) -> Tensor:
            return torch.tensor(array, device=device)

        return cls(
            {name: copied(array) for name, array in sample.observations.items() if name != MASK},
            copied(sample.actions),
            copied(sample.returns),
            copied(sample.discounts),
            {name: copied(array) for name, array in sample.next_observations.items()},
        )


def masked(values: Tensor, mask: Tensor) -> Tensor:
    """Values (n, num_actions) with minus infinity where the mask (n, num_actions) is 0.

    Where it allows nothing at all, as a final observation's may, nothing is masked.
    """
    allowed = mask.to(torch.bool)
    return values.masked_fill(~(allowed | ~allowed.any(dim=1, keepdim=True)), -torch.inf)


class QLearning:
    """The weights that are learned, and how."""

    def __init__(self, layout: ObservationLayout, settings: DQNSettings, seed: int, device: torch.device) -> None:
        self._settings = settings
        self._device = device
        with torch.random.fork_rng(devices=[]):  # leaves the process's own random state as it is
            torch.default_generator.manual_seed(seed)
            self.online = QNetwork(layout, settings).to(device)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self._parameters = list(self.online.parameters())
        self._optimizer = torch.optim.Adam(
            self._parameters, settings.learning_rate, eps=settings.adam_epsilon, fused=True
        )
        self.updates = 0

    def update(self, batch: Batch) -> dict[str, float]:
        """Learns from one batch.

        Returns:
            ``loss``, ``mean_q`` (of the actions taken), ``td_error`` (mean absolute), ``grad_norm`` (before clipping).

        Raises:
            TrainingError: the loss is not a finite number.
        """
        settings = self._settings
        targets = batch.returns + batch.discounts * self._next_values(batch.next_observations)
        values = self.online(batch.observations).gather(1, batch.actions[:, None])[:, 0]
        loss = nn.functional.huber_loss(values, targets, delta=settings.huber_delta)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        grad_norm = nn.utils.clip_grad_norm_(self._parameters, settings.max_grad_norm)
        loss_value = float(loss.item())
        if loss_value - loss_value != 0:
            raise TrainingError(
                f"The DQN's loss became {loss_value} at update {self.updates + 1}: lower dqn.learning_rate, "
                "or look for rewards and observations that are not finite."
            )
        self._optimizer.step()
        self.updates += 1
        if self.updates % settings.target_update_interval == 0:
            self._update_target()
        with torch.no_grad():
            return {
                "loss": loss_value,
                "mean_q": float(values.mean().item()),
                "td_error": float((values - targets).abs().mean().item()),
                "grad_norm": float(grad_norm.item()),
            }

    def state_dict(self) -> dict[str, Any]:
        """Copies of all weights and of the optimizer's state, by dotted name, and the count of updates."""
        state: dict[str, Any] = {"updates": self.updates}
        for prefix, network in (("online", self.online), ("target", self.target)):
            state |= dump_network(prefix, network)
        adam = self._optimizer.state_dict()["state"]
        for index, (name, _) in enumerate(self.online.named_parameters()):
            for part in _ADAM_STATE if index in adam else ():
                state[f"optimizer.{part}.{name}"] = adam[index][part].detach().cpu().clone()
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`. Raises CheckpointError when it is of another network."""
        for prefix, network in (("online", self.online), ("target", self.target)):
            restore_network(prefix, network, state)
        adam: dict[int, dict[str, Tensor]] = {}
        for index, (name, parameter) in enumerate(self.online.named_parameters()):
            if f"optimizer.{_ADAM_STATE[0]}.{name}" in state:
                adam[index] = {part: _copied(state[f"optimizer.{part}.{name}"], parameter) for part in _ADAM_STATE}
                adam[index]["step"] = adam[index]["step"].reshape(())  # file formats may make it one-dimensional
        groups = self._optimizer.state_dict()["param_groups"]
        self._optimizer.load_state_dict({"state": adam, "param_groups": groups})
        self.updates = int(state["updates"])

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


def dump_network(prefix: str, network: nn.Module) -> dict[str, Tensor]:
    """Copies of a network's weights, named ``prefix.<name>``."""
    return {f"{prefix}.{name}": tensor.detach().cpu().clone() for name, tensor in network.state_dict().items()}


def restore_network(prefix: str, network: nn.Module, state: Mapping[str, Any]) -> None:
    """Puts weights into a network. Raises CheckpointError when names or shapes are not its own."""
    weights = {
        name.removeprefix(prefix + "."): torch.tensor(np.asarray(tensor))
        for name, tensor in state.items()
        if name.startswith(prefix + ".")
    }
    expected = {name: tensor.shape for name, tensor in network.state_dict().items()}
    if {name: tensor.shape for name, tensor in weights.items()} != expected:
        raise CheckpointError(
            f"The checkpoint's {prefix} network has other layers than this one: "
            "resume with the run's own environment and [dqn] settings."
        )
    network.load_state_dict(weights)


def _copied(array: Any, like: Tensor) -> Tensor:
    return torch.tensor(np.asarray(array), device=like.device)
