"""What the documents show in Python runs on the bundled game, with other imports, paths, counts and placeholders.

The blocks that are not here, and why, are in docs/differences.md.
"""

from __future__ import annotations

import contextlib
import cProfile
import io
import json
import logging
import pstats
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.own_classes import CustomPokemonEnv, CustomRewardEnvironment

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
    create_trainer_from_config,
    errors,
)
from pkmncli.cli import run as pkmn
from pkmncli.errors import ConfigurationError, TrainingError
from pkmncli.testing import (
    benchmark_decision_latency,
    benchmark_memory_usage,
    benchmark_training_speed,
    cleanup_test_files,
    create_mock_environment,
    create_test_trainer,
    generate_test_config,
)
from pkmncli.testing.trainers import QUICK

NO_LLM = {"llm": "none"}
"""The documents name gpt-4: its service is not there in a test."""


@pytest.fixture(autouse=True)
def _in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def config(tmp_path: Path) -> str:
    """The documents' file: all of its keys, with no image and no service."""
    content = {
        "headless": True,
        "observation_type": "multi_modal",
        "llm_model": "gpt-4",
        "max_context_length": 8000,
        "initial_strategy": "llm_heavy",
        "decision_db_path": "pokemon_decisions.db",
        "save_dir": "training_checkpoints",
        "log_level": "INFO",
    }
    sections: dict[str, dict[str, Any]] = {}
    for name, value in QUICK.items():
        section, _, key = name.partition(".")
        sections.setdefault(section, {})[key] = value
    (tmp_path / "hybrid_training_config.json").write_text(json.dumps(content | NO_LLM | sections))
    return "hybrid_training_config.json"


@pytest.fixture
def environment() -> Iterator[EnhancedPyBoyPokemonCrystalEnv]:
    made = EnhancedPyBoyPokemonCrystalEnv(headless=True, observation_type="multi_modal")
    yield made
    made.close()


class Advisor(BaseLLMManager):
    """A model of one's own, whose service is in this class."""

    def get_action(self, context: str) -> tuple[int, dict[str, Any]]:
        response = "The stairs are to the north: press up."
        action = self.parse_action(response)
        metadata = {"source": "custom_llm", "confidence": 0.8}
        return action, metadata


def test_quick_start(config: str) -> None:
    trainer = create_trainer_from_config(config)
    summary = trainer.train(total_episodes=2, max_steps_per_episode=40)
    for key in [
        "total_episodes",
        "total_steps",
        "best_reward",
        "final_avg_reward",
        "curriculum_stage_reached",
        "curriculum_advancements",
        "strategy_switches",
        "final_evaluation",
        "avg_episode_length",
        "avg_llm_usage",
    ]:
        assert key in summary
    assert {"avg_reward", "std_reward", "avg_length", "avg_llm_usage"} <= summary["final_evaluation"].keys()


