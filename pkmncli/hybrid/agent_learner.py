"""Agent of a script in the place of a learner: a training calls it for each step, and nothing else decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import Source, Transitions
from pkmncli.errors import ConfigurationError
from pkmncli.learners.base import BaseLearner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.hybrid.agent import HybridAgent


class AgentLearner(BaseLearner):
    """Learner that hands each decision and each step of its one environment to an agent.

    Args:
        agent: of a class that overrides ``get_action`` or ``update``.
        of_training: as for :class:`BaseLearner`.

    Raises:
        ConfigurationError: there are several environments.
    """

    def __init__(self, agent: HybridAgent, *of_training: Any) -> None:
        super().__init__(*of_training)
        self._agent = agent
        if self.num_envs != 1:
            raise ConfigurationError(
                f"envs = {self.num_envs}: {type(agent).__name__} decides by itself, for one environment: use envs = 1"
            )

    def act(
        self, observations: Mapping[str, NDArray[Any]], explore: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Return the agent's action. It explores unless it is in its :meth:`evaluation`.

        Raises:
            ConfigurationError: the agent returned no action, or one that the mask forbids.
        """
        observation = {name: array[0].copy() for name, array in observations.items()}
        action = self._agent.get_action(observation, {})
        mask = observation.get("action_mask", np.ones(self.num_actions))
        is_action = isinstance(action, int | np.integer) and 0 <= int(action) < self.num_actions
        if not is_action or not mask[int(action)]:
            allowed = ", ".join(map(str, np.flatnonzero(mask)))
            raise ConfigurationError(
                f"{type(self._agent).__name__}.get_action returned {action!r}; the allowed actions are {allowed}"
            )
        made = self._agent.last_decision
        known = made is not None and made.action == int(action)  # not if the subclass decided without this class
        confidence = made.confidence if made is not None and known else 1.0
        explores = made is not None and known and made.source is Source.EXPLORE
        return np.array([action], np.int64), np.array([confidence], np.float32), np.array([explores])

    def act_from_memory(
        self, observations: Mapping[str, NDArray[Any]], memory: Any, random: np.random.Generator | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], Any]:
        """Return the agent's action in an evaluation, its confidence, and what to give at the next step.

        Args:
            observations: arrays (1, ...).
            memory: result of the step before; None at the start of an episode, which the agent then begins.
            random: not used.

        Raises:
            ConfigurationError: as :meth:`act`.
        """
        if memory is None:
            self._agent.begin_episode()
        return *self.act(observations, explore=False)[:2], True

    def evaluation(self) -> AbstractContextManager[None]:
        """Return the context in which the agent plays an evaluation, which leaves it as it was."""
        return self._agent.evaluation()

    def observe(self, transitions: Transitions) -> None:
        """Give a step to the agent."""
        self._agent.update(
            {name: array[0].copy() for name, array in transitions.observations.items()},
            int(transitions.actions[0]),
            float(transitions.rewards[0]),
            {name: array[0].copy() for name, array in transitions.next_observations.items()},
            bool(transitions.terminated[0] or transitions.truncated[0]),
        )

    def learn(self, sampled: Sequence[Transitions]) -> dict[str, float]:
        """Return no metrics: the agent learns in its ``update``."""
        return {}

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Return nothing: the state is the agent's."""
        return {}

    def state_dict(self) -> dict[str, Any]:
        """Return the agent's state."""
        return self._agent.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._agent.load_state_dict(state)
