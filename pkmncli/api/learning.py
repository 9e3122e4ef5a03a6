"""Learners, and the experience that they learn from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Transitions:
    """One step of every environment, batch first: arrays of shape (num_envs, ...), to be copied by who keeps them.

    ``observations`` is what was acted on; ``next_observations`` what followed: where an episode ended, that is its
    last observation, and the new episode's first one is among the next step's ``observations``. ``sources`` says who
    pressed. ``advised`` is the action that the advised side would have taken in ``observations``, whoever pressed:
    a label for every step (Ross, Gordon and Bagnell 2011, "A reduction of imitation learning and structured prediction
    to no-regret online learning"); -1 where it is not known, and None where nobody said.
    """

    observations: Mapping[str, NDArray[Any]]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    next_observations: Mapping[str, NDArray[Any]]
    sources: NDArray[np.uint8]
    advised: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of consecutive experience for a checkpoint. A sealed one never changes again and may be linked."""

    name: str
    sealed: bool
    arrays: Mapping[str, NDArray[Any]]


class Algorithm(Protocol):
    """A learner. Built with (observation_space, action_space, num_envs, seed, settings, device, total_steps).

    One whose settings name an encoder (:data:`pkmncli.api.NAMES_ENCODER`) is also built with ``encoder=``, where it is
    not the default; no other learner is.

    ``act``, ``observe``, ``draw`` and ``publish`` are called by the trainer's thread; ``learn`` by the learner's,
    at the same time as ``act`` and ``observe``. What ``learn`` changes acts only after ``publish``. So the trainer's
    loop is: every ``update_interval`` steps wait for the running ``learn``, ``publish``, ``draw``, start ``learn``.

    A learner whose attribute ``waits_for_updates`` is true acts with an update at once: ``learn`` is waited for, and
    ``publish`` follows, so environments stand still meanwhile. Others leave it out.

    One whose attribute ``draws_ahead`` is true draws the same whether or not the running ``learn`` has ended: then the
    order is ``draw``, start the next ``learn``, which begins where the running one ends, wait for that one, and
    ``publish(begun=True)``, which lets that one's weights act, however far the next one has come. Nothing stands still
    that way.

    One whose attribute ``learns_at_once`` is true only launches in ``learn`` what a graphics card then does, and does
    not wait for it: ``draw`` and ``learn`` are called by the trainer's thread while the environments take the step
    after the window's end, and ``publish`` at the end of the next window.

    Two more methods are called where there are any: ``learn_beside()`` before a training which goes on stepping while
    it learns, and ``close()`` when that ends, to let go of what the learner holds, such as a process.
    """

    update_interval: int
    """Environment steps, counted over all environments, between two updates."""

    experience_steps: int
    """Most environment steps that :meth:`segments` ever gives; 0 for a learner that keeps none."""

    def act(
        self, observations: Mapping[str, NDArray[Any]], explore: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Actions (n,), confidences (n,) in 0..1, and which of the actions are exploration (n,).

        Every action is allowed by its ``action_mask``. With ``explore`` off, acting is greedy, and has no effect
        on what comes after.
        """
        ...

    def observe(self, transitions: Transitions) -> None:
        """Takes in one step of every environment, whoever pressed it."""
        ...

    def draw(self) -> object | None:
        """What the next ``learn`` will learn from; nothing while there is too little experience."""
        ...

    def learn(self, drawn: object) -> dict[str, float]:
        """One update. Returns metrics, by name."""
        ...

    def time_learning(self) -> float:
        """Seconds that one :meth:`learn` takes here and now. Measured without a trace, before a training begins."""
        ...

    def publish(self) -> None:
        """From now on, acting uses what :meth:`learn` has changed."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """All that decides what comes next, except the segments: tensors, arrays and plain values, by dotted name."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`; tensors come back as arrays."""
        ...

    def segments(self) -> Iterable[Segment]:
        """The experience kept, oldest first. Nothing for a learner that keeps none."""
        ...

    def load_segments(self, segments: Iterable[Segment]) -> None:
        """Takes back the experience that :meth:`segments` gave."""
        ...


class ValuingAlgorithm(Algorithm, Protocol):
    """A learner that says what it thought of each action, for the record of decisions. Others leave the method out."""

    def action_values(self) -> NDArray[np.float32] | None:
        """What the latest :meth:`act` thought of every action, (n, num_actions): the more, the better.

        Of any scale of its own, values or probabilities. Not finite where the mask forbids the action.
        """
        ...


class SamplingAlgorithm(Algorithm, Protocol):
    """A learner that can draw its actions, as ``pkmn eval --stochastic`` asks. Others leave the method out."""

    def sample_actions(
        self, observations: Mapping[str, NDArray[Any]], random: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return allowed actions (n,), drawn by ``random``, the better ones more often, and confidences (n,).

        Leaves no trace: nothing of what is learned, explored or drawn later depends on it.
        """
        ...


@dataclass(frozen=True, slots=True)
class ExportedPolicy:
    """What acts, in a form that needs neither the learner nor this program.

    ``tensors`` are tensors or arrays by name; ``description`` plain values: what an observation must hold, how many
    actions there are, the sizes of the network. ``example`` is Python source that loads ``policy.safetensors`` and
    ``policy.json`` beside it and has a function ``act(observation) -> int``: the greedy action for one observation.
    """

    tensors: Mapping[str, Any]
    description: Mapping[str, Any]
    example: str


class ExportingAlgorithm(Algorithm, Protocol):
    """A learner whose policy can be taken elsewhere, by ``pkmn export --policy``. Others leave the method out."""

    def export_policy(self) -> ExportedPolicy:
        """The policy as it acts now."""
        ...


class ShownAlgorithm(Algorithm, Protocol):
    """A learner that takes in steps of earlier runs, and learns from them before its own first one.

    ``--demonstrations`` and ``--pretrain-steps`` need it; learners that keep no experience leave the method out.
    """

    def observe_shown(self, transitions: Transitions) -> None:
        """Takes in one step of every environment that an earlier run has made.

        It is experience as any other, and counts for no schedule, nor for how far the learner is trusted.
        """
        ...


class StartableAlgorithm(Algorithm, Protocol):
    """A learner that can begin with the weights of another one of its kind, by ``--start-from``. Others leave both out.

    Only what acts is handed on: no experience, count of steps, optimizer or exploration.
    """

    def weights(self) -> Mapping[str, Any]:
        """Return the weights that act now: tensors or arrays, by the same dotted names as in ``state_dict``."""
        ...

    def take_weights(self, weights: Mapping[str, Any]) -> None:
        """Acts and learns on from these; what else a ``state_dict`` holds may be among them.

        Raises:
            CheckpointError: they are of another network.
        """
        ...


class RemarkingAlgorithm(Algorithm, Protocol):
    """A learner that has something to say before a training begins. Others leave the method out."""

    def remarks(self, steps: int) -> Sequence[str]:
        """What a user should know before that many more environment steps, over all environments, a line each."""
        ...
