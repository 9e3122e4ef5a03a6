"""The Python interface as it was specified: names, defaults, examples, errors and recoveries."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
import torch
from support.variants import long_after

import pkmn_multimodel
from pkmn_multimodel import factories
from pkmn_multimodel.games.coop_compete import CoopCompete
from pkmn_multimodel.population import bases
from pkmn_multimodel.population.tiny import tiny_model
from pkmn_multimodel.settings import MultiModelConfig
from pkmncli.errors import ConfigurationError

SIGNATURES = {
    "MultiModelTrainer": "config",
    "MultiModelTrainer.train": "",
    "MultiModelTrainer.train_multi_model_episode": "episode_num",
    "MultiModelTrainer.load_checkpoint": "checkpoint_id",
    "MultiModelTrainer.get_training_status": "",
    "MultiModelTrainer.get_model_performance_summary": "",
    "MultiModelTrainer.shutdown": "",
    "SharedLLMManager.register_node": "node_id node_config",
    "SharedLLMManager.generate_for_node": "node_id prompt kwargs",
    "SharedLLMManager.update_shared_parameters": "gradients learning_rate",
    "SharedLLMManager.get_global_stats": "",
    "create_qwen3_manager": "model_name device",
    "create_qwen_coder_manager": "model_name device",
    "create_qwen_math_manager": "model_name device",
    "create_openai_manager": "model_name api_key",
    "create_claude_manager": "model_name api_key",
    "create_llama3_manager": "model_name device",
    "create_multimodel_trainer": "num_models training_mode",
    "create_cooperative_multimodel_trainer": "num_models",
    "create_competitive_multimodel_trainer": "num_models",
    "quick_start_multimodel_training": "num_models max_episodes",
    "create_multi_model_coop_compete_env": "num_models cooperation_level",
    "create_multi_model_team_battle": "",
    "create_multi_model_staged_env": "num_models",
    "create_maze_training_env": "complexity",
    "create_social_training_env": "scenario num_models",
    "create_unified_scheduler": "base_port num_gpus",
    "create_cooperative_scheduler": "base_port num_gpus",
    "create_competitive_scheduler": "base_port num_gpus",
    "create_lora_manager": "configs",
    "create_distributed_lora_scheduler": "base_port num_gpus",
    "create_unified_monitor": "config",
    "create_graph_visualizer": "log_file",
    "list_available_checkpoints": "checkpoint_dir",
    "load_checkpoint_metadata": "checkpoint_id checkpoint_dir",
    "get_available_models": "",
    "get_version_info": "",
    "run_benchmark": "runs episodes coop_level difficulty",
    "SimplePG.act": "",
    "SimplePG.update": "trajectories",
    "OurMethodPolicy.act": "",
    "OurMethodPolicy.observe_opponent": "opp_action",
    "OurMethodPolicy.update": "trajectories env",
}
"""Callable and its first parameters, in order; further ones have defaults."""

DEFAULTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "MultiModelConfig": (
        {},
        {
            "num_models": 4,
            "model_types": ["qwen3", "openai", "claude", "llama3"],
            "training_mode": "mixed",
            "weight_update_strategy": "asynchronous",
            "max_episodes": 1000,
            "learning_rate": 3e-4,
            "num_gpus": 4,
            "base_port": 8001,
            "checkpoint_dir": "./checkpoints/multimodel",
            "enable_verl": True,
            "enable_areal": True,
        },
    ),
    "LLMConfig": (
        {},
        {
            "backend": "huggingface",
            "model_name": "Qwen/Qwen2.5-14B-Instruct",
            "device": "auto",
            "max_length": 32768,
            "temperature": 0.7,
            "api_key": None,
            "enable_lora": False,
            "update_strategy": "adaptive",
        },
    ),
    "RLConfig": ({}, {"algorithm": "ppo", "learning_rate": 3e-4, "gamma": 0.99, "batch_size": 32}),
    "LoRAConfig": (
        {"lora_id": 3},
        {
            "lora_id": 3,
            "rank": 16,
            "alpha": 32.0,
            "dropout": 0.1,
            "target_modules": ["q_proj", "v_proj", "k_proj", "o_proj"],
            "gpu_id": 0,
            "port": 8001,
        },
    ),
}

ENUMS = {
    "TrainingMode": "COOPERATIVE=cooperative COMPETITIVE=competitive MIXED=mixed HIERARCHICAL=hierarchical",
    "WeightUpdateStrategy": "SYNCHRONIZED=synchronized ASYNCHRONOUS=asynchronous FEDERATED=federated "
    "SELECTIVE=selective",
    "LLMBackend": "HUGGINGFACE=huggingface OPENAI_API=openai_api ANTHROPIC=anthropic VLLM=vllm",
}

EXAMPLES = {
    "basic training": """
