"""Contracts of learners, and the experience that they learn from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Transitions:
    """Step of every environment, batch first: arrays of shape (num_envs, ...). Copy them to keep them.

    ``observations`` was acted on; ``next_observations`` followed. At the end of an episode the latter is its last
    observation, and the next step's ``observations`` is the first of the new episode. ``sources`` says who decided.
    ``advised`` is the action that the advised side would have taken in ``observations``, whoever decided: a label for
    every step (Ross, Gordon and Bagnell 2011, "A reduction of imitation learning and structured prediction to no-regret
    online learning"); -1 if it is not known, and None if there is no advised side. ``controls`` (num_envs, dimensions)
    are the actions of a continuous space, clipped to its bounds, whose number is 0; None if actions are numbers.
    """

    observations: Mapping[str, NDArray[Any]]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    next_observations: Mapping[str, NDArray[Any]]
    sources: NDArray[np.uint8]
    advised: NDArray[np.int64] | None = None
    controls: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive experience for a checkpoint. A sealed segment never changes again, and its file may be linked."""

    name: str
    sealed: bool
    arrays: Mapping[str, NDArray[Any]]


class Algorithm(Protocol):
    """Learner. Built with (observation_space, action_space, num_envs, seed, settings, device, total_steps).

    If its settings name an encoder (:data:`pkmncli.api.NAMES_ENCODER`) that is not the default, it is also built with
    the keyword ``encoder``.

    ``act``, ``observe``, ``sample`` and ``publish`` are called by the trainer's thread; ``learn`` by the learner's,
    at the same time as ``act`` and ``observe``. The changes of ``learn`` act only after ``publish``. So the trainer's
    loop is: every ``update_interval`` steps wait for the running ``learn``, ``publish``, ``sample``, start ``learn``.

    Optional members are in :class:`pkmncli.api.OptionalAlgorithm` and in the protocols below. The least to write is a
    subclass of :class:`pkmncli.learners.base.BaseLearner`.
    """

    update_interval: int
    """Environment steps, counted over all environments, between two updates."""

    experience_steps: int
    """Maximum number of environment steps in :meth:`segments`; 0 for a learner that keeps no experience."""

    def act(
        self, observations: Mapping[str, NDArray[Any]], explore: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Return actions (n,), confidences (n,) in 0..1, and (n,) True where an action is exploration.

        Every action is allowed by its ``action_mask``. Without ``explore``, acting is greedy and has no later effect.
        """
        ...

    def observe(self, transitions: Transitions) -> None:
        """Take in one step of every environment, whoever decided it."""
        ...

    def sample(self) -> object | None:
        """Return the sample for the next ``learn``; None while there is too little experience."""
        ...

    def learn(self, sampled: object) -> dict[str, float]:
        """Make one update. Return metrics by name."""
        ...

    def time_learning(self) -> float:
        """Return the seconds that one :meth:`learn` takes here, measured before a training. Change nothing."""
        ...

    def publish(self) -> None:
        """Let acting use the changes of :meth:`learn` from now on."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Return the state, except the segments: tensors, arrays and plain values, by dotted name."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`; tensors come back as arrays."""
        ...

    def segments(self) -> Iterable[Segment]:
        """Return the experience, oldest first; empty for a learner that keeps none."""
        ...

    def load_segments(self, segments: Iterable[Segment]) -> None:
        """Restore the experience that :meth:`segments` returned."""
        ...


class ValuingAlgorithm(Algorithm, Protocol):
    """Learner with a value for each action, for the record of decisions."""

    def action_values(self) -> NDArray[np.float32] | None:
        """Return the values of every action in the latest :meth:`act`, (n, num_actions): the more, the better.

        Of any scale: values or probabilities. Not finite where the mask forbids the action.
        """
        ...


class ContinuousAlgorithm(Algorithm, Protocol):
    """Learner that can act in a Box of floats. It is then built with that Box, (dimensions,), as its action space.

    The actions that it returns are 0 everywhere, and ``controls`` says which they are.
    """

    def controls(self) -> NDArray[np.float32]:
        """Return the actions of the latest choice, (n, dimensions), in the units of the space; bounds may be exceeded.

        The choice is that of ``act``, ``sample_actions`` or ``act_from_memory``, whichever was called last.
        """
        ...


class SamplingAlgorithm(Algorithm, Protocol):
    """Learner that can sample its actions, for ``pkmn eval --stochastic``."""

    def sample_actions(
        self, observations: Mapping[str, NDArray[Any]], random: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return allowed actions (n,), sampled by ``random``, better actions more often, and confidences (n,).

        It changes nothing: no later action, exploration or update depends on it.
        """
        ...


class RememberingAlgorithm(Algorithm, Protocol):
    """Learner whose actions depend on earlier steps of an episode, so that evaluations keep a memory for each episode.

    Its :meth:`act` with ``explore`` remembers the episodes of the training by itself.
    """

    def act_from_memory(
        self, observations: Mapping[str, NDArray[Any]], memory: Any, random: np.random.Generator | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], Any]:
        """Return allowed actions (n,), confidences (n,), and the memory for the next step of the same episodes.

        It changes nothing in the learner.

        Args:
            observations: arrays (n, ...).
            memory: result of the step before; None at the start of episodes.
            random: samples the actions; None for greedy ones.
        """
        ...


@dataclass(frozen=True, slots=True)
class ExportedPolicy:
    """Policy in a form that needs neither the learner nor this program.

    ``content`` is the file ``policy.<form>``, such as a program of ``torch.export`` (``pt2``) or ONNX (``onnx``).
    ``description`` is plain values: parts of an observation, number of actions, what the program gives.
    """

    content: bytes
    description: Mapping[str, Any]
    form: str = "pt2"


class ExportingAlgorithm(Algorithm, Protocol):
    """Learner whose policy can be exported, by ``pkmn export --policy``."""

    def export_policy(self) -> ExportedPolicy:
        """Return the policy as it acts now."""
        ...


class ShownAlgorithm(Algorithm, Protocol):
    """Learner that takes in steps of earlier runs, and learns from them before its first step.

    Required by ``--demonstrations`` and ``--pretrain-steps``.
    """

    def observe_shown(self, transitions: Transitions) -> None:
        """Take in one step of every environment of an earlier run.

        It is experience like any other, but counts neither for schedules nor for the learner's reliability.
        """
        ...


class StartableAlgorithm(Algorithm, Protocol):
    """Learner that can begin with the weights of another learner of its kind, by ``--start-from``.

    Only the weights that act pass on: no experience, count of steps, optimizer or exploration.
    """

    def weights(self) -> Mapping[str, Any]:
        """Return the weights that act now: tensors or arrays, by the same dotted names as in ``state_dict``."""
        ...

    def take_weights(self, weights: Mapping[str, Any]) -> None:
        """Act and learn from these weights; other parts of a ``state_dict`` may be among them.

        Raises:
            CheckpointError: they are of another network.
        """
        ...


class RemarkingAlgorithm(Algorithm, Protocol):
    """Learner with remarks before a training begins."""

    def remarks(self, steps: int) -> Sequence[str]:
        """Return what a user should know before ``steps`` more steps, over all environments; a line each."""
        ...
