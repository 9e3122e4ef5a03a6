"""An encoder other than the default: built by name, tried, and kept in checkpoints under its own name."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from support.exported_policies import allowed, run_elsewhere
from support.learner_stream import NUM_ENVS, LearnerStream, one_torch_thread
from support.variants import long_after
from torch import nn

from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings
from pkmn_ppo.learner import A2C, PPO
from pkmn_ppo.settings import A2CSettings, PPOSettings
from pkmncli.errors import CheckpointError, ConfigurationError
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.observations import ObservationLayout

__all__ = ["one_torch_thread"]

SMALL: dict[str, Any] = {"screen_channels": (4, 4), "screen_features": 8, "vector_features": 8, "head_features": 8}


class Numbers(nn.Module):
    """Encoder that reads the vector alone."""

    def __init__(self, layout: ObservationLayout, settings: Any) -> None:
        super().__init__()
        self.num_features = settings.vector_features
        self.weights = nn.Linear(layout.vector_size, self.num_features, bias=False)

    def forward(self, columns: Any) -> torch.Tensor:
        return torch.tanh(self.weights(columns["vector"]))


class Scoring(Numbers):
    """The same, and a score for each action: a large one for the action of the largest number."""

    scores_actions = True
    _factor = 100.0

    def __init__(self, layout: ObservationLayout, settings: Any) -> None:
        super().__init__(layout, settings)
        self.num_actions = layout.num_actions

    def forward(self, columns: Any) -> torch.Tensor:
        numbers = columns["vector"][:, -self.num_actions :]
        scores = torch.nn.functional.pad(numbers, (0, self.num_actions - numbers.shape[1]), value=-1.0)
        return torch.cat((super().forward(columns), self._factor * scores), dim=1)


NUMBERS = EncoderFactory("numbers", Numbers)


def learner(rl: str, encoder: EncoderFactory | None = NUMBERS, **settings: Any) -> Any:
    spaces = (LearnerStream.observation_space, LearnerStream.action_space, NUM_ENVS, 7)
    name = {"encoder": "convolution" if encoder is None else encoder.name}
    if rl == "dqn":
        own = DQNSettings(**SMALL, **name, learning_starts=40, batch_size=8, buffer_size=300, **settings)
        return DQN(*spaces, own, "cpu", 2_000, encoder=encoder)
    if rl == "ppo":
        return PPO(*spaces, PPOSettings(**SMALL, **name, n_steps=15, batch_size=8), "cpu", 2_000, encoder=encoder)
    return A2C(*spaces, A2CSettings(**SMALL, **name), "cpu", 2_000, encoder=encoder)


@pytest.mark.parametrize("rl", long_after(1, ["dqn", "ppo", "a2c"]))
def test_a_learner_learns_with_it_and_goes_on_from_its_state_bit_for_bit(rl: str) -> None:
    unbroken = LearnerStream(learner(rl), by_rules=0.3).run(60)
    name = "acting.encoder.weights.weight"
    before = learner(rl).state_dict()[name]
    state = copy.deepcopy(unbroken.learner.state_dict())
    assert not torch.equal(state[name], before), "it was trained"
    resumed = LearnerStream(learner(rl), by_rules=0.3)
    resumed.learner.load_state_dict(state)
    resumed.learner.load_segments(list(unbroken.learner.segments()))
    resumed.step = unbroken.step
    first, second = unbroken.run(60).learner.state_dict(), resumed.run(60).learner.state_dict()
    assert first.keys() == second.keys()
    for key, value in first.items():
        np.testing.assert_array_equal(np.asarray(value), np.asarray(second[key]), err_msg=key)
    assert not any(key.startswith("acting.screen") for key in first)


@pytest.mark.parametrize("rl", ["dqn", "ppo", "a2c"])
def test_scores_of_actions_are_added_to_the_output_of_a_learner(rl: str) -> None:
    scoring = EncoderFactory("scoring", Scoring)
    space = LearnerStream.observation_space
    space.seed(0)
    observations = [allowed(space.sample()) for _ in range(20)]
    mine = learner(rl, scoring)
    batch = {name: np.stack([one[name] for one in observations]) for name in space}
    actions, *_ = mine.act(batch, explore=False)
    numbers = np.concatenate([batch[name].reshape(20, -1) for name in mine.layout.vector_keys], axis=1)
    best = np.full((20, mine.layout.num_actions), -1.0, np.float32)
    best[:, : min(numbers.shape[1], best.shape[1])] = numbers[:, -best.shape[1] :]
    best[batch["action_mask"] == 0] = -np.inf
    np.testing.assert_array_equal(actions, best.argmax(axis=1))


@pytest.mark.parametrize("rl", ["dqn", "ppo", "a2c"])
def test_weights_of_the_default_have_the_names_of_ever(rl: str) -> None:
    names = {name for name in learner(rl, None).state_dict() if name.startswith("acting.")}
    assert {f"acting.{part}" for part in ("screen.0.weight", "screen.2.bias", "screen.5.weight")} <= names
    assert {f"acting.{part}" for part in ("vector.0.weight", "vector.1.bias")} <= names
    assert not any("encoder" in name for name in names)


def test_a_checkpoint_of_another_encoder_is_refused() -> None:
    with pytest.raises(CheckpointError, match="has other layers than this one"):
        learner("ppo").load_state_dict(learner("ppo", None).state_dict())


def test_a_learner_built_by_hand_needs_the_factory_of_what_its_settings_name() -> None:
    spaces = (LearnerStream.observation_space, LearnerStream.action_space, NUM_ENVS, 7)
    for build, settings in ((DQN, DQNSettings(encoder="numbers")), (A2C, A2CSettings(encoder="numbers"))):
        with pytest.raises(ConfigurationError, match=r"encoder' = 'numbers': .* encoder=EncoderFactory\('numbers'"):
            build(*spaces, settings)  # type: ignore[operator]


class Wrong(Numbers):
    def __init__(self, layout: ObservationLayout, settings: Any, **wrong: Any) -> None:
        super().__init__(layout, settings)
        self.wrong = wrong
        self.num_features = wrong.get("num_features", self.num_features)

    def forward(self, columns: Any) -> torch.Tensor:
        features = super().forward({} if self.wrong.get("breaks") else columns)
        return features.double() if self.wrong.get("double") else features


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda layout, settings: Wrong(layout, settings, num_features=3), r"gives \(2, 8\) torch.float32 for 2 obs"),
        (lambda layout, settings: Wrong(layout, settings, num_features=None), "an integer num_features"),
        (lambda layout, settings: Wrong(layout, settings, double=True), r"gives \(2, 8\) torch.float64"),
        (lambda layout, settings: object(), "is not a torch.nn.Module"),
        (lambda layout, settings: Numbers(layout, settings, 3), "cannot be built: TypeError: .* takes 3"),
        (lambda layout, settings: Wrong(layout, settings, breaks=True), "cannot read observations: KeyError: 'vector'"),
    ],
)
def test_what_is_no_encoder_is_told_in_a_line(build: Any, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"^encoder 'wrong' .*{complaint}") as told:
        learner("dqn", EncoderFactory("wrong", build))
    assert "\n" not in str(told.value)


def test_the_policy_initialisation_leaves_a_foreign_encoder_as_it_was_made() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        columns = gymnasium.spaces.utils.flatdim(LearnerStream.observation_space["state_variables"])
        made = nn.Linear(columns, 8, bias=False).weight
    assert torch.equal(learner("ppo").state_dict()["acting.encoder.weights.weight"], made)


@pytest.mark.long
def test_an_exported_policy_holds_it() -> None:
    space = LearnerStream.observation_space
    space.seed(0)
    observations = [allowed(space.sample()) for _ in range(20)]
    mine = learner("a2c")
    found = run_elsewhere(mine.export_policy(), observations)
    actions, *_ = mine.act({name: np.stack([one[name] for one in observations]) for name in space}, explore=False)
    np.testing.assert_array_equal(found["action"], actions)


def test_one_that_torch_cannot_trace_is_refused_at_the_export() -> None:
    class Branching(Numbers):
        def forward(self, columns: Any) -> torch.Tensor:
            found = super().forward(columns)
            return found if float(found.sum()) > 0 else -found

    with pytest.raises(ConfigurationError, match=r"the policy cannot be exported: torch.export cannot trace its net"):
        learner("dqn", EncoderFactory("branching", Branching)).export_policy()
