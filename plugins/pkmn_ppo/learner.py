"""The learners PPO and A2C, as the trainer sees them: acting, rollouts, and updates that may run in another thread.

Threads: ``learn`` uses :class:`pkmn_ppo.learning.PolicyLearning`, which may have moved to its own process, and the data
that ``draw`` returned; everything else belongs to the trainer's thread. They meet in ``publish``, which the trainer
calls when no ``learn`` is running. So results depend on the sequence of calls alone, never on the speed of a thread.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray

from pkmn_ppo.a2c import A2CLearning
from pkmn_ppo.exported_policy import exported_actor_critic
from pkmn_ppo.learning import Drawn, PolicyLearning
from pkmn_ppo.policy import NumpyActorCritic, leads
from pkmn_ppo.ppo import PPOLearning
from pkmn_ppo.rollout import Rollout
from pkmn_ppo.settings import A2CSettings, OnPolicySettings, PPOSettings
from pkmncli.api import ExportedPolicy, Segment, Source, Transitions
from pkmncli.errors import ConfigurationError, TrainingError
from pkmncli.learners.checks import require_an_action, require_finite_rewards, require_own_state
from pkmncli.learners.drawing import pick
from pkmncli.learners.encoders import EncoderFactory, require_factory
from pkmncli.learners.flat_adam import lay_out
from pkmncli.learners.labels import NO_LABEL, labels_of
from pkmncli.learners.learning_apart import LearningApart
from pkmncli.learners.networks import device_of
from pkmncli.learners.observations import MASK, Columns, layout_of
from pkmncli.learners.random_state import dump_generator, generator, restore_generator
from pkmncli.learners.track_record import ValueReliability
from pkmncli.learners.weights import dump_network, restore_network, under, with_networks

_STATE_VERSION = 1
_ACT_STREAM, _DRAW_STREAM = 0, 1  # random number streams
_NOTHING = -1  # no action was sampled


class OnPolicyLearner:
    """A :class:`pkmncli.api.Algorithm` that samples actions from a policy and learns from one rollout at a time."""

    def __init__(
        self,
        learning: type[PolicyLearning[Any]],
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
        num_envs: int,
        seed: int,
        settings: OnPolicySettings,
        device: str,
        total_steps: int,
        encoder: EncoderFactory | None = None,
    ) -> None:
        """Build an untrained learner.

        Args:
            learning: class of the learning part.
            observation_space: a Dict of ``screen``, ``action_mask``, a map of bits and vectors, each optional.
            action_space: Discrete, from 0.
            num_envs: number of environments; every :meth:`observe` takes a step of each.
            seed: of weights, actions and minibatches.
            settings: the user's.
            device: of the networks, as torch names it; ``auto`` is a GPU if there is one.
            total_steps: environment steps of the whole run, over all environments.
            encoder: factory of the encoder that the settings name; None for the default one.

        Raises:
            ConfigurationError: the spaces or settings do not fit the learner.
        """
        self.update_interval = settings.n_steps * num_envs
        self.experience_steps = 0  # the current rollout is part of the state
        self.waits_for_updates = not settings.overlap
        self.steps = 0
        self._name = learning.learner
        self._settings = settings
        self._num_envs = num_envs
        self._device = device_of(device)
        self._layout = layout_of(observation_space, action_space, self._name)
        require_factory(settings, encoder, self._name)
        self._encoder = encoder
        self._learning = LearningApart(partial(learning, self._layout, settings, seed, self._device, encoder))
        self._acting = copy.deepcopy(self._learning.here.network).requires_grad_(False)
        if encoder is None:
            self._acting.cpu()
        self._acting_weights = lay_out(self._acting)
        self._numpy_acting: NumpyActorCritic | None = None  # faster, but for the default encoder only
        if encoder is None:
            self._numpy_acting = NumpyActorCritic(self._acting, self._layout)
        self._rollout = self._new_rollout()
        # Actions sampled for the next step, and their log-probabilities.
        self._drawn_actions = np.full(num_envs, _NOTHING, np.int64)
        self._drawn_log_probs = np.zeros(num_envs, np.float32)
        self._value_reliability = ValueReliability(
            num_envs,
            self._layout.num_actions,
            settings.gamma,
            settings.confidence_horizon,
            settings.confidence_memory,
        )
        self._latest_probabilities: NDArray[np.float32] | None = None
        self._act_rng = generator(seed, _ACT_STREAM)
        self._draw_rng = generator(seed, _DRAW_STREAM)
        # Kept in checkpoints: a run resumed with a larger budget does not restart its schedules.
        self._schedule_steps = max(1, total_steps)

    @property
    def learning_rate(self) -> float:
        """Current step size; falls linearly, by the learner's own count of steps."""
        return self._settings.learning_rate * (1 - self._settings.learning_rate_decay * self._progress)

    @property
    def ent_coef(self) -> float:
        """Current weight of the entropy; falls linearly, by the learner's own count of steps."""
        return self._settings.ent_coef * (1 - self._settings.ent_coef_decay * self._progress)

    @property
    def demonstration_weight(self) -> float:
        """Current weight of demonstrations; falls by the learner's own count of steps."""
        settings = self._settings
        final = min(settings.demonstration_weight, settings.demonstration_final_weight)
        fraction = settings.demonstration_fraction
        left = 1 - self._progress / fraction if fraction > 0 else 0.0
        return final + (settings.demonstration_weight - final) * max(0.0, left)

    @property
    def reliability(self) -> float:
        """Agreement of values with the rewards that followed, 0..1; a factor of confidence."""
        return self._value_reliability.reliability

    def act(
        self, observations: Mapping[str, NDArray[Any]], explore: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Choose actions; with ``explore``, sample them from the policy.

        Args:
            observations: arrays (n, ...); n is the number of environments when exploring, any number otherwise.
            explore: False for the most probable actions, without any effect on the learner.

        Returns:
            Actions (n,), confidences (n,) of the most probable ones, and which of the actions are others (n,).

        Raises:
            TrainingError: an observation's mask allows no action, or the policy is not finite.
        """
        columns = self._layout.encode(observations)
        allowed = columns[MASK] != 0
        require_an_action(allowed)
        log_probs, values = self._evaluate(columns)
        probabilities = np.exp(log_probs.astype(np.float64))
        if not np.isfinite(probabilities).all():
            raise TrainingError(
                f"The policy of {self._name} is not finite after {self.steps:,} steps: look for observations that are "
                "not finite."
            )
        self._latest_probabilities = np.where(allowed, probabilities, -np.inf).astype(np.float32)
        likeliest = np.where(allowed, probabilities, -1.0).argmax(axis=1)
        confidences = np.asarray(self.reliability * leads(probabilities), np.float32)
        if not explore:
            return likeliest, confidences, np.zeros(len(likeliest), bool)
        actions = pick(probabilities, self._act_rng.random(len(probabilities)))
        self._drawn_actions[:] = actions
        self._drawn_log_probs[:] = log_probs[np.arange(len(actions)), actions]
        self._value_reliability.note_choices(np.broadcast_to(values[:, None], log_probs.shape), actions)
        return actions, confidences, actions != likeliest

    def sample_actions(
        self, observations: Mapping[str, NDArray[Any]], random: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Sample actions from the policy.

        Args:
            observations: arrays (n, ...).
            random: gives one number per observation.

        Returns:
            Actions (n,), and confidences (n,) of the most probable ones, as :meth:`act` gives them.

        Raises:
            TrainingError: as :meth:`act`.
        """
        _, confidences, _ = self.act(observations, explore=False)
        assert self._latest_probabilities is not None
        probabilities = np.maximum(self._latest_probabilities, 0).astype(np.float64)
        return pick(probabilities, random.random(len(probabilities))), confidences

    def action_values(self) -> NDArray[np.float32] | None:
        """Return the probabilities of the latest :meth:`act`, (n, num_actions)."""
        return self._latest_probabilities

    def observe(self, transitions: Transitions) -> None:
        """Take in one step of every environment. Raise TrainingError if a reward is not finite."""
        require_finite_rewards(transitions.rewards, self.steps)
        transitions = replace(transitions, rewards=transitions.rewards * np.float32(self._settings.reward_scale))
        own = np.isin(transitions.sources, (Source.RL, Source.EXPLORE)) & (transitions.actions == self._drawn_actions)
        if not self._rollout.full:  # steps that arrive before a full rollout is taken are dropped
            columns = self._layout.encode(transitions.observations)
            self._rollout.append(
                columns,
                transitions,
                self._layout.encode(transitions.next_observations),
                own,
                self._drawn_log_probs,
                self._labels(transitions, columns[MASK]),
            )
        self._value_reliability.note_outcomes(
            transitions.actions, transitions.rewards, transitions.terminated | transitions.truncated
        )
        self._drawn_actions[:] = _NOTHING
        self.steps += self._num_envs

    def draw(self) -> Drawn | None:
        """Return the full rollout for the next :meth:`learn` and begin a new one; None until it is full."""
        if not self._rollout.full:
            return None
        rollout, self._rollout = self._rollout, self._new_rollout()
        return Drawn(
            rollout,
            self._learning.here.epochs(self.update_interval, self._draw_rng),
            self.learning_rate,
            self.ent_coef,
            self.demonstration_weight,
            {"reliability": self.reliability},
        )

    def learn(self, drawn: object) -> dict[str, float]:
        """Update the learned weights with the result of :meth:`draw`. Safe during :meth:`act` and :meth:`observe`."""
        if not isinstance(drawn, Drawn):
            raise TypeError("learn() takes what draw() returned")
        metrics: dict[str, float] = self._learning.learn(drawn)
        return metrics

    def time_learning(self) -> float:
        """Return the seconds of one :meth:`learn` on this machine, on a copy of the weights and synthetic steps."""
        return self._learning.trial().time_learning(self.update_interval)

    def publish(self) -> None:
        """Act with the weights learned so far. Must not be called while :meth:`learn` runs."""
        self._learning.take_weights(self._acting_weights, self._learning.learned - 1)

    def state_dict(self) -> dict[str, Any]:
        """Return the state. Must not be called while :meth:`learn` runs."""
        state: dict[str, Any] = {
            "version": _STATE_VERSION,
            "steps": self.steps,
            "num_envs": self._num_envs,
            "schedule_steps": self._schedule_steps,
            "random.act": dump_generator(self._act_rng),
            "random.draw": dump_generator(self._draw_rng),
            "drawn.actions": self._drawn_actions.copy(),
            "drawn.log_probs": self._drawn_log_probs.copy(),
        }
        state |= dump_network("acting", self._acting)
        parts: dict[str, Any] = {
            "learning": self._learning,
            "rollout": self._rollout,
            "record": self._value_reliability,
        }
        for prefix, part in parts.items():
            state |= {f"{prefix}.{name}": value for name, value in part.state_dict().items()}
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`.

        Raises:
            CheckpointError: the state is of another version, network, rollout or number of environments.
        """
        require_own_state(state, self._name, _STATE_VERSION, self._num_envs)
        restore_network("acting", self._acting, state, self._name)
        self._learning.load_state_dict(under("learning", state))
        self._rollout = self._new_rollout()
        self._rollout.load_state_dict(under("rollout", state))
        self._value_reliability.load_state_dict(under("record", state))
        restore_generator(self._act_rng, state["random.act"])
        restore_generator(self._draw_rng, state["random.draw"])
        self._drawn_actions[:] = state["drawn.actions"]
        self._drawn_log_probs[:] = state["drawn.log_probs"]
        self._schedule_steps = int(state["schedule_steps"])
        self.steps = int(state["steps"])

    def segments(self) -> Iterable[Segment]:
        """Return no segments: no experience is kept."""
        return ()

    def load_segments(self, segments: Iterable[Segment]) -> None:
        """Do nothing: no experience is kept."""

    def weights(self) -> dict[str, Any]:
        """Return the weights of the acting network."""
        return dump_network("acting", self._acting)

    def take_weights(self, weights: Mapping[str, Any]) -> None:
        """Act with given weights and learn from there. Raise CheckpointError if they are of another network."""
        restore_network("acting", self._acting, weights, self._name)
        state = self._learning.state_dict()
        self._learning.load_state_dict(with_networks(state, under("acting", weights), ("network",)))

    def export_policy(self) -> ExportedPolicy:
        """Return the acting network, for use outside this program."""
        return exported_actor_critic(self._acting, self._layout, self._settings, self._encoder)

    def remarks(self, steps: int) -> Sequence[str]:
        """Return a warning if a training of ``steps`` more steps is too short for an update to act."""
        missing = (self._settings.n_steps - self._rollout.filled) * self._num_envs
        if steps >= missing:
            return ()
        enough = steps // (2 * self._num_envs)  # an update's weights act one rollout later
        lower = f"lower {self._name}.n_steps = {self._settings.n_steps} to {enough} or less, or " if enough else ""
        return (
            f"{self._name} learns nothing in {steps:,} steps, since its next update comes after {missing:,}: "
            f"{lower}give it more steps.",
        )

    def learn_beside(self) -> None:
        """Allow learning to move to its own process, since steps continue meanwhile."""
        if self._settings.own_process and self._device.type == "cpu":
            self._learning.may_move()

    def close(self) -> None:
        """End the learner's process, if there is one."""
        self._learning.close()

    @property
    def _progress(self) -> float:
        return min(1.0, self.steps / self._schedule_steps)

    def _labels(self, transitions: Transitions, allowed: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return the demonstrated actions, (num_envs,); -1 if the advised side's action is unknown."""
        if transitions.advised is None:
            return np.full(self._num_envs, NO_LABEL)
        labels = labels_of(transitions.actions, transitions.sources, transitions.advised, "every_step")
        return np.where(allowed[np.arange(self._num_envs), labels] != 0, labels, NO_LABEL)

    def _new_rollout(self) -> Rollout:
        return Rollout(self._layout.columns, self._settings.n_steps, self._num_envs)

    def _evaluate(self, columns: Columns) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self._torch_evaluate(columns) if self._numpy_acting is None else self._numpy_acting(columns)

    @torch.inference_mode()
    def _torch_evaluate(self, columns: Columns) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        policy, values = self._acting(
            {name: torch.tensor(array, device=self._device) for name, array in columns.items()}
        )
        return policy.log_probs.cpu().numpy(), values.cpu().numpy()


class PPO(OnPolicyLearner):
    """Proximal policy optimization."""

    def __init__(
        self,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
        num_envs: int,
        seed: int,
        settings: PPOSettings,
        device: str = "cpu",
        total_steps: int = 1_000_000,
        encoder: EncoderFactory | None = None,
    ) -> None:
        """Build an untrained learner; see :class:`OnPolicyLearner`."""
        rollout = settings.n_steps * num_envs
        if settings.batch_size > rollout:
            raise ConfigurationError(
                f"ppo.batch_size = {settings.batch_size} is more than the {rollout} steps of a rollout (ppo.n_steps = "
                f"{settings.n_steps}, times {num_envs} environment{'s' if num_envs > 1 else ''}): set it lower."
            )
        spaces = (observation_space, action_space)
        super().__init__(PPOLearning, *spaces, num_envs, seed, settings, device, total_steps, encoder)


class A2C(OnPolicyLearner):
    """Advantage actor-critic."""

    def __init__(
        self,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
        num_envs: int,
        seed: int,
        settings: A2CSettings,
        device: str = "cpu",
        total_steps: int = 1_000_000,
        encoder: EncoderFactory | None = None,
    ) -> None:
        """Build an untrained learner; see :class:`OnPolicyLearner`."""
        spaces = (observation_space, action_space)
        super().__init__(A2CLearning, *spaces, num_envs, seed, settings, device, total_steps, encoder)
