"""The learners PPO and A2C, as the trainer sees them: acting, rollouts, and updates that may run in another thread.

Threads: ``learn`` uses :class:`pkmn_ppo.update.PolicyLearning`, which may have moved to its own process, and the data
that ``sample`` returned; everything else belongs to the trainer's thread. They meet in ``publish``, which the trainer
calls when no ``learn`` is running. So results depend on the sequence of calls alone, never on the speed of a thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from pkmn_ppo.a2c import A2CLearning
from pkmn_ppo.acting import Acting, Judged
from pkmn_ppo.gaussian import sample
from pkmn_ppo.ppo import PPOLearning
from pkmn_ppo.rollout import Rollout
from pkmn_ppo.settings import OnPolicySettings
from pkmn_ppo.update import PolicyLearning, SampledBatch
from pkmncli.api import ExportedPolicy, Segment, Source, Transitions
from pkmncli.learners.action_gap import gaps_of
from pkmncli.learners.checks import require_finite_rewards, require_own_state
from pkmncli.learners.encoders import EncoderFactory, require_factory
from pkmncli.learners.exported_policy import exported_policy
from pkmncli.learners.labels import NO_LABEL, labels_of
from pkmncli.learners.learning_process import LearningApart
from pkmncli.learners.networks import device_of
from pkmncli.learners.normalisation import Statistics
from pkmncli.learners.observations import MASK, Columns, layout_of
from pkmncli.learners.random_state import dump_generator, generator, restore_generator
from pkmncli.learners.reliability import ValueReliability
from pkmncli.learners.sampling import pick
from pkmncli.learners.weights import dump_network, restore_network, under, with_networks

_STATE_VERSION = 1
_ACT_STREAM, _SAMPLING_STREAM = 0, 1  # random number streams
_NOTHING = -1  # no action was sampled


class OnPolicyLearner:
    """A :class:`pkmncli.api.Algorithm` that samples actions from a policy and learns from one rollout at a time."""

    learning_type: ClassVar[type[PolicyLearning[Any]]]

    def __init__(
        self,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
        num_envs: int,
        seed: int,
        settings: OnPolicySettings,
        device: str = "cpu",
        total_steps: int = 1_000_000,
        encoder: EncoderFactory | None = None,
    ) -> None:
        """Build an untrained learner.

        Args:
            observation_space: a Dict of ``screen``, ``action_mask``, a map of bits and vectors, each optional.
            action_space: Discrete, from 0; or a Box of controls (dimensions,).
            num_envs: number of environments; every :meth:`observe` takes a step of each.
            seed: of weights, actions and minibatches.
            settings: the user's.
            device: of the networks, as torch names it; ``auto`` is a GPU if there is one.
            total_steps: environment steps of the whole run, over all environments.
            encoder: factory of the encoder that the settings name; None for the default one.

        Raises:
            ConfigurationError: the spaces or settings do not fit the learner.
        """
        self.learning_type.require_fit(settings, num_envs)
        self.update_interval = settings.n_steps * num_envs
        self.experience_steps = 0  # the current rollout is part of the state
        self.waits_for_updates = not settings.overlap
        self.steps = 0
        self._name = self.learning_type.learner
        self.settings = settings
        self._num_envs = num_envs
        self._device = device_of(device)
        self.layout = layout_of(observation_space, action_space, self._name, continuous=True)
        require_factory(settings, encoder, self._name)
        build = partial(self.learning_type, self.layout, settings, seed, self._device, encoder)
        self.learning: LearningApart[PolicyLearning[Any]] = LearningApart(build)
        self.acting = Acting(self.learning.here.network, self.layout, self._device)
        self._statistics = Statistics(self.layout, settings, num_envs)
        self.rollout = self._new_rollout()
        # What is remembered of each environment's episode, and the same after the latest act that explored.
        self._memory = np.zeros((num_envs, settings.memory_size), np.float32)
        self._memory_after: NDArray[np.float32] | None = None
        # Actions sampled for the next step, and their log-probabilities.
        self._sampled_actions = np.full(num_envs, _NOTHING, np.int64)
        self._sampled_log_probs = np.zeros(num_envs, np.float32)
        self._sampled_controls = np.zeros((num_envs, self.layout.dimensions), np.float32)
        self._latest_controls = self._sampled_controls
        self._value_reliability = ValueReliability(
            num_envs,
            self.layout.num_actions,
            settings.gamma,
            settings.confidence_horizon,
            settings.confidence_memory,
        )
        self._latest_probabilities: NDArray[np.float32] | None = None
        self._act_rng = generator(seed, _ACT_STREAM)
        self._sampling_rng = generator(seed, _SAMPLING_STREAM)
        # Kept in checkpoints: a run resumed with a larger budget does not restart its schedules.
        self._schedule_steps = max(1, total_steps)

    @property
    def learning_rate(self) -> float:
        """Current step size; falls linearly, by the learner's own count of steps."""
        return self.settings.learning_rate * (1 - self.settings.learning_rate_decay * self._progress)

    @property
    def ent_coef(self) -> float:
        """Current weight of the entropy; falls linearly, by the learner's own count of steps."""
        return self.settings.ent_coef * (1 - self.settings.ent_coef_decay * self._progress)

    @property
    def demonstration_weight(self) -> float:
        """Current weight of demonstrations; falls by the learner's own count of steps."""
        settings = self.settings
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
            explore: False for the most probable actions, without any effect on the learner; if it has a memory, those
                at the start of an episode. For whole episodes use :meth:`act_from_memory`.

        Returns:
            Actions (n,), confidences (n,) of the most probable ones, and which of the actions are others (n,).

        Raises:
            TrainingError: an observation's mask allows no action, or the policy is not finite.
        """
        if not explore:
            likeliest, confidences, _ = self.act_from_memory(observations, None)
            return likeliest, confidences, np.zeros(len(likeliest), bool)
        if self.layout.dimensions:
            return self._act_by_controls(observations)
        judged, confidences = self._judge(observations, self._memory)
        actions = pick(judged.probabilities, self._act_rng.random(len(judged.probabilities)))
        self._sampled_actions[:] = actions
        self._sampled_log_probs[:] = judged.log_probs[np.arange(len(actions)), actions]
        self._memory_after = judged.memory
        self._value_reliability.note_choices(np.broadcast_to(judged.values[:, None], judged.log_probs.shape), actions)
        return actions, confidences, actions != judged.likeliest

    def act_from_memory(
        self, observations: Mapping[str, NDArray[Any]], memory: Any, random: np.random.Generator | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], Any]:
        """Choose actions in episodes of any environment, without any effect on the learner.

        Args:
            observations: arrays (n, ...).
            memory: result of the step before; None at the start of episodes.
            random: gives one number per observation, to sample the actions; None for the most probable ones.

        Returns:
            Actions (n,), confidences (n,) of the most probable ones, and the memory for the next step.

        Raises:
            TrainingError: as :meth:`act`.
        """
        if memory is None:
            memory = np.zeros((len(next(iter(observations.values()))), self.settings.memory_size), np.float32)
        if self.layout.dimensions:
            means, _, memory = self.acting.means(observations, memory, self.steps)
            chosen = means if random is None else sample(means, self.acting.log_std, random)[0]
            self._latest_controls = chosen
            return np.zeros(len(chosen), np.int64), np.full(len(chosen), self.reliability, np.float32), memory
        judged, confidences = self._judge(observations, memory)
        if random is None:
            return judged.likeliest, confidences, judged.memory
        actions = pick(judged.probabilities, random.random(len(judged.probabilities)))
        return actions, confidences, judged.memory

    def sample_actions(
        self, observations: Mapping[str, NDArray[Any]], random: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Sample actions from the policy, at the start of episodes if it has a memory.

        Args:
            observations: arrays (n, ...).
            random: gives one number per observation.

        Returns:
            Actions (n,), and confidences (n,) of the most probable ones, as :meth:`act` gives them.

        Raises:
            TrainingError: as :meth:`act`.
        """
        actions, confidences, _ = self.act_from_memory(observations, None, random)
        return actions, confidences

    def controls(self) -> NDArray[np.float32]:
        """Return the actions of the latest choice in a continuous space, (n, dimensions); bounds may be exceeded."""
        return self.layout.middle + self.layout.half_range * self._latest_controls

    def action_values(self) -> NDArray[np.float32] | None:
        """Return the probabilities of the latest :meth:`act`, (n, num_actions); None of continuous actions."""
        return self._latest_probabilities

    def observe(self, transitions: Transitions) -> None:
        """Take in one step of every environment. Raise TrainingError if a reward is not finite."""
        require_finite_rewards(transitions.rewards, self.steps)
        transitions = replace(transitions, rewards=transitions.rewards * np.float32(self.settings.reward_scale))
        own = np.isin(transitions.sources, (Source.RL, Source.EXPLORE)) & (transitions.actions == self._sampled_actions)
        columns = self.layout.encode(transitions.observations)
        self._statistics.note(columns, transitions)
        if self._statistics.rewards is not None:
            transitions = replace(transitions, rewards=self._statistics.rewards.scaled(transitions.rewards))
        if not self.rollout.full:  # steps that arrive before a full rollout is taken are dropped
            self.rollout.append(
                columns,
                transitions,
                self._sampled_controls if self.layout.dimensions else transitions.actions,
                self.layout.encode(transitions.next_observations),
                own,
                self._sampled_log_probs,
                self._labels(transitions, columns[MASK]),
                self._memory,
            )
        self._remember(columns, transitions.terminated | transitions.truncated)
        self._value_reliability.note_outcomes(
            transitions.actions, transitions.rewards, transitions.terminated | transitions.truncated
        )
        self._sampled_actions[:] = _NOTHING
        self.steps += self._num_envs

    def sample(self) -> SampledBatch | None:
        """Return the full rollout for the next :meth:`learn` and begin a new one; None until it is full."""
        if not self.rollout.full:
            return None
        rollout, self.rollout = self.rollout, self._new_rollout()
        return SampledBatch(
            rollout,
            self.learning.here.epochs(self.learning.here.rows(self.update_interval), self._sampling_rng),
            self.learning_rate,
            self.ent_coef,
            self.demonstration_weight,
            {"reliability": self.reliability},
            self._statistics.scale,
        )

    def learn(self, sampled: object) -> dict[str, float]:
        """Update the learned weights with the result of :meth:`sample`. Safe during :meth:`act` and :meth:`observe`."""
        if not isinstance(sampled, SampledBatch):
            raise TypeError("learn() takes what sample() returned")
        metrics: dict[str, float] = self.learning.learn(sampled)
        return metrics

    def time_learning(self) -> float:
        """Return the seconds of one :meth:`learn` on this machine, on a copy of the weights and synthetic steps."""
        return self.learning.trial().time_learning(self.update_interval)

    def publish(self) -> None:
        """Act with the weights learned so far. Must not be called while :meth:`learn` runs."""
        self.learning.copy_weights_to(self.acting.weights, self.learning.learned - 1)
        self.acting.network.follow(self._statistics.scale)

    def state_dict(self) -> dict[str, Any]:
        """Return the state. Must not be called while :meth:`learn` runs."""
        state: dict[str, Any] = {
            "version": _STATE_VERSION,
            "steps": self.steps,
            "num_envs": self._num_envs,
            "schedule_steps": self._schedule_steps,
            "random.act": dump_generator(self._act_rng),
            "random.draw": dump_generator(self._sampling_rng),
            "drawn.actions": self._sampled_actions.copy(),
            "drawn.log_probs": self._sampled_log_probs.copy(),
        }
        if self.layout.dimensions:
            state["drawn.controls"] = self._sampled_controls.copy()
        if self._memory.size:
            state |= {"memory": self._memory.copy()}
            state |= {} if self._memory_after is None else {"memory_after": self._memory_after.copy()}
        state |= dump_network("acting", self.acting.network) | self._statistics.state_dict()
        parts: dict[str, Any] = {
            "learning": self.learning,
            "rollout": self.rollout,
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
        restore_network("acting", self.acting.network, state, self._name)
        self.learning.load_state_dict(under("learning", state))
        self._statistics.load_state_dict(state)
        self.rollout = self._new_rollout()
        self.rollout.load_state_dict(under("rollout", state))
        self._value_reliability.load_state_dict(under("record", state))
        restore_generator(self._act_rng, state["random.act"])
        restore_generator(self._sampling_rng, state["random.draw"])
        self._sampled_actions[:] = state["drawn.actions"]
        self._sampled_log_probs[:] = state["drawn.log_probs"]
        if self.layout.dimensions:
            self._sampled_controls[:] = state["drawn.controls"]
        if self._memory.size:
            self._memory[:] = state["memory"]
            after = state.get("memory_after")
            self._memory_after = None if after is None else np.array(after, np.float32)
        self._schedule_steps = int(state["schedule_steps"])
        self.steps = int(state["steps"])

    def segments(self) -> Iterable[Segment]:
        """Return no segments: no experience is kept."""
        return ()

    def load_segments(self, segments: Iterable[Segment]) -> None:
        """Do nothing: no experience is kept."""

    def weights(self) -> dict[str, Any]:
        """Return the weights of the acting network, and the statistics that go with them."""
        return dump_network("acting", self.acting.network) | self._statistics.state_dict()

    def take_weights(self, weights: Mapping[str, Any]) -> None:
        """Act with given weights and learn from there. Raise CheckpointError if they are of another network."""
        restore_network("acting", self.acting.network, weights, self._name)
        self._statistics.load_state_dict(weights)
        state = self.learning.state_dict()
        self.learning.load_state_dict(with_networks(state, under("acting", weights), ("network",)))

    def export_policy(self) -> ExportedPolicy:
        """Return the acting network, for use outside this program."""
        gives = "the log-probability of each action"
        if self.layout.dimensions:
            gives = "the mean of each control, from -1 to 1 between its bounds"
        return exported_policy(self.acting.network, self.layout, gives, self.settings.memory_size)

    def remarks(self, steps: int) -> Sequence[str]:
        """Return a warning if a training of ``steps`` more steps is too short for an update to act."""
        missing = (self.settings.n_steps - self.rollout.filled) * self._num_envs
        if steps >= missing:
            return ()
        enough = steps // (2 * self._num_envs)  # an update's weights act one rollout later
        lower = f"lower {self._name}.n_steps = {self.settings.n_steps} to {enough} or less, or " if enough else ""
        return (
            f"{self._name} learns nothing in {steps:,} steps, since its next update comes after {missing:,}: "
            f"{lower}give it more steps.",
        )

    def learn_beside(self) -> None:
        """Allow learning to move to its own process, since steps continue meanwhile."""
        if self.settings.own_process and self._device.type == "cpu":
            self.learning.may_move()

    def close(self) -> None:
        """End the learner's process, if there is one."""
        self.learning.close()

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
        sizes = self.settings.memory_size, self.layout.dimensions
        return Rollout(self.layout.columns, self.settings.n_steps, self._num_envs, *sizes)

    def _remember(self, columns: Columns, ended: NDArray[np.bool_]) -> None:
        """Keep the memory after a step; ended episodes are forgotten."""
        if not self._memory.size:
            return
        if self._memory_after is None:  # nothing was chosen in this step
            *_, self._memory_after = self.acting.evaluate(columns, self._memory)
        self._memory = np.where(ended[:, None], np.float32(0), self._memory_after)
        self._memory_after = None

    def _act_by_controls(
        self, observations: Mapping[str, NDArray[Any]]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Sample continuous actions. They count as the learner's own, not as exploration: none of them is greedy."""
        means, values, memory = self.acting.means(observations, self._memory, self.steps)
        self._sampled_controls, self._sampled_log_probs = sample(means, self.acting.log_std, self._act_rng)
        self._latest_controls, self._memory_after = self._sampled_controls, memory
        self._sampled_actions[:] = 0
        actions = self._sampled_actions.copy()
        self._value_reliability.note_choices(values[:, None], actions)
        return actions, np.full(len(actions), self.reliability, np.float32), np.zeros(len(actions), bool)

    def _judge(
        self, observations: Mapping[str, NDArray[Any]], memory: NDArray[np.float32]
    ) -> tuple[Judged, NDArray[np.float32]]:
        """Return the policy's opinion, and confidences (n,) of the most probable actions."""
        judged = self.acting.judge(observations, memory, self.steps)
        self._latest_probabilities = np.where(judged.allowed, judged.probabilities, -np.inf).astype(np.float32)
        return judged, np.asarray(self.reliability * gaps_of(judged.probabilities, alone=1.0), np.float32)


class PPO(OnPolicyLearner):
    """Proximal policy optimization."""

    learning_type = PPOLearning


class A2C(OnPolicyLearner):
    """Advantage actor-critic."""

    learning_type = A2CLearning