import asyncio
from pkmn_multimodel import quick_start_multimodel_training

# Simplest usage
results = await quick_start_multimodel_training(num_models=4, max_episodes=8)
""",
    "advanced training": """
from pkmn_multimodel import MultiModelTrainer, MultiModelConfig, TrainingMode

# Custom configuration
config = MultiModelConfig(
    num_models=6,
    training_mode=TrainingMode.MIXED,
    max_episodes=8
)

# Create and run trainer
trainer = MultiModelTrainer(config)
results = await trainer.train()

# Get final performance
performance = trainer.get_model_performance_summary()
""",
    "checkpoint management": """
from pkmn_multimodel import list_available_checkpoints, load_checkpoint_metadata

# List and load checkpoints
checkpoints = list_available_checkpoints()
metadata = load_checkpoint_metadata(checkpoints[0])

# Resume training
trainer = MultiModelTrainer(config)
trainer.load_checkpoint(checkpoints[0])
results = await trainer.train()
""",
    "environment configuration": """
from pkmn_multimodel import create_multi_model_coop_compete_env, EnvironmentType

# Create custom environment
env = create_multi_model_coop_compete_env(
    num_models=8,
    cooperation_level=0.7
)

# Use with trainer
trainer.environment = env
""",
    "monitoring setup": """
from pkmn_multimodel import create_unified_monitor, MonitoringConfig

# Configure monitoring
monitor_config = MonitoringConfig(
    enable_file_logging=True,
    log_file_path="./logs/training.json"
)

monitor = create_unified_monitor(monitor_config)
monitor.start()

# Training automatically sends metrics
trainer.config.enable_monitoring = True
""",
}
"""Examples in their order, with fewer games: each goes on with the names of those before."""

RECOVERY = """
try:
    results = await trainer.train()
except RuntimeError as e:
    if "memory" in str(e).lower():
        # Reduce batch size and retry
        trainer.config.batch_size //= 2
        results = await trainer.train()
    else:
        raise

except asyncio.TimeoutError:
    # Save checkpoint and continue
    await trainer._save_checkpoint(trainer.current_episode)
    results = await trainer.train()
"""

RECIPES = {
    "memory": """
config = MultiModelConfig(
    batch_size=16,           # Smaller batches
    kv_cache_size=5000,      # Smaller cache
    max_checkpoints=3,       # Fewer checkpoints
    enable_areal=False       # Disable if memory constrained
)
""",
    "speed": """
