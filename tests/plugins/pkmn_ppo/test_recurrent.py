"""A policy with a memory: what it can learn, its gradients, its rollouts, exact resume, evaluation and export."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from support.exported_policies import loaded
from support.learner_stream import NUM_ENVS, assert_equal_states, through_files
from support.variants import long_after

from pkmn_ppo.experience import Experience
from pkmn_ppo.learner import A2C, PPO
from pkmn_ppo.recurrent import RecurrentLayer
from pkmn_ppo.settings import A2CSettings, PPOSettings
from pkmncli.api import Transitions
from pkmncli.errors import ConfigurationError
from pkmncli.training.evaluation.evaluation import EpisodeActor

GRU: dict[str, Any] = {"recurrent": "gru", "gru_size": 6, "sequence_length": 5}

CUES = 8
"""Environments of the memory task, side by side."""
DELAY = 4
"""Steps of its episodes."""


class CueTask:
    """Task of a cue in the first step of an episode, which is the action that pays in the last step.

    Between them observations are equal, so only a memory can earn more than chance: half of the rewards.
    """

    observation_space = gymnasium.spaces.Dict(
        cue=gymnasium.spaces.Box(-1, 1, (1,), np.float32), last=gymnasium.spaces.Box(0, 1, (1,), np.float32)
    )
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)
        self._cues = self._random.integers(0, 2, CUES)
        self._age = 0

    def seen(self) -> dict[str, np.ndarray]:
        shown = (2 * self._cues - 1) * (self._age == 0)
        last = np.full((CUES, 1), self._age == DELAY - 1, np.float32)
        return {"cue": shown[:, None].astype(np.float32), "last": last}

    def play(self, learner: Any, steps: int) -> float:
        """Train, and return the share of rewards in the last third of the episodes."""
        earned, running = [], None
        for step in range(1, steps + 1):
            before = self.seen()
            actions, _, exploring = learner.act(before, explore=True)
            over = self._age == DELAY - 1
            rewards = (actions == self._cues).astype(np.float32) * over
            ended = np.full(CUES, over)
            self._age += 1
            after = self.seen()
            if over:
                earned.append(rewards.mean())
                self._cues, self._age = self._random.integers(0, 2, CUES), 0
            learner.observe(
                Transitions(before, actions, rewards, ended, ~ended & False, after, exploring.astype(np.uint8))
            )
            if step * CUES % learner.update_interval == 0:
                if running is not None:
                    learner.learn(running)
                    learner.publish()
                running = learner.sample()
        return float(np.mean(earned[-len(earned) // 3 :]))


def cue_learner(rl: str, **settings: Any) -> Any:
    spaces = (CueTask.observation_space, CueTask.action_space, CUES, 1)
    sizes = {"reward_scale": 1.0, "vector_features": 16, "head_features": 16, "gamma": 0.95, **settings}
    if rl == "a2c":
        return A2C(*spaces, A2CSettings(**sizes, n_steps=8, learning_rate=3e-3), "cpu", 100_000)
    return PPO(*spaces, PPOSettings(**sizes, n_steps=32, batch_size=64, n_epochs=4, learning_rate=1e-3), "cpu", 100_000)


@pytest.mark.long
@pytest.mark.parametrize(("rl", "steps"), [("ppo", 1_000), ("a2c", 2_500)])
def test_a_cue_is_remembered_until_it_pays(rl: str, steps: int) -> None:
    assert CueTask().play(cue_learner(rl, recurrent="gru", gru_size=16, sequence_length=16), steps) > 0.95


@pytest.mark.long
def test_without_a_memory_the_cue_is_of_no_use() -> None:
    assert 0.4 < CueTask().play(cue_learner("ppo"), 1_000) < 0.6


def test_outputs_and_gradients_are_those_of_a_recurrent_layer_on_each_episode_by_itself() -> None:
    torch.manual_seed(0)
    steps, sequences, size = 7, 3, 5
    ours, theirs = RecurrentLayer(4, size), torch.nn.GRU(4, size)
    for name, weights in theirs.named_parameters():
        weights.data.copy_(getattr(ours.cell, name.removesuffix("_l0")))
    features, memory = torch.randn(steps, sequences, 4), torch.randn(sequences, size)
    starts = torch.zeros(steps, sequences)
    starts[3, 0] = starts[1, 1] = starts[5, 1] = 1
    weighting = torch.randn(steps, sequences, size)
    given = features.clone().requires_grad_()
    found = ours(given.reshape(-1, 4), memory, starts.reshape(-1)).reshape(steps, sequences, size)
    (found * weighting).sum().backward()  # type: ignore[no-untyped-call]

    episodes = []  # sequence, steps, and the memory before the first of them
    for sequence in range(sequences):
        begins = [0, *np.flatnonzero(starts[:, sequence]).tolist(), steps]
        for first, end in itertools.pairwise(begins):
            episodes.append((sequence, slice(first, end), memory[sequence] * (first == 0)))
    alone = features.clone().requires_grad_()
    packed = torch.nn.utils.rnn.pack_sequence(
        [alone[rows, sequence] for sequence, rows, _ in episodes], enforce_sorted=False
    )
    outputs, _ = theirs(packed, torch.stack([before for *_, before in episodes])[None])
    padded, _ = torch.nn.utils.rnn.pad_packed_sequence(outputs)
    total = torch.zeros(())
    for number, (sequence, rows, _) in enumerate(episodes):
        own = padded[: rows.stop - rows.start, number]
        torch.testing.assert_close(found[rows, sequence].detach(), own.detach())
        total = total + (own * weighting[rows, sequence]).sum()
    total.backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(given.grad, alone.grad)
    for name, weights in theirs.named_parameters():
        torch.testing.assert_close(getattr(ours.cell, name.removesuffix("_l0")).grad, weights.grad)


def test_values_of_a_rollout_are_those_of_each_step_with_its_memory(scripted_training: Any) -> None:
    """Also across ends of episodes, after a truncated one, and in a rollout that begins within an episode."""
    training = scripted_training(**GRU, gae_lambda=0.0, gamma=0.5, normalize_advantage=False, n_steps=20)
    learner, settings = training.learner, training.learner.settings
    before: list[dict[str, np.ndarray]] = []
    walked: list[np.ndarray] = []  # the memory before each step
    taken: list[Any] = []
    learner.learn = lambda sampled: taken.append(sampled) or {}  # the network stays the one that acted
    for _ in range(2):
        for _ in range(20):
            before.append(training.observations(training.step))
            walked.append(learner.state_dict()["memory"])
            training.run(1)
        sampled = taken[-1]
        rollout = sampled.rollout
        network = learner.learning.here.network
        experience = Experience.of(rollout, network, settings, torch.device("cpu"))
        own = experience.on_policy.numpy() > 0
        np.testing.assert_allclose(experience.log_probs_before[own], experience.log_probs[own], atol=1e-5)
        for step, (seen, memory) in enumerate(zip(before[-20:], walked[-20:], strict=True)):
            columns = learner.layout.encode(seen)
            _, values, after = learner.acting.evaluate(columns, memory)
            np.testing.assert_allclose(experience.values.reshape(20, -1)[step], values, atol=1e-5)
            assert experience.memories is not None
            fresh = rollout.starts()[step] > 0
            kept = experience.memories.reshape(20, NUM_ENVS, -1)[step].numpy()
            np.testing.assert_allclose(kept[~fresh], memory[~fresh], atol=1e-5)
            assert (memory[fresh] == 0).all()
            for environment in range(NUM_ENVS):
                follows = _following(rollout, learner, step, environment, after)
                expected = rollout.steps["rewards"][step, environment] + 0.5 * follows
                assert experience.returns.reshape(20, -1)[step, environment].item() == pytest.approx(expected, abs=1e-4)
        for rows in sampled.epochs[0]:
            policy, values, _ = network(experience.rows(rows).observations, *experience.rows(rows).beginnings)
            batch = experience.rows(rows)
            np.testing.assert_allclose(policy.log_prob(batch.actions).detach(), batch.log_probs_before, atol=1e-5)
            np.testing.assert_allclose(values.detach(), batch.values, atol=1e-5)
        assert rows.shape[0] == GRU["sequence_length"]
    assert rollout.memory.any(), "the second rollout began within an episode"


def _following(rollout: Any, learner: Any, step: int, environment: int, after: np.ndarray) -> float:
    """Return the value of the observation after a step, with the memory after that step; 0 after a terminated one."""
    if rollout.steps["terminated"][step, environment]:
        return 0.0
    places, columns = rollout.successors()
    kept = np.flatnonzero((places == [step, environment]).all(axis=1))
    if len(kept):
        columns = {name: array[kept] for name, array in columns.items()}
    else:
        columns = {name: array[step + 1, environment][None] for name, array in rollout.observations.items()}
    return float(learner.acting.evaluate(columns, after[environment][None])[1][0])


@pytest.mark.parametrize("at", long_after(1, [22, 45]))
@pytest.mark.parametrize("rl", ["ppo", "a2c"])
def test_a_training_resumed_within_an_episode_equals_an_unbroken_one_bit_for_bit(
    scripted_training: Any, tmp_path: Path, rl: str, at: int
) -> None:
    settings = GRU if rl == "ppo" else GRU | {"n_steps": 4}
    unbroken = scripted_training(rl, **settings).run(90)
    first = scripted_training(rl, **settings).run(at)
    state = first.learner.state_dict()
    assert state["memory"].any()
    resumed = scripted_training(rl, **settings)
    resumed.learner.load_state_dict(through_files(tmp_path, state, [])[0])
    resumed.step = at
    resumed.run(90 - at)
    assert first.metrics + resumed.metrics == unbroken.metrics
    assert first.acted + resumed.acted == unbroken.acted
    assert_equal_states(resumed.learner.state_dict(), unbroken.learner.state_dict())


def test_a_state_between_choosing_and_what_followed_has_both_memories(scripted_training: Any, tmp_path: Path) -> None:
    training, resumed = scripted_training(**GRU).run(3), scripted_training(**GRU)
    observations = training.observations(3)
    actions, _, _ = training.learner.act(observations, explore=True)
    resumed.learner.load_state_dict(through_files(tmp_path, training.learner.state_dict(), [])[0])
    for either in (training, resumed):
        either.observe(observations, actions)
    assert_equal_states(training.learner.state_dict(), resumed.learner.state_dict())


def test_a_step_that_the_learner_did_not_choose_is_remembered_too(scripted_training: Any) -> None:
    chosen, watched = scripted_training(**GRU), scripted_training(**GRU)
    observations = chosen.observations(0)
    actions, _, _ = chosen.learner.act(observations, explore=True)
    for either in (chosen, watched):
        either.observe(observations, actions)
    memories = [either.learner.state_dict()["memory"] for either in (chosen, watched)]
    assert memories[0].any()
    np.testing.assert_array_equal(*memories)


def test_what_an_update_learns_from_can_go_to_another_process(scripted_training: Any) -> None:
    sent, plain = (scripted_training(**GRU).run(14) for _ in range(2))
    for either in (sent, plain):
        either.observe(observations := either.observations(14), either.learner.act(observations, explore=True)[0])
    sampled = pickle.loads(pickle.dumps(sent.learner.sample()))
    assert sent.learner.learn(sampled) == plain.learner.learn(plain.learner.sample())


def test_each_evaluated_episode_has_its_own_memory(scripted_training: Any) -> None:
    """Two episodes in turn have the same results as one after the other, and the learner is unchanged."""
    training = scripted_training(**GRU).run(60)
    learner = training.learner
    before = learner.state_dict()
    rows = [{name: array[:1] for name, array in training.observations(step).items()} for step in range(20)]

    def probabilities(numbers: list[int]) -> list[list[float]]:
        actor, places = EpisodeActor(learner), {0: 0, 1: 10}
        found: dict[int, list[list[float]]] = {0: [], 1: []}
        for number in numbers:
            actor.act(rows[places[number]], number)
            found[number].append(learner.action_values()[0].tolist())
            places[number] += 1
        return found[0] + found[1]

    assert probabilities([0, 1] * 10) == probabilities([0] * 10 + [1] * 10)
    remembering = probabilities([0] * 10)[9]
    learner.act(rows[9], explore=False)
    assert learner.action_values()[0].tolist() != remembering, "without a memory they are others"
    assert_equal_states(learner.state_dict(), before)


@pytest.mark.long
def test_the_exported_policy_takes_and_gives_the_memory(scripted_training: Any) -> None:
    training = scripted_training(**GRU).run(60)
    exported = training.learner.export_policy()
    policy = loaded(exported)
    assert exported.description["memory"]["shape"] == [6]
    remembered, memory = None, torch.zeros(6)
    for step in range(12):
        observation = {name: array[:1] for name, array in training.observations(step).items()}
        actions, _, remembered = training.learner.act_from_memory(observation, remembered)
        found = policy({name: torch.as_tensor(array[0]) for name, array in observation.items()}, memory)
        memory = found["memory"]
        assert int(found["action"]) == actions[0]
        np.testing.assert_allclose(memory, remembered[0], atol=1e-5)
    assert memory.any()


def test_a_rollout_that_is_no_whole_number_of_sequences_is_refused(scripted_training: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        scripted_training(**GRU | {"sequence_length": 4})
    assert str(caught.value) == (
        "ppo.n_steps = 15 is no multiple of ppo.sequence_length = 4: set one of them to fit the other."
    )


@pytest.mark.parametrize("rl", long_after(1, ["ppo", "a2c"]))
def test_how_long_learning_takes_is_measured_without_a_trace(scripted_training: Any, rl: str) -> None:
    measured, plain = (scripted_training(rl, **GRU) for _ in range(2))
    assert measured.learner.time_learning() > 0
    assert_equal_states(measured.learner.state_dict(), plain.learner.state_dict())
