"""The acting network of PPO and A2C, in torch or in numpy, and its judgement of observations."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pkmn_ppo.policy import ActorCritic, NumpyActorCritic
from pkmncli.errors import TrainingError
from pkmncli.learners.checks import require_an_action
from pkmncli.learners.flat_adam import lay_out
from pkmncli.learners.observations import MASK, Columns, ObservationLayout


@dataclass(frozen=True, slots=True)
class Judged:
    """Outputs of the policy for n observations."""

    allowed: NDArray[np.bool_]
    log_probs: NDArray[np.float32]
    values: NDArray[np.float32]
    memory: NDArray[np.float32]
    """After the step, (n, memory_size)."""
    probabilities: NDArray[np.float64]
    likeliest: NDArray[np.int64]


class Acting:
    """Copy of a network that acts while the network learns.

    Args:
        network: the learned one.
        layout: of the observations.
        device: of an encoder that is not the default one; all else acts in ordinary memory.
    """

    def __init__(self, network: ActorCritic, layout: ObservationLayout, device: torch.device) -> None:
        self.network = copy.deepcopy(network).requires_grad_(False)
        has_own_encoder = network.encoder is not None
        if not has_own_encoder:
            self.network.cpu()
        self.weights = lay_out(self.network)
        """(weights,), its own memory."""
        self._layout = layout
        self._device = device
        # Faster, but for the default encoder only.
        self._in_numpy = None if has_own_encoder else NumpyActorCritic(self.network, layout)

    @property
    def log_std(self) -> NDArray[np.float32]:
        """Logarithms of the standard deviations of controls, (dimensions,)."""
        assert self.network.log_std is not None
        return np.asarray(self.network.log_std.detach().cpu().numpy(), np.float32)

    def judge(self, observations: Mapping[str, NDArray[Any]], memory: NDArray[np.float32], steps: int) -> Judged:
        """Return the policy's opinion of observations (n, ...) with memories (n, memory_size).

        Raises:
            TrainingError: a mask allows no action, or the policy is not finite after ``steps`` steps.
        """
        columns = self._layout.encode(observations)
        allowed = columns[MASK] != 0
        require_an_action(allowed)
        log_probs, values, memory = self.evaluate(columns, memory)
        probabilities = np.exp(log_probs.astype(np.float64))
        self._require_finite(probabilities, steps)
        likeliest = np.where(allowed, probabilities, -1.0).argmax(axis=1)
        return Judged(allowed, log_probs, values, memory, probabilities, likeliest)

    def means(
        self, observations: Mapping[str, NDArray[Any]], memory: NDArray[np.float32], steps: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Return the means (n, dimensions) of controls, values (n,) and memories after the step.

        Raises:
            TrainingError: the means are not finite after ``steps`` steps.
        """
        means, values, memory = self.evaluate(self._layout.encode(observations), memory)
        self._require_finite(means, steps)
        return means, values, memory

    def evaluate(
        self, columns: Columns, memory: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Return the policy's scores, values (n,), and memories after the step; see :class:`NumpyActorCritic`."""
        return self._in_torch(columns, memory) if self._in_numpy is None else self._in_numpy(columns, memory)

    @torch.inference_mode()
    def _in_torch(
        self, columns: Columns, memory: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        arrays = {name: torch.tensor(array, device=self._device) for name, array in columns.items()}
        policy, values, memories = self.network(arrays, torch.tensor(memory, device=self._device))
        return policy.scores.cpu().numpy(), values.cpu().numpy(), memories.cpu().numpy()

    def _require_finite(self, outputs: NDArray[Any], steps: int) -> None:
        if not np.isfinite(outputs).all():
            raise TrainingError(
                f"The policy of {self._layout.learner} is not finite after {steps:,} steps: look for observations that "
                "are not finite."
            )