def test_custom_training_parameters(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    trainer = create_trainer_from_config(config)
    training_params = {
        "total_episodes": 3,
        "max_steps_per_episode": 30,
        "save_interval": 1,
        "eval_interval": 2,
        "curriculum_patience": 2,
    }
    summary = trainer.train(**training_params)
    print(f"Training completed with best reward: {summary['best_reward']}")
    assert "Training completed with best reward: " in capsys.readouterr().out
    assert (Path("training_checkpoints")).is_dir()
    assert list(Path("pokemon_decisions.db").glob("*/decisions/*.parquet"))


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


def test_resuming_from_a_checkpoint(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    create_trainer_from_config(config).train(total_episodes=1, max_steps_per_episode=30)
    trainer = create_trainer_from_config(config)
    success = trainer.load_checkpoint("latest")
    if success:
        print("Resumed training from episode 1")
        assert trainer.train(total_episodes=2)["total_episodes"] == 2
    assert "Resumed training from episode 1" in capsys.readouterr().out
    assert not trainer.load_checkpoint("checkpoints/checkpoint_episode_500.pt")
    assert "after 500 episodes; there are episode-0, episode-1, episode-2" in capsys.readouterr().err


@pytest.mark.long
def test_resuming_from_an_episode(config: str) -> None:
    create_trainer_from_config(config).train(total_episodes=2, max_steps_per_episode=20, save_interval=1)
    trainer = create_trainer_from_config(config)
    success = trainer.load_checkpoint("training_checkpoints/checkpoint_episode_1.pt")
    assert success
    assert trainer.train(total_episodes=2)["total_episodes"] == 2  # goes on from episode 1
    assert trainer.run is not None
    assert "going on from step 20;" in trainer.run.log_file.read_text()


def test_validation_run(config: str) -> None:
    trainer = create_trainer_from_config(config)
    summary = trainer.train(total_episodes=3, max_steps_per_episode=30)
    assert summary["total_episodes"] == 3
    assert summary["best_reward"] > -100


def test_recovery_from_an_error(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    trainer = create_trainer_from_config(config)
    failed: list[int] = []

    def fail(_trainer: Any, episode: int, _metrics: Mapping[str, Any]) -> None:
        if episode == 2 and not failed:
            failed.append(episode)
            raise TrainingError("a callback had enough")

    trainer.register_callback("episode_end", fail)
    try:
        trainer.train(total_episodes=4, max_steps_per_episode=20, save_interval=1)
    except TrainingError as e:
        print(f"Training failed: {e}")
        if trainer.load_checkpoint("latest"):
            summary = trainer.train(total_episodes=3)
    assert "Training failed: a callback had enough" in capsys.readouterr().out
    assert summary["total_episodes"] == 3


def test_a_callback_that_saves_the_best(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    trainer = create_trainer_from_config(config)
    best_reward = 0.0

    def training_callback(trainer: HybridLLMRLTrainer, episode: int, metrics: Mapping[str, Any]) -> None:
        nonlocal best_reward
        print(f"Episode {episode}: Reward={metrics['reward']}")
        if metrics["reward"] > best_reward:
            best_reward = metrics["reward"]
            trainer.save_best_model()

    trainer.register_callback("episode_end", training_callback)
    trainer.train(total_episodes=2, max_steps_per_episode=30, eval_interval=None)
    assert "Episode 2: Reward=" in capsys.readouterr().out
    assert best_reward > 0
    assert trainer.run is not None
    assert trainer.run.checkpoints.index().best in {"step-000000030", "step-000000031", "step-000000060"}


def test_logging_of_a_script(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    """DEBUG has a line for each decision, in the script's handlers and in the run's log."""
    handler = logging.FileHandler("training.log")
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.DEBUG)
    root.addHandler(handler)
    try:
        trainer = HybridLLMRLTrainer(environment, log_level="DEBUG", settings={"rl": "none"})
        trainer.train(total_episodes=1, max_steps_per_episode=50, eval_interval=None)
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
        handler.close()
    assert trainer.run is not None
    for text in (Path("training.log").read_text(), trainer.run.log_file.read_text()):
        lines = [line for line in text.splitlines() if "environment 0, episode 0, step " in line]
        assert len(lines) == 50
        for part in ("by rule", "confidence", "learner 0.00", "advised side", "actions allowed", "strategy", "reward"):
            assert part in lines[0]


def test_the_level_info_has_no_line_for_each_decision(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    trainer = HybridLLMRLTrainer(environment, settings={"rl": "none"})
    trainer.train(total_episodes=1, max_steps_per_episode=10, eval_interval=None)
    assert trainer.run is not None
    assert "DEBUG" not in trainer.run.log_file.read_text()


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


def test_a_model_alone_in_a_training(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    agent = HybridAgent(Advisor(), mode=AgentMode.LLM_ONLY, settings=QUICK)
    trainer = HybridLLMRLTrainer(environment, agent, settings={"final_episodes": 0})
    summary = trainer.train(total_episodes=1, max_steps_per_episode=30, eval_interval=None)
    assert summary["source_shares"]["rl"] == summary["source_shares"]["explore"] == 0
    assert summary["source_shares"]["llm"] > 0.5


@pytest.mark.parametrize(("made", "more"), [(CustomPokemonEnv, 50.0), (CustomRewardEnvironment, 100.0)])
def test_custom_rewards(made: type[EnhancedPyBoyPokemonCrystalEnv], more: float) -> None:
    trainer = HybridLLMRLTrainer(made(), settings={"rl": "none"})
    summary = trainer.train(total_episodes=1, max_steps_per_episode=5, eval_interval=None)
    assert summary["best_reward"] >= 4 * more


class CustomStrategySystem(AdaptiveStrategySystem):  # type: ignore[misc, valid-type]
    """Switches by rules of its own."""

    def _should_switch_strategy(self, performance_metrics: Mapping[str, Any]) -> StrategyType | None:
        if performance_metrics["episode_reward"] < 10:
            return StrategyType.LLM_HEAVY
        if performance_metrics["llm_usage_rate"] > 0.8:
            return StrategyType.BALANCED
        return None


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


def test_profiling(config: str) -> None:
    trainer = create_trainer_from_config(config)
    profiler = cProfile.Profile()
    profiler.enable()
    trainer.train(total_episodes=1, max_steps_per_episode=30)
    profiler.disable()
    told = io.StringIO()
    stats = pstats.Stats(profiler, stream=told)
    stats.sort_stats("cumulative").print_stats(20)
    assert "train" in told.getvalue()


def test_utilities_for_tests_and_benchmarks() -> None:
    mock_env = create_mock_environment()
    mock_env.close()
    test_trainer = create_test_trainer(episodes=10, headless=True, temp_dir="test")
    speed_results = benchmark_training_speed(test_trainer, episodes=2)
    memory_results = benchmark_memory_usage(test_trainer, duration=0)
    latency_results = benchmark_decision_latency(HybridAgent(settings=QUICK), samples=10)
    assert min(speed_results["steps_per_second"], memory_results["peak_bytes"], latency_results["median_ms"]) > 0
    assert generate_test_config("other").is_file()
    cleanup_test_files("test")
    assert not Path("test").exists()


def test_a_model_by_its_name_is_a_manager() -> None:
    manager = LLMManager.named("openai", "gpt-4")
    assert isinstance(manager, BaseLLMManager)
    assert set(pkmncli.__all__) >= {"HybridLLMRLTrainer", "HybridAgent", "GoalOrientedPlanner", "GameStateAnalysis"}
