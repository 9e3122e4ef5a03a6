"""Agents, strategies and analyzers that the documents show in Python, used alone and in trainings.

The blocks that are not here, and why, are in docs/differences.md.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sqlite3
from collections.abc import Mapping
from typing import Any

import pytest
from support.own_classes import Advisor

import pkmncli
from pkmncli import (
    AdaptiveStrategySystem,
    AgentMode,
    BaseLLMManager,
    DecisionHistoryAnalyzer,
    EnhancedPyBoyPokemonCrystalEnv,
    HybridAgent,
    HybridLLMRLTrainer,
    LLMManager,
    StrategyType,
    errors,
)
from pkmncli.cli import run as pkmn
from pkmncli.errors import ConfigurationError
from pkmncli.testing.trainers import QUICK


@pytest.mark.long
def test_all_parts_by_hand(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    decision_analyzer = DecisionHistoryAnalyzer(db_path="decisions.db")
    adaptive_strategy = AdaptiveStrategySystem(history_analyzer=decision_analyzer)
    llm_manager = Advisor()
    hybrid_agent = HybridAgent(
        llm_manager=llm_manager,
        adaptive_strategy=adaptive_strategy,
        action_space_size=9,
        curriculum_config={
            "stages": [
                {
                    "reward_threshold": 50.0,
                    "min_episodes": 10,
                    "llm_confidence": 0.9,
                    "strategy_preference": "llm_heavy",
                }
            ],
            "advancement_patience": 20,
            "confidence_decay_rate": 0.01,
        },
        settings={**QUICK, "llm_wait": True, "llm_interval": 10},
    )
    trainer = HybridLLMRLTrainer(
        env=environment,
        agent=hybrid_agent,
        strategy_system=adaptive_strategy,
        decision_analyzer=decision_analyzer,
        llm_manager=llm_manager,
        save_dir="checkpoints",
        log_level="DEBUG",
    )
    summary = trainer.train(total_episodes=2, max_steps_per_episode=50, eval_interval=None)
    assert summary["avg_llm_usage"] > 0
    recent = decision_analyzer.get_recent_decisions(limit=100)
    keys = [
        "id",
        "timestamp",
        "state_hash",
        "action",
        "reasoning",
        "confidence",
        "outcome_reward",
        "episode_id",
        "step_number",
    ]
    assert recent
    assert all(key in recent[0] for key in keys)
    assert decision_analyzer.analyze_patterns(min_frequency=3)


def test_the_agent_in_a_loop(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    agent = HybridAgent(llm_manager=Advisor(), adaptive_strategy=AdaptiveStrategySystem(), settings=QUICK)
    observation, info = environment.reset()
    for _ in range(12):
        action = agent.get_action(observation, info)
        next_observation, reward, terminated, truncated, info = environment.step(action)
        agent.update(observation, action, reward, next_observation, terminated or truncated)
        observation = next_observation
    assert observation["screen"].shape == (144, 160, 3)
    assert observation["state_variables"].shape == (25,)
    assert {"current_goal", "context_summary", "action_suggestions"} == observation["strategic_context"].keys()
    assert agent.mode is AgentMode.ADAPTIVE
    assert {mode.name for mode in AgentMode} == {"LLM_ONLY", "RL_ONLY", "ADAPTIVE"}


def test_strategy_types() -> None:
    shares = {StrategyType.LLM_HEAVY: 0.8, StrategyType.BALANCED: 0.5, StrategyType.RULE_HEAVY: 0.2}
    assert {strategy: strategy.llm_share for strategy in StrategyType} == shares
    assert AdaptiveStrategySystem().get_strategy_stats()["current_strategy"] == StrategyType.LLM_HEAVY


def test_the_decision_flow_of_an_agent(
    environment: EnhancedPyBoyPokemonCrystalEnv, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="pkmncli.hybrid.agent")
    agent = HybridAgent(Advisor(), AdaptiveStrategySystem(), mode=AgentMode.LLM_ONLY)
    observation, info = environment.reset(seed=1)
    action = agent.get_action(observation, info)
    agent.update(observation, action, 0.5, observation, False)
    assert "episode 0, step 1: up 0.80 by llm; learner none, advised side up 0.80" in caplog.text
    assert "strategy: llm_heavy; reward 0.5" in caplog.text


class CustomHybridAgent(HybridAgent):
    """Waits at every second step."""

    decided = 0

    def get_action(self, observation: Mapping[str, Any], info: Mapping[str, Any] | None = None) -> int:
        self.decided += 1
        return 8 if self.decided % 2 else super().get_action(observation, info)


@pytest.mark.long
def test_a_custom_agent_decides_every_step_of_a_training(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    agent = CustomHybridAgent(Advisor(), AdaptiveStrategySystem(), settings=QUICK)
    trainer = HybridLLMRLTrainer(
        environment, agent, agent.adaptive_strategy, llm_manager=agent.llm_manager, settings={"final_episodes": 0}
    )
    trainer.train(total_episodes=2, max_steps_per_episode=20, eval_interval=None)
    assert (agent.decided, agent.episodes) == (40, 2)
    assert trainer.run is not None
    with DecisionHistoryAnalyzer(trainer.run.folder) as analyzer:
        actions = [one["action"] for one in analyzer.get_recent_decisions(limit=40)]
    assert actions[1::2] == [8] * 20, "newest first"
    assert trainer.load_checkpoint("latest")
    trainer.train(total_episodes=3, eval_interval=None)
    assert (agent.decided, agent.episodes) == (60, 3)


def test_a_custom_agent_refuses_what_it_would_not_read(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    with pytest.raises(ConfigurationError, match="CustomHybridAgent decides by itself: give Advisor to it"):
        HybridLLMRLTrainer(environment, CustomHybridAgent(settings=QUICK), llm_manager=Advisor())
    with pytest.raises(ConfigurationError, match="its rules look at env, which a training does not play"):
        HybridLLMRLTrainer(environment, CustomHybridAgent(env=environment))


@pytest.mark.long
def test_a_trained_agent_plays_on(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    strategy = AdaptiveStrategySystem()
    agent = HybridAgent(Advisor(), strategy, settings=QUICK)
    settings = {**QUICK, "llm_wait": True, "envs": 2}
    trainer = HybridLLMRLTrainer(environment, agent, strategy, llm_manager=Advisor(), settings=settings)
    trainer.train(total_episodes=2, max_steps_per_episode=60, eval_interval=None)
    assert agent.episodes == 2
    assert strategy.get_strategy_stats()["episodes"] == 2
    assert agent.learner is not None
    played = trainer.training_environment()
    observation, info = played.reset(seed=1)
    action = agent.get_action(observation, info)
    following, reward, terminated, truncated, info = played.step(action)
    agent.update(observation, action, reward, following, terminated or truncated)
    played.close()
    observation, info = environment.reset(seed=1)
    with pytest.raises(ConfigurationError, match=r"play in trainer.training_environment\(\)"):
        agent.get_action(observation, info)


@pytest.mark.long
def test_a_model_alone_in_a_training(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    agent = HybridAgent(Advisor(), mode=AgentMode.LLM_ONLY, settings=QUICK)
    trainer = HybridLLMRLTrainer(environment, agent, settings={"final_episodes": 0})
    summary = trainer.train(total_episodes=1, max_steps_per_episode=30, eval_interval=None)
    assert summary["source_shares"]["rl"] == summary["source_shares"]["explore"] == 0
    assert summary["source_shares"]["llm"] > 0.5


class CustomStrategySystem(AdaptiveStrategySystem):  # type: ignore[misc, valid-type]
    """Switches by rules of its own."""

    def _should_switch_strategy(self, performance_metrics: Mapping[str, Any]) -> StrategyType | None:
        if performance_metrics["episode_reward"] < 10:
            return StrategyType.LLM_HEAVY
        if performance_metrics["llm_usage_rate"] > 0.8:
            return StrategyType.BALANCED
        return None


@pytest.mark.long
def test_custom_strategies(capsys: pytest.CaptureFixture[str]) -> None:
    strategy = CustomStrategySystem(initial=StrategyType.RULE_HEAVY)
    context = {"episode_reward": 5.0, "llm_usage_rate": 0.1, "average_reward": 5.0, "episode_length": 10}
    assert strategy.select_strategy(context) is StrategyType.LLM_HEAVY
    assert strategy.select_strategy(context | {"episode_reward": 50.0, "llm_usage_rate": 0.9}) is StrategyType.BALANCED
    trainer = HybridLLMRLTrainer(
        strategy_system=strategy, llm_manager=Advisor(), settings={**QUICK, "llm_wait": True, "llm_interval": 10}
    )
    summary = trainer.train(total_episodes=1, max_steps_per_episode=30, eval_interval=None)
    assert summary["total_episodes"] == 1
    assert trainer.run is not None
    run = str(trainer.run.folder)
    capsys.readouterr()
    assert pkmn(["eval", run, "--episodes=1", "--no-baselines", "--json", "--max-steps-per-episode=20"]) == 0
    assert json.loads(capsys.readouterr().out)["episodes"] == 1, "an evaluation asks neither strategy nor model"
    assert pkmn(["train", "--resume", run, "--episodes=2"]) == 2
    assert "resume there: load_checkpoint(RUN), then train()" in capsys.readouterr().err


class OwnStrategy(AdaptiveStrategySystem):  # type: ignore[misc, valid-type]
    """Selects by itself."""

    def select_strategy(self, context: Mapping[str, Any]) -> StrategyType:
        return StrategyType.RULE_HEAVY


@pytest.mark.long
def test_an_overridden_selection_is_obeyed() -> None:
    settings = {**QUICK, "llm_wait": True, "llm_interval": 10}
    trainer = HybridLLMRLTrainer(strategy_system=OwnStrategy(), llm_manager=Advisor(), settings=settings)
    summary = trainer.train(total_episodes=1, max_steps_per_episode=20, eval_interval=None)
    assert summary["strategy"]["current_strategy"] == StrategyType.RULE_HEAVY
    assert summary["strategy_switches"] == 1


class CustomDecisionAnalyzer(DecisionHistoryAnalyzer):
    """Finds what it likes itself."""

    def analyze_custom_patterns(self, context_filter: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        return [one for one in self.get_recent_decisions(limit=1000) if one["confidence"] > 0.5]


def test_custom_decision_analysis(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    analyzer = CustomDecisionAnalyzer("own.db")
    environment.reset(seed=1)
    for confidence in (0.2, 0.9):
        analyzer.record_decision(environment.analysis(), 4, "up is out", confidence, 1.0)
    assert [one["confidence"] for one in analyzer.analyze_custom_patterns()] == pytest.approx([0.9])


@pytest.mark.long
def test_one_analyzer_for_a_training_and_by_hand(
    environment: EnhancedPyBoyPokemonCrystalEnv, capsys: pytest.CaptureFixture[str]
) -> None:
    with DecisionHistoryAnalyzer("both.db") as analyzer:
        trainer = HybridLLMRLTrainer(environment, decision_analyzer=analyzer, settings={"rl": "none"})
        trainer.train(total_episodes=1, max_steps_per_episode=10, eval_interval=None)
        (newest,) = analyzer.get_recent_decisions(limit=1)
        assert newest["context"]["map_name"] == "Home 1F", "names are kept with the decisions"
        environment.reset(seed=1)
        analyzer.record_decision(environment.analysis(), 4, "up is out", 0.9, 1.0)
        assert len(analyzer.get_recent_decisions(limit=100)) == 11
    assert pkmn(["analyze-patterns", "both.db", "--min-frequency=1"]) == 0
    assert "Home 1F" in capsys.readouterr().out


@pytest.mark.long
def test_the_decisions_of_a_run_as_an_sqlite_file(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    trainer = HybridLLMRLTrainer(environment, settings={"rl": "none"})
    trainer.train(total_episodes=1, max_steps_per_episode=10, eval_interval=None)
    assert trainer.run is not None
    assert pkmn(["export", str(trainer.run.folder), "--format=sqlite", "--to=exported"]) == 0
    with contextlib.closing(sqlite3.connect("exported/tables.sqlite")) as database:
        actions = database.execute("SELECT action FROM decisions ORDER BY global_step").fetchall()
        ended = database.execute("SELECT steps, outcome FROM episodes").fetchall()
    with DecisionHistoryAnalyzer(trainer.run.folder) as analyzer:
        newest_first = [one["action"] for one in analyzer.get_recent_decisions(limit=10)]
    assert [action for (action,) in actions] == newest_first[::-1]
    assert ended == [(10, "time-limit")]


class RecordingAnalyzer(DecisionHistoryAnalyzer):
    """Would like to see each decision."""

    def record_decision(self, *decision: Any) -> None:
        raise AssertionError(decision)


def test_an_overridden_record_is_refused_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("pkmncli.training.from_objects.say_once", said.append)
    HybridLLMRLTrainer(decision_analyzer=RecordingAnalyzer("own.db"))
    assert ["RecordingAnalyzer.record_decision: no effect" in line for line in said] == [True]


def test_the_errors_have_the_documents_names() -> None:
    names = ("TrainingError", "ConfigurationError", "EnvironmentError", "CheckpointError", "LLMConnectionError")
    found = {name: getattr(errors, name) for name in (*names, "DecisionValidationError")}
    assert found["EnvironmentError"] is errors.EnvironmentSetupError
    assert all(issubclass(kind, errors.PkmnError) for kind in found.values())


def test_a_model_by_its_name_is_a_manager() -> None:
    manager = LLMManager.named("openai", "gpt-4")
    assert isinstance(manager, BaseLLMManager)
    assert set(pkmncli.__all__) >= {"HybridLLMRLTrainer", "HybridAgent", "GoalOrientedPlanner", "GameStateAnalysis"}