config = MultiModelConfig(
    update_frequency=5,      # More frequent updates
    enable_verl=True,        # Enable VERL
    enable_areal=True,       # Enable AReaL
    num_gpus=8,             # Use more GPUs
    batch_size=64           # Larger batches
)
""",
}


class SmallConfig(MultiModelConfig):
    """Settings with the tiny model and few games a batch by default."""

    base: str = "tiny"
    batch_size: int = 4
    device: str = "cpu"


class FailingOnce(CoopCompete):
    """Game whose first episode of all fails with an error."""

    errors: list[Exception] = []  # noqa: RUF012 - shared by the copies that a training makes

    def begin(self) -> None:
        """Fail once."""
        super().begin()
        if self.errors:
            raise self.errors.pop()


@pytest.fixture(autouse=True)
def small_and_without_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bases, "tiny_model", partial(tiny_model, steps=3))
    monkeypatch.setattr(factories, "MultiModelConfig", SmallConfig)
    monkeypatch.setattr(pkmn_multimodel, "MultiModelConfig", SmallConfig, raising=False)
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(key, raising=False)


def execute(code: str, names: dict[str, Any]) -> None:
    """Run code that may await."""
    result = eval(compile(code, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.iscoroutine(result):
        asyncio.run(result)


def small_trainer(**settings: Any) -> pkmn_multimodel.MultiModelTrainer:
    given = {"num_models": 2, "model_types": ["qwen3"], "max_episodes": 4} | settings
    return pkmn_multimodel.MultiModelTrainer(SmallConfig(**given))


@pytest.mark.parametrize(("name", "parameters"), SIGNATURES.items())
def test_a_callable_has_the_parameters_that_were_specified(name: str, parameters: str) -> None:
    first, _, method = name.partition(".")
    target = getattr(pkmn_multimodel, first)
    signature = inspect.signature(getattr(target, method) if method else target)
    names = [parameter for parameter in signature.parameters if parameter != "self"]
    wanted = parameters.split()
    assert names[: len(wanted)] == wanted
    further = [signature.parameters[name] for name in names[len(wanted) :]]
    assert all(one.default is not one.empty or one.kind is one.VAR_KEYWORD for one in further)


@pytest.mark.parametrize("name", DEFAULTS)
def test_settings_have_the_defaults_that_were_specified(name: str) -> None:
    given, wanted = DEFAULTS[name]
    made = getattr(pkmn_multimodel, name)(**given)
    assert {key: getattr(made, key) for key in wanted} == wanted


@pytest.mark.parametrize("name", ENUMS)
def test_an_enum_has_the_values_that_were_specified(name: str) -> None:
    assert " ".join(f"{one.name}={one.value}" for one in getattr(pkmn_multimodel, name)) == ENUMS[name]


@pytest.mark.long
def test_the_examples_run_one_after_the_other() -> None:
    names: dict[str, Any] = {}
    for title, code in EXAMPLES.items():
        execute(code, names)
        if title == "basic training":
            assert names["results"]["total_episodes"] == 8
        elif title == "advanced training":
            learning = {name for name, one in names["performance"].items() if one["learns"]}
            assert learning == {"model_0", "model_3", "model_4"}
        elif title == "checkpoint management":
            assert names["metadata"]["episode"] == 8
            assert Path(names["results"]["run"]) == Path(names["metadata"]["run"]).resolve()
    names["config"].max_episodes = 12
    names["config"].num_models = 8
    execute("trainer = MultiModelTrainer(config)\ntrainer.environment = env\nresults = await trainer.train()", names)
    names["monitor"].stop()
    lines = [json.loads(line) for line in Path("logs/training.json").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["start", "batch", "batch", "batch", "stop"]
    graph = pkmn_multimodel.create_graph_visualizer("./logs/training.json")
    assert {node.name: node.games for node in graph.nodes} == {f"model_{number}": 12 for number in range(8)}


@pytest.mark.parametrize(
    ("error", "batch_size"),
    long_after(1, [(torch.cuda.OutOfMemoryError("CUDA out of memory"), 2), (TimeoutError("Episode timeout"), 4)]),
    ids=["memory", "timeout"],
)
def test_a_training_goes_on_after_the_recovery_that_was_specified(error: Exception, batch_size: int) -> None:
    trainer = small_trainer()
    trainer.environment = FailingOnce(2)
    FailingOnce.errors = []
    asyncio.run(trainer.train_multi_model_episode(0))
    trainer.config.max_episodes = 8
    FailingOnce.errors = [error]
    names = {"trainer": trainer, "asyncio": asyncio}
    execute(RECOVERY, names)
    assert FailingOnce.errors == []
    assert names["results"]["total_episodes"] == 8  # type: ignore[index]
    assert trainer.config.batch_size == batch_size


@pytest.mark.long
def test_a_setting_that_cannot_change_is_refused_when_the_training_goes_on() -> None:
    trainer = small_trainer(max_episodes=4)
    asyncio.run(trainer.train())
    trainer.config.max_episodes, trainer.config.gamma = 8, 0.5
    with pytest.raises(ConfigurationError, match=r"'multimodel.gamma'.* cannot change when a run is resumed"):
        asyncio.run(trainer.train())
    trainer.config.gamma = 1.0
    assert asyncio.run(trainer.train())["total_episodes"] == 8


def test_a_game_for_another_number_of_models_is_refused_before_there_is_a_run() -> None:
    trainer = small_trainer()
    trainer.environment = FailingOnce(3)
    with pytest.raises(ConfigurationError, match="the game is for 3 models, num_models = 2"):
        asyncio.run(trainer.train())
    assert trainer.run_folder is None
    assert not Path(trainer.config.checkpoint_dir).exists()


@pytest.mark.long
def test_a_start_that_failed_leaves_no_run_and_can_be_tried_again_with_other_settings() -> None:
    trainer = small_trainer(base="./no-model", max_episodes=4)
    with pytest.raises(RuntimeError, match="Model loading failed"):
        asyncio.run(trainer.train())
    assert trainer.run_folder is None
    assert not list(Path(trainer.config.checkpoint_dir).iterdir())
    trainer.config.base = "tiny"
    assert asyncio.run(trainer.train())["total_episodes"] == 4


def gpu_memory() -> None:
    trainer = small_trainer()
    trainer.environment = FailingOnce(2)
    FailingOnce.errors = [torch.cuda.OutOfMemoryError("CUDA out of memory")]
    asyncio.run(trainer.train())


def ask(make: Callable[..., Any]) -> None:
    manager = make("tiny")
    manager.register_node("left", {})
    try:
        manager.generate_for_node("left", "Hello")
    finally:
        manager.close()


@pytest.mark.parametrize(
    ("error", "message", "fails"),
    [
        (ValueError, "Unsupported LLM backend", lambda: pkmn_multimodel.LLMConfig(backend="gpt")),
        (ValueError, "Invalid number of models", lambda: pkmn_multimodel.MultiModelConfig(num_models=0)),
        (RuntimeError, "GPU memory insufficient", gpu_memory),
        (asyncio.TimeoutError, "Episode timeout", lambda: asyncio.run(small_trainer(episode_timeout_s=1e-9).train())),
        (RuntimeError, "Model loading failed", lambda: asyncio.run(small_trainer(base="./no-model").train())),
        (FileNotFoundError, "Checkpoint not found", lambda: small_trainer().load_checkpoint("run/step-5")),
        (openai.APIError, "OpenAI API error: No key", lambda: ask(pkmn_multimodel.create_openai_manager)),
        (
            anthropic.APIError,
            "Anthropic API error: No key",
            lambda: ask(pkmn_multimodel.create_claude_manager),
        ),
    ],
)
def test_an_error_is_of_the_kind_that_was_specified(
    error: type[Exception], message: str, fails: Callable[[], Any]
) -> None:
    with pytest.raises(error, match=message):
        fails()


@pytest.mark.parametrize("name", long_after(1, RECIPES))
def test_a_recipe_is_accepted_and_has_its_effect(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"MultiModelConfig": SmallConfig}
    execute(RECIPES[name], names)
    config = names["config"]
    config.batch_size, config.max_episodes, config.save_every, config.num_models = 1, 5, 1, 2
    config.model_types, config.weight_update_strategy = ["qwen3"], "synchronized"
    trainer = pkmn_multimodel.MultiModelTrainer(config)
    asyncio.run(trainer.train())
    folder = trainer.run_folder
    assert folder is not None
    updates = trainer.get_model_performance_summary()["model_0"]["updates"]
    kept = list((folder / "checkpoints").glob("step-*"))
    if name == "memory":
        assert updates == 5
        assert len(kept) == 3
        assert not (folder / "areal.yaml").exists()
    else:
        assert updates == 1
        assert (folder / "areal.yaml").exists()
        assert "num_gpus = 8" in capsys.readouterr().err
