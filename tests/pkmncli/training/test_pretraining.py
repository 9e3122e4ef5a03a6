"""Updates before the learner's first decision: on what it was shown, or on what the rules play first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.learner_stream import NUM_ENVS, LearnerStream, one_torch_thread

from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings
from pkmncli.api import Source
from pkmncli.training.beginnings.pretraining import Pretraining

__all__ = ["one_torch_thread"]

Pkmn = Callable[..., Any]

RULES_FIRST = 40
"""Steps that the small training waits for before it learns."""


def taught() -> DQN:
    """A small learner that has seen enough to learn from, and has not learned yet."""
    settings = DQNSettings(
        learning_starts=1_000, batch_size=8, screen_channels=(4, 4), screen_features=8, head_features=8
    )
    spaces = (LearnerStream.observation_space, LearnerStream.action_space)
    learner = DQN(*spaces, NUM_ENVS, 7, settings, "cpu", 2_000)
    LearnerStream(learner, advised=True).run(505)
    return learner


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        same = value == other[name]
        assert same.all() if hasattr(same, "all") else same, name


@pytest.mark.long
def test_updates_that_were_interrupted_come_to_the_same_when_they_go_on() -> None:
    learner, other = taught(), taught()
    whole = Pretraining(learner, 12)
    whole.learn(lambda: False, lambda text: None)
    metrics = whole.take_metrics()
    assert metrics is not None and metrics["updates"] > 0
    assert whole.take_metrics() is None, "they are told once"
    assert not whole.pending
    broken = Pretraining(other, 12)
    broken.learn(lambda: broken.done == 5, lambda text: None)
    assert (broken.pending, broken.take_metrics()) == (True, None)
    state, learned, segments = broken.state_dict(), other.state_dict(), list(other.segments())
    again = taught()
    again.load_state_dict(learned)
    again.load_segments(segments)
    rest = Pretraining(again, 12)
    rest.load_state_dict(state)
    assert rest.done == 5
    rest.learn(lambda: False, lambda text: None)
    assert rest.take_metrics() == metrics
    assert_same(again.state_dict(), learner.state_dict())


def test_updates_whose_metrics_come_later_are_left_out_of_the_means() -> None:
    pretraining = Pretraining(taught(), 2)
    pretraining.load_state_dict({"done": 2, "latest": [{"updates": 1.0}, {"updates": 2.0, "loss": 0.5}]})
    assert pretraining.take_metrics() == {"updates": 1.5, "loss": 0.5}


def test_nothing_is_learned_while_there_is_too_little() -> None:
    settings = DQNSettings(learning_starts=1_000, batch_size=8)
    learner = DQN(LearnerStream.observation_space, LearnerStream.action_space, NUM_ENVS, 7, settings)
    pretraining = Pretraining(learner, 3)
    pretraining.learn(lambda: False, lambda text: None)
    assert (pretraining.pending, pretraining.done) == (True, 0)


@pytest.mark.long
def test_the_rules_play_until_the_learner_is_pretrained(
    pkmn: Pkmn, small_training: list[str], course: Any, tmp_path: Path
) -> None:
    options = [
        "--final-episodes=0",
        "--pretrain-steps=15",
        "--set=curriculum.stages=[{reward_threshold=50, llm_confidence=0}]",
    ]
    result = pkmn("train", *small_training, *options, "--run-name=it")
    assert result.code == 0, result.err
    assert "Pretrained with 15 updates" in result.out
    found = course(tmp_path / "runs" / "it")
    sources = [row["source"] for row in found["decisions"]]
    assert set(sources[:RULES_FIRST]) == {Source.RULE}
    assert {Source.RL, Source.EXPLORE} & set(sources[RULES_FIRST:])
    (step,) = {step for step, name, _ in found["metrics"] if name == "pretraining/loss"}
    assert step == RULES_FIRST + 1, "known before the step, and told with it"
    assert found["summary"]["pretrain_updates"] == 15
    alone = pkmn("eval", "it", "--episodes=1", "--max-steps-per-episode=20", "--no-baselines", "--json")
    assert (alone.code, alone.err) == (0, ""), "an evaluation learns nothing, and needs nobody to show it"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--mode=rl-only"], "nobody shows a learner anything"),
        (["--no-rl"], "nobody shows a learner anything"),
        (["--rl=ppo"], "keeps no experience"),
    ],
)
def test_a_learner_that_cannot_be_pretrained_is_told_in_a_line(
    options: list[str], said: str, pkmn: Pkmn, tmp_path: Path
) -> None:
    result = pkmn("train", "--steps=100", "--pretrain-steps=5", *options)
    assert result.code == 2
    assert said in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert not (tmp_path / "runs").exists()
