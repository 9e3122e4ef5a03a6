"""The learner of an agent in a loop: built at the first observation, it acts and learns step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import Algorithm, Source, Transitions
from pkmncli.config import DEFAULT_STEPS, ResolvedSettings
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.build import build_learner
from pkmncli.plugins import get_registry

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PREFIX = "learner."
"""Of the learner's keys in a state."""


class LearnerSide:
    """Learner of one environment, for observations as a loop has them.

    Args:
        settings: of a training.
        num_actions: number of actions.
    """

    def __init__(self, settings: ResolvedSettings, num_actions: int) -> None:
        self.learner: Algorithm | None = None
        """Built at the first observation, or the trained one after a training."""
        self.steps = 0
        """Steps that it has observed."""
        self.memory: Any = None
        """Memory of a recurrent learner in an evaluation."""
        self._settings = settings
        self._num_actions = num_actions
        self._state: Mapping[str, Any] = {}
        """State that the learner takes when it is built."""
        self._observed: dict[str, Any] = {}
        """Spaces of the observations of a trained learner; empty for one that takes those of the loop."""

    def take(self, learner: Algorithm | None, observed: Mapping[str, Any]) -> None:
        """Take a trained learner, and the spaces of its observations."""
        self.learner, self._observed = learner, dict(observed)

    def act(
        self, observation: Mapping[str, Any], *, explore: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Return action, confidence, and True if it explores, (1,) each.

        Raises:
            ConfigurationError: the observation, or its number of actions, is not what the learner was made for.
        """
        arrays = self._arrays(observation)
        if self.learner is None:
            self.learner = self._built(arrays)
        act_from_memory = None if explore else getattr(self.learner, "act_from_memory", None)
        if act_from_memory is None:
            return self.learner.act(arrays, explore=explore)
        actions, confidences, self.memory = act_from_memory(arrays, self.memory)
        return actions, confidences, np.zeros(len(actions), np.bool_)

    def observe(
        self,
        observation: Mapping[str, Any],
        action: int,
        reward: float,
        next_observation: Mapping[str, Any],
        done: bool,
        source: Source,
    ) -> None:
        """Learn from a step, if there is a learner yet."""
        learner = self.learner
        if learner is None:
            return
        learner.observe(
            Transitions(
                observations=self._arrays(observation),
                actions=np.array([action], np.int64),
                rewards=np.array([reward], np.float32),
                terminated=np.array([done]),
                truncated=np.array([False]),
                next_observations=self._arrays(next_observation),
                sources=np.array([source], np.uint8),
            )
        )
        self.steps += 1
        if self.steps % learner.update_interval == 0:
            sampled = learner.sample()
            if sampled is not None:
                learner.learn(sampled)
                learner.publish()

    def state_dict(self) -> dict[str, Any]:
        """Return the learner's state, without its experience."""
        state = self._state if self.learner is None else self.learner.state_dict()
        return {f"{_PREFIX}{name}": value for name, value in state.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Keep the learner's part of a state for the next observation, at which it is built."""
        self._state = {key.removeprefix(_PREFIX): value for key, value in state.items() if key.startswith(_PREFIX)}
        self.learner = None

    def _arrays(self, observation: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Return the arrays that the learner takes, batch first."""
        arrays = _batch_of_one(observation)
        if not self._observed:
            return arrays
        shapes = {name: array.shape[1:] for name, array in arrays.items()}
        if any(shapes.get(name) != space.shape for name, space in self._observed.items()):
            raise ConfigurationError(
                f"the agent was trained on {', '.join(self._observed)}, and this observation differs: play in "
                "trainer.training_environment()"
            )
        return {name: arrays[name] for name in self._observed}

    def _built(self, arrays: Mapping[str, NDArray[Any]]) -> Algorithm:
        """Return the learner for observations such as ``arrays``, batch first."""
        from gymnasium import spaces  # noqa: PLC0415 - a tenth of a second that only agents with a learner need

        allowed = arrays["action_mask"].size if "action_mask" in arrays else self._num_actions
        if allowed != self._num_actions:
            raise ConfigurationError(
                f"the agent chooses among {self._num_actions} actions, and the environment has {allowed}: make the "
                f"agent with action_space_size = {allowed}"
            )
        train = self._settings.train
        learner = build_learner(
            self._settings,
            get_registry(),
            spaces.Dict({name: _space_of(name, array[0]) for name, array in arrays.items()}),
            spaces.Discrete(self._num_actions),
            num_envs=1,
            seed=train.seed,
            total_steps=DEFAULT_STEPS if train.steps is None else train.steps,
        )
        if self._state:
            learner.load_state_dict(self._state)
            self._state = {}
        return learner


def _batch_of_one(observation: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of an observation, without its texts, as a learner takes them.

    Names of arrays in nested dictionaries are joined by dots, such as ``a.b``.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for name, part in observation.items():
        if isinstance(part, Mapping):
            arrays |= {f"{name}.{inner}": array for inner, array in _batch_of_one(part).items()}
        elif (array := np.asarray(part)).size and array.dtype.kind in "biuf":  # no texts
            arrays[name] = array[None]
    return arrays


def _space_of(name: str, array: NDArray[Any]) -> Any:
    from gymnasium import spaces  # noqa: PLC0415 - as above

    low, high = (0, 255) if array.dtype == np.uint8 else (0, 1) if name == "action_mask" else (-np.inf, np.inf)
    return spaces.Box(low, high, array.shape, array.dtype.type)
