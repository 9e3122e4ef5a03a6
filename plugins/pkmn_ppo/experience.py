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

_NOT_BY_STEP = ("observations", "length")

_TENSOR_TYPES = {"i": torch.int64, "f": torch.float32}
"""Types of numbered and of continuous actions."""

_ROWS_AT_ONCE = 1024
"""Rows per forward pass without gradients; bounds memory."""


@dataclass(frozen=True, slots=True)
class Experience:
    """Steps to learn from, n of them; arrays are (n,) except the observations."""

    observations: Mapping[str, Tensor]
    actions: Tensor
    """Numbers of the actions; continuous ones (n, dimensions), as :mod:`pkmn_ppo.gaussian` scales them."""
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
    memories: Tensor | None = None
    """Memory before each step, (n, memory_size), by the network before the update; None without a memory."""
    starts: Tensor | None = None
    """1 if the memory is cleared before the step; None without a memory."""
    length: int = 1
    """Steps of each sequence: the rows are the first steps of all sequences, then the second, and so on."""

    @property
    def beginnings(self) -> tuple[Tensor | None, Tensor | None]:
        """Memories before the first steps of all sequences, and where episodes start: what the network needs."""
        first = None if self.memories is None else self.memories[: len(self.memories) // self.length]
        return first, self.starts

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
        actions = torch.tensor(steps["actions"].reshape(n_steps * num_envs, *steps["actions"].shape[2:]), device=device)
        begins = rollout.starts()
        memory = starts = None
        if begins is not None:
            memory, starts = torch.tensor(rollout.memory, device=device), torch.tensor(begins.ravel(), device=device)
        log_probs_before, flat_values, after = look_at(network, observations, actions, memory, starts)
        values = flat_values.cpu().numpy().reshape(n_steps, num_envs)
        advantages = generalized_advantages(
            steps["rewards"],
            values,
            _next_values(rollout, values, network, device, after.reshape(n_steps, num_envs, -1)),
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
            None if memory is None else torch.cat((memory, after[:-num_envs])),
            starts,
            n_steps,
        )

    @classmethod
    def made_up(cls, layout: ObservationLayout, size: int, device: torch.device, memory_size: int = 0) -> Experience:
        """Return synthetic steps, to measure how long learning takes."""
        ones, zeros = torch.ones(size, device=device), torch.zeros(size, device=device)
        observations = {
            name: torch.tensor(np.ones((size, *shape), dtype), device=device)
            for name, (shape, dtype) in layout.columns.items()
        }
        whole = zeros.to(torch.int64)
        remembered = (torch.zeros(size, memory_size, device=device), zeros) if memory_size else ()
        actions = torch.zeros(size, layout.dimensions, device=device) if layout.dimensions else whole
        return cls(observations, actions, whole, ones, zeros, zeros, ones, ones, ones, *remembered)

    def rows(self, chosen: NDArray[np.int64]) -> Experience:
        """Return the chosen steps, in that order: (n,), or (length, sequences) for sequences of consecutive steps."""
        index = on_device(np.ascontiguousarray(chosen).reshape(-1), self.actions.device)
        arrays = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in _NOT_BY_STEP}
        others: dict[str, Any] = {name: None if array is None else array[index] for name, array in arrays.items()}
        observations = {name: tensor[index] for name, tensor in self.observations.items()}
        return Experience(observations, **others, length=len(chosen) if chosen.ndim > 1 else 1)

    def explained_variance(self) -> float:
        """Return the share of the returns' variance that the values predicted: 1 all, 0 none, below 0 if worse."""
        variance = float(self.returns.var(correction=0).item())
        missed = float((self.returns - self.values).var(correction=0).item())
        return 1 - missed / variance if variance > 0 else 0.0


@torch.no_grad()
def look_at(
    network: ActorCritic,
    observations: Mapping[str, Tensor],
    actions: Tensor,
    memory: Tensor | None = None,
    starts: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return log-probabilities of actions, values, (rows,) each, and memories after each row, without gradients.

    Args:
        network: what is asked.
        observations: (rows, ...), with a memory the first step of all sequences, then the second of all.
        actions: (rows,), or (rows, dimensions) where they are continuous.
        memory: (sequences, memory_size) before the first steps; None without a memory.
        starts: (rows,), 1 if the memory is cleared before the row; None if it never is.
    """
    at_once = _ROWS_AT_ONCE if memory is None else max(1, _ROWS_AT_ONCE // len(memory)) * len(memory)
    parts = []
    for first in range(0, len(actions), at_once):
        rows = slice(first, first + at_once)
        part = {name: tensor[rows] for name, tensor in observations.items()}
        policy, values, memories = network(part, memory, None if starts is None else starts[rows])
        parts.append((policy.log_prob(actions[rows]), values, memories))
        memory = None if memory is None else memories[-len(memory) :]
    log_probs, all_values, all_memories = zip(*parts, strict=True)
    return torch.cat(log_probs), torch.cat(all_values), torch.cat(all_memories)


def _next_values(
    rollout: Rollout, values: NDArray[np.float32], network: ActorCritic, device: torch.device, memories: Tensor
) -> NDArray[np.float32]:
    """Return the values (n_steps, num_envs) after each step; undefined where the episode terminated.

    ``memories`` are those after each step, (n_steps, num_envs, memory_size).
    """
    next_values = np.zeros_like(values)
    next_values[:-1] = values[1:]
    places, columns = rollout.successors()
    if len(places):
        tensors: dict[str, Any] = {name: torch.tensor(array, device=device) for name, array in columns.items()}
        taken = rollout.steps["actions"]
        no_actions = torch.zeros((len(places), *taken.shape[2:]), dtype=_TENSOR_TYPES[taken.dtype.kind], device=device)
        memory = memories[places[:, 0], places[:, 1]] if rollout.memory.size else None
        _, found, _ = look_at(network, tensors, no_actions, memory)
        next_values[places[:, 0], places[:, 1]] = found.cpu().numpy()
    return next_values
