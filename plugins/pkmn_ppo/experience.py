"""A rollout as tensors to learn from: one row per step, with advantages and returns by the current values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pkmn_ppo.advantages import generalized_advantages, normalized
from pkmn_ppo.policy import ActorCritic
from pkmn_ppo.rollout import Rollout
from pkmn_ppo.settings import OnPolicySettings
from pkmncli.learners.observations import ObservationLayout
from pkmncli.learners.transfer import on_device

_ROWS_AT_ONCE = 1024
"""Rows per forward pass without gradients; bounds memory."""


@dataclass(frozen=True, slots=True)
class Experience:
    """Steps to learn from, n of them; arrays are (n,) except the observations."""

    observations: Mapping[str, Tensor]
    actions: Tensor
    labels: Tensor
    """Actions that the advised side demonstrates; -1 for none."""
    on_policy: Tensor
    """1 if the learner sampled the action itself, else 0: only such steps are evidence about its policy."""
    log_probs: Tensor
    """Log-probabilities of the learner's own actions, by the policy that sampled them."""
    log_probs_before: Tensor
    """Log-probabilities of all actions, by the policy before the update."""
    values: Tensor
    """Values by the network before the update."""
    advantages: Tensor
    returns: Tensor

    @classmethod
    def of(cls, rollout: Rollout, network: ActorCritic, settings: OnPolicySettings, device: torch.device) -> Experience:
        """Return the steps of a full rollout, with advantages by a network's values.

        The values are those of the network that will learn, not of the acting one, which is an update older: the
        newer values are better, and the update then begins from them.
        """
        steps = rollout.steps
        n_steps, num_envs = steps["ended"].shape
        observations = {
            name: on_device(array.reshape(n_steps * num_envs, *array.shape[2:]), device)
            for name, array in rollout.observations.items()
        }
        actions = torch.tensor(steps["actions"].ravel(), device=device)
        log_probs_before, flat_values = look_at(network, observations, actions)
        values = flat_values.cpu().numpy().reshape(n_steps, num_envs)
        advantages = generalized_advantages(
            steps["rewards"],
            values,
            _next_values(rollout, values, network, device),
            steps["terminated"],
            steps["ended"],
            settings.gamma,
            settings.gae_lambda,
        )
        returns = advantages + values
        if settings.normalize_advantage:
            advantages = normalized(advantages, steps["own"])
        return cls(
            observations,
            actions,
            torch.tensor(steps["labels"].ravel().astype(np.int64), device=device),
            torch.tensor(steps["own"].ravel(), dtype=torch.float32, device=device),
            torch.tensor(steps["log_probs"].ravel(), device=device),
            log_probs_before,
            flat_values,
            torch.tensor(advantages.ravel(), device=device),
            torch.tensor(returns.ravel(), device=device),
        )

    @classmethod
    def made_up(cls, layout: ObservationLayout, size: int, device: torch.device) -> Experience:
        """Return synthetic steps, to measure how long learning takes."""
        ones, zeros = torch.ones(size, device=device), torch.zeros(size, device=device)
        observations = {
            name: torch.tensor(np.ones((size, *shape), dtype), device=device)
            for name, (shape, dtype) in layout.columns.items()
        }
        whole = zeros.to(torch.int64)
        return cls(observations, whole, whole, ones, zeros, zeros, ones, ones, ones)

    def rows(self, chosen: NDArray[np.int64]) -> Experience:
        """Return the chosen steps, in that order."""
        index = on_device(chosen, self.actions.device)
        others = {one.name: getattr(self, one.name)[index] for one in fields(self) if one.name != "observations"}
        return Experience({name: tensor[index] for name, tensor in self.observations.items()}, **others)

    def explained_variance(self) -> float:
        """Return the share of the returns' variance that the values predicted: 1 all, 0 none, below 0 if worse."""
        variance = float(self.returns.var(correction=0).item())
        missed = float((self.returns - self.values).var(correction=0).item())
        return 1 - missed / variance if variance > 0 else 0.0


@torch.no_grad()
def look_at(network: ActorCritic, observations: Mapping[str, Tensor], actions: Tensor) -> tuple[Tensor, Tensor]:
    """Return log-probabilities of actions, and values, (n,) each, without gradients."""
    parts = []
    for first in range(0, len(actions), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        policy, values = network({name: tensor[rows] for name, tensor in observations.items()})
        parts.append((policy.log_prob(actions[rows]), values))
    log_probs, values = zip(*parts, strict=True)
    return torch.cat(log_probs), torch.cat(values)


def _next_values(
    rollout: Rollout, values: NDArray[np.float32], network: ActorCritic, device: torch.device
) -> NDArray[np.float32]:
    """Return the values (n_steps, num_envs) after each step; undefined where the episode terminated."""
    next_values = np.zeros_like(values)
    next_values[:-1] = values[1:]
    places, columns = rollout.successors()
    if len(places):
        tensors: dict[str, Any] = {name: torch.tensor(array, device=device) for name, array in columns.items()}
        _, found = look_at(network, tensors, torch.zeros(len(places), dtype=torch.int64, device=device))
        next_values[places[:, 0], places[:, 1]] = found.cpu().numpy()
    return next_values
