"""Settings in the words of other projects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pkmn_multimodel.exporters import areal_settings, verl_arguments, write_exports
from pkmn_multimodel.settings import MultiModelConfig


@pytest.mark.parametrize(
    ("algorithm", "estimator"), [("grpo", "grpo"), ("ppo", "gae"), ("reinforce", "reinforce_plus_plus")]
)
def test_the_objective_has_a_name_in_verl(algorithm: str, estimator: str) -> None:
    found = verl_arguments(MultiModelConfig.model_validate({"algorithm": algorithm, "rank": 4, "batch_size": 16}))
    assert f"algorithm.adv_estimator={estimator}" in found
    assert "actor_rollout_ref.model.lora_rank=4" in found
    assert "data.train_batch_size=16" in found
    assert all(line.count("=") == 1 and " " not in line for line in found)  # one word of a command line each


def test_an_update_has_the_games_of_all_its_batches() -> None:
    settings = MultiModelConfig.model_validate({"batch_size": 16, "update_frequency": 5, "max_episodes": 200})
    assert {"data.train_batch_size=80", "trainer.total_training_steps=3"} <= set(verl_arguments(settings))
    assert areal_settings(settings)["train_dataset"]["batch_size"] == 80


def test_only_the_files_that_are_asked_for_are_written(tmp_path: Path) -> None:
    settings = MultiModelConfig.model_validate({"enable_verl": False, "kl_coef": 0.5, "base": "Some/Model"})
    assert [path.name for path in write_exports(settings, tmp_path)] == ["areal.yaml"]
    written = json.loads((tmp_path / "areal.yaml").read_text())
    assert written == areal_settings(settings)
    assert (written["actor"]["path"], written["actor"]["kl_ctl"]) == ("Some/Model", 0.5)
