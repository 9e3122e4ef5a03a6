"""Base class of small learners, which learn at once from each step and keep no experience. It needs no PyTorch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import Segment, Transitions
from pkmncli.learners.random_state import dump_generator, generator, restore_generator

if TYPE_CHECKING:
    from gymnasium import spaces
    from numpy.typing import NDArray

_RANDOM, _KEPT = "random", "kept"
"""Keys of a state beside the learner's own arrays."""


class BaseLearner(ABC):
    """Learner of three methods: :meth:`act`, :meth:`learn` and :meth:`state`.

    Every ``update_interval`` steps it learns from the steps since the last time. The environments wait meanwhile, so
    an update acts at once. A resumed training continues exactly if :meth:`state` has all that is learned, and all
    random choices use ``random``.

    Args:
        observation_space: of one environment.
        action_space: of one environment.
        num_envs: number of environments.
        seed: seed of all random choices.
        settings: an instance of the registered settings model; None if there is none.
        device: device that the user chose; not used here.
        total_steps: environment steps of the training.
    """

    update_interval = 1
    experience_steps = 0
    waits_for_updates = True

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Discrete,
        num_envs: int,
        seed: int,
        settings: Any = None,
        device: str = "cpu",
        total_steps: int = 0,
    ) -> None:
        self.observation_space = observation_space
        self.num_actions = int(action_space.n)
        self.num_envs = num_envs
        self.settings = settings
        self.total_steps = total_steps
        self.random = generator(seed, 0)
        """Source of random numbers; its state is saved."""
        self._kept: list[Transitions] = []

    @abstractmethod
    def act(
        self, observations: Mapping[str, NDArray[Any]], explore: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Return actions (n,), confidences (n,) in 0..1, and (n,) True where an action is exploration.

        Every action must be allowed by ``observations["action_mask"]``. Without ``explore``, use no random numbers.
        """

    @abstractmethod
    def learn(self, sampled: Sequence[Transitions]) -> dict[str, float]:
        """Learn from the steps since the last time, at least one, in order. Return metrics by name."""

    @abstractmethod
    def state(self) -> Mapping[str, NDArray[Any]]:
        """Return the arrays that are learned, by name. They are saved, and later filled in place."""

    def observe(self, transitions: Transitions) -> None:
        """Keep a step of every environment."""
        copied = {
            part.name: _copied(getattr(transitions, part.name))
            for part in fields(transitions)
            if getattr(transitions, part.name) is not None
        }
        self._kept.append(replace(transitions, **copied))

    def sample(self) -> Sequence[Transitions] | None:
        """Return the steps since the last time; None if there are none."""
        kept, self._kept = self._kept, []
        return kept or None

    def time_learning(self) -> float:
        """Return 0: small learners take no time worth a forecast."""
        return 0.0

    def publish(self) -> None:  # noqa: B027 - a default, not abstract
        """Do nothing: acting uses what has been learned."""

    def state_dict(self) -> dict[str, Any]:
        """Return copies of the arrays of :meth:`state`, the random state, and the steps not yet learned from."""
        saved: dict[str, Any] = {name: array.copy() for name, array in self.state().items()}
        saved[_RANDOM] = dump_generator(self.random)
        saved[_KEPT] = len(self._kept)
        for number, step in enumerate(self._kept):
            for part in fields(step):
                value = getattr(step, part.name)
                named = value if isinstance(value, Mapping) else {"": value}
                saved |= {f"{_KEPT}.{number}.{part.name}.{name}": one for name, one in named.items() if one is not None}
        return saved

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        for name, array in self.state().items():
            array[...] = state[name]
        restore_generator(self.random, state[_RANDOM])
        self._kept = [_step_in(state, f"{_KEPT}.{number}.") for number in range(int(state[_KEPT]))]

    def segments(self) -> Iterable[Segment]:
        """Return nothing: no experience is kept."""
        return ()

    def load_segments(self, segments: Iterable[Segment]) -> None:  # noqa: B027
        """Do nothing: no experience is kept."""


def _copied(value: Any) -> Any:
    return {name: array.copy() for name, array in value.items()} if isinstance(value, Mapping) else value.copy()


def _step_in(state: Mapping[str, Any], prefix: str) -> Transitions:
    """Return the step that a state has under a prefix."""
    parts: dict[str, Any] = {}
    for key in state:
        if key.startswith(prefix):
            part, _, name = key.removeprefix(prefix).partition(".")
            if name:
                parts.setdefault(part, {})[name] = state[key]
            else:
                parts[part] = state[key]
    return Transitions(**parts)
