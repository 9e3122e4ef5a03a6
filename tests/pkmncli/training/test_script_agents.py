"""Agents of a script that decide by themselves: a training calls them, and evaluations leave them as they were."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.plain_environments import Counting
from support.variants import long_after

from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.agent import HybridAgent
from pkmncli.plugins import get_registry
from pkmncli.training.assembly import open_store
from pkmncli.training.hybrid_trainer import HybridLLMRLTrainer

STEPS = 5
LEARNERS = {
    "dqn": {"dqn.learning_starts": 8, "dqn.batch_size": 4},
    "ppo": {
        "ppo.n_steps": 8,
        "ppo.batch_size": 4,
        "ppo.n_epochs": 1,
        "ppo.recurrent": "gru",
        "ppo.gru_size": 4,
        "ppo.sequence_length": 8,
    },
}


class Observant(HybridAgent):
    """Notes what it has seen by episode, and in which episodes it explored."""

    def __init__(self, rl: str = "dqn", actions: int = 3) -> None:
        self.played: list[tuple[bool, list[float]]] = []
        self.steps = 0
        super().__init__(action_space_size=actions, rl=rl, settings={"pilot": "none", **LEARNERS[rl]})

    def begin_episode(self) -> None:
        super().begin_episode()
        self.played.append((getattr(self, "explores", True), []))

    def get_action(self, observation: Mapping[str, Any], info: Mapping[str, Any] | None = None) -> int:
        self.steps += 1
        self.played[-1][1].append(float(observation["number"][0]))
        return super().get_action(observation, info)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "own_steps": self.steps}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.steps = int(state["own_steps"])


def trained(agent: Observant, save_dir: Path, episodes: int, **evaluations: int | None) -> list[int]:
    """Return the actions of a training, in order."""
    final = evaluations.get("final", 0)
    trainer = HybridLLMRLTrainer(
        Counting(), agent, save_dir=save_dir, settings={"final_episodes": final, "eval_episodes": 2, "film": False}
    )
    trainer.train(episodes, eval_interval=evaluations.get("every"))
    assert trainer.run is not None
    store = open_store(get_registry(), trainer.run.folder)
    rows = store.read("decisions")
    store.close()
    return [row["action"] for row in sorted(rows, key=lambda row: row["global_step"])]


@pytest.mark.parametrize("rl", long_after(1, LEARNERS))
def test_an_evaluation_leaves_the_agent_as_it_was(rl: str, tmp_path: Path) -> None:
    alone, evaluated = Observant(rl), Observant(rl)
    actions = trained(alone, tmp_path / "alone", 10)
    assert trained(evaluated, tmp_path / "evaluated", 10, every=2) == actions
    assert len(set(actions)) > 1
    assert evaluated.steps == alone.steps == 10 * STEPS
    assert len(evaluated.played) > len(alone.played)
    assert alone.learner is not None
    assert evaluated.learner is not None
    found = evaluated.learner.state_dict()
    for name, value in alone.learner.state_dict().items():
        np.testing.assert_array_equal(found[name], value, name)


def test_an_evaluation_plays_one_episode_after_the_other_without_exploring(tmp_path: Path) -> None:
    agent = Observant()
    trained(agent, tmp_path, 1, final=3)
    played = [seen for explores, seen in agent.played if not explores]
    assert [len(seen) for seen in played] == [STEPS] * 3
    assert all(seen == sorted(seen) for seen in played), "the number of an episode only grows"


def test_a_run_whose_budget_is_used_up_evaluates_its_agent(tmp_path: Path) -> None:
    trained(Observant(), tmp_path, 2)
    agent = Observant()
    settings = {"final_episodes": 0, "eval_episodes": 2}
    trainer = HybridLLMRLTrainer(Counting(), agent, save_dir=tmp_path, settings=settings)
    assert trainer.load_checkpoint("latest")
    trainer.train(2, eval_interval=1)
    assert sum(len(seen) for explores, seen in agent.played if not explores) == 2 * STEPS
    assert agent.steps == 2 * STEPS, "those of the training"


def test_each_training_has_its_own_agent_of_a_class(tmp_path: Path) -> None:
    names = get_registry().names("algorithms")
    agents = [Observant(), Observant()]
    trainers = [
        HybridLLMRLTrainer(Counting(), agent, save_dir=tmp_path, settings={"final_episodes": 0}) for agent in agents
    ]
    assert get_registry().names("algorithms") == names
    trainers[0].train(2, eval_interval=None)
    assert [agent.steps for agent in agents] == [2 * STEPS, 0]
    assert get_registry().names("algorithms") == names


@pytest.mark.parametrize("count", long_after(1, [2, 9]))
def test_an_agent_of_another_number_of_actions_is_refused(count: int, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=rf"among {count} actions, .* has 3: .* action_space_size = 3"):
        trained(Observant(actions=count), tmp_path, 1)
