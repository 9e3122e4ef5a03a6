"""The DQN learner, as the trainer sees it: acting, experience, and updates that may run in another thread.

Threads: ``learn`` uses :class:`pkmn_dqn.q_learning.QLearning`, which may have moved to its own process, and the data
that ``sample`` returned, and notes the new priorities; everything else belongs to the trainer's thread. They meet in
``publish``: then the weights begin to act and the priorities take effect. So results depend on the sequence of calls
alone, never on the speed of a thread.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray

from pkmn_dqn.action_gap import ActionGap
from pkmn_dqn.gpu_learning import GpuLearning, SentBatch
from pkmn_dqn.gpu_replay import GpuReplay
from pkmn_dqn.network import NumpyQNetwork
from pkmn_dqn.priorities import Priorities
from pkmn_dqn.q_learning import Batch, Learned, QLearning, SampledBatch
from pkmn_dqn.replay_buffer import Picked, ReplayBuffer, Sample
from pkmn_dqn.schedules import Schedules
from pkmn_dqn.settings import DQNSettings
from pkmncli.api import ExportedPolicy, Segment, Source, Transitions
from pkmncli.errors import ConfigurationError
from pkmncli.learners.action_gap import gaps_of
from pkmncli.learners.checks import require_an_action, require_finite_rewards, require_own_state
from pkmncli.learners.encoders import EncoderFactory, require_factory
from pkmncli.learners.exported_policy import exported_policy
from pkmncli.learners.flat_adam import lay_out
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
_TIMED_UPDATES = 5
_ACT_STREAM, _SAMPLING_STREAM = 0, 1  # random number streams


class DQN:
    """A :class:`pkmncli.api.Algorithm`: double, dueling deep Q-learning with n-step returns and action masks.

    Steps are sampled uniformly, or by the size of their errors: prioritised experience replay.
    """

    def __init__(
        self,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
        num_envs: int,
        seed: int,
        settings: DQNSettings,
        device: str = "cpu",
        total_steps: int = 1_000_000,
        encoder: EncoderFactory | None = None,
    ) -> None:
        """Build an untrained learner.

        Args:
            observation_space: a Dict of ``screen``, ``action_mask``, a map of bits and vectors, each optional.
            action_space: Discrete, from 0.
            num_envs: number of environments; every :meth:`observe` takes a step of each.
            seed: of weights, exploration and sampling.
            settings: the user's.
            device: of the networks, as torch names it; ``auto`` is a GPU if there is one.
            total_steps: environment steps of the whole run, over all environments.
            encoder: factory of the encoder that the settings name; None for the default one.

        Raises:
            ConfigurationError: the spaces or settings do not fit the learner.
        """
        if settings.buffer_size <= settings.n_step * num_envs:
            raise ConfigurationError(
                f"dqn.buffer_size = {settings.buffer_size} is too small for {num_envs} environments and "
                f"dqn.n_step = {settings.n_step}: set it above {settings.n_step * num_envs}."
            )
        self.update_interval = settings.train_freq
        self.experience_steps = settings.buffer_size
        self.steps = 0
        self.settings = settings
        self._num_envs = num_envs
        self._device = device_of(device)
        self.layout = layout_of(observation_space, action_space, "dqn")
        require_factory(settings, encoder, "dqn")
        self._statistics = Statistics(self.layout, settings, num_envs)
        self.sampled = 0  # samples since it was built or loaded
        self.replay = ReplayBuffer(self.layout.columns, num_envs, settings.buffer_size)
        self.priorities: Priorities | None = None  # None: all steps are sampled uniformly
        if settings.priority_exponent > 0:
            self.priorities = Priorities(settings.buffer_size, settings.priority_exponent)
        # With priorities, the next sample depends on the errors found by the running update.
        self.samples_ahead = self.priorities is None
        self.learns_at_once = learns_on_card(self._device) and self.priorities is None
        self._gpu_replay: GpuReplay | None = None
        self.learning: LearningApart[QLearning] | GpuLearning
        build = partial(QLearning, self.layout, settings, seed, self._device, encoder)
        if learns_on_card(self._device):
            self._gpu_replay = GpuReplay(self.replay, settings, self._device)
            self.learning = GpuLearning(build, self._gpu_replay, settings)
        else:
            self.learning = LearningApart(build)
        self.acting = copy.deepcopy(self.learning.here.online).requires_grad_(False)
        if encoder is None:
            self.acting.cpu()
        laid_out = self.learning.lay_out if isinstance(self.learning, GpuLearning) else lay_out
        self._acting_weights = laid_out(self.acting)
        self._numpy_acting: NumpyQNetwork | None = None  # faster, but for the default encoder only
        if encoder is None:
            self._numpy_acting = NumpyQNetwork(self.acting, self.layout)
        self._value_reliability = ValueReliability(
            num_envs,
            self.layout.num_actions,
            settings.gamma,
            settings.confidence_horizon,
            settings.confidence_memory,
        )
        self._action_gap = ActionGap()
        self._schedules = Schedules(settings, total_steps)
        self._total_steps = total_steps
        self._latest_values: NDArray[np.float32] | None = None
        self._act_rng = generator(seed, _ACT_STREAM)
        self._sampling_rng = generator(seed, _SAMPLING_STREAM)

    @property
    def epsilon(self) -> float:
        """Current share of exploring actions; falls by the learner's own count of steps."""
        return self._schedules.epsilon(self.steps)

    @property
    def demonstration_weight(self) -> float:
        """Current weight of demonstrations; falls by the learner's own count of steps."""
        return self._schedules.demonstration_weight(self.steps)

    @property
    def reliability(self) -> float:
        """Agreement of predicted values with the rewards that followed, 0..1; a factor of confidence."""
        return self._value_reliability.reliability

    def act(
        self, observations: Mapping[str, NDArray[Any]], explore: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Choose actions; with ``explore``, a share of :attr:`epsilon` at random.

        Args:
            observations: arrays (n, ...); n is the number of environments when exploring, any number otherwise.
            explore: False for greedy actions without any effect on the learner.

        Returns:
            Actions (n,), confidences (n,) of the greedy choice, and which of the actions are exploration (n,).

        Raises:
            TrainingError: an observation's mask allows no action.
        """
        columns = self.layout.encode(observations)
        values = self._values(columns)
        allowed = columns[MASK] != 0
        require_an_action(allowed)
        ranked = self._latest_values = np.where(allowed, values, np.float32(-np.inf))
        greedy = ranked.argmax(axis=1)
        gaps = gaps_of(ranked, alone=np.inf)
        confidences = self._value_reliability.reliability * self._action_gap.of(gaps)
        if not explore:
            return greedy, confidences, np.zeros(len(greedy), bool)
        self._value_reliability.note_choices(values, greedy)
        self._action_gap.note(gaps)
        # Two numbers for every environment in any case, so that the sequence does not depend on the outcome.
        dice, picks = self._act_rng.random((2, len(greedy)))
        exploring = dice < self.epsilon
        counts = allowed.sum(axis=1)
        nth = np.minimum((picks * counts).astype(np.int64), counts - 1)
        random_actions = (allowed.cumsum(axis=1) > nth[:, None]).argmax(axis=1)
        return np.where(exploring, random_actions, greedy), confidences, exploring

    def sample_actions(
        self, observations: Mapping[str, NDArray[Any]], random: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Sample actions from a softmax over the values of allowed ones, divided by ``softmax_temperature``.

        Args:
            observations: arrays (n, ...).
            random: gives one number per observation.

        Returns:
            Actions (n,), and confidences (n,) of the greedy ones, as :meth:`act` gives them.

        Raises:
            TrainingError: an observation's mask allows no action.
        """
        _, confidences, _ = self.act(observations, explore=False)
        assert self._latest_values is not None
        scaled = self._latest_values.astype(np.float64) / self.settings.softmax_temperature
        likely = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        return pick(likely, random.random(len(likely))), confidences

    def action_values(self) -> NDArray[np.float32] | None:
        """Return the values of the latest :meth:`act`, (n, num_actions): expected returns of scaled rewards."""
        return self._latest_values

    def observe(self, transitions: Transitions) -> None:
        """Take in one step of every environment. Raise TrainingError if a reward is not finite."""
        transitions = self._keep(transitions)
        if self._statistics.rewards is not None:
            transitions = replace(transitions, rewards=self._statistics.rewards.scaled(transitions.rewards))
        if transitions.advised is not None and (transitions.advised != NO_LABEL).any():
            self._schedules.note_labels()
        self._value_reliability.note_outcomes(
            transitions.actions, transitions.rewards, transitions.terminated | transitions.truncated
        )
        self.steps += self._num_envs

    def observe_shown(self, transitions: Transitions) -> None:
        """Keep one step of every environment of an earlier run. Raise TrainingError as :meth:`observe` does."""
        self._keep(transitions)

    def sample(self) -> SampledBatch | None:
        """Sample batches for the next :meth:`learn`; None while there is too little experience."""
        settings = self.settings
        enough = len(self.replay) >= min(settings.learning_starts, settings.buffer_size)
        if not enough or not self.replay.sampleable(settings.n_step):
            return None
        metrics = {
            "epsilon": self.epsilon,
            "reliability": self.reliability,
            "buffer_steps": float(len(self.replay)),
            "demonstration_weight": self.demonstration_weight,
        }
        if self.priorities is not None:
            self.priorities.follow(self.replay.sampleable(settings.n_step))
            metrics["importance_exponent"] = self._schedules.importance_exponent(self.steps)
            metrics["greatest_priority"] = self.priorities.greatest
        self.sampled += 1
        samples = [self._sample() for _ in range(settings.gradient_steps)]
        sampled = SampledBatch(samples, self.demonstration_weight, metrics, self._statistics.scale)
        return self.learning.send(sampled) if isinstance(self.learning, GpuLearning) else sampled

    def learn(self, sampled: object) -> dict[str, float]:
        """Update the learned weights with the result of :meth:`sample`. Safe during :meth:`act` and :meth:`observe`."""
        if not isinstance(sampled, SampledBatch):
            raise TypeError("learn() takes what sample() returned")
        learned: Learned
        if isinstance(self.learning, GpuLearning):
            assert isinstance(sampled, SentBatch)
            learned = self.learning.learn(sampled)
        else:
            learned = self.learning.learn(sampled)
        if self.priorities is not None:
            for (sample, _), td_errors in zip(sampled.samples, learned.td_errors, strict=True):
                self.priorities.note(sample.rows, self._priorities_of(sample, td_errors))
        return dict(learned.metrics)

    def time_learning(self) -> float:
        """Return the seconds of one :meth:`learn` on this machine, on a copy of the weights and synthetic steps."""
        if isinstance(self.learning, GpuLearning):
            return self.learning.time_window()
        size = self.settings.batch_size
        columns = {name: np.ones((size, *shape), kind) for name, (shape, kind) in self.layout.columns.items()}
        numbers, zeros = np.zeros(size, np.int64), np.zeros(size, np.float32)
        sample = Sample(numbers, columns, numbers, zeros, zeros, columns, np.full(size, Source.RULE, np.uint8), numbers)
        trial = self.learning.trial()
        batch = Batch.of(sample, self._device, self.settings, self.demonstration_weight)
        trial.update(batch)  # the first update also allocates
        began = time.perf_counter()
        for _ in range(_TIMED_UPDATES):
            trial.update(batch)
        return (time.perf_counter() - began) / _TIMED_UPDATES * self.settings.gradient_steps

    def publish(self, *, begun: bool = False) -> None:
        """Let the weights of the latest :meth:`learn` act, and the priorities that it found take effect.

        With ``begun``, use the update before the one sampled last, because that one may be running already.
        """
        self.learning.copy_weights_to(self._acting_weights, self.sampled - 2 if begun else self.learning.learned - 1)
        self.acting.follow(self._statistics.scale)
        if self.priorities is not None:
            self.priorities.apply()

    def state_dict(self) -> dict[str, Any]:
        """Return the state except the segments. Must not be called while :meth:`learn` runs."""
        self._settle()
        state: dict[str, Any] = {
            "version": _STATE_VERSION,
            "steps": self.steps,
            "num_envs": self._num_envs,
            "random.act": dump_generator(self._act_rng),
            "random.draw": dump_generator(self._sampling_rng),
        }
        state |= self._schedules.state_dict()
        state |= {f"learning.{name}": value for name, value in self.learning.state_dict().items()}
        state |= dump_network("acting", self.acting)
        state |= {f"replay.{name}": value for name, value in self.replay.state_dict().items()}
        if self.priorities is not None:
            state |= {f"priorities.{name}": value for name, value in self.priorities.state_dict().items()}
        state |= self._statistics.state_dict()
        record = self._value_reliability.state_dict() | self._action_gap.state_dict()
        state |= {f"record.{name}": value for name, value in record.items()}
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. Without segments, learning waits for ``learning_starts`` new steps.

        Raises:
            CheckpointError: the state is of another version, network or number of environments.
        """
        require_own_state(state, "dqn", _STATE_VERSION, self._num_envs)
        self._settle()
        self.learning.load_state_dict(under("learning", state))
        self.sampled = 0
        restore_network("acting", self.acting, state, "dqn")
        self.replay.load_state_dict(under("replay", state))
        if self._gpu_replay is not None:
            self._gpu_replay.forget()
        if self.priorities is not None:
            self.priorities.load_state_dict(under("priorities", state))
        self._statistics.load_state_dict(state)
        self._value_reliability.load_state_dict(under("record", state))
        self._action_gap.load_state_dict(under("record", state))
        restore_generator(self._act_rng, state["random.act"])
        restore_generator(self._sampling_rng, state["random.draw"])
        self._schedules.load_state_dict(state)
        self.steps = int(state["steps"])

    def segments(self) -> Iterable[Segment]:
        """Return the experience kept, oldest first, in segments of 4,096 steps. Sealed ones never change."""
        return self.replay.segments()

    def load_segments(self, segments: Iterable[Segment]) -> None:
        """Load the experience of :meth:`segments`. Raise CheckpointError if it does not fit."""
        self.replay.load_segments(segments)
        if self._gpu_replay is not None:
            self._gpu_replay.forget()

    def weights(self) -> dict[str, Any]:
        """Return the weights of the acting network, and the statistics that go with them."""
        self._settle()
        return dump_network("acting", self.acting) | self._statistics.state_dict()

    def take_weights(self, weights: Mapping[str, Any]) -> None:
        """Act with given weights and learn from there. Raise CheckpointError if they are of another network."""
        restore_network("acting", self.acting, weights, "dqn")
        self._statistics.load_state_dict(weights)
        state = self.learning.state_dict()
        self.learning.load_state_dict(with_networks(state, under("acting", weights), ("online", "target")))

    def export_policy(self) -> ExportedPolicy:
        """Return the acting network, for use outside this program."""
        self._settle()
        return exported_policy(self.acting, self.layout, "the estimated discounted return of each action")

    def remarks(self, steps: int) -> Sequence[str]:
        """Return a warning if a training of ``steps`` more steps ends before the first update."""
        missing = min(self.settings.learning_starts, self.settings.buffer_size) - len(self.replay)
        if steps >= missing:
            return ()
        return (
            f"dqn learns nothing in {steps:,} steps, since its first update comes after {missing:,}: lower "
            f"dqn.learning_starts = {self.settings.learning_starts}, or give it more steps.",
        )

    def learn_beside(self) -> None:
        """Allow learning to move to its own process, since steps continue meanwhile."""
        if self.settings.own_process and isinstance(self.learning, LearningApart) and self._device.type == "cpu":
            settings = self.settings
            self.learning.may_move(self._total_steps / settings.train_freq * settings.gradient_steps)

    def close(self) -> None:
        """End the learner's process, if there is one."""
        self.learning.close()

    def _keep(self, transitions: Transitions) -> Transitions:
        """Add a step to the experience. Return it with the rewards as they are learned."""
        require_finite_rewards(transitions.rewards, self.steps)
        transitions = replace(transitions, rewards=transitions.rewards * np.float32(self.settings.reward_scale))
        columns = self.layout.encode(transitions.observations)
        self._statistics.note(columns, transitions)
        self.replay.append(columns, transitions, self.layout.encode(transitions.next_observations))
        return transitions

    def _sample(self) -> tuple[Sample | Picked, NDArray[np.float32] | None]:
        settings, weights = self.settings, None
        if self.priorities is None:
            rows = self.replay.sample_rows(settings.batch_size, settings.n_step, self._sampling_rng)
        else:
            exponent = self._schedules.importance_exponent(self.steps)
            rows, weights = self.priorities.sample(settings.batch_size, exponent, self._sampling_rng)
        found = self.replay.at if self._gpu_replay is None else self.replay.pick
        rewards = self._statistics.rewards
        return found(rows, settings.n_step, settings.gamma, None if rewards is None else rewards.factor), weights

    def _priorities_of(self, sample: Sample | Picked, td_errors: NDArray[np.float32]) -> NDArray[np.float64]:
        errors = np.abs(td_errors).astype(np.float64)
        labels = labels_of(sample.actions, sample.sources, sample.advised, self.settings.demonstrations)
        shown = self.settings.demonstration_priority * (labels != NO_LABEL)
        priorities: NDArray[np.float64] = errors + self.settings.priority_epsilon + shown
        return priorities

    def _settle(self) -> None:
        """Wait until published weights have reached the acting network."""
        if isinstance(self.learning, GpuLearning):
            self.learning.settle()

    def _values(self, columns: Columns) -> NDArray[np.float32]:
        self._settle()
        return self._torch_values(columns) if self._numpy_acting is None else self._numpy_acting(columns)

    @torch.inference_mode()
    def _torch_values(self, columns: Columns) -> NDArray[np.float32]:
        tensors = {name: torch.tensor(array, device=self._device) for name, array in columns.items() if name != MASK}
        values: NDArray[np.float32] = self.acting(tensors).cpu().numpy()
        return values


def learns_on_card(device: torch.device) -> bool:
    """Return True if experience is kept on the device and updates are captured there."""
    return device.type == "cuda"
